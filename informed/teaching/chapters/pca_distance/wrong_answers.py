"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def counts_all(variances, limits):
    return int((variances > limits).sum())


def a_mask(variances, limits):
    return variances > limits


def one_too_many(variances, limits):
    return int(np.argmin(variances > limits)) + 1


def cosine(variances, d):
    return np.sqrt(1 - variances[d:].mean() / variances[:d])


def all_directions(variances, d):
    return 1 - variances[d:].mean() / variances


def median_floor(variances, d):
    return 1 - np.median(variances[d:]) / variances[:d]


def not_cut_off(strengths, gamma):
    return (1 - gamma / strengths**2) / (1 + gamma / strengths)


def threshold_at_gamma(strengths, gamma):
    return np.where(strengths > gamma, not_cut_off(strengths, gamma), 0)


def compares_whole_arrays(strengths, gamma):
    if strengths > np.sqrt(gamma):
        return not_cut_off(strengths, gamma)
    return 0 * strengths


def first_not_above(variances, limits):
    return int(np.argmin(variances > limits))


def above_or_on(variances, limits):
    return int(np.argmin(np.append(variances >= limits, False)))


WRONG = {
    "ex-pca-cross": [
        ([6, 6, 3, 6, 0, 1.5], "this is the square of what is asked"),
        ([2.828, 2.828, 2, 2.828, 0, 1.414], "divides by n − 1"),
        ([4, 2, 2.236, 4, 0, 2], "divide each coordinate by its standard deviation"),
    ],
    "ex-pca-parallel": [
        (counts_all, "Stop at the first that is not"),
        (a_mask, "a single number is expected"),
        (one_too_many, "the result is not right"),
        (first_not_above, "all variances are above their limits"),
        (above_or_on, "exactly at its limit"),
    ],
    "ex-pca-undo": [
        (cosine, "the square roots of what is asked"),
        (all_directions, "is expected"),
        (median_floor, "values are right"),
    ],
    "ex-pca-threshold": [
        (not_cut_off, "below the threshold the formula is negative"),
        (threshold_at_gamma, "values are right"),
        (compares_whole_arrays, "stopped with ValueError"),
    ],
}
