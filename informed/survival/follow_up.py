"""Follow-up that ends at a horizon: the sound way, and the paper's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from informed.survival.checks import BoolArray, FloatArray, check_follow_up
from informed.validation import check_number


def truncate_follow_up(
    durations: ArrayLike, events: ArrayLike, horizon: float
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
    horizon : float
        End of follow-up, in the unit of ``durations``; positive.

    Returns
    -------
    durations : float array of shape (n_subjects,)
    events : bool array of shape (n_subjects,)

    Examples
    --------
    >>> truncate_follow_up([12, 60, 75, 90], [1, 1, 1, 0], 60)
    (array([12., 60., 60., 60.]), array([ True,  True, False, False]))
    """
    times, observed = check_follow_up(durations, events)
    horizon = check_number("horizon", horizon, open_low=True)
    return np.minimum(times, horizon), observed & (times <= horizon)


def drop_late_deaths(
    durations: ArrayLike, events: ArrayLike, horizon: float
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
    horizon : float
        End of follow-up, in the unit of ``durations``; positive.

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
    times, observed = check_follow_up(durations, events)
    horizon = check_number("horizon", horizon, open_low=True)
    kept = ~observed | (times <= horizon)
    return np.minimum(times, horizon)[kept], observed[kept], kept
