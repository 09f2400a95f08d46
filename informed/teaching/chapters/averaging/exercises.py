"""Checks for the exercises of the chapter on averaging directions over clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, Thrift, function_check, number_check

number_check(
    "ex-four-features",
    {
        "second column of Ũ, entry 1": "1/6",
        "entry 2": "1/6",
        "entry 3": "1/6",
        "entry 4": "-1/2",
        "lower right entry of ŨᵀŨ": "1/3",
    },
    mistakes={
        "these are sums over the clusters; divide by the sizes.": [
            "1/2",
            "1/2",
            "1/2",
            "-1/2",
            None,
        ],
        "do not forget the factor 1/2 of the column.": ["1/3", "1/3", "1/3", -1, None],
        "the averaged column is right, but its squared length is no longer one.": [
            "1/6",
            "1/6",
            "1/6",
            "-1/2",
            1,
        ],
    },
)


def _clustered(rng: np.random.Generator, n_clusters: int, columns: int) -> tuple[Array, Array]:
    labels = draw.labels(rng, n_clusters)
    return rng.normal(size=(len(labels), columns)), labels


def _any_clusters(rng: np.random.Generator) -> tuple[Array, Array]:
    return _clustered(rng, draw.between(rng, 2, 6), draw.between(rng, 2, 5))


def _many_features(rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.normal(size=(3000, 3)), draw.labels(rng, 500, 3000)


def _members(labels: Array, feature: int) -> list[int]:
    return [j for j in range(len(labels)) if labels[j] == labels[feature]]


@function_check(
    "ex-bincount",
    inputs=_any_clusters,
    edges={
        "there is one cluster only": lambda rng: _clustered(rng, 1, 2),
        "there is one direction only": lambda rng: _clustered(rng, 4, 1),
        "each feature is a cluster of its own": lambda rng: (
            rng.normal(size=(5, 3)),
            rng.permutation(5),
        ),
    },
    thrift=[
        Thrift(
            _many_features,
            lambda U, labels: 12 * U.nbytes,
            "form nothing of all features by all features, nor of all features by all clusters.",
        )
    ],
    mistakes={
        "you add up each cluster; divide by its size too.": lambda U, labels: np.array(
            [U[labels == label].sum(axis=0) for label in labels]
        ),
        "you average over all features. Each cluster has its own mean.": lambda U, labels: np.tile(
            U.mean(axis=0), (len(U), 1)
        ),
        "all directions get one common mean. Average each column on its own.": (
            lambda U, labels: np.array(
                [[U[labels == label].mean()] * U.shape[1] for label in labels]
            )
        ),
        "you return `U` as it was.": lambda U, labels: U,
    },
)
def _average(U: Array, labels: Array) -> Any:
    return np.array([U[labels == label].mean(axis=0) for label in labels])


def _noise(rng: np.random.Generator, n_clusters: int = 0) -> tuple[Array, Array]:
    labels = draw.labels(rng, n_clusters or draw.between(rng, 2, 5))
    root = rng.normal(size=(len(labels), len(labels)))
    return root @ root.T, labels


@function_check(
    "ex-common",
    inputs=_noise,
    edges={"there is one cluster only": lambda rng: _noise(rng, 1)},
    mistakes={
        "you take the noise to be uncorrelated. The covariances within a cluster count too.": (
            lambda C, labels: np.array(
                [
                    np.diag(C)[_members(labels, j)].sum() / len(_members(labels, j)) ** 2
                    for j in range(len(C))
                ]
            )
        ),
        "divide the double sum by the square of the size.": lambda C, labels: np.array(
            [
                C[np.ix_(_members(labels, j), _members(labels, j))].sum() / len(_members(labels, j))
                for j in range(len(C))
            ]
        ),
        "you average the variances. A mean of several values has less variance than each, unless "
        "they move together.": lambda C, labels: np.array(
            [np.diag(C)[_members(labels, j)].mean() for j in range(len(C))]
        ),
    },
)
def _averaged_variances(C: Array, labels: Array) -> Any:
    same = labels[:, None] == labels
    projector = same / same.sum(axis=1)
    return np.diag(projector @ C @ projector.T)


def _entries(rng: np.random.Generator, n_clusters: int = 0) -> tuple[Array, Array]:
    labels = draw.labels(rng, n_clusters or draw.between(rng, 2, 5))
    return rng.normal(size=labels.max() + 1)[labels] + rng.normal(size=len(labels)), labels


def _misfit(v: Array, labels: Array) -> float:
    return float(sum((v[j] - v[_members(labels, j)].mean()) ** 2 for j in range(len(v))))


@function_check(
    "ex-wrong-clusters",
    inputs=_entries,
    edges={
        "the clusters fit perfectly": lambda rng: (np.array([2.0, 5.0, 2.0]), np.array([0, 1, 0]))
    },
    mistakes={
        "divide by p − K: each cluster has used up one number for its mean.": (
            lambda v, labels: _misfit(v, labels) / len(v)
        ),
        "this is the sum of squares, the bias. Divide it by p − K.": _misfit,
        "this is the variance over all entries. Deviations count from the mean of the entry's own "
        "cluster.": lambda v, labels: v.var(ddof=1),
    },
)
def _break_even_noise(v: Array, labels: Array) -> Any:
    return _misfit(v, labels) / (len(v) - len(set(labels.tolist())))
