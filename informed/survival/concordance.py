"""How well a score orders subjects by their survival."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from informed.survival.checks import BoolArray, FloatArray, check_follow_up

__all__ = ["concordance_index"]


def concordance_index(
    durations: ArrayLike, events: ArrayLike, risks: ArrayLike, strata: ArrayLike | None = None
) -> float:
    """Share of pairs of subjects that a score puts in the order in which they had the event.

    A pair counts if it is known who had the event first: the earlier of the two durations ends with
    an event, or both are equal and only one of them does. It is in order if the one with the
    earlier event has the higher risk; a tie of risks counts one half. So 1 is a perfect order, 0 a
    reversed one, and a score that knows nothing has ½ on average (Harrell's C).

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    risks : array of shape (n_subjects,)
        Score; higher means an earlier event. Only its order matters.
    strata : array of shape (n_subjects,) or None
        Labels; only pairs with the same label count. What the strata have to do with survival
        (another treatment, another stage) then plays no part.

    Returns
    -------
    index : float
        NaN if no pair counts.

    Examples
    --------
    >>> concordance_index([2, 3, 5, 9], [1, 1, 0, 1], [4, 1, 3, 2])
    0.6
    >>> concordance_index([2, 3, 5, 9], [1, 1, 0, 1], [4, 1, 3, 2], ["a", "b", "a", "b"])
    0.5
    """
    times, observed = check_follow_up(durations, events)
    scores = np.asarray(risks, dtype=float)
    if scores.shape != times.shape or not np.isfinite(scores).all():
        raise ValueError(
            f"risks must hold a finite number for each of the {len(times)} subjects, got shape "
            f"{scores.shape}"
        )
    labels = None if strata is None else np.asarray(strata)
    if labels is not None and labels.shape != times.shape:
        raise ValueError(
            f"strata has shape {labels.shape}: it must hold one label for each of the "
            f"{len(times)} subjects"
        )
    known = first_known(times, observed)
    if labels is not None:
        known &= labels[:, None] == labels
    return share_in_order(known, scores)


def first_known(times: FloatArray, observed: BoolArray) -> BoolArray:
    """Whether subject i (row) is known to have had the event before subject j (column)."""
    before = (times[:, None] < times) | ((times[:, None] == times) & ~observed)
    known: BoolArray = observed[:, None] & before
    return known


def share_in_order(known: BoolArray, risks: FloatArray) -> float:
    """Share of the known pairs in which the first has the higher risk; ties count one half."""
    earlier, later = np.nonzero(known)
    if len(earlier) == 0:
        return float("nan")
    return float(np.mean((np.sign(risks[earlier] - risks[later]) + 1) / 2))
