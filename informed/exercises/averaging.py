"""Checks for the exercises of the chapter on averaging directions over clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.exercises.checking import Array, function_check, number_check

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


def _uneven_clusters(rng: np.random.Generator) -> tuple[Array, Array]:
    labels = rng.permutation(np.repeat([0, 1, 2], [1, 3, 5]))
    return rng.normal(size=(9, 2)), labels


def _members(labels: Array, feature: int) -> list[int]:
    return [j for j in range(len(labels)) if labels[j] == labels[feature]]


@function_check(
    "ex-bincount",
    inputs=_uneven_clusters,
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
    return np.array([[U[_members(labels, j), k].mean() for k in range(2)] for j in range(len(U))])


def _noise(rng: np.random.Generator) -> tuple[Array, Array]:
    labels = rng.permutation(np.repeat([0, 1, 2], [1, 2, 4]))
    root = rng.normal(size=(7, 7))
    return root @ root.T, labels


@function_check(
    "ex-common",
    inputs=_noise,
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


def _entries(rng: np.random.Generator) -> tuple[Array, Array]:
    labels = rng.permutation(np.repeat([0, 1, 2], [1, 3, 6]))
    return rng.normal(size=3)[labels] + rng.normal(size=10), labels


def _misfit(v: Array, labels: Array) -> float:
    return float(sum((v[j] - v[_members(labels, j)].mean()) ** 2 for j in range(len(v))))


@function_check(
    "ex-wrong-clusters",
    inputs=_entries,
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
