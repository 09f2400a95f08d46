"""Small errors that somebody could have written: the changes that `mutate.py` plants.

Each is one change at one place of one file: another operator, a limit on the wrong side, a constant
that is a little off, a flag turned round, a factor or a centring that is missing.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OTHER_OPERATORS: dict[type[ast.AST], tuple[type[Any], ...]] = {
    # At the limit itself, and everywhere else.
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
OTHER_NAMES = {
    "min": "max",
    "max": "min",
    "argmin": "argmax",
    "argmax": "argmin",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "mean": "sum",
    "floor": "ceil",
    "ceil": "floor",
}
# Calls that may be forgotten: their first argument is left in their place.
FORGOTTEN = {"sqrt", "abs", "log", "log1p", "exp", "square", "sorted", "sort", "unique", "round"}
# Conditions without an operator that could be changed.
PLAIN = (ast.Name, ast.Attribute, ast.Call)
# Options that change where a warning points, or whether what was checked is checked once more.
SAME_RESULT = ("stacklevel", "check_input", "check_finite", "strict")
# Below this a constant is a tolerance.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Mutant:
    """One change at one place.

    Attributes
    ----------
    file : str
        Path from the root of the project.
    function : str
        Where in the file: names of classes and functions, joined by dots; empty outside of them.
    change : str
        What stood there and what stands there now. If the same change is possible several times in
        one function, the later ones are numbered.
    line, last_line : int
        The statement that is changed; of a default, the whole function.
    start, end : int
        The bytes of the file that are replaced.
    text : str
        What replaces them.
    outermost : tuple of str and int
        Name and first line of the function, or method, that is not inside of another one; an empty
        name if the change is outside of functions.
    """

    file: str
    function: str
    change: str
    line: int
    last_line: int
    start: int
    end: int
    text: str
    outermost: tuple[str, int]

    @property
    def key(self) -> str:
        """A name that stays the same when lines move."""
        return f"{self.file}::{self.function}: {self.change}"

    def planted_in(self, source: bytes) -> bytes:
        """Return the file's source with the error."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants_of(file: str, source: str) -> list[Mutant]:
    r"""Return every change of one file, in the order of its lines.

    >>> for mutant in mutants_of("a.py", "def f(x, n=3):\n    return abs(x) / n"):
    ...     print(mutant.function, mutant.change, sep=": ")
    f: 3 → 4
    f: abs(x) / n → abs(x) * n
    f: abs(x) / n → abs(x)
    f: abs(x) → x
    """
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return finder.found


class _Finder(ast.NodeVisitor):
    """Walks through a file and collects what may be changed; passes by what changes no result."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.found: list[Mutant] = []
        self._names: list[str] = []
        self._seen: Counter[tuple[str, str]] = Counter()
        self._statement: ast.stmt | None = None
        self._outermost = ("", 0)
        lines = source.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    def visit(self, node: ast.AST) -> None:
        if _changes_nothing(node):
            return
        if isinstance(node, ast.stmt):
            self._statement = node
        for other in others(node):
            self._add(node, other)
        if isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, PLAIN):
            self._add(node.test, ast.UnaryOp(ast.Not(), node.test))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._enter(node)
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def _enter(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self._names.append(node.name)
        outermost = self._outermost
        if isinstance(node, ast.FunctionDef):
            if not outermost[0]:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                self._outermost = (".".join(self._names), first)
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self._statement = node  # the whole function is what a default concerns
                    self.visit(default)
        for child in node.body:
            self.visit(child)
        self._names.pop()
        self._outermost = outermost

    def _add(self, node: Any, other: ast.AST) -> None:
        old, new = ast.unparse(node), ast.unparse(other)
        function = ".".join(self._names)
        change = f"{old} → {new}"
        self._seen[function, change] += 1
        if self._seen[function, change] > 1:
            change += f" ({self._seen[function, change]})"
        statement = self._statement
        assert statement is not None
        header = isinstance(statement, ast.If | ast.While | ast.For | ast.With | ast.Try)
        self.found.append(
            Mutant(
                self.file,
                function,
                change,
                node.lineno if header else statement.lineno,
                (node.end_lineno if header else statement.end_lineno) or node.lineno,
                self._starts[node.lineno - 1] + node.col_offset,
                self._starts[node.end_lineno - 1] + node.end_col_offset,
                new if isinstance(other, ast.stmt) else f"({new})",
                self._outermost,
            )
        )


def _changes_nothing(node: ast.AST) -> bool:
    """Whether a part of a program is text for people, for type checkers or for exports only."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Global):
        return True
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'")
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in ("__all__", "__version__")
    if isinstance(node, ast.keyword):
        return node.arg in SAME_RESULT
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("isinstance", "cast", "TypeVar", "Literal")
    if isinstance(node, ast.Subscript):
        # The parameters of a type in the right side of an alias.
        return isinstance(node.value, ast.Name) and node.value.id in ("Callable", "Literal")
    return False


def others(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node by mistake."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in OTHER_OPERATORS[type(operator)]:
                yield with_fields(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])
    elif isinstance(node, ast.BinOp):
        if not (_is_text(node.left) or _is_text(node.right)):
            for other in OTHER_OPERATORS.get(type(node.op), ()):
                yield with_fields(node, op=other())
            # Not centred, not scaled.
            if isinstance(node.op, ast.Sub | ast.Div | ast.Mult):
                yield node.left
    elif isinstance(node, ast.BoolOp):
        yield with_fields(node, op=OTHER_OPERATORS[type(node.op)][0]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value)
    elif isinstance(node, ast.Attribute):
        if node.attr == "T":
            yield node.value
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
        for other in OTHER_OPERATORS.get(type(node.op), ()):
            yield with_fields(node, op=other())
    elif isinstance(node, ast.Break) or _is_call(node):
        yield ast.Pass()


def _other_constants(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(1 - value if value in (0, 1) else value + 1)
    elif isinstance(value, float):
        if 0 < value < TOLERANCE:
            yield ast.Constant(0.01)
        else:
            yield ast.Constant(2 * value if value else 1.0)


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name in OTHER_NAMES:
        if isinstance(function, ast.Attribute):
            yield with_fields(node, func=with_fields(function, attr=OTHER_NAMES[name]))
        else:
            yield with_fields(node, func=ast.Name(OTHER_NAMES[name], ast.Load()))
    if name in FORGOTTEN and node.args:
        yield node.args[0]
    for place, keyword in enumerate(node.keywords):
        if keyword.arg == "random_state" and not isinstance(keyword.value, ast.Constant):
            fixed = ast.keyword("random_state", ast.Constant(0))
            yield with_fields(
                node, keywords=[*node.keywords[:place], fixed, *node.keywords[place + 1 :]]
            )


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def with_fields(node: Any, **fields: Any) -> Any:
    """Return a copy of a node with other fields (what is inside of it is shared)."""
    result = copy.copy(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result
