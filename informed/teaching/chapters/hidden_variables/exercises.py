"""Checks for the exercises of the chapter on the distance between hidden variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-hv-line",
    {"d(c1, c2)": 1, "distance of (3, 4) and (7, 1)": 0},
    mistakes={
        "the hidden variance is 4, not 1; it belongs in Σ.": [2, None],
        "these are Euclidean distances. Where does Σ enter?": [10, 5],
        "look again at the second pair: in which direction do the two differ, and what does the "
        "pseudo-inverse do to that direction?": [1, 5],
    },
)

number_check(
    "ex-hv-shapes",
    {"factor for R = 3": "2/3", "d for the corners (0, 0) and (1, 10)": 24**0.5},
    mistakes={
        "the mean of the squared length is the sum of two variances; each coordinate has half of "
        "it.": [2**0.5 / 3, None],
        "the long side of the rectangle has a variance of its own, a hundred times that of the "
        "short one.": [None, 1212**0.5],
        "the second distance is squared. Take the root.": ["2/3", 24],
    },
)


def _readings(rng: np.random.Generator, p: int = 0) -> tuple[Array]:
    n, p = draw.between(rng, 5, 9), p or draw.between(rng, 2, 6)
    return (rng.normal(size=(n, p)) * rng.uniform(0.5, 20, size=p) + rng.normal(size=p),)


@function_check(
    "ex-hv-standardise",
    inputs=_readings,
    edges={"there is one feature only": lambda rng: _readings(rng, 1)},
    mistakes={
        "these are the plain Euclidean distances. Divide each feature by its standard deviation "
        "first.": pdist,
        "you divide by the variances; it is their roots that have the unit of the feature.": (
            lambda X: pdist(X / X.var(axis=0, ddof=1))
        ),
        "you divide by n in the variances; this book divides by n − 1.": (
            lambda X: pdist(X / X.std(axis=0))
        ),
        "you divide all features by one number. Each has its own standard deviation: mind the "
        "axis.": lambda X: pdist(X / X.std(ddof=1)),
        "you standardise the samples, not the features. Mind the axis.": lambda X: pdist(
            X / X.std(axis=1, ddof=1, keepdims=True)
        ),
    },
)
def _standardized(X: Array) -> Any:
    return pdist(X, "seuclidean", V=X.var(axis=0, ddof=1))


def _plane(rng: np.random.Generator, d: int = 0, p: int = 0) -> tuple[Array, int]:
    n, p, d = draw.between(rng, 8, 12), p or draw.between(rng, 5, 8), d or draw.between(rng, 2, 4)
    hidden = rng.normal(size=(n, d)) * 3.0 ** -np.arange(d) @ rng.normal(size=(d, p))
    return hidden + 0.1 * rng.normal(size=(n, p)) + 2.0, d


def _by_eigenvectors(X: Array, d: int, *, whiten: bool = True, center: bool = True) -> Any:
    centered = X - X.mean(axis=0) if center else X
    variances, directions = np.linalg.eigh(centered.T @ centered / (len(X) - 1))
    scores = X @ directions[:, ::-1][:, :d]
    return pdist(scores / np.sqrt(variances[::-1][:d]) if whiten else scores)


@function_check(
    "ex-hv-noise",
    inputs=_plane,
    edges={
        "there is one direction only": lambda rng: _plane(rng, 1),
        "there are more features than samples": lambda rng: _plane(rng, 3, 20),
    },
    mistakes={
        "you project onto the directions, but do not divide by the standard deviation along "
        "each.": lambda X, d: _by_eigenvectors(X, d, whiten=False),
        "take the mean off before you look for directions.": lambda X, d: _by_eigenvectors(
            X, d, center=False
        ),
    },
)
def _principal_pairs(X: Array, d: int) -> Any:
    return _by_eigenvectors(X, d)
