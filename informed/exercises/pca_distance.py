"""Checks for the exercises of the chapter on the PCA distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.exercises.checking import Array, function_check, number_check

number_check(
    "ex-pca-cross",
    {
        "K = 2, outer pair": 6**0.5,
        "K = 2, inner pair": 6**0.5,
        "K = 2, mixed pairs": 3**0.5,
        "K = 1, outer pair": 6**0.5,
        "K = 1, inner pair": 0,
        "K = 1, mixed pairs": 1.5**0.5,
    },
    mistakes={
        "you divide by n in Σ; the book divides by n − 1.": [
            8**0.5,
            8**0.5,
            2,
            8**0.5,
            0,
            2**0.5,
        ],
        "these are Euclidean distances of the projections; divide each coordinate by its standard "
        "deviation.": [4, 2, 5**0.5, 4, 0, 2],
    },
)


def _spectra(rng: np.random.Generator) -> tuple[Array, Array]:
    size, kept = 8, int(rng.integers(0, 5))
    limits = np.sort(rng.uniform(1, 2, size=size))[::-1]
    above = np.arange(size) < kept
    # Those that are above chance again, further down, must not count.
    above[kept + 1 : kept + 1 + rng.integers(1, 3)] = True
    return limits * np.where(above, 1.5, 0.9), limits


def _leading(variances: Array, limits: Array) -> int:
    number = 0
    while number < len(variances) and variances[number] > limits[number]:
        number += 1
    return number


@function_check(
    "ex-pca-parallel",
    inputs=_spectra,
    trials=8,
    mistakes={
        "you count all variances above chance. Stop at the first that is not: those after it do "
        "not lead.": lambda variances, limits: int(np.sum(variances > limits)),
        "you return the place of the last direction that is kept, counted from zero. How many "
        "are kept?": lambda variances, limits: _leading(variances, limits) - 1,
    },
)
def _number_kept(variances: Array, limits: Array) -> Any:
    return _leading(variances, limits)


def _spectrum(rng: np.random.Generator) -> tuple[Array, int]:
    K = int(rng.integers(1, 4))
    lifted = np.sort(rng.uniform(3, 20, size=K))[::-1]
    return np.concatenate([lifted, np.sort(rng.uniform(1, 2, size=9))[::-1]]), K


@function_check(
    "ex-pca-undo",
    inputs=_spectrum,
    mistakes={
        "the floor is the mean of the variances after the K-th only; you took all of them.": (
            lambda variances, K: 1 - variances.mean() / variances[:K]
        ),
        "you take one floor too early: the variances after the K-th begin at index K.": (
            lambda variances, K: 1 - variances[K - 1 :].mean() / variances[:K]
        ),
        "this is the share of the noise. How much is left for the signal?": (
            lambda variances, K: variances[K:].mean() / variances[:K]
        ),
        "the floor is the mean of the trailing variances, not their sum.": (
            lambda variances, K: 1 - variances[K:].sum() / variances[:K]
        ),
    },
)
def _shrinkage(variances: Array, K: int) -> Any:
    floor = sum(variances[K:]) / (len(variances) - K)
    return np.array([(variances[k] - floor) / variances[k] for k in range(K)])


def _strengths(rng: np.random.Generator) -> tuple[Array, float]:
    gamma = float(rng.uniform(0.5, 9.0))
    below, above = rng.uniform(0.1, 0.9, size=3), rng.uniform(1.1, 6.0, size=4)
    return rng.permutation(np.concatenate([below, above])) * np.sqrt(gamma), gamma


@function_check(
    "ex-pca-threshold",
    inputs=_strengths,
    mistakes={
        "below the threshold the formula is negative; what does the text say there?": (
            lambda strengths, gamma: (1 - gamma / strengths**2) / (1 + gamma / strengths)
        ),
        "this is the rule of thumb. Take the limit.": lambda strengths, gamma: (
            strengths / (strengths + gamma)
        ),
        "the strength is the additional variance; ℓ in the text is the whole one.": (
            lambda strengths, gamma: np.array(
                [_limit(strength - 1, gamma) for strength in strengths]
            )
        ),
    },
)
def _limiting_cosine(strengths: Array, gamma: float) -> Any:
    return np.array([_limit(strength, gamma) for strength in strengths])


def _limit(strength: float, gamma: float) -> float:
    if strength <= gamma**0.5:
        return 0.0
    return float((strength**2 - gamma) / (strength**2 + gamma * strength))
