"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA


def as_matrix(X):
    return squareform(pdist(X / X.std(axis=0, ddof=1)))


def forgets_n_minus_one(X):
    return pdist((X - X.mean(axis=0)) / np.std(X, axis=0))


def divides_by_variance(X):
    return pdist(X / np.diag(np.cov(X.T)))


def projections(X, d):
    return pdist(PCA(d).fit_transform(X))


def all_directions(X, d):
    return pdist(PCA(whiten=True).fit_transform(X)[:, : X.shape[1]])


def squared(X, d):
    return pdist(PCA(d, whiten=True).fit_transform(X), "sqeuclidean")


def always_two(X, d):
    return pdist(PCA(2, whiten=True).fit_transform(X))


WRONG = {
    "ex-hv-line": [
        ([2, 0], "the hidden variance is 4"),
        ([1, 5], "what does the pseudo-inverse do"),
        ([1, 1], "distance of (3, 4) and (7, 1): not this number"),
        ([True, False], "True is not a number"),
    ],
    "ex-hv-shapes": [
        ([0.4714, 4.899], "each coordinate has half"),
        (["2/3", 34.81], "variance of its own"),
        (["3/2", 4.899], "factor for R = 3: not this number"),
    ],
    "ex-hv-standardise": [
        (as_matrix, "is expected"),
        (forgets_n_minus_one, "divides by n − 1"),
        (divides_by_variance, "you divide by the variances"),
    ],
    "ex-hv-noise": [
        (projections, "divide by the standard deviation along each"),
        (squared, "the squares of what is asked"),
        (all_directions, "values are right"),
        (always_two, "values are right"),
    ],
}
