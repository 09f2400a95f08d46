"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

from informed.clusters import average_over_clusters, indicator


def small_space(X, labels, d):
    return PCA(d).fit(X @ indicator(labels)).components_.T


def plain_means(X, labels, d):
    H = indicator(labels)
    return H @ PCA(d).fit(X @ H / np.sqrt(np.bincount(labels))).components_.T


def transposed(X, labels, d):
    H = indicator(labels)
    return (H @ PCA(d).fit(X @ H).components_.T).T


def averaged(X, labels, d):
    return average_over_clusters(PCA(d).fit(X).components_.T, labels)


def not_orthonormal(X, labels, U):
    return average_over_clusters(np.cov(X.T) @ U, labels)


def no_average(X, labels, U):
    return np.linalg.qr(np.cov(X.T) @ U)[0]


def both_factors(X, labels, U):
    return np.linalg.qr(average_over_clusters(np.cov(X.T) @ U, labels))


def always_two(X, labels, d):
    H = indicator(labels)
    return H @ PCA(2).fit(X @ H).components_.T


WRONG = {
    "ex-one-dimension": [
        ([0.5, 0.25, 0.8, 1.1], "For which α is it above −1"),
        ([0.25, 0.125, 0.8, 1.0], "goes on beyond 1"),
        ([0.25, 0.2, 0.8, 1.1], "best α: not this number"),
    ],
    "ex-sklearn-pca": [
        (small_space, "is expected"),
        (plain_means, "a small cluster counts as much as a large one"),
        (transposed, "Rows and columns are exchanged"),
        (averaged, "neither orthonormal nor optimal"),
        (always_two, "is expected"),
    ],
    "ex-power": [
        (not_orthonormal, "are not orthonormal"),
        (no_average, "average over the clusters after"),
        (both_factors, "rows of different lengths"),
    ],
}
