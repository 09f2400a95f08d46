"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def unbiased(X, U):
    p, d = U.shape
    variances = (X @ U).var(axis=0, ddof=1)
    return variances, (X.var(axis=0, ddof=1).sum() - variances.sum()) / (p - d)


def not_centered(X, U):
    p, d = U.shape
    variances = np.mean((X @ U) ** 2, axis=0)
    return variances, (np.mean(X**2, axis=0).sum() - variances.sum()) / (p - d)


def mean_variance(X, U):
    variances = (X @ U).var(axis=0)
    return variances, (X.var(axis=0).sum() - variances.sum()) / len(U)


def variances_only(X, U):
    return (X @ U).var(axis=0)


def one_setting_for_all(validation, test):
    best = validation.mean(axis=0).argmax()
    return np.mean(test.max(axis=1) - test[:, best])


def mean_before_maximum(validation, test):
    honest = test[np.arange(len(test)), validation.argmax(axis=1)]
    return test.mean(axis=0).max() - honest.mean()


def against_validation(validation, test):
    return (test.max(axis=1) - validation.max(axis=1)).mean()


def split_by_split(validation, test):
    return test.max(axis=1) - test[np.arange(len(test)), validation.argmax(axis=1)]


def dense(X, U):
    S = np.cov(X, rowvar=False, bias=True)
    variances = np.diag(U.T @ S @ U)
    return variances, (np.trace(S) - variances.sum()) / (U.shape[0] - U.shape[1])


def last_of_the_best(validation, test):
    last = validation.shape[1] - 1 - validation[:, ::-1].argmax(axis=1)
    return np.mean(test.max(axis=1) - test[np.arange(len(test)), last])


WRONG = {
    "ex-ou-hand": [
        ([36, 4 / 9 + 1 / 4 + 6, 2.75], "must not count across them too"),
        ([36, 61 / 36, 3.25], "what stands above the floor counts"),
        ([36, 36 + 4 + 1, 2.75], "you multiply"),
    ],
    "ex-ou-fit": [
        (unbiased, "the divisor is n here"),
        (not_centered, "subtract the mean"),
        (mean_variance, "shared by p − d directions"),
        (variances_only, "2"),
        (dense, "megabytes at once"),
    ],
    "ex-ou-optimism": [
        (one_setting_for_all, "not right"),
        (mean_before_maximum, "take the maximum before the mean"),
        (against_validation, "measured on the test samples, too"),
        (split_by_split, "number"),
        (last_of_the_best, "not right"),
    ],
}
