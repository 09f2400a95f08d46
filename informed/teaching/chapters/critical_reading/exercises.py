"""Checks for the exercises of the chapter on critical reading."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-cr-worst",
    {"(a)": 0.03, "(b)": 0.1, "(c)": 0, "(d)": 0.1},
    mistakes={
        "(b): look at the mean where U is at most 0.1. It is one and the same number there.": [
            None,
            0.05,
            None,
            None,
        ],
        "(c): twice the mean is never that small. Where could the mean be at most 0.025?": [
            None,
            None,
            0.05,
            None,
        ],
    },
)

number_check(
    "ex-cr-six",
    {"(a)": 2 / 3, "(b)": 0.5, "(c)": 0.5, "(d)": 0},
    mistakes={
        "(a): patients who die after the horizon are at risk before it. Count six and five at "
        "risk.": [0.5, None, None, None],
        "(b): the patients who are dropped are no longer at risk. Count four and three.": [
            None,
            2 / 3,
            None,
            None,
        ],
    },
)


def _shuffles(rng: np.random.Generator, n_groupings: int = 0) -> tuple[Array, Array]:
    n_shuffles, n_groupings = draw.between(rng, 12, 25), n_groupings or draw.between(rng, 2, 6)
    # Values that vary together along a row, as those of one shuffle do. Few decimals, and some of
    # the observed values among the shuffled ones: p-values of permutations do tie.
    null_p = 0.5 * rng.random((n_shuffles, 1)) + 0.5 * rng.random((n_shuffles, n_groupings))
    null_p = np.round(null_p, 2)
    p = rng.permutation(np.linspace(0.1, 0.6, n_groupings))
    p[0] = rng.choice(null_p.min(axis=1))
    return p, null_p


def _count(p: Array, null_p: Array, *, extra: int = 1) -> Any:
    reached = [sum(min(row) <= value for row in null_p.tolist()) for value in p.tolist()]
    return (np.array(reached) + extra) / (len(null_p) + extra)


@function_check(
    "ex-cr-minp",
    inputs=_shuffles,
    edges={"there is one grouping only, so nothing was chosen": lambda rng: _shuffles(rng, 1)},
    mistakes={
        "a shuffle that is exactly as small counts, too: `≤`, not `<`.": lambda p, null_p: (
            (1 + np.sum(null_p.min(axis=1)[:, None] < p, axis=0)) / (1 + len(null_p))
        ),
        "the observed order is one of the shuffles: count it above and below the line.": (
            lambda p, null_p: _count(p, null_p, extra=0)
        ),
        "you compare each grouping with its own shuffles. That is its p-value without any choice; "
        "compare with the best of the row.": lambda p, null_p: (
            (1 + np.sum(null_p <= p, axis=0)) / (1 + len(null_p))
        ),
        "this is Bonferroni's rule. It needs no shuffles and does not know how much the groupings "
        "have in common.": lambda p, null_p: np.minimum(1, len(p) * p),
        "you take the smallest p-value of each grouping over the shuffles; take that of each "
        "shuffle over the groupings.": lambda p, null_p: (
            np.array([1 + np.sum(null_p.min(axis=0) <= value) for value in p]) / (1 + len(null_p))
        ),
    },
)
def _single_step(p: Array, null_p: Array) -> Any:
    return _count(p, null_p)


def _uneven_data(
    rng: np.random.Generator, n: int = 0, d: int = 0, s: float | None = None
) -> tuple[Array, int, float]:
    n, p = n or draw.between(rng, 9, 15), draw.between(rng, 5, 8)
    X = rng.normal(size=(n, p)) * 9 * 0.6 ** np.arange(p) @ draw.orthonormal(rng, p, p) + 4.0
    order = float(rng.uniform(0.2, 0.9)) if s is None else s
    return X, d or draw.between(rng, 1, 4), order


def _powers(X: Array, d: int, exponent: float, *, divide_by_n: bool = False) -> Any:
    model = PCA(d, svd_solver="full").fit(X)
    factor = (len(X) - 1) / len(X) if divide_by_n else 1.0
    return model.transform(X) * (factor * model.explained_variance_) ** -exponent


@function_check(
    "ex-cr-partial",
    inputs=_uneven_data,
    edges={
        "s = 0": lambda rng: _uneven_data(rng, s=0.0),
        "s = 1": lambda rng: _uneven_data(rng, s=1.0),
        "there are fewer samples than features": lambda rng: _uneven_data(rng, n=4, d=2),
    },
    # The sign of a direction is free, all else is not.
    view=lambda Z: (np.abs(Z), Z @ Z.T),
    mistakes={
        "you divide by the variance to the power s; the distance is squared, so half of it is "
        "enough.": lambda X, d, s: _powers(X, d, s),
        "you divide by n in the variance; the chapter divides by n − 1.": lambda X, d, s: _powers(
            X, d, s / 2, divide_by_n=True
        ),
        "these are whitened coordinates, whatever s is. Where does s enter?": (
            lambda X, d, s: _powers(X, d, 0.5)
        ),
        "you have s the wrong way round: s = 0 must leave the coordinates as they are.": (
            lambda X, d, s: _powers(X, d, (1 - s) / 2)
        ),
        "centre the columns of `X` before the decomposition.": lambda X, d, s: _uncentered(X, d, s),
        "the coordinates are those of x minus the mean; yours have a mean.": lambda X, d, s: (
            _powers(X, d, s / 2)
            + X.mean(axis=0)
            @ PCA(d, svd_solver="full").fit(X).components_.T
            * PCA(d, svd_solver="full").fit(X).explained_variance_ ** (-s / 2)
        ),
    },
)
def _partial(X: Array, d: int, s: float) -> Any:
    return _powers(X, d, s / 2)


def _uncentered(X: Array, d: int, s: float) -> Any:
    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, :d] * singular[:d] * (singular[:d] ** 2 / (len(X) - 1)) ** (-s / 2)
