"""Checks for the exercises of the chapter on the global algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-four-samples",
    {"first two samples": 6**0.5, "last two samples": 6**0.5, "mixed pairs": 3**0.5},
    mistakes={
        "you divide by n in Σ; the book divides by n − 1.": [8**0.5, 8**0.5, 2],
        "the first direction is (1, 1, 0)/√2: a difference of (2, 2, 0) has the component 2√2 "
        "along it.": [3**0.5, None, None],
        "these are Euclidean distances. Divide by the standard deviation along each direction.": [
            8**0.5,
            2,
            3**0.5,
        ],
    },
)


def _two_tables(rng: np.random.Generator, new: int = 0) -> tuple[Array, Array]:
    p, n = draw.between(rng, 2, 5), draw.between(rng, 5, 9)
    scales, centers = rng.uniform(0.5, 10.0, size=p), rng.normal(size=p)
    return (
        rng.normal(size=(n, p)) * scales + centers,
        rng.normal(size=(new or draw.between(rng, 3, 7), p)) * scales + centers + 1.0,
    )


def _scaled(X: Array, by: Array, ddof: int = 0) -> Any:
    return (X - by.mean(axis=0)) / by.std(axis=0, ddof=ddof)


@function_check(
    "ex-units",
    inputs=_two_tables,
    edges={"there is one new sample only": lambda rng: _two_tables(rng, 1)},
    mistakes={
        "the new samples are standardised by their own means and deviations. They must go through "
        "the same map as the samples of the fit.": lambda X, X_new: (
            _scaled(X, X),
            _scaled(X_new, X_new),
        ),
        "the new samples took part in the means and deviations. Only `X` may.": (
            lambda X, X_new: (
                _scaled(X, np.vstack([X, X_new])),
                _scaled(X_new, np.vstack([X, X_new])),
            )
        ),
        "`StandardScaler` divides by n in the variance, not by n − 1.": lambda X, X_new: (
            _scaled(X, X, 1),
            _scaled(X_new, X, 1),
        ),
        "you divide by the standard deviations, but do not take the means off.": (
            lambda X, X_new: (X / X.std(axis=0), X_new / X.std(axis=0))
        ),
    },
)
def _standardize(X: Array, X_new: Array) -> Any:
    columns = [
        ((column - column.mean()) / column.std(), (new - column.mean()) / column.std())
        for column, new in zip(X.T, X_new.T, strict=True)
    ]
    fitted, others = zip(*columns, strict=True)
    return np.column_stack(fitted), np.column_stack(others)


def _two_spans(rng: np.random.Generator, d: int = 0, noise: float = 0.3) -> tuple[Array, Array]:
    p, d = draw.between(rng, 8, 12), d or draw.between(rng, 2, 4)
    U = draw.orthonormal(rng, p, d)
    V, _ = np.linalg.qr(U @ rng.normal(size=(d, d)) + noise * rng.normal(size=(p, d)))
    return U, V


def _across(rng: np.random.Generator) -> tuple[Array, Array]:
    """Two planes that share one direction, and are orthogonal otherwise."""
    U = draw.orthonormal(rng, 7, 3)
    return U[:, :2], U[:, [0, 2]]


@function_check(
    "ex-choose-d",
    inputs=_two_spans,
    edges={
        "there is one direction on each side": lambda rng: _two_spans(rng, 1),
        "the two spans are the same": lambda rng: _two_spans(rng, 2, 0.0),
        "the spans share one direction and are orthogonal otherwise": _across,
    },
    # The cosine of an angle that is rounded near a right one is off by a root of the rounding.
    atol=1e-6,
    mistakes={
        "this is the cosine of the smallest angle: two spans may share one direction and differ "
        "in all others.": lambda U, V: np.linalg.svd(U.T @ V, compute_uv=False).max(),
        "you compare column with column. The columns of two bases of one space need not agree; "
        "compare the spaces.": lambda U, V: np.abs(np.sum(U * V, axis=0)).min(),
        "this is the angle; asked is its cosine.": lambda U, V: subspace_angles(U, V).max(),
        "this is the mean of the cosines; the largest angle decides.": (
            lambda U, V: np.linalg.svd(U.T @ V, compute_uv=False).mean()
        ),
    },
)
def _smallest_cosine(U: Array, V: Array) -> Any:
    return np.cos(subspace_angles(U, V).max())
