"""Assignments for nbgrader: its metadata, its marks, and answers that are right."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema
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
# What nbgrader asks of a cell's metadata, version 3 of its schema, in our words: its validator is
# jsonschema too, and refuses a notebook at the first cell that does not hold to it.
FLAG = {"type": "boolean"}
METADATA = {
    "type": "object",
    "properties": {
        "schema_version": {"const": 3},
        "grade_id": {"type": "string", "pattern": r"^[a-zA-Z0-9_\-]+$"},
        "points": {"type": "number", "exclusiveMinimum": 0},
        "grade": FLAG,
        "locked": FLAG,
        "solution": FLAG,
        "task": FLAG,
    },
    "required": ["schema_version", "grade_id", "grade", "locked", "solution", "task"],
    "additionalProperties": False,
    # Points are for cells of tests, and those are locked: nbgrader puts them back as they were.
    "if": {"properties": {"grade": {"const": True}}},
    "then": {
        "required": ["points"],
        "properties": {"locked": {"const": True}, "solution": {"const": False}},
    },
    "else": {"properties": {"points": False, "solution": {"const": True}}},
}
# Their solutions are derivations, in text.
BY_HAND = {"ex-lm-circle", "ex-lm-exponential"}


@cache
def made(path: Path) -> nbformat.NotebookNode:
    """Make the assignment of a chapter, once."""
    return assignments.assignment(nbformat.read(path, as_version=4))


def regions(source: str, kind: str) -> list[str]:
    """Read what stands between nbgrader's marks, line by line as it does."""
    found: list[list[str]] = []
    is_open = False
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            assert not is_open, "a region begins in a region"
            is_open = True
            found.append([])
        elif f"END {kind}" in line:
            assert is_open, "a region ends that never began"
            is_open = False
        elif is_open:
            found[-1].append(line)
    assert not is_open, "a region never ends"
    return ["\n".join(lines) for lines in found]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_metadata_is_that_of_nbgrader(path: Path) -> None:
    notebook = made(path)
    nbformat.validate(notebook)
    graded = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert graded
    for cell in graded:
        jsonschema.validate(cell.metadata["nbgrader"], METADATA)
        # A task is Markdown; all of ours are code.
        assert cell.cell_type == "code"
        assert not cell.metadata["nbgrader"]["task"]
        is_solution = cell.metadata["nbgrader"]["solution"]
        assert len(regions(cell.source, "SOLUTION")) == is_solution
        assert len(regions(cell.source, "HIDDEN TESTS")) <= (not is_solution)
    names = [cell.metadata["nbgrader"]["grade_id"] for cell in graded]
    assert len(set(names)) == len(names)
    # Each cell to write in is followed by its tests.
    assert [f"{name}-tests" for name in names[0::2]] == names[1::2]


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"grade_id": "ex gram"},
        {"grade_id": ""},
        {"points": 0},
        {"points": None},
        {"locked": False},
        {"solution": True},
        {"grade": 1},
        {"extra": 1},
    ],
    ids=str,
)
def test_the_schema_refuses_what_nbgrader_refuses(change: dict[str, object]) -> None:
    right = {**assignments._metadata("ex-gram-tests", solution=False), "points": 2}
    jsonschema.validate(right, METADATA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**right, **change}, METADATA)


def test_points_are_the_stars_of_the_exercises() -> None:
    """Counted in the text that students read, by another way than the tool's."""
    points: dict[str, int] = {}
    for path in CHAPTERS:
        for cell in made(path).cells:
            metadata = cell.metadata.get("nbgrader", {})
            if metadata.get("grade"):
                points[metadata["grade_id"].removesuffix("-tests")] = metadata["points"]
    stars = {
        name: re.search(rf"(★+)[^★]*:label: {name}\n", path.read_text("utf-8").replace("\\n", "\n"))
        for path in CHAPTERS
        for name in points
        if f":label: {name}\\n" in path.read_text("utf-8")
    }
    assert points == {name: len(found[1]) for name, found in stars.items() if found}
    assert sum(points.values()) > 100


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_chapter_loads_lies_beside_it(path: Path) -> None:
    """Students get one assignment at a time, in a folder of its own."""
    files = dict(assignments.contents([path]))
    source = files[f"source/{path.stem}/{path.name}"].decode()
    for name in set(re.findall(r"results/\w+(?=\\\\?\")", source)):
        for suffix in (".json", ".npz"):
            beside = files[f"source/{path.stem}/{name}{suffix}"]
            assert beside == (ROOT / "book" / f"{name}{suffix}").read_bytes()


def test_every_exercise_with_a_check_is_an_assignment() -> None:
    found = {
        cell.metadata["nbgrader"]["grade_id"]
        for path in CHAPTERS
        for cell in made(path).cells
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
    notebook = made(path)
    place = tmp_path / path.name
    place.write_text(json.dumps(notebook), encoding="utf-8")
    runner.prepare()
    marked = runner.mark(place, seed=20, limits=Limits(seconds=300, cell_seconds=120))
    wrong = {name: given.words for name, given in marked.marks.items() if not given.right}
    assert set(wrong) <= BY_HAND, wrong
    assert marked.marks


def test_nbgrader_itself_makes_checks_and_grades_an_assignment(tmp_path: Path) -> None:
    pytest.importorskip("nbgrader")
    for name, data in assignments.contents([ROOT / "book" / "pseudo-inverse.ipynb"]):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    # It calls `alembic` by name when it makes its gradebook.
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "INFORMED_EXPLORER": "live", "PATH": commands}

    def nbgrader(*words: str) -> str:
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return f"{done.stdout}{done.stderr}"

    nbgrader("generate_assignment", "pseudo-inverse")
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
    nbgrader("autograde", "pseudo-inverse")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        scores = {s: book.find_submission("pseudo-inverse", s).score for s in ("ada", "bob")}
    assert scores == {"ada": 7.0, "bob": 0.0}
