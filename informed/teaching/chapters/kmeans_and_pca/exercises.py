"""Checks for the exercises of the chapter on k-means and PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw, forms
from informed.teaching.exercises.checking import Array, function_check, judged_check, number_check

number_check(
    "ex-km-four",
    {"ω1": 52, "Φ": 2, "β": 2, "squared gap": "1/26"},
    mistakes={
        "each feature has two values, so each deviation counts twice in Φ.": [None, 1, None, None],
        "M is the sum of squares and products; do not divide by n − 1, or by the two samples.": [
            26,
            None,
            None,
            None,
        ],
        "the last number is asked squared.": [52, 2, 2, 26**-0.5],
    },
)


@judged_check("ex-km-contrasts")
def _contrasts(Q: Any) -> str | None:
    if np.shape(Q) != (4, 2):
        shape = np.shape(Q)
        return f"give Q as four rows of two numbers, a row per feature; yours has shape {shape}."
    Q = np.array([forms.number(entry) for entry in forms.flat(Q)]).reshape(4, 2)
    if not np.isfinite(Q).all():
        return "an entry of Q is not finite."
    # Three digits are enough: four roundings of half a unit each may add up.
    if not np.allclose(Q[2], Q[3], atol=1.5e-3):
        return "features 3 and 4 form one cluster, so their rows of Q must be equal."
    if not np.allclose(Q.sum(axis=0), 0, atol=2.5e-3):
        return "the columns of Q do not sum to zero: is Ω orthogonal to t₁?"
    if not np.allclose(np.sum(Q**2, axis=0), 1, atol=5e-3):
        return "the columns of Q do not have length one: mind the size of each cluster in H."
    if abs(Q[:, 0] @ Q[:, 1]) > 2.5e-3:
        return "the columns of Q are not orthogonal to each other."
    return None


def _table(rng: np.random.Generator, n_clusters: int = 0, n: int = 0) -> tuple[Array, Array, int]:
    labels = draw.labels(rng, n_clusters or draw.between(rng, 2, 5))
    # Centred features have the rank p - 1 at most: fewer directions, or the bound is zero.
    d, n = draw.between(rng, 1, min(4, len(labels) - 2)), n or draw.between(rng, 7, 14)
    Y = rng.normal(size=(labels.max() + 1, n))[labels] + 0.5 * rng.normal(size=(len(labels), n))
    Y -= Y.mean(axis=0)
    return Y - Y.mean(axis=1, keepdims=True), labels, d


def _cost(Y: Array, labels: Array) -> float:
    return sum(
        float(np.sum((Y[labels == k] - Y[labels == k].mean(axis=0)) ** 2)) for k in set(labels)
    )


def _tail(Y: Array, first: int) -> float:
    return float(np.sort(np.linalg.eigvalsh(Y @ Y.T))[::-1][first:].sum())


@function_check(
    "ex-km-read",
    inputs=_table,
    edges={
        "there are more samples than features": lambda rng: _table(rng, 2, 30),
        "there is one cluster only": lambda rng: _table(rng, 1, 12),
    },
    mistakes={
        "you add up eigenvalues from the (d + 1)-th of zero on; the bound leaves out the first d "
        "only.": lambda Y, labels, d: _cost(Y, labels) / _tail(Y, d + 1),
        "singular values must be squared before you add them up.": (
            lambda Y, labels, d: _cost(Y, labels) / np.linalg.svd(Y, compute_uv=False)[d:].sum()
        ),
        "you divide by the eigenvalues that PCA keeps; the bound is the sum of the others.": (
            lambda Y, labels, d: _cost(Y, labels) / (_tail(Y, 0) - _tail(Y, d))
        ),
        "this is the bound over the cost. Turn it over.": (
            lambda Y, labels, d: _tail(Y, d) / _cost(Y, labels)
        ),
        "the cost is the sum over all entries, not their mean.": (
            lambda Y, labels, d: _cost(Y, labels) / Y.size / _tail(Y, d)
        ),
    },
)
def _cost_over_bound(Y: Array, labels: Array, d: int) -> Any:
    return _cost(Y, labels) / _tail(Y, d)


def _plain_table(rng: np.random.Generator, n: int = 0) -> tuple[Array, int]:
    n, p = n or draw.between(rng, 7, 12), draw.between(rng, 8, 13)
    level = rng.normal(size=(n, 1)) + rng.normal(size=p)
    return rng.normal(size=(n, p)) + level + 3.0, draw.between(rng, 1, 4)


def _bounds(X: Array, d: int) -> tuple[float, float]:
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    return _tail(twice.T, d), _tail(once.T, d + 1)


@function_check(
    "ex-km-bounds",
    inputs=_plain_table,
    edges={"there are more samples than features": lambda rng: _plain_table(rng, 20)},
    mistakes={
        "you leave out the first d eigenvalues in both. Without centring over the features, how "
        "many does the bound leave out?": lambda X, d: (
            _bounds(X, d)[0],
            _tail((X - X.mean(axis=0)).T, d),
        ),
        "the two bounds are exchanged.": lambda X, d: _bounds(X, d)[::-1],
        "for the second bound you centre over the features. It is the table centred over the "
        "samples: each column has mean zero.": lambda X, d: (
            _bounds(X, d)[0],
            _tail((X - X.mean(axis=1, keepdims=True)).T, d + 1),
        ),
        "for the second bound you do not centre at all. Each column must have mean zero.": (
            lambda X, d: (_bounds(X, d)[0], _tail(X.T, d + 1))
        ),
    },
)
def _two_bounds(X: Array, d: int) -> Any:
    return _bounds(X, d)


number_check(
    "ex-km-null",
    3 * (1 - 3 / 59),
    mistakes={
        "this is the largest value that is possible. Random clusters catch a little of each "
        "direction by luck.": 3,
        "this is the gap; asked is its square.": (3 * (1 - 3 / 59)) ** 0.5,
        "how much of one direction does a random space of d dimensions catch? There are d "
        "directions.": 1 - 3 / 59,
    },
)
