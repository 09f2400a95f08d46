r"""Clusters of rows and columns of a table whose tiles differ in their noise.

A squared distance gives every entry the same weight. If the entries of tile (k, l) are normal with
mean :math:`\mu_{kl}` and a variance :math:`v_{kl}` of their own, then minus twice the logarithm of
the likelihood is, up to a constant,

.. math:: \sum_{ij} \log v_{k(i)l(j)} + \frac{(x_{ij} - \mu_{k(i)l(j)})^2}{v_{k(i)l(j)}} ,

the *deviance*: squares are weighted by the inverse of their variance, and a tile pays for its noise
by a logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from informed.clusters.features import sum_over_clusters
from informed.validation import Array

__all__ = ["LabelsByNoise", "Tiles", "fit_tiles", "settle_by_noise"]

Labels = NDArray[np.intp]

# Smallest variance of a tile, as a part of the variance of the table. A tile of few entries that
# happen to be alike would have the variance zero and a likelihood without bound.
LEAST_VARIANCE = 1e-3
# Deviances that differ by less, per entry, differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Tiles:
    """Mean and variance of the entries of each tile, and minus twice their log-likelihood."""

    means: Array
    variances: Array
    deviance: float


@dataclass(frozen=True, eq=False)
class LabelsByNoise:
    """Labels that no step improves, and the deviance at the start and after each round."""

    rows: Labels
    columns: Labels
    history: list[float]
    converged: bool


def fit_tiles(X: Array, rows: Labels, columns: Labels) -> Tiles:
    """Fit a mean and a variance to each tile by maximum likelihood.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table.
    rows, columns : int arrays
        Clusters, numbered from 0, none of them empty.

    Returns
    -------
    Tiles
        No variance is below a thousandth of that of the table.

    Examples
    --------
    >>> X = np.array([[0.0, 2.0, 7.0], [0.0, 2.0, 5.0]])
    >>> tiles = fit_tiles(X, np.array([0, 0]), np.array([0, 0, 1]))
    >>> tiles.means, tiles.variances
    (array([[1., 6.]]), array([[1., 1.]]))
    >>> tiles.deviance
    6.0
    """
    counts = np.outer(np.bincount(rows), np.bincount(columns))
    means = _tile_sums(X, rows, columns) / counts
    # Deviations before squares: a table with a large level would lose its digits otherwise.
    squares = _tile_sums((X - means[np.ix_(rows, columns)]) ** 2, rows, columns)
    variances = np.maximum(squares / counts, LEAST_VARIANCE * float(np.var(X)))
    deviance = float(np.sum(counts * np.log(variances) + squares / variances))
    return Tiles(means, variances, deviance)


def settle_by_noise(X: Array, rows: Labels, columns: Labels, max_iter: int) -> LabelsByNoise:
    """Move rows, then columns, to their most likely clusters until the deviance no longer falls.

    Given the means and variances of the tiles and the clusters of the columns, the deviance is a
    sum over rows, and each row goes where its own part is least; then the tiles are fitted anew.
    Neither can raise the deviance, and there are finitely many labels.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table, not constant.
    rows, columns : int arrays
        Clusters to start from, numbered from 0, none of them empty.
    max_iter : int
        Largest number of rounds.

    Returns
    -------
    LabelsByNoise

    Examples
    --------
    >>> X = np.array([[1.0, 1.1, 9.0], [1.1, 1.0, -9.0], [5.0, 5.1, 0.1], [5.1, 5.0, -0.1]])
    >>> settle_by_noise(X, np.array([0, 0, 0, 1]), np.array([0, 0, 1]), 10).rows
    array([0, 0, 1, 1])
    """
    tiles = fit_tiles(X, rows, columns)
    history = [tiles.deviance]
    for _ in range(max_iter):
        new_rows = _likeliest(X, rows, columns, tiles)
        between = fit_tiles(X, new_rows, columns)
        turned = Tiles(between.means.T, between.variances.T, between.deviance)
        new_columns = _likeliest(X.T, columns, new_rows, turned)
        new = fit_tiles(X, new_rows, new_columns)
        if new.deviance >= tiles.deviance - ROUNDING * X.size:
            return LabelsByNoise(rows, columns, [*history, history[-1]], True)
        rows, columns, tiles = new_rows, new_columns, new
        history.append(tiles.deviance)
    return LabelsByNoise(rows, columns, history, False)


def _tile_sums(X: Array, rows: Labels, columns: Labels) -> Array:
    sums: Array = sum_over_clusters(sum_over_clusters(X, rows).T, columns).T
    return sums


def _likeliest(X: Array, rows: Labels, columns: Labels, tiles: Tiles) -> Labels:
    """Send each row to the cluster where it has the least deviance; leave no cluster empty."""
    sizes = np.bincount(columns)
    sums = sum_over_clusters(X.T, columns).T
    squares = sum_over_clusters((X**2).T, columns).T
    weights = 1 / tiles.variances
    parts = (
        squares @ weights.T
        - 2 * sums @ (tiles.means * weights).T
        + (np.log(tiles.variances) + tiles.means**2 * weights) @ sizes
    )
    chosen: Labels = np.argmin(parts, axis=1)
    everyone = np.arange(len(X))
    loss = parts[everyone, rows] - parts[everyone, chosen]
    while len(empty := np.setdiff1d(rows, chosen)):
        # The member that loses least by it stays; nobody is worse off than before the step.
        members = np.flatnonzero(rows == empty[0])
        chosen[members[np.argmin(loss[members])]] = empty[0]
    return chosen
