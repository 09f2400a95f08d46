r"""Whether groups of subjects survive equally long, and by how much they differ.

A subject is observed until an event (a death, a relapse) or until observation ends without one,
which is called censoring. The Kaplan–Meier curve estimates the share of a group that is still free
of the event; the log-rank test asks whether the curves of several groups can come from one law.

The log-rank statistic compares, for every group, the observed number of events with the number
expected if all groups shared one hazard. At an event time with :math:`d` events among :math:`n`
subjects at risk, :math:`n_g` of them in group :math:`g`, the expectation is :math:`d\,n_g/n` and
the covariance, given these margins, is that of draws without replacement,

.. math:: V_{gh} = \frac{d (n-d)}{n-1} \, \frac{n_g}{n} \left(\delta_{gh} - \frac{n_h}{n}\right).

Summed over the event times they give :math:`U = O - E` and :math:`V`, and the statistic
:math:`U^\top V^+ U` is compared with a chi-squared law (:func:`compare_survival`) or with its own
values for relabelled subjects (:func:`permutation_p_value`).
"""

from __future__ import annotations

import html
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, norm
from sklearn.utils import check_random_state

from informed.validation import check_count, check_number

__all__ = [
    "HazardRatio",
    "SurvivalComparison",
    "SurvivalCurve",
    "compare_survival",
    "drop_late_deaths",
    "hazard_ratio",
    "log_rank_p_value",
    "permutation_p_value",
    "truncate_follow_up",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

# Relabellings are scored in blocks of about this many entries (subjects × relabellings): enough for
# numpy to work at full speed, few enough to keep the memory at some tens of megabytes.
_BLOCK_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """Kaplan–Meier estimate for one group.

    Attributes
    ----------
    group : hashable
        Label of the group.
    times : float array
        Zero and every time at which a subject of the group had an event or was censored.
    survival : float array
        Estimated probability of being free of the event just after each time.
    lower, upper : float array
        Pointwise confidence band (on the log(−log) scale, so it stays within 0 and 1).
    at_risk : int array
        Subjects still observed just before each time.
    censored : int array
        Subjects whose observation ended without event at each time.
    n, n_events : int
        Subjects and events in the group.
    median : float
        First time at which the curve is at or below one half; ``inf`` if it never is.
    """

    group: Hashable
    times: FloatArray
    survival: FloatArray
    lower: FloatArray
    upper: FloatArray
    at_risk: IntArray
    censored: IntArray
    n: int
    n_events: int
    median: float


@dataclass(frozen=True, eq=False)
class SurvivalComparison:
    """Result of :func:`compare_survival`.

    Attributes
    ----------
    statistic : float
        Log-rank statistic.
    degrees_of_freedom : int
        Number of groups that tell something, minus one. A group tells nothing when all its
        subjects left observation before the first event.
    p_value : float
        Upper tail of the chi-squared law; 1 if fewer than two groups tell something.
    curves : tuple of SurvivalCurve
        Kaplan–Meier curve of each group, in the order of the sorted labels.
    expected : tuple of float
        Events expected in each group if all groups shared one hazard.
    confidence : float
        Level of the bands around the curves.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    curves: tuple[SurvivalCurve, ...]
    expected: tuple[float, ...]
    confidence: float

    @property
    def summary(self) -> pd.DataFrame:
        """One row per group with its size, its events and those expected, and median survival."""
        observed = np.array([curve.n_events for curve in self.curves])
        expected = np.array(self.expected)
        # A group without expectation saw no event time, so it has no observed event either: 0/0.
        ratio = np.full(len(observed), np.nan)
        np.divide(observed, expected, out=ratio, where=expected > 0)
        return pd.DataFrame(
            {
                "n": [curve.n for curve in self.curves],
                "observed": observed,
                "expected": expected,
                "observed/expected": ratio,
                "median": [curve.median for curve in self.curves],
            },
            index=pd.Index([curve.group for curve in self.curves]),
        )

    def _headline(self) -> str:
        plural = "" if self.degrees_of_freedom == 1 else "s"
        return (
            f"log-rank test: chi-squared = {self.statistic:.4g} on {self.degrees_of_freedom} "
            f"degree{plural} of freedom, p = {self.p_value:.3g}"
        )

    def __str__(self) -> str:
        return f"{self._headline()}\n{self.summary.to_string(float_format='{:.4g}'.format)}"

    def _repr_html_(self) -> str:
        table = self.summary.to_html(float_format="{:.4g}".format)
        return f"<p>{html.escape(self._headline())}</p>\n{table}"


@dataclass(frozen=True)
class HazardRatio:
    """Result of :func:`hazard_ratio`.

    Attributes
    ----------
    ratio : float
        Hazard in ``group`` divided by the hazard in ``reference``.
    lower, upper : float
        Confidence interval.
    confidence : float
        Level of the interval.
    p_value : float
        Wald test of a ratio of one.
    group, reference : hashable
        Labels of the two groups.
    """

    ratio: float
    lower: float
    upper: float
    confidence: float
    p_value: float
    group: Hashable
    reference: Hashable

    def __str__(self) -> str:
        return (
            f"hazard of {self.group!r} over {self.reference!r}: {self.ratio:.3g} "
            f"({100 * self.confidence:g} % interval {self.lower:.3g} to {self.upper:.3g}), "
            f"p = {self.p_value:.3g}"
        )


def compare_survival(
    durations: ArrayLike, events: ArrayLike, groups: ArrayLike, *, confidence: float = 0.95
) -> SurvivalComparison:
    """Kaplan–Meier curves of two or more groups, and the log-rank test that they are one.

    Parameters
    ----------
    durations : array of shape (n_subjects,)
        Time until the event or until censoring; finite, not negative, in any unit.
    events : array of shape (n_subjects,)
        1 (or True) if the subject had the event, 0 (or False) if censored.
    groups : array of shape (n_subjects,)
        Label of each subject's group: integers, booleans or strings, at least two different ones.
    confidence : float
        Level of the pointwise bands around the curves.

    Returns
    -------
    comparison : SurvivalComparison
        It prints as a short table.

    Examples
    --------
    >>> durations = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20]
    >>> events = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> groups = ["high"] * 6 + ["low"] * 6
    >>> print(compare_survival(durations, events, groups))
    log-rank test: chi-squared = 6.633 on 1 degree of freedom, p = 0.01
          n  observed  expected  observed/expected  median
    high  6         5     2.096              2.385       5
    low   6         3     5.904             0.5081      15
    """
    times, observed = _check_follow_up(durations, events)
    labels, codes = _check_groups(groups, times, observed)
    level = _check_confidence(confidence)
    table = event_table(times, observed)
    expected = np.bincount(codes, observed - table.scores)
    curves = tuple(
        _kaplan_meier(label, times[codes == code], observed[codes == code], level)
        for code, label in enumerate(labels)
    )
    statistic, degrees_of_freedom, p_value = _log_rank_test(times, observed, codes)
    return SurvivalComparison(
        statistic=statistic,
        degrees_of_freedom=degrees_of_freedom,
        p_value=p_value,
        curves=curves,
        expected=tuple(expected.tolist()),
        confidence=level,
    )


def log_rank_p_value(durations: ArrayLike, events: ArrayLike, groups: ArrayLike) -> float:
    """Return the p-value of :func:`compare_survival` without the curves.

    Both give the same number; this one takes a small part of the time, for sweeps over many
    groupings of the same subjects.

    Parameters
    ----------
    durations, events, groups : array of shape (n_subjects,)
        As in :func:`compare_survival`.

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
    times, observed = _check_follow_up(durations, events)
    labels, codes = _check_groups(groups, times, observed)
    degrees_of_freedom = len(np.unique(codes[_present(times, observed)])) - 1
    if degrees_of_freedom == 0:
        return 1.0
    statistic = log_rank_statistics(event_table(times, observed), codes[None, :], len(labels))
    return float(chi2.sf(statistic[0], degrees_of_freedom))


