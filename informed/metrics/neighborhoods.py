"""Models of many neighbourhoods, block by block: what the local metric hands to workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from informed.centering import center
from informed.clusters.clusterers import group_features
from informed.clusters.features import (
    cluster_columns_from,
    cluster_rows_from,
    relabel_by_first_occurrence,
)
from informed.clusters.kmeans import spread_partitions
from informed.directions.penalty import PenaltyPath, choose_penalty, penalty_path
from informed.directions.solvers import RankError
from informed.directions.weights import DirectionWeights
from informed.metrics.model import Recipe, find_model
from informed.validation import Array

# Temporary arrays of the distance computations are kept to about this many numbers.
_BLOCK = 4_000_000
# Neighbourhoods are clustered together up to so many distances to centres: what fits a cache.
_BATCH = 200_000


@dataclass(frozen=True, eq=False)
class Ground:
    """What all neighbourhoods have in common.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Training samples: with the level that the clusters are to see, if they are to see it, else
        centred. Models do not depend on it.
    recipe : Recipe
        Checked parameters.
    scale : array of shape (n_features,) or None
        What each feature is divided by before it is compared with others; None for nothing.
    given : int array of shape (n_features,) or None
        Clusters that are known and hold in all neighbourhoods.
    starts : int array of shape (n_starts, n_features) or None
        Partitions from which k-means starts; None for other ways to find clusters, or for none.
    """

    X: Array
    recipe: Recipe
    scale: Array | None = None
    given: NDArray[np.intp] | None = None
    starts: NDArray[np.intp] | None = None

    def profiles(self, samples: Array) -> Array:
        """Return what of the samples decides which features are alike."""
        return samples if self.scale is None else samples / self.scale

    def recluster(self) -> Callable[[Array], NDArray[np.intp]] | None:
        """Return what finds the clusters anew from some of the samples; None for given ones."""
        if self.given is not None:
            return None
        return lambda samples: cluster_from_scratch(self.profiles(samples), self.recipe)


def fit_neighborhoods(
    ground: Ground,
    neighbors: NDArray[np.intp],
    known: NDArray[np.intp] | None,
    first: int,
    last: int,
) -> tuple[Array, NDArray[np.intp]]:
    """Models of the neighbourhoods from ``first`` up to ``last``."""
    X, recipe, starts = ground.X, ground.recipe, ground.starts
    factors = np.empty((last - first, recipe.n_components, X.shape[1]), dtype=X.dtype)
    labels = np.zeros((last - first, X.shape[1]), dtype=np.intp)
    per_neighborhood = 1 if starts is None else starts.size * recipe.n_clusters
    for batch in blocks_of(last - first, per_neighborhood, _BATCH):
        near = X[neighbors[first + batch]]
        if known is not None:
            labels[batch] = known[first + batch]
        elif recipe.solver.informed:
            labels[batch] = _cluster_all(ground.profiles(near), recipe, starts)
        for i, samples in zip(batch, near, strict=True):
            with _naming_sample(first + i):
                own_labels = labels[i] if recipe.solver.informed else None
                factors[i] = _factor(samples, ground, own_labels)
    return factors, labels


def _cluster_all(near: Array, recipe: Recipe, starts: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Cluster the features of each neighbourhood of a batch."""
    if starts is None:
        return np.array([cluster_from_scratch(samples, recipe) for samples in near])
    labels = cluster_columns_from(near, starts, recipe.n_clusters)
    for i, samples in enumerate(near):
        profiles = few_profiles(samples, recipe.n_clusters)
        if profiles is not None:
            labels[i] = profiles
    return labels


def few_profiles(samples: Array, n_clusters: int) -> NDArray[np.intp] | None:
    """Clusters of features that coincide, where they have fewer profiles than there are clusters.

    More clusters than profiles would split copies of a feature by chance. None if there are enough.

    Examples
    --------
    >>> few_profiles(np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0]]), 3)
    array([0, 1, 0])
    """
    # Most neighbourhoods are let through by a look at their first sample.
    if len(np.unique(samples[0])) >= n_clusters:
        return None
    profiles, which = np.unique(samples, axis=1, return_inverse=True)
    if profiles.shape[1] >= n_clusters:
        return None
    return relabel_by_first_occurrence(which.ravel())


def _factor(samples: Array, ground: Ground, labels: NDArray[np.intp] | None) -> Array:
    """Factor of one model; rows of zeros where the samples span fewer directions.

    A direction without variance is left out of a pseudo-inverse.
    """
    recipe = ground.recipe
    d = recipe.n_components
    if labels is not None:
        d = min(d, int(labels.max()) + 1)
    centered = center(samples)[0]
    factor = np.zeros((recipe.n_components, samples.shape[1]), dtype=samples.dtype)
    while d > 0:
        own = replace(recipe, n_components=d)
        try:
            model = find_model(centered, own, labels, partial(_choose_penalty, samples, ground, d))
        except RankError as error:
            # Rounding may see a direction in one matrix and not in another: go on below.
            d = min(error.rank, d - 1)
        else:
            factor[:d] = model.factor
            break
    return factor


def _choose_penalty(
    samples: Array, ground: Ground, n_components: int, labels: NDArray[np.intp]
) -> float | DirectionWeights:
    rule = ground.recipe.penalty_rule
    return choose_penalty(samples, labels, n_components, rule, recluster=ground.recluster())


def neighborhood_penalty_path(
    samples: Array, ground: Ground, labels: NDArray[np.intp]
) -> PenaltyPath:
    """Held-out error along the penalties, with clusters found anew in each fold.

    The samples are not centred within the neighbourhood, because the clusters depend on their
    level.
    """
    d = ground.recipe.n_components
    return penalty_path(samples, labels, d, recluster=ground.recluster())


@contextmanager
def _naming_sample(sample: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"neighbourhood of sample {sample}: {error}") from error


def cluster_from_scratch(
    samples: Array, recipe: Recipe, random_state: RandomState | None = None
) -> NDArray[np.intp]:
    """Cluster the features over some samples, as they are, without partitions to start from."""
    profiles = few_profiles(samples, recipe.n_clusters)
    if profiles is not None:
        return profiles
    if recipe.clustering != "kmeans":
        return group_features(
            samples,
            recipe.n_clusters or None,
            clustering=recipe.clustering,
            profiles="as-is",
            random_state=0,
            with_rival=False,
        ).labels
    rows = samples.T.astype(np.float64)
    random_state = check_random_state(0 if random_state is None else random_state)
    starts = spread_partitions(rows, recipe.n_clusters, recipe.n_init, random_state)
    return cluster_rows_from(rows, starts, recipe.n_clusters)


def blocks_of(
    n_rows: int, numbers_per_row: int, numbers: int | None = None
) -> Iterator[NDArray[np.intp]]:
    """Split row numbers so that a block's temporary array stays small."""
    size = max(1, (numbers or _BLOCK) // max(1, numbers_per_row))
    for start in range(0, n_rows, size):
        yield np.arange(start, min(start + size, n_rows))
