r"""K-means of many points, all restarts at once: the result of scikit-learn's, in less time.

The starts are drawn as :class:`sklearn.cluster.KMeans` draws them (greedy k-means++), and each run
goes on until its labels stay or its centres hardly move, by the same tolerance. What differs is the
order of the work: one product of the points with the centres of *all* runs serves a round, so that
the points are read once instead of once for each run; runs that have ended drop out.

Only products with the points are needed. So sparse samples need not become dense: see
:class:`informed.centering.CenteredSparse`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from informed.centering import row_squares
from informed.validation import Array

# The settings of scikit-learn's KMeans.
MAX_ROUNDS = 300
TOLERANCE = 1e-4


def cluster_many_rows(
    rows: Any, n_clusters: int, n_init: int, random_state: int | RandomState | None
) -> NDArray[np.intp]:
    """K-means of the rows; labels of the cheapest of several runs.

    Parameters
    ----------
    rows : array of shape (n_points, n_dimensions), or the transpose of a CenteredSparse
        Points.
    n_clusters : int
        Number of clusters.
    n_init : int
        Number of runs.
    random_state : int, RandomState or None
        Seed of the starts.

    Returns
    -------
    labels : int array of shape (n_points,)

    Examples
    --------
    >>> points = np.array([[0.0, 1.0], [0.1, 1.0], [5.0, 0.0], [5.1, 0.0]])
    >>> len(set(cluster_many_rows(points, 2, 3, 0)[[0, 2]]))
    2
    """
    return run_many(rows, n_clusters, n_init, check_random_state(random_state))[0]


def run_many(
    rows: Any, n_clusters: int, n_init: int, source: RandomState
) -> tuple[NDArray[np.intp], float]:
    """Return the labels of the cheapest of several runs, and what they cost."""
    squares = row_squares(rows)
    starts = spread_points(rows, squares, n_clusters, n_init, source)
    return _run_all(rows, squares, _take(rows, starts.ravel()).T, n_clusters)


def spread_points(
    rows: Any, squares: Array, n_clusters: int, n_runs: int, source: RandomState
) -> NDArray[np.intp]:
    """Draw points for each run to start from, by greedy k-means++ as scikit-learn does.

    Each next one is the best of a few that are drawn with probability proportional to the squared
    distance to those before. What is drawn for one run after the other is used for all at once.
    """
    n_points = len(squares)
    n_trials = 2 + int(np.log(n_clusters))
    even = np.full(n_points, 1.0 / n_points)
    chosen = np.empty((n_runs, n_clusters), dtype=np.intp)
    draws = np.empty((n_runs, n_clusters - 1, n_trials))
    for run in range(n_runs):
        chosen[run, 0] = source.choice(n_points, p=even)
        draws[run] = source.uniform(size=draws[run].shape)
    nearest = _squared_distances(rows, squares, chosen[:, 0])
    for k in range(1, n_clusters):
        drawn = np.array(
            [
                np.searchsorted(
                    np.cumsum(nearest[:, run]), draws[run, k - 1] * nearest[:, run].sum()
                )
                for run in range(n_runs)
            ]
        ).clip(max=n_points - 1)
        fresh = _squared_distances(rows, squares, drawn.ravel()).reshape(n_points, n_runs, n_trials)
        np.minimum(fresh, nearest[:, :, None], out=fresh)
        best = fresh.sum(axis=0).argmin(axis=1)
        chosen[:, k] = drawn[np.arange(n_runs), best]
        nearest = fresh[:, np.arange(n_runs), best]
    return chosen


def _run_all(
    rows: Any, squares: Array, centers: Array, n_clusters: int
) -> tuple[NDArray[np.intp], float]:
    """Lloyd's algorithm from several sets of centres at once; the cheapest end and its cost."""
    n_points, n_runs = len(squares), centers.shape[1] // n_clusters
    tolerance = TOLERANCE * _mean_variance(rows, squares)
    running = np.arange(n_runs)
    clusters = [_Sums(rows, n_clusters) for _ in running]
    labels = np.full((n_runs, n_points), -1, dtype=np.intp)
    best: NDArray[np.intp] = labels[0]
    least = np.inf
    for trial in range(MAX_ROUNDS):
        found, gaps = _assign(rows, centers, n_clusters)
        same = (found == labels[running]).all(axis=1)
        labels[running] = found
        moved = np.hstack(
            [
                clusters[run].centers(_without_empty(own, gap + squares, n_clusters))
                for run, own, gap in zip(running, found, gaps, strict=True)
            ]
        )
        shifts = ((moved - centers) ** 2).sum(axis=0).reshape(-1, n_clusters).sum(axis=1)
        settled = same | (shifts <= tolerance) | (trial == MAX_ROUNDS - 1)
        for k in np.flatnonzero(settled):
            # A run that stopped while its centres still moved a little is given its last labels.
            own = moved[:, k * n_clusters : (k + 1) * n_clusters]
            last, gap = (found[k], gaps[k]) if same[k] else _last_labels(rows, own, n_clusters)
            cost = float(squares.sum() + gap.sum())
            # As in scikit-learn: a run that is hardly better does not count as better.
            if cost < least * (1 - 1e-12):
                best, least = last, cost
        keep = np.repeat(~settled, n_clusters)
        running, centers = running[~settled], moved[:, keep]
        if not len(running):
            break
    return best, least


