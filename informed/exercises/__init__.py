"""Exercises that check themselves.

``check("ex-bincount", average)`` tries an answer to an exercise of the book and says whether it is
right, and if not, why, in words; it never says what the right answer is. How a chapter registers
its checks stands in `informed.exercises.checking`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from informed.exercises.checking import Verdict, find

__all__ = ["Verdict", "check"]


def check(name: str, answer: Any = None) -> Verdict:
    """Try an answer to an exercise.

    Parameters
    ----------
    name : str
        Label of the exercise, for instance ``"ex-bincount"``.
    answer : object
        Your answer: the function that you wrote (without calling it), your number, or the list of
        your numbers, as the exercise asks.

    Returns
    -------
    verdict : Verdict
        Right, Not yet or Wrong, and why.

    Raises
    ------
    ValueError
        If no exercise has this name. A wrong answer raises nothing.

    Examples
    --------
    >>> from informed.exercises import check
    >>> check("ex-triangle", [1, 2, 3])
    Wrong: d(x1, x2), d(x2, x3): not this number.
    >>> check("ex-triangle", [4, 4, 4])
    Wrong: these are squared distances. Take the root.
    """
    load()
    return find(name).judge(answer)


@cache
def load() -> None:
    """Import the module of each chapter, which registers its checks."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
