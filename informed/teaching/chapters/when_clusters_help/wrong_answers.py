"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def forgets_the_signal(n, q, strengths, noise):
    return q / n * np.sum(noise**2 * (strengths + noise**2) / strengths**2)


def noise_as_variance(n, q, strengths, noise):
    return (q - len(strengths)) / n * np.sum(noise * (strengths + noise) / strengths**2)


def one_each(n, q, strengths, noise):
    return (q - len(strengths)) / n * noise**2 * (strengths + noise**2) / strengths**2


def no_square(strength, noise, squared_cosine):
    signal = strength * squared_cosine
    return np.sqrt(signal / (signal + noise**2))


def cosine_twice(strength, noise, squared_cosine):
    signal = strength * squared_cosine**2
    return signal / (signal + noise**2)


def count(U, labels, found):
    return np.sum(labels != found)


def misfit_itself(U, labels, found):
    means = np.array([U[found == k].mean(axis=0) for k in found])
    return np.sum((U - means) ** 2)


WRONG = {
    "ex-wch-window": [
        ([500, 5, 1000, 10], "enters squared in the threshold"),
        ([250, 2.5, 250, 2.5], "half takes more samples"),
        ([250, 1000, 2.5, 10], "in the other order"),
    ],
    "ex-wch-first-order": [
        (forgets_the_signal, "an error can only point into the others"),
        (noise_as_variance, "its variance enters"),
        (one_each, "a single number is expected"),
    ],
    "ex-wch-one-direction": [
        (no_square, "the squares have its square"),
        (cosine_twice, "the squared cosine already"),
    ],
    "ex-wch-moved": [
        (count, "each counts by what it carries"),
        (misfit_itself, "not the means of the found ones"),
    ],
}
