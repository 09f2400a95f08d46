"""Pack the course: one zip for a teacher, and one with the students' folder alone.

Everything in them is made from the sources of the book, so nothing in them can fall behind. Run as
``python tools/course.py`` after ``python tools/slides.py``; writes ``_build/course``. The built
book offers the same for download. ``python tools/course.py students FOLDER`` writes the students'
folder only, for Binder and for the branch from which Colab fetches it.
"""

from __future__ import annotations

import re
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import assignments
import decks
import nbformat
import plain
from colab import STUDENTS_ZIP
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pointers import chapters, resolve

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
TEXTS = ROOT / "course" / "texts"
COURSE_ZIP = "informed-course.zip"
# A zip stores the time of each file; a fixed one makes two builds the same in every byte.
TIME = (2026, 1, 1, 0, 0, 0)
EXTRAS = ("survival", "plots", "notebook", "data")
STAFF_PACKAGES = (
    "latex2mathml",
    "markdown-it-py",
    "mdit-py-plugins",
    "nbformat",
    "sphinx-external-toc",
    "sphinx-mathjax-offline",
    "sphinx-revealjs",
)
SLIDE_TOOLS = ("decks.py", "picture.py", "pointers.py", "slide_figures.py", "slides.py")
STUDENT_NOTE = """\
> **How to use this notebook.** Run it from the top. Each coding exercise has a cell to write your
> answer in; its last line tells you whether the answer holds, and if not, what to look at. It never
> tells the answer."""
STAFF_NOTE = """\
> **For instructors.** This is the notebook of the students with all solutions. Please do not put it
> on a public page."""
# The guide as a page of the site leads to what lies beside it there.
DOWNLOAD = re.compile(r'<a href="\.\./course/[\w-]+\.zip">([^<]+)</a>')
REFERENCE = re.compile(r"\{ref\}`([^<`]+) <([\w-]+)>`")
LABEL = re.compile(r"^\((teach-[\w-]+)\)=$", re.MULTILINE)

Files = Iterator[tuple[str, bytes]]


def notebook_name(path: Path) -> str:
    """Return the name of a chapter's notebook in the course, numbered in the order of the book."""
    return f"{chapters().index(path) + 1:02d}-{path.name}"


def number_links(text: str) -> str:
    """Make links between chapters lead to the numbered files."""
    for path in chapters():
        text = text.replace(f"]({path.name})", f"]({notebook_name(path)})")
    return text


def notebooks(*, solutions: bool) -> Iterator[tuple[str, str]]:
    """Make the notebooks of students, or those of the staff, with solutions."""
    note = STAFF_NOTE if solutions else STUDENT_NOTE
    for path in chapters():
        chapter = nbformat.read(path, as_version=4)
        converted = plain.convert(chapter, solutions=solutions, note=note)
        yield notebook_name(path), number_links(nbformat.writes(converted))


def requirements(wanted: Iterable[str]) -> str:
    """Pin packages to the versions with which the book is tested."""
    pins = {}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "-", " ")):
            pins[canonicalize_name(Requirement(line).name)] = line
    names = sorted(set(map(canonicalize_name, wanted)))
    return "\n".join(pins.get(name, name) for name in names) + "\n"


