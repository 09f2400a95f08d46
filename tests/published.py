"""The exercises of the book as they are published: what a notebook says, and what it computes."""

from __future__ import annotations

import ast
import dis
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import nbformat
from conftest import ROOT
from nbformat import NotebookNode

sys.path.insert(0, str(ROOT / "tools"))
import notebooks

STARTER = "exercise-starter"
CHAPTERS = {path.stem: path for path in notebooks.find_chapters()}

EXERCISE = re.compile(r"^(`{3,})\{exercise\} *(.*)\n:label: (\S+)\n(.*?)^\1$", re.M | re.S)
HINT = re.compile(r"^(`{3,}|:{3,})\{admonition\} Hint\n:class: tip dropdown\n", re.M)
SOLUTION = re.compile(r"^`{3,}\{solution(-start)?\} (\S+)\n:class: dropdown$", re.M)


@dataclass
class Exercise:
    """What a notebook says about one exercise."""

    label: str
    title: str
    body: str
    hint: bool = False
    solved: bool = False
    starter: int | None = None
    solution: list[int] = field(default_factory=list)  # its code cells


@cache
def cells(chapter: str) -> list[NotebookNode]:
    return nbformat.read(CHAPTERS[chapter], as_version=4).cells


def read(chapter: str) -> tuple[dict[str, Exercise], list[str]]:
    """Return the exercises of a chapter, and what is out of order among its cells."""
    found: dict[str, Exercise] = {}
    faults: list[str] = []
    current: Exercise | None = None
    solving = False
    for number, cell in enumerate(cells(chapter)):
        if cell.cell_type == "code":
            if STARTER not in cell.metadata.get("tags", []):
                if solving and current:
                    current.solution.append(number)
            elif current is None or solving:
                faults.append(f"starter cell {cell.id} does not follow an exercise")
            elif current.starter is not None:
                faults.append(f"{current.label} has two starter cells")
            else:
                current.starter = number
            continue
        for piece in pieces(cell.source):
            if match := EXERCISE.match(piece):
                _, title, label, body = match.groups()
                current = found[label] = Exercise(label, title, body)
            elif HINT.match(piece) and current:
                if current.solved:
                    faults.append(f"{current.label} has its hint after its solution")
                current.hint = True
            elif match := SOLUTION.match(piece):
                if current is None or match[2] != current.label:
                    faults.append(f"{match[2]} is solved before it is set, or after another")
                    continue
                current.solved, solving = True, match[1] is not None
            elif "{solution-end}" in piece:
                solving = False
    return found, faults


@cache
def exercises(chapter: str) -> dict[str, Exercise]:
    return read(chapter)[0]


def pieces(source: str) -> Iterator[str]:
    """Cut Markdown before each directive."""
    starts = [match.start() for match in re.finditer(r"^(?:`{3,}|:{3,})\{", source, re.M)]
    for start, end in itertools.pairwise([*starts, len(source)]):
        yield source[start:end]


ALL = [(chapter, label) for chapter in CHAPTERS for label in exercises(chapter)]
CHECKED = [(c, label) for c, label in ALL if exercises(c)[label].starter is not None]


def name_of(value: object) -> str:
    return str(value)


# ------------------------------------------------------------------------------- running a solution


def last_call(source: str) -> ast.Call | None:
    """Return the ``check(...)`` that a cell ends with."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and isinstance(call := last.value, ast.Call):
        return call if isinstance(call.func, ast.Name) and call.func.id == "check" else None
    return None


def label_of(call: ast.Call) -> str:
    assert isinstance(call.args[0], ast.Constant)
    return str(call.args[0].value)


def names_in(code: CodeType, *operations: str, deep: bool) -> set[str]:
    """Return the global names that some operations of compiled code speak of."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in operations}
    if deep:
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                found |= names_in(inner, *operations, deep=True)
    return found


def compiled(node: ast.stmt | ast.expr) -> CodeType:
    if isinstance(node, ast.stmt):
        return compile(ast.Module([node], []), "notebook", "exec")
    return compile(ast.Expression(node), "notebook", "eval")


def bound(statement: ast.stmt) -> set[str]:
    return names_in(compiled(statement), "STORE_NAME", deep=False)


def used(node: ast.stmt | ast.expr) -> set[str]:
    return names_in(compiled(node), "LOAD_NAME", "LOAD_GLOBAL", deep=True)


def names_behind(chapter: str, last_cell: int) -> tuple[dict[str, Any], ast.expr, list[ast.stmt]]:
    """Run what the answer in the last line of a cell rests on, a ``check(name, answer)``.

    Only those statements of the notebook up to there are run that the answer rests on.

    Returns
    -------
    names : dict
        What the notebook has defined by then.
    answer : expression
        The answer that the last line passes to `check`.
    kept : list of statements
        What was run.
    """
    statements = [
        statement
        for cell in cells(chapter)[: last_cell + 1]
        if cell.cell_type == "code"
        for statement in ast.parse(cell.source).body
    ]
    answer = statements[-1].value.args[1]  # type: ignore[attr-defined]
    needed, kept = used(answer), []
    for statement in reversed(statements[:-1]):
        names = bound(statement) & needed
        if not names:
            continue
        kept.append(statement)
        # What adds to a name or may skip it leaves open what it was before.
        if isinstance(
            statement, ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
        ):
            needed -= names
        needed |= used(statement)
    kept.reverse()
    names_here: dict[str, Any] = {}
    exec(compile(ast.Module(kept, []), f"{chapter}.ipynb", "exec"), names_here)
    return names_here, answer, kept


def answer_of(chapter: str, last_cell: int) -> Any:
    """Compute the answer that the last line of a cell passes to `check`."""
    names, answer, _ = names_behind(chapter, last_cell)
    return eval(compile(ast.Expression(answer), chapter, "eval"), names)


def solution_cell(chapter: str, label: str) -> int | None:
    """Return the cell of a published solution that ends with a check, if there is one."""
    numbers = exercises(chapter)[label].solution
    checking = [number for number in numbers if last_call(cells(chapter)[number].source)]
    assert len(checking) <= 1
    return checking[0] if checking else None
