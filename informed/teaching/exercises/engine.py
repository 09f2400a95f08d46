"""One door for all who judge answers: the self-check in a notebook, and the grading of a class."""

from __future__ import annotations

from typing import Any

from informed.teaching.exercises import limits
from informed.teaching.exercises.registry import Attempt, find
from informed.teaching.exercises.student import words_of
from informed.teaching.exercises.verdict import Told, Verdict

__all__ = ["judge"]


def judge(
    name: str, answer: Any, seed: int | None = None, *, seconds: float | None = None
) -> Verdict:
    """Judge an answer to an exercise.

    Whatever the answer does, raises or is, a verdict comes back, within a limit of time. Only an
    interruption by the one who waits for it is passed on.

    Parameters
    ----------
    name : str
        Label of the exercise.
    answer : object
        A plain value, or any callable. A callable may stand for a function in another process: it
        is called with arguments that can be pickled, and must return what can be pickled. To
        have its memory measured where that is the objective, it has a method ``with_peak`` that
        takes the same arguments and returns the result and the peak in bytes.
    seed : int, optional
        Draws the inputs that a function is tried on. By default those of the self-check, which
        are the same at each call.
    seconds : float, optional
        Time for the whole check. By default `limits.SECONDS`.

    Returns
    -------
    verdict : Verdict
        Right, Not yet or Wrong, and why.

    Raises
    ------
    ValueError
        If no exercise has this name.
    """
    attempt = find(name)
    allowed = limits.SECONDS if seconds is None else seconds
    trying: list[str] = []
    try:
        # Around the waiting and not inside the thread, so that an answer that hangs for ever
        # leaves the caller's warnings as they were.
        with limits.quiet():
            return limits.within(allowed, lambda: _verdict(name, attempt, answer, seed, trying))
    except limits.TimeIsUp:
        where = f"on {trying[0]} your function" if trying else "your answer"
        return Verdict(
            name,
            "Wrong",
            f"{where} had not come to an end after {allowed:g} seconds. Does a loop go on for "
            "ever, or is there a quicker way?",
        )


def _verdict(
    name: str, attempt: Attempt, answer: Any, seed: int | None, trying: list[str]
) -> Verdict:
    try:
        return Verdict(name, "Right", attempt(answer, seed, trying))
    except Told as told:
        return Verdict(name, told.status, told.message)
    except (
        BaseException
    ) as error:  # an answer may be anything, and do anything when it is looked at
        return Verdict(
            name,
            "Wrong",
            f"this answer cannot be tried ({words_of(error)}). Is it of the kind that is asked "
            "for?",
        )