def hazard_ratio(
    durations: ArrayLike, events: ArrayLike, groups: ArrayLike, *, confidence: float = 0.95
) -> HazardRatio:
    """Estimate how many times higher the risk is in one of two groups.

    The ratio is that of a Cox model with the group as its only covariate (Efron's rule for ties,
    Wald interval). A p-value tells whether there is a difference; this tells how large it is.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    groups : array of shape (n_subjects,)
        Exactly two different labels. The first of the sorted labels is the reference.
    confidence : float
        Level of the interval.

    Returns
    -------
    result : HazardRatio

    Examples
    --------
    >>> durations = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20]
    >>> events = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> print(hazard_ratio(durations, events, ["high"] * 6 + ["low"] * 6))
    hazard of 'low' over 'high': 0.0895 (95 % interval 0.00984 to 0.814), p = 0.0322
    """
    times, observed = _check_follow_up(durations, events)
    labels, codes = _check_groups(groups, times, observed)
    level = _check_confidence(confidence)
    if len(labels) != 2:
        raise ValueError(f"groups must name exactly two groups, got {len(labels)}: {labels}")
    for code, other in ((0, 1), (1, 0)):
        # The partial likelihood has a maximum only if each group has an event at a time at which
        # somebody of the other group is at risk; otherwise it is flat or keeps growing.
        last_at_risk = times[codes == other].max()
        if not (observed & (codes == code) & (times <= last_at_risk)).any():
            raise ValueError(
                f"groups: group {labels[code]!r} has no event while anybody of group "
                f"{labels[other]!r} is at risk, so the hazard ratio has no finite estimate"
            )
    log_ratio, error = _log_hazard_ratio(times, observed, codes == 1)
    width = norm.isf((1.0 - level) / 2) * error
    return HazardRatio(
        ratio=math.exp(log_ratio),
        lower=math.exp(log_ratio - width),
        upper=math.exp(log_ratio + width),
        confidence=level,
        p_value=float(2 * norm.sf(abs(log_ratio) / error)),
        group=labels[1],
        reference=labels[0],
    )


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
    nothing about survival nor about censoring, then every way to deal them out to the subjects is
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
    times, observed = _check_follow_up(durations, events)
    labels, codes = _check_groups(groups, times, observed)
    n_permutations = check_count("n_permutations", n_permutations, 1)
    rng = check_random_state(random_state)
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


