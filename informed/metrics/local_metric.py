"""An informed Mahalanobis model in every neighbourhood (Algorithm 2 of the paper)."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Self

import numpy as np
from joblib import effective_n_jobs
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from informed.centering import center, warn_about_constant_features
from informed.clusters.clusterers import (
    ClusteringName,
    FeatureClusterer,
    ProfilesName,
    check_feature_labels,
    deviations_of,
    with_seed,
)
from informed.clusters.features import check_distinct_rows
from informed.directions.penalty import PenaltyPath
from informed.directions.registry import DIRECTIONS, SOLVERS, DirectionsName, VariancesName
from informed.exceptions import FewerDirectionsWarning
from informed.metrics.local_graph import LocalGraphMixin, half_distances
from informed.metrics.model import Recipe, check_parameters, warn_about_ignored_penalty
from informed.metrics.neighborhoods import (
    Ground,
    cluster_from_scratch,
    fit_neighborhoods,
    neighborhood_penalty_path,
)
from informed.metrics.neighbors import NeighborSearch, Search, check_search
from informed.metrics.pairs import PairDistanceMixin
from informed.parallel import iterate_tasks, one_thread
from informed.progress import progress_bar
from informed.validation import (
    Array,
    Penalty,
    check_choice,
    check_count,
    check_flag,
    check_n_jobs,
    check_penalty,
    check_vectors,
    random_source,
    validate_samples,
)

__all__ = ["LocalInformedMahalanobis", "LocalMahalanobisMetric"]

# Size of a neighbourhood and number of directions unless they are given, as far as data allow.
NEIGHBORS = 20
COMPONENTS = 6


class LocalMahalanobisMetric:
    """A local distance between two vectors, independent of later fits of its estimator.

    Parameters
    ----------
    estimator : LocalInformedMahalanobis
        A fitted estimator.
    """

    def __init__(self, estimator: LocalInformedMahalanobis) -> None:
        # A fit replaces what was fitted and changes none of it, so a shallow copy keeps it.
        self._estimator = copy(estimator)

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Return the distance of two vectors."""
        pair = check_vectors(u, v, self._estimator.n_features_in_)
        return float(self._estimator.pair_distance([pair])[0])


