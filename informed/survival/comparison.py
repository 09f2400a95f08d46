"""Kaplan–Meier curves of several groups, and the log-rank test of whether they are one."""

from __future__ import annotations

import html
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from informed.extras import import_extra
from informed.survival.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_confidence,
    check_follow_up,
    check_groups,
)
from informed.survival.log_rank import event_table, log_rank_test
from informed.survival.restricted import RestrictedMean, means_of_groups

if TYPE_CHECKING:
    import pandas as pd


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
        Subjects whose observation ended without an event at each time.
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
        Number of groups with a subject under observation at the first event, minus one.
    p_value : float
        Upper tail of the chi-squared law; 1 if there are no degrees of freedom.
    curves : tuple of SurvivalCurve
        Kaplan–Meier curve of each group, in the order of the sorted labels.
    expected : tuple of float
        Events expected in each group if all groups shared one hazard.
    confidence : float
        Level of the bands around the curves.
    horizon : float
        Where the time that the restricted means count ends.
    restricted_means : tuple of RestrictedMean
        Mean time until the event, counted up to the horizon, and its standard error, of each group.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    curves: tuple[SurvivalCurve, ...]
    expected: tuple[float, ...]
    confidence: float
    horizon: float
    restricted_means: tuple[RestrictedMean, ...]

    @property
    def summary(self) -> pd.DataFrame:
        """One row per group, with size, events and those expected, median and restricted mean."""
        observed = np.array([curve.n_events for curve in self.curves])
        expected = np.array(self.expected)
        # A group without expectation saw no event time, so it has no observed event either: 0/0.
        ratio = np.full(len(observed), np.nan)
        np.divide(observed, expected, out=ratio, where=expected > 0)
        pandas = import_extra("pandas", "a summary table")
        table: pd.DataFrame = pandas.DataFrame(
            {
                "n": [curve.n for curve in self.curves],
                "observed": observed,
                "expected": expected,
                "observed/expected": ratio,
                "median": [curve.median for curve in self.curves],
                "restricted mean": [found.mean for found in self.restricted_means],
                "standard error": [found.standard_error for found in self.restricted_means],
            },
            index=pandas.Index([curve.group for curve in self.curves]),
        )
        return table

    def _headline(self) -> str:
        plural = "" if self.degrees_of_freedom == 1 else "s"
        return (
            f"log-rank test: chi-squared = {self.statistic:.4g} on {self.degrees_of_freedom} "
            f"degree{plural} of freedom, p = {self.p_value:.3g}"
        )

    def _footnote(self) -> str:
        return f"restricted means: time until the event, counted up to {self.horizon:.4g}"

    def __str__(self) -> str:
        table = self.summary.to_string(float_format="{:.4g}".format)
        return f"{self._headline()}\n{table}\n{self._footnote()}"

    def _repr_html_(self) -> str:
        table = self.summary.to_html(float_format="{:.4g}".format)
        return f"<p>{html.escape(self._headline())}</p>\n{table}\n<p>{self._footnote()}</p>"


def compare_survival(
    durations: ArrayLike,
    events: ArrayLike,
    groups: ArrayLike,
    *,
    confidence: float = 0.95,
    horizon: float | None = None,
) -> SurvivalComparison:
    """Kaplan–Meier curves of two or more groups, and the log-rank test of whether they are one.

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
    horizon : float or None
        Where the time that the restricted means count ends; None: the longest that all groups
        allow, as in :func:`restricted_mean_difference`. It changes nothing else.

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
          n  observed  expected  observed/expected  median  restricted mean  standard error
    high  6         5     2.096              2.385       5              6.5           1.448
    low   6         3     5.904             0.5081      15             14.7           1.912
    restricted means: time until the event, counted up to 20
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    level = check_confidence(confidence)
    table = event_table(times, observed)
    expected = np.bincount(codes, observed - table.scores)
    curves = tuple(
        _kaplan_meier(label, times[codes == code], observed[codes == code], level)
        for code, label in enumerate(labels)
    )
    test = log_rank_test(times, observed, codes, len(labels))
    horizon, restricted_means = means_of_groups(times, observed, labels, codes, horizon)
    return SurvivalComparison(
        statistic=test.statistic,
        degrees_of_freedom=test.degrees_of_freedom,
        p_value=test.p_value,
        curves=curves,
        expected=tuple(expected.tolist()),
        confidence=level,
        horizon=horizon,
        restricted_means=restricted_means,
    )


def _kaplan_meier(
    group: Hashable, times: FloatArray, observed: BoolArray, confidence: float
) -> SurvivalCurve:
    """Kaplan–Meier curve of one group with its band, by lifelines."""
    lifelines = import_extra("lifelines", "a Kaplan–Meier curve")
    fitter = lifelines.KaplanMeierFitter(alpha=1.0 - confidence).fit(times, observed)
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
