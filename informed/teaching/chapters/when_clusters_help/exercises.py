"""Checks for the exercises of the chapter on when clusters help."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-wch-window",
    {
        "threshold of PCA": 250,
        "threshold with clusters": 2.5,
        "half seen by PCA": 1000,
        "half seen with clusters": 10,
    },
    mistakes={
        "the ratio of noise to strength enters squared in the threshold.": [500, 5, None, None],
        "at the threshold itself nothing is seen yet: half takes more samples.": [
            250,
            2.5,
            250,
            2.5,
        ],
        "you have the second and the third number in the other order.": [250, 1000, 2.5, 10],
    },
)


def _problem(rng: np.random.Generator) -> tuple[int, int, Array, float]:
    d = int(rng.integers(1, 4))
    strengths = rng.uniform(1, 9, size=d)
    return int(rng.integers(20, 200)), int(rng.integers(5, 40)), strengths, rng.uniform(0.5, 2)


@function_check(
    "ex-wch-first-order",
    inputs=_problem,
    mistakes={
        "the noise is given as a standard deviation; its variance enters.": lambda n, q, s, e: (
            (q - len(s)) / n * np.sum(e * (s + e) / s**2)
        ),
        "d of the q dimensions are the signal's own: an error can only point into the others.": (
            lambda n, q, s, e: q / n * np.sum(e**2 * (s + e**2) / s**2)
        ),
        "the strengths are without the noise; the variance along a direction is strength plus "
        "noise.": lambda n, q, s, e: (q - len(s)) / n * np.sum(e**2 / s),
        "add up the errors of all directions.": lambda n, q, s, e: (
            (q - len(s)) / n * np.mean(e**2 * (s + e**2) / s**2)
        ),
    },
)
def _missing_directions(n: int, q: int, strengths: Array, noise: float) -> Any:
    # One term for each pair of a direction and a dimension without signal.
    pairs = [
        noise**2 * (strength + noise**2) / (n * strength**2)
        for strength in strengths
        for _ in range(q - len(strengths))
    ]
    return float(np.sum(pairs))


@function_check(
    "ex-wch-one-direction",
    inputs=lambda rng: (rng.uniform(0.5, 9), rng.uniform(0.5, 2), rng.uniform(0.2, 0.9)),
    mistakes={
        "that is the correlation of the coordinates; the squares have its square.": (
            lambda s, e, c: np.sqrt(s * c / (s * c + e**2))
        ),
        "the argument is the squared cosine already.": lambda s, e, c: s * c**2 / (s * c**2 + e**2),
        "the noise is given as a standard deviation; its variance enters.": (
            lambda s, e, c: s * c / (s * c + e)
        ),
        "the variance along the found direction holds only the part of the signal that it "
        "sees.": lambda s, e, c: s * c / (s + e**2),
    },
)
def _square_correlation(strength: float, noise: float, squared_cosine: float) -> Any:
    # Covariance matrix of the hidden difference and the coordinate.
    covariance = 2 * np.sqrt(strength * squared_cosine)
    variance = 2 * strength * squared_cosine + 2 * noise**2
    return covariance**2 / (2 * variance)


def _moved(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    K, size = draw.between(rng, 3, 6), draw.between(rng, 4, 7)
    labels = rng.permutation(np.repeat(np.arange(K), size))
    rows = draw.orthonormal(rng, K, draw.between(rng, 1, K - 1)) / np.sqrt(size)
    found = labels.copy()
    some = rng.choice(len(labels), size=draw.between(rng, 3, 6), replace=False)
    found[some] = rng.integers(0, K, size=len(some))
    # A misplaced feature for sure, to the next cluster.
    found[some[0]] = (labels[some[0]] + 1) % K
    return rows[labels], labels, found


def _none_moved(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    U, labels, _ = _moved(rng)
    return U, labels, labels.copy()


def _projected(U: Array, found: Array) -> Array:
    return np.array([U[found == label].mean(axis=0) for label in found])


@function_check(
    "ex-wch-moved",
    inputs=_moved,
    edges={"no feature is misplaced": _none_moved},
    mistakes={
        "that is the misfit itself; the bound takes the true rows of the clusters, not the "
        "means of the found ones.": lambda U, labels, found: np.sum(
            (U - _projected(U, found)) ** 2
        ),
        "that counts the misplaced features; each counts by what it carries.": (
            lambda U, labels, found: np.sum(labels != found)
        ),
        "the lengths have to be squared before they are added.": lambda U, labels, found: np.sum(
            [
                np.linalg.norm(U[j] - U[np.argmax(labels == found[j])])
                for j in np.flatnonzero(labels != found)
            ]
        ),
    },
)
def _moved_bound(U: Array, labels: Array, found: Array) -> Any:
    shared = {int(label): U[j] for j, label in enumerate(labels)}
    return sum(float(np.sum((U[j] - shared[int(found[j])]) ** 2)) for j in range(len(U)))
