"""What an answer is made of, in whatever form: lists, arrays, tables, fractions, text."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "article", "conform", "flat", "is_numeric", "is_rounded", "number", "same"]

Array = NDArray[Any]
"""An array of numbers, for the signatures of references."""

_MOST = 10_000  # an iterator may have no end


# ------------------------------------------------------------------------------------ one number

_OPERATIONS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_NAMES = {"pi": math.pi, "e": math.e}
_FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "ln": math.log}


def number(value: Any) -> float:
    """Return a number that is given as such, as a fraction, or as text like ``"1/0.19"``.

    Raises
    ------
    ValueError
        If it is no real number. True and False are none.
    """
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_ | bytes) or value is None:
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, complex | np.complexfloating):
        if value.imag != 0:
            raise ValueError(f"{value!r} is not a real number")
        value = value.real
    try:
        return float(value)
    except (TypeError, ArithmeticError) as error:
        raise ValueError(f"{value!r} is not a number") from error


def _from_text(text: str) -> float:
    """Compute what stands in a text: decimals, fractions, roots, π."""
    if len(text) > 100:
        raise ValueError("this text is too long for a number")
    words = text.strip().replace("−", "-").replace("^", "**").replace("·", "*").replace("×", "*")
    words = re.sub(r"√\s*(\d+(?:\.\d+)?|π|pi)", r"sqrt(\1)", words).replace("√", "sqrt")
    words = words.replace("π", "pi")
    words = re.sub(r"(?<=[\d)])\s*(?=sqrt|pi)", "*", words)
    try:
        return _value(ast.parse(words, mode="eval").body)
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text!r} is not a number") from error


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(_value(node.args[0]))
    raise ValueError("this text is not a number")


def is_rounded(found: float, value: float) -> bool:
    """Say whether a number is another one, rounded to three digits or more.

    Significant digits count. Who rounds 0.03846 to three decimals, 0.038, is right, too, as long as
    two significant digits remain. For zero, what rounds to 0.000 is right.
    """
    if value == 0:
        return abs(found) <= 5e-4
    if not math.isfinite(found):
        return False
    # The finer of both units, just below a power of ten: 999 is not 1000, to three digits.
    smaller = max(min(abs(found), abs(value)), 0.5 * abs(value))
    unit = 10.0 ** (math.floor(math.log10(smaller) + 1e-12) - 2)
    near = abs(found - value) <= 0.5 * unit * (1 + 1e-9)
    return near or (abs(value) >= 0.01 and math.isclose(found, round(value, 3)))


# ---------------------------------------------------------------------------------- many of them


def plain(value: Any) -> Any:
    """Unwrap tables of pandas and the like, sparse matrices, and what can be run through once."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)  # a matrix stays two-dimensional whatever is done to it
    if isinstance(value, np.generic | str | bytes | Mapping | Set | list | tuple):
        return value
    for method in ("to_numpy", "toarray"):
        if callable(unwrap := getattr(type(value), method, None)):
            return unwrap(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if isinstance(value, Iterable):
        return list(itertools.islice(value, _MOST))
    return value


def flat(answer: Any) -> list[Any]:
    """Return the values of an answer, however they are nested."""
    answer = plain(answer)
    if isinstance(answer, np.ndarray):
        return flat(list(answer.ravel())) if answer.ndim else [answer[()]]
    if isinstance(answer, list | tuple):
        return [part for value in answer for part in flat(value)]
    return [answer]


def conform(result: Any, expected: Any) -> tuple[Any, str | None]:
    """Bring a result into the form of what is expected, or say what keeps it from that.

    Returns
    -------
    value : tuple, str, bool or array
        The result, in the form of `expected`; the result as it was if it has another.
    fault : str or None
        What is wrong with its form: its type, its shape, a NaN.
    """
    if isinstance(expected, tuple):
        return _conform_each(plain(result), expected)
    if isinstance(expected, str):
        fault = None if isinstance(result, str) else f"returns {article(result)}, not a string."
        return result, fault
    if isinstance(expected, bool | np.bool_):
        if isinstance(result, bool | np.bool_) or _is_single_truth(result):
            return bool(result), None
        return result, f"returns {article(result)}, not True or False."
    wanted = np.asarray(expected)
    if not wanted.ndim and (isinstance(result, bool | np.bool_) or _is_single_truth(result)):
        return result, "returns True or False; a single number is expected."
    try:
        got = _as_numbers(plain(result))
    except ValueError as error:
        return result, f"returns {error}; {_shaped(wanted)} of real numbers is expected."
    if got.shape != wanted.shape:
        turned = got.ndim > 1 and got.T.shape == wanted.shape
        hint = " Rows and columns are exchanged." if turned else ""
        return got, f"returns {_shaped(got)}; {_shaped(wanted)} is expected.{hint}"
    bad = ~np.isfinite(got.astype(float)) & np.isfinite(wanted.astype(float))
    if bad.any():
        return got, (
            f"returns NaN or infinity in {bad.sum()} of {bad.size} entries: look for a division by "
            "zero, or a root or a logarithm of a negative number."
        )
    return got, None


def _conform_each(result: Any, expected: tuple[Any, ...]) -> tuple[Any, str | None]:
    several = isinstance(result, tuple | list) or (isinstance(result, np.ndarray) and result.ndim)
    if not several or len(result) != len(expected):
        return result, f"must return {len(expected)} values: `return first, second, ...`."
    parts = []
    for place, (one, other) in enumerate(zip(result, expected, strict=True), start=1):
        part, fault = conform(one, other)
        if fault:
            return result, f"{fault[:-1]}, as its return value number {place}."
        parts.append(part)
    return tuple(parts), None


def _is_single_truth(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "b"


def _as_numbers(value: Any) -> Array:
    """Return an array of real numbers, or say in the words of an error what it is instead."""
    try:
        found = np.asarray(value)
    except ValueError:
        raise ValueError("rows of different lengths, which make no array") from None
    if found.dtype.kind == "O" and found.size and _all_numbers(found):
        return np.array([number(each) for each in found.ravel()]).reshape(found.shape)
    if found.dtype.kind == "c":
        if np.any(found.imag):
            raise ValueError("complex numbers")
        return found.real
    if found.dtype.kind not in "biuf":
        raise ValueError(article(value))
    return found


def _all_numbers(values: Array) -> bool:
    kinds = int | float | Fraction | Decimal | np.number | np.ndarray
    return all(isinstance(each, kinds) and getattr(each, "ndim", 0) == 0 for each in values.ravel())


def article(value: Any) -> str:
    """Return the type of a value with its article."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _shaped(array: Array) -> str:
    return "a single number" if array.ndim == 0 else f"an array of shape {array.shape}"


# ---------------------------------------------------------------------------------- the same or not


def same(one: Any, other: Any, rtol: float, atol: float | None) -> bool:
    """Say whether a result is the one that is expected (the second), up to rounding.

    Without `atol`, what counts as zero is a millionth of the largest entry that is expected, so
    that another order of the same operations is right, too.
    """
    if isinstance(other, tuple | list) and not is_numeric(other):
        return (
            isinstance(one, tuple | list)
            and len(one) == len(other)
            and all(same(a, b, rtol, atol) for a, b in zip(one, other, strict=True))
        )
    if isinstance(other, str):
        return isinstance(one, str) and one == other
    if not is_numeric(one) or not is_numeric(other):
        return False
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and bool(close(a, b, rtol, atol).all())


def close(found: Array, wanted: Array, rtol: float, atol: float | None) -> Array:
    """Say for each entry whether it is right, up to rounding."""
    if atol is None:
        finite = wanted[np.isfinite(wanted)]
        atol = 1e-9 + 1e-6 * float(np.max(np.abs(finite), initial=0.0))
    near: Array = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    return near


def is_numeric(value: Any) -> bool:
    """Say whether a value makes an array of real numbers."""
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except ValueError:  # ragged
        return False
