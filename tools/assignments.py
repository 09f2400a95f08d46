"""Make assignments for nbgrader from the chapters: its source notebooks, with cell metadata.

A source notebook is the students' notebook with two changes. A cell to write an answer in also
holds the published answer, between nbgrader's marks for solutions. After it stands a cell of tests,
which gives the points, as many as the exercise has stars: it asks whether the last answer was
right, and between nbgrader's marks for hidden tests tries a function on other inputs. ``nbgrader
generate_assignment`` takes solutions and hidden tests out, ``nbgrader autograde`` puts the tests
back in. Run as ``python tools/assignments.py FOLDER``, where FOLDER is an nbgrader course.
"""

from __future__ import annotations

import ast
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
import plain
from nbformat import NotebookNode

from informed.teaching.grading.slices import Cell, calls_of_check

CONFIG = """\
# The cell without its solution is the cell that the book hands out, so nothing takes its place.
c = get_config()  # noqa: F821
c.ClearSolutions.code_stub = {"python": ""}
c.CourseDirectory.course_id = "informed"
# By the clock, for one cell. nbgrader's own 30 seconds are short for a busy machine.
c.Execute.timeout = 600
"""
NOTE = """\
> **How to use this notebook.** Each exercise has a cell to write your answer in; its last line
> tells you whether the answer holds. The cell below it is for grading: leave it as it is."""
# Students get one assignment at a time: the other chapters do not lie beside it.
CHAPTER_LINK = re.compile(r"\[([^\]]+)\]\([\w-]+\.ipynb\)")
STORED = re.compile(r"load_result\(\"(results/\w+)\"\)")
STARRED = re.compile(r"\{exercise\} (?P<stars>★+)[^\n]*\n *:label: (?P<label>\S+)")


def statements_for(source: str, name: str) -> str:
    """Cut a cell of a solution down to the statements that the answer to an exercise needs."""
    tree = ast.parse(source)
    last = max(
        at
        for at, node in enumerate(tree.body)
        for label, _ in calls_of_check(node)
        if label == name
    )
    kept = [tree.body[last]]
    names = set(Cell(1, ast.unparse(kept[0])).names.now)
    for node in reversed(tree.body[:last]):
        own = Cell(1, ast.unparse(node)).names
        if names & (own.makes | own.changes):
            kept.append(node)
            names |= own.now | own.later
    return "\n".join(ast.unparse(node) for node in reversed(kept))


def is_starter(cell: NotebookNode) -> bool:
    """Say whether a cell of a chapter is one to write an answer in."""
    return cell.cell_type == "code" and "exercise-starter" in cell.metadata.get("tags", [])


def published_answers(chapter: NotebookNode) -> dict[str, str]:
    """Return for each exercise whose solution is code the statements that answer it."""
    return {
        label: statements_for(cell.source, label)
        for cell in chapter.cells
        if cell.cell_type == "code" and not is_starter(cell)
        for label in Cell(1, cell.source).exercises
    }


def assignment(chapter: NotebookNode) -> NotebookNode:
    """Return a chapter as a source notebook of nbgrader."""
    answers = published_answers(chapter)
    text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
    stars = {found["label"]: len(found["stars"]) for found in STARRED.finditer(text)}
    starters = {cell.id for cell in chapter.cells if is_starter(cell)}
    notebook = plain.convert(chapter, solutions=False, note=NOTE)
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = CHAPTER_LINK.sub(r"\1", cell.source)
        cells.append(cell)
        for label in Cell(1, cell.source).exercises if cell.id in starters else ():
            # An answer that is derived by hand stands in the text of the solution, not in code.
            if label in answers:
                cells.append(_graded(cell, label, stars[label], answers[label]))
    notebook.cells = cells
    return notebook


def _graded(cell: NotebookNode, label: str, points: int, answer: str) -> NotebookNode:
    """Add the solution to a cell; return the cell of tests that follows it."""
    given = next(call for name, call in calls_of_check(ast.parse(cell.source)) if name == label)
    cell.source += f"\n\n### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
    cell.metadata["nbgrader"] = _metadata(label, solution=True)
    tests = f'from informed.exercises import passed\n\nassert passed("{label}")'
    if len(given.args) > 1 and isinstance(given.args[1], ast.Name):
        seed = zlib.crc32(f"hidden {label}".encode())
        tests += (
            "\n### BEGIN HIDDEN TESTS\n"
            "from informed.teaching.exercises.engine import judge\n\n"
            f'assert judge("{label}", {given.args[1].id}, seed={seed})\n'
            "### END HIDDEN TESTS"
        )
    metadata = {"nbgrader": {**_metadata(f"{label}-tests", solution=False), "points": points}}
    return nbformat.v4.new_code_cell(tests, id=f"{cell.id}-tests", metadata=metadata)


def _metadata(name: str, *, solution: bool) -> dict[str, object]:
    return {
        "schema_version": 3,
        "grade_id": name,
        "grade": not solution,
        "locked": not solution,
        "solution": solution,
        "task": False,
    }


def stored_tables(chapter: NotebookNode) -> Iterator[Path]:
    """Find the files that a chapter loads, to be laid beside it."""
    for cell in chapter.cells:
        for name in STORED.findall(cell.source) if cell.cell_type == "code" else ():
            yield from (plain.BOOK / f"{name}{suffix}" for suffix in (".json", ".npz"))


def contents(chapters: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Make all files of an nbgrader course, with their paths in it."""
    yield "nbgrader_config.py", CONFIG.encode()
    for path in chapters:
        chapter = nbformat.read(path, as_version=4)
        folder = f"source/{path.stem}"
        yield f"{folder}/{path.name}", nbformat.writes(assignment(chapter)).encode()
        for table in stored_tables(chapter):
            yield f"{folder}/{table.relative_to(plain.BOOK).as_posix()}", table.read_bytes()


def main(folder: str) -> int:
    """Write the course."""
    import course

    for name, data in contents(course.chapters()):
        place = Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    print(f"assignments for nbgrader are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
