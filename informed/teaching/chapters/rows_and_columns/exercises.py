"""Checks for the exercises of the chapter on rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from informed.alternating import AlternatingInformedClustering
from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, Thrift, function_check, number_check

number_check(
    "ex-rc-hand",
    {"largest singular value": 2 * np.sqrt(3), "cost as given": 10, "cost after the move": 6},
    mistakes={
        "the first number is a squared singular value. Take the root.": [12, 10, 6],
        "this is the largest singular value for the table as it stands. Centre the features "
        "first.": [np.linalg.norm([[6, 0], [2, 2 * np.sqrt(2)]], 2), None, None],
        "these are the sums of squares that the tiles catch. The cost is what is left.": [
            None,
            12,
            16,
        ],
    },
)


def _labeled_table(
    rng: np.random.Generator, n: int = 0, p: int = 0, n_rows: int = 0, n_columns: int = 0
) -> tuple[Array, Array, Array]:
    n, p = n or draw.between(rng, 9, 14), p or draw.between(rng, 7, 12)
    rows = draw.labels(rng, n_rows or draw.between(rng, 2, 5), n)
    columns = draw.labels(rng, n_columns or draw.between(rng, 2, 4), p)
    return rng.normal(size=(n, p)) + 3 * rng.normal(size=p), rows, columns


def _projector(labels: Array) -> Array:
    same = labels[:, None] == labels
    projector: Array = same / same.sum(axis=1)
    return projector


def _distance(X: Array, rows: Array, columns: Array) -> float:
    return float(np.sum((X - _projector(rows) @ X @ _projector(columns)) ** 2))


@function_check(
    "ex-rc-cost",
    inputs=_labeled_table,
    edges={
        "all samples are in one cluster": lambda rng: _labeled_table(rng, n_rows=1),
        "all features are in one cluster": lambda rng: _labeled_table(rng, n_columns=1),
    },
    thrift=[
        Thrift(
            lambda rng: _labeled_table(rng, 1200, 4, 3, 2),
            lambda X, rows, columns: 12 * X.nbytes,
            "form no matrix of all samples by all samples.",
        ),
        Thrift(
            lambda rng: _labeled_table(rng, 4, 1200, 2, 3),
            lambda X, rows, columns: 12 * X.nbytes,
            "form no matrix of all features by all features.",
        ),
    ],
    mistakes={
        "the features are not centred. Subtract the mean of each column first.": _distance,
        "you average over the samples only. A tile is an average over features too.": (
            lambda X, rows, columns: _distance(X - X.mean(axis=0), rows, np.arange(X.shape[1]))
        ),
        "you average over the features only. A tile is an average over samples too.": (
            lambda X, rows, columns: _distance(X - X.mean(axis=0), np.arange(len(X)), columns)
        ),
        "this is the sum of squares that the tiles catch. The cost is what is left.": (
            lambda X, rows, columns: (
                np.sum((X - X.mean(axis=0)) ** 2) - _distance(X - X.mean(axis=0), rows, columns)
            )
        ),
    },
)
def _board_cost(X: Array, rows: Array, columns: Array) -> Any:
    return _distance(X - X.mean(axis=0), rows, columns)


def _labeled_table_and_rank(
    rng: np.random.Generator, d: int = 0
) -> tuple[Array, Array, Array, int]:
    n_rows, n_columns = draw.between(rng, 4, 6), draw.between(rng, 3, 5)
    n, p = draw.between(rng, 14, 18), draw.between(rng, 12, 16)
    table = _labeled_table(rng, n, p, n_rows, n_columns)
    return *table, d or draw.between(rng, 1, 3)


def _leading(table: Array, d: int) -> Array:
    """Leading eigenvectors of the p × p matrix, not singular vectors of the small one."""
    vectors: Array = np.linalg.eigh(table.T @ table)[1][:, ::-1][:, :d]
    return vectors


@function_check(
    "ex-rc-turn",
    inputs=_labeled_table_and_rank,
    edges={"there is one direction only": lambda rng: _labeled_table_and_rank(rng, 1)},
    # Directions are known up to a rotation among them; the space counts.
    view=lambda U: np.asarray(U) @ np.asarray(U).T,
    mistakes={
        "these are informed by the clusters of features only. Average over the samples of a "
        "cluster too.": (
            lambda X, rows, columns, d: _leading((X - X.mean(axis=0)) @ _projector(columns), d)
        ),
        "these are not constant on clusters of features. Average over those too.": (
            lambda X, rows, columns, d: _leading(_projector(rows) @ (X - X.mean(axis=0)), d)
        ),
        "the features are not centred, so the first direction is spent on their level.": (
            lambda X, rows, columns, d: _leading(_projector(rows) @ X @ _projector(columns), d)
        ),
    },
)
def _feature_directions(X: Array, rows: Array, columns: Array, d: int) -> Any:
    return _leading(_projector(rows) @ (X - X.mean(axis=0)) @ _projector(columns), d)


def _table_and_count(rng: np.random.Generator, n_clusters: int = 0) -> tuple[Array, int]:
    n, p = draw.between(rng, 14, 20), draw.between(rng, 10, 14)
    table = rng.normal(size=(n, p)) + 3 * rng.normal(size=p)
    return table, n_clusters or draw.between(rng, 2, 4)


def _cost_and_total(X: Array, n_clusters: int) -> tuple[float, float]:
    found = AlternatingInformedClustering(n_clusters, n_clusters, n_init=5, random_state=0).fit(X)
    centered = X - X.mean(axis=0)
    cost = _distance(centered, found.row_labels_, found.column_labels_)
    return cost, float(np.sum(centered**2))


@function_check(
    "ex-rc-null",
    inputs=_table_and_count,
    edges={
        "there are two clusters on each side": lambda rng: _table_and_count(rng, 2),
        "there are four clusters on each side": lambda rng: _table_and_count(rng, 4),
    },
    trials=2,
    mistakes={
        "this is the share that is left. Subtract it from one.": (
            lambda X, n_clusters: np.divide(*_cost_and_total(X, n_clusters))
        ),
        "you divide by the sum of squares of the table as it stands. Centre the features first.": (
            lambda X, n_clusters: 1 - _cost_and_total(X, n_clusters)[0] / np.sum(X**2)
        ),
    },
)
def _share(X: Array, n_clusters: int) -> Any:
    cost, total = _cost_and_total(X, n_clusters)
    return 1 - cost / total
