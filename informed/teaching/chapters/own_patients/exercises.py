"""Checks for the exercises of the chapter on the paper's own patients."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-op-batch",
    {"share before": "6/7", "share after": 0, "side of 5": 1, "side of 5, centred": -1},
    mistakes={
        "divide by the variation of all six about their common mean, not by that within.": [
            6,
            None,
            None,
            None,
        ],
        "this is the share within the hospitals; the share between them is asked for.": [
            "1/7",
            None,
            None,
            None,
        ],
        "after centring, both hospitals have the mean zero: nothing is left between them.": [
            None,
            "6/7",
            None,
            None,
        ],
        "5 is the lowest value of its own hospital.": ["6/7", 0, 1, 1],
    },
)


def _hospitals(rng: np.random.Generator, n_sites: int = 0) -> tuple[Array, Array]:
    number = draw.labels(rng, n_sites or draw.between(rng, 2, 4), smallest=2)
    n, p = len(number), draw.between(rng, 2, 5)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p)
    X += (rng.normal(size=(number.max() + 1, p)) * (1 + np.arange(number.max() + 1))[:, None])[
        number
    ]
    return X, np.array(["A", "B", "C", "D"])[number]


def _with_a_single_patient(rng: np.random.Generator) -> tuple[Array, Array]:
    X, sites = _hospitals(rng)
    return np.vstack([X, rng.normal(size=X.shape[1])]), np.append(sites, "E")


def _overall(X: Array, sites: Array) -> Any:
    return X - X.mean(axis=0)


def _standardized(X: Array, sites: Array) -> Any:
    changed = X.copy()
    for site in np.unique(sites):
        own = sites == site
        changed[own] = (X[own] - X[own].mean(axis=0)) / X[own].std(axis=0)
    return changed


def _one_number_a_site(X: Array, sites: Array) -> Any:
    changed = X.copy()
    for site in np.unique(sites):
        changed[sites == site] -= X[sites == site].mean()
    return changed


def _one_number_a_subject(X: Array, sites: Array) -> Any:
    return X - X.mean(axis=1, keepdims=True)


def _site_means(X: Array, sites: Array) -> Any:
    return np.array([X[sites == site].mean(axis=0) for site in sites])


@function_check(
    "ex-op-center",
    inputs=_hospitals,
    edges={
        "there is one hospital only": lambda rng: _hospitals(rng, 1),
        "a hospital has one patient only": _with_a_single_patient,
    },
    mistakes={
        "you subtract the mean over all hospitals: what lies between them stays.": _overall,
        "divide by nothing: the spread of a gene at a hospital may be a real difference between "
        "its patients.": _standardized,
        "each gene has a mean of its own at each hospital; you take one number for all genes.": (
            _one_number_a_site
        ),
        "a row is a patient. Take means over the patients of a hospital, gene by gene.": (
            _one_number_a_subject
        ),
        "these are the means themselves; subtract them.": _site_means,
    },
)
def _center_by_site(X: Array, sites: Array) -> Any:
    return np.array([x - X[sites == site].mean(axis=0) for x, site in zip(X, sites, strict=True)])


def _intervals(rng: np.random.Generator, size: int = 0) -> tuple[Array, Array, Array]:
    size = size or draw.between(rng, 2, 6)
    logs, errors = rng.normal(0.4, 0.5, size=size), rng.uniform(0.1, 0.6, size=size)
    width = norm.ppf(0.975) * errors
    return np.exp(logs), np.exp(logs - width), np.exp(logs + width)


def _combine(estimates: Array, weights: Array) -> Any:
    mean = float(np.sum(weights * estimates) / np.sum(weights))
    width = float(norm.ppf(0.975) / np.sqrt(np.sum(weights)))
    return np.exp([mean, mean - width, mean + width])


def _log_error(lower: Array, upper: Array) -> Any:
    return (np.log(upper) - np.log(lower)) / (2 * norm.ppf(0.975))


def _equal_weights(ratios: Array, lower: Array, upper: Array) -> Any:
    error = np.sqrt(np.sum(_log_error(lower, upper) ** 2)) / len(ratios)
    mean = np.mean(np.log(ratios))
    width = norm.ppf(0.975) * error
    return np.exp([mean, mean - width, mean + width])


def _by_one_over_error(ratios: Array, lower: Array, upper: Array) -> Any:
    return _combine(np.log(ratios), 1 / _log_error(lower, upper))


def _without_logarithms(ratios: Array, lower: Array, upper: Array) -> Any:
    error = (upper - lower) / (2 * norm.ppf(0.975))
    return np.log(_combine(ratios, 1 / error**2))


def _whole_width(ratios: Array, lower: Array, upper: Array) -> Any:
    return _combine(np.log(ratios), 1 / (2 * _log_error(lower, upper)) ** 2)


@function_check(
    "ex-op-pool",
    inputs=_intervals,
    edges={"there is one hospital only": lambda rng: _intervals(rng, 1)},
    rtol=2e-3,
    mistakes={
        "a ratio of 2 and one of one half must cancel: work with logarithms throughout.": (
            _without_logarithms
        ),
        "the weight is one over the *variance*, the square of the standard error.": (
            _by_one_over_error
        ),
        "all hospitals count alike here. Those with narrow intervals should count for more.": (
            _equal_weights
        ),
        "from end to end the interval is two times 1.96 standard errors.": _whole_width,
        "these are logarithms; go back to ratios at the end.": lambda r, low, high: np.log(
            _combine(np.log(r), 1 / _log_error(low, high) ** 2)
        ),
    },
)
def _pool(ratios: Array, lower: Array, upper: Array) -> Any:
    return _combine(np.log(ratios), 1 / _log_error(lower, upper) ** 2)
