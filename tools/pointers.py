"""The exercises of the book by their labels: chapter, number, stars and title, as they stand there.

Slides and plans name an exercise by its label; what a reader sees is written by this file, so a
pointer cannot lead to another exercise than the one that was meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
EXERCISE = re.compile(r"\{exercise\} (?P<stars>★+) (?P<title>.*)\n *:label: (?P<label>\S+)")
POINTER = re.compile(r"\[\[(?P<label>ex-[\w-]+)\]\]")


@dataclass(frozen=True)
class Exercise:
    """Where an exercise stands, and what it asks for."""

    label: str
    chapter: str
    number: int
    stars: int
    title: str
    coded: bool

    def __str__(self) -> str:
        """Return it as slides name it."""
        kind = ", in code" if self.coded else ""
        return f"{subject(self.chapter)} {self.number} ({'★' * self.stars} {self.title}{kind})"


def subject(chapter: str) -> str:
    """Return the name of a chapter's file in words."""
    special = {"pseudo-inverse": "pseudo-inverse", "pca-distance": "PCA distance"}
    special["kmeans-and-pca"] = "k-means and PCA"
    return special.get(chapter, chapter.replace("-", " "))


@cache
def chapters() -> tuple[Path, ...]:
    """Return the chapters that are notebooks with exercises, in the order of the book."""
    found = [ROOT / f"{name}.ipynb" for name in parse_toc_yaml(ROOT / "_toc.yml")]
    return tuple(
        path for path in found if path.is_file() and "{exercise}" in path.read_text("utf-8")
    )


@cache
def exercises() -> dict[str, Exercise]:
    """Return all exercises by their labels."""
    found: dict[str, Exercise] = {}
    for path in chapters():
        cells = nbformat.read(path, as_version=4).cells
        starters = [
            cell.source for cell in cells if "exercise-starter" in cell.metadata.get("tags", [])
        ]
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for number, match in enumerate(EXERCISE.finditer(text), start=1):
            label = match["label"]
            coded = any(f'check("{label}"' in cell and "def " in cell for cell in starters)
            found[label] = Exercise(
                label, path.stem, number, len(match["stars"]), match["title"].strip(), coded
            )
    return found


def resolve(text: str) -> str:
    """Write out each ``[[label]]`` of a text; a label that no exercise has is an error."""
    return POINTER.sub(lambda match: str(exercises()[match["label"]]), text)
