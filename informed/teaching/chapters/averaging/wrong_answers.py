"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def sums(U, labels):
    return np.column_stack([np.bincount(labels, weights=u) for u in U.T])[labels]


def means_of_clusters(U, labels):
    return sums(U, labels)[:3]


def first_column_only(U, labels):
    return (np.bincount(labels, weights=U[:, 0]) / np.bincount(labels))[labels]


def in_place(U, labels):
    for k in range(labels.max() + 1):
        U[labels == k] = U[labels == k].mean(axis=0)
    return U


def own_variance_over_size(C, labels):
    return np.diag(C) / np.bincount(labels)[labels]


def uncorrelated(C, labels):
    sizes = np.bincount(labels)
    return (np.bincount(labels, weights=np.diag(C)) / sizes**2)[labels]


def by_cluster(C, labels):
    return np.array([C[np.ix_(labels == k, labels == k)].mean() for k in np.unique(labels)])


def divided_by_p(v, labels):
    means = np.bincount(labels, weights=v) / np.bincount(labels)
    return np.mean((v - means[labels]) ** 2)


def mean_of_variances(v, labels):
    return np.mean([v[labels == k].var() for k in np.unique(labels)])


def singletons_break(v, labels):
    return np.mean([v[labels == k].var(ddof=1) for k in np.unique(labels)])


def three_clusters(U, labels):
    means = [U[labels == k].mean(axis=0) for k in range(3)]
    return np.array(means)[labels]


def two_columns(U, labels):
    sizes = np.bincount(labels)
    return np.column_stack([(np.bincount(labels, U[:, j]) / sizes)[labels] for j in (0, 1)])


def projector(U, labels):
    same = labels[:, None] == labels
    return same / same.sum(axis=1) @ U


def with_indicator(U, labels):
    H = np.eye(labels.max() + 1)[labels]
    return H @ ((H.T @ U) / H.sum(axis=0)[:, None])


def p_minus_three(v, labels):
    means = np.bincount(labels, weights=v) / np.bincount(labels)
    return np.sum((v - means[labels]) ** 2) / (len(v) - 3)


WRONG = {
    "ex-four-features": [
        ([0.5, 0.5, 0.5, -0.5, 1], "these are sums over the clusters"),
        (["1/3", "1/3", "1/3", -1, "4/3"], "do not forget the factor 1/2"),
        (["1/6", "1/6", "1/6", "-1/2", 1], "its squared length is no longer one"),
    ],
    "ex-bincount": [
        (sums, "you add up each cluster"),
        (means_of_clusters, "is expected"),
        (first_column_only, "is expected"),
        (in_place, "changes its argument `U` in place"),
        (three_clusters, ""),
        (two_columns, "is expected"),
        (projector, "megabytes at once"),
        (with_indicator, "megabytes at once"),
    ],
    "ex-common": [
        (own_variance_over_size, "values are right"),
        (uncorrelated, "The covariances within a cluster count too"),
        (by_cluster, "is expected"),
    ],
    "ex-wrong-clusters": [
        (divided_by_p, "divide by p − K"),
        (mean_of_variances, "the result is not right"),
        (singletons_break, "NaN or infinity"),
        (p_minus_three, "the result is not right"),
    ],
}