def _last_labels(rows: Any, centers: Array, n_clusters: int) -> tuple[NDArray[np.intp], Array]:
    labels, gaps = _assign(rows, centers, n_clusters)
    return labels[0], gaps[0]


def _assign(rows: Any, centers: Array, n_clusters: int) -> tuple[NDArray[np.intp], Array]:
    """Nearest centre of each point in each run, and its squared distance less that of the point."""
    gaps = rows @ centers
    gaps *= -2.0
    gaps += (centers**2).sum(axis=0)
    by_run = gaps.reshape(len(gaps), -1, n_clusters)
    labels = by_run.argmin(axis=2)
    least = np.take_along_axis(by_run, labels[:, :, None], axis=2)[:, :, 0]
    return np.ascontiguousarray(labels.T), np.ascontiguousarray(least.T)


def _without_empty(labels: NDArray[np.intp], distances: Array, n_clusters: int) -> NDArray[np.intp]:
    """Give each empty cluster one of the points that are farthest from their centres."""
    empty = np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0)
    if len(empty):
        labels = labels.copy()
        labels[np.argsort(distances)[::-1][: len(empty)]] = empty
    return labels


class _Sums:
    """Sums over the clusters of one run, brought up to date by the points that changed places.

    After a few rounds few points do, and reading all of them again would cost as much as finding
    the nearest centres.
    """

    def __init__(self, rows: Any, n_clusters: int) -> None:
        self._rows, self._n_clusters = rows, n_clusters
        self._labels: NDArray[np.intp] | None = None
        self._sums = np.empty((rows.shape[1], n_clusters))

    def centers(self, labels: NDArray[np.intp]) -> Array:
        """Return the means of the clusters, in columns."""
        rows, before = self._rows, self._labels
        moved = np.arange(len(labels)) if before is None else np.flatnonzero(labels != before)
        if before is None or 4 * len(moved) > len(labels) or not isinstance(rows, np.ndarray):
            self._sums = rows.T @ self._members(labels)
        elif len(moved):
            change = self._members(labels[moved]) - self._members(before[moved])
            self._sums = self._sums + rows[moved].T @ change
        self._labels = labels
        sizes = np.bincount(labels, minlength=self._n_clusters)
        means: Array = self._sums / np.maximum(sizes, 1)
        return means

    def _members(self, labels: NDArray[np.intp]) -> Array:
        members = np.zeros((len(labels), self._n_clusters), dtype=self._rows.dtype)
        members[np.arange(len(labels)), labels] = 1.0
        return members


def _squared_distances(rows: Any, squares: Array, chosen: NDArray[np.intp]) -> Array:
    distances: Array = rows @ _take(rows, chosen).T
    distances *= -2.0
    distances += squares[:, None]
    distances += squares[chosen]
    np.maximum(distances, 0.0, out=distances)
    # Rounding must not keep a point away from itself.
    distances[chosen, np.arange(len(chosen))] = 0.0
    return distances


def _take(rows: Any, chosen: NDArray[np.intp]) -> Array:
    """Return some rows; of sparse ones by a product, which never makes the rest dense."""
    if isinstance(rows, np.ndarray):
        return rows[chosen]
    picked = np.zeros((len(rows), len(chosen)), dtype=rows.dtype)
    picked[chosen, np.arange(len(chosen))] = 1.0
    taken: Array = (rows.T @ picked).T
    return taken


def _mean_variance(rows: Any, squares: Array) -> float:
    """Mean over the dimensions of the variance of the points."""
    n_points, n_dimensions = rows.shape
    mean = rows.T @ np.full((n_points, 1), 1.0 / n_points, dtype=rows.dtype)
    return float((squares.sum() / n_points - (mean**2).sum()) / n_dimensions)
