"""Whether one hazard ratio can stand for all times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from informed.extras import import_extra
from informed.survival.checks import check_follow_up, check_groups
from informed.survival.hazard import check_finite_ratio

__all__ = ["proportional_hazards_p_value"]


def proportional_hazards_p_value(
    durations: ArrayLike, events: ArrayLike, groups: ArrayLike
) -> float:
    """Test that the hazards of two groups have the same ratio at all times.

    A hazard ratio is one number, so it describes two groups only if their hazards are
    **proportional**. The test, by lifelines, is that of Grambsch and Therneau: whether the
    residuals of the Cox model (at each event, the group of the one who has it minus the share
    expected by the model) rise or fall with the rank of the event. It sees ratios that go one way;
    a ratio that rises and falls again may escape it.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    groups : array of shape (n_subjects,)
        Exactly two different labels.

    Returns
    -------
    p_value : float
        Small if the ratio changes with time.

    Examples
    --------
    Crossing hazards: those of ``b`` die late, but then all at once.

    >>> a, b = [1, 2, 3, 4, 12, 13, 14, 15], [5, 6, 7, 8, 8.5, 9, 9.5, 10]
    >>> p_value = proportional_hazards_p_value(a + b, [1] * 16, ["a"] * 8 + ["b"] * 8)
    >>> print(f"{p_value:.3f}")
    0.007
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    check_finite_ratio(times, observed, labels, codes)
    lifelines = import_extra("lifelines", "a test of proportional hazards")
    statistics = import_extra("lifelines.statistics", "a test of proportional hazards")
    pandas = import_extra("pandas", "a test of proportional hazards")
    table = pandas.DataFrame({"time": times, "event": observed, "group": codes.astype(float)})
    fitted = lifelines.CoxPHFitter().fit(table, "time", "event")
    test = statistics.proportional_hazard_test(fitted, table, time_transform="rank")
    return float(np.squeeze(test.p_value))
