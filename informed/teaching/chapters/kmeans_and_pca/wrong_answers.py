"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def cost(Y, labels):
    return sum(np.sum((Y[labels == k] - Y[labels == k].mean(axis=0)) ** 2) for k in set(labels))


def not_squared(Y, labels, d):
    return cost(Y, labels) / np.linalg.svd(Y, compute_uv=False)[d:].sum()


def whole_mean(Y, labels, d):
    mu = np.linalg.svd(Y, compute_uv=False) ** 2
    return sum(np.sum((Y[labels == k] - Y[labels == k].mean()) ** 2) for k in set(labels)) / (
        mu[d:].sum()
    )


def variances(Y, labels, d):
    mu = np.linalg.svd(Y, compute_uv=False) ** 2 / (Y.shape[1] - 1)
    return cost(Y, labels) / mu[d:].sum()


def same_count(X, d):
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    return tuple(np.sum(np.linalg.svd(Y, compute_uv=False)[d:] ** 2) for Y in (twice, once))


def only_one(X, d):
    twice = X - X.mean(axis=0) - X.mean(axis=1, keepdims=True) + X.mean()
    return np.sum(np.linalg.svd(twice, compute_uv=False)[d:] ** 2)


def as_variances(X, d):
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    mu, nu = (np.linalg.svd(Y, compute_uv=False) ** 2 / (len(X) - 1) for Y in (twice, once))
    return mu[d:].sum(), nu[d + 1 :].sum()


def always_two(Y, labels, d):
    return cost(Y, labels) / np.sum(np.linalg.svd(Y, compute_uv=False)[2:] ** 2)


def bounds_for_two(X, d):
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    mu, nu = (np.linalg.svd(Y, compute_uv=False) ** 2 for Y in (twice, once))
    return mu[2:].sum(), nu[3:].sum()


WRONG = {
    "ex-km-four": [
        ([52, 1, 1, "1/26"], "each deviation counts twice"),
        ([26, 2, 2, "1/26"], "do not divide"),
        ([52, 2, 2, "1/13"], "squared gap: not this number"),
    ],
    "ex-km-contrasts": [
        (np.eye(4)[:, :2], "do not sum to zero"),
        ([[1, 1], [-1, 1], [0, -1], [0, -1]], "do not have length one"),
        ([[0.5, 0.5], [0.5, 0.5], [-0.5, -0.5], [-0.5, -0.5]], "not orthogonal to each other"),
        ([[0.707, 0.5], [-0.707, 0.5], [0, -0.707]], "four rows of two numbers"),
        ([[0.707, 0], [-0.707, 0], [0, 0.707], [0, -0.707]], "their rows of Q must be equal"),
        ([["a", "b"]] * 4, "cannot be tried"),
    ],
    "ex-km-read": [
        (not_squared, "singular values must be squared"),
        (whole_mean, "the result is not right"),
        (variances, "the result is not right"),
        (always_two, "the result is not right"),
    ],
    "ex-km-bounds": [
        (same_count, "how many does the bound leave out"),
        (only_one, "must return 2 values"),
        (as_variances, "which depends on the input"),
        (bounds_for_two, "0 of 2 values"),
    ],
    "ex-km-null": [
        (3, "the largest value that is possible"),
        (1.687, "this is the gap"),
        (2.5, "not this number"),
    ],
}
