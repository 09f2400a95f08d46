"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np

from informed.clusters import average_over_clusters


def scaled(U, labels):
    averaged = average_over_clusters(U, labels)
    return averaged / np.linalg.norm(averaged, axis=0)


def orthonormal_first(U, labels):
    return average_over_clusters(np.linalg.qr(U)[0], labels)


def both_factors(U, labels):
    return np.linalg.qr(average_over_clusters(U, labels))


def not_cut(eigenvalues, floor, gamma):
    ell = eigenvalues / floor - 1
    return np.sqrt(2 * np.sum(1 - (1 - gamma / ell**2) / (1 + gamma / ell)))


def squared(eigenvalues, floor, gamma):
    ell = eigenvalues / floor - 1
    cosines = np.where(ell > np.sqrt(gamma), (1 - gamma / ell**2) / (1 + gamma / ell), 0)
    return 2 * np.sum(1 - cosines)


def one_for_each(eigenvalues, floor, gamma):
    ell = eigenvalues / floor - 1
    return np.where(ell > np.sqrt(gamma), (1 - gamma / ell**2) / (1 + gamma / ell), 0)


WRONG = {
    "ex-tp-two": [
        ([130, 30, 0.4], "Those of Σ lie higher by the floor"),
        ([80.4, 30.4, 0.4], "has the eigenvalues 2 and 0"),
        ([130.4, 30.4, 1], "all others: not this number"),
    ],
    "ex-tp-fewer": [
        (scaled, "not orthogonal to each other"),
        (orthonormal_first, "not orthonormal any more"),
        (both_factors, "rows of different lengths"),
    ],
    "ex-tp-predict": [
        (not_cut, "below the threshold the cosine is zero"),
        (squared, "the squares of what is asked"),
        (one_for_each, "a single number is expected"),
    ],
}
