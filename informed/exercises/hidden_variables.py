"""Checks for the exercises of the chapter on the distance between hidden variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from informed.exercises.checking import Array, function_check, number_check

number_check(
    "ex-hv-line",
    {"d(c1, c2)": 1, "distance of (3, 4) and (7, 1)": 0},
    mistakes={
        "the hidden variance is 4, not 1; it belongs into Σ.": [2, None],
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


def _readings(rng: np.random.Generator) -> tuple[Array]:
    scales = rng.uniform(0.5, 20, size=4)
    return (rng.normal(size=(7, 4)) * scales + rng.normal(size=4),)


@function_check(
    "ex-hv-standardise",
    inputs=_readings,
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
def _standardised(X: Array) -> Any:
    return pdist(X, "seuclidean", V=X.var(axis=0, ddof=1))


def _plane(rng: np.random.Generator) -> tuple[Array, int]:
    hidden = rng.normal(size=(9, 2)) * [3.0, 1.0]
    return hidden @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(9, 6)) + 2.0, 2


def _by_eigenvectors(X: Array, K: int, *, whiten: bool = True, centre: bool = True) -> Any:
    centred = X - X.mean(axis=0) if centre else X
    variances, directions = np.linalg.eigh(centred.T @ centred / (len(X) - 1))
    scores = X @ directions[:, ::-1][:, :K]
    return pdist(scores / np.sqrt(variances[::-1][:K]) if whiten else scores)


@function_check(
    "ex-hv-noise",
    inputs=_plane,
    mistakes={
        "you project onto the directions, but do not divide by the standard deviation along "
        "each.": lambda X, K: _by_eigenvectors(X, K, whiten=False),
        "take the mean off before you look for directions.": lambda X, K: _by_eigenvectors(
            X, K, centre=False
        ),
    },
)
def _principal_pairs(X: Array, K: int) -> Any:
    return _by_eigenvectors(X, K)
