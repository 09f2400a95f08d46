"""Follow-ups, published and drawn, and slow ways to compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st


def log_rank_by_loops(durations: Any, events: Any, groups: Any) -> tuple[float, dict[Any, float]]:
    """Statistic and expected events, event time by event time, straight from the definition."""
    names = sorted(set(groups))
    k = len(names)
    expected, difference, variance = np.zeros(k), np.zeros(k), np.zeros((k, k))
    subjects = list(zip(durations, events, groups, strict=True))
    for time in sorted({t for t, e, _ in subjects if e}):
        at_risk = [g for t, _, g in subjects if t >= time]
        died = [g for t, e, g in subjects if e and t == time]
        n, d = len(at_risk), len(died)
        for a, one in enumerate(names):
            share = at_risk.count(one) / n
            expected[a] += d * share
            difference[a] += died.count(one) - d * share
            for b, other in enumerate(names):
                if n > 1:
                    rest = (a == b) - at_risk.count(other) / n
                    variance[a, b] += d * (n - d) / (n - 1) * share * rest
    statistic = difference @ np.linalg.pinv(variance, rcond=1e-9) @ difference
    return float(statistic), dict(zip(names, expected, strict=True))


def product_limit(durations: np.ndarray, events: np.ndarray, time: float) -> float:
    survival = 1.0
    for t in sorted(set(durations[events])):
        if t <= time:
            survival *= 1 - (durations[events] == t).sum() / (durations >= t).sum()
    return survival


def cohort(seed: int, n: int = 60, n_groups: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Subjects whose group says nothing about their survival or censoring."""
    rng = np.random.default_rng(seed)
    death, end = rng.exponential(30, n), rng.uniform(5, 60, n)
    return np.minimum(death, end), death <= end, rng.permutation(np.arange(n) % n_groups)


# lifelines takes some tens of milliseconds per call.
quick = settings(deadline=None, max_examples=30)


@st.composite
def cohorts(draw: st.DrawFn, max_groups: int = 4) -> tuple[list[int], list[int], list[int]]:
    """Small cohorts with many ties; at least two groups and one event."""
    n = draw(st.integers(2, 25))
    durations = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    events = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(any))
    labels = st.lists(st.integers(0, max_groups - 1), min_size=n, max_size=n)
    groups = draw(labels.filter(lambda values: len(set(values)) > 1))
    return durations, events, groups
