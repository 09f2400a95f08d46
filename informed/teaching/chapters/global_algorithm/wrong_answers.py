"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler


def each_by_itself(X, X_new):
    return StandardScaler().fit_transform(X), StandardScaler().fit_transform(X_new)


def new_ones_only(X, X_new):
    return StandardScaler().fit(X).transform(X_new)


def by_rows(X, X_new):
    centered = X - X.mean(axis=1, keepdims=True)
    return centered / X.std(axis=1, keepdims=True), X_new - X_new.mean(axis=1, keepdims=True)


def largest(U, V):
    return np.linalg.norm(U.T @ V, 2)


def all_cosines(U, V):
    return np.linalg.svd(U.T @ V, compute_uv=False)


def column_by_column(U, V):
    return min(abs(u @ v) for u, v in zip(U.T, V.T, strict=True))


WRONG = {
    "ex-four-samples": [
        ([6, 6, 3], "this is the square of what is asked"),
        ([2.828, 2.828, 2], "the book divides by n − 1"),
        ([1.732, 2.449, 1.732], "has the component 2√2"),
    ],
    "ex-units": [
        (each_by_itself, "the same map as the samples of the fit"),
        (new_ones_only, "must return 2 values"),
        (by_rows, "the result is not right"),
    ],
    "ex-choose-d": [
        (largest, "the cosine of the smallest angle"),
        (all_cosines, "a single number is expected"),
        (column_by_column, "compare the spaces"),
    ],
}
