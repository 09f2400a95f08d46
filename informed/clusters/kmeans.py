r"""K-means for many small problems that resemble each other.

A neighbourhood of samples is a small k-means problem over the features, and overlapping
neighbourhoods have similar answers. So a neighbourhood is not started from scratch: it starts from
the partitions that a few others ended with, all starts (of several neighbourhoods) run through
Lloyd's algorithm at once, and after a few rounds only the most promising go on. Large single
problems are left to scikit-learn.
"""

from __future__ import annotations

from itertools import pairwise

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
    labels, costs = best_partitions(rows.T[None], starts, n_clusters)
    return labels[0], float(costs[0])


def best_partitions(
    problems: Array, starts: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.intp], Array]:
    """Solve several problems of one shape as :func:`best_partition` does, from the same starts.

    Small problems cost more in calls than in arithmetic. Here the products go problem by problem,
    as they would alone, so that no bit of a result depends on which problems are solved together;
    the rest is done for all of them at once.

    Parameters
    ----------
    problems : array of shape (n_problems, n_dimensions, n_points)
        The points of each problem, one in each column.
    starts : int array of shape (n_starts, n_points)
        Partitions to start from.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    labels : int array of shape (n_problems, n_points)
    costs : array of shape (n_problems,)

    Examples
    --------
    >>> problems = np.array([[[0.0, 0.1, 5.0, 5.1]], [[0.0, 9.0, 0.1, 9.1]]])
    >>> best_partitions(problems, np.array([[0, 1, 0, 1], [0, 1, 1, 0]]), 2)[0].tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    """
    n_problems, _, n_points = problems.shape
    squared = np.einsum("bij,bij->bj", problems, problems)
    totals = squared.sum(axis=1)
    # Small integers are quicker to compare and to move.
    current = np.tile(starts.astype(np.min_scalar_type(n_clusters)), (n_problems, 1))
    owner = np.repeat(np.arange(n_problems), len(starts))
    sizes = _cluster_sizes(current, n_clusters)
    # Fresh memory in every round would cost more than the arithmetic.
    memory = np.empty((2, len(current) * n_clusters, n_points), dtype=problems.dtype)
    best = np.tile(current[0], (n_problems, 1))
    best_costs = np.full(n_problems, np.inf)
    for trial in range(1, MAX_ROUNDS + 1):
        # The starts of one problem stand together.
        active, first = np.unique(owner, return_index=True)
        groups = np.append(first, len(owner))
        gaps = _gaps_to_centers(problems, current, sizes, active, groups, memory)
        moved, nearest = nearest_centers(gaps)
        sizes = _cluster_sizes(moved, n_clusters)
        for i in np.flatnonzero((sizes == 0).any(axis=1)):
            fill_empty_clusters(moved[i], nearest[i] + squared[owner[i]], sizes[i])
        costs = totals[owner] + nearest.sum(axis=1)
        least = np.minimum.reduceat(costs, first)
        leaders = np.flatnonzero(costs == np.repeat(least, np.diff(groups)))
        leaders = leaders[np.searchsorted(leaders, first)]
        better = least < best_costs[active]
        best[active[better]] = moved[leaders[better]]
        best_costs[active[better]] = least[better]
        go_on = (moved != current).any(axis=1)
        if trial == TRIAL_ROUNDS:
            for start, stop in pairwise(groups):
                if stop - start > GO_ON:
                    rivals = costs[start:stop]
                    go_on[start:stop] &= rivals <= np.partition(rivals, GO_ON - 1)[GO_ON - 1]
        current, owner, sizes = moved[go_on], owner[go_on], sizes[go_on]
        if not len(current):
            break
    return best.astype(np.intp), best_costs


def _cluster_sizes(partitions: NDArray[np.integer], n_clusters: int) -> NDArray[np.intp]:
    offsets = n_clusters * np.arange(len(partitions))[:, None]
    sizes = np.bincount((partitions + offsets).ravel(), minlength=n_clusters * len(partitions))
    return sizes.reshape(-1, n_clusters)


def _gaps_to_centers(
    problems: Array,
    partitions: NDArray[np.integer],
    sizes: NDArray[np.intp],
    active: NDArray[np.intp],
    groups: NDArray[np.intp],
    memory: Array,
) -> Array:
    """Squared distances to the centres of each partition, less the squared norm of the point."""
    n_partitions, n_clusters = sizes.shape
    _, n_dimensions, n_points = problems.shape
    flat, gaps = memory[:, : sizes.size]
    flat[:] = (partitions[:, None] == cluster_numbers(n_clusters)).reshape(flat.shape)
    centers = np.empty((sizes.size, n_dimensions), dtype=problems.dtype)
    parts = [
        (problems[i], slice(n_clusters * start, n_clusters * stop))
        for i, (start, stop) in zip(active, pairwise(groups), strict=True)
    ]
    for columns, part in parts:
        np.matmul(flat[part], columns.T, out=centers[part])
    centers /= np.maximum(sizes, 1).reshape(-1, 1)
    norms = np.einsum("ij,ij->i", centers, centers)
    # An empty cluster attracts nothing.
    norms[sizes.ravel() == 0] = np.inf
    for columns, part in parts:
        np.matmul(centers[part], columns, out=gaps[part])
    gaps *= -2
    gaps += norms[:, None]
    by_partition: Array = gaps.reshape(n_partitions, n_clusters, n_points)
    return by_partition


def nearest_centers(gaps: Array) -> tuple[NDArray[np.integer], Array]:
    """Arg-minimum (the first one) and minimum over the second axis.

    A maximum over small integers, which processors do many at a time, beats ``argmin``.
    """
    nearest = gaps.min(axis=1)
    numbers = cluster_numbers(gaps.shape[1])
    ranks = (gaps == nearest[:, None]) * numbers[::-1]
    moved: NDArray[np.integer] = numbers[-1] - ranks.max(axis=1)
    return moved, nearest


def cluster_numbers(n_clusters: int) -> NDArray[np.integer]:
    """Numbers of the clusters in the smallest type that holds them, as a column."""
    return np.arange(n_clusters, dtype=np.min_scalar_type(n_clusters))[:, None]


def fill_empty_clusters(
    partition: NDArray[np.integer], distances: Array, sizes: NDArray[np.intp]
) -> None:
    """Give each empty cluster the point that is farthest from its centre, as scikit-learn does."""
    for k in np.flatnonzero(sizes == 0):
        far = int(np.argmax(distances))
        sizes[partition[far]] -= 1
        partition[far] = k
        sizes[k] = 1
        distances[far] = -np.inf
