"""Checks for the exercises of the chapter on why the usual distance fails."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from informed.exercises.checking import Array, function_check, number_check

number_check(
    "ex-triangle",
    {"d(x1, x2)": 2, "d(x1, x3)": 2, "d(x2, x3)": 2},
    mistakes={
        "these are squared distances. Take the root.": [4, 4, 4],
        "these are Euclidean distances. Where does Σ enter?": [1, 1, 2**0.5],
        "you divide by n in Σ; the chapter divides by n − 1.": [6**0.5] * 3,
    },
)


def _from_definition(X: Array, ddof: int = 1) -> Any:
    precision = np.linalg.pinv(np.cov(X, rowvar=False, ddof=ddof), rcond=1e-10, hermitian=True)
    return squareform(pdist(X, "mahalanobis", VI=precision))


def _wide_or_tall(rng: np.random.Generator) -> tuple[Array]:
    samples = int(rng.integers(8, 12))
    features = int(rng.choice([3, 5, 30]))
    return (rng.normal(size=(samples, features)) @ rng.normal(size=(features, features)) + 5.0,)


def _without_dropping(X: Array) -> Any:
    _, eigenvectors = np.linalg.eigh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)
    return squareform(pdist(np.sqrt(len(X) - 1) * eigenvectors))


def _uncentred(X: Array) -> Any:
    eigenvalues, eigenvectors = np.linalg.eigh(X @ X.T)
    kept = eigenvectors[:, eigenvalues > 1e-10 * eigenvalues.max()]
    return squareform(pdist(np.sqrt(len(X) - 1) * kept))


@function_check(
    "ex-gram",
    inputs=_wide_or_tall,
    trials=8,
    mistakes={
        "these are Euclidean distances. Where does Σ enter?": lambda X: squareform(pdist(X)),
        "you divide by n in Σ; the chapter divides by n − 1.": lambda X: _from_definition(X, 0),
        "you kept eigenvectors whose eigenvalue is zero up to rounding. They say nothing about the "
        "data; drop them.": _without_dropping,
        "centre the columns of `X` first.": _uncentred,
    },
)
def _gram(X: Array) -> Any:
    return _from_definition(X)


number_check(
    "ex-duplicate",
    {"d(x1, x2)": 0, "d(x1, xk)": 3, "d(xk, xl)": 12**0.5},
    mistakes={
        "these are squared distances. Take the root.": [0, 9, 12],
        "the two copies are not at the same distance from the rest as before: they share one "
        "corner, and the mean moves towards it. Work out Q.": [0, 12**0.5, 12**0.5],
    },
)


def _two_groups(rng: np.random.Generator) -> tuple[Array, Array, list[int]]:
    group = np.arange(14) % 2
    hidden = np.column_stack([2 * group + rng.normal(size=14), 3 * rng.normal(size=14)])
    X = hidden @ rng.normal(size=(2, 20)) + rng.normal(size=(14, 20))
    return X, group, [1, 2, 4, 9, 13]


def _share_of_pairs(Z: Array, group: Array) -> float:
    d = np.round(pdist(Z), 6)
    differ = pdist(group[:, None].astype(float)) > 0
    across, within = d[differ][:, None], d[~differ]
    return float(np.mean((across > within) + 0.5 * (across == within)))


def _curve(X: Array, group: Array, ks: list[int], *, whiten: bool = True) -> list[float]:
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    scores = left if whiten else left * singular
    return [_share_of_pairs(np.sqrt(len(X) - 1) * scores[:, :k], group) for k in ks]


@function_check(
    "ex-directions",
    inputs=_two_groups,
    # Pairs that tie up to rounding may fall on either side of it.
    atol=2e-3,
    mistakes={
        "you kept the directions, but did not whiten them: each must have variance one.": (
            lambda X, group, ks: _curve(X, group, ks, whiten=False)
        ),
        "you take the k-th direction alone; take the first k together.": (
            lambda X, group, ks: [
                _share_of_pairs(np.linalg.svd(X - X.mean(axis=0))[0][:, [k - 1]], group) for k in ks
            ]
        ),
    },
)
def _separation_curve(X: Array, group: Array, ks: list[int]) -> Any:
    return _curve(X, group, ks)
