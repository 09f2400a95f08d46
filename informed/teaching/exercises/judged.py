"""Checks of exercises that have many right answers: a judge looks at each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from informed.teaching.exercises import registry
from informed.teaching.exercises.forms import plain
from informed.teaching.exercises.student import Student
from informed.teaching.exercises.verdict import Told

__all__ = ["judged_check"]

Judgement = Callable[[Any], "str | None"]


def judged_check(name: str, *, function: bool = False) -> Callable[[Judgement], Judgement]:
    """Register the decorated function as the judge of an exercise that has many right answers.

    Parameters
    ----------
    name : str
        Label of the exercise.
    function : bool
        Whether the answer is a function. Its exceptions and its None are then told.

    Returns
    -------
    decorator : callable
        Takes a function that says what is wrong with an answer, or returns None if nothing is.
    """

    def decorate(judgement: Judgement) -> Judgement:
        def attempt(answer: Any, seed: int | None, trying: list[str]) -> str:
            if function:
                answer = Student(answer, name, trying)
            elif answer is None or answer is ...:
                raise Told("Not yet", "put your answer in the place of None and run this cell.")
            fault = judgement(answer if function else plain(answer))
            if fault is not None:
                raise Told("Wrong", fault)
            return "your answer has all that is asked for."

        registry.add(name, attempt)
        return judgement

    return decorate
