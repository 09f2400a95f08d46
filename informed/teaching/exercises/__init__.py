"""Exercises that check themselves.

``check("ex-bincount", average)`` tries an answer to an exercise of the book and says whether it is
right, and if not, why, in words; it never says what the right answer is.
"""

from __future__ import annotations

from typing import Any

from informed.teaching.exercises.engine import judge
from informed.teaching.exercises.notes import Progress, passed, progress, remember
from informed.teaching.exercises.verdict import Verdict

__all__ = ["Progress", "Verdict", "check", "passed", "progress"]


def check(name: str, answer: Any = None, *more: Any) -> Verdict:
    """Try an answer to an exercise.

    Parameters
    ----------
    name : str
        Label of the exercise, for instance ``"ex-bincount"``.
    answer : object
        Your answer: the function that you wrote (without calling it), your number, or the list of
        your numbers, as the exercise asks. Lists, tuples, arrays, tables and dictionaries will do;
        three digits are enough, and text such as ``"2/3"`` or ``"sqrt(6)"`` is understood.
    *more : object
        Further numbers, if you give them without a list.

    Returns
    -------
    verdict : Verdict
        Right, Not yet or Wrong, and why. It takes some seconds at most.

    Raises
    ------
    ValueError
        If no exercise has this name. A wrong answer raises nothing.

    Examples
    --------
    >>> from informed.exercises import check
    >>> check("ex-triangle", [1, 2, 3])
    Wrong: d(x1, x2), d(x2, x3): not this number.
    >>> check("ex-triangle", 4, 4, 4)
    Wrong: these are squared distances. Take the root.
    """
    verdict = judge(name, [answer, *more] if more else answer)
    remember(verdict)
    return verdict
