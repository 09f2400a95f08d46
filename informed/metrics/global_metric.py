"""One informed Mahalanobis distance for all samples (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from informed.centering import center, row_squares, subtract, warn_about_constant_features
from informed.clusters.clusterers import (
    ClusteringName,
    FeatureClusterer,
    Grouping,
    ProfilesName,
    check_feature_labels,
)
from informed.directions.penalty import choose_penalty
from informed.directions.registry import DirectionsName, VariancesName
from informed.metrics.choice import Auto, Settings, choose_settings
from informed.metrics.covariance import SpikedCovariance
from informed.metrics.model import (
    Model,
    Recipe,
    check_parameters,
    find_model,
    takes_sparse,
    warn_about_ignored_penalty,
)
from informed.metrics.pairs import PairDistanceMixin
from informed.metrics.stability import coordinate_agreement
from informed.validation import (
    Array,
    Penalty,
    check_choice,
    check_flag,
    check_matrix,
    check_vectors,
    random_source,
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

    Any of ``n_components``, ``n_clusters``, ``clustering``, ``profiles``, ``directions`` and
    ``variances`` may be ``"auto"``: it is then chosen, together with the others that are, by the
    log-likelihood of samples held out (:meth:`score`) in three folds, everything being found anew
    in each; ``settings_`` tells what was chosen.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions d, at most the rank of the centred data.
    n_clusters : int, "auto" or None, default=None
        Number of clusters of features, at least d; None means d + 1 (d, if there are only d
        features), or what a clusterer object says.
    clustering : {"kmeans", "ward", "auto"} or clusterer, default="kmeans"
        How the features are clustered. ``"ward"`` is the tree of
        :class:`sklearn.cluster.FeatureAgglomeration`; it needs no seed, and memory for the
        distances of all pairs of features. An object with the interface of :mod:`sklearn.cluster`
        is copied and fitted to the features as points; its ``n_clusters`` is set if ours is given,
        its ``random_state`` if it has none; features that it leaves in no cluster (−1) are treated
        as in ``feature_labels``.
    profiles : {"as-is", "centered", "standardized", "auto"}, default="centered"
        What is done to each feature before it is compared with others. As they are, features of
        different level are apart; centred, adding a constant to a feature changes nothing;
        standardised, its unit does not matter either. See ``informed.clusters.clusterers``.
        Directions and variances are of the features as they are in any case.
    directions : {"exact", "gradient", "averaged", "penalized", "pca", "auto"}, default="exact"
        How the directions are found; see :mod:`informed.directions`. ``"pca"`` ignores the clusters
        and gives the conventional distance. Columns that are not of unit length are scaled to it,
        as in the paper. ``"auto"`` tries exact and principal ones.
    variances : {"pca", "own", "shrunk", "auto"}, default="pca"
        Λ: the leading eigenvalues of the sample covariance, as in the paper; the variances along
        the directions themselves; or those that new samples may be expected to have there, see
        :func:`informed.spiked.shrunk_variances`.
    penalty : float, "cv", "capped" or "per-direction", default="cv"
        Weight for ``directions="penalized"``. ``"cv"`` chooses it by held-out reconstruction error;
        clusters that were found from the data are found anew in each fold. ``"capped"`` takes a
        formula's weight where that is smaller, and ``"per-direction"`` a weight for each direction;
        see :func:`informed.directions.choose_penalty`.
    feature_labels : array of shape (n_features,) or None, default=None
        A known clustering, used instead of finding one: integers, or names such as those of
        pathways. Numbers may be left out. A feature that is in no cluster (−1, None or NaN) stands
        for itself: the directions are free there.
    n_init : int, default=10
        Number of k-means restarts.
    random_state : int, RandomState or None, default=None
        Seed of k-means.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    labels_ : int array of shape (n_features,) or None
        Cluster of each feature, numbered by first occurrence unless given as 0 … K − 1; None for
        ``directions="pca"`` without ``feature_labels``.
    directions_ : array of shape (n_features, d)
        Unit directions Ũ.
    variances_ : array of shape (d,)
        The diagonal of Λ.
    components_ : array of shape (d, n_features)
        :math:`\Lambda^{-1/2}\tilde U^\top`, the factor of the metric.
    noise_variance_ : float
        Mean variance of the training samples across the directions, or what shrunk variances leave
        of the total; zero if nothing is left there.
    stability_ : float
        How far another seed agrees: the RV coefficient of the training samples' coordinates with
        those from clusters that other restarts found (half of ``n_init`` each), which is one if all
        distances agree up to a factor. One where no seed is involved; NaN for ``n_init=1``.
    settings_ : dict
        What was used for each parameter that may be ``"auto"``.
    penalty_ : float
        The weight that was used, the largest if there are several: 0 for ``"pca"``, infinite where
        directions must lie in the span of the indicators.
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
        n_components: int | Auto = 2,
        n_clusters: int | Auto | None = None,
        *,
        clustering: ClusteringName | Auto | FeatureClusterer = "kmeans",
        profiles: ProfilesName | Auto = "centered",
        directions: DirectionsName | Auto = "exact",
        variances: VariancesName | Auto = "pca",
        penalty: Penalty = "cv",
        feature_labels: ArrayLike | None = None,
        n_init: int = 10,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.clustering = clustering
        self.profiles = profiles
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
        source = random_source(self.random_state)
        settings = self._settle(X)
        data = validate_samples(self, X, reset=True, allow_sparse=takes_sparse(settings))
        labels, recipe = check_parameters(
            settings,
            data.shape,
            settings.n_components,
            self.feature_labels,
            settings.clustering,
            settings.profiles,
        )
        warn_about_ignored_penalty(recipe, settings.directions, stacklevel=4)
        warn_about_constant_features(data, stacklevel=4)
        centered, self.mean_ = center(data)
        recluster = grouping = None
        # Centred samples have the same clusters, unless the level of a feature counts.
        profiled = data if recipe.profiles == "as-is" else centered
        if labels is None and recipe.solver.informed:
            grouping = recipe.group(profiled, source, centered=profiled is centered)
            labels = grouping.labels
            recluster = partial(_cluster_samples, recipe)

        def find(clusters: NDArray[np.intp] | None) -> Model:
            return find_model(
                centered,
                recipe,
                clusters,
                lambda own: choose_penalty(
                    profiled, own, recipe.n_components, recipe.penalty_rule, recluster=recluster
                ),
            )

        model = find(labels)
        self.labels_ = labels
        self.noise_variance_ = _variance_across(centered, model, recipe)
        self.directions_ = model.directions
        self.variances_ = model.variances
        self.components_ = model.factor
        self.penalty_ = model.penalty
        self.n_iter_ = model.n_iter
        self.settings_ = settings.used(
            None if labels is None or not recipe.solver.informed else int(labels.max()) + 1
        )
        self.stability_ = 1.0
        if grouping is not None and grouping.seeded:
            self.stability_ = _agreement_of_seeds(centered, model, grouping, find)
        return centered

    def _settle(self, X: ArrayLike) -> Settings:
        """Return the settings with nothing left open."""
        settings = Settings(
            self.n_components,
            self.n_clusters,
            self.clustering,
            self.profiles,
            self.directions,
            self.variances,
            self.penalty,
            self.n_init,
        )
        if not settings.open:
            return settings
        samples, labels = validate_samples(self, X, reset=True), None
        if self.feature_labels is not None:
            labels = check_feature_labels(self.feature_labels, samples.shape[1])
        return choose_settings(samples, settings, labels)[0]

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

    def error_norm(
        self,
        comp_cov: ArrayLike,
        norm: Literal["frobenius", "spectral"] = "frobenius",
        scaling: bool = True,
        squared: bool = True,
    ) -> float:
        """Error of the covariance of :meth:`mahalanobis`, as :mod:`sklearn.covariance` gives it.

        Parameters
        ----------
        comp_cov : array of shape (n_features, n_features)
            The covariance to compare with.
        norm : {"frobenius", "spectral"}
            Root of the sum of squared entries, or largest singular value, of the difference.
        scaling : bool
            Whether to divide the squared norm by the number of features.
        squared : bool
            Whether to return the squared norm.

        Returns
        -------
        float
        """
        check_choice("norm", norm, ["frobenius", "spectral"])
        model = self._model_of_all()
        other = check_matrix(comp_cov, "comp_cov", min_samples=1)
        n_features = len(model.mean)
        if other.shape != (n_features, n_features):
            raise ValueError(
                f"comp_cov has shape {other.shape}: it must be ({n_features}, {n_features})"
            )
        ours = (model.directions * (model.variances - model.noise)) @ model.directions.T
        ours[np.diag_indices(n_features)] += model.noise
        error = float(np.linalg.norm(other - ours, 2 if norm == "spectral" else "fro")) ** 2
        error /= n_features if scaling else 1
        return error if squared else float(np.sqrt(error))

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
        tags.input_tags.sparse = takes_sparse(self)
        return tags


def _variance_across(centered: Array, model: Model, recipe: Recipe) -> float:
    """Mean variance of the samples across the span of the directions; exactly zero if none is."""
    n_samples, n_features = centered.shape
    basis = np.linalg.qr(model.directions)[0]
    total = float(row_squares(centered).sum())
    left = total - float(((centered @ basis) ** 2).sum())
    if n_features == basis.shape[1] or left <= 1e-10 * total:
        return 0.0
    if recipe.variances == "shrunk":
        # What is noise along the directions of these samples lies across them in others.
        left = total - float(model.variances.sum()) * (n_samples - 1)
    return float(left / (n_samples - 1) / (n_features - basis.shape[1]))


def _agreement_of_seeds(
    centered: Array,
    model: Model,
    grouping: Grouping,
    find: Callable[[NDArray[np.intp]], Model],
) -> float:
    """Compare the coordinates with those from the clusters of another seed."""
    if grouping.rival is None:
        return float("nan")
    if np.array_equal(grouping.rival, grouping.labels):
        return 1.0
    other = find(grouping.rival)
    return coordinate_agreement(centered @ model.factor.T, centered @ other.factor.T)


def _cluster_samples(recipe: Recipe, samples: Array) -> NDArray[np.intp]:
    """Cluster the features over some of the samples, from a fixed seed."""
    return recipe.group(samples, 0).labels
