r"""K-means for many small problems that resemble each other.

A neighbourhood of samples is a small k-means problem over the features, and overlapping
neighbourhoods have similar answers. So a neighbourhood is not started from scratch: it starts from
the partitions that a few others ended with, all starts run through Lloyd's algorithm at once, as
one matrix product a round, and after a few rounds only the most promising go on. Large single
problems are left to scikit-learn.
"""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.validation import Array

# Rounds after which the starts are compared, and how many of them go on.
TRIAL_ROUNDS = 4
GO_ON = 5
MAX_ROUNDS = 300


def spread_partitions(
    rows: Array, n_clusters: int, n_starts: int, random_state: RandomState
) -> NDArray[np.intp]:
    """Draw starting partitions by k-means++: centres with probability proportional to D².

    Parameters
    ----------
    rows : array of shape (n_points, n_dimensions)
        Points.
    n_clusters : int
        Number of clusters.
    n_starts : int
        Number of partitions.
    random_state : RandomState
        Source of the draws.

    Returns
    -------
    starts : int array of shape (n_starts, n_points)

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> spread_partitions(points, 2, 1, np.random.RandomState(0)).tolist()
    [[0, 0, 1, 1]]
    """
    squared = np.einsum("ij,ij->i", rows, rows)

    def to_points(chosen: NDArray[np.intp]) -> Array:
        expanded = squared + squared[chosen][:, None] - 2 * rows[chosen] @ rows.T
        distances: Array = np.maximum(expanded, 0)
        return distances

    distances = to_points(random_state.randint(len(rows), size=n_starts))
    starts = np.zeros((n_starts, len(rows)), dtype=np.intp)
    for k in range(1, n_clusters):
        sums = np.cumsum(distances, axis=1)
        draws = random_state.uniform(size=(n_starts, 1)) * sums[:, -1:]
        chosen = np.minimum(np.sum(sums <= draws, axis=1), len(rows) - 1)
        fresh = to_points(chosen)
        starts[fresh < distances] = k
        # The chosen point belongs to its own centre, also where it coincides with an earlier one.
        starts[np.arange(n_starts), chosen] = k
        distances = np.minimum(distances, fresh)
    return starts


def best_partition(
    rows: Array, starts: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.intp], float]:
    """Lloyd's algorithm from several partitions; the best partition that is found, and its cost.

    Parameters
    ----------
    rows : array of shape (n_points, n_dimensions)
        Points.
    starts : int array of shape (n_starts, n_points)
        Partitions to start from.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    labels : int array of shape (n_points,)
    cost : float
        Sum of squared distances to the centres of the clusters.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> labels, cost = best_partition(points, np.array([[0, 1, 0, 1]]), 2)
    >>> labels.tolist(), round(cost, 3)
    ([0, 0, 1, 1], 0.01)
    """
    squared = np.einsum("ij,ij->i", rows, rows)
    total = float(squared.sum())
    current = starts
    best, best_cost = starts[0], np.inf
    for trial in range(1, MAX_ROUNDS + 1):
        centers, norms = _centers(rows, current, n_clusters)
        gaps = (norms[:, None] - 2 * (centers @ rows.T)).reshape(len(current), n_clusters, -1)
        moved, nearest = _nearest_centers(gaps)
        _fill_empty_clusters(moved, nearest + squared, n_clusters)
        costs = total + nearest.sum(axis=1)
        settled = (moved == current).all(axis=1)
        leader = int(np.argmin(costs))
        if costs[leader] < best_cost:
            best, best_cost = moved[leader], float(costs[leader])
        go_on = ~settled
        if trial == TRIAL_ROUNDS and len(costs) > GO_ON:
            go_on &= costs <= np.partition(costs, GO_ON - 1)[GO_ON - 1]
        current = moved[go_on]
        if not len(current):
            break
    return best, best_cost


def _centers(rows: Array, partitions: NDArray[np.intp], n_clusters: int) -> tuple[Array, Array]:
    """Centres of every cluster of every partition, stacked, and their squared norms."""
    n_starts, n_points = partitions.shape
    members = np.zeros((n_starts, n_clusters, n_points), dtype=rows.dtype)
    members[np.arange(n_starts)[:, None], partitions, np.arange(n_points)] = 1
    flat = members.reshape(-1, n_points)
    sizes = flat.sum(axis=1)
    centers = (flat @ rows) / np.maximum(sizes, 1)[:, None]
    norms = np.einsum("ij,ij->i", centers, centers)
    # An empty cluster attracts nothing.
    norms[sizes == 0] = np.inf
    return centers, norms


def _nearest_centers(gaps: Array) -> tuple[NDArray[np.intp], Array]:
    """Arg-minimum and minimum over the second axis; a loop over few clusters beats ``argmin``."""
    nearest = gaps[:, 0].copy()
    moved = np.zeros(nearest.shape, dtype=np.intp)
    for k in range(1, gaps.shape[1]):
        closer = gaps[:, k] < nearest
        moved[closer] = k
        np.minimum(nearest, gaps[:, k], out=nearest)
    return moved, nearest


def _fill_empty_clusters(partitions: NDArray[np.intp], distances: Array, n_clusters: int) -> None:
    """Give each empty cluster the point that is farthest from its centre, as scikit-learn does."""
    for partition, distance in zip(partitions, distances, strict=True):
        sizes = np.bincount(partition, minlength=n_clusters)
        if sizes.all():
            continue
        for k in np.flatnonzero(sizes == 0):
            far = int(np.argmax(distance))
            partition[far] = k
            distance[far] = -np.inf
