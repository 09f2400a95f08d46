"""Typical wrong answers to the exercises on local metrics, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def halves(C, S, d):
    """The part of each squared distance that the row's point contributes, doubled."""
    values, vectors = np.linalg.eigh(S)
    seen = (C - C[:, None]) @ vectors[:, :, -d:] / np.sqrt(values[:, None, -d:])
    return np.sum(seen**2, axis=2)


def no_half(C, S, d):
    return halves(C, S, d) + halves(C, S, d).T


def roots(C, S, d):
    return np.sqrt(no_half(C, S, d) / 2)


def all_directions(C, S, d):
    return no_half(C, S, C.shape[1]) / 2


def smallest_directions(C, S, d):
    values, vectors = np.linalg.eigh(S)
    seen = (C - C[:, None]) @ vectors[:, :, :d] / np.sqrt(values[:, None, :d])
    one_sided = np.sum(seen**2, axis=2)
    return (one_sided + one_sided.T) / 2


def covariances_averaged(C, S, d):
    result = np.empty((len(C), len(C)))
    for i, j in np.ndindex(result.shape):
        values, vectors = np.linalg.eigh((S[i] + S[j]) / 2)
        result[i, j] = np.sum(((C[i] - C[j]) @ vectors[:, -d:]) ** 2 / values[-d:])
    return result


def first(distances, count):
    return np.argsort(distances, axis=1)[:, :count]


def by_euclidean(X, d, n_neighbors):
    return first(cdist(X, X), n_neighbors)


def projected(X, d, n_neighbors):
    centered = X - X.mean(axis=0)
    coordinates = centered @ np.linalg.svd(centered, full_matrices=False)[2][:d].T
    return first(cdist(coordinates, coordinates), n_neighbors)


def every_direction(X, d, n_neighbors):
    return first(cdist(X, X, "mahalanobis"), n_neighbors)


def others_only(X, d, n_neighbors):
    centered = X - X.mean(axis=0)
    _, singular, Vt = np.linalg.svd(centered, full_matrices=False)
    white = centered @ Vt[:d].T / singular[:d]
    return first(cdist(white, white), n_neighbors + 1)[:, 1:]


WRONG = {
    "ex-lm-circle": [
        ([-1 / 12, 3.1416, 2], "the chord"),
        (["1/3", 1.571, 0], "look at the sign"),
        (["-1/6", 1.571, 0], "belongs to the squared distance"),
    ],
    "ex-lm-exponential": [
        ([1, "1/2", "-5/12"], "expanded the product only in part"),
        ([1, "7/12", "7/12"], "the covariances are averaged"),
        ([1, "7/6", "-5/12"], "half of it is asked for"),
    ],
    "ex-lm-middle": [
        ([4, -0.75], "average of two rulers"),
        ([2.97, 0.99], "Lay it in the middle"),
    ],
    "ex-lm-pairs": [
        (no_half, "factor one half"),
        (halves, "not symmetric"),
        (roots, "square roots"),
        (all_directions, "d largest"),
        (smallest_directions, "from small to large"),
        (covariances_averaged, "averages the inverses"),
    ],
    "ex-lm-stretch": [
        (by_euclidean, "by the Euclidean distance"),
        (projected, "standard deviations"),
        (every_direction, "tiny variance"),
        (others_only, "itself is missing"),
    ],
}
