r"""The log-rank test: one computation, for one grouping and for many relabellings.

At an event time with :math:`d` events among :math:`n` subjects at risk, :math:`n_g` of them in
group :math:`g`, the expected number of events is :math:`d\,n_g/n` and the covariance, given these
margins, is that of draws without replacement,

.. math:: V_{gh} = \frac{d (n-d)}{n-1} \, \frac{n_g}{n} \left(\delta_{gh} - \frac{n_h}{n}\right).

Summed over the event times they give :math:`U = O - E` and :math:`V`, and the statistic is
:math:`U^\top V^+ U`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy.stats import chi2

from informed.survival.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_follow_up,
    check_groups,
)
from informed.validation import check_count, random_source

# Relabellings are scored in blocks of about this many entries (subjects × relabellings): enough for
# numpy to work at full speed, few enough to keep the memory at some tens of megabytes.
_BLOCK_ENTRIES = 1_000_000


def log_rank_p_value(
    durations: ArrayLike, events: ArrayLike, groups: ArrayLike, strata: ArrayLike | None = None
) -> float:
    """Return the p-value of :func:`compare_survival` without the curves.

    Both give the same number; this one takes a small part of the time, for sweeps over many
    groupings of the same subjects.

    Parameters
    ----------
    durations, events, groups : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    strata : array of shape (n_subjects,) or None
        Labels of, say, treatments: subjects are compared with those of the same stratum only, and
        U and V of the strata are added up (the stratified log-rank test).

    Returns
    -------
    p_value : float

    Examples
    --------
    >>> durations = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20]
    >>> events = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> p_value = log_rank_p_value(durations, events, ["high"] * 6 + ["low"] * 6)
    >>> print(f"{p_value:.4f}")
    0.0100
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    if strata is None:
        return log_rank_test(times, observed, codes, len(labels)).p_value
    parts = np.asarray(strata)
    if parts.shape != times.shape:
        raise ValueError(
            f"strata has shape {parts.shape}: it must hold one label for each of the {len(times)} "
            "subjects"
        )
    return _stratified_p_value(times, observed, codes, len(labels), parts)


