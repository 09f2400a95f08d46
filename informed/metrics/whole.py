"""One informed Mahalanobis distance for all samples (Algorithm 1 of the paper)."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from informed.clusters import cluster_rows, warn_about_constant_features
from informed.directions import unit_columns
from informed.metrics.model import (
    Recipe,
    check_feature_labels,
    factor,
    find_model,
    make_recipe,
    validate_samples,
)
from informed.validation import Array

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
        return float(np.linalg.norm(self.components @ (np.asarray(u) - np.asarray(v))))


class InformedMahalanobis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        directions: str = "exact",
        variances: str = "pca",
        penalty: float | str = "cv",
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
        data = validate_samples(self, X, reset=True)
        labels = check_feature_labels(self.feature_labels, data.shape[1])
        recipe = make_recipe(
            n_components=self.n_components,
            n_clusters=self.n_clusters,
            directions=self.directions,
            variances=self.variances,
            penalty=self.penalty,
            n_init=self.n_init,
            n_samples=data.shape[0],
            n_features=data.shape[1],
            feature_labels=labels,
        )
        warn_about_constant_features(data)
        self.mean_ = data.mean(axis=0)
        centered = data - self.mean_
        self.labels_, recluster = labels, None
        if labels is None and recipe.directions != "pca":
            self.labels_ = cluster_rows(
                centered.T, recipe.n_clusters, recipe.n_init, self.random_state
            )
            recluster = partial(_cluster_samples, recipe)
        found, self.variances_ = find_model(centered, recipe, self.labels_, recluster)
        self.directions_ = unit_columns(found.directions)
        self.components_ = factor(found, self.variances_)
        self.penalty_ = found.penalty
        self.n_iter_ = found.n_iter
        return self

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
        samples = validate_samples(self, X, reset=False)
        coordinates: Array = (samples - self.mean_) @ self.components_.T
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
        distances: Array = euclidean_distances(
            self.transform(X), None if Y is None else self.transform(Y), squared=squared
        )
        return distances

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Distance of each pair.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features)
            Pairs of samples.

        Returns
        -------
        distances : array of shape (n_pairs,)
        """
        check_is_fitted(self)
        # Not through transform: an array of pairs cannot carry the feature names of the fit.
        sides = check_array(
            pairs,
            dtype=[np.float64, np.float32],
            ensure_2d=False,
            allow_nd=True,
            input_name="pairs",
        )
        if sides.ndim != 3 or sides.shape[1:] != (2, self.n_features_in_):
            raise ValueError(
                f"pairs has shape {sides.shape}: it must be (n_pairs, 2, {self.n_features_in_})"
            )
        differences = (sides[:, 0] - sides[:, 1]) @ self.components_.T
        distances: Array = np.linalg.norm(differences, axis=1)
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
        return tags


def _cluster_samples(recipe: Recipe, samples: Array) -> NDArray[np.intp]:
    """Cluster the features over some of the samples, from a fixed seed."""
    rows = (samples - samples.mean(axis=0)).T
    return cluster_rows(rows, recipe.n_clusters, recipe.n_init, 0)
