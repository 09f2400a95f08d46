"""Pack the course: one zip with notebooks for students and instructors, slides, test and notes.

Everything in it is made from the sources of the book, so nothing in it can fall behind. Run as
``python tools/course.py`` after ``python tools/slides.py``; writes ``_build/informed-course.zip``.
"""

from __future__ import annotations

import random
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import plain
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
ZIP = BUILD / "informed-course.zip"
TOP = "informed-course"
# A zip stores the time of each file; a fixed one makes two builds the same in every byte.
TIME = (2026, 1, 1, 0, 0, 0)
LIBRARY = ("pyproject.toml", "LICENSE", "CITATION.cff", "requirements.txt")

README = """\
# Mahalanobis distance informed by clustering: the course

- `student/`: one notebook a chapter, with exercises that check themselves, and the final test.
- `instructor/`: the same notebooks with solutions, the key of the test, and the teaching guide.
- `slides/`: one deck a part; open a file in any browser. Arrow keys move, `n` shows the notes.
- `data-notes.md`: where the data come from.

## Start

You need Python 3.11 or later. In this folder:

```sh
python -m venv .venv
.venv/bin/python -m pip install -r requirements.txt
.venv/bin/python -m pip install --no-deps .
.venv/bin/jupyter lab student
```

(On Windows it is `.venv\\Scripts\\python` instead of `.venv/bin/python`.)

Hand out `student/`, `data-notes.md`, `requirements.txt`, `pyproject.toml` and `informed/`, and keep
`instructor/` to yourself. Text and figures are under CC BY 4.0, code is under the BSD licence: you
may change both and hand them on, if you name the source (see `CITATION.cff`).
"""
STUDENT_NOTE = """\
> **How to use this notebook.** Run it from the top. Each coding exercise has a cell to write your
> answer in; its last line tells you whether the answer holds, and if not, what to look at. It never
> tells the answer."""
INSTRUCTOR_NOTE = """\
> **For instructors.** This is the notebook of the students with all solutions. Please do not put it
> on a public page."""


def chapters() -> list[Path]:
    """Return the chapters that are notebooks with exercises, in the order of the book."""
    names = parse_toc_yaml(ROOT / "_toc.yml")
    found = [ROOT / f"{name}.ipynb" for name in names]
    return [path for path in found if path.is_file() and "{exercise}" in path.read_text("utf-8")]


def notebooks() -> Iterator[tuple[str, str]]:
    """Make the notebooks of students and instructors, numbered in the order of the book."""
    for number, path in enumerate(chapters(), start=1):
        chapter = nbformat.read(path, as_version=4)
        for folder, solutions, note in [
            ("student", False, STUDENT_NOTE),
            ("instructor", True, INSTRUCTOR_NOTE),
        ]:
            converted = plain.convert(chapter, solutions=solutions, note=note)
            yield f"{folder}/{number:02d}-{path.name}", number_links(nbformat.writes(converted))


def number_links(text: str) -> str:
    """Make links between chapters lead to the numbered files."""
    for number, path in enumerate(chapters(), start=1):
        text = text.replace(f"]({path.name})", f"]({number:02d}-{path.name})")
    return text


def final_test() -> tuple[str, str]:
    """Return the questions of the final test, and their key."""
    with (ROOT / "course" / "final-test.toml").open("rb") as file:
        given: list[dict[str, Any]] = tomllib.load(file)["question"]
    questions = ["# Final test\n\nTwenty questions, one right answer each. 40 minutes.\n"]
    key = ["# Final test: key\n\nOne point each; 12 of 20 is a pass.\n"]
    for number, question in enumerate(given, start=1):
        order = list(range(len(question["choice"])))
        random.Random(number).shuffle(order)
        right = "abcd"[order.index(question["right"] - 1)]
        questions.append(f"\n**{number}.** {question['text']}\n")
        questions += [
            f"- ({letter}) {question['choice'][at]}"
            for letter, at in zip("abcd", order, strict=True)
        ]
        key.append(f"{number}. **({right})** {question['explanation']}")
    return "\n".join(questions) + "\n", "\n".join(key) + "\n"


def contents() -> Iterator[tuple[str, bytes]]:
    """Make every file of the course, with its path in the zip."""
    yield "README.md", README.encode()
    yield "data-notes.md", (ROOT / "course" / "data-notes.md").read_bytes()
    for name in LIBRARY:
        yield name, (ROOT / name).read_bytes()
    for path in sorted((ROOT / "informed").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    for name, text in notebooks():
        yield name, text.encode()
    # Tables that a chapter loads, because they take too long to compute on the way.
    for path in sorted((ROOT / "book" / "results").iterdir()):
        for folder in ("student", "instructor"):
            yield f"{folder}/results/{path.name}", path.read_bytes()
    questions, key = final_test()
    yield "student/final-test.md", questions.encode()
    yield "instructor/final-test-key.md", key.encode()
    guide = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    yield "instructor/teaching-guide.md", plain.plain_markdown(guide, solutions=True).encode()
    slides = sorted((BUILD / "slides").glob("*.html"))
    if not slides:
        raise FileNotFoundError("no slides: run make slides first")
    for path in slides:
        yield f"slides/{path.name}", path.read_bytes()


def main() -> int:
    """Write the zip."""
    BUILD.mkdir(exist_ok=True)
    with zipfile.ZipFile(ZIP, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents():
            archive.writestr(zipfile.ZipInfo(f"{TOP}/{name}", TIME), data, zipfile.ZIP_DEFLATED)
    print(f"The course is in {ZIP.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
