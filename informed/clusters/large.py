r"""K-means of many points, all restarts at once: the result of scikit-learn's, in less time.

The starts are drawn as :class:`sklearn.cluster.KMeans` draws them (greedy k-means++), and each run
goes on until its labels stay or its centres hardly move, by the same tolerance. What differs is the
order of the work: one product of the points with the centres of *all* runs serves a round, so that
the points are read once instead of once for each run; runs that have ended drop out; and points
that cannot have changed places are not looked at.

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
from informed.clusters.kmeans import nearest_centers
from informed.validation import Array

# The settings of scikit-learn's KMeans.
MAX_ROUNDS = 300
TOLERANCE = 1e-4
# Distances that are looked at together: what fits a cache.
BLOCK = 100_000


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
    if isinstance(rows, np.ndarray):
        # Points one after the other in memory: some of them are picked out in every round.
        rows = np.ascontiguousarray(rows)
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
                np.searchsorted(np.cumsum(own), draws[run, k - 1] * own.sum())
                for run, own in enumerate(nearest)
            ]
        ).clip(max=n_points - 1)
        fresh = _squared_distances(rows, squares, drawn.ravel()).reshape(n_runs, n_trials, n_points)
        np.minimum(fresh, nearest[:, None], out=fresh)
        best = fresh.sum(axis=2).argmin(axis=1)
        chosen[:, k] = drawn[np.arange(n_runs), best]
        nearest = fresh[np.arange(n_runs), best]
    return chosen


def _run_all(
    rows: Any, squares: Array, centers: Array, n_clusters: int
) -> tuple[NDArray[np.intp], float]:
    """Lloyd's algorithm from several sets of centres at once; the cheapest end and its cost."""
    tolerance = TOLERANCE * _mean_variance(rows, squares)
    running = [
        _Run(rows, squares, own) for own in np.hsplit(centers, centers.shape[1] // n_clusters)
    ]
    best: NDArray[np.intp] = running[0].labels
    least = np.inf
    for trial in range(MAX_ROUNDS):
        same = _assign_all(rows, running)
        shifts = [run.move() for run in running]
        going_on = []
        for run, still, shift in zip(running, same, shifts, strict=True):
            if not (still or shift <= tolerance or trial == MAX_ROUNDS - 1):
                going_on.append(run)
                continue
            # A run that stopped while its centres still moved a little is given its last labels.
            last, cost = run.end() if still else run.last_labels()
            # As in scikit-learn: a run that is hardly better does not count as better.
            if cost < least * (1 - 1e-12):
                best, least = last, cost
        running = going_on
        if not running:
            break
    return best, least


def _assign_all(rows: Any, running: list[_Run]) -> list[bool]:
    """Find the nearest centre of each point in each run, and tell which runs keep all labels.

    A run that has to look at most points takes part in one product with all of them; one that has
    to look at a few has a product of its own.
    """
    doubts = [run.doubtful() for run in running]
    whole = [run for run, doubt in zip(running, doubts, strict=True) if doubt is None]
    found = iter(_assign(rows, [run.centers for run in whole]))
    same = []
    for run, doubt in zip(running, doubts, strict=True):
        if doubt is None:
            same.append(run.see(slice(None), *next(found)))
        elif len(doubt):
            same.append(run.see(doubt, *_assign(rows[doubt], [run.centers])[0]))
        else:
            same.append(True)
    return same


def _assign(rows: Any, several: list[Array]) -> list[tuple[NDArray[np.intp], Array, Array]]:
    """Nearest of each set of centres, and the squared distances to it and to the second nearest.

    Of the squared distances the squared length of the point is left out.
    """
    if not several:
        return []
    n_points, n_runs, n_clusters = len(rows), len(several), several[0].shape[1]
    centers = np.hstack(several)
    scaled, norms = (-2.0 * centers).T, (centers**2).sum(axis=0)
    kind = np.result_type(rows.dtype, centers.dtype)
    labels = np.empty((n_runs, n_points), dtype=np.intp)
    least, second = np.empty((2, n_runs, n_points), dtype=kind)
    for part in _parts(rows, len(norms)):
        gaps = scaled @ rows[part].T if isinstance(rows, np.ndarray) else scaled @ rows.T
        gaps += norms[:, None]
        by_run = gaps.reshape(n_runs, n_clusters, -1)
        labels[:, part], least[:, part] = nearest_centers(by_run)
        np.put_along_axis(by_run, labels[:, None, part], np.inf, axis=1)
        second[:, part] = by_run.min(axis=1)
    return list(zip(labels, least, second, strict=True))


class _Run:
    """One run of Lloyd's algorithm, which looks again only at points that may have moved.

    The distance of a point to its own centre grows by no more than this centre moves, and that to
    any other shrinks by no more than the one that moves most (Hamerly's bounds). As long as the
    first bound is below the second, the point stays where it is; after a few rounds most do.
    """

    def __init__(self, rows: Any, squares: Array, centers: Array) -> None:
        self._rows, self._squares = rows, squares
        self.centers, self._before = centers, centers
        self.labels = np.full(len(squares), -1, dtype=np.intp)
        self._sums = _Sums(rows, centers.shape[1])
        self._own, self._others = np.empty((2, len(squares)))
        self._bounded = False
        # Distances are differences of squares, and rounding may change small ones.
        longest = float(np.sqrt(squares.max(initial=0.0)))
        self._slack = 10 * longest * float(np.sqrt(np.finfo(rows.dtype).eps))

    def doubtful(self) -> NDArray[np.intp] | None:
        """Return the points whose nearest centre may be another one now; None for all points."""
        if not self._bounded or not isinstance(self._rows, np.ndarray):
            return None
        points = np.flatnonzero(self._own + self._slack >= self._others)
        return points if 8 * len(points) < len(self.labels) else None

    def see(self, points: Any, labels: NDArray[np.intp], least: Array, second: Array) -> bool:
        """Take the nearest centres of some points, and tell whether all labels stay."""
        same = np.array_equal(self.labels[points], labels)
        self.labels[points] = labels
        squares = self._squares[points]
        self._own[points] = np.sqrt(np.maximum(least + squares, 0.0))
        self._others[points] = np.sqrt(np.maximum(second + squares, 0.0))
        self._bounded = True
        return same

    def move(self) -> float:
        """Move the centres to the means of their clusters; return the sum of squared shifts."""
        labels, n_clusters = self.labels, self.centers.shape[1]
        self._before = self.centers
        if (np.bincount(labels, minlength=n_clusters) == 0).any():
            gaps = _assign(self._rows, [self.centers])[0][1]
            labels = _without_empty(labels, gaps + self._squares, n_clusters)
            self._bounded = False
        self.centers = self._sums.centers(labels)
        squared = ((self.centers - self._before) ** 2).sum(axis=0)
        shifts = np.sqrt(squared)
        self._own += shifts[self.labels]
        self._others -= shifts.max()
        return float(squared.sum())

    def end(self) -> tuple[NDArray[np.intp], float]:
        """Return the labels, to which the centres before the last move belong, and their cost."""
        total = float(self._squares.sum())
        if not self._bounded:
            return self.labels, total + float(_assign(self._rows, [self._before])[0][1].sum())
        return self.labels, total + self._sums.cost(self._before)

    def last_labels(self) -> tuple[NDArray[np.intp], float]:
        """Return the labels of the centres as they are, and their cost."""
        labels, gaps, _ = _assign(self._rows, [self.centers])[0]
        return labels, float(self._squares.sum() + gaps.sum())


def _parts(rows: Any, n_centers: int) -> list[slice]:
    """Ranges of points whose distances to all centres fit a cache; one range of sparse points."""
    n_points = len(rows)
    size = max(256, BLOCK // n_centers) if isinstance(rows, np.ndarray) else n_points
    return [slice(start, start + size) for start in range(0, n_points, size)]


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
        self._sizes = np.zeros(n_clusters, dtype=np.intp)

    def centers(self, labels: NDArray[np.intp]) -> Array:
        """Return the means of the clusters, in columns."""
        rows, before = self._rows, self._labels
        moved = np.arange(len(labels)) if before is None else np.flatnonzero(labels != before)
        if before is None or 4 * len(moved) > len(labels) or not isinstance(rows, np.ndarray):
            self._sums = rows.T @ self._members(labels)
        elif len(moved):
            change = self._members(labels[moved]) - self._members(before[moved])
            self._sums = self._sums + rows[moved].T @ change
        # A copy: the run changes its labels in place.
        self._labels = labels.copy()
        self._sizes = np.bincount(labels, minlength=self._n_clusters)
        means: Array = self._sums / np.maximum(self._sizes, 1)
        return means

    def cost(self, centers: Array) -> float:
        """Return the cost of the clusters for some centres, less the squares of the points."""
        return float((self._sizes * centers**2 - 2 * centers * self._sums).sum())

    def _members(self, labels: NDArray[np.intp]) -> Array:
        members = np.zeros((len(labels), self._n_clusters), dtype=self._rows.dtype)
        members[np.arange(len(labels)), labels] = 1.0
        return members


def _squared_distances(rows: Any, squares: Array, chosen: NDArray[np.intp]) -> Array:
    """Squared distances of all points to some of them, one row for each of these."""
    distances: Array = (-2.0 * _take(rows, chosen)) @ rows.T
    distances += squares
    distances += squares[chosen][:, None]
    np.maximum(distances, 0.0, out=distances)
    # Rounding must not keep a point away from itself.
    distances[np.arange(len(chosen)), chosen] = 0.0
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