def student_packages() -> set[str]:
    """Return what the library needs in a notebook, and JupyterLab."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = list(project["dependencies"])
    for extra in EXTRAS:
        waiting += project["optional-dependencies"][extra]
    return {Requirement(text).name for text in waiting} - {"informed"} | {"jupyterlab"}


def tables() -> Files:
    """Yield the tables that a chapter loads, because they take too long to compute on the way.

    A run leaves its figures there too, which no chapter reads.
    """
    folder = ROOT / "book" / "results"
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".json", ".npz")):
        yield f"results/{path.name}", path.read_bytes()


def library() -> Files:
    """Yield the library, to be installed from its folder."""
    for name in ("pyproject.toml", "LICENSE"):
        yield name, (ROOT / name).read_bytes()
    yield "README.md", (TEXTS / "library.md").read_bytes()
    for path in sorted((ROOT / "informed").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def licences() -> Files:
    """Yield what a reader may do with the code and with the text, and how to cite."""
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    yield "LICENSE-text", (ROOT / "book" / "LICENSE").read_bytes()
    yield "CITATION.cff", (ROOT / "CITATION.cff").read_bytes()


def students() -> Files:
    """Make every file of the students' folder."""
    yield "README.md", (TEXTS / "students.md").read_bytes()
    yield from licences()
    yield "requirements.txt", f"{requirements(student_packages())}./library\n".encode()
    for name in ("data-notes.md", "project-a.md", "project-a-sample.md"):
        yield name, (ROOT / "course" / name).read_bytes()
    for name, text in notebooks(solutions=False):
        yield name, text.encode()
    yield from tables()
    for name, data in library():
        yield f"library/{name}", data


def guide() -> str:
    """Return the teaching guide as it stands beside the notebooks and slides of the staff."""
    text = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    text = DOWNLOAD.sub(r"`\1`", text)
    text = LABEL.sub(r'<a id="\1"></a>\n', REFERENCE.sub(r"[\1](#\2)", text))
    return number_links(plain.plain_markdown(text, solutions=True))


def staff() -> Files:
    """Make every file of the staff's folder."""
    yield "README.md", (TEXTS / "staff.md").read_bytes()
    packages = requirements(student_packages() | set(STAFF_PACKAGES))
    yield "requirements.txt", f"{packages}../students/library\n".encode()
    yield "teaching-guide.md", guide().encode()
    for name, text in notebooks(solutions=True):
        yield name, text.encode()
    yield from tables()
    for name, data in assignments.contents(chapters()):
        yield f"nbgrader/{name}", data
    yield "jupyterhub/Dockerfile", (TEXTS / "Dockerfile").read_bytes()
    # The exam itself is drawn by each teacher: what is packed are the items that it is drawn from.
    for name in ("blueprint.toml", "plan.toml"):
        yield f"course/{name}", (ROOT / "course" / name).read_bytes()
    for path in sorted((ROOT / "course" / "items").glob("*.py")):
        yield f"course/items/{path.name}", path.read_bytes()
    yield from slides()


def slides() -> Files:
    """Yield the decks, the explorers that they open, and what it takes to make them anew."""
    made = BUILD / "slides"
    if not all((made / f"{name}.html").is_file() for name in decks.names()):
        raise FileNotFoundError("no slides: run make slides first")
    for path in sorted(made.rglob("*.html")):
        yield f"slides/{path.relative_to(made).as_posix()}", path.read_bytes()
    for name in decks.names():
        text = (decks.SOURCES / f"{name}.md").read_text(encoding="utf-8")
        yield f"slides/{name}.md", resolve(text).encode()
    for name in (*SLIDE_TOOLS, "slides.css", "slides.js"):
        yield f"tools/{name}", (ROOT / "tools" / name).read_bytes()


def contents() -> Files:
    """Make every file of the course, with its path in the zip."""
    yield "README.md", (TEXTS / "course.md").read_bytes()
    yield from licences()
    for folder, files in (("students", students()), ("staff", staff())):
        for name, data in files:
            yield f"{folder}/{name}", data


def pack(target: Path, files: Files) -> None:
    """Write files into a zip, in a folder with the name of the zip."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(f"{target.stem}/{name}", TIME)
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def publish(folder: Path) -> None:
    """Write both zips into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pack(folder / COURSE_ZIP, contents())
    pack(folder / STUDENTS_ZIP, students())


def main(*arguments: str) -> int:
    """Write the zips, or the students' folder alone."""
    if arguments:
        command, folder = arguments
        if command != "students":
            raise SystemExit(f"{command}: say nothing, or students FOLDER")
        for name, data in students():
            place = Path(folder) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return 0
    publish(BUILD / "course")
    print(f"The course is in {(BUILD / 'course').relative_to(ROOT)}/{COURSE_ZIP}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
