"""Checks for the exercises of the chapter on the hidden square."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

_ROOT = ((110 / 9) ** 2 - 4 * 40 / 9) ** 0.5
_STRETCH = ((110 / 9 + _ROOT) / (110 / 9 - _ROOT)) ** 0.5

number_check(
    "ex-hs-strip",
    {"coordinates before": 3, "stretch": _STRETCH, "coordinate": 6},
    mistakes={
        "the constant function is the trivial one; it does not count.": [4, None, None],
        "this is the quotient of the eigenvalues of the product of A with its transpose; lengths "
        "are stretched by their roots.": [None, _STRETCH**2, None],
        "that many coordinates depend on the long direction alone. Which one comes next?": [
            3,
            _STRETCH,
            5,
        ],
    },
    rtol=5e-3,
)


def _uniform(rng: np.random.Generator) -> tuple[Array]:
    return (rng.random(draw.between(rng, 4, 12)),)


@function_check(
    "ex-hs-density",
    inputs=_uniform,
    edges={"both ends of the interval": lambda rng: (np.array([0.0, 1.0]),)},
    # To look the inverse up in a table is right, too.
    rtol=1e-4,
    atol=1e-4,
    mistakes={
        "the points are still uniform.": lambda u: u,
        "this gives the density 2x. The distribution function of 1/2 + x has two terms.": np.sqrt,
        "you apply the distribution function. Invert it.": lambda u: (u + u**2) / 2,
        "a quadratic equation has two solutions; this one lies outside [0, 1].": (
            lambda u: (-np.sqrt(1 + 8 * u) - 1) / 2
        ),
        "you apply the density. What is asked is the inverse of the distribution function.": (
            lambda u: 0.5 + u
        ),
    },
)
def _draw(u: Array) -> Any:
    # By bisection, as one who cannot solve the quadratic equation would.
    low, high = np.zeros_like(u), np.ones_like(u)
    for _ in range(60):
        middle = (low + high) / 2
        below = (middle + middle**2) / 2 < u
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low


def _distances(rng: np.random.Generator, metric: str = "euclidean") -> tuple[Array]:
    X = rng.normal(size=(draw.between(rng, 4, 9), 3))
    return (cdist(X, X, metric),)


def _center(n: int) -> Any:
    return np.eye(n) - 1 / n


@function_check(
    "ex-hs-large",
    inputs=_distances,
    edges={
        "the distances are not Euclidean": lambda rng: _distances(rng, "cityblock"),
        "there are two points": lambda rng: (np.array([[0.0, 3.0], [3.0, 0.0]]),),
    },
    mistakes={
        "square the distances first.": lambda D: -0.5 * _center(len(D)) @ D @ _center(len(D)),
        "centre on both sides, rows and columns.": lambda D: -0.5 * _center(len(D)) @ D**2,
        "this is half of the matrix of squared distances with the opposite sign; it is not centred "
        "yet.": lambda D: -0.5 * D**2,
    },
)
def _scaling(D: Array) -> Any:
    # By the law of cosines, with the centre of the points as the corner.
    from_center = np.mean(D**2, axis=1) - np.mean(D**2) / 2
    return (from_center[:, None] + from_center - D**2) / 2
