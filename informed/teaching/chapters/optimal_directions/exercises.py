"""Checks for the exercises of the chapter on optimal directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-one-dimension",
    {"bound of α": "1/4", "best α": "1/8", "smaller number": 0.8, "larger number": 1.1},
    mistakes={
        "at t = 1 the derivative of the step is 1 − 4αs. For which α is it above −1?": [
            "1/2",
            None,
            None,
            None,
        ],
        "the bound and the best step size are exchanged.": ["1/8", "1/4", None, None],
        "the step of constant length goes on beyond 1: it does not stop there.": [
            "1/4",
            "1/8",
            0.8,
            1,
        ],
    },
    any_order=["smaller number", "larger number"],
)


def _clustered(
    rng: np.random.Generator, n_clusters: int = 0, d: int = 0
) -> tuple[Array, Array, int]:
    K, n = n_clusters or draw.between(rng, 3, 6), draw.between(rng, 8, 12)
    labels = draw.labels(rng, K, draw.between(rng, 4 * K, 5 * K))
    common = rng.normal(size=(n, K)) * 3.0 * 0.6 ** np.arange(K)
    X = (
        common[:, labels]
        + 0.7 * rng.normal(size=(n, len(labels)))
        + 2 * rng.normal(size=len(labels))
    )
    return X, labels, d or draw.between(rng, 1, K - 1)


def _projector(labels: Array) -> Any:
    same = labels[:, None] == labels
    return same / same.sum(axis=1)


def _leading(matrix: Array, d: int) -> Any:
    return np.linalg.eigh(matrix)[1][:, ::-1][:, :d]


def _plain_means(X: Array, labels: Array, d: int) -> Any:
    sizes = np.bincount(labels)
    H = (labels[:, None] == np.arange(len(sizes))) / np.sqrt(sizes)
    return H @ _leading(np.cov((X @ H / np.sqrt(sizes)).T), d)


def _span(U: Array) -> Any:
    return U @ U.T


@function_check(
    "ex-sklearn-pca",
    inputs=_clustered,
    edges={
        "there are as many directions as clusters": lambda rng: _clustered(rng, 3, 3),
        "there is one cluster only": lambda rng: _clustered(rng, 1, 1),
    },
    view=_span,
    mistakes={
        "you run PCA on the plain means, where a small cluster counts as much as a large one. "
        "Weight each by the root of its size.": _plain_means,
        "these are PCA's directions, which are not constant on the clusters.": (
            lambda X, labels, d: _leading(np.cov(X.T), d)
        ),
        "these are PCA's directions, averaged over clusters. They are piecewise constant, but "
        "neither orthonormal nor optimal.": (
            lambda X, labels, d: _projector(labels) @ _leading(np.cov(X.T), d)
        ),
        "take off the mean of each feature first.": lambda X, labels, d: _leading(
            _projector(labels) @ X.T @ X @ _projector(labels), d
        ),
    },
)
def _optimal(X: Array, labels: Array, d: int) -> Any:
    P = _projector(labels)
    return _leading(P @ np.cov(X.T) @ P, d)


def _start(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    X, labels, d = _clustered(rng)
    return X, labels, draw.orthonormal(rng, X.shape[1], d)


def _orthonormal(A: Array) -> Any:
    return np.linalg.svd(A, full_matrices=False)[0]


@function_check(
    "ex-power",
    inputs=_start,
    view=_span,
    mistakes={
        "average over the clusters after you have multiplied by Σ.": (
            lambda X, labels, U: _orthonormal(np.cov(X.T) @ U)
        ),
        "you average the directions, but do not multiply by Σ.": (
            lambda X, labels, U: _orthonormal(_projector(labels) @ U)
        ),
        "the columns that you return are not orthonormal.": (
            lambda X, labels, U: _projector(labels) @ np.cov(X.T) @ U
        ),
        "take off the mean of each feature first.": (
            lambda X, labels, U: _orthonormal(_projector(labels) @ X.T @ X @ U)
        ),
    },
)
def _step(X: Array, labels: Array, U: Array) -> Any:
    return _orthonormal(_projector(labels) @ np.cov(X.T) @ U)
