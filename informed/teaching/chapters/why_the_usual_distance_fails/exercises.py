"""Checks for the exercises of the chapter on why the usual distance fails."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, Thrift, function_check, number_check

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
    covariance = np.atleast_2d(np.cov(X, rowvar=False, ddof=ddof))
    precision = np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
    return squareform(pdist(X, "mahalanobis", VI=precision))


def _samples(rng: np.random.Generator, n: int, p: int) -> tuple[Array]:
    return (rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 5 * rng.normal(size=p),)


def _wide_or_tall(rng: np.random.Generator) -> tuple[Array]:
    n = draw.between(rng, 7, 12)
    return _samples(rng, n, int(rng.choice([2, 3, 4, 5, n - 1, n, 20, 30])))


def _in_other_units(rng: np.random.Generator, factor: float) -> tuple[Array]:
    return (factor * _samples(rng, 9, 4)[0],)


def _twice(rng: np.random.Generator) -> tuple[Array]:
    (X,) = _samples(rng, 8, 20)
    X[3] = X[5]
    return (X,)


def _by_an_absolute_limit(X: Array) -> Any:
    centered = X - X.mean(axis=0)
    eigenvalues, eigenvectors = np.linalg.eigh(centered @ centered.T)
    return squareform(pdist(np.sqrt(len(X) - 1) * eigenvectors[:, eigenvalues > 1e-10]))


def _without_dropping(X: Array) -> Any:
    _, eigenvectors = np.linalg.eigh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)
    return squareform(pdist(np.sqrt(len(X) - 1) * eigenvectors))


def _uncentered(X: Array) -> Any:
    eigenvalues, eigenvectors = np.linalg.eigh(X @ X.T)
    kept = eigenvectors[:, eigenvalues > 1e-10 * eigenvalues.max()]
    return squareform(pdist(np.sqrt(len(X) - 1) * kept))


@function_check(
    "ex-gram",
    inputs=_wide_or_tall,
    edges={
        "its values are tiny": lambda rng: _in_other_units(rng, 1e-6),
        "its values are huge": lambda rng: _in_other_units(rng, 1e7),
        "there is one feature only": lambda rng: _samples(rng, 6, 1),
        "two samples are the same": _twice,
    },
    thrift=[
        Thrift(
            lambda rng: (rng.normal(size=(6, 1200)),),
            lambda X: X.shape[1] ** 2 // 2,
            "form no matrix of all features by all features.",
        )
    ],
    trials=8,
    mistakes={
        "these are Euclidean distances. Where does Σ enter?": lambda X: squareform(pdist(X)),
        "you divide by n in Σ; the chapter divides by n − 1.": lambda X: _from_definition(X, 0),
        "you kept eigenvectors whose eigenvalue is zero up to rounding. They say nothing about the "
        "data; drop them.": _without_dropping,
        "centre the columns of `X` first.": _uncentered,
        "an eigenvalue is small only in comparison with the others: your limit does not fit values "
        "in other units.": _by_an_absolute_limit,
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


def _two_groups(
    rng: np.random.Generator, p: int = 0, ks: list[int] | None = None
) -> tuple[Array, Array, list[int]]:
    n, p = draw.between(rng, 12, 16), p or draw.between(rng, 18, 24)
    group = rng.permutation(np.r_[0, 0, 1, 1, 1, rng.integers(2, size=n - 5)])
    hidden = np.column_stack([2 * group + rng.normal(size=n), 3 * rng.normal(size=n)])
    X = hidden @ rng.normal(size=(2, p)) + rng.normal(size=(n, p)) + rng.normal(size=p)
    some = rng.choice(np.arange(1, 10), size=draw.between(rng, 3, 6), replace=False)
    return X, group, sorted(some.tolist()) if ks is None else ks


def _all_tied(rng: np.random.Generator) -> tuple[Array, Array, list[int]]:
    X, group, _ = _two_groups(rng)
    return X, group, [2, len(X) - 1]


def _share_of_pairs(Z: Array, group: Array) -> float:
    d = np.round(pdist(Z), 6)
    differ = pdist(group[:, None].astype(float)) > 0
    across, within = d[differ][:, None], d[~differ]
    return float(np.mean((across > within) + 0.5 * (across == within)))


def _curve(X: Array, group: Array, ks: list[int], *, whiten: bool = True) -> list[float]:
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    scores = left if whiten else left * singular
    return [_share_of_pairs(scores[:, :k], group) for k in ks]


@function_check(
    "ex-directions",
    inputs=_two_groups,
    edges={
        "with k = n − 1 directions all pairs are at the same distance, up to rounding; count such "
        "ties one half, as `separation` does": _all_tied,
        "the numbers in `ks` are in no order": lambda rng: _two_groups(rng, ks=[5, 1, 3]),
    },
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