def permutation_p_value(
    durations: ArrayLike,
    events: ArrayLike,
    groups: ArrayLike,
    *,
    n_permutations: int = 9999,
    random_state: int | RandomState | None = None,
) -> float:
    """P-value of the log-rank statistic among its values for relabelled subjects.

    The chi-squared law of the log-rank statistic is a limit for large groups. If the labels say
    nothing about survival or about censoring, then every way to assign them to the subjects is
    equally likely, and the rank of the observed statistic among these gives a valid p-value for
    groups of any size.

    Parameters
    ----------
    durations, events, groups : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    n_permutations : int
        Number of random relabellings. If there are no more than this many different relabellings,
        each is taken once and the p-value is exact.
    random_state : int, RandomState or None
        Seed of the relabellings.

    Returns
    -------
    p_value : float
        Share of relabellings whose statistic is at least the observed one. The observed labels
        are one of them, so it is (b + 1)/(B + 1) if b of B random ones reach it, and never zero.

    Notes
    -----
    The labels must not have been chosen by looking at the durations or events.

    Examples
    --------
    Three against three, perfectly ordered: 2 of the 20 relabellings are as extreme.

    >>> permutation_p_value([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    0.1
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    n_permutations = check_count("n_permutations", n_permutations, 1)
    rng = random_source(random_state)
    table = event_table(times, observed)
    n_groups = len(labels)
    # Equal statistics must count as equal although their sums are rounded differently.
    threshold = log_rank_statistics(table, codes[None, :], n_groups)[0] * (1 - 1e-9) - 1e-12
    if _count_relabelings(codes) <= n_permutations:
        everything = np.array(list(_all_relabelings(np.bincount(codes).tolist())))
        return float((log_rank_statistics(table, everything, n_groups) >= threshold).mean())
    block = max(1, _BLOCK_ENTRIES // len(codes))
    reached = 0
    for start in range(0, n_permutations, block):
        size = (min(block, n_permutations - start), len(codes))
        relabeled = codes[np.argsort(rng.random_sample(size), axis=1)]
        reached += int((log_rank_statistics(table, relabeled, n_groups) >= threshold).sum())
    return (reached + 1) / (n_permutations + 1)


class LogRank(NamedTuple):
    """Outcome of the log-rank test."""

    statistic: float
    degrees_of_freedom: int
    p_value: float


def log_rank_test(
    times: FloatArray, observed: BoolArray, codes: IntArray, n_groups: int
) -> LogRank:
    """Log-rank test of groups 0 … n_groups − 1; no checks, for callers that did them.

    A group whose subjects all left observation before the first event is in no risk set, and adds
    no degree of freedom.
    """
    still_observed = times >= times[observed].min()
    degrees_of_freedom = len(np.unique(codes[still_observed])) - 1
    if degrees_of_freedom == 0:
        return LogRank(0.0, 0, 1.0)
    statistic = log_rank_statistics(event_table(times, observed), codes[None, :], n_groups)[0]
    return LogRank(
        float(statistic), degrees_of_freedom, float(chi2.sf(statistic, degrees_of_freedom))
    )


class EventTable(NamedTuple):
    """All that the log-rank statistic needs to know besides the labels."""

    by_duration: IntArray  # the subjects, the longest duration first
    scores: FloatArray  # of each subject: event minus cumulated hazard; U_g is the sum over g
    at_risk: IntArray  # at each event time: n
    variance: FloatArray  # at each event time: d(n − d)/(n − 1)


def event_table(times: FloatArray, observed: BoolArray) -> EventTable:
    """Collect the pooled risk sets; they stay the same however the subjects are labelled."""
    event_times, deaths = np.unique(times[observed], return_counts=True)
    by_duration = np.argsort(-times, kind="stable")
    at_risk = np.searchsorted(-times[by_duration], -event_times, side="right")
    hazard = np.concatenate([[0.0], np.cumsum(deaths / at_risk)])
    cumulated = hazard[np.searchsorted(event_times, times, side="right")]
    # The last one at risk leaves no choice, hence no variance: d(n − d) = 0 there.
    variance = deaths * (at_risk - deaths) / np.maximum(at_risk - 1, 1)
    return EventTable(by_duration, observed - cumulated, at_risk, variance)


def log_rank_statistics(table: EventTable, codes: IntArray, n_groups: int) -> FloatArray:
    """Log-rank statistic for each row of labels 0 … n_groups − 1."""
    U, V = _scores(table, codes, n_groups)
    # V is singular when a group is in no risk set; U vanishes in the same directions.
    inverse = np.linalg.pinv(V, rcond=1e-10, hermitian=True)
    statistics: FloatArray = np.einsum("bg,bgh,bh->b", U, inverse, U)
    return statistics


def _stratified_p_value(
    times: FloatArray, observed: BoolArray, codes: IntArray, n_groups: int, strata: Any
) -> float:
    """P-value of the log-rank test within strata; a stratum without events says nothing."""
    total_U, total_V = np.zeros(n_groups - 1), np.zeros((n_groups - 1, n_groups - 1))
    for stratum in np.unique(strata):
        own = strata == stratum
        if observed[own].any():
            U, V = _scores(event_table(times[own], observed[own]), codes[None, own], n_groups)
            total_U += U[0]
            total_V += V[0]
    degrees_of_freedom = int(np.linalg.matrix_rank(total_V, rtol=1e-10, hermitian=True))
    if degrees_of_freedom == 0:  # every stratum holds one group only
        return 1.0
    inverse = np.linalg.pinv(total_V, rcond=1e-10, hermitian=True)
    return float(chi2.sf(total_U @ inverse @ total_U, degrees_of_freedom))


def _scores(table: EventTable, codes: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
    """U = O − E and V for each row of labels, without the last group."""
    # One group is redundant: the differences O − E add up to zero.
    members = [codes == group for group in range(n_groups - 1)]
    U = np.stack([member @ table.scores for member in members], axis=1)
    # With the subjects sorted, a risk set is the first n of them.
    shares = [
        np.cumsum(member[:, table.by_duration], axis=1)[:, table.at_risk - 1] / table.at_risk
        for member in members
    ]
    V = np.empty((len(codes), n_groups - 1, n_groups - 1))
    for g, share in enumerate(shares):
        weighted = share * table.variance
        for h, other in enumerate(shares):
            V[:, g, h] = -(weighted * other).sum(axis=1)
        V[:, g, g] += weighted.sum(axis=1)
    return U, V


def _count_relabelings(codes: IntArray) -> int:
    """Count the different ways to assign the labels."""
    count, left = 1, len(codes)
    for size in np.bincount(codes).tolist():
        count *= math.comb(left, size)
        left -= size
    return count


def _all_relabelings(sizes: list[int]) -> Iterator[IntArray]:
    """Every assignment of labels 0, 1, … to sum(sizes) subjects, label g used sizes[g] times."""
    if len(sizes) == 1:
        yield np.zeros(sizes[0], dtype=np.intp)
        return
    n = sum(sizes)
    for rest in _all_relabelings(sizes[1:]):
        for chosen in combinations(range(n), sizes[0]):
            codes = np.zeros(n, dtype=np.intp)
            others = np.ones(n, dtype=bool)
            others[list(chosen)] = False
            codes[others] = rest + 1
            yield codes
