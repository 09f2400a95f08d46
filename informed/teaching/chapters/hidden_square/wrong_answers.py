"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def density_two_x(u):
    return np.sqrt(u)


def outside(u):
    return (-1 - np.sqrt(1 + 8 * u)) / 2


def squared_root_forgotten(u):
    return ((1 + 8 * u) - 1) / 2


def not_squared(D):
    J = np.eye(len(D)) - 1 / len(D)
    return -J @ D @ J / 2


def no_half(D):
    J = np.eye(len(D)) - 1 / len(D)
    return -J @ D**2 @ J


def sign(D):
    J = np.eye(len(D)) - 1 / len(D)
    return J @ D**2 @ J / 2


WRONG = {
    "ex-hs-strip": [
        ([4, 5.62, 6], "the constant function is the trivial one"),
        ([3, 31.58, 6], "stretched by their roots"),
        ([3, 5.62, 5], "Which one comes next?"),
    ],
    "ex-hs-density": [
        (density_two_x, "this gives the density 2x"),
        (outside, "outside [0, 1]"),
        (squared_root_forgotten, "values are right"),
    ],
    "ex-hs-large": [
        (not_squared, "square the distances first"),
        (no_half, "constant factor, the same for all inputs"),
        (sign, "opposite sign"),
    ],
}
