"""Tables with clusters of samples, of features, of both or of neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.validation import Array, check_choice, check_count, check_number, random_source

__all__ = ["BLOCK_FAMILIES", "BlockData", "make_block_data"]

Labels = NDArray[np.intp]

BLOCK_FAMILIES = (
    "checkerboard",
    "few samples",
    "block diagonal",
    "shared factors",
    "features only",
    "gradient",
    "row effects",
    "unequal blocks",
    "unequal noise",
    "unequal numbers",
    "no structure",
)

# Standard deviation of the factors that the features of a cluster share in "shared factors".
FACTOR_SCALE = 0.7
# Standard deviation of the level that each sample has of its own in "row effects".
ROW_EFFECT = 1.0
# Shares of the clusters in "unequal blocks" fall by this factor from each to the next.
SHARE_FACTOR = 0.5
# Standard deviations of the noise in the tiles of "unequal noise" lie between these.
NOISE_RANGE = (0.3, 2.0)


@dataclass(frozen=True, eq=False)
class BlockData:
    """A table with clusters on both sides, on one side, or on none.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The data, with noise of variance one.
    row_labels : int array of shape (n_samples,) or None
        True cluster of each sample; None if there are no clusters of samples. In "gradient" the
        quarter of the gradient that it comes from.
    column_labels : int array of shape (n_features,)
        The same for the features.
    """

    X: Array
    row_labels: Labels | None
    column_labels: Labels


def make_block_data(
    family: str,
    signal: float,
    *,
    n_clusters: int = 4,
    random_state: int | RandomState | None = None,
) -> BlockData:
    """Draw a table with the same number of clusters on both sides, or with fewer.

    Parameters
    ----------
    family : str
        The kind of table:

        - ``"checkerboard"``: 80 × 80. The means of the tiles are a random rotation, with rows and
          columns that sum to zero, so that all clusters are equally far apart and no level tells
          them apart.
        - ``"few samples"``: the same with 30 samples and 300 features.
        - ``"block diagonal"``: each cluster of samples has one cluster of features that is raised.
        - ``"shared factors"``: a checkerboard, and in each sample a random factor for each cluster
          of features.
        - ``"features only"``: nothing but those factors. The samples have no clusters.
        - ``"gradient"``: a smooth function of a position of the sample and one of the feature.
        - ``"row effects"``: a checkerboard, and in each sample a level that all of its features
          share, of standard deviation one.
        - ``"unequal blocks"``: a checkerboard in which each cluster has half as many members as the
          one before.
        - ``"unequal noise"``: a checkerboard in which each tile has noise of a strength of its own,
          from 0.3 to 2.
        - ``"unequal numbers"``: n_clusters − 1 clusters of samples and n_clusters + 2 of features.
        - ``"no structure"``: noise, whatever the signal. The samples have no clusters, the labels
          of the features mean nothing.
    signal : float
        Root mean square of the tiles, factors or smooth function; the noise has variance one.
    n_clusters : int
        Number of clusters on either side, at least 3 for ``"unequal numbers"``.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    BlockData

    Examples
    --------
    >>> data = make_block_data("few samples", 1.0, random_state=0)
    >>> data.X.shape, np.bincount(data.row_labels)
    ((30, 300), array([8, 8, 7, 7]))
    """
    check_choice("family", family, BLOCK_FAMILIES)
    signal = check_number("signal", signal)
    k = check_count("n_clusters", n_clusters, 3 if family == "unequal numbers" else 2, 30)
    rng = random_source(random_state)
    n, p = (30, 300) if family == "few samples" else (80, 80)
    noise = rng.normal(size=(n, p))
    if family == "gradient":
        at, along = rng.uniform(size=n), rng.uniform(size=p)
        smooth = np.sqrt(2) * np.cos(np.pi * np.subtract.outer(at, along))
        cut = [np.floor(k * place).astype(np.intp) for place in (at, along)]
        return BlockData(signal * smooth + noise, cut[0], cut[1])
    n_rows, n_columns = (k - 1, k + 2) if family == "unequal numbers" else (k, k)
    if family == "unequal blocks":
        rows, columns = (rng.permutation(_unequal_labels(size, k)) for size in (n, p))
    else:
        rows = rng.permutation(np.arange(n) % n_rows)
        columns = rng.permutation(np.arange(p) % n_columns)
    if family == "no structure":
        return BlockData(noise, None, columns)
    factors = rng.normal(size=(n, n_columns))[:, columns]
    if family == "features only":
        return BlockData(signal * factors + noise, None, columns)
    if family == "shared factors":
        noise += FACTOR_SCALE * factors
    elif family == "row effects":
        noise += ROW_EFFECT * rng.normal(size=(n, 1))
    elif family == "unequal noise":
        noise *= rng.uniform(*NOISE_RANGE, size=(k, k))[np.ix_(rows, columns)]
    if family == "block diagonal":
        tiles = np.eye(k)
    elif family == "unequal numbers":
        tiles = rng.normal(size=(n_rows, n_columns))
        tiles -= tiles.mean(axis=0) + tiles.mean(axis=1, keepdims=True) - tiles.mean()
        tiles *= np.sqrt((k - 1) / np.sum(tiles**2) * n_rows * n_columns) / k
    else:
        tiles = _rotation_without_levels(k, rng)
    scale = signal * k / np.sqrt(k - 1)
    return BlockData(scale * tiles[np.ix_(rows, columns)] + noise, rows, columns)


def _unequal_labels(size: int, k: int) -> Labels:
    """Return labels of clusters each of which has about half the members of the one before."""
    shares = SHARE_FACTOR ** np.arange(k)
    # Every cluster has two members at least, however many clusters there are.
    spare = size - 2 * k
    ends = 2 * np.arange(1, k + 1) + np.round(spare * np.cumsum(shares) / shares.sum())
    labels: Labels = np.searchsorted(ends, np.arange(size), side="right").astype(np.intp)
    return labels


def _rotation_without_levels(k: int, rng: RandomState) -> Array:
    """Rotate at random among the vectors that sum to zero; rows and columns then sum to zero."""
    plane = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    Q, triangle = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
    # Without the signs, QR would not draw all rotations alike.
    rotation: Array = plane @ (Q * np.sign(np.diag(triangle))) @ plane.T
    return rotation
