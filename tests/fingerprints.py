"""Results in a few texts and numbers, to be written down and compared later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from informed.experiments import Table


def sums(value: Any, *, signed: bool = True) -> list[Any]:
    """Return the shape of an array, how many entries are no numbers, and two sums of the others."""
    array = np.asarray(value, dtype=float)
    flat = array.ravel() if signed else np.abs(array.ravel())
    there = np.isfinite(flat)
    weights = np.cos(np.arange(flat.size))  # so that the order counts
    found = [np.abs(flat[there]).sum(), weights[there] @ flat[there]]
    return [list(array.shape), int((~there).sum()), *(float(f"{each:.9g}") for each in found)]


def plain(value: Any, *, signed: bool = True) -> Any:
    """Return a value as texts and numbers; None if it is anything else.

    Parameters
    ----------
    value : object
        What is to be told.
    signed : bool
        Whether signs count; those of directions are free.
    """
    if isinstance(value, Table):
        return str(value).splitlines()
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        return sums(value, signed=signed)
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return sums(value, signed=signed)
    if isinstance(value, dict):
        return {str(key): plain(each, signed=signed) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, signed=signed) for each in value]
    return None


def same(found: Any, expected: Any) -> bool:
    """Whether two fingerprints agree: words exactly, numbers but for rounding."""
    if isinstance(expected, str) and isinstance(found, str):
        one, other = found.split(), expected.split()
        return len(one) == len(other) and all(map(_same_word, one, other))
    if isinstance(expected, float):
        return bool(np.isclose(found, expected, rtol=1e-5, atol=1e-8))
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k]) for k in found)
    return bool(found == expected)


def _same_word(found: str, expected: str) -> bool:
    """Whether two words of a text agree; a number in a table has three digits.

    What is zero but for rounding is printed as well, and differs from processor to processor, as
    does then the width of its column, which a line of dashes shows.
    """
    if found == expected or set(found) == set(expected) == {"-"}:
        return True
    try:
        return bool(np.isclose(float(found), float(expected), rtol=5e-3, atol=1e-9))
    except ValueError:
        return False


def read(path: Path) -> dict[str, Any]:
    """Return what is written down."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(path: Path, written: dict[str, dict[str, Any]]) -> None:
    """Write down, one line for each part, so that a difference can be read."""
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(
            f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in parts.items()
        )
        + "\n}"
        for name, parts in written.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
