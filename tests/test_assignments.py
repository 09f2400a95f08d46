"""Assignments for nbgrader: its metadata, its marks, and answers that are right."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import assignments

import course
from informed.teaching.exercises import registry
from informed.teaching.grading import runner
from informed.teaching.grading.runner import Limits

CHAPTERS = course.chapters()
# The fields of nbgrader's schema, version 3, and what they must be.
KINDS = {
    "schema_version": int,
    "grade_id": str,
    "grade": bool,
    "locked": bool,
    "solution": bool,
    "task": bool,
}
# Their solutions are derivations, in text.
BY_HAND = {"ex-lm-circle", "ex-lm-exponential"}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_metadata_is_that_of_nbgrader(path: Path) -> None:
    notebook = assignments.assignment(nbformat.read(path, as_version=4))
    nbformat.validate(notebook)
    graded = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert graded
    names = [cell.metadata["nbgrader"]["grade_id"] for cell in graded]
    assert len(set(names)) == len(names)
    for cell in graded:
        metadata = dict(cell.metadata["nbgrader"])
        points = metadata.pop("points", None)
        assert {key: type(value) for key, value in metadata.items()} == KINDS
        assert metadata["schema_version"] == 3
        assert re.fullmatch(r"[a-zA-Z0-9_\-]+", metadata["grade_id"])
        if metadata["solution"]:
            assert points is None
            assert cell.source.count("### BEGIN SOLUTION") == 1
            assert cell.source.index("### BEGIN SOLUTION") < cell.source.index("### END SOLUTION")
        else:
            assert metadata["grade"]
            assert metadata["locked"]
            assert points in (1, 2, 3)
            assert "BEGIN SOLUTION" not in cell.source


def test_every_exercise_with_a_check_is_an_assignment() -> None:
    found = {
        cell.metadata["nbgrader"]["grade_id"]
        for path in CHAPTERS
        for cell in assignments.assignment(nbformat.read(path, as_version=4)).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    assert found | BY_HAND == set(registry.names())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_without_its_solution_a_cell_is_the_one_that_is_handed_out(path: Path) -> None:
    chapter = nbformat.read(path, as_version=4)
    starters = {cell.id: cell.source for cell in chapter.cells if assignments.is_starter(cell)}
    for cell in assignments.assignment(chapter).cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            region = r"### BEGIN SOLUTION.*?### END SOLUTION"
            cleared = re.sub(region, "", cell.source, flags=re.DOTALL)
            assert cleared.rstrip() == starters[cell.id].rstrip()


@pytest.mark.skipif(sys.platform == "win32", reason="marking needs fork")
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_published_answers_are_right_on_hidden_inputs(path: Path, tmp_path: Path) -> None:
    """By the grader of this package, which so marks all exercises of the book, too."""
    notebook = assignments.assignment(nbformat.read(path, as_version=4))
    place = tmp_path / path.name
    place.write_text(json.dumps(notebook), encoding="utf-8")
    runner.prepare()
    marked = runner.mark(place, seed=20, limits=Limits(seconds=300, cell_seconds=120))
    wrong = {name: given.words for name, given in marked.marks.items() if not given.right}
    assert set(wrong) <= BY_HAND, wrong
    assert marked.marks


def test_nbgrader_itself_makes_checks_and_grades_an_assignment(tmp_path: Path) -> None:
    pytest.importorskip("nbgrader")
    for name, text in assignments.contents([ROOT / "book" / "pseudo-inverse.ipynb"]):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    environment = {**os.environ, "INFORMED_EXPLORER": "live"}

    def nbgrader(*words: str) -> str:
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return f"{done.stdout}{done.stderr}"

    nbgrader("generate_assignment", "pseudo-inverse", "--create")
    source = tmp_path / "source" / "pseudo-inverse" / "pseudo-inverse.ipynb"
    release = tmp_path / "release" / "pseudo-inverse" / "pseudo-inverse.ipynb"
    assert "SOLUTION" not in release.read_text("utf-8")
    assert "HIDDEN" not in release.read_text("utf-8")
    assert "Success" in nbgrader("validate", str(source))
    assert "FAILED ON 4 CELL" in nbgrader("validate", str(release))
    for student, work in (("ada", source), ("bob", release)):
        place = tmp_path / "submitted" / student / "pseudo-inverse" / work.name
        place.parent.mkdir(parents=True)
        place.write_bytes(work.read_bytes())
    nbgrader("autograde", "pseudo-inverse", "--create")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        scores = {s: book.find_submission("pseudo-inverse", s).score for s in ("ada", "bob")}
    assert scores == {"ada": 7.0, "bob": 0.0}
