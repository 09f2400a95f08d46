"""How many times higher the risk is in one of two groups."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from informed.survival.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_confidence,
    check_follow_up,
    check_groups,
)


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


def hazard_ratio(
    durations: ArrayLike, events: ArrayLike, groups: ArrayLike, *, confidence: float = 0.95
) -> HazardRatio:
    """Estimate how many times higher the risk is in one of two groups.

    The ratio is that of a Cox model with the group as its only covariate (Efron's rule for ties,
    Wald interval). A p-value says whether there is a difference; this says how large it is, if
    the hazards are proportional (:func:`proportional_hazards_p_value`). If they are not, it is an
    average over the deaths that were seen, which depends on how long the subjects were followed;
    then :func:`restricted_mean_difference` says more.

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
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    level = check_confidence(confidence)
    check_finite_ratio(times, observed, labels, codes)
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


def check_finite_ratio(
    times: FloatArray, observed: BoolArray, labels: list[Hashable], codes: IntArray
) -> None:
    """Refuse groups that are not two, or whose hazard ratio has no finite estimate."""
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
