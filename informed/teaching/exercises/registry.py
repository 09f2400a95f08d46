"""Which checks there are.

A check is known by the label of its exercise, and is a function that tries an answer. What it
compares with, it keeps to itself: there is no attribute that holds a reference or a number, the
modules in which chapters write their checks refuse to be imported, and a verdict never says what is
right. This keeps the answer out of sight of a student who presses the tabulator or prints what
there is, so that nobody reads it by accident. It does not keep it from one who opens the source
on purpose: the solutions stand in the book, and no program can hide what it computes with from the
machine that it runs on.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from typing import Any

__all__ = [
    "add",
    "chapters",
    "find",
    "load",
    "names",
    "registering",
    "sealable",
    "sealed",
]

Attempt = Callable[[Any, "int | None", "list[str]"], str]
"""Tries an answer on the inputs of a seed. Returns praise, or raises `Told`. Leaves in the list
what is being tried, for a verdict on an answer that does not come to an end."""

_ATTEMPTS: dict[str, Attempt] = {}
_SEALS: dict[str, Callable[[], dict[str, Any]]] = {}
_CHAPTERS: dict[str, list[str]] = {}
_open: list[str] = []


@contextmanager
def registering(chapter: str = "") -> Iterator[None]:
    """Let checks be registered, as those of a chapter."""
    _open.append(chapter)
    try:
        yield
    finally:
        _open.pop()


def add(name: str, attempt: Attempt, seal: Callable[[], dict[str, Any]] | None = None) -> None:
    """Make a check known under its name; `seal` makes the form of it that a static page can use."""
    if not _open:
        raise ImportError(
            f"{name}: checks are registered when `informed.exercises` loads them; the module that "
            "holds them is not to be imported"
        )
    if name in _ATTEMPTS:
        raise ValueError(f"name={name!r}: there is a check of this name already")
    _ATTEMPTS[name] = attempt
    if seal is not None:
        _SEALS[name] = seal
    if _open[-1]:
        _CHAPTERS.setdefault(_open[-1], []).append(name)


@cache
def load() -> None:
    """Run the module of each chapter that registers its checks, without importing it."""
    chapters = importlib.import_module("informed.teaching.chapters")
    for chapter in pkgutil.iter_modules(chapters.__path__):
        found = importlib.util.find_spec(f"{chapters.__name__}.{chapter.name}.exercises")
        if found is None or found.loader is None:
            continue
        with registering(chapter.name.replace("_", "-")):
            found.loader.exec_module(importlib.util.module_from_spec(found))


def names() -> list[str]:
    """Return the labels of all exercises with a check, in the order of their registration."""
    load()
    return list(_ATTEMPTS)


def sealable() -> list[str]:
    """Return the labels of the exercises that a static page can check."""
    load()
    return list(_SEALS)


def sealed(name: str) -> dict[str, Any] | None:
    """Return what a static page needs to check an exercise; None if it needs a kernel."""
    load()
    return _SEALS[name]() if name in _SEALS else None


def chapters() -> dict[str, list[str]]:
    """Return the labels by chapter, in the order of the book."""
    load()
    order = importlib.import_module("informed.teaching.chapters").ORDER
    return {name: list(_CHAPTERS[name]) for name in order if name in _CHAPTERS}


def find(name: str) -> Attempt:
    """Return the check of an exercise."""
    if not isinstance(name, str):
        raise TypeError(
            "name: the label of the exercise comes first, your answer second, as in "
            f'check("ex-...", answer); got {type(name).__name__}'
        )
    load()
    if name not in _ATTEMPTS:
        close = get_close_matches(name, _ATTEMPTS, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "see its exercises"
        raise ValueError(f"name={name!r}: no exercise with a self-check has this label; {hint}")
    return _ATTEMPTS[name]
