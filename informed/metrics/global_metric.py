"""One informed Mahalanobis distance for all samples (Algorithm 1 of the paper)."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from informed.centering import (
    CenteredSparse,
    center,
    subtract,
    warn_about_constant_features,
)
from informed.clusters.features import cluster_rows
from informed.directions.penalty import penalty_path
from informed.directions.registry import DirectionsName, VariancesName
from informed.metrics.covariance import SpikedCovariance
from informed.metrics.model import Recipe, check_parameters, find_model, warn_about_ignored_penalty
from informed.metrics.pairs import PairDistanceMixin
from informed.validation import (
    Array,
    Penalty,
    check_flag,
    check_matrix,
    check_vectors,
    validate_samples,
)

__all__ = ["InformedMahalanobis", "MahalanobisMetric"]


class MahalanobisMetric:
    """A distance between two vectors, independent of the estimator that made it.

    Parameters
    ----------
    components : array of shape (d, n_features)
        The factor: the distance of u and v is the length of ``components @ (u − v)``.

    Examples
    --------
    >>> MahalanobisMetric(np.array([[2.0, 0.0]]))([1.0, 5.0], [0.0, 7.0])
    2.0
    """

    def __init__(self, components: Array) -> None:
        self.components = np.array(components)
        self.components.flags.writeable = False

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Return the distance of two vectors."""
        left, right = check_vectors(u, v, self.components.shape[1])
        return float(np.linalg.norm(self.components @ (left - right)))


