"""The course that is packed for a class: complete, runnable, no solution for students."""

from __future__ import annotations

import ast
import importlib.metadata
import posixpath
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from markdown_it import MarkdownIt
from nbclient import NotebookClient
from nbformat import NotebookNode

sys.path.insert(0, str(ROOT / "tools"))
import colab
import plain
import slides

import course
from informed import DiffusionMap
from informed.groups import bipartition
from informed.survival import compare_survival

CHAPTERS = course.chapters()
# What the plain notebooks may not contain: JupyterLab would show it as it is.
MARKUP = re.compile(
    r"\{[\w:-]+\}`|^ *(`{3,}|:{3,})\{|^:label:|^:class:|\) *\(eq-|^ *\([\w-]+\)= *$", re.MULTILINE
)


def solution_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """The cells of a chapter that lie wholly or partly in a solution."""
    inside = False
    for cell in notebook.cells:
        starts, ends = "{solution" in cell.source, "{solution-end}" in cell.source
        if inside or starts:
            yield cell
        if "{solution-start}" in cell.source or ends:
            inside = cell.source.rfind("{solution-start}") > cell.source.rfind("{solution-end}")


def solution_sentences(notebook: NotebookNode) -> set[str]:
    """Long lines that a chapter has in its solutions and nowhere else."""
    inside: list[str] = []
    outside: list[str] = []
    span = False
    for cell in notebook.cells:
        if cell.cell_type == "code":
            (inside if span else outside).extend(cell.source.split("\n"))
            continue
        for part in plain.split_blocks(cell.source):
            if isinstance(part, str):
                (inside if span else outside).extend(part.split("\n"))
            elif part.name == plain.SOLUTION_START:
                span = True
            elif part.name == plain.SOLUTION_END:
                span = False
            else:
                lines = part.body.split("\n")
                (inside if span or part.name == "solution" else outside).extend(lines)
    known = {line.strip() for line in outside}
    return {line.strip() for line in inside if len(line.strip()) > 30} - known


