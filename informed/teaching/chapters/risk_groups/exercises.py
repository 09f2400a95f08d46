"""Checks for the exercises of the chapter on risk groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-rg-six",
    {
        "S(4)": Fraction(5, 8),
        "S(5)": Fraction(5, 12),
        "E": Fraction(4, 3),
        "V": Fraction(13, 18),
        "Z²": Fraction(8, 13),
    },
    mistakes={
        "you left the censored patients out. They are at risk until they were last seen.": [
            Fraction(1, 2),
            Fraction(1, 4),
            None,
            None,
            None,
        ],
        "you counted all six at risk at each time. Those who died or left before are not.": [
            Fraction(2, 3),
            Fraction(1, 2),
            None,
            None,
            None,
        ],
        "you counted the censored patients as deaths in S.": [
            Fraction(1, 2),
            Fraction(1, 3),
            None,
            None,
            None,
        ],
        "the last number is Z; the square is asked for.": [
            Fraction(5, 8),
            Fraction(5, 12),
            Fraction(4, 3),
            Fraction(13, 18),
            (8 / 13) ** 0.5,
        ],
    },
)


def _follow_up(rng: np.random.Generator) -> tuple[Array, Array]:
    """Durations with ties, of deaths and of censorings, and somebody alive at the end."""
    n = draw.between(rng, 11, 18)
    durations = rng.integers(1, 9, size=n).astype(float)
    events = (rng.uniform(size=n) < 0.6).astype(int)
    durations[0], events[0] = 9.5, 0
    durations[1], events[1] = 2.0, 1
    order = rng.permutation(n)
    return durations[order], events[order]


def _follow_up_and_time(rng: np.random.Generator) -> tuple[Array, Array, float]:
    return *_follow_up(rng), float(rng.integers(4, 8))


def _at(rng: np.random.Generator, t: float) -> tuple[Array, Array, float]:
    return *_follow_up(rng), t


def _nobody_censored(rng: np.random.Generator) -> tuple[Array, Array]:
    durations, events = _follow_up(rng)
    return durations, np.ones_like(events)


def _counts(durations: Array, events: Array, t: float) -> list[tuple[int, int]]:
    """Deaths and patients at risk at each death time up to t, counted one by one."""
    times = sorted({y for y, e in zip(durations, events, strict=True) if e and y <= t})
    return [
        (
            sum(1 for y, e in zip(durations, events, strict=True) if e and y == time),
            sum(1 for y in durations if y >= time),
        )
        for time in times
    ]


def _survival(durations: Array, events: Array, t: float) -> float:
    return float(np.prod([1 - d / n for d, n in _counts(durations, events, t)]))


def _greenwood_sum(durations: Array, events: Array, t: float) -> float:
    return sum(d / (n * (n - d)) for d, n in _counts(durations, events, t))


def _as_a_share(durations: Array, events: Array, t: float) -> float:
    survival = _survival(durations, events, t)
    return float(np.sqrt(survival * (1 - survival) / len(durations)))


def _all_are_deaths(durations: Array, events: Array, t: float) -> float:
    deaths = np.ones_like(events)
    survival = _survival(durations, deaths, t)
    return survival * float(np.sqrt(_greenwood_sum(durations, deaths, t)))


@function_check(
    "ex-rg-greenwood",
    inputs=_follow_up_and_time,
    edges={
        "nobody has died by `t`": lambda rng: _at(rng, 0.5),
        "`t` is between two times": lambda rng: _at(rng, 4.5),
        "somebody dies at `t`": lambda rng: _at(rng, 2.0),
    },
    mistakes={
        "this is the standard error of the logarithm of the curve. Go back to the curve.": (
            lambda durations, events, t: np.sqrt(_greenwood_sum(durations, events, t))
        ),
        "this is the standard error of a share, which is right only if nobody is censored.": (
            _as_a_share
        ),
        "you sum over all death times; take those up to `t`.": lambda durations, events, t: (
            _survival(durations, events, t)
            * np.sqrt(_greenwood_sum(durations, events, durations[events == 1].max()))
        ),
        "you count censorings as deaths. Only those with event 1 died.": _all_are_deaths,
    },
)
def _greenwood(durations: Array, events: Array, t: float) -> Any:
    return _survival(durations, events, t) * np.sqrt(_greenwood_sum(durations, events, t))


def _lived_through(durations: Array, events: Array, y: float) -> float:
    return sum(d / n for d, n in _counts(durations, events, y))


def _scores_before(durations: Array, events: Array) -> Array:
    # The sum stops before the patient's own time, as if `<` stood in the place of `≤`.
    return np.array(
        [
            e - _lived_through(durations, events, np.nextafter(y, 0))
            for y, e in zip(durations, events, strict=True)
        ]
    )


def _scores_without_ties(durations: Array, events: Array) -> Array:
    # Each death time counts one death, however many there were.
    return np.array(
        [
            e - sum(1 / n for _, n in _counts(durations, events, y))
            for y, e in zip(durations, events, strict=True)
        ]
    )


@function_check(
    "ex-rg-scores",
    inputs=_follow_up,
    edges={"nobody is censored": _nobody_censored},
    mistakes={
        "the patient's own time belongs to the sum: the condition has a `≤`.": _scores_before,
        "several patients may die at one time: the sum has their number above.": (
            _scores_without_ties
        ),
        "this is the risk that was lived through; the score is the event minus it.": (
            lambda durations, events: np.array(
                [_lived_through(durations, events, y) for y in durations]
            )
        ),
    },
)
def _scores(durations: Array, events: Array) -> Any:
    return np.array(
        [e - _lived_through(durations, events, y) for y, e in zip(durations, events, strict=True)]
    )
