"""Nearest neighbours of every sample: exactly, or in time that is linear in their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from informed.validation import Array

# More trees miss fewer neighbours; larger leaves, too.
N_TREES = 8
LEAF = 512


def neighbors_by_trees(X: Array, n_neighbors: int, random_state: RandomState) -> NDArray[np.intp]:
    """Nearest samples of each sample, itself first, among those that it shares a leaf with.

    A tree splits the samples in equal halves, across the line through two of them drawn at random,
    until at most a few hundred are left together; within such a leaf all distances are computed.
    What one tree separates another keeps together: the best of several trees is the answer. With so
    few samples that no split is needed it is exact.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples.
    n_neighbors : int
        Number of neighbours, the sample included.
    random_state : RandomState
        Source of the draws.

    Returns
    -------
    neighbors : int array of shape (n_samples, n_neighbors)
        Nearest first.

    Examples
    --------
    >>> neighbors_by_trees(np.array([[0.0], [1.0], [3.0], [3.5]]), 2, np.random.RandomState(0))
    array([[0, 1],
           [1, 0],
           [2, 3],
           [3, 2]])
    """
    n_samples = len(X)
    leaf = max(LEAF, 4 * n_neighbors)
    neighbors = np.empty((n_samples, 0), dtype=np.intp)
    distances = np.empty((n_samples, 0))
    for _ in range(N_TREES if n_samples > leaf else 1):
        found = np.empty((n_samples, n_neighbors), dtype=np.intp)
        how_far = np.empty((n_samples, n_neighbors))
        for rows in _leaves(X, leaf, random_state):
            squared = euclidean_distances(X[rows].astype(np.float64), squared=True)
            # A sample comes first even among copies of itself.
            np.fill_diagonal(squared, -1.0)
            nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
            found[rows] = rows[nearest]
            how_far[rows] = np.take_along_axis(squared, nearest, axis=1)
        neighbors, distances = _nearest_of(
            np.hstack([neighbors, found]), np.hstack([distances, how_far]), n_neighbors
        )
    return neighbors


def include_self(neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put each sample first among its own neighbours, where duplicates may have pushed it out.

    Examples
    --------
    >>> include_self(np.array([[1, 0, 2], [0, 2, 3]]))
    array([[0, 1, 2],
           [1, 0, 2]])
    """
    own = np.arange(len(neighbors))
    others = neighbors != own[:, None]
    # A row without its own index loses its last, farthest entry instead.
    others[others.all(axis=1), -1] = False
    return np.column_stack([own, neighbors[others].reshape(len(neighbors), -1)])


def _leaves(X: Array, size: int, random_state: RandomState) -> Iterator[NDArray[np.intp]]:
    """Split the samples into groups of at most ``size`` that lie together."""
    waiting = [np.arange(len(X))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            yield rows
            continue
        one, other = X[random_state.choice(rows, 2, replace=False)]
        order = np.argpartition(X[rows] @ (one - other), len(rows) // 2)
        waiting += [rows[half] for half in np.split(order, [len(rows) // 2])]


def _nearest_of(
    neighbors: NDArray[np.intp], distances: Array, n_neighbors: int
) -> tuple[NDArray[np.intp], Array]:
    """Keep the nearest of each row, sorted, each name once."""
    order = np.argsort(neighbors, axis=1)
    neighbors = np.take_along_axis(neighbors, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    distances[:, 1:][neighbors[:, 1:] == neighbors[:, :-1]] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(neighbors, order, axis=1), np.take_along_axis(distances, order, 1)
