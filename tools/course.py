"""Pack the course: one zip with notebooks for students and instructors, slides, test and notes.

Everything in it is made from the sources of the book, so nothing in it can fall behind. Run as
``python tools/course.py`` after ``python tools/slides.py``; writes ``_build/informed-course.zip``.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import assignments
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

- `student/`: a notebook per chapter, with exercises that check themselves.
- `instructor/`: the same notebooks with solutions, the items of the exam, and the teaching guide.
  `python -m informed exam instructor/items --out exam` draws an exam by a seed of your own.
- `slides/`: one deck per part; open a file in any browser. Arrow keys move, `n` shows the notes.
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
    # A run leaves its figures there too, which no chapter reads.
    tables = (ROOT / "book" / "results").iterdir()
    for path in sorted(path for path in tables if path.suffix in (".json", ".npz")):
        for folder in ("student", "instructor"):
            yield f"{folder}/results/{path.name}", path.read_bytes()
    for name, text in assignments.contents(chapters()):
        yield f"instructor/nbgrader/{name}", text.encode()
    for name in ("project-a.md", "project-a-sample.md"):
        yield f"student/{name}", (ROOT / "course" / name).read_bytes()
    # The exam itself is drawn by each teacher: what is packed are the items that it is drawn from.
    for path in [ROOT / "course" / "blueprint.toml", *sorted((ROOT / "course/items").glob("*.py"))]:
        yield f"instructor/{path.relative_to(ROOT / 'course').as_posix()}", path.read_bytes()
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
