"""Wrong variants of a student's function, each with one small change, made from its syntax tree.

Operators and names are exchanged as in ``tools/mutations.py``, which plants errors in the library;
what is added here is what a student does: forgets an argument, swaps two, hard-wires a length.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from mutations import OTHER_NAMES, OTHER_OPERATORS, with_fields

# And those that nobody plants in a library, but that a student takes for one another.
SISTERS = OTHER_NAMES | {
    "sum": "mean",
    "std": "var",
    "var": "std",
    "vstack": "hstack",
    "unique": "sort",
}

# What a call may be replaced by its argument.
DROPPED = {"sqrt", "abs", "square", "log", "exp", "average_over_clusters"}
# Settings that a student forgets.
FORGOTTEN = {"ddof", "axis", "keepdims", "whiten", "directions"}
# The order of these arguments does not matter.
COMMUTATIVE = {"minimum", "maximum", "isclose", "allclose", "min", "max"}


def mutants(
    function: ast.FunctionDef, arguments: Mapping[str, Any]
) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield variants of a function, each with a name that says what was changed.

    Parameters
    ----------
    function : FunctionDef
        The right one.
    arguments : mapping from str to object
        Arguments of some call: a function with a constant in the place of one of them, or of a
        length, is wrong, too, and so is one that takes rows for columns.
    """
    constants = dict(hard_wired(arguments))
    tables = {name for name, value in arguments.items() if np.ndim(value) == 2}
    seen: Counter[str] = Counter()
    for place, node in enumerate(ast.walk(function)):
        others = [*variants(node)]
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            others += map(ast.Constant, constants.get(text(node), []))
            if isinstance(node, ast.Name) and node.id in tables:
                others.append(ast.Attribute(node, "T", ast.Load()))
        for changed in others:
            name = f"{text(node)} -> {text(changed)}"
            if name.split(" -> ")[0] == name.split(" -> ")[1]:
                continue
            seen[name] += 1
            if seen[name] > 1:
                name = f"{name} ({seen[name]})"
            variant = copy.deepcopy(function)
            target = list(ast.walk(variant))[place]
            variant = Replace(target, changed).visit(variant)
            yield name, ast.fix_missing_locations(variant)


def hard_wired(arguments: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield what depends on the arguments of a call, and constants that somebody may put for it."""
    for name, value in arguments.items():
        if isinstance(value, int):
            yield name, [1, 2, 3]
        elif isinstance(value, float):
            yield name, [0.5, 1.0, 2.0]
        elif isinstance(value, np.ndarray):
            yield f"len({name})", [len(value)]
            for axis, length in enumerate(value.shape):
                yield f"{name}.shape[{axis}]", [length]
            if value.dtype.kind == "i":
                yield f"{name}.max() + 1", [int(value.max()) + 1]
                yield f"len(np.unique({name}))", [len(np.unique(value))]


def text(node: ast.AST) -> str:
    return ast.unparse(node)


class Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, changed: ast.AST) -> None:
        self.target, self.changed = target, changed

    def visit(self, node: ast.AST) -> Any:
        if node is self.target:
            return copy.deepcopy(self.changed)
        return self.generic_visit(node)


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node by mistake."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in OTHER_OPERATORS.get(type(node.ops[0]), ()):
            yield with_fields(node, ops=[other()])
    elif isinstance(node, ast.BinOp):
        yield from operations(node)
    elif isinstance(node, ast.BoolOp):
        yield with_fields(node, op=OTHER_OPERATORS[type(node.op)][0]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if not isinstance(node.operand, ast.Constant):
            yield node.operand
    elif isinstance(node, ast.Constant):
        yield from other_constants(node.value)
    elif isinstance(node, ast.Attribute):
        if node.attr == "T":
            yield node.value
        elif node.attr in SISTERS:
            yield with_fields(node, attr=SISTERS[node.attr])
    elif isinstance(node, ast.Call):
        yield from calls(node)
    elif isinstance(node, ast.Slice):
        yield from slices(node)
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from returns(node)


def operations(node: ast.BinOp) -> Iterator[ast.AST]:
    for other in OTHER_OPERATORS.get(type(node.op), ()):
        yield with_fields(node, op=other())
    # Not centred, not divided, not squared.
    if isinstance(node.op, ast.Sub | ast.Div | ast.Mult | ast.Pow | ast.BitAnd):
        yield node.left
    if isinstance(node.op, ast.Mult | ast.BitAnd):
        yield node.right
    if isinstance(node.op, ast.MatMult):
        yield with_fields(node, left=node.right, right=node.left)


def other_constants(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, float) and value != int(value):
        yield ast.Constant(2 * value)
        return
    for other in (value + 1, value - 1):
        yield ast.Constant(other)


def calls(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else text(node.func)
    if name in DROPPED and node.args:
        yield node.args[0]
    if name == "len":
        yield ast.BinOp(copy.deepcopy(node), ast.Sub(), ast.Constant(1))
    if len(node.args) >= 2 and name not in COMMUTATIVE:
        yield with_fields(node, args=[node.args[1], node.args[0], *node.args[2:]])
    for keyword in node.keywords:
        others = [each for each in node.keywords if each is not keyword]
        if keyword.arg in FORGOTTEN:
            yield with_fields(node, keywords=others)


def slices(node: ast.Slice) -> Iterator[ast.AST]:
    yield ast.Slice()
    if node.lower is None and node.upper is not None and node.step is None:
        yield ast.Slice(lower=node.upper)
        yield ast.Slice(upper=ast.BinOp(node.upper, ast.Add(), ast.Constant(1)))
    elif node.upper is None and node.lower is not None and node.step is None:
        yield ast.Slice(upper=node.lower)
        yield ast.Slice(lower=ast.BinOp(node.lower, ast.Add(), ast.Constant(1)))


def returns(node: ast.Return) -> Iterator[ast.AST]:
    assert node.value is not None
    if not isinstance(node.value, ast.Tuple):
        yield ast.Return(ast.UnaryOp(ast.USub(), node.value))
        yield ast.Return(ast.BinOp(ast.Constant(2), ast.Mult(), node.value))
    else:
        yield ast.Return(with_fields(node.value, elts=node.value.elts[::-1]))
