"""Rivals on tables with blocks: double k-means and the latent block model, written out plainly.

Both take a table with centred features and return clusters of samples and of features. They are
here to be compared with, so they share nothing with :mod:`informed.alternating`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from informed.validation import Array

__all__ = ["double_k_means", "latent_block_model", "pca_start", "random_start"]

Labels = NDArray[np.intp]
Start = Callable[[Array, int, int, RandomState], tuple[Labels, Labels]]

# A variance of a block is kept above this share of the table's, or a block of one entry takes all.
LEAST_VARIANCE = 1e-3


def random_start(
    X: Array, n_rows: int, n_columns: int, random_state: RandomState
) -> tuple[Labels, Labels]:
    """Draw clusters of equal size at random on both sides."""
    n, p = X.shape
    rows: Labels = random_state.permutation(np.arange(n) % n_rows)
    columns: Labels = random_state.permutation(np.arange(p) % n_columns)
    return rows, columns


def pca_start(
    X: Array, n_rows: int, n_columns: int, random_state: RandomState
) -> tuple[Labels, Labels]:
    """Cluster each side by k-means, one start, along the leading principal components."""
    left, singular, right = np.linalg.svd(X, full_matrices=False)
    d = max(min(n_rows, n_columns) - 1, 1)
    seed = random_state.randint(2**31 - 1)
    sides = (
        KMeans(k, n_init=1, random_state=seed).fit_predict(vectors[:, :d] * singular[:d])
        for vectors, k in ((left, n_rows), (right.T, n_columns))
    )
    rows, columns = (np.asarray(labels, dtype=np.intp) for labels in sides)
    return rows, columns


def double_k_means(
    X: Array,
    n_rows: int,
    n_columns: int,
    *,
    start: Start = random_start,
    n_init: int = 10,
    max_iter: int = 100,
    random_state: int | RandomState | None = None,
) -> tuple[Labels, Labels]:
    """Double k-means: in turn rows, then columns go to the nearest means of blocks.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table, centred as it should be.
    n_rows, n_columns : int
        Numbers of clusters.
    start : callable
        Gives the clusters to start from.
    n_init : int
        Number of starts; the cheapest result wins.
    max_iter : int
        Largest number of rounds.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    rows, columns : int arrays
    """
    rng = check_random_state(random_state)
    best: tuple[float, Labels, Labels] | None = None
    for _ in range(n_init):
        rows, columns = start(X, n_rows, n_columns, rng)
        for _ in range(max_iter):
            new_rows = _nearest_rows(X, rows, columns, n_rows, n_columns)
            new_columns = _nearest_rows(X.T, columns, new_rows, n_columns, n_rows)
            same = np.array_equal(new_rows, rows) and np.array_equal(new_columns, columns)
            rows, columns = new_rows, new_columns
            if same:
                break
        fitted = _block_means(X, rows, columns, n_rows, n_columns)[np.ix_(rows, columns)]
        cost = float(np.sum((X - fitted) ** 2))
        if best is None or cost < best[0]:
            best = (cost, rows, columns)
    assert best is not None
    return best[1], best[2]


def _one_hot(labels: Labels, k: int) -> Array:
    hot: Array = (labels[:, None] == np.arange(k)).astype(np.float64)
    return hot


def _block_means(X: Array, rows: Labels, columns: Labels, n_rows: int, n_columns: int) -> Array:
    R, C = _one_hot(rows, n_rows), _one_hot(columns, n_columns)
    counts = np.outer(R.sum(axis=0), C.sum(axis=0))
    means: Array = (R.T @ X @ C) / np.maximum(counts, 1)
    return means


def _nearest_rows(X: Array, rows: Labels, columns: Labels, n_rows: int, n_columns: int) -> Labels:
    """Send each row to the nearest row of block means; an empty cluster takes the farthest row."""
    sizes = np.bincount(columns, minlength=n_columns)
    means = _block_means(X, rows, columns, n_rows, n_columns)
    along = X @ _one_hot(columns, n_columns) / np.maximum(sizes, 1)
    squared = np.sum(sizes * (along[:, None] - means) ** 2, axis=2)
    nearest: Labels = np.argmin(squared, axis=1)
    left = squared[np.arange(len(X)), nearest]
    for k in np.flatnonzero(np.bincount(nearest, minlength=n_rows) == 0):
        shared = np.bincount(nearest, minlength=n_rows)[nearest] > 1
        # Alone in its cluster afterwards, and so not taken again.
        nearest[np.argmax(np.where(shared, left, -np.inf))] = k
    return nearest


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Parameters of a latent block model: shares of the clusters, means and variances of blocks."""

    row_shares: Array
    column_shares: Array
    means: Array
    variances: Array


