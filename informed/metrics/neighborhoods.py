"""Models of many neighbourhoods, block by block: what the local metric hands to workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from informed.centering import center
from informed.clusters.features import (
    check_distinct_rows,
    cluster_columns_from,
    cluster_rows_from,
)
from informed.clusters.kmeans import spread_partitions
from informed.directions.penalty import PenaltyPath, choose_penalty, penalty_path
from informed.directions.weights import DirectionWeights
from informed.metrics.model import Recipe, find_model
from informed.validation import Array

# Temporary arrays of the distance computations are kept to about this many numbers.
_BLOCK = 4_000_000
# Neighbourhoods are clustered together up to so many distances to centres: what fits a cache.
_BATCH = 200_000


def fit_neighborhoods(
    X: Array,
    neighbors: NDArray[np.intp],
    starts: NDArray[np.intp] | None,
    known: NDArray[np.intp] | None,
    recipe: Recipe,
    first: int,
    last: int,
) -> tuple[Array, NDArray[np.intp]]:
    """Models of the neighbourhoods from ``first`` up to ``last``."""
    factors = np.empty((last - first, recipe.n_components, X.shape[1]), dtype=X.dtype)
    labels = np.zeros((last - first, X.shape[1]), dtype=np.intp)
    per_neighborhood = 1 if starts is None else starts.size * recipe.n_clusters
    for batch in blocks_of(last - first, per_neighborhood, _BATCH):
        near = X[neighbors[first + batch]]
        if known is not None:
            labels[batch] = known[first + batch]
        elif starts is not None:
            for i, samples in zip(batch, near, strict=True):
                with _naming_sample(first + i):
                    check_distinct_rows(samples.T, recipe.n_clusters)
            labels[batch] = cluster_columns_from(near, starts, recipe.n_clusters)
        for i, samples in zip(batch, near, strict=True):
            with _naming_sample(first + i):
                own_labels = labels[i] if recipe.solver.informed else None
                choose = partial(_choose_penalty, samples, recipe)
                factors[i] = find_model(center(samples)[0], recipe, own_labels, choose).factor
    return factors, labels


def _choose_penalty(
    samples: Array, recipe: Recipe, labels: NDArray[np.intp]
) -> float | DirectionWeights:
    again = partial(cluster_from_scratch, recipe=recipe)
    return choose_penalty(
        samples, labels, recipe.n_components, recipe.penalty_rule, recluster=again
    )


def neighborhood_penalty_path(
    samples: Array, recipe: Recipe, labels: NDArray[np.intp]
) -> PenaltyPath:
    """Held-out error along the penalties, with clusters found anew in each fold.

    The samples are centred over all training samples but not within the neighbourhood, because the
    clusters depend on their level.
    """
    again = partial(cluster_from_scratch, recipe=recipe)
    return penalty_path(samples, labels, recipe.n_components, recluster=again)


@contextmanager
def _naming_sample(sample: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"neighbourhood of sample {sample}: {error}") from error


def cluster_from_scratch(
    samples: Array, recipe: Recipe, random_state: RandomState | None = None
) -> NDArray[np.intp]:
    """Cluster the features over some samples without partitions to start from."""
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