def truncate_follow_up(
    durations: ArrayLike, events: ArrayLike, months: float
) -> tuple[FloatArray, BoolArray]:
    """End the follow-up of everybody at a horizon (administrative censoring).

    Whoever is still under observation at the horizon is censored there, whatever happens later; an
    event at the horizon itself still counts. Nobody is removed, and what is kept of a subject does
    not depend on the subject's later fate: this is the sound way to ask about, say, five-year
    survival.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    months : float
        The horizon, in the unit of ``durations``; positive.

    Returns
    -------
    durations : float array of shape (n_subjects,)
    events : bool array of shape (n_subjects,)

    Examples
    --------
    >>> truncate_follow_up([12, 60, 75, 90], [1, 1, 1, 0], 60)
    (array([12., 60., 60., 60.]), array([ True,  True, False, False]))
    """
    times, observed = _check_follow_up(durations, events)
    horizon = check_number("months", months, open_low=True)
    return np.minimum(times, horizon), observed & (times <= horizon)


def drop_late_deaths(
    durations: ArrayLike, events: ArrayLike, months: float
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Remove whoever dies after a horizon and end the follow-up of the others there.

    This is what the paper's gene experiment does with its horizon of 60 months. It is here to
    repeat that experiment, and wrong for anything else: it selects subjects by their outcome. The
    removed ones lived past the horizon, so they belong in the risk sets of all earlier deaths;
    without them every group's survival at the horizon comes out too low, and by more in the group
    that has more late deaths, so groups can look different (or alike) for no other reason. Use
    :func:`truncate_follow_up` instead.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    months : float
        The horizon, in the unit of ``durations``; positive.

    Returns
    -------
    durations : float array of shape (n_kept,)
    events : bool array of shape (n_kept,)
    kept : bool array of shape (n_subjects,)
        Which subjects are left: the labels that go with the result are ``groups[kept]``.

    Examples
    --------
    >>> drop_late_deaths([12, 60, 75, 90], [1, 1, 1, 0], 60)
    (array([12., 60., 60.]), array([ True,  True, False]), array([ True,  True, False,  True]))
    """
    times, observed = _check_follow_up(durations, events)
    horizon = check_number("months", months, open_low=True)
    kept = ~observed | (times <= horizon)
    return np.minimum(times, horizon)[kept], observed[kept], kept


def _kaplan_meier(
    group: Hashable, times: FloatArray, observed: BoolArray, confidence: float
) -> SurvivalCurve:
    """Kaplan–Meier curve of one group with its band, by lifelines."""
    fitter = KaplanMeierFitter(alpha=1.0 - confidence).fit(times, observed)
    band = fitter.confidence_interval_.to_numpy()
    table = fitter.event_table
    times_seen = table.index.to_numpy(dtype=float)
    survival = fitter.survival_function_.to_numpy()[:, 0]
    # A product of fractions that makes one half may be rounded to a little more.
    reached = times_seen[survival <= 0.5 + 1e-9]
    return SurvivalCurve(
        group=group,
        times=times_seen,
        survival=survival,
        lower=band[:, 0],
        upper=band[:, 1],
        at_risk=table["at_risk"].to_numpy(dtype=np.intp),
        censored=table["censored"].to_numpy(dtype=np.intp),
        n=len(times),
        n_events=int(observed.sum()),
        median=float(reached[0]) if len(reached) else math.inf,
    )


def _log_rank_test(
    times: FloatArray, observed: BoolArray, codes: IntArray
) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of the log-rank test, by lifelines."""
    present = _present(times, observed)
    degrees_of_freedom = len(np.unique(codes[present])) - 1
    if degrees_of_freedom == 0:
        return 0.0, 0, 1.0
    test = multivariate_logrank_test(times[present], codes[present], observed[present])
    return float(test.test_statistic), degrees_of_freedom, float(test.p_value)


def _log_hazard_ratio(
    times: FloatArray, observed: BoolArray, member: BoolArray
) -> tuple[float, float]:
    """Estimate and standard error of the log hazard ratio of the members over the others.

    With ratio exp(β), an event at a time with a members and b others at risk is a member's with
    probability expit(β + log(a/b)), and the score of the partial likelihood is the number of
    members' events minus the sum of these probabilities: it falls with β, so its root can be
    enclosed and cannot be missed. (A general Cox solver can: its Newton steps run off when one
    group is small.) Efron's rule takes the events of one time out of a and b bit by bit.
    """
    log_odds: list[float] = []
    for time in np.unique(times[observed]):
        dead, at_risk = observed & (times == time), times >= time
        tied = np.arange(dead.sum()) / dead.sum()
        a = (at_risk & member).sum() - tied * (dead & member).sum()
        b = (at_risk & ~member).sum() - tied * (dead & ~member).sum()
        if a[0] > 0 and b[0] > 0:  # otherwise everybody knows whose event it is
            log_odds.extend(np.log(a / b))
    last_other = times[~member].max()
    n_member_events = (observed & member & (times <= last_other)).sum()
    odds, n = np.array(log_odds), len(log_odds)
    log_ratio = brentq(
        lambda beta: expit(beta + odds).sum() - n_member_events,
        # At these ends the sum is below 1 and above n − 1.
        -odds.max() - math.log(n),
        -odds.min() + math.log(n),
        xtol=1e-12,
    )
    p = expit(log_ratio + odds)
    return float(log_ratio), float((p * (1 - p)).sum() ** -0.5)


def _present(times: FloatArray, observed: BoolArray) -> BoolArray:
    """Tell who is still there at the first event; the others are in no risk set.

    A group of only such others is no degree of freedom of the test.
    """
    present: BoolArray = times >= times[observed].min()
    return present


class _EventTable(NamedTuple):
    """All that the log-rank statistic needs to know besides the labels."""

    by_duration: IntArray  # the subjects, the longest duration first
    scores: FloatArray  # of each subject: event minus cumulated hazard; U_g is the sum over g
    at_risk: IntArray  # at each event time: n
    variance: FloatArray  # at each event time: d(n − d)/(n − 1)


def event_table(times: FloatArray, observed: BoolArray) -> _EventTable:
    """Collect the pooled risk sets; they stay the same however the subjects are labelled."""
    event_times, deaths = np.unique(times[observed], return_counts=True)
    by_duration = np.argsort(-times, kind="stable")
    at_risk = np.searchsorted(-times[by_duration], -event_times, side="right")
    hazard = np.concatenate([[0.0], np.cumsum(deaths / at_risk)])
    cumulated = hazard[np.searchsorted(event_times, times, side="right")]
    # The last one at risk leaves no choice, hence no variance: d(n − d) = 0 there.
    variance = deaths * (at_risk - deaths) / np.maximum(at_risk - 1, 1)
    return _EventTable(by_duration, observed - cumulated, at_risk, variance)


def log_rank_statistics(table: _EventTable, codes: IntArray, n_groups: int) -> FloatArray:
    """Log-rank statistic for each row of labels 0 … n_groups − 1."""
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
    # V is singular when a group is in no risk set; U vanishes in the same directions.
    inverse = np.linalg.pinv(V, rcond=1e-10, hermitian=True)
    statistics: FloatArray = np.einsum("bg,bgh,bh->b", U, inverse, U)
    return statistics


def _count_relabelings(codes: IntArray) -> int:
    """Count the different ways to deal out the labels."""
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


def _check_confidence(confidence: object) -> float:
    level = check_number("confidence", confidence, open_low=True)
    if level >= 1.0:
        raise ValueError(f"confidence={level:g} is out of range: it must lie between 0 and 1")
    return level


def _check_follow_up(durations: ArrayLike, events: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Return durations as floats and events as booleans, or say what is wrong with them."""
    times = _as_numbers("durations", durations, "iuf", "finite numbers >= 0")
    flags = _as_numbers("events", events, "biuf", "0 (censored) or 1 (event)")
    if len(times) != len(flags):
        raise ValueError(
            f"durations and events must have the same length, got {len(times)} and {len(flags)}"
        )
    if len(times) == 0:
        raise ValueError("durations is empty: at least one subject is needed")
    bad = np.flatnonzero(~np.isfinite(times) | (times < 0))
    if len(bad):
        raise ValueError(
            f"durations[{bad[0]}] is {times[bad[0]]:g}: durations must be finite numbers >= 0"
        )
    bad = np.flatnonzero((flags != 0) & (flags != 1))
    if len(bad):
        swapped = ((times == 0) | (times == 1)).all()
        hint = "; durations holds only 0 and 1: are the two swapped?" if swapped else ""
        raise ValueError(
            f"events[{bad[0]}] is {flags[bad[0]]:g}: events must be 0 (censored) or 1 (event){hint}"
        )
    return times.astype(float), flags.astype(bool)


def _check_one_dimensional(name: str, values: ArrayLike) -> int:
    """Return the number of values."""
    try:
        shape = np.shape(values)
    except ValueError:
        raise ValueError(f"{name} is ragged: it must hold one value per subject") from None
    if len(shape) != 1:
        raise ValueError(f"{name} has shape {shape}: it must be one-dimensional, one per subject")
    return int(shape[0])


def _as_numbers(name: str, values: ArrayLike, kinds: str, allowed: str) -> NDArray[Any]:
    """Return a one-dimensional array whose dtype is of one of the kinds."""
    _check_one_dimensional(name, values)
    array = np.asarray(values)
    if array.dtype.kind == "O":
        # Columns with missing values arrive as objects; let numpy find their common type.
        array = np.array([np.nan if pd.isna(value) else value for value in array])
    if array.dtype.kind not in kinds and len(array):
        raise TypeError(f"{name} must hold {allowed}, got an array of dtype {array.dtype}")
    return array


def _check_groups(
    groups: ArrayLike, times: FloatArray, observed: BoolArray
) -> tuple[list[Hashable], IntArray]:
    """Return the sorted labels and each subject's position among them."""
    n_labels = _check_one_dimensional("groups", groups)
    if n_labels != len(times):
        raise ValueError(
            f"durations and groups must have the same length, got {len(times)} and {n_labels}"
        )
    # pandas keeps a missing value among strings apart, where numpy would write "nan".
    categorical = pd.Categorical(groups)  # type: ignore[arg-type]
    codes = np.asarray(categorical.codes, dtype=np.intp)
    labels: list[Hashable] = categorical.categories.tolist()
    if (codes < 0).any():
        raise ValueError(f"groups[{int(np.argmax(codes < 0))}] is missing: every subject needs one")
    for code, label in enumerate(labels):
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"groups[{int(np.argmax(codes == code))}] is {label:g}: labels must be integers, "
                "booleans or strings, not measurements"
            )
        if not (codes == code).any():
            raise ValueError(f"groups: group {label!r} is empty: every category needs a subject")
    if len(labels) < 2:
        raise ValueError(f"groups must name at least two groups, got only {labels[0]!r}")
    if not observed.any():
        raise ValueError(
            f"events: all {len(observed)} subjects are censored; comparing survival needs an event"
        )
    return labels, codes