class LocalInformedMahalanobis(LocalGraphMixin, PairDistanceMixin, BaseEstimator):
    r"""Mahalanobis distance with an informed model in the neighbourhood of each sample.

    Around sample *i* its nearest neighbours (itself among them, Euclidean distance) give a
    clustering of the features, directions :math:`\tilde U_i` and variances :math:`\Lambda_i`, and
    so :math:`\tilde\Sigma_i^\dagger = \tilde U_i\Lambda_i^{-1}\tilde U_i^\top`. The squared
    distance is

    .. math::

        d^2(c_1, c_2) = \tfrac12 (c_1-c_2)^\top
        (\tilde\Sigma_1^\dagger+\tilde\Sigma_2^\dagger)(c_1-c_2).

    Only the factors are stored, d × n_features for each sample.

    For the clustering the features are centred once, over all training samples, and not again
    within a neighbourhood: whether a feature lies above or below its usual level around a sample is
    part of what it has in common with others there. K-means clusters ``n_init`` neighbourhoods from
    scratch, with ``n_init`` restarts each; what they end with is where all the others start. So
    equal neighbourhoods get equal models.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Size of a neighbourhood, the sample included; above ``n_components`` and at most the number
        of samples. None means 20, or all samples where there are fewer.
    n_components : int or None, default=None
        Number of directions d. None means 6, or as many as the features and a neighbourhood of
        samples have.
    n_clusters : int or None, default=None
        Number of clusters of features, at least d; None means d + 1, as in
        :class:`informed.InformedMahalanobis`.
    clustering : {"kmeans", "ward"} or clusterer, default="kmeans"
        As in :class:`informed.InformedMahalanobis`, for each neighbourhood: Ward's trees and
        clusterer objects begin anew in each, an object with the same seed. Where one finds fewer
        than d clusters, the model has only that many directions.
    profiles : {"as-is", "centered", "standardized"}, default="centered"
        What is done to each feature before it is compared with others, as in
        :class:`informed.InformedMahalanobis`. Mean and standard deviation are those of all training
        samples, not of a neighbourhood.
    directions, variances, penalty, n_init
        As in :class:`informed.InformedMahalanobis`, for each neighbourhood.
    feature_labels : array of shape (n_features,) or None, default=None
        A known clustering, used in every neighbourhood instead of finding one; numbers, names and
        gaps as in :class:`informed.InformedMahalanobis`.
    search : {"exact", "trees"}, RandomTrees or transformer, default="exact"
        How the neighbours of the training samples are found. ``"exact"`` takes time that grows with
        the square of their number where trees of coordinates do not help, as with many features;
        ``"trees"`` takes linear time and misses some neighbours in favour of others that are hardly
        farther. For tens of thousands of samples. :class:`~informed.metrics.RandomTrees` says how
        many it misses, and takes the number of trees and the size of their leaves. Any transformer
        in the manner of :class:`sklearn.neighbors.KNeighborsTransformer`, with distances and at
        least ``n_neighbors`` of them in a row, is taken as well; packages for approximate search
        offer such transformers.
    n_candidates : int or None, default=None
        How many nearest samples by the Euclidean distance are looked at in :meth:`kneighbors`,
        :meth:`kneighbors_graph` and :meth:`transform`; None looks at all.
    n_jobs : int or None, default=None
        Number of joblib workers over the samples. The models do not depend on it, nor on the number
        of threads. The workers may be those of a cluster: ``joblib.parallel_config("dask")``.
    random_state : int, RandomState or None, default=None
        Seed of k-means.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    components_ : array of shape (n_samples, d, n_features)
        The factor :math:`\Lambda_i^{-1/2}\tilde U_i^\top` of each neighbourhood.
    neighbors_ : int array of shape (n_samples, n_neighbors)
        Neighbours of each sample, nearest first.
    n_neighbors_ : int
        Size of a neighbourhood.
    labels_ : int array of shape (n_samples, n_features) or None
        Feature clusters of each neighbourhood; None for ``directions="pca"``.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The distance is symmetric and non-negative, but not a metric in general: since every pair has
    its own quadratic form, a detour through a third sample may be shorter than going directly. On a
    line with models of scale 1, 1 and 0.01 (say, at 0, 1 and 0.5, the last one in the middle of a
    sparse stretch), d(0, 1) = 1 exceeds d(0, ½) + d(½, 1) ≈ 0.71. It may also be zero between
    different samples.

    Samples may coincide. A neighbourhood of copies spans fewer than d directions, or none; its
    model has only that many, its other factors are zero, and a
    :class:`~informed.FewerDirectionsWarning` says how many neighbourhoods are affected. In the
    same way it has fewer clusters where fewer features differ.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> X, _ = make_swiss_roll(100, random_state=0)
    >>> local = LocalInformedMahalanobis(10, n_components=2, n_clusters=3, random_state=0)
    >>> local.fit(X).pairwise_distances().shape
    (100, 100)
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        n_components: int | None = None,
        n_clusters: int | None = None,
        *,
        clustering: ClusteringName | FeatureClusterer = "kmeans",
        profiles: ProfilesName = "centered",
        directions: DirectionsName = "exact",
        variances: VariancesName = "pca",
        penalty: Penalty = "cv",
        feature_labels: ArrayLike | None = None,
        n_init: int = 10,
        search: Search = "exact",
        n_candidates: int | None = None,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.clustering = clustering
        self.profiles = profiles
        self.directions = directions
        self.variances = variances
        self.penalty = penalty
        self.feature_labels = feature_labels
        self.n_init = n_init
        self.search = search
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the neighbours of each sample and the model of each neighbourhood.

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
        data, given, recipe = self._check_fit(X)
        search = check_search(self.search)
        check_n_jobs(self.n_jobs)
        check_flag("verbose", self.verbose)
        warn_about_ignored_penalty(recipe, self.directions)
        warn_about_constant_features(data)
        self._seed = int(random_source(self.random_state).randint(2**31 - 1))
        # Everything below works on centred samples, which keep their digits far from zero.
        self._X, self.mean_ = center(data)
        self._ground = Ground(
            # A copy: the caller may change the samples.
            data.copy() if recipe.profiles == "as-is" else self._X,
            replace(recipe, clustering=with_seed(recipe.clustering, self._seed)),
            deviations_of(self._X) if recipe.profiles == "standardized" else None,
            given,
        )
        if given is None and self.n_clusters is not None and recipe.solver.informed:
            check_distinct_rows(self._ground.profiles(self._ground.X).T, recipe.n_clusters)
        self._search = NeighborSearch(self._X, search, self._seed)
        self.neighbors_ = self._search.of_training(self.n_neighbors_)
        self._ground = replace(self._ground, starts=self._find_starts())
        self.components_, self.labels_ = self._fit_neighborhoods(self.neighbors_)
        self._warn_about_few_directions()
        return self

    def pairwise_distances(
        self, X: ArrayLike | None = None, Y: ArrayLike | None = None, *, squared: bool = False
    ) -> Array:
        """Distances between the rows of ``X`` and those of ``Y``, as the global metric gives them.

        A sample that is given here gets the model of its own nearest training samples; one that is
        a training sample gets the model that it has.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or None
            Samples; None means the training samples.
        Y : array of shape (n_samples, n_features) or None
            Samples; None means those of ``X``.
        squared : bool
            Whether to return squared distances.

        Returns
        -------
        distances : array of shape (n_samples_X, n_samples_Y)
        """
        check_is_fitted(self)
        check_flag("squared", squared)
        points, factors = self._models_of(X)
        if Y is None:
            one_sided = half_distances(points, factors, points)
            total = one_sided + one_sided.T
            np.fill_diagonal(total, 0.0)
        else:
            others, other_factors = self._models_of(Y)
            total = half_distances(points, factors, others)
            total += half_distances(others, other_factors, points).T
        return total if squared else np.sqrt(total)

    def with_directions(self, directions: DirectionsName, *, penalty: Penalty = "cv") -> Self:
        """Return a fitted copy with other directions in the same neighbourhoods and clusters.

        The clusters take most of the time of a fit; several metrics can share them.

        Parameters
        ----------
        directions, penalty
            As in the constructor. Directions other than ``"pca"`` need the clusters of this fit.

        Returns
        -------
        LocalInformedMahalanobis

        Examples
        --------
        >>> from sklearn.datasets import make_swiss_roll
        >>> X, _ = make_swiss_roll(100, random_state=0)
        >>> local = LocalInformedMahalanobis(10, n_components=2, n_clusters=3, random_state=0)
        >>> conventional = local.fit(X).with_directions("pca")
        >>> conventional.labels_ is None
        True
        """
        check_is_fitted(self)
        other = copy(self)
        other.set_params(directions=directions, penalty=penalty)
        solver = SOLVERS[check_choice("directions", directions, DIRECTIONS)]
        recipe = replace(self._ground.recipe, solver=solver, penalty=check_penalty(penalty))
        warn_about_ignored_penalty(recipe, directions)
        starts = self._ground.starts if solver.informed else None
        other._ground = replace(self._ground, recipe=recipe, starts=starts)
        if solver.informed and self.labels_ is None:
            raise ValueError(
                f"directions={directions!r} needs clusters, and this metric was fitted with "
                f"directions={self.directions!r}, which has none"
            )
        known = self.labels_ if solver.informed else None
        other.components_, other.labels_ = other._fit_neighborhoods(self.neighbors_, known)
        return other

    def penalty_path(self, sample: int) -> PenaltyPath:
        """Held-out error of the penalised directions in the neighbourhood of a training sample.

        Parameters
        ----------
        sample : int
            Number of the training sample.

        Returns
        -------
        PenaltyPath
        """
        check_is_fitted(self)
        sample = check_count("sample", sample, 0, len(self._X) - 1, f"{len(self._X)} samples")
        if self.labels_ is None:
            raise ValueError(
                f"a penalty needs clusters, and directions={self.directions!r} has none"
            )
        near = self._ground.X[self.neighbors_[sample]]
        return neighborhood_penalty_path(near, self._ground, self.labels_[sample])

    def get_metric(self) -> LocalMahalanobisMetric:
        """Return the distance as a function of two vectors that stays as it is if this is refitted.

        Returns
        -------
        metric : callable
            Usable as ``metric=`` of scikit-learn's neighbours. Each call finds the neighbours of
            both vectors anew: :meth:`pairwise_distances` is the way to many distances.
        """
        check_is_fitted(self)
        return LocalMahalanobisMetric(self)

    def _check_fit(self, X: ArrayLike) -> tuple[Array, NDArray[np.intp] | None, Recipe]:
        """Check samples and parameters; what is None becomes what the data allow."""
        data = validate_samples(self, X, reset=True)
        n_samples, n_features = data.shape
        wanted, d = self.n_neighbors, self.n_components
        if d is not None:
            check_count("n_components", d, 1)
        self.n_neighbors_ = check_count(
            "n_neighbors",
            min(NEIGHBORS, n_samples) if wanted is None else wanted,
            2,
            n_samples,
            f"n_samples={n_samples}",
        )
        if d is None:
            d = min(COMPONENTS, self.n_neighbors_ - 1, n_features)
            if self.n_clusters is not None:
                d = min(d, check_count("n_clusters", self.n_clusters, 1))
            if self.feature_labels is not None:
                labels = check_feature_labels(self.feature_labels, n_features)
                d = min(d, int(labels.max()) + 1)
        elif self.n_neighbors_ <= d:
            raise ValueError(
                f"n_neighbors={self.n_neighbors_} is out of range: it must be above "
                f"n_components={d}, because N samples span N - 1 directions"
            )
        shape = self.n_neighbors_, n_features
        return data, *check_parameters(
            self, shape, d, self.feature_labels, self.clustering, self.profiles
        )

    def _warn_about_few_directions(self) -> None:
        seen = np.any(self.components_, axis=2)
        few = int(np.sum(~np.all(seen, axis=1)))
        if few:
            warnings.warn(
                f"{few} of {len(self._X)} neighbourhoods span fewer than "
                f"{self._ground.recipe.n_components} directions, and have a model with fewer: "
                "samples coincide or lie in a plane, or features form fewer clusters; a larger "
                "n_neighbors or a smaller n_components helps",
                FewerDirectionsWarning,
                stacklevel=3,
            )

    def _fit_neighborhoods(
        self, neighbors: NDArray[np.intp], labels: NDArray[np.intp] | None = None
    ) -> tuple[Array, NDArray[np.intp] | None]:
        """Model of each neighbourhood; its feature clusters are found unless they are known."""
        recipe, given = self._ground.recipe, self._ground.given
        if labels is None and given is not None and recipe.solver.informed:
            labels = np.broadcast_to(given, (len(neighbors), len(given)))
        n_blocks = min(len(neighbors), 8 * effective_n_jobs(self.n_jobs))
        bounds = np.linspace(0, len(neighbors), n_blocks + 1).astype(int).tolist()
        work = iterate_tasks(
            fit_neighborhoods,
            list(pairwise(bounds)),
            n_jobs=self.n_jobs,
            shared=(self._ground, neighbors, labels),
        )
        d, n_features = recipe.n_components, self._X.shape[1]
        factors = np.empty((len(neighbors), d, n_features), dtype=self._X.dtype)
        found_labels = np.empty((len(neighbors), n_features), dtype=np.intp)
        with progress_bar(len(neighbors), "neighbourhoods", shown=self.verbose) as bar:
            for (start, stop), found in zip(pairwise(bounds), work, strict=True):
                factors[start:stop], found_labels[start:stop] = found
                bar.update(stop - start)
        return factors, found_labels if recipe.solver.informed else None

    def _models_of(self, X: ArrayLike | None) -> tuple[Array, Array]:
        if X is None:
            return self._X, self.components_
        points = validate_samples(self, X, reset=False) - self.mean_
        return points, self._models_at(points)

    def _models_at(self, points: Array) -> Array:
        """Factors at centred points, each from its nearest training samples."""
        neighbors = self._search.of(points, self.n_neighbors_)
        return self._fit_neighborhoods(neighbors)[0]

    def _distances_of_pairs(self, left: Array, right: Array) -> Array:
        factors = self._models_at(np.concatenate([left, right]) - self.mean_)
        # Both models see the same difference, so the pairs are repeated, not the other way round.
        differences = np.concatenate([left - right, left - right])
        squared = np.sum(np.einsum("idp,ip->id", factors, differences) ** 2, axis=1)
        distances: Array = np.sqrt(0.5 * (squared[: len(left)] + squared[len(left) :]))
        return distances

    def _find_starts(self) -> NDArray[np.intp] | None:
        """Cluster a few neighbourhoods from scratch; the others start from what these end with."""
        ground, recipe = self._ground, self._ground.recipe
        if not recipe.solver.informed or ground.given is not None or recipe.clustering != "kmeans":
            return None
        random = random_source(self._seed)
        n_starts = min(recipe.n_init, len(self._X))
        landmarks = random.choice(len(self._X), n_starts, replace=False)
        with one_thread():
            return np.array(
                [
                    cluster_from_scratch(
                        ground.profiles(ground.X[self.neighbors_[i]]), recipe, random
                    )
                    for i in landmarks
                ]
            )
