"""Checks for the exercises of the chapter on the toy problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-tp-two",
    {"largest": 130.4, "second": 30.4, "all others": 0.4},
    mistakes={
        "these are the eigenvalues of M. Those of Σ lie higher by the floor.": [130, 30, None],
        "the 2 × 2 matrix of ones has the eigenvalues 2 and 0.": [80.4, 30.4, None],
        "the means differ by Δ, so each type is Δ/2 away from the middle.": [430.4, 30.4, None],
    },
)


def _directions(rng: np.random.Generator, n_clusters: int = 0, d: int = 0) -> tuple[Array, Array]:
    K = n_clusters or draw.between(rng, 4, 6)
    labels = draw.labels(rng, K)
    return draw.orthonormal(rng, len(labels), d or draw.between(rng, 2, K - 1)), labels


def _averaged(U: Array, labels: Array) -> Any:
    same = labels[:, None] == labels
    return same / same.sum(axis=1) @ U


@function_check(
    "ex-tp-fewer",
    inputs=_directions,
    edges={
        "there is one direction only": lambda rng: _directions(rng, 3, 1),
        "there are as many directions as clusters": lambda rng: _directions(rng, 3, 3),
    },
    view=lambda U: (U @ U.T, U.T @ U),
    mistakes={
        "the columns are averaged, but not orthonormal any more.": _averaged,
        "each column has length one now, but they are not orthogonal to each other. This is what "
        "the paper does.": lambda U, labels: (
            _averaged(U, labels) / np.linalg.norm(_averaged(U, labels), axis=0)
        ),
        "you return the directions as they were.": lambda U, labels: U,
    },
)
def _orthonormal_average(U: Array, labels: Array) -> Any:
    return np.linalg.svd(_averaged(U, labels), full_matrices=False)[0]


def _spectrum(
    rng: np.random.Generator, n_above: int | None = None, n_below: int | None = None
) -> tuple[Array, float, float]:
    floor, gamma = float(rng.uniform(0.2, 2.0)), float(rng.uniform(1.0, 9.0))
    above = rng.uniform(1.2, 5, draw.between(rng, 2, 5) if n_above is None else n_above)
    below = rng.uniform(0.2, 0.9, draw.between(rng, 1, 3) if n_below is None else n_below)
    strengths = np.sqrt(gamma) * np.concatenate([above, below])
    return floor * (1 + np.sort(strengths)[::-1]), floor, gamma


def _error(ell: Array, gamma: float, *, cut: bool = True) -> Any:
    cosines = (1 - gamma / ell**2) / (1 + gamma / ell)
    if cut:
        cosines = np.where(ell > np.sqrt(gamma), cosines, 0.0)
    return np.sqrt(2 * np.sum(1 - cosines))


@function_check(
    "ex-tp-predict",
    inputs=_spectrum,
    edges={
        "no eigenvalue is above the threshold": lambda rng: _spectrum(rng, 0, 3),
        "all eigenvalues are above the threshold": lambda rng: _spectrum(rng, 3, 0),
    },
    mistakes={
        "below the threshold the cosine is zero; the formula would make it negative.": (
            lambda eigenvalues, floor, gamma: _error(eigenvalues / floor - 1, gamma, cut=False)
        ),
        "the eigenvalue is 1 + ℓ times the floor; you took it to be ℓ times.": (
            lambda eigenvalues, floor, gamma: _error(eigenvalues / floor, gamma)
        ),
        "divide by the floor: ℓ has no unit.": (
            lambda eigenvalues, floor, gamma: _error(eigenvalues - floor, gamma)
        ),
        "each direction that errs counts twice: once as missing, once as wrong.": (
            lambda eigenvalues, floor, gamma: _error(eigenvalues / floor - 1, gamma) / np.sqrt(2)
        ),
    },
)
def _predicted(eigenvalues: Array, floor: float, gamma: float) -> Any:
    total = 0.0
    for eigenvalue in eigenvalues:
        ell = eigenvalue / floor - 1
        found = (ell**2 - gamma) / (ell**2 + gamma * ell) if ell**2 > gamma else 0.0
        total += 2 * (1 - found)
    return total**0.5
