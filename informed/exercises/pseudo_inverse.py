"""Checks for the exercises of the chapter on the pseudo-inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import pinv
from scipy.spatial.distance import pdist

from informed.exercises.checking import Array, function_check, number_check

number_check(
    "ex-pi-rank-one",
    {"upper left": "1/25", "upper right": "2/25", "lower left": "2/25", "lower right": "4/25"},
    mistakes={
        "the lengths of both a and b enter, each squared.": ["1/5", "2/5", "2/5", "4/5"],
        "you inverted each entry. The matrix as a whole has one singular value; invert that.": [
            1,
            "1/2",
            "1/2",
            "1/4",
        ],
    },
    atol=1e-5,
)

number_check(
    "ex-pi-diagonal",
    {"factor for α = γ = 2 and β = 1": "4/3", "factor for a correlation of 0.9": 1 / 0.19},
    mistakes={
        "the correlation enters squared.": [2, 10],
        "this is how much the formula should be multiplied by to be right. Asked is by how much "
        "it is too large.": ["3/4", 0.19],
    },
)


def _any_rank(rng: np.random.Generator) -> tuple[Array]:
    rows, columns = rng.choice([2, 3, 5, 6], size=2, replace=False)
    rank = int(rng.integers(1, min(rows, columns) + 1))
    left, _ = np.linalg.qr(rng.normal(size=(rows, rank)))
    right, _ = np.linalg.qr(rng.normal(size=(columns, rank)))
    return (left * rng.uniform(0.3, 4.0, size=rank) @ right.T,)


@function_check(
    "ex-pi-newton",
    inputs=_any_rank,
    trials=8,
    # How many steps it takes depends on when one stops.
    view=lambda result: result[0],
    mistakes={
        "this is the transpose of A over the square of its norm, where the iteration starts. Go "
        "on from there.": lambda A: (A.T / np.linalg.norm(A, 2) ** 2, 0),
        "you stop too early. Go on until the four conditions hold.": lambda A: (
            _steps(A, A.T / np.linalg.norm(A, 2) ** 2, 3),
            3,
        ),
    },
)
def _newton(A: Array) -> Any:
    return pinv(A, rtol=1e-8), 0


def _steps(A: Array, G: Array, number: int) -> Any:
    for _ in range(number):
        G = 2 * G - G @ A @ G
    return G


def _seen(rng: np.random.Generator) -> tuple[Array, Array, float]:
    x, s = rng.normal(size=(6, 2)), float(rng.uniform(0.1, 1.0))
    return x, x * [1.0, s] + 0.1 * rng.normal(size=(6, 2)), 1 / s


@function_check(
    "ex-pi-truncate",
    inputs=_seen,
    mistakes={
        "this is the root-mean-square error of the coordinates. Compare distances of pairs.": (
            lambda x, seen, factor: np.sqrt(np.mean((seen * [1, factor] - x) ** 2))
        ),
        "this is the mean of the absolute errors; take the root of the mean square.": (
            lambda x, seen, factor: np.mean(np.abs(pdist(seen * [1, factor]) - pdist(x)))
        ),
        "you leave the second coordinate as it is seen; multiply it by the factor.": (
            lambda x, seen, factor: np.sqrt(np.mean((pdist(seen) - pdist(x)) ** 2))
        ),
        "take errors of distances, not of squared distances.": lambda x, seen, factor: np.sqrt(
            np.mean((pdist(seen * [1, factor]) ** 2 - pdist(x) ** 2) ** 2)
        ),
    },
)
def _distance_error(x: Array, seen: Array, factor: float) -> Any:
    recovered = np.column_stack([seen[:, 0], factor * seen[:, 1]])
    squares = [
        (np.linalg.norm(recovered[i] - recovered[j]) - np.linalg.norm(x[i] - x[j])) ** 2
        for i in range(len(x))
        for j in range(i)
    ]
    return np.sqrt(np.mean(squares))
