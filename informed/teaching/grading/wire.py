"""Values that cross from a student's process to the grader, as text and never as pickles.

To load a pickle runs what its writer chose. Whatever a student's process sends is therefore JSON
of a few known forms, and `unpack` builds nothing else: the worst that a hostile process can send is
a wrong answer.
"""

from __future__ import annotations

import base64
import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Described", "pack", "unpack"]

KINDS = "biufcU"
DEPTH = 20


@dataclass(frozen=True)
class Described:
    """What is reported of a function that stays in the student's process.

    Attributes
    ----------
    name : str
        Name of the function.
    parameters : tuple of (str, str, bool)
        Name, kind and "has a default" of each parameter.
    known : bool
        False for built-in functions that do not tell their parameters.
    """

    name: str
    parameters: tuple[tuple[str, str, bool], ...]
    known: bool = True

    def signature(self) -> inspect.Signature | None:
        """Return the signature, or None if the function does not tell it."""
        if not self.known:
            return None
        kinds = {kind.name: kind for kind in inspect._ParameterKind}
        return inspect.Signature(
            [
                inspect.Parameter(
                    name, kinds[kind], default=None if default else inspect.Parameter.empty
                )
                for name, kind, default in self.parameters
            ]
        )


def pack(value: Any) -> bytes:
    """Write a value; what has no known form is reported by the name of its type."""
    return json.dumps(_down(value, 0)).encode()


def unpack(data: bytes) -> Any:
    """Read what `pack` wrote.

    Raises
    ------
    ValueError
        If the data are not of this form.
    """
    try:
        return _up(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"a message of no known form ({type(error).__name__})") from None


def _down(value: Any, depth: int) -> Any:
    if depth > DEPTH:
        return {"other": "deeply nested value"}
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int) and not isinstance(value, np.generic):
        return {"int": str(int(value))} if abs(value) < 10**4000 else {"other": "huge int"}
    if value is ...:
        return {"ellipsis": 0}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _array_down(np.asarray(value), scalar=isinstance(value, np.generic))
    if isinstance(value, float):
        return {"float": float(value).hex() if math.isfinite(value) else repr(float(value))}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, tuple):
        return {"tuple": [_down(part, depth + 1) for part in value]}
    if isinstance(value, list | range):
        return {"list": [_down(part, depth + 1) for part in value]}
    if isinstance(value, set | frozenset):
        return {"set": [_down(part, depth + 1) for part in value]}
    if isinstance(value, Mapping):
        return {
            "dict": [[_down(key, depth + 1), _down(part, depth + 1)] for key, part in value.items()]
        }
    return _object_down(value)


def _object_down(value: Any) -> Any:
    if hasattr(value, "toarray"):  # sparse matrices
        return _array_down(np.asarray(value.toarray()))
    if hasattr(value, "__array__") and not isinstance(value, type):  # tables, series, tensors
        return _array_down(np.asarray(value))
    if callable(value):
        return {"function": _describe(value)}
    return {"other": type(value).__name__}


def _array_down(array: np.ndarray[Any, Any], *, scalar: bool = False) -> Any:
    if array.dtype.kind not in KINDS:
        return {"other": "array of objects" if array.dtype.kind == "O" else str(array.dtype)}
    array = np.ascontiguousarray(array).reshape(array.shape)
    data = base64.b64encode(array.tobytes()).decode()
    return {"scalar" if scalar else "array": [array.dtype.str, list(array.shape), data]}


def _describe(function: Callable[..., Any]) -> Any:
    name = str(getattr(function, "__name__", type(function).__name__))[:80]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [name, None]
    return [
        name,
        [[p.name, p.kind.name, p.default is not inspect.Parameter.empty] for p in parameters],
    ]


def _up(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    ((form, content),) = value.items()
    if form == "int":
        return int(content)
    if form == "float":
        return float.fromhex(content)
    if form == "complex":
        return complex(*(float.fromhex(part) for part in content))
    if form == "ellipsis":
        return ...
    if form == "fraction":
        return Fraction(content)
    if form in ("array", "scalar"):
        array = _array_up(*content)
        return array[()] if form == "scalar" else array
    if form == "list":
        return [_up(part) for part in content]
    if form == "tuple":
        return tuple(_up(part) for part in content)
    if form == "set":
        return {_up(part) for part in content}
    if form == "dict":
        return {_up(key): _up(part) for key, part in content}
    if form == "function":
        return _function_up(*content)
    if form == "other":
        # An empty object whose type has this name: an engine that names types names the right one.
        return type(str(content)[:60], (), {})()
    raise ValueError(f"a message of the form {str(form)[:40]!r}")


def _array_up(dtype: str, shape: list[int], data: str) -> np.ndarray[Any, Any]:
    kind = np.dtype(str(dtype))
    if kind.kind not in KINDS:
        raise ValueError(f"an array of type {kind}")
    return np.frombuffer(base64.b64decode(data), dtype=kind).reshape([int(s) for s in shape]).copy()


def _function_up(name: str, parameters: list[Any] | None) -> Described:
    if parameters is None:
        return Described(str(name), (), known=False)
    described = Described(
        str(name), tuple((str(p), str(kind), bool(default)) for p, kind, default in parameters)
    )
    described.signature()  # raises if a hostile process made the parameters up
    return described
