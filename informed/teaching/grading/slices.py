"""Which cells of a notebook an answer needs.

A chapter draws figures and runs experiments between its exercises. To mark sixty of them, only the
cells that an answer rests on are run: the cell that holds ``check("ex-...", answer)``, the earlier
cells that make or change a name which that cell uses, and so on. Names are read from the source;
nothing runs here, and a cell that is not Python costs its own exercise only.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["Cell", "exercises_in", "needed", "read_cells"]

LABEL = re.compile(r"ex-[\w-]+")
# A line for IPython alone: a magic, a shell command, or a question.
IPYTHON = re.compile(r"^\s*[%!?]|^[\w.]+\?{1,2}\s*$")
RANDOM = {"seed", "shuffle"}


@dataclass(frozen=True)
class Cell:
    """A code cell: its number in the notebook, from 1, and its source."""

    number: int
    source: str

    @cached_property
    def tree(self) -> ast.Module | None:
        """The cell as Python, or None."""
        try:
            return ast.parse(self.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def exercises(self) -> tuple[str, ...]:
        """Labels of the exercises that are answered here, in order."""
        if self.tree is None:
            found = re.findall(r"\bcheck\(\s*[\"'](ex-[\w-]+)[\"']", self.source)
        else:
            found = [name for name, _ in calls_of_check(self.tree)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def names(self) -> Names:
        """What the cell does to names."""
        return Names() if self.tree is None else _names(self.tree)


def calls_of_check(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Find ``check("ex-...", ...)`` and ``exercises.check("ex-...", ...)``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else name
        first = node.args[0]
        if (
            name == "check"
            and isinstance(first, ast.Constant)
            and isinstance(first.value, str)
            and LABEL.fullmatch(first.value)
        ):
            yield first.value, node


@dataclass
class Names:
    """What a cell does to the names of the notebook.

    Attributes
    ----------
    now : set of str
        Names that it reads when it runs.
    later : set of str
        Names that its functions read when they are called.
    makes : set of str
        Names that it binds anew, whatever they were.
    changes : set of str
        Names that it may bind, or whose object it changes; ``*`` if nobody can tell.
    calls : set of str
        Names of objects that a method is called on for its effect: ``rows`` in ``rows.sort()``.
    imports : set of str
        Names that it imports.
    """

    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    makes: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)


def _names(tree: ast.Module) -> Names:
    names = Names()
    _read(tree.body, names, set(), certain=True)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(
            node.ctx, ast.Store | ast.Del
        ):
            names.changes.update(_root(node))
        elif isinstance(node, ast.Global):
            names.changes.update(node.names)
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            names.changes.add("*")
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in RANDOM:
                names.changes.update(n for part in (node.func, *node.args) for n in _root(part))
            elif isinstance(node.func, ast.Name) and node.func.id == "exec":
                names.changes.add("*")
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Attribute)
        ):
            names.calls.update(_root(node.value.func))
    return names


def _read(body: Sequence[ast.stmt], names: Names, made: set[str], *, certain: bool) -> None:
    """Read statements in order; `made` are the names that the cell has bound by then itself."""

    def bind(*bound: str) -> None:
        made.update(bound)
        (names.makes if certain else names.changes).update(bound)

    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            outside = [*statement.decorator_list, *_defaults(statement)]
            names.now |= {n for part in outside for n in _loads(part)} - made
            names.later |= _free(statement)
            bind(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            bound = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
            names.imports.update(bound)
            bind(*bound)
        elif isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.Try):
            for part in ast.iter_child_nodes(statement):
                if not isinstance(part, ast.stmt | ast.ExceptHandler):
                    names.now |= _loads(part) - made
                    made |= (stored := _stores(part))
                    names.changes |= stored
            for handler in getattr(statement, "handlers", []):
                names.now |= (_loads(handler.type) if handler.type else set()) - made
            blocks = [getattr(statement, key, []) for key in ("body", "orelse", "finalbody")]
            blocks += [handler.body for handler in getattr(statement, "handlers", [])]
            for block in blocks:
                _read(block, names, made, certain=False)
        else:
            names.now |= _loads(statement) - made
            if isinstance(statement, ast.AugAssign):
                names.now |= _stores(statement.target) - made
                names.changes |= _stores(statement.target)
            else:
                bind(*_stores(statement))


def _defaults(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    if isinstance(statement, ast.ClassDef):
        return statement.bases
    return [*statement.args.defaults, *(d for d in statement.args.kw_defaults if d is not None)]


def _loads(node: ast.AST) -> set[str]:
    """Names that are read, but those of comprehensions and lambdas, which are their own."""
    own = {
        name
        for part in ast.walk(node)
        for name in (
            _stores(part.target)
            if isinstance(part, ast.comprehension)
            else {a.arg for a in ast.walk(part.args) if isinstance(a, ast.arg)}
            if isinstance(part, ast.Lambda)
            else ()
        )
    }
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    } - own


def _stores(node: ast.AST) -> set[str]:
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store | ast.Del)
    }


def _free(statement: ast.stmt) -> set[str]:
    """Names that a function or class reads from outside."""
    own = _stores(statement) | {a.arg for a in ast.walk(statement) if isinstance(a, ast.arg)}
    shared = {n for part in ast.walk(statement) if isinstance(part, ast.Global) for n in part.names}
    return _loads(statement) - (own - shared)


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def read_cells(text: str) -> list[Cell]:
    """Read the code cells of a notebook.

    Raises
    ------
    ValueError
        In words for the row of a student, if this is no notebook.
    """
    if not text.strip():
        raise ValueError("the file is empty")
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the file is no notebook: it is not JSON, or was cut off") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("the file is no notebook of format 4: open it in Jupyter and save it")
    found = []
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str) and source.strip():
            found.append(Cell(number, _without_magics(source)))
    return found


def _without_magics(source: str) -> str:
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        # A timed cell is a cell; one in another language is not.
        lines[0] = "" if lines[0].startswith(("%%time", "%%capture")) else "pass"
        lines = lines if not lines[0] else lines[:1]
    # The line stays, empty, so that the numbers of the others are right.
    return "\n".join(
        re.sub(r"\S.*", "pass", line) if IPYTHON.match(line) else line for line in lines
    )


def exercises_in(cells: Sequence[Cell]) -> list[str]:
    """Return the labels of the exercises that a notebook answers, in order."""
    return list(dict.fromkeys(name for cell in cells for name in cell.exercises))


def needed(cells: Sequence[Cell], exercises: Sequence[str]) -> list[Cell]:
    """Return the cells that the answers to some exercises need, in order.

    Parameters
    ----------
    cells : sequence of Cell
        The code cells of a notebook.
    exercises : sequence of str
        Labels of exercises.

    Returns
    -------
    cells : list of Cell
        Those to run.

    Examples
    --------
    >>> from informed.teaching.grading.slices import Cell
    >>> cells = [
    ...     Cell(1, "import numpy as np"),
    ...     Cell(2, "def draw(): ..."),
    ...     Cell(3, "def f(X): return np.sum(X)"),
    ...     Cell(4, 'check("ex-sum", f)'),
    ... ]
    >>> [cell.number for cell in needed(cells, ["ex-sum"])]
    [1, 3, 4]
    """
    wanted = set(exercises)
    # `plots.draw(x)` changes no module: what a method may change is an object.
    modules = {name for cell in cells for name in cell.names.imports}
    chosen: set[int] = set()
    for end, target in enumerate(cells):
        if wanted.isdisjoint(target.exercises):
            continue
        done: set[tuple[str, int]] = set()
        open_ = [(name, end) for name in target.names.now | target.names.later]
        chosen.add(end)
        while open_:
            name, before = open_.pop()
            if (name, before) in done:
                continue
            done.add((name, before))
            for at in range(before - 1, -1, -1):
                names = cells[at].names
                makes = name in names.makes
                if makes or {name, "*"} & names.changes or name in names.calls - modules:
                    chosen.add(at)
                    open_ += [(other, at) for other in names.now | names.later]
                    # A function looks its names up when it is called, which is at the end.
                    open_ += [(other, end) for other in names.later]
                if makes:
                    break
    return [cells[at] for at in sorted(chosen)]