class InformedMahalanobis(
    PairDistanceMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    r"""Mahalanobis distance whose principal directions are informed by clusters of features.

    The features are clustered by k-means, d directions are found in (or near) the span of the
    cluster indicators, and the squared distance of two samples is
    :math:`(c_1-c_2)^\top\tilde U\Lambda^{-1}\tilde U^\top(c_1-c_2)`. It is the squared Euclidean
    distance after :meth:`transform`, and nothing larger than d × n_features is stored.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions d, at most the rank of the centred data.
    n_clusters : int or None, default=None
        Number of clusters of features, at least d; None means d + 1 (d, if there are only d
        features).
    directions : {"exact", "gradient", "averaged", "penalized", "pca"}, default="exact"
        How the directions are found; see :mod:`informed.directions`. ``"pca"`` ignores the clusters
        and gives the conventional distance. Columns that are not of unit length are scaled to it,
        as in the paper.
    variances : {"pca", "own"}, default="pca"
        Λ: the leading eigenvalues of the sample covariance, as in the paper, or the variances along
        the directions themselves.
    penalty : float or "cv", default="cv"
        Weight for ``directions="penalized"``. ``"cv"`` chooses it by held-out reconstruction error;
        clusters that were found from the data are found anew in each fold.
    feature_labels : int array of shape (n_features,) or None, default=None
        A known clustering, used instead of k-means.
    n_init : int, default=10
        Number of k-means restarts.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    labels_ : int array of shape (n_features,) or None
        Cluster of each feature, numbered by first occurrence unless given; None for
        ``directions="pca"`` without ``feature_labels``.
    directions_ : array of shape (n_features, d)
        Unit directions Ũ.
    variances_ : array of shape (d,)
        The diagonal of Λ.
    components_ : array of shape (d, n_features)
        :math:`\Lambda^{-1/2}\tilde U^\top`, the factor of the metric.
    noise_variance_ : float
        Mean variance of the training samples across the directions; zero if nothing is left there.
    penalty_ : float
        The weight that was used: 0 for ``"pca"``, infinite where directions must lie in the span of
        the indicators.
    n_iter_ : int
        Steps of the iteration; 0 for a closed form.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The distance is a pseudo-metric: symmetric, non-negative and with the triangle inequality, and
    zero between samples that differ only across the directions.

    Sparse samples (CSR; other formats are converted) are never made dense, in fit, transform,
    scores and distances alike: the mean is taken away within products. Penalized directions need
    dense ones.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(n_samples=30, n_features=8, random_state=0)
    >>> metric = InformedMahalanobis(n_components=2, random_state=0).fit(X)
    >>> metric.transform(X).shape, metric.pairwise_distances(X).shape
    ((30, 2), (30, 30))
    """

    def __init__(
        self,
        n_components: int = 2,
        n_clusters: int | None = None,
        *,
        directions: DirectionsName = "exact",
        variances: VariancesName = "pca",
        penalty: Penalty = "cv",
        feature_labels: ArrayLike | None = None,
        n_init: int = 10,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.directions = directions
        self.variances = variances
        self.penalty = penalty
        self.feature_labels = feature_labels
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find clusters, directions and variances.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : ignored
            For use in pipelines.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> Array:
        """Fit, and map the training samples to d coordinates; see :meth:`transform`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : ignored
            For use in pipelines.

        Returns
        -------
        coordinates : array of shape (n_samples, d)
        """
        coordinates: Array = self._fit(X) @ self.components_.T
        return coordinates

    def _fit(self, X: ArrayLike) -> Any:
        """Find the model and return the centred training samples."""
        # Penalized directions need the samples and the clusters side by side, which is dense.
        data = validate_samples(self, X, reset=True, allow_sparse=self.directions != "penalized")
        labels, recipe = check_parameters(self, data.shape, self.n_components, self.feature_labels)
        if recipe.penalty != "cv" and not recipe.solver.penalized:
            warn_about_ignored_penalty(self.directions, recipe.penalty, stacklevel=4)
        warn_about_constant_features(data, stacklevel=4)
        centered, self.mean_ = center(data)
        recluster = None
        if labels is None and recipe.solver.informed:
            labels = cluster_rows(centered.T, recipe.n_clusters, recipe.n_init, self.random_state)
            recluster = partial(_cluster_samples, recipe)
        model = find_model(
            centered,
            recipe,
            labels,
            lambda own: penalty_path(centered, own, recipe.n_components, recluster=recluster).best,
        )
        self.labels_ = labels
        self.noise_variance_ = _variance_across(centered, model.directions)
        self.directions_ = model.directions
        self.variances_ = model.variances
        self.components_ = model.factor
        self.penalty_ = model.penalty
        self.n_iter_ = model.n_iter
        return centered

    def transform(self, X: ArrayLike) -> Array:
        """Map samples to d coordinates in which the Euclidean distance is the metric.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        coordinates : array of shape (n_samples, d)
        """
        check_is_fitted(self)
        coordinates: Array = subtract(self._checked(X), self.mean_) @ self.components_.T
        return coordinates

    def pairwise_distances(
        self, X: ArrayLike, Y: ArrayLike | None = None, *, squared: bool = False
    ) -> Array:
        """Distances between the rows of ``X`` and those of ``Y`` (of ``X`` if None).

        Parameters
        ----------
        X, Y : arrays of shape (n_samples, n_features)
            Samples.
        squared : bool
            Whether to return squared distances.

        Returns
        -------
        distances : array of shape (n_samples_X, n_samples_Y)
        """
        check_flag("squared", squared)
        distances: Array = euclidean_distances(
            self.transform(X), None if Y is None else self.transform(Y), squared=squared
        )
        return distances

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the samples in the span of the directions whose coordinates are given.

        What :meth:`transform` has dropped, the part across the directions, does not come back.

        Parameters
        ----------
        X : array of shape (n_samples, d)
            Coordinates, as :meth:`transform` gives them.

        Returns
        -------
        samples : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        coordinates = check_matrix(X, min_samples=1)
        if coordinates.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {coordinates.shape[1]} columns: it must have one for each of the "
                f"{len(self.components_)} directions"
            )
        samples: Array = self.mean_ + coordinates @ np.linalg.pinv(self.components_).T
        return samples

    def mahalanobis(self, X: ArrayLike) -> Array:
        r"""Squared Mahalanobis distance to the mean, the part across the directions included.

        The squared length of :meth:`transform` sees only what lies along the directions, so that a
        sample which leaves their span looks ordinary. Here the part across counts as well,
        :math:`\|x^\perp\|^2/\sigma^2` with the variance :math:`\sigma^2` of the training samples
        there: the covariance is :math:`\tilde U\Lambda\tilde U^\top` along the directions and
        :math:`\sigma^2` across. As in :mod:`sklearn.covariance`, large means unusual.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : array of shape (n_samples,)
        """
        return self._model_of_all().mahalanobis(self._checked(X))

    def score_samples(self, X: ArrayLike) -> Array:
        """Gaussian log-likelihood of each sample under the covariance of :meth:`mahalanobis`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_likelihood : array of shape (n_samples,)
        """
        return self._model_of_all().score_samples(self._checked(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log-likelihood of samples; comparable to that of scikit-learn's PCA and covariances.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.
        y : ignored
            For use in grid searches.

        Returns
        -------
        float
        """
        return self._model_of_all().score(self._checked(X))

    def _checked(self, X: ArrayLike) -> Array:
        return validate_samples(self, X, reset=False, allow_sparse=True)

    def _model_of_all(self) -> SpikedCovariance:
        """Return the covariance along and across the directions, in an orthonormal basis."""
        check_is_fitted(self)
        n_features, d = self.directions_.shape
        if n_features > d and self.noise_variance_ == 0:
            raise ValueError(
                f"n_components={d} leaves no variance across the directions: a density needs "
                "fewer directions than the rank of the centred samples"
            )
        basis, corner = np.linalg.qr(self.directions_)
        variances, turn = np.linalg.eigh((corner * self.variances_) @ corner.T)
        return SpikedCovariance(self.mean_, basis @ turn, variances, self.noise_variance_)

    def _distances_of_pairs(self, left: Array, right: Array) -> Array:
        distances: Array = np.linalg.norm((left - right) @ self.components_.T, axis=1)
        return distances

    def get_metric(self) -> MahalanobisMetric:
        """Return the distance as a function of two vectors that stays as it is if this is refitted.

        Returns
        -------
        metric : callable
            Usable as ``metric=`` of scikit-learn's neighbours.
        """
        check_is_fitted(self)
        return MahalanobisMetric(self.components_)

    def get_mahalanobis_matrix(self) -> Array:
        r"""Return :math:`\tilde U\Lambda^{-1}\tilde U^\top`, n_features × n_features."""
        check_is_fitted(self)
        matrix: Array = self.components_.T @ self.components_
        return matrix

    def get_covariance(self) -> Array:
        r"""Return :math:`\tilde U\Lambda\tilde U^\top`, n_features × n_features.

        It is the pseudo-inverse of :meth:`get_mahalanobis_matrix` when the directions are
        orthonormal, that is, unless ``directions="averaged"`` or an unfinished ``"gradient"``.
        """
        check_is_fitted(self)
        covariance: Array = (self.directions_ * self.variances_) @ self.directions_.T
        return covariance

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.directions != "penalized"
        return tags


def _variance_across(centered: Any, directions: Array) -> float:
    """Mean variance of the samples across the span of the directions; exactly zero if none is."""
    n_samples, n_features = centered.shape
    basis = np.linalg.qr(directions)[0]
    total = centered.total() if isinstance(centered, CenteredSparse) else float(np.sum(centered**2))
    left = total - float(((centered @ basis) ** 2).sum())
    if n_features == basis.shape[1] or left <= 1e-10 * total:
        return 0.0
    return float(left / (n_samples - 1) / (n_features - basis.shape[1]))


def _cluster_samples(recipe: Recipe, samples: Array) -> NDArray[np.intp]:
    """Cluster the features over some of the samples, from a fixed seed."""
    return cluster_rows(center(samples)[0].T, recipe.n_clusters, recipe.n_init, 0)
