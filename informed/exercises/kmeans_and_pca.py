"""Checks for the exercises of the chapter on k-means and PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.exercises.checking import Array, function_check, judged_check, number_check

number_check(
    "ex-km-four",
    {"μ1": 52, "J": 2, "ε": 2, "squared gap": "1/26"},
    mistakes={
        "each feature has two values, so each deviation counts twice in J.": [None, 1, None, None],
        "M is the sum of squares and products; do not divide by n − 1, or by the two samples.": [
            26,
            None,
            None,
            None,
        ],
        "the last number is asked squared.": [52, 2, 2, 26**-0.5],
    },
    atol=1e-5,
)


@judged_check("ex-km-contrasts")
def _contrasts(Q: Any) -> str | None:
    Q = np.asarray(Q, dtype=float)
    if Q.shape != (4, 2):
        return f"give Q as four rows of two numbers, one row a feature; yours has shape {Q.shape}."
    if not np.allclose(Q[2], Q[3], atol=1e-3):
        return "features 3 and 4 form one cluster, so their rows of Q must be equal."
    if not np.allclose(Q.sum(axis=0), 0, atol=1e-3):
        return "the columns of Q do not sum to zero: is R orthogonal to t₁?"
    if not np.allclose(np.sum(Q**2, axis=0), 1, atol=5e-3):
        return "the columns of Q do not have length one: mind the size of each cluster in H."
    if abs(Q[:, 0] @ Q[:, 1]) > 1e-3:
        return "the columns of Q are not orthogonal to each other."
    return None


def _table(rng: np.random.Generator) -> tuple[Array, Array, int]:
    labels = rng.permutation(np.repeat([0, 1, 2], [2, 3, 5]))
    Y = rng.normal(size=(3, 8))[labels] + 0.5 * rng.normal(size=(10, 8))
    Y -= Y.mean(axis=0)
    return Y - Y.mean(axis=1, keepdims=True), labels, 2


def _cost(Y: Array, labels: Array) -> float:
    return sum(
        float(np.sum((Y[labels == k] - Y[labels == k].mean(axis=0)) ** 2)) for k in set(labels)
    )


def _tail(Y: Array, first: int) -> float:
    return float(np.sort(np.linalg.eigvalsh(Y @ Y.T))[::-1][first:].sum())


@function_check(
    "ex-km-read",
    inputs=_table,
    mistakes={
        "you add up eigenvalues from the (K + 1)-th of zero on; the bound leaves out the first K "
        "only.": lambda Y, labels, K: _cost(Y, labels) / _tail(Y, K + 1),
        "singular values must be squared before you add them up.": (
            lambda Y, labels, K: _cost(Y, labels) / np.linalg.svd(Y, compute_uv=False)[K:].sum()
        ),
        "you divide by the eigenvalues that PCA keeps; the bound is the sum of the others.": (
            lambda Y, labels, K: _cost(Y, labels) / (_tail(Y, 0) - _tail(Y, K))
        ),
        "this is the bound over the cost. Turn it over.": (
            lambda Y, labels, K: _tail(Y, K) / _cost(Y, labels)
        ),
        "the cost is the sum over all entries, not their mean.": (
            lambda Y, labels, K: _cost(Y, labels) / Y.size / _tail(Y, K)
        ),
    },
)
def _cost_over_bound(Y: Array, labels: Array, K: int) -> Any:
    return _cost(Y, labels) / _tail(Y, K)


def _plain_table(rng: np.random.Generator) -> tuple[Array, int]:
    level = rng.normal(size=(6, 1))
    return rng.normal(size=(6, 9)) + level + 3.0, 2


def _bounds(X: Array, K: int) -> tuple[float, float]:
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    return _tail(twice.T, K), _tail(once.T, K + 1)


@function_check(
    "ex-km-bounds",
    inputs=_plain_table,
    mistakes={
        "you leave out the first K eigenvalues in both. Without centring over the features, how "
        "many does the bound leave out?": lambda X, K: (
            _bounds(X, K)[0],
            _tail((X - X.mean(axis=0)).T, K),
        ),
        "the two bounds are exchanged.": lambda X, K: _bounds(X, K)[::-1],
        "for the second bound you centre over the features. It is the table centred over the "
        "samples: each column has mean zero.": lambda X, K: (
            _bounds(X, K)[0],
            _tail((X - X.mean(axis=1, keepdims=True)).T, K + 1),
        ),
        "for the second bound you do not centre at all. Each column must have mean zero.": (
            lambda X, K: (_bounds(X, K)[0], _tail(X.T, K + 1))
        ),
    },
)
def _two_bounds(X: Array, K: int) -> Any:
    return _bounds(X, K)


number_check(
    "ex-km-null",
    3 * (1 - 3 / 59),
    mistakes={
        "this is the largest value that is possible. Random clusters catch a little of each "
        "direction by luck.": 3,
        "this is the gap; asked is its square.": (3 * (1 - 3 / 59)) ** 0.5,
        "how much of one direction does a random space of K dimensions catch? There are K "
        "directions.": 1 - 3 / 59,
    },
)
