"""Checks for the exercises of the chapter on other uses of informed directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, Thrift, function_check, number_check

number_check(
    "ex-ou-hand",
    {"det Σ": 36, "xᵀ Σ⁻¹ x": "61/36", "Σ₁₂": "11/4"},
    mistakes={
        "what lies along the directions must not count across them too: take it off the squared "
        "length.": [None, "241/36", None],
        "along a direction, divide by its variance: you multiply.": [None, 41, None],
        "in the covariance of two features, what stands above the floor counts: λ − σ².": [
            None,
            None,
            "13/4",
        ],
    },
)


def _samples_and_directions(
    rng: np.random.Generator, p: int = 0, d: int = 0
) -> tuple[Array, Array]:
    n, p, d = draw.between(rng, 6, 10), p or draw.between(rng, 6, 9), d or draw.between(rng, 2, 4)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p) + rng.normal(size=p)
    return X, draw.orthonormal(rng, p, d)


def _dense_fit(S: Array, U: Array) -> tuple[Array, float]:
    p, d = U.shape
    across = np.eye(p) - U @ U.T
    return np.diag(U.T @ S @ U), float(np.trace(across @ S) / (p - d))


def _with_all_features(X: Array, U: Array) -> tuple[Array, float]:
    variances, noise = _dense_fit(np.cov(X, rowvar=False, bias=True), U)
    return variances, noise * (U.shape[0] - U.shape[1]) / U.shape[0]


def _in_total(X: Array, U: Array) -> tuple[Array, float]:
    variances, noise = _dense_fit(np.cov(X, rowvar=False, bias=True), U)
    return variances, noise * (U.shape[0] - U.shape[1])


@function_check(
    "ex-ou-fit",
    inputs=_samples_and_directions,
    edges={
        "there is one direction only": lambda rng: _samples_and_directions(rng, 0, 1),
        "one direction is left for the floor": lambda rng: _samples_and_directions(rng, 6, 5),
        "there are more features than samples": lambda rng: _samples_and_directions(rng, 40, 2),
    },
    thrift=[
        Thrift(
            lambda rng: _samples_and_directions(rng, 1200, 2),
            lambda X, U: len(U) ** 2 // 2,
            "form no matrix of all features by all features.",
        )
    ],
    mistakes={
        "the divisor is n here: `np.var` has it by default, `np.cov` has not.": (
            lambda X, U: _dense_fit(np.cov(X, rowvar=False), U)
        ),
        "subtract the mean of the samples first.": lambda X, U: _dense_fit(X.T @ X / len(X), U),
        "the floor is shared by p − d directions, not by p.": _with_all_features,
        "what is left of the total variance has to be divided among p − d directions.": _in_total,
    },
)
def _fit_spiked(X: Array, U: Array) -> Any:
    return _dense_fit(np.cov(X, rowvar=False, bias=True), U)


def _accuracies(rng: np.random.Generator, r: int = 0, s: int = 0) -> tuple[Array, Array]:
    r, s = r or draw.between(rng, 4, 8), s or draw.between(rng, 3, 6)
    validation, test = rng.uniform(0.5, 1, size=(2, r, s))
    # Two settings that validation likes best, as often happens with few samples.
    split = draw.between(rng, 0, r - 1)
    validation[split, rng.choice(s, size=min(s, 2), replace=False)] = 1.0
    return validation, test


def _honest(validation: Array, test: Array) -> list[float]:
    return [float(t[list(v).index(max(v))]) for v, t in zip(validation, test, strict=True)]


@function_check(
    "ex-ou-optimism",
    inputs=_accuracies,
    edges={
        "there is one split only": lambda rng: _accuracies(rng, 1, 4),
        "there is one setting only": lambda rng: _accuracies(rng, 5, 1),
    },
    mistakes={
        "a peeker chooses in each split anew: take the maximum before the mean.": (
            lambda validation, test: test.mean(axis=0).max() - np.mean(_honest(validation, test))
        ),
        "you compare with the best accuracy in validation. The honest accuracy is measured on the "
        "test samples, too.": lambda validation, test: np.mean(
            test.max(axis=1) - validation.max(axis=1)
        ),
        "you compare with the mean over all settings. Validation has chosen one.": (
            lambda validation, test: np.mean(test.max(axis=1) - test.mean(axis=1))
        ),
        "this is the honest accuracy itself; by how much does the peeker's exceed it?": (
            lambda validation, test: np.mean(_honest(validation, test))
        ),
    },
)
def _optimism(validation: Array, test: Array) -> Any:
    best = [max(row) for row in test]
    return sum(b - h for b, h in zip(best, _honest(validation, test), strict=True)) / len(best)
