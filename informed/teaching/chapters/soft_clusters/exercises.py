"""Checks for the exercises of the chapter on soft clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, Thrift, function_check, number_check

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


def _samples_and_clusters(
    rng: np.random.Generator, n: int = 0, p: int = 0, n_clusters: int = 0, d: int = 0
) -> tuple[Array, Array, int, float]:
    K, p = n_clusters or draw.between(rng, 2, 5), p or draw.between(rng, 9, 13)
    labels = draw.labels(rng, K, p)
    H = (labels[:, None] == np.arange(K)) / np.sqrt(np.bincount(labels))
    n = n or draw.between(rng, 5, 9)
    X = rng.normal(size=(n, p)) * rng.uniform(1, 3, size=p) + rng.normal(size=p) * 4
    return X, H, d or draw.between(rng, 1, 4), float(rng.uniform(2, 6))


def _leading(matrix: Array, d: int) -> Any:
    return np.linalg.eigh(matrix)[1][:, -d:]


@function_check(
    "ex-soft-stack",
    inputs=_samples_and_clusters,
    edges={
        "there are more samples than features": lambda rng: _samples_and_clusters(rng, 30),
        "there are more directions than clusters": lambda rng: _samples_and_clusters(
            rng, 8, 12, 2, 4
        ),
    },
    thrift=[
        Thrift(
            lambda rng: _samples_and_clusters(rng, 5, 1200, 3, 2),
            lambda X, H, d, weight: len(H) ** 2 // 2,
            "form no matrix of all features by all features; `np.linalg.svd` does so, too, unless "
            "it is told not to.",
        )
    ],
    view=lambda U: U @ U.T,
    mistakes={
        "the samples are not centred: subtract the mean of each feature first.": (
            lambda X, H, d, weight: _leading(X.T @ X / (len(X) - 1) + weight * H @ H.T, d)
        ),
        "the weight is under a root in the stacked matrix; you have multiplied by the weight "
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
def _penalized(X: Array, H: Array, d: int, weight: float) -> Any:
    return _leading(np.cov(X, rowvar=False) + weight * H @ H.T, d)


def _folds(rng: np.random.Generator) -> tuple[Array, Array]:
    n_penalties, n_folds = draw.between(rng, 8, 12), draw.between(rng, 3, 7)
    penalties = np.sort(rng.uniform(0.1, 10, n_penalties))
    valley = 0.15 * (np.arange(n_penalties) - draw.between(rng, 4, n_penalties - 1)) ** 2
    # Some penalties are noisier than others: the standard error is that of the best.
    noise = rng.uniform(0.3, 3, size=(n_penalties, 1)) * rng.normal(size=(n_penalties, n_folds))
    return penalties, 20 + valley[:, None] + noise


def _exactly_on(rng: np.random.Generator) -> tuple[Array, Array]:
    # The best mean is 1 and its standard error 1, so the mean of the first is exactly allowed.
    return np.array([0.5, 1.0, 4.0]), np.array([[2.0, 2.0], [0.0, 2.0], [5.0, 7.0]])


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
    edges={
        # The standard error is 0.58, and would be 0.5 or 0.71 with another divisor.
        "two mean errors are close to what is allowed": lambda rng: (
            np.array([0.2, 0.5, 3.0, 4.0]),
            np.array([[1.65] * 4, [1.55] * 4, [0.0, 2.0, 0.0, 2.0], [3.0, 2.0, 2.0, 5.0]]),
        ),
        "a mean error is exactly the least one plus the standard error, which is allowed": (
            _exactly_on
        ),
        "all folds agree, so the standard error is zero": lambda rng: (
            np.array([1.0, 2.0, 3.0]),
            np.array([[4.0, 4.0, 4.0], [3.0, 3.0, 3.0], [5.0, 5.0, 5.0]]),
        ),
    },
    trials=12,
    mistakes={
        "this is the plain choice, the least mean error.": (
            lambda penalties, errors: penalties[np.argmin(errors.mean(axis=1))]
        ),
        "you compare each mean with its own standard error. That of the best row counts for "
        "all.": lambda penalties, errors: penalties[
            np.argmax(
                errors.mean(axis=1)
                <= errors.mean(axis=1).min() + errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
            )
        ],
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
