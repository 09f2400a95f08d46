"""Checks for the exercises of the chapter on the pseudo-inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import pinv
from scipy.spatial.distance import cdist, pdist

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

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
)

number_check(
    "ex-pi-diagonal",
    {"factor for α = κ = 2 and β = 1": "4/3", "factor for a correlation of 0.9": 1 / 0.19},
    mistakes={
        "the correlation enters squared.": [2, 10],
        "this is how much the formula should be multiplied by to be right. Say by how much "
        "it is too large.": ["3/4", 0.19],
    },
)


def _matrix(rng: np.random.Generator, rows: int, columns: int, rank: int) -> tuple[Array]:
    singular = rng.uniform(1.0, 3.0, size=rank) * rng.choice([0.4, 1.0, 5.0])
    left, right = draw.orthonormal(rng, rows, rank), draw.orthonormal(rng, columns, rank)
    return (left * singular @ right.T,)


def _any_rank(rng: np.random.Generator) -> tuple[Array]:
    rows, columns = (int(side) for side in rng.choice([2, 3, 4, 5, 6, 7], size=2, replace=False))
    return _matrix(rng, rows, columns, draw.between(rng, 1, min(rows, columns)))


def _residuals(A: Array, G: Array) -> list[float]:
    """How far G is from the four conditions, by each of the usual measures."""
    terms = [(A @ G @ A, A), (G @ A @ G, G), ((A @ G).T, A @ G), ((G @ A).T, G @ A)]
    return [
        max(np.linalg.norm(one - other) / np.linalg.norm(other) for one, other in terms),
        max(np.linalg.norm(one - other) for one, other in terms),
        max(np.linalg.norm(one - other, 2) for one, other in terms),
        max(np.abs(one - other).max() for one, other in terms),
    ]


def _steps_needed(A: Array) -> set[int]:
    """Count the steps until the four conditions hold, by each of the usual measures.

    Where they hold at the start, one may count none, or one: it depends on when one looks.
    """
    G, found = A.T / np.linalg.norm(A, 2) ** 2, dict[int, int]()
    before = {0} if min(_residuals(A, G)) < 1e-10 else set[int]()
    step = 0
    while len(found) < 4:
        G, step = G @ (2 * np.eye(len(A)) - A @ G), step + 1
        for measure, residual in enumerate(_residuals(A, G)):
            if residual < 1e-10:
                found.setdefault(measure, step)
    return before | set(found.values())


def _fault_of_steps(result: tuple[Array, Array], A: Array) -> str | None:
    if float(result[1]) in _steps_needed(A):
        return None
    return (
        "the matrix is right, but not the number of steps. Count how often the rule is applied "
        "until all four conditions hold to 1e-10, and return that number."
    )


@function_check(
    "ex-pi-newton",
    inputs=_any_rank,
    edges={
        "it has an inverse": lambda rng: _matrix(rng, 4, 4, 4),
        "it is square without an inverse": lambda rng: _matrix(rng, 5, 5, 2),
        "it is a single row": lambda rng: _matrix(rng, 1, 3, 1),
    },
    view=lambda result: result[0],
    also=_fault_of_steps,
    # Where one stops, 1e-10 remain.
    rtol=1e-6,
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
    return pinv(A, rtol=1e-8), min(_steps_needed(A))


def _steps(A: Array, G: Array, number: int) -> Any:
    for _ in range(number):
        G = 2 * G - G @ A @ G
    return G


def _seen(rng: np.random.Generator) -> tuple[Array, Array, float]:
    n = draw.between(rng, 4, 9)
    x, s = rng.normal(size=(n, 2)), float(rng.uniform(0.1, 1.0))
    return x, x * [1.0, s] + 0.1 * rng.normal(size=(n, 2)), float(rng.uniform(0.5, 1.5)) / s


def _dropped(rng: np.random.Generator) -> tuple[Array, Array, float]:
    x, seen, _ = _seen(rng)
    return x, seen, 0.0


@function_check(
    "ex-pi-truncate",
    inputs=_seen,
    edges={"the second coordinate is dropped": _dropped},
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
        "you count the distance of each point from itself. Take each pair once.": (
            lambda x, seen, factor: np.sqrt(
                np.mean((cdist(seen * [1, factor], seen * [1, factor]) - cdist(x, x)) ** 2)
            )
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
