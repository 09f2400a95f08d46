"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def not_counting_itself(p, null_p):
    return np.mean(null_p.min(axis=1)[:, None] <= p, axis=0)


def each_on_its_own(p, null_p):
    return np.array([(1 + np.sum(null_p[:, j] <= p[j])) / (1 + len(null_p)) for j in range(len(p))])


def only_the_best(p, null_p):
    return (1 + np.sum(null_p.min(axis=1) <= p.min())) / (1 + len(null_p))


def coordinates(X, d, power):
    centered = X - X.mean(axis=0)
    left, singular, _ = np.linalg.svd(centered, full_matrices=False)
    return (left * singular)[:, :d] / (singular[:d] ** 2 / (len(X) - 1)) ** power


def not_squared(X, d, s):
    return coordinates(X, d, s)


def always_whitened(X, d, s):
    return coordinates(X, d, 0.5)


def all_directions(X, d, s):
    return coordinates(X, X.shape[1], s / 2)


def not_centered(X, d, s):
    left, singular, _ = np.linalg.svd(X, full_matrices=False)
    return (left * singular)[:, :d] / (singular[:d] ** 2 / (len(X) - 1)) ** (s / 2)


def strictly_smaller(p, null_p):
    best = null_p.min(axis=1)
    return (1 + np.sum(best[:, None] < p, axis=0)) / (1 + len(null_p))


def centered_for_the_directions_only(X, d, s):
    _, singular, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return X @ Vt[:d].T * (singular[:d] ** 2 / (len(X) - 1)) ** (-s / 2)


WRONG = {
    "ex-cr-worst": [
        ([0.03, 0.05, 0, 0.1], "one and the same number"),
        ([0.03, 0.1, 0.05, 0.1], "never that small"),
        ([0.03, 0.1, 0, 0.05], "(d)"),
    ],
    "ex-cr-six": [
        ([0.5, 0.5, 0.5, 0], "six and five"),
        (["2/3", "2/3", "1/2", 0], "no longer at risk"),
        (["2/3", "1/2", "1/2", "1/2"], "(d)"),
    ],
    "ex-cr-minp": [
        (not_counting_itself, "the observed order is one of the shuffles"),
        (each_on_its_own, "the best of the row"),
        (only_the_best, "expected"),
        (strictly_smaller, "exactly as small counts"),
        (lambda p, null_p: np.minimum(1, p * len(p)), "Bonferroni"),
    ],
    "ex-cr-partial": [
        (not_squared, "half of it is enough"),
        (always_whitened, "Where does s enter?"),
        (not_centered, "centre the columns"),
        (all_directions, "shape"),
        (centered_for_the_directions_only, "yours have a mean"),
    ],
}