@pytest.fixture(scope="module")
def packed() -> dict[str, str]:
    """The notebooks of the course, by their path."""
    return {
        f"{folder}/{name}": text
        for folder, solutions in (("students", False), ("staff", True))
        for name, text in course.notebooks(solutions=solutions)
    }


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The whole course with its slides, by path, as a teacher unpacks it."""
    slides.main()
    folder = tmp_path_factory.mktemp("course")
    course.publish(folder)
    with zipfile.ZipFile(folder / course.COURSE_ZIP) as archive:
        assert archive.testzip() is None
        top = "informed-course/"
        assert all(name.startswith(top) for name in archive.namelist())
        return {name.removeprefix(top): archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_students_get_no_solution_and_instructors_get_all(
    path: Path, packed: dict[str, str]
) -> None:
    student, instructor = (
        nbformat.reads(packed[f"{folder}/{course.notebook_name(path)}"], as_version=4)
        for folder in ("students", "staff")
    )
    chapter = nbformat.read(path, as_version=4)
    secret = solution_sentences(chapter)
    assert len(secret) > 5
    texts = [
        "\n".join(cell.source for cell in notebook.cells) for notebook in (student, instructor)
    ]
    assert [line for line in secret if line in texts[0]] == []
    # Markdown is rewritten for JupyterLab; code is not.
    code = {
        line
        for cell in chapter.cells
        if cell.cell_type == "code"
        for line in cell.source.split("\n")
    }
    assert {line.strip() for line in code} & secret <= {
        line.strip() for line in texts[1].split("\n")
    }
    assert "**Solution.**" in texts[1]
    assert "**Solution.**" not in texts[0]
    for text in texts:
        assert text.count("\n### ★") + text.startswith("### ★") >= 3
        assert MARKUP.search(text) is None, MARKUP.search(text)
    for notebook in (student, instructor):
        nbformat.validate(notebook)
        assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_code_of_students_is_that_of_the_chapter(path: Path, packed: dict[str, str]) -> None:
    """nbval runs the chapters; the same code in the same order runs for students, too."""
    student = nbformat.reads(packed[f"students/{course.notebook_name(path)}"], as_version=4)
    chapter = nbformat.read(path, as_version=4)
    hidden = {cell.id for cell in solution_cells(chapter)}
    install, *code = (cell for cell in student.cells if cell.cell_type == "code")
    assert install.id == colab.CELL_ID
    assert [cell.source for cell in code] == [
        cell.source for cell in chapter.cells if cell.cell_type == "code" and cell.id not in hidden
    ]


def test_a_student_notebook_runs_as_it_is_handed_out(
    packed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "live")
    name = next(name for name in packed if "pseudo-inverse" in name and "students" in name)
    notebook = nbformat.reads(packed[name], as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    verdicts = [
        output.data["text/plain"]
        for cell in notebook.cells
        if "check(" in cell.source
        for output in cell.get("outputs", [])
        if output.output_type == "execute_result"
    ]
    assert verdicts
    assert all(verdict.startswith("Not tried yet") for verdict in verdicts)


def test_the_zip_holds_what_a_class_needs(
    zipped: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "README.md",
        "LICENSE",
        "students/README.md",
        "students/LICENSE",
        "students/LICENSE-text",
        "students/requirements.txt",
        "students/01-why-the-usual-distance-fails.ipynb",
        "students/library/pyproject.toml",
        "students/library/informed/__init__.py",
        "students/library/informed/teaching/explorer/explorer.js",
        "students/library/informed/teaching/chapters/averaging/quiz.toml",
        "students/results/penalty_study.npz",
        "students/data-notes.md",
        "students/project-a.md",
        "students/project-a-sample.md",
        "staff/01-why-the-usual-distance-fails.ipynb",
        "staff/course/items/averaging.py",
        "staff/course/blueprint.toml",
        "staff/course/plan.toml",
        "staff/slides/0-lecture.md",
        "staff/jupyterhub/Dockerfile",
        "staff/nbgrader/nbgrader_config.py",
        "staff/nbgrader/source/averaging/averaging.ipynb",
        "staff/requirements.txt",
        "staff/slides/0-lecture.html",
        "staff/slides/explorers/usual.html",
        "staff/teaching-guide.md",
        "staff/tools/slides.py",
    ):
        assert zipped[name], name
    handed_out = [name for name in zipped if name.startswith("students/")]
    notebooks = [name for name in handed_out if name.endswith(".ipynb")]
    assert len(notebooks) == len(CHAPTERS)
    secret = ("key", "guide", "blueprint", "slides", "solution")
    assert not [name for name in handed_out if any(word in name for word in secret)]
    monkeypatch.setattr(course, "BUILD", tmp_path)
    with pytest.raises(FileNotFoundError, match="make slides"):
        list(course.contents())


def test_the_students_folder_alone_is_the_same(tmp_path: Path) -> None:
    packed = tmp_path / colab.STUDENTS_ZIP
    course.pack(packed, course.students())
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    assert course.main("students", str(tmp_path / "folder")) == 0
    made, unpacked = (
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (tmp_path / "folder", tmp_path / "informed-students")
    )
    assert made == unpacked


# ------------------------------------------------------------------------------------------- links


def links_of(name: str, data: bytes) -> Iterator[str]:
    """The targets of all links in a file of the course."""
    text = data.decode()
    if name.endswith(".ipynb"):
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    if name.endswith((".ipynb", ".md")):
        for token in MarkdownIt("commonmark").parse(text):
            for child in token.children or ():
                target = child.attrGet("href") or child.attrGet("src")
                if target:
                    yield str(target)
    if name.endswith(".html"):
        # Scripts of a page hold addresses of their own.
        text = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    yield from re.findall(r'<(?:a|img|link)\b[^>]*?\b(?:href|src)="([^"]+)"', text)


def headings(text: str) -> set[str]:
    """The targets within a page of Markdown."""
    slugs = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", slug).strip().lower().replace(" ", "-") for slug in slugs}
    return made | set(re.findall(r'<a id="([\w-]+)">', text))


def test_every_link_in_every_file_leads_somewhere(zipped: dict[str, bytes]) -> None:
    dead = []
    followed = 0
    folders = {parent.as_posix() for name in zipped for parent in PurePosixPath(name).parents}
    for name, data in zipped.items():
        if not name.endswith((".md", ".ipynb", ".html")):
            continue
        for target in links_of(name, data):
            if target.startswith(("https://", "data:", "mailto:")):
                continue
            followed += 1
            path, _, anchor = target.partition("#")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(name), path or name))
            place = name if not path else place
            if place not in zipped and place not in folders:
                dead.append(f"{name} → {target}")
            elif anchor and anchor not in headings(zipped[place].decode()):
                dead.append(f"{name} → {target} (no such place)")
    assert dead == []
    assert followed > 150


def test_the_guide_leads_to_notebooks(zipped: dict[str, bytes]) -> None:
    targets = list(links_of("staff/teaching-guide.md", zipped["staff/teaching-guide.md"]))
    assert len([target for target in targets if target.endswith(".ipynb")]) > 40
    assert {"#teach-lecture", "#teach-workshop", "#teach-module"} <= set(targets)


# ---------------------------------------------------------------------------------------- packages


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_list_of_packages_is_short_pinned_and_enough(
    zipped: dict[str, bytes], packed: dict[str, str]
) -> None:
    *pins, own = lines_of(zipped["students/requirements.txt"].decode())
    assert own == "./library"
    assert len(pins) < 20
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+( ;.*)?", pin) for pin in pins)
    listed = {re.split("==", pin)[0].lower() for pin in pins}
    assert not listed & {"pytest", "ruff", "mypy", "playwright", "jupyter-book", "sphinx"}
    packages = importlib.metadata.packages_distributions()
    for name, text in packed.items():
        if name.startswith("students/"):
            code = "\n".join(
                cell.source
                for cell in nbformat.reads(text, as_version=4).cells
                if cell.cell_type == "code" and cell.id != colab.CELL_ID
            )
            for module in imports(code) - set(sys.stdlib_module_names) - {"informed"}:
                homes = {home.lower() for home in packages[module]}
                # IPython comes with JupyterLab.
                assert homes & (listed | {"ipython"}), f"{name} imports {module}"
    # What the staff adds is for exams and slides.
    staff = lines_of(zipped["staff/requirements.txt"].decode())
    assert set(pins) < set(staff)
    assert staff[-1] == "../students/library"


def imports(code: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_slides_can_be_made_from_the_packed_sources(
    zipped: dict[str, bytes], tmp_path: Path
) -> None:
    for name, data in zipped.items():
        if name.startswith(("staff/slides/", "staff/tools/", "staff/results/")):
            place = tmp_path / name.removeprefix("staff/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    for path in (tmp_path / "slides").glob("*.*"):
        path.unlink()
    notes = "Notes (1 min):\nwhat to say\n"
    own = f"# My deck\n\n{notes}\n---\n\n## Mine has a table\n\n| a |\n|---|\n| b |\n\n{notes}"
    (tmp_path / "slides" / "mine.md").write_text(own, encoding="utf-8")
    subprocess.run([sys.executable, "tools/slides.py", "slides"], cwd=tmp_path, check=True)
    assert "Mine has a table" in (tmp_path / "slides" / "mine.html").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------- project A


def code_of(name: str) -> dict[str, Any]:
    """Run the code of a page of the course; return its names."""
    text = (ROOT / "course" / name).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, name, "exec"), names)
    return names


def test_the_cohort_of_the_project_is_as_described_and_can_be_split() -> None:
    pytest.importorskip("SurvSet")
    cohort = code_of("project-a.md")["cohort"]
    assert cohort.X.shape == (158, 8660)
    assert int(cohort.events.sum()) == 50
    X = cohort.X[:, np.argsort(cohort.X.var(axis=0))[-60:]]
    labels = bipartition(DiffusionMap(1).fit_transform(X))
    assert 0 <= compare_survival(cohort.durations, cohort.events, labels).p_value <= 1


def test_the_book_shows_nothing_of_the_cohort_of_the_project() -> None:
    for path in [*(ROOT / "book").rglob("*"), *(ROOT / "informed").rglob("*.py")]:
        if path.suffix in (".ipynb", ".py", ".json", ".toml"):
            assert "gse3143" not in path.read_text("utf-8").lower(), path


def test_the_numbers_of_the_sample_submission_are_those_of_its_code() -> None:
    names = code_of("project-a-sample.md")
    text = (ROOT / "course" / "project-a-sample.md").read_text(encoding="utf-8")
    for metric, found in names["results"].items():
        sizes = [int(n) for n in found.summary["n"]]
        worse = found.summary.loc[found.summary["observed/expected"].idxmax()]
        row = (
            f"| {metric} | {sizes[0]} and {sizes[1]} | {int(worse['observed'])} "
            f"({worse['expected']:.1f}) | {found.statistic:.1f} |"
        )
        assert row in text
    same = names["groups"]["informed"] == names["groups"]["Euclidean"]
    agree = int(max(same.sum(), (~same).sum()))
    assert f"{agree} of 82 patients are in the same group under both" in text
