"""Checks of exercises whose answer is one number or several, by hand or computed once."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from informed.teaching.exercises import registry
from informed.teaching.exercises.forms import flat, is_rounded, number
from informed.teaching.exercises.sealed import sealed_numbers
from informed.teaching.exercises.verdict import Told

__all__ = ["number_check"]

Number = float | Fraction | str | np.floating[Any]


def number_check(
    name: str,
    answers: Number | Sequence[Number] | Mapping[str, Number],
    *,
    mistakes: Mapping[str, Number | Sequence[Number | None]] | None = None,
    any_order: Sequence[str] = (),
    rtol: float = 0.0,
) -> None:
    """Register the numbers that answer an exercise. Three digits are enough for each.

    Parameters
    ----------
    name : str
        Label of the exercise.
    answers : number, sequence of numbers, or mapping from str to number
        What is right, in the order in which it is asked for; as a mapping, with the name of each.
        A fraction may be given as a string, ``"2/3"``.
    mistakes : mapping from str to number or sequence of numbers, optional
        What to say to whom: a hint, and the numbers of one who needs it. None stands for any.
    any_order : sequence of str
        Names of numbers that may change places.
    rtol : float
        A number is right, too, if it differs by no more than ``rtol * abs(expected)``: for numbers
        that are measured.

    Examples
    --------
    >>> from informed.teaching.exercises import registry
    >>> from informed.teaching.exercises.engine import judge
    >>> with registry.registering():
    ...     number_check("ex-doc-third", 1 / 3)
    >>> judge("ex-doc-third", "1/3")
    Right: that is the number.
    >>> judge("ex-doc-third", 0.333)
    Right: that is the number.
    >>> judge("ex-doc-third", 0.33)
    Wrong: close, but not right to three digits. Compute with more, and round at the end.
    """
    names = list(answers) if isinstance(answers, Mapping) else None
    values = _listed(list(answers.values()) if isinstance(answers, Mapping) else answers)
    wrong = {hint: _listed(numbers) for hint, numbers in (mistakes or {}).items()}
    for hint, numbers in wrong.items():
        if len(numbers) != len(values):
            raise ValueError(
                f"mistakes: {hint!r} has {len(numbers)} numbers, the answer {len(values)}"
            )
    free = [(names or []).index(each) for each in any_order]
    check = _NumberCheck(values, names, wrong, free, rtol)
    # A function of its own, not a bound method, from which the numbers could be read.
    registry.add(
        name,
        lambda answer, seed, trying: check.praise(answer),
        lambda: sealed_numbers(
            name, values, [check._title(k) for k in range(len(values))], wrong, free, rtol
        ),
    )


def _listed(values: Any) -> list[Any]:
    """Return numbers that an author gives as floats, and None as it is."""
    given = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    return [None if value is None else number(value) for value in given]


@dataclass(frozen=True)
class _NumberCheck:
    """Compares numbers with the right ones; see `number_check`."""

    answers: list[float]
    names: list[str] | None
    mistakes: dict[str, list[Any]]
    any_order: list[int]
    rtol: float

    def praise(self, answer: Any) -> str:
        """Say that the numbers are right, or raise which one is not."""
        found = self._in_order(self._numbers(answer))
        wrong = [k for k, value in enumerate(self.answers) if not self._close(found[k], value)]
        if not wrong:
            return "that is the number." if len(found) == 1 else "all the numbers are right."
        for hint, numbers in self.mistakes.items():
            if all(n is None or self._close(f, n) for f, n in zip(found, numbers, strict=True)):
                raise Told("Wrong", hint)
        pairs = [(found[k], self.answers[k]) for k in wrong]
        which = "" if len(self.answers) == 1 else f"{', '.join(map(self._title, wrong))}: "
        raise Told("Wrong", f"{which}{self._slip(pairs)}")

    def _slip(self, pairs: list[tuple[float, float]]) -> str:
        """Name a slip that explains all the wrong numbers, given with the right ones."""
        if all(self._close(f, -w) for f, w in pairs):
            return "look at the sign."
        if all(self._close(f, w**2) for f, w in pairs):
            return "this is the square of what is asked."
        if all(w > 0 and self._close(f, w**0.5) for f, w in pairs):
            return "this is the square root of what is asked."
        if all(abs(f - w) <= 0.02 * abs(w) for f, w in pairs):
            return "close, but not right to three digits. Compute with more, and round at the end."
        return "not this number."

    def _numbers(self, answer: Any) -> list[float]:
        size = len(self.answers)
        asked = "your number" if size == 1 else f"your {size} numbers"
        # A name may hold a comma itself; then only a semicolon shows where the next one begins.
        between = "; " if any("," in name for name in self.names or ()) else ", "
        order = f" in this order: {between.join(self.names)}" if self.names and size > 1 else ""
        if answer is None or answer is ...:
            raise Told(
                "Not yet",
                f"put {asked} in the place of None{order}. Three digits are enough, and "
                'fractions may be given as "2/3".',
            )
        if callable(answer):
            raise Told("Wrong", f"this exercise wants {asked[5:]}, not a function.")
        if isinstance(answer, Set):
            raise Told("Wrong", f"a set has no order. Give a list{order}.")
        given = flat(self._named(answer))
        if any(value is None or value is ... for value in given):
            raise Told("Not yet", f"a number is still missing: {size} are asked for{order}.")
        if len(given) != size:
            count = "1 number" if len(given) == 1 else f"{len(given)} numbers"
            raise Told("Wrong", f"you give {count}; {size} asked for{order}.")
        return [self._number(value, k) for k, value in enumerate(given)]

    def _named(self, answer: Any) -> Any:
        """Put what is given under our names into our order; leave other orders as they are."""
        if not isinstance(answer, Mapping):
            index = getattr(answer, "index", None)
            if not hasattr(answer, "to_numpy") or np.ndim(answer) != 1 or index is None:
                return answer
            answer = dict(zip(index, answer.to_numpy(), strict=True))
        given = {_key(name): value for name, value in answer.items()}
        ours = [_key(name) for name in self.names or []]
        if len(given) == len(answer) and set(given) == set(ours):
            return [given[name] for name in ours]
        if set(given) & set(ours):
            raise Told("Wrong", f"name your numbers {', '.join(self.names or [])}, or give a list.")
        return list(answer.values())

    def _in_order(self, found: list[float]) -> list[float]:
        """Exchange numbers that may change places, so that as many as possible are right."""

        def exchanged(places: Sequence[int]) -> list[float]:
            result = list(found)
            for to, origin in zip(self.any_order, places, strict=True):
                result[to] = found[origin]
            return result

        def right(numbers: list[float]) -> int:
            return sum(map(self._close, numbers, self.answers))

        return max(map(exchanged, itertools.permutations(self.any_order)), key=right)

    def _number(self, value: Any, k: int) -> float:
        try:
            found = number(value)
        except Exception:  # an answer may be anything
            comma = isinstance(value, str) and re.fullmatch(r"\s*-?\d+,\d+\s*", value)
            hint = " Write a point for the decimal comma." if comma else ""
            raise Told(
                "Wrong", f"{self._title(k)}: {_shown(value)} is not a number.{hint}"
            ) from None
        if not math.isfinite(found):
            raise Told("Wrong", f"{self._title(k)}: {found} is not finite.")
        return found

    def _title(self, k: int) -> str:
        if self.names:
            return self.names[k]
        return "your number" if len(self.answers) == 1 else f"number {k + 1}"

    def _close(self, found: float, value: float) -> bool:
        return is_rounded(found, value) or abs(found - value) <= self.rtol * abs(value)


def _key(name: Any) -> str:
    """Return a name without what nobody types twice the same way."""
    return "".join(c for c in unicodedata.normalize("NFKC", str(name)).casefold() if c.isalnum())


def _shown(value: Any) -> str:
    try:
        words = repr(value)
    except Exception:
        words = ""
    return words if 0 < len(words) <= 60 else f"a {type(value).__name__}"
