"""Checks for the exercises of the chapter on the global algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from informed.exercises.checking import Array, function_check, number_check

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


def _two_tables(rng: np.random.Generator) -> tuple[Array, Array]:
    scales, centres = rng.uniform(0.5, 10.0, size=3), rng.normal(size=3)
    return (
        rng.normal(size=(6, 3)) * scales + centres,
        rng.normal(size=(4, 3)) * scales + centres + 1.0,
    )


def _scaled(X: Array, by: Array, ddof: int = 0) -> Any:
    return (X - by.mean(axis=0)) / by.std(axis=0, ddof=ddof)


@function_check(
    "ex-units",
    inputs=_two_tables,
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
def _standardise(X: Array, X_new: Array) -> Any:
    columns = [
        ((column - column.mean()) / column.std(), (new - column.mean()) / column.std())
        for column, new in zip(X.T, X_new.T, strict=True)
    ]
    fitted, others = zip(*columns, strict=True)
    return np.column_stack(fitted), np.column_stack(others)


def _two_spans(rng: np.random.Generator) -> tuple[Array, Array]:
    U, _ = np.linalg.qr(rng.normal(size=(9, 3)))
    V, _ = np.linalg.qr(U @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(9, 3)))
    return U, V


@function_check(
    "ex-choose-d",
    inputs=_two_spans,
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