def latent_block_model(
    X: Array,
    n_rows: int,
    n_columns: int,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    tol: float = 1e-5,
    random_state: int | RandomState | None = None,
) -> tuple[Labels, Labels]:
    r"""Gaussian latent block model, fitted by variational EM.

    Entries of block (k, l) are independent with mean :math:`\mu_{kl}` and variance
    :math:`\sigma^2_{kl}`; memberships are independent with the shares of their clusters. Given the
    parameters, the probabilities of the rows' memberships and those of the columns' are found in
    turn, each with the other's fixed. Half of the starts are from principal components, half at
    random; the one with the largest lower bound of the likelihood wins.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table, centred as it should be.
    n_rows, n_columns : int
        Numbers of clusters.
    n_init : int
        Number of starts.
    max_iter : int
        Largest number of rounds.
    tol : float
        Stop when the bound per entry of the table grows by less.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    rows, columns : int arrays
        Most probable clusters.
    """
    rng = check_random_state(random_state)
    floor = LEAST_VARIANCE * float(np.var(X))
    best: tuple[float, Labels, Labels] | None = None
    for number in range(n_init):
        start = pca_start if number % 2 == 0 else random_start
        rows, columns = start(X, n_rows, n_columns, rng)
        R, C = _one_hot(rows, n_rows), _one_hot(columns, n_columns)
        bound = -np.inf
        for _ in range(max_iter):
            R = _memberships(X, C, blocks := _estimate(X, R, C, floor))
            C = _memberships(X.T, R, _turned(blocks := _estimate(X, R, C, floor)))
            blocks = _estimate(X, R, C, floor)
            before, bound = bound, _lower_bound(X, R, C, blocks)
            if bound - before <= tol * X.size:
                break
        if best is None or bound > best[0]:
            best = (bound, R.argmax(axis=1), C.argmax(axis=1))
    assert best is not None
    return best[1], best[2]


def _estimate(X: Array, R: Array, C: Array, floor: float) -> _Blocks:
    counts = np.maximum(np.outer(R.sum(axis=0), C.sum(axis=0)), 1e-10)
    means = (R.T @ X @ C) / counts
    variances = np.maximum((R.T @ X**2 @ C) / counts - means**2, floor)
    return _Blocks(R.mean(axis=0), C.mean(axis=0), means, variances)


def _turned(blocks: _Blocks) -> _Blocks:
    return _Blocks(blocks.column_shares, blocks.row_shares, blocks.means.T, blocks.variances.T)


def _log_densities(X: Array, C: Array, blocks: _Blocks) -> Array:
    """Sum over the columns of the log-density of each row in each cluster of rows."""
    sums, squares, sizes = X @ C, X**2 @ C, C.sum(axis=0)
    means, variances = blocks.means, blocks.variances
    quadratic = squares @ (1 / variances).T - 2 * sums @ (means / variances).T
    constant = (np.log(2 * np.pi * variances) + means**2 / variances) @ sizes
    densities: Array = -(quadratic + constant) / 2
    return densities


def _memberships(X: Array, C: Array, blocks: _Blocks) -> Array:
    with np.errstate(divide="ignore"):
        scores = _log_densities(X, C, blocks) + np.log(blocks.row_shares)
    memberships: Array = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    return memberships


def _lower_bound(X: Array, R: Array, C: Array, blocks: _Blocks) -> float:
    def entropy(memberships: Array, shares: Array) -> float:
        safe = np.where(memberships > 0, memberships, 1.0)
        kept = np.where(shares > 0, shares, 1.0)
        return float(np.sum(memberships * (np.log(kept) - np.log(safe))))

    fit = float(np.sum(R * _log_densities(X, C, blocks)))
    return fit + entropy(R, blocks.row_shares) + entropy(C, blocks.column_shares)
