"""One informed Mahalanobis distance for all samples (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from informed.centering import center, row_squares, subtract, warn_about_constant_features
from informed.clusters.clusterers import (
    ClusteringName,
    FeatureClusterer,
    ProfilesName,
    check_feature_labels,
    group_features,
)
from informed.clusters.features import relabel_by_first_occurrence
from informed.directions.penalty import PenaltyChoice
from informed.directions.registry import SOLVERS, DirectionsName, VariancesName
from informed.directions.solvers import RankError, variance_across
from informed.metrics.choice import AUTO, MAY_BE_OPEN, Auto, Settings, choose_settings
from informed.metrics.likelihood import LikelihoodMixin
from informed.metrics.model import (
    PARAMETERS,
    Model,
    Recipe,
    find_model,
    make_recipe,
    warn_about_ignored_penalty,
)
from informed.metrics.pairs import PairDistanceMixin
from informed.metrics.stability import coordinate_agreement
from informed.validation import (
    Array,
    KeepsFloat32Mixin,
    Penalty,
    check_flag,
    check_matrix,
    check_values,
    check_vectors,
    random_source,
    validate_samples,
)

__all__ = ["InformedMahalanobis", "MahalanobisMetric"]

# Names that may be left open: whoever gives an unknown one is told of "auto" too.
_OPEN = {
    name: replace(kind, names=(*kind.names, AUTO))
    for name, kind in PARAMETERS.items()
    if name in MAY_BE_OPEN and kind.names
}
_KINDS = PARAMETERS | _OPEN


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
    KeepsFloat32Mixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    LikelihoodMixin,
):
    r"""Mahalanobis distance whose principal directions are informed by clusters of features.

    The features are clustered by k-means, d directions are found in (or near) the span of the
    cluster indicators, and the squared distance of two samples is
    :math:`(c_1-c_2)^\top\tilde U\Lambda^{-1}\tilde U^\top(c_1-c_2)`. It is the squared Euclidean
    distance after :meth:`transform`, and nothing larger than d × n_features is stored (but see
    ``stability_``).

    Any of ``n_components``, ``n_clusters``, ``clustering``, ``profiles``, ``directions`` and
    ``variances`` may be ``"auto"``: it is then chosen, together with the others that are, by the
    log-likelihood of samples held out (:meth:`score`) in three folds, everything being found anew
    in each; ``settings_`` says what was chosen.

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
        distances agree up to a factor. One where no seed is involved; NaN for ``n_init=1``, or if
        the other clusters have no d directions. It takes a second model, which is found when it is
        first read; where the clusters differ, the centred training samples are kept until then. A
        pickle holds the number and no samples.
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
    scores and distances alike: the mean is taken away within products. Penalised directions need
    dense ones.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(n_samples=30, n_features=8, random_state=0)
    >>> metric = InformedMahalanobis(n_components=2, random_state=0).fit(X)
    >>> metric.transform(X).shape, metric.pairwise_distances(X).shape
    ((30, 2), (30, 30))
    """

    # Penalised directions need the samples and the clusters side by side, Ward's tree and clusterer
    # objects the profiles of the features.
    _sparse_with: ClassVar = {
        "clustering": ("kmeans",),
        "profiles": ("centered",),
        "directions": tuple(name for name, solver in SOLVERS.items() if not solver.penalized),
    }

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
        settings = {name: getattr(self, name) for name in (*PARAMETERS, "n_clusters")}
        if any(isinstance(settings[name], str) and settings[name] == AUTO for name in MAY_BE_OPEN):
            settings = self._choose_settings(X, settings)
        data = validate_samples(self, X, reset=True, allow_sparse=None)
        checked = check_values(settings, _KINDS, data.shape)
        labels, recipe = make_recipe(
            checked, settings["n_clusters"], data.shape[1], self.feature_labels
        )
        if recipe.penalty != "cv":
            warn_about_ignored_penalty(recipe, checked["directions"], stacklevel=4)
        warn_about_constant_features(data, stacklevel=4)
        centered, self.mean_ = center(data)
        total = float(row_squares(centered).sum())
        # Centred samples have the same clusters, unless the level of a feature counts.
        profiled = data if recipe.profiles == "as-is" else centered
        grouping = recluster = None
        if labels is None and recipe.solver.informed:
            grouping = group_features(
                profiled,
                recipe.n_clusters or None,
                clustering=recipe.clustering,
                profiles="as-is" if recipe.profiles == "centered" else recipe.profiles,
                n_init=recipe.n_init,
                random_state=source,
            )
            labels = grouping.labels
            if labels.max() + 1 < recipe.n_components:
                raise _too_few_clusters(recipe, labels)
            recluster = partial(_cluster_samples, recipe)
        choose = PenaltyChoice(profiled, recipe.n_components, recipe.penalty, recluster)
        find = partial(find_model, centered, recipe, choose_penalty=choose, total=total)
        model = find(labels)
        self.labels_ = labels
        self.directions_ = model.directions
        self.variances_ = model.variances
        self.components_ = model.factor
        self.penalty_ = model.penalty
        self.n_iter_ = model.n_iter
        # What is noise along the directions of these samples lies across them in others.
        shrunk = model.variances if recipe.variances == "shrunk" else None
        self.noise_variance_ = variance_across(centered, model.directions, total, shrunk)
        self.settings_ = {name: settings[name] for name in MAY_BE_OPEN}
        n_clusters = None if labels is None or not recipe.solver.informed else int(labels.max()) + 1
        self.settings_["n_clusters"] = n_clusters
        self._stability: float | Callable[[], float] = 1.0
        if grouping is not None and grouping.seeded:
            rival = grouping.rival
            if rival is None:
                self._stability = float("nan")
            # Equal partitions have no more pairs of labels than clusters.
            elif len(np.unique(labels * (rival.max() + 1) + rival)) > min(
                n_clusters, rival.max() + 1
            ):
                self._stability = partial(_agreement_of_seeds, centered, model, rival, find)
        return centered

    def _choose_settings(self, X: ArrayLike, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return the settings with nothing left open."""
        check_values(wanted, _OPEN)
        samples, labels = validate_samples(self, X, reset=True), None
        if self.feature_labels is not None:
            labels = check_feature_labels(self.feature_labels, samples.shape[1])
        return vars(choose_settings(samples, Settings(**wanted), labels)[0])

    @property
    def stability_(self) -> float:
        """How far another seed agrees.

        See the attributes of the class.
        """
        check_is_fitted(self)
        if callable(self._stability):
            self._stability = self._stability()
        return self._stability

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_stability" in state:
            # A copy or a file holds the answer, and not the samples that it takes to find it.
            state["_stability"] = self.stability_
        return state

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
        samples = validate_samples(self, X, reset=False, allow_sparse=True)
        coordinates: Array = subtract(samples, self.mean_) @ self.components_.T
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
        check_is_fitted(self)
        check_flag("squared", squared)
        # Not by transform, whose output may have been asked for as a data frame.
        sides = [X] if Y is None else [X, Y]
        coordinates = [
            subtract(samples, self.mean_) @ self.components_.T
            for samples in (
                validate_samples(self, side, reset=False, allow_sparse=True) for side in sides
            )
        ]
        distances: Array = euclidean_distances(*coordinates, squared=squared)
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


def _agreement_of_seeds(
    centered: Array,
    model: Model,
    rival: NDArray[np.intp],
    find: Callable[[NDArray[np.intp]], Model],
) -> float:
    """Compare the coordinates with those from the clusters of another seed."""
    try:
        other = find(relabel_by_first_occurrence(rival))
    except RankError:
        return float("nan")
    return coordinate_agreement(centered @ model.factor.T, centered @ other.factor.T)


def _cluster_samples(recipe: Recipe, samples: Array) -> NDArray[np.intp]:
    """Cluster the features over some of the samples, from a fixed seed."""
    labels = group_features(
        samples,
        recipe.n_clusters or None,
        clustering=recipe.clustering,
        profiles=recipe.profiles,
        n_init=recipe.n_init,
        random_state=0,
    ).labels
    if labels.max() + 1 < recipe.n_components:
        raise _too_few_clusters(recipe, labels)
    return labels


def _too_few_clusters(recipe: Recipe, labels: NDArray[np.intp]) -> ValueError:
    found = int(labels.max()) + 1
    return ValueError(
        f"n_components={recipe.n_components} is out of range: it must be an integer from 1 to "
        f"{found} (clustering={recipe.clustering!r} found {found} clusters)"
    )
