"""Checks for the exercises of the chapter on the PCA distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-pca-cross",
    {
        "d = 2, outer pair": 6**0.5,
        "d = 2, inner pair": 6**0.5,
        "d = 2, mixed pairs": 3**0.5,
        "d = 1, outer pair": 6**0.5,
        "d = 1, inner pair": 0,
        "d = 1, mixed pairs": 1.5**0.5,
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


def _limits(rng: np.random.Generator) -> Array:
    limits: Array = np.sort(rng.uniform(1, 2, size=draw.between(rng, 6, 12)))[::-1]
    return limits


def _exactly_on(rng: np.random.Generator) -> tuple[Array, Array]:
    limits = _limits(rng)
    variances = 1.5 * limits
    variances[2] = limits[2]
    return variances, limits


def _spectra(rng: np.random.Generator) -> tuple[Array, Array]:
    limits = _limits(rng)
    kept = draw.between(rng, 0, 4)
    above = np.arange(len(limits)) < kept
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
    edges={
        "all variances are above their limits": lambda rng: (
            3.0 * _limits(np.random.default_rng(1)),
            _limits(np.random.default_rng(1)),
        ),
        "no variance is above its limit": lambda rng: (
            0.5 * _limits(np.random.default_rng(2)),
            _limits(np.random.default_rng(2)),
        ),
        "one variance is exactly at its limit, so not above it": _exactly_on,
    },
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


def _spectrum(rng: np.random.Generator, rest: int = 0) -> tuple[Array, int]:
    d, rest = draw.between(rng, 1, 4), rest or draw.between(rng, 5, 12)
    lifted = np.sort(rng.uniform(3, 20, size=d))[::-1]
    return np.concatenate([lifted, np.sort(rng.uniform(1, 2, size=rest))[::-1]]), d


@function_check(
    "ex-pca-undo",
    inputs=_spectrum,
    edges={"one variance is left for the floor": lambda rng: _spectrum(rng, 1)},
    mistakes={
        "the floor is the mean of the variances after the d-th only; you took all of them.": (
            lambda variances, d: 1 - variances.mean() / variances[:d]
        ),
        "you take one floor too early: the variances after the d-th begin at index d.": (
            lambda variances, d: 1 - variances[d - 1 :].mean() / variances[:d]
        ),
        "this is the share of the noise. How much is left for the signal?": (
            lambda variances, d: variances[d:].mean() / variances[:d]
        ),
        "the floor is the mean of the trailing variances, not their sum.": (
            lambda variances, d: 1 - variances[d:].sum() / variances[:d]
        ),
    },
)
def _shrinkage(variances: Array, d: int) -> Any:
    floor = sum(variances[d:]) / (len(variances) - d)
    return np.array([(variances[k] - floor) / variances[k] for k in range(d)])


def _strengths(
    rng: np.random.Generator, n_below: int | None = None, n_above: int | None = None
) -> tuple[Array, float]:
    gamma = float(rng.uniform(0.5, 9.0))
    n_below = draw.between(rng, 1, 4) if n_below is None else n_below
    n_above = draw.between(rng, 2, 5) if n_above is None else n_above
    below, above = rng.uniform(0.1, 0.9, size=n_below), rng.uniform(1.1, 6.0, size=n_above)
    return rng.permutation(np.concatenate([below, above])) * np.sqrt(gamma), gamma


@function_check(
    "ex-pca-threshold",
    inputs=_strengths,
    edges={
        "all are below the threshold": lambda rng: _strengths(rng, 3, 0),
        "all are above the threshold": lambda rng: _strengths(rng, 0, 3),
    },
    mistakes={
        "below the threshold the formula is negative; what does the text say there?": (
            lambda strengths, gamma: (1 - gamma / strengths**2) / (1 + gamma / strengths)
        ),
        "this is the rule of thumb. Take the limit.": lambda strengths, gamma: (
            strengths / (strengths + gamma)
        ),
        "the strength ℓ is the variance of the signal alone: nothing is to be subtracted.": (
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
