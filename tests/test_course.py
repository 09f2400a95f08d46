"""The course that is packed for a class: complete, runnable, no solution for students."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from nbclient import NotebookClient
from nbformat import NotebookNode

sys.path.insert(0, str(ROOT / "tools"))
import colab
import plain

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
    return dict(course.notebooks())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_students_get_no_solution_and_instructors_get_all(
    path: Path, packed: dict[str, str]
) -> None:
    number = CHAPTERS.index(path) + 1
    student, instructor = (
        nbformat.reads(packed[f"{folder}/{number:02d}-{path.name}"], as_version=4)
        for folder in ("student", "instructor")
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
    number = CHAPTERS.index(path) + 1
    student = nbformat.reads(packed[f"student/{number:02d}-{path.name}"], as_version=4)
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
    name = next(name for name in packed if "pseudo-inverse" in name and "student" in name)
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


def test_links_between_notebooks_lead_to_notebooks(packed: dict[str, str]) -> None:
    names = {name.split("/")[1] for name in packed}
    for name, text in packed.items():
        for target in re.findall(r"\]\(([\w.-]+\.ipynb)\)", text):
            assert target in names, f"{name} → {target}"


def test_the_zip_holds_what_a_class_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "BUILD", tmp_path)
    with pytest.raises(FileNotFoundError, match="make slides"):
        list(course.contents())
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "1-start.html").write_text("<!doctype html>")
    first, second = dict(course.contents()), dict(course.contents())
    assert first == second
    for name in (
        "README.md",
        "requirements.txt",
        "pyproject.toml",
        "informed/__init__.py",
        "informed/teaching/explorer/explorer.js",
        "informed/teaching/chapters/averaging/quiz.toml",
        "student/results/penalty_study.npz",
        "student/project-a.md",
        "student/project-a-sample.md",
        "instructor/items/averaging.py",
        "instructor/nbgrader/nbgrader_config.py",
        "instructor/nbgrader/source/averaging/averaging.ipynb",
        "instructor/blueprint.toml",
        "instructor/teaching-guide.md",
        "slides/1-start.html",
        "data-notes.md",
    ):
        assert first[name]
    secret = ("key", "guide", "items", "blueprint", "test")
    assert not any(word in name for word in secret for name in first if name.startswith("student"))


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
