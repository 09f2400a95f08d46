"""Typical wrong answers to the exercises of the chapter, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def _table(durations, events):
    times = np.unique(durations[events == 1])
    at_risk = np.array([np.sum(durations >= t) for t in times])
    deaths = np.array([np.sum((durations == t) & (events == 1)) for t in times])
    return times, at_risk, deaths


def variance(durations, events, t):
    times, n, d = _table(durations, events)
    n, d = n[times <= t], d[times <= t]
    return np.prod(1 - d / n) ** 2 * np.sum(d / (n * (n - d)))


def of_the_logarithm(durations, events, t):
    times, n, d = _table(durations, events)
    n, d = n[times <= t], d[times <= t]
    return np.sqrt(np.sum(d / (n * (n - d))))


def of_a_share(durations, events, t):
    times, n, d = _table(durations, events)
    survival = np.prod((1 - d / n)[times <= t])
    return np.sqrt(survival * (1 - survival) / len(durations))


def one_for_each_time(durations, events, t):
    _, n, d = _table(durations, events)
    return np.cumprod(1 - d / n) * np.sqrt(np.cumsum(d / (n * (n - d))))


def strictly_before(durations, events):
    times, n, d = _table(durations, events)
    return np.array(
        [e - np.sum((d / n)[times < y]) for y, e in zip(durations, events, strict=True)]
    )


def one_death_a_time(durations, events):
    times, n, _ = _table(durations, events)
    return np.array(
        [e - np.sum((1 / n)[times <= y]) for y, e in zip(durations, events, strict=True)]
    )


def expected_only(durations, events):
    times, n, d = _table(durations, events)
    return np.array([np.sum((d / n)[times <= y]) for y in durations])


def opposite(durations, events):
    return expected_only(durations, events) - events


WRONG = {
    "ex-rg-six": [
        ([0.5, 0.25, 1, 0.7, 0.5], "left the censored patients out"),
        (["2/3", "1/2", "4/3", "13/18", "8/13"], "all six at risk"),
        (["1/2", "1/3", 1, 1, 1], "censored patients as deaths"),
        ([0.625, 0.4167, 1.3333, 0.7222, 0.7845], "the square is asked"),
        (["5/8", "5/12", "4/3", "3/4", "16/27"], "V, Z²: not this number"),
    ],
    "ex-rg-greenwood": [
        (variance, "squares of what is asked"),
        (of_the_logarithm, "logarithm of the curve"),
        (of_a_share, "nobody is censored"),
        (one_for_each_time, "a single number is expected"),
    ],
    "ex-rg-scores": [
        (strictly_before, "own time belongs to the sum"),
        (one_death_a_time, "several patients may die"),
        (expected_only, "event minus it"),
        (opposite, "opposite sign"),
    ],
}
