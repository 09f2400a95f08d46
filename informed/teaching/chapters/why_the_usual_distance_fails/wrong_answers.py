"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score


def condensed(X):
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered @ centered.T)
    return pdist(np.sqrt(len(X) - 1) * vectors[:, values > 1e-10 * values.max()])


def not_scaled(X):
    return squareform(condensed(X)) / np.sqrt(len(X) - 1)


def keeps_zeros(X):
    centered = X - X.mean(axis=0)
    return squareform(pdist(np.sqrt(len(X) - 1) * np.linalg.eigh(centered @ centered.T)[1]))


def centers_in_place(X):
    X -= X.mean(axis=0)
    return squareform(condensed(X))


def separation(d, group):
    differ = pdist(group[:, None].astype(float)) > 0
    return roc_auc_score(differ, np.round(d, 6))


def not_whitened(X, group, ks):
    Z = PCA(len(X) - 1).fit_transform(X)
    return [separation(pdist(Z[:, :k]), group) for k in ks]


def one_direction_each(X, group, ks):
    Z = PCA(len(X) - 1, whiten=True).fit_transform(X)
    return [separation(pdist(Z[:, k - 1 : k]), group) for k in ks]


def one_number(X, group, ks):
    return separation(pdist(PCA(ks[0], whiten=True).fit_transform(X)), group)


def by_covariance(X):
    precision = np.linalg.pinv(np.cov(X, rowvar=False).reshape(X.shape[1], -1), hermitian=True)
    return squareform(pdist(X, "mahalanobis", VI=precision))


def absolute_limit(X):
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered @ centered.T)
    return squareform(pdist(np.sqrt(len(X) - 1) * vectors[:, values > 1e-8]))


def ties_to_the_right(X, group, ks):
    Z = PCA(len(X) - 1, whiten=True).fit_transform(X)
    differ = pdist(group[:, None].astype(float)) > 0
    distances = [pdist(Z[:, :k]) for k in ks]
    return [np.mean(d[differ][:, None] > d[~differ]) for d in np.round(distances, 6)]


WRONG = {
    "ex-triangle": [
        ([4, 4, 4], "squared distances"),
        ([1, 1, 1.414], "Euclidean"),
        ([2, 2, "two"], "d(x2, x3): 'two' is not a number"),
    ],
    "ex-duplicate": [
        ([0, 12**0.5, 12**0.5], "share one corner"),
        ([0, 9, 12], "squared distances"),
        ([0, 3], "you give 2 numbers"),
    ],
    "ex-gram": [
        (condensed, "is expected"),
        (not_scaled, "constant factor, which depends on the input"),
        (keeps_zeros, "eigenvalue is zero"),
        (centers_in_place, "changes its argument `X` in place"),
        (by_covariance, "megabytes at once"),
        (absolute_limit, "its values are tiny"),
    ],
    "ex-directions": [
        (not_whitened, "did not whiten"),
        (one_number, "an array of shape ("),
        (one_direction_each, "take the first k together"),
        (ties_to_the_right, "count such ties one half"),
    ],
}
