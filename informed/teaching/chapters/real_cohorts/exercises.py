"""Checks for the exercises of the chapter on real cohorts."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-rc-combine",
    {"(a)": 0.0560517, "(b)": 0.1, "(c)": 0.1},
    mistakes={
        "(a): the product of p-values is not a p-value, it is too often small. Put it into the "
        "formula.": [0.01, None, None],
        "(a): the sign of the logarithm. The bracket exceeds 1.": [-0.0360517, None, None],
        "(b): the harmonic mean of equal numbers needs no computation.": [None, 0.05, None],
        "(c): the second cohort adds nothing. What is left?": [None, None, 0.0560517],
    },
)


number_check(
    "ex-rc-margin",
    {
        "new ratio": 1.67392,
        "old ratio": 1.50795,
        "new C": 0.563008,
        "old C": 0.550634,
        "ahead": 0.012375,
    },
    mistakes={
        "the standard error of the log ratio is 2 over the root of the number of deaths, not 1 "
        "over it.": [1.29380, 1.22797, None, None, None],
        "these are the logarithms of the ratios.": [0.515166, 0.410750, None, None, None],
        "the p-values are two-sided: half of each lies in either tail.": [
            1.59244,
            1.41926,
            None,
            None,
            None,
        ],
        "r/(1 + r) is for pairs of two groups. Half of all pairs are of one group, and tie.": [
            None,
            None,
            0.626018,
            0.601261,
            None,
        ],
    },
)


def _p_values(rng: np.random.Generator) -> tuple[Array]:
    # Some small, some near each other, some that pass 1 when multiplied.
    small, large = draw.between(rng, 2, 5), draw.between(rng, 3, 6)
    together = np.concatenate([rng.random(small) * 0.02, 0.2 + 0.8 * rng.random(large)])
    return (rng.permutation(together),)


def _tied(rng: np.random.Generator) -> tuple[Array]:
    return (rng.permutation([0.01, 0.01, 0.02, 0.3, 0.3, 0.3]),)


def _one_by_one(p: Array) -> Array:
    weighted = [np.sum(p >= value) * value for value in p]
    largest = [max(w for w, v in zip(weighted, p, strict=True) if v <= value) for value in p]
    return np.minimum(1, largest)


@function_check(
    "ex-rc-holm",
    inputs=_p_values,
    edges={
        "some p-values are equal": _tied,
        "there is one p-value only": lambda rng: (np.array([0.04]),),
        "a p-value is zero": lambda rng: (np.array([0.5, 0.0, 0.04]),),
    },
    mistakes={
        "this is Bonferroni's rule: only the smallest p-value is multiplied by all of k.": (
            lambda p: np.minimum(1, len(p) * p)
        ),
        "an adjusted p-value must not be below that of a smaller p-value; carry the largest so far "
        "along.": lambda p: np.minimum(1, [np.sum(p >= value) * value for value in p]),
        "these are in increasing order; the result belongs in the order of `p`.": (
            lambda p: np.sort(_one_by_one(p))
        ),
        "a p-value is at most 1.": lambda p: np.array(
            [max(np.sum(p >= v) * v for v in p if v <= value) for value in p]
        ),
        "you multiply the largest p-value by k; the smallest is the one.": lambda p: np.minimum(
            1, [max(np.sum(p <= v) * v for v in p if v <= value) for value in p]
        ),
    },
)
def _holm(p: Array) -> Any:
    return _one_by_one(p)


def _strata(rng: np.random.Generator, n_strata: int = 0) -> tuple[Array, Array, Array, Array]:
    number = draw.labels(
        rng, n_strata or draw.between(rng, 2, 4), draw.between(rng, 30, 45), smallest=6
    )
    names = rng.permutation(["a", "b", "chemo", "none", "other"])
    # Whole numbers, so that events fall on the same day; group and stratum are correlated.
    groups = (rng.random(len(number)) < np.where(number == 1, 0.7, 0.3)).astype(int)
    durations = np.ceil(rng.exponential(np.where(number == 1, 12.0, 6.0))) + groups
    return durations, (rng.random(len(number)) < 0.7).astype(int), groups, names[number]


def _with_a_lonely_patient(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    durations, events, groups, strata = _strata(rng)
    one = (np.array([3.0]), np.array([1]), np.array([1]), np.array(["alone"]))
    together = zip((durations, events, groups, strata), one, strict=True)
    durations, events, groups, strata = (np.concatenate(pair) for pair in together)
    return durations, events, groups, strata


def _tables(
    durations: Array, events: Array, groups: Array, strata: Array
) -> list[list[tuple[int, int, int, int]]]:
    """For each stratum and event time: at risk, events, at risk in group 1, events in group 1."""
    result = []
    for stratum in sorted(set(strata.tolist())):
        people = [
            (t, e, g)
            for t, e, g, s in zip(durations, events, groups, strata, strict=True)
            if s == stratum
        ]
        rows = []
        for time in sorted({t for t, e, _ in people if e}):
            at_risk = [(t, e, g) for t, e, g in people if t >= time]
            dead = [g for t, e, g in at_risk if e and t == time]
            rows.append((len(at_risk), len(dead), sum(g for *_, g in at_risk), sum(dead)))
        result.append(rows)
    return result


def _moments(n: int, d: int, ones: int) -> tuple[float, float]:
    """Mean and variance of the events in group 1, by counting all ways to choose who they hit."""
    ways = [comb(ones, x) * comb(n - ones, d - x) for x in range(d + 1)]
    mean = sum(x * w for x, w in enumerate(ways)) / comb(n, d)
    return mean, sum((x - mean) ** 2 * w for x, w in enumerate(ways)) / comb(n, d)


def _scores(tables: list[list[tuple[int, int, int, int]]]) -> Array:
    """U and V of every stratum."""
    result = []
    for rows in tables:
        moments = [_moments(n, d, ones) for n, d, ones, _ in rows]
        U = sum(row[3] - mean for row, (mean, _) in zip(rows, moments, strict=True))
        result.append((U, sum(variance for _, variance in moments)))
    return np.array(result)


def _pooled(tables: list[list[tuple[int, int, int, int]]]) -> Any:
    U, V = _scores(tables).sum(axis=0)
    return float(U**2 / V)


def _without_ties(durations: Array, events: Array, groups: Array, strata: Array) -> Any:
    tables = _tables(durations, events, groups, strata)
    U = _scores(tables)[:, 0].sum()
    V = sum(d * ones / n * (1 - ones / n) for rows in tables for n, d, ones, _ in rows)
    return U**2 / V


@function_check(
    "ex-rc-strata",
    inputs=_strata,
    edges={
        "there is one stratum only": lambda rng: _strata(rng, 1),
        "one patient is alone in a stratum": _with_a_lonely_patient,
    },
    mistakes={
        "this is the plain log-rank statistic; patients of different strata must not meet.": (
            lambda durations, events, groups, strata: _pooled(
                _tables(durations, events, groups, np.zeros(len(durations)))
            )
        ),
        "you add up the statistics of the strata. Add U and V first, then square and divide.": (
            lambda *arguments: float(
                sum(u**2 / v for u, v in _scores(_tables(*arguments)) if v > 0)
            )
        ),
        "the variance lacks its factor for events on the same day.": _without_ties,
        "this is the root of the statistic, with a sign.": lambda *arguments: (
            _scores(_tables(*arguments))[:, 0].sum()
            / np.sqrt(_scores(_tables(*arguments))[:, 1].sum())
        ),
    },
)
def _statistic(durations: Array, events: Array, groups: Array, strata: Array) -> Any:
    return _pooled(_tables(durations, events, groups, strata))
