"""Checks for the exercises of the chapter on soft clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.exercises.checking import Array, function_check, number_check

_COSINE = np.sqrt(1 / 2)

number_check(
    "ex-soft-angle",
    {"angle": 22.5, "misfit": (1 - _COSINE) / 2, "error": 2 - _COSINE},
    mistakes={
        "this is twice the angle: the formula gives the tangent of 2θ.": [45, None, None],
        "the angle is asked for in degrees.": [np.pi / 8, None, None],
        "your misfit is the share *inside* the span of the indicator. What is left outside?": [
            22.5,
            (1 + _COSINE) / 2,
            None,
        ],
        "your misfit is a length. Square it.": [22.5, np.sqrt((1 - _COSINE) / 2), None],
        "your error is what the direction explains. What does it leave of the trace of Σ?": [
            22.5,
            (1 - _COSINE) / 2,
            2 + _COSINE,
        ],
        "your error contains the penalty. Only the reconstruction error is asked for.": [
            22.5,
            (1 - _COSINE) / 2,
            3 - 2 * _COSINE,
        ],
    },
)


def _samples_and_clusters(rng: np.random.Generator) -> tuple[Array, Array, int, float]:
    sizes = rng.permutation([2, 3, 5])
    H = np.zeros((10, 3))
    H[np.arange(10), np.repeat([0, 1, 2], sizes)] = 1 / np.sqrt(np.repeat(sizes, sizes))
    n = int(rng.integers(5, 9))
    X = rng.normal(size=(n, 10)) * rng.uniform(1, 3, size=10) + rng.normal(size=10) * 4
    return X, H, int(rng.integers(1, 4)), float(rng.uniform(2, 6))


def _leading(matrix: Array, d: int) -> Any:
    return np.linalg.eigh(matrix)[1][:, -d:]


@function_check(
    "ex-soft-stack",
    inputs=_samples_and_clusters,
    view=lambda U: U @ U.T,
    mistakes={
        "the samples are not centred: subtract the mean of each feature first.": (
            lambda X, H, d, weight: _leading(X.T @ X / (len(X) - 1) + weight * H @ H.T, d)
        ),
        "the weight stands under a root in the stacked matrix; you have multiplied by the weight "
        "itself.": (
            lambda X, H, d, weight: _leading(np.cov(X, rowvar=False) + weight**2 * H @ H.T, d)
        ),
        "the samples count too much against the clusters: what turns sums of squares into "
        "variances?": (
            lambda X, H, d, weight: _leading(
                np.cov(X, rowvar=False) * (len(X) - 1) + weight * H @ H.T, d
            )
        ),
        "these are PCA's directions; where do the clusters come in?": (
            lambda X, H, d, weight: _leading(np.cov(X, rowvar=False), d)
        ),
        "these are the directions of the *smallest* singular values.": (
            lambda X, H, d, weight: np.linalg.eigh(np.cov(X, rowvar=False) + weight * H @ H.T)[1][
                :, :d
            ]
        ),
    },
)
def _penalised(X: Array, H: Array, d: int, weight: float) -> Any:
    return _leading(np.cov(X, rowvar=False) + weight * H @ H.T, d)


def _folds(rng: np.random.Generator) -> tuple[Array, Array]:
    n_penalties, n_folds = int(rng.integers(8, 12)), int(rng.integers(4, 7))
    penalties = np.sort(rng.uniform(0.1, 10, n_penalties))
    valley = 0.3 * (np.arange(n_penalties) - n_penalties // 2) ** 2
    return penalties, 20 + valley[:, None] + rng.normal(size=(n_penalties, n_folds))


def _allowed(penalties: Array, errors: Array, standard_error: float) -> list[float]:
    limit = min(sum(row) / len(row) for row in errors) + standard_error
    pairs = zip(penalties, errors, strict=True)
    return [float(p) for p, row in pairs if sum(row) / len(row) <= limit]


def _deviation(errors: Array, ddof: int = 1) -> float:
    means = [sum(row) / len(row) for row in errors]
    row = errors[means.index(min(means))]
    return float((sum((x - min(means)) ** 2 for x in row) / (len(row) - ddof)) ** 0.5)


@function_check(
    "ex-soft-cautious",
    inputs=_folds,
    trials=12,
    mistakes={
        "this is the plain choice, the least mean error.": (
            lambda penalties, errors: penalties[np.argmin(errors.mean(axis=1))]
        ),
        "this is the largest penalty that the rule allows; the smallest is asked for.": (
            lambda penalties, errors: max(
                _allowed(penalties, errors, _deviation(errors) / np.sqrt(errors.shape[1]))
            )
        ),
        "you allow a whole standard deviation. The standard error of a mean is smaller.": (
            lambda penalties, errors: min(_allowed(penalties, errors, _deviation(errors)))
        ),
        "divide by the number of folds less one in the standard deviation (`ddof=1`).": (
            lambda penalties, errors: min(
                _allowed(penalties, errors, _deviation(errors, 0) / np.sqrt(errors.shape[1]))
            )
        ),
    },
)
def _cautious(penalties: Array, errors: Array) -> Any:
    return min(_allowed(penalties, errors, _deviation(errors) / np.sqrt(errors.shape[1])))
