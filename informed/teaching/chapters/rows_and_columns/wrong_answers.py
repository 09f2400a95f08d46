"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np

from informed import AlternatingInformedClustering
from informed.clusters import average_over_clusters, indicator


def not_centered(X, rows, columns):
    board = average_over_clusters(average_over_clusters(X, rows).T, columns).T
    return np.sum((X - board) ** 2)


def rows_only(X, rows, columns):
    centered = X - X.mean(axis=0)
    return np.sum((centered - average_over_clusters(centered, rows)) ** 2)


def root_of_the_cost(X, rows, columns):
    return np.sqrt(not_centered(X - X.mean(axis=0), rows, columns))


def one_clustering(X, rows, columns, d):
    C = indicator(columns)
    return C @ np.linalg.svd((X - X.mean(axis=0)) @ C)[2][:d].T


def samples_instead(X, rows, columns, d):
    R = indicator(rows)
    B = R.T @ (X - X.mean(axis=0)) @ indicator(columns)
    return R @ np.linalg.svd(B)[0][:, :d]


def level_kept(X, rows, columns, d):
    C = indicator(columns)
    return C @ np.linalg.svd(indicator(rows).T @ X @ C)[2][:d].T


def what_is_left(X, n_clusters):
    found = AlternatingInformedClustering(n_clusters, n_clusters, n_init=5, random_state=0).fit(X)
    return found.history_[-1] / np.sum((X - X.mean(axis=0)) ** 2)


def total_with_levels(X, n_clusters):
    found = AlternatingInformedClustering(n_clusters, n_clusters, n_init=5, random_state=0).fit(X)
    return 1 - found.history_[-1] / np.sum(X**2)


def projectors(X, rows, columns):
    R, C = indicator(rows), indicator(columns)
    centered = X - X.mean(axis=0)
    return np.sum((centered - R @ R.T @ centered @ (C @ C.T)) ** 2)


def three_by_two(X, rows, columns):
    centered = X - X.mean(axis=0)
    cost = np.sum(centered**2)
    for r in range(3):
        for c in range(2):
            tile = centered[np.ix_(rows == r, columns == c)]
            cost -= tile.sum() ** 2 / max(tile.size, 1)
    return cost


WRONG = {
    "ex-rc-hand": [
        ([12, 10, 6], "squared singular value"),
        ([np.sqrt(12), 12, 16], "cost is what is left"),
        ([6.40, 10, 6], "Centre the features"),
    ],
    "ex-rc-cost": [
        (not_centered, "not centred"),
        (rows_only, "over the samples only"),
        (root_of_the_cost, "square"),
        (projectors, "megabytes at once"),
        (three_by_two, "the result is not right"),
    ],
    "ex-rc-turn": [
        (one_clustering, "clusters of features only"),
        (samples_instead, "shape"),
        (level_kept, "level"),
    ],
    "ex-rc-null": [
        (what_is_left, "share that is left"),
        (total_with_levels, "Centre the features first"),
    ],
}
