"""What p-values do when there is nothing to find, and what dropping late deaths does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy.stats import chi2
from sklearn.utils import check_random_state

from informed.studies.experiments.results import Result, Table
from informed.survival import drop_late_deaths, log_rank_p_value, truncate_follow_up
from informed.survival.log_rank import event_table, log_rank_statistics
from informed.validation import Array, check_count, check_number

__all__ = ["GroupingNull", "LateDeaths", "grouping_null", "late_deaths"]

LATE_DEATH_RULES = ("censor", "drop")


# --------------------------------------------------------------------- many groupings, one survival


@dataclass(frozen=True, eq=False)
class GroupingNull(Result):
    """Log-rank p-values of several groupings of the same subjects, as observed and under the null.

    Attributes
    ----------
    p_values : array of shape (n_groupings,)
        Log-rank p-value of each grouping, from the chi-squared law.
    null_p_values : array of shape (n_permutations, n_groupings)
        The same after the follow-ups were permuted among the subjects. All groupings in a row are
        judged by the same permutation, so that what they have in common stays.
    """

    name: ClassVar[str] = "grouping_null"
    p_values: Array
    null_p_values: Array

    def p_value(self, summary: Callable[..., Any]) -> float:
        """Permutation p-value of any summary of the p-values; small summaries count as extreme.

        Parameters
        ----------
        summary : callable
            Called as ``summary(p_values, axis=-1)``: ``np.min`` for the best of several groupings,
            ``np.mean`` or ``np.median`` for restarts.

        Returns
        -------
        float
            (b + 1)/(B + 1) if b of B permutations give a summary at most the observed one.
        """
        observed = float(summary(self.p_values, axis=-1))
        # Equal summaries must count as equal although they are rounded differently.
        reached = summary(self.null_p_values, axis=-1) <= observed * (1 + 1e-9)
        return float((reached.sum() + 1) / (len(self.null_p_values) + 1))

    def rejection_rate(self, summary: Callable[..., Any], alpha: float = 0.05) -> float:
        """How often the summary is at most ``alpha`` although there is nothing to find.

        Parameters
        ----------
        summary : callable
            As in :meth:`p_value`.
        alpha : float
            The level that was meant.

        Returns
        -------
        float
            At most about ``alpha`` if the summary is a p-value.
        """
        alpha = check_number("alpha", alpha, open_low=True)
        return float(np.mean(summary(self.null_p_values, axis=-1) <= alpha))

    @property
    def table(self) -> Table:
        """Smallest, median and mean p as observed, how often below 0.05 by chance, and permuted."""
        summaries: dict[str, Callable[..., Any]] = {
            "smallest": np.min,
            "median": np.median,
            "mean": np.mean,
        }
        return Table(
            (f"{len(self.p_values)} groupings", "observed", "below 0.05 by chance", "permutation"),
            [
                (label, float(f(self.p_values)), self.rejection_rate(f), self.p_value(f))
                for label, f in summaries.items()
            ],
        )


def grouping_null(
    durations: ArrayLike,
    events: ArrayLike,
    groupings: ArrayLike,
    *,
    n_permutations: int = 999,
    random_state: int | RandomState | None = None,
) -> GroupingNull:
    """Permute the follow-ups many times, under several groupings of the same subjects.

    One grouping comes from each neighbourhood size, or from each k-means seed. If expression says
    nothing about survival, all permutations of the follow-ups are equally likely, and so is the
    rank of *any* number that is computed from the groupings and the survival.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`informed.survival.compare_survival`.
    groupings : array of shape (n_groupings, n_subjects)
        Two groups in each row, 0 and 1; found without looking at the follow-ups.
    n_permutations : int
        Number of permutations.
    random_state : int, RandomState or None
        Seed of the permutations.

    Returns
    -------
    GroupingNull

    Examples
    --------
    >>> durations, events = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20], [1] * 12
    >>> groupings = [[0] * 6 + [1] * 6, [0, 1] * 6]
    >>> null = grouping_null(durations, events, groupings, random_state=0)
    >>> null.p_values.round(3)
    array([0.012, 0.45 ])
    >>> print(f"{null.p_value(np.min):.3f}")
    0.042
    """
    rows = np.asarray(groupings)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(
            f"groupings has shape {rows.shape}: it must hold at least one grouping in its rows"
        )
    if not np.isin(rows, (0, 1)).all():
        raise ValueError("groupings must hold 0 and 1 only, the two groups of each grouping")
    n_permutations = check_count("n_permutations", n_permutations, 1)
    observed = np.array([log_rank_p_value(durations, events, row) for row in rows])

    rng = check_random_state(random_state)
    n_subjects = rows.shape[1]
    orders = np.argsort(rng.random_sample((n_permutations, n_subjects)), axis=1)
    table = event_table(np.asarray(durations, dtype=float), np.asarray(events).astype(bool))
    statistics = [log_rank_statistics(table, row.astype(np.intp)[orders], 2) for row in rows]
    return GroupingNull(observed, chi2.sf(np.transpose(statistics), 1))


# ------------------------------------------------------------------------------ late deaths dropped


@dataclass(frozen=True, eq=False)
class LateDeaths(Result):
    """Two ways to cut follow-up at a horizon, on simulated cohorts of two groups.

    Attributes
    ----------
    rules : tuple of str
        ``"censor"`` (whoever lives past the horizon is censored there) and ``"drop"`` (whoever is
        seen to die after it is removed, as in the paper's gene experiment).
    p_values : array of shape (2, n_repeats)
        Log-rank p-value by rule.
    survival : array of shape (2, n_repeats, 2)
        Kaplan–Meier estimate at the horizon by rule and group.
    true_survival : array of shape (2,)
        What it estimates.
    late : int array of shape (n_repeats, 2)
        Deaths seen after the horizon in each group.
    """

    name: ClassVar[str] = "late_deaths"
    rules: tuple[str, ...]
    p_values: Array
    survival: Array
    true_survival: Array
    late: Array

    @property
    def table(self) -> Table:
        """Mean survival at the horizon in both groups, and how often p is at most 0.05."""
        rows: list[tuple[object, ...]] = [("truth", *self.true_survival.tolist(), "")]
        for rule, p, survival in zip(self.rules, self.p_values, self.survival, strict=True):
            rows.append((rule, *survival.mean(axis=0).tolist(), f"{np.mean(p <= 0.05):.3f}"))
        return Table(("late deaths", "survival, group 0", "group 1", "p below 0.05"), rows)


def late_deaths(
    *,
    early: Sequence[float] = (0.008, 0.008),
    late: Sequence[float] = (0.008, 0.008),
    horizon: float = 60.0,
    follow_up: tuple[float, float] = (40.0, 120.0),
    n_samples: int = 82,
    n_repeats: int = 400,
    random_state: int | RandomState | None = 0,
) -> LateDeaths:
    """Simulate two groups, half the subjects each, and cut their follow-up at a horizon.

    The hazard of group g is ``early[g]`` before the horizon and ``late[g]`` after it. Follow-up
    ends at a time that is uniform on ``follow_up``, the same law for both groups.

    Parameters
    ----------
    early, late : two numbers
        Hazard of each group before and after the horizon, per unit of time.
    horizon : float
        Where the follow-up is cut (paper: 60 months).
    follow_up : tuple of float
        Earliest and latest end of follow-up.
    n_samples : int
        Number of subjects (paper: 82).
    n_repeats : int
        Number of simulated cohorts.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    LateDeaths

    Examples
    --------
    Alike until the horizon, different only afterwards:

    >>> result = late_deaths(late=(0.04, 0.001), n_repeats=200)
    >>> censored, dropped = (result.p_values <= 0.05).mean(axis=1)
    >>> bool(dropped > 2 * censored)
    True
    """
    early_hazards = _two_hazards("early", early)
    late_hazards = _two_hazards("late", late)
    horizon = check_number("horizon", horizon, open_low=True)
    first = check_number("follow_up", follow_up[0])
    last = check_number("follow_up", follow_up[1], max(first, horizon), open_low=True)
    n_samples = check_count("n_samples", n_samples, 4)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    rng = check_random_state(random_state)

    groups = np.arange(n_samples) % 2
    p_values, survival, late_counts = [], [], []
    for _ in range(n_repeats):
        # The cumulative hazard at the time of death is standard exponential.
        cumulated = rng.exponential(size=n_samples)
        before = cumulated / early_hazards[groups]
        after = horizon + (cumulated - early_hazards[groups] * horizon) / late_hazards[groups]
        times = np.where(before <= horizon, before, after)
        ends = rng.uniform(first, last, n_samples)
        durations, events = np.minimum(times, ends), times <= ends
        censored = (*truncate_follow_up(durations, events, horizon), np.ones(n_samples, dtype=bool))
        dropped = drop_late_deaths(durations, events, horizon)
        p_values.append([log_rank_p_value(t, e, groups[k]) for t, e, k in (censored, dropped)])
        survival.append(
            [
                [_survival_at_end(t[groups[k] == g], e[groups[k] == g]) for g in (0, 1)]
                for t, e, k in (censored, dropped)
            ]
        )
        late_counts.append(np.bincount(groups[~dropped[2]], minlength=2))
    return LateDeaths(
        LATE_DEATH_RULES,
        np.transpose(p_values),
        np.transpose(survival, (1, 0, 2)),
        np.exp(-early_hazards * horizon),
        np.array(late_counts),
    )


def _two_hazards(name: str, values: Sequence[float]) -> Array:
    if np.shape(values) != (2,):
        raise ValueError(f"{name}={values!r} must hold two hazards, one for each group")
    return np.array([check_number(name, value, open_low=True) for value in values])


def _survival_at_end(durations: Array, events: Array) -> float:
    """Kaplan–Meier estimate after the last event; no ties, as times are continuous."""
    at_risk = len(durations) - np.searchsorted(np.sort(durations), durations[events])
    return float(np.prod(1 - 1 / at_risk))
