"""Checks for the exercises of the chapter on critical reading."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from informed.exercises.checking import Array, function_check, number_check

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


def _deals(rng: np.random.Generator) -> tuple[Array, Array]:
    n_deals, n_groupings = int(rng.integers(15, 25)), int(rng.integers(3, 6))
    # Values that hang together along a row, as those of one deal do.
    null_p = 0.5 * rng.random((n_deals, 1)) + 0.5 * rng.random((n_deals, n_groupings))
    return rng.permutation(np.linspace(0.1, 0.6, n_groupings)), null_p


def _count(p: Array, null_p: Array, *, extra: int = 1) -> Any:
    reached = [sum(min(deal) <= value for deal in null_p.tolist()) for value in p.tolist()]
    return (np.array(reached) + extra) / (len(null_p) + extra)


@function_check(
    "ex-cr-minp",
    inputs=_deals,
    mistakes={
        "the observed deal is one of the deals: count it above and below the line.": (
            lambda p, null_p: _count(p, null_p, extra=0)
        ),
        "you compare each grouping with its own deals. That is its p-value without any choice; "
        "compare with the best of the row.": lambda p, null_p: (
            (1 + np.sum(null_p <= p, axis=0)) / (1 + len(null_p))
        ),
        "this is Bonferroni's rule. It needs no deals and does not know how much the groupings "
        "have in common.": lambda p, null_p: np.minimum(1, len(p) * p),
        "you take the smallest p-value of each grouping over the deals; take that of each deal "
        "over the groupings.": lambda p, null_p: (
            np.array([1 + np.sum(null_p.min(axis=0) <= value) for value in p]) / (1 + len(null_p))
        ),
    },
)
def _single_step(p: Array, null_p: Array) -> Any:
    return _count(p, null_p)


def _uneven_data(rng: np.random.Generator) -> tuple[Array, int, float]:
    scales = np.array([9.0, 5.0, 3.0, 2.0, 1.0, 0.5])
    X = rng.normal(size=(12, 6)) * scales @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + 4.0
    return X, int(rng.integers(2, 5)), float(rng.choice([0.3, 0.5, 0.8]))


def _powers(X: Array, d: int, exponent: float, *, divide_by_n: bool = False) -> Any:
    model = PCA(d, svd_solver="full").fit(X)
    factor = (len(X) - 1) / len(X) if divide_by_n else 1.0
    return model.transform(X) * (factor * model.explained_variance_) ** -exponent


@function_check(
    "ex-cr-partial",
    inputs=_uneven_data,
    # The sign of a direction is free, distances are not.
    view=lambda Z: pdist(Z),
    mistakes={
        "you divide by the variance to the power s; the distance is squared, so half of it is "
        "enough.": lambda X, d, s: _powers(X, d, s),
        "you divide by n in the variance; the chapter divides by n − 1.": lambda X, d, s: _powers(
            X, d, s / 2, divide_by_n=True
        ),
        "these are whitened coordinates, whatever s is. Where does s enter?": (
            lambda X, d, s: _powers(X, d, 0.5)
        ),
        "you turned s round: s = 0 must leave the coordinates as they are.": (
            lambda X, d, s: _powers(X, d, (1 - s) / 2)
        ),
        "centre the columns of `X` before the decomposition.": lambda X, d, s: _uncentred(X, d, s),
    },
)
def _partial(X: Array, d: int, s: float) -> Any:
    return _powers(X, d, s / 2)


def _uncentred(X: Array, d: int, s: float) -> Any:
    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, :d] * singular[:d] * (singular[:d] ** 2 / (len(X) - 1)) ** (-s / 2)
