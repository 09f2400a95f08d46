"""Draw an exam from the bank: all chapters, half of it numbers, and no trick that pays.

`RULES` are ways to guess without knowledge: take the longest option, the first, the one with the
most mathematics. An exam is drawn again, from the same seed, until none of them does better than
chance by more than `MARGIN` questions, and until the right answers are spread over the letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from informed.teaching.assessment.items import Choice, Draw, Item, Question

__all__ = ["LETTERS", "RULES", "Entry", "Exam", "draw_exam", "guessed"]

LETTERS = "abcd"
MARGIN = 2.0
ATTEMPTS = 2000
ABSOLUTE = re.compile(r"\b(all|always|any|every|never|no|none|nothing|only)\b", re.IGNORECASE)
HEDGED = re.compile(r"\b(about|can|if|in general|may|mostly|often|unless|up to)\b", re.IGNORECASE)

Rule = Callable[[str, Sequence[str]], Sequence[float]]


def _by(measure: Callable[[str], float]) -> Rule:
    return lambda text, options: [measure(option) for option in options]


def _overlap(text: str, options: Sequence[str]) -> list[float]:
    asked = set(re.findall(r"\w{4,}", text.lower()))
    return [len(asked & set(re.findall(r"\w{4,}", option.lower()))) for option in options]


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)


def _likeness(_: str, options: Sequence[str]) -> list[float]:
    bags = [set(_words(option.lower())) for option in options]
    return [sum(len(own & other) / len(own | other) for other in bags) for own in bags]


def _without_absolute(measure: Callable[[str], float]) -> Rule:
    """Cross out what sounds too sure, then go by the measure."""
    return _by(lambda option: measure(option) - 1e6 * bool(ABSOLUTE.search(option)))


def _second(measure: Callable[[str], float]) -> Rule:
    return lambda _, options: [
        float(measure(option) == sorted(map(measure, options))[-2]) for option in options
    ]


# Each gives the options a score; who guesses takes the highest.
RULES: dict[str, Rule] = {
    "longest": _by(len),
    "shortest": _by(lambda option: -len(option)),
    "first": lambda _, options: [-k for k in range(len(options))],
    "second": lambda _, options: [float(k == 1) for k in range(len(options))],
    "third": lambda _, options: [float(k == 2) for k in range(len(options))],
    "last": lambda _, options: list(range(len(options))),
    "most mathematics": _by(lambda option: option.count("$")),
    "least mathematics": _by(lambda option: -option.count("$")),
    "most digits": _by(lambda option: len(re.findall(r"\d", option))),
    "absolute words": _by(lambda option: len(ABSOLUTE.findall(option))),
    "no absolute words": _by(lambda option: -len(ABSOLUTE.findall(option))),
    "hedged": _by(lambda option: len(HEDGED.findall(option))),
    "most like the question": _overlap,
    "most commas": _by(lambda option: option.count(",") + option.count(":")),
    "nearest to the mean length": lambda _, options: [
        -abs(len(option) - sum(map(len, options)) / len(options)) for option in options
    ],
    "second longest": _second(len),
    "second shortest": _second(lambda option: -len(option)),
    "most words": _by(lambda option: len(_words(option))),
    "fewest words": _by(lambda option: -len(_words(option))),
    "longest word": _by(lambda option: max(map(len, _words(option)), default=0)),
    "most like the others": _likeness,
    "least like the others": lambda text, options: [-x for x in _likeness(text, options)],
    "longest without absolute words": _without_absolute(len),
    "shortest without absolute words": _without_absolute(lambda option: -len(option)),
}


@dataclass(frozen=True)
class Entry:
    """One question of an exam, and the item that it comes from."""

    item: Item
    question: Question


@dataclass(frozen=True)
class Exam:
    """A drawn exam."""

    entries: tuple[Entry, ...]

    @property
    def choices(self) -> list[Choice]:
        """The questions with options."""
        return [e.question for e in self.entries if isinstance(e.question, Choice)]

    def key(self) -> list[str]:
        """Return the right answers, a letter or a number each."""
        return [
            LETTERS[e.question.right]
            if isinstance(e.question, Choice)
            else f"{e.question.answer:.4g}"
            for e in self.entries
        ]


def guessed(rule: Rule, choices: Sequence[Choice]) -> float:
    """Return how many questions a rule gets right on average, ties broken by chance."""
    total = 0.0
    for choice in choices:
        scores = list(rule(choice.text, choice.options))
        best = [k for k, score in enumerate(scores) if score == max(scores)]
        total += (choice.right in best) / len(best)
    return total


def draw_exam(bank: Sequence[Item], seed: str, length: int = 20) -> Exam:
    """Draw an exam.

    Parameters
    ----------
    bank : sequence of Item
        What to draw from.
    seed : str
        The teacher's secret; the same seed makes the same exam.
    length : int
        Number of questions, half of them numerical.

    Returns
    -------
    exam : Exam
        Questions in the order of the bank, with as many chapters as can be.

    Raises
    ------
    ValueError
        If the bank is too small, or none of many draws is balanced.
    """
    if not seed.strip():
        raise ValueError("seed: needs some characters that nobody can guess")
    half = length // 2
    if sum(item.numerical for item in bank) < half or len(bank) < length:
        raise ValueError(f"length={length}: the bank holds {len(bank)} items")
    for attempt in count():
        if attempt == ATTEMPTS:
            raise ValueError(f"none of {ATTEMPTS} draws from this bank is balanced")
        trial = f"{seed}\n{attempt}"
        items = _chosen(bank, Draw(trial, "exam"), length, half)
        if items is None:
            continue
        exam = Exam(tuple(Entry(item, item.question(trial)) for item in items))
        if is_balanced(exam):
            return exam
    raise AssertionError


def _chosen(bank: Sequence[Item], draw: Draw, length: int, half: int) -> list[Item] | None:
    """Draw items: first one of each chapter, then others, numerical ones as many as the rest."""
    order = draw.some(list(bank), len(bank))
    chosen: list[Item] = []
    room = {True: half, False: length - half}
    for fresh in (True, False):
        for item in order:
            used = {other.chapter for other in chosen}
            if item in chosen or (fresh and item.chapter in used) or not room[item.numerical]:
                continue
            room[item.numerical] -= 1
            chosen.append(item)
    return sorted(chosen, key=list(bank).index) if len(chosen) == length else None


def is_balanced(exam: Exam) -> bool:
    """Say whether no way of guessing pays, and the letters are about even."""
    choices = exam.choices
    letters = [sum(c.right == k for c in choices) for k in range(len(LETTERS))]
    if max(letters) - min(letters) > 2:
        return False
    chance = sum(1 / len(choice.options) for choice in choices)
    return all(guessed(rule, choices) <= chance + MARGIN for rule in RULES.values())
