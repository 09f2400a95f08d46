r"""K-means of one problem with thousands of points, from several partitions at once.

The work and the result are those of :func:`informed.clusters.kmeans.best_partitions`. What differs
is where the digits are spent. A first look, in single precision, at all points and all centres
settles all but a few points: where the nearest centre is ahead of the second by more than rounding
can explain, it is the nearest. The others are looked at in double precision. The sums over the
clusters are kept in double precision and changed by those points only that changed places.
"""

from __future__ import annotations

from itertools import starmap

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from informed.clusters.kmeans import (
    GO_ON,
    MAX_ROUNDS,
    TRIAL_ROUNDS,
    cluster_numbers,
    fill_empty_clusters,
)
from informed.validation import Array

# Numbers of the first look that are held at a time: what fits a cache.
BLOCK = 200_000
# So many changed points are added up one by one; more are left to a product.
FEW = 4096


def best_wide_partition(
    columns: Array, starts: NDArray[np.intp], n_clusters: int
) -> tuple[NDArray[np.intp], float]:
    """Lloyd's algorithm from several partitions; the best partition that is found, and its cost.

    Parameters
    ----------
    columns : float64 array of shape (n_dimensions, n_points)
        Points, one in each column.
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
    >>> labels, cost = best_wide_partition(
    ...     np.array([[0.0, 0.1, 5.0, 5.1]]), np.array([[0, 1, 0, 1]]), 2
    ... )
    >>> labels.tolist(), round(cost, 3)
    ([0, 0, 1, 1], 0.01)
    """
    # Far from zero, squares would lose the digits in which the points differ. A few points tell
    # where most of them are, and no outlier does.
    some = columns[:, :: max(1, columns.shape[1] // 500)]
    columns = columns - np.median(some, axis=1, keepdims=True)
    # Points one after the other in memory: some of them are picked out in every round.
    rows = np.ascontiguousarray(columns.T)
    squares = np.einsum("ij,ij->i", rows, rows)
    total = float(squares.sum())
    look = _FirstLook(columns)
    current = starts.astype(cluster_numbers(n_clusters).dtype)
    sizes = np.array([np.bincount(start, minlength=n_clusters) for start in current])
    sums = np.array([_add_up(rows, start, n_clusters) for start in current])
    best, least = current[0], np.inf
    for trial in range(1, MAX_ROUNDS + 1):
        centers = sums / np.maximum(sizes, 1)[:, :, None]
        moved, doubts = look.nearest(centers, sizes)
        for run, points in doubts:
            moved[run, points] = _gaps(centers[run], sizes[run], rows[points]).argmin(axis=0)
        changed = np.flatnonzero(moved != current)
        sums, sizes = _follow(sums, sizes, rows, changed, current, moved)
        norms = np.einsum("rkj,rkj->rk", centers, centers)
        costs = total + (sizes * norms - 2 * np.einsum("rkj,rkj->rk", centers, sums)).sum(axis=1)
        for i in np.flatnonzero((sizes == 0).any(axis=1)):
            distances = _gaps(centers[i], sizes[i], rows).min(axis=0) + squares
            fill_empty_clusters(moved[i], distances, sizes[i])
            sums[i] = _add_up(rows, moved[i], n_clusters)
        leader = int(costs.argmin())
        if costs[leader] < least:
            best, least = moved[leader], float(costs[leader])
        go_on = (moved != current).any(axis=1)
        if trial == TRIAL_ROUNDS and len(costs) > GO_ON:
            go_on &= costs <= np.partition(costs, GO_ON - 1)[GO_ON - 1]
        if not go_on.any():
            break
        current, sums, sizes = moved[go_on], sums[go_on], sizes[go_on]
    return best.astype(np.intp), least


class _FirstLook:
    """Nearest centres in single precision, and for which points this is not precise enough.

    The points are scaled so that none is longer than one. Let N be the number of
    dimensions, L ≤ 1 the length of the longest centre and ε = 2⁻²³. Rounding changes
    ‖c‖² − 2⟨c, x⟩ by no more than (N + 4)(ε/2)(2L + L²), to first order in ε, so two centres may
    change places only if these numbers differ by less than twice as much. Twice that again is asked
    for.
    """

    def __init__(self, columns: Array) -> None:
        n_dimensions, n_points = columns.shape
        longest = float(np.sqrt(np.einsum("ij,ij->j", columns, columns).max()))
        self._scale = 1.0 / longest if longest > 0 else 1.0
        # A last row of ones brings the squared lengths of the centres into the product.
        self._columns = np.ones((n_dimensions + 1, n_points), dtype=np.float32)
        self._columns[:-1] = columns * self._scale
        self._unit = 2 * (n_dimensions + 4) * float(np.finfo(np.float32).eps)

    def nearest(
        self, centers: Array, sizes: NDArray[np.intp]
    ) -> tuple[NDArray[np.integer], list[tuple[int, NDArray[np.intp]]]]:
        """Return the nearest centre of each point in each run, and the doubtful points of runs.

        Parameters
        ----------
        centers : array of shape (n_runs, n_clusters, n_dimensions)
            Centres of each run.
        sizes : int array of shape (n_runs, n_clusters)
            Sizes of the clusters; an empty one attracts nothing.
        """
        n_runs, n_clusters, _ = centers.shape
        n_points = self._columns.shape[1]
        scaled = centers * self._scale
        norms = np.einsum("rkj,rkj->rk", scaled, scaled)
        norms[sizes == 0] = 0.0
        longest = np.sqrt(norms.max(axis=1, keepdims=True))
        # Below the last term nothing is certain: numbers so small are not held to full precision.
        margins = (self._unit * longest * (2 + longest) + 1e-30).astype(np.float32)
        # An empty cluster attracts nothing: true centres have no more than 3 here.
        norms[sizes == 0] = 10.0
        weights = np.concatenate([-2 * scaled, norms[:, :, None]], axis=2)
        weights = weights.reshape(n_runs * n_clusters, -1).astype(np.float32)
        numbers = cluster_numbers(n_clusters)
        labels = np.empty((n_runs, n_points), dtype=numbers.dtype)
        doubtful = np.empty((n_runs, n_points), dtype=bool)
        size = max(256, BLOCK // len(weights))
        for first in range(0, n_points, size):
            part = slice(first, first + size)
            gaps = (weights @ self._columns[:, part]).reshape(n_runs, n_clusters, -1)
            limits = gaps.min(axis=1) + margins
            near = (gaps <= limits[:, None]).view(np.uint8)
            labels[:, part] = (near * numbers).max(axis=1)
            doubtful[:, part] = near.sum(axis=1, dtype=numbers.dtype) > 1
        found = starmap(lambda run, own: (run, np.flatnonzero(own)), enumerate(doubtful))
        return labels, [(run, points) for run, points in found if len(points)]


def _follow(
    sums: Array,
    sizes: NDArray[np.intp],
    rows: Array,
    changed: NDArray[np.intp],
    current: NDArray[np.integer],
    moved: NDArray[np.integer],
) -> tuple[Array, NDArray[np.intp]]:
    """Bring sums and sizes of all runs up to date; ``changed`` counts through run after run."""
    n_clusters = sizes.shape[1]
    run, points = np.divmod(changed, len(rows))
    gathered, shape = rows[points], sums.shape
    for labels, sign in ((moved, 1), (current, -1)):
        slots = run * n_clusters + labels.ravel()[changed]
        sums = sums + sign * _add_up(gathered, slots, sizes.size).reshape(shape)
        sizes = sizes + sign * np.bincount(slots, minlength=sizes.size).reshape(sizes.shape)
    return sums, sizes


def _add_up(rows: Array, slots: NDArray[np.integer], n_slots: int) -> Array:
    """Sum the rows that have the same slot."""
    n_dimensions = rows.shape[1]
    if len(rows) > FEW:
        members = sparse.csr_array(
            (np.ones(len(rows)), slots, np.arange(len(rows) + 1)), shape=(len(rows), n_slots)
        )
        product: Array = members.T @ rows
        return product
    places = n_dimensions * slots[:, None].astype(np.intp) + np.arange(n_dimensions)
    sums = np.bincount(places.ravel(), rows.ravel(), n_dimensions * n_slots)
    return sums.reshape(n_slots, n_dimensions)


def _gaps(centers: Array, sizes: NDArray[np.intp], rows: Array) -> Array:
    """Squared distances to the centres, less the squared norm of the point."""
    norms = np.einsum("ij,ij->i", centers, centers)
    norms[sizes == 0] = np.inf
    gaps: Array = -2.0 * centers @ rows.T
    gaps += norms[:, None]
    return gaps
