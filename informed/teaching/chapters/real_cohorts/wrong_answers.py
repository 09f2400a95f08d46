"""Typical wrong answers to the exercises on real cohorts, and what the self-check says to them."""

from __future__ import annotations

import numpy as np


def not_carried_along(p):
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, p[order] * np.arange(len(p), 0, -1))
    return adjusted


def left_sorted(p):
    ordered = np.sort(p)
    return np.minimum(1, np.maximum.accumulate(ordered * np.arange(len(p), 0, -1)))


def not_cut(p):
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return adjusted


def of_eight(p):
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * (8 - np.arange(len(p)))))
    return adjusted


def scores(durations, events, groups, ties=True):
    U = V = 0.0
    dead, ones = events == 1, groups == 1
    for time in np.unique(durations[dead]):
        at_risk, now = durations >= time, dead & (durations == time)
        n, d = at_risk.sum(), now.sum()
        share = (at_risk & ones).sum() / n
        U += (now & ones).sum() - d * share
        V += d * share * (1 - share) * ((n - d) / max(n - 1, 1) if ties else 1)
    return U, V


def within(durations, events, groups, strata, ties=True):
    return np.array(
        [
            scores(durations[strata == s], events[strata == s], groups[strata == s], ties)
            for s in np.unique(strata)
        ]
    )


def without_strata(durations, events, groups, strata):
    U, V = scores(durations, events, groups)
    return U**2 / V


def statistics_added(durations, events, groups, strata):
    return sum(U**2 / V for U, V in within(durations, events, groups, strata) if V > 0)


def ties_forgotten(durations, events, groups, strata):
    U, V = within(durations, events, groups, strata, ties=False).sum(axis=0)
    return U**2 / V


def only_the_root(durations, events, groups, strata):
    U, V = within(durations, events, groups, strata).sum(axis=0)
    return U / np.sqrt(V)


WRONG = {
    "ex-rc-combine": [
        ([0.01, 0.1, 0.1], "not a p-value"),
        ([0.056, 0.05, 0.1], "equal numbers"),
        ([0.056, 0.1, 0.056], "adds nothing"),
    ],
    "ex-rc-margin": [
        ([1.2938, 1.22797, 0.532, 0.5256, 0.0064], "not 1 over"),
        ([0.5152, 0.4108, 0.563, 0.5506, 0.0124], "logarithms"),
        ([1.674, 1.508, 0.626, 0.6013, 0.0248], "of one group"),
    ],
    "ex-rc-holm": [
        (lambda p: np.minimum(1, p * len(p)), "Bonferroni"),
        (not_carried_along, "carry the largest"),
        (left_sorted, "in the order of"),
        (not_cut, "at most 1"),
        (of_eight, "values are right"),
    ],
    "ex-rc-strata": [
        (without_strata, "must not meet"),
        (statistics_added, "Add U and V first"),
        (ties_forgotten, "on the same day"),
        (only_the_root, "root of the statistic"),
    ],
}
