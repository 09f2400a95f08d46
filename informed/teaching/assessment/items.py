r"""Items: questions that are not written down but drawn.

An item makes a question from a source of chance: a numerical one with other numbers each time, or
one with options that are drawn from a pool. The bank of items is a folder of Python files, one for
each chapter, each with a `Shelf`; an exam is drawn from it by a seed that only the teacher knows.

    SHELF = Shelf("averaging")


    @SHELF.number(3)
    def noise_left(draw: Draw) -> Number:
        size = draw.integer(12, 90)
        return Number(
            f"... a cluster of {size} features ...", 1 / size, "The variance of a mean ..."
        )


    SHELF.choice("projector", 1, "What is $HH^\top$?", right=[...], wrong=[...], why="...")

The number (here 3 and 1) is that of the objective in the chapter's list "What you will learn".
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

__all__ = ["Choice", "Draw", "Item", "Number", "Question", "Shelf", "load_bank"]

Thing = TypeVar("Thing")
OPTIONS = 4


class Draw:
    """A source of chance that a seed and the name of an item determine.

    Parameters
    ----------
    seed : str
        The teacher's secret.
    name : str
        What is drawn, so that each item has its own chance.
    """

    def __init__(self, seed: str, name: str) -> None:
        digest = hashlib.sha256(f"{seed}\n{name}".encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return self._random.randint(low, high)

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Return one of several things."""
        return self._random.choice(things)

    def some(self, things: Sequence[Thing], number: int) -> list[Thing]:
        """Return several different ones, in any order."""
        return self._random.sample(list(things), number)

    def integers(self, low: int, high: int, number: int) -> list[int]:
        """Return several different whole numbers from low to high."""
        return self.some(range(low, high + 1), number)

    def decimal(self, low: float, high: float, digits: int = 1) -> float:
        """Return a number with a few decimals."""
        scale = 10.0**digits
        return self._random.randint(round(low * scale), round(high * scale)) / scale


@dataclass(frozen=True)
class Number:
    """A question whose answer is a number.

    Attributes
    ----------
    text : str
        The question; mathematics between dollars, code between backticks.
    answer : float
        What is right.
    explanation : str
        Why, for the key.
    relative : float
        How far an answer may be off, as a share; by default three digits are enough.
    """

    text: str
    answer: float
    explanation: str
    relative: float = 0.006

    @property
    def tolerance(self) -> float:
        """How far an answer may be off."""
        # A small count is a count: there is no rounding to be generous about.
        if float(self.answer).is_integer() and abs(self.answer) < 1000:
            return 0.0
        return self.relative * abs(self.answer)

    def accepts(self, answer: float) -> bool:
        """Say whether an answer is right."""
        return math.isclose(answer, self.answer, rel_tol=1e-9, abs_tol=self.tolerance)


@dataclass(frozen=True)
class Choice:
    """A question with options, one of which is right.

    Attributes
    ----------
    text : str
        The question.
    options : tuple of str
        What to choose from, in the order in which it is printed.
    right : int
        Which one is right, from zero.
    explanation : str
        Why, for the key.
    """

    text: str
    options: tuple[str, ...]
    right: int
    explanation: str


Question = Number | Choice


@dataclass(frozen=True)
class Item:
    """One entry of the bank.

    Attributes
    ----------
    name : str
        Chapter and name, ``"averaging/noise-left"``.
    chapter : str
        The chapter's file name.
    objective : int
        Number in the chapter's list of objectives, from 1.
    numerical : bool
        Whether the answer is a number.
    make : callable
        Makes the question from a `Draw`.
    """

    name: str
    chapter: str
    objective: int
    numerical: bool
    make: Callable[[Draw], Question]

    def question(self, seed: str) -> Question:
        """Return the question that a seed makes of the item."""
        return self.make(Draw(seed, self.name))


@dataclass
class Shelf:
    """The items of one chapter."""

    chapter: str
    items: list[Item] = field(default_factory=list)

    def number(
        self, objective: int
    ) -> Callable[[Callable[[Draw], Number]], Callable[[Draw], Number]]:
        """Add the decorated function as a numerical item, under its own name."""

        def decorate(make: Callable[[Draw], Number]) -> Callable[[Draw], Number]:
            self._add(make.__name__.replace("_", "-"), objective, True, make)
            return make

        return decorate

    def choice(
        self,
        name: str,
        objective: int,
        text: str,
        *,
        right: Sequence[str],
        wrong: Sequence[str],
        why: str,
    ) -> None:
        """Add an item with options: one of the right ones and three of the wrong ones are drawn.

        Write right and wrong ones of like length and like make, or the exam gives itself away.
        """
        if len(wrong) < OPTIONS - 1 or not right:
            raise ValueError(f"{name}: needs a right option and {OPTIONS - 1} wrong ones or more")
        if len({*right, *wrong}) < len(right) + len(wrong):
            raise ValueError(f"{name}: two options are the same")

        def make(draw: Draw) -> Choice:
            chosen = draw.pick(list(right))
            options = draw.some([chosen, *draw.some(list(wrong), OPTIONS - 1)], OPTIONS)
            return Choice(text, tuple(options), options.index(chosen), why)

        self._add(name, objective, False, make)

    def _add(
        self, name: str, objective: int, numerical: bool, make: Callable[[Draw], Question]
    ) -> None:
        full = f"{self.chapter}/{name}"
        if any(item.name == full for item in self.items):
            raise ValueError(f"{full}: there is an item of this name already")
        self.items.append(Item(full, self.chapter, objective, numerical, make))


def load_bank(*folders: Path) -> list[Item]:
    """Load the items of all files in some folders, sorted by file and place.

    A teacher's own items, in a folder that nobody else sees, come from a second folder.
    """
    items: list[Item] = []
    for folder in folders:
        paths = sorted(folder.glob("*.py"))
        if not paths:
            raise ValueError(f"{folder} holds no items")
        for path in paths:
            spec = importlib.util.spec_from_file_location(
                f"informed_items_{path.stem.replace('-', '_')}", path
            )
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            items += module.SHELF.items
    return items
