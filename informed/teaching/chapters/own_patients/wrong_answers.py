"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def minus_grand_mean(X, sites):
    return X - X.mean(axis=0)


def z_scores(X, sites):
    out = np.array(X)
    for site in set(sites):
        rows = [s == site for s in sites]
        out[rows] = (X[rows] - X[rows].mean(0)) / X[rows].std(0)
    return out


def per_patient(X, sites):
    return (X.T - X.mean(axis=1)).T


def only_first_site(X, sites):
    out = np.array(X)
    out[sites == sites[0]] -= X[sites == sites[0]].mean(axis=0)
    return out


def log_errors(lower, upper):
    return np.log(upper / lower) / (2 * 1.959964)


def plain_mean(ratios, lower, upper):
    center = np.log(ratios).mean()
    width = 1.959964 * np.sqrt((log_errors(lower, upper) ** 2).sum()) / len(ratios)
    return np.exp([center, center - width, center + width])


def by_error(ratios, lower, upper):
    weights = 1 / log_errors(lower, upper)
    center = weights @ np.log(ratios) / weights.sum()
    width = 1.959964 / np.sqrt(weights.sum())
    return np.exp([center, center - width, center + width])


def on_the_ratios(ratios, lower, upper):
    weights = (2 * 1.959964 / (upper - lower)) ** 2
    center = weights @ ratios / weights.sum()
    width = 1.959964 / np.sqrt(weights.sum())
    return np.array([center, center - width, center + width])


def only_the_center(ratios, lower, upper):
    weights = 1 / log_errors(lower, upper) ** 2
    return np.exp(weights @ np.log(ratios) / weights.sum())


WRONG = {
    "ex-op-batch": [
        ([6, 0, 1, -1], "about their common mean"),
        (["1/7", 0, 1, -1], "share within the hospitals"),
        (["6/7", 0, 1, 1], "lowest value of its own hospital"),
    ],
    "ex-op-center": [
        (minus_grand_mean, "what lies between them stays"),
        (z_scores, "divide by nothing"),
        (per_patient, "a row is a patient"),
        (only_first_site, "values are right"),
    ],
    "ex-op-pool": [
        (plain_mean, "narrow intervals should count for more"),
        (by_error, "one over the *variance*"),
        (on_the_ratios, "must cancel"),
        (only_the_center, "3"),
    ],
}
