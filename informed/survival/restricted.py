r"""Restricted mean survival: the time that is lived up to a horizon.

For a survival function :math:`S` and a horizon :math:`\tau` the **restricted mean** is

.. math:: \mu(\tau) = \mathbb E[\min(T, \tau)] = \int_0^\tau S(t)\, dt ,

the mean time until the event if everybody is watched for :math:`\tau` and no longer. It has the
unit of the durations, is estimated by the area under the Kaplan–Meier curve, and assumes nothing
about how the hazards of two groups compare; a hazard ratio is one number only if it is the same at
all times (:func:`informed.survival.proportional_hazards_p_value`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from informed.survival.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    check_confidence,
    check_follow_up,
    check_groups,
)
from informed.validation import check_number


class RestrictedMean(NamedTuple):
    """Result of :func:`restricted_mean`: a pair that can be unpacked.

    Attributes
    ----------
    mean : float
        Area under the Kaplan–Meier curve from zero to the horizon.
    standard_error : float
        Its estimated standard error.
    """

    mean: float
    standard_error: float


@dataclass(frozen=True)
class MeanDifference:
    """Result of :func:`restricted_mean_difference`.

    Attributes
    ----------
    difference : float
        Restricted mean of ``group`` minus that of ``reference``.
    lower, upper : float
        Confidence interval.
    confidence : float
        Level of the interval.
    p_value : float
        Test of a difference of zero; NaN if the standard error is zero.
    standard_error : float
        Of the difference.
    horizon : float
        Where the time that is counted ends.
    means : tuple of RestrictedMean
        Of ``reference`` and of ``group``.
    group, reference : hashable
        Labels of the two groups.
    """

    difference: float
    lower: float
    upper: float
    confidence: float
    p_value: float
    standard_error: float
    horizon: float
    means: tuple[RestrictedMean, RestrictedMean]
    group: Hashable
    reference: Hashable

    def __str__(self) -> str:
        return (
            f"mean up to {self.horizon:.4g} of {self.group!r} minus {self.reference!r}: "
            f"{self.difference:.3g} ({100 * self.confidence:g} % interval {self.lower:.3g} to "
            f"{self.upper:.3g}), p = {self.p_value:.3g}"
        )


def restricted_mean(durations: ArrayLike, events: ArrayLike, horizon: float) -> RestrictedMean:
    r"""Estimate the mean time until the event, counted up to a horizon.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`; subjects of one group.
    horizon : float
        Where the time that is counted ends, in the unit of ``durations``; positive. It must not lie
        beyond the last subject seen, unless that subject had the event: what the curve does after
        that nobody knows.

    Returns
    -------
    result : RestrictedMean
        The pair (mean, standard_error).

    Notes
    -----
    With :math:`d_j` events among :math:`n_j` subjects at risk at the time :math:`t_j`, and
    :math:`A_j = \int_{t_j}^\tau \hat S(t)\, dt` the area that is left after it, the variance is
    that of Greenwood's formula carried through the integral,

    .. math:: \sum_{t_j \le \tau} \frac{d_j}{n_j (n_j - d_j)}\, A_j^2 ,

    where a term with :math:`d_j = n_j` is zero, as its area is. Without censoring the mean is
    the average of :math:`\min(T_i, \tau)`, and the variance is the empirical one divided by
    :math:`n`.

    Examples
    --------
    >>> mean, error = restricted_mean([1, 2, 3, 4], [1, 1, 1, 1], 4)
    >>> print(f"{mean:.2f} ± {error:.2f}")
    2.50 ± 0.56
    """
    times, observed = check_follow_up(durations, events)
    horizon = check_number("horizon", horizon, open_low=True)
    _check_known(horizon, times, observed, "")
    return mean_up_to(times, observed, horizon)


def restricted_mean_difference(
    durations: ArrayLike,
    events: ArrayLike,
    groups: ArrayLike,
    horizon: float | None = None,
    *,
    confidence: float = 0.95,
) -> MeanDifference:
    """Estimate how much longer one of two groups lives, of the time up to a horizon.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    groups : array of shape (n_subjects,)
        Exactly two different labels. The first of the sorted labels is the reference.
    horizon : float or None
        As in :func:`restricted_mean`, for both groups. None: the longest that both allow. A horizon
        should be chosen for its meaning, before the data are seen; the longest one lies where
        few are left.
    confidence : float
        Level of the interval, which is that of a normal law.

    Returns
    -------
    result : MeanDifference

    Examples
    --------
    >>> durations = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20]
    >>> events = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> print(restricted_mean_difference(durations, events, ["high"] * 6 + ["low"] * 6, 12))
    mean up to 12 of 'low' minus 'high': 4.9 (95 % interval 1.87 to 7.93), p = 0.00151
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    level = check_confidence(confidence)
    if len(labels) != 2:
        raise ValueError(f"groups must name exactly two groups, got {len(labels)}: {labels}")
    horizon, (reference, group) = means_of_groups(times, observed, labels, codes, horizon)
    difference = group.mean - reference.mean
    error = float(np.hypot(group.standard_error, reference.standard_error))
    width = float(norm.isf((1.0 - level) / 2)) * error
    return MeanDifference(
        difference=difference,
        lower=difference - width,
        upper=difference + width,
        confidence=level,
        p_value=float(2 * norm.sf(abs(difference) / error)) if error > 0 else float("nan"),
        standard_error=error,
        horizon=horizon,
        means=(reference, group),
        group=labels[1],
        reference=labels[0],
    )


def means_of_groups(
    times: FloatArray,
    observed: BoolArray,
    labels: list[Hashable],
    codes: IntArray,
    horizon: float | None,
) -> tuple[float, tuple[RestrictedMean, ...]]:
    """Return the horizon and each group's restricted mean; other checks are the caller's."""
    members = [codes == code for code in range(len(labels))]
    if horizon is None:
        horizon = min(_known_up_to(times[own], observed[own]) for own in members)
        if np.isinf(horizon):  # every group has died out: there is nothing left to count
            horizon = float(times.max())
    else:
        horizon = check_number("horizon", horizon, open_low=True)
        for label, own in zip(labels, members, strict=True):
            _check_known(horizon, times[own], observed[own], f" of group {label!r}")
    return horizon, tuple(mean_up_to(times[own], observed[own], horizon) for own in members)


def mean_up_to(times: FloatArray, observed: BoolArray, horizon: float) -> RestrictedMean:
    """Restricted mean of one group; no checks, for callers that did them or draw many samples."""
    counted = observed & (times <= horizon)
    event_times, deaths = np.unique(times[counted], return_counts=True)
    at_risk = len(times) - np.searchsorted(np.sort(times), event_times)
    survival = np.concatenate([[1.0], np.cumprod(1.0 - deaths / at_risk)])
    areas = survival * np.diff(np.concatenate([[0.0], event_times, [horizon]]))
    left = np.cumsum(areas[::-1])[-2::-1]  # after each event time
    spread = deaths / (at_risk * np.maximum(at_risk - deaths, 1))
    return RestrictedMean(float(areas.sum()), float(np.sqrt(np.sum(spread * left**2))))


def _known_up_to(times: FloatArray, observed: BoolArray) -> float:
    """Last time at which the Kaplan–Meier curve is known; it stays at zero once it is there."""
    last = times.max()
    return float("inf") if observed[times == last].all() else float(last)


def _check_known(horizon: float, times: FloatArray, observed: BoolArray, whose: str) -> None:
    known = _known_up_to(times, observed)
    if horizon > known:
        raise ValueError(
            f"horizon={horizon:g} lies beyond {known:g}, when the last subject{whose} was seen "
            "without event: the curve is not known after that"
        )
