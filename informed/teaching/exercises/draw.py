"""Inputs for checks: drawn so that no length, number or order can be guessed."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises.forms import Array

__all__ = ["between", "labels", "orthonormal", "table"]


def between(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number, both ends included."""
    return int(rng.integers(low, high + 1))


def labels(
    rng: np.random.Generator, n_clusters: int, size: int | None = None, *, smallest: int = 1
) -> Array:
    """Draw cluster labels from 0 without gaps, in no order, of clusters of different sizes.

    Parameters
    ----------
    rng : Generator
        Where to draw from.
    n_clusters : int
        Number of clusters.
    size : int, optional
        Number of labels. By default about three for each cluster.
    smallest : int
        Size of the smallest cluster.
    """
    total = 3 * n_clusters + between(rng, 2, 6) if size is None else size
    sizes = np.full(n_clusters, smallest)
    # The first stays as small as it is.
    others = 1 + rng.integers(max(n_clusters - 1, 1), size=total - sizes.sum())
    sizes += np.bincount(np.minimum(others, n_clusters - 1), minlength=n_clusters)
    found: Array = rng.permutation(np.repeat(rng.permutation(n_clusters), sizes))
    return found


def table(rng: np.random.Generator, n: int, p: int) -> Array:
    """Draw a table with correlated features of different means and variances."""
    mixed = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    found: Array = mixed * rng.uniform(0.5, 2, size=p) + 3 * rng.normal(size=p)
    return found


def orthonormal(rng: np.random.Generator, p: int, d: int) -> Any:
    """Draw d orthonormal columns of length p."""
    return np.linalg.qr(rng.normal(size=(p, d)))[0]
