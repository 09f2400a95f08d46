"""Small checks to try the engine of the self-checks on, and a registry that forgets them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from informed.teaching.exercises import limits, registry
from informed.teaching.exercises.checking import function_check, number_check


@contextmanager
def own_checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Checks that a test registers are gone after it, and no test depends on a quick machine."""
    monkeypatch.setattr(limits, "SECONDS", 300.0)
    registry.load()
    before = dict(registry._ATTEMPTS)
    with registry.registering():
        yield
    registry._ATTEMPTS.clear()
    registry._ATTEMPTS.update(before)


def table(rng: np.random.Generator) -> tuple[Any, int]:
    return rng.normal(size=(5, 3)), 2


def means() -> None:
    """Register an exercise: the means of the columns, times a number."""

    @function_check(
        "ex-means",
        inputs=table,
        mistakes={"you forgot the factor.": lambda X, factor: X.mean(axis=0)},
    )
    def reference(X: Any, factor: int) -> Any:
        return factor * X.sum(axis=0) / len(X)


def right(X, factor):
    return factor * X.mean(axis=0)


NUMBERS = {"a": "1/3", "b": math.sqrt(2), "c": -4, "d": 0}


def numbers() -> None:
    number_check(
        "ex-numbers",
        NUMBERS,
        mistakes={"b is the other root.": [None, -math.sqrt(2), None, None]},
    )
