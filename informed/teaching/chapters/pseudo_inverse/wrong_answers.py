"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def not_scaled(A):
    G = A.T
    for _ in range(200):
        G = 2 * G - G @ A @ G
    return G, 200


def wrong_order(A):
    G = A.T / np.linalg.norm(A, 2) ** 2
    for _ in range(50):
        G = G @ (2 * np.eye(A.shape[1]) - A @ G)
    return G, 50


def only_the_matrix(A):
    return np.linalg.pinv(A)


def starting_point(A):
    return A.T / np.linalg.norm(A, 2) ** 2, 1


def coordinates(x, seen, factor):
    return np.sqrt(np.mean((seen * [1, factor] - x) ** 2))


def counts_the_diagonal(x, seen, factor):
    z = seen * [1, factor]
    return np.sqrt(np.mean((cdist(z, z) - cdist(x, x)) ** 2))


def an_array(x, seen, factor):
    z = seen * [1, factor]
    return np.abs(cdist(z, z) - cdist(x, x))


WRONG = {
    "ex-pi-rank-one": [
        ([0.2, 0.4, 0.4, 0.8], "the lengths of both a and b"),
        ([1, 0.5, 0.5, 0.25], "you inverted each entry"),
        ([0.04, 0.08, 0.08, 0.08], "lower right: not this number"),
    ],
    "ex-pi-diagonal": [
        ([2, 10], "enters squared"),
        ([0.75, 0.19], "by how much it is too large"),
    ],
    "ex-pi-newton": [
        (not_scaled, "NaN or infinity"),
        (wrong_order, "stopped with ValueError"),
        (only_the_matrix, "must return 2 values"),
        (starting_point, "where the iteration starts"),
    ],
    "ex-pi-truncate": [
        (coordinates, "Compare distances of pairs"),
        (counts_the_diagonal, "each point from itself"),
        (an_array, "a single number is expected"),
    ],
}
