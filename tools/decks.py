"""The decks as their authors write them: read Markdown in ``course/slides`` into slides.

Slides are divided by lines of three dashes; the first one bears the title of the deck. Text after
a line ``Notes (3 min):`` is for the speaker. A list whose items start with ``+`` comes item by
item, and what follows a line ``. . .`` comes with the next step. ``[[ex-gram]]`` names an exercise
by its chapter, number and title. A slide that consists of a line ``include 2-foundations: its
title`` is that slide of another deck, with notes of its own if it has any. ``tools/slides.py`` says
how figures are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pointers import resolve

ROOT = Path(__file__).resolve().parent.parent
# In the packed course the sources lie beside the decks, where their links lead somewhere.
SOURCES = next(filter(Path.is_dir, (ROOT / "course" / "slides", ROOT / "slides")), ROOT / "slides")

NOTES = re.compile(r"^Notes \((?P<minutes>\d+) min\):", re.MULTILINE)
TITLE = re.compile(r"^##? (.+)$", re.MULTILINE)
INCLUDE = re.compile(r"\Ainclude (?P<deck>[\w-]+): (?P<title>.+)\Z")


@dataclass(frozen=True)
class Slide:
    """What stands on a slide, what the speaker sees, and where the slide comes from."""

    deck: str
    title: str
    text: str
    notes: str
    minutes: int


def names(folder: Path = SOURCES) -> list[str]:
    """Return the names of all decks, in the order in which they are shown."""
    return sorted(path.stem for path in folder.glob("*.md"))


@cache
def read(name: str, folder: Path = SOURCES) -> tuple[Slide, ...]:
    """Read a deck."""
    source = resolve((folder / f"{name}.md").read_text(encoding="utf-8"))
    parts = re.split(r"^---$", source, flags=re.MULTILINE)
    return tuple(_slide(name, part, folder) for part in parts)


def _slide(deck: str, source: str, folder: Path) -> Slide:
    found = NOTES.search(source)
    text, notes = (source[: found.start()], source[found.end() :]) if found else (source, "")
    minutes = int(found["minutes"]) if found else 0
    included = INCLUDE.match(text.strip())
    if included:
        slides = read(included["deck"], folder)
        original = [slide for slide in slides if slide.title == included["title"]]
        if len(original) != 1:
            known = "; ".join(slide.title for slide in slides)
            raise ValueError(
                f"{deck}: no slide {included['title']!r} in {included['deck']}, which has: {known}"
            )
        return replace(original[0], notes=notes.strip(), minutes=minutes) if found else original[0]
    title = TITLE.search(text)
    if title is None:
        raise ValueError(f"{deck}: a slide without a title: {text.strip()[:60]!r}")
    return Slide(deck, title[1].strip(), text.strip(), notes.strip(), minutes)


def minutes(name: str, folder: Path = SOURCES) -> int:
    """Return how long a deck takes."""
    return sum(slide.minutes for slide in read(name, folder))
