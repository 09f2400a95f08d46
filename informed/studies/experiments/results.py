"""What every experiment returns: a frozen result that prints a table and can be saved.

A result is saved as two files: the arrays in ``NAME.npz`` and the rest in ``NAME.json``. Neither
can run code when it is read, and both are written under another name first, so that an interrupted
run leaves no broken file.
"""

from __future__ import annotations

import dataclasses
import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from informed.studies.files import written_whole

__all__ = ["Result", "Table", "load_result"]

_CLASSES: dict[str, type[Result]] = {}


@dataclass(frozen=True)
class Table:
    """A small table of texts and numbers that prints itself.

    Examples
    --------
    >>> print(Table(("method", "error"), [("PCA", 0.25), ("exact", 1e-12)]))
    method  error
    ------  -----
    PCA      0.25
    exact   1e-12
    """

    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        cells = [list(self.header), *([_show(cell) for cell in row] for row in self.rows)]
        numeric = [
            all(isinstance(row[i], int | float | np.number) for row in self.rows)
            for i in range(len(self.header))
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.header))]
        cells.insert(1, ["-" * width for width in widths])
        return "\n".join(
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in cells
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_show(cell))}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def as_dicts(self) -> list[dict[str, object]]:
        """Return the rows as dictionaries, for tests and for pandas."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, eq=False)
class Result:
    """Base of all results: fields are numbers, texts, tuples, arrays or dicts of arrays."""

    name: ClassVar[str] = "result"

    def __init_subclass__(cls) -> None:
        _CLASSES[cls.__name__] = cls

    @property
    def table(self) -> Table:
        """The result in a few rows."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write ``path``.npz and ``path``.json; return both paths.

        Parameters
        ----------
        path : path
            Where to write, without an ending. The folder must exist.
        """
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                arrays[field.name] = value
            elif isinstance(value, dict):
                plain[field.name] = {"keys": list(value)}
                arrays.update({f"{field.name}.{key}": value[key] for key in value})
            else:
                plain[field.name] = list(value) if isinstance(value, tuple) else value
        stem = Path(path)
        npz, text = stem.with_name(stem.name + ".npz"), stem.with_name(stem.name + ".json")
        with written_whole(npz) as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        with written_whole(text) as file:
            document = {"result": type(self).__name__, "fields": plain}
            file.write(json.dumps(document, indent=1, default=_plain_number).encode())
        return npz, text

    @classmethod
    def _from_parts(cls, plain: dict[str, Any], arrays: dict[str, Any]) -> Self:
        values: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            if field.name in arrays:
                values[field.name] = arrays[field.name]
                continue
            value = plain[field.name]
            if isinstance(value, dict):
                value = {key: arrays[f"{field.name}.{key}"] for key in value["keys"]}
            values[field.name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read what :meth:`Result.save` wrote.

    Parameters
    ----------
    path : path
        As given to ``save``: without an ending.
    """
    stem = Path(path)
    document = json.loads(stem.with_name(stem.name + ".json").read_text())
    kind = document.get("result")
    if kind not in _CLASSES:
        raise ValueError(
            f"{stem}.json holds a result of kind {kind!r}: it must be one of {sorted(_CLASSES)}"
        )
    with np.load(stem.with_name(stem.name + ".npz"), allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    return _CLASSES[kind]._from_parts(document["fields"], arrays)


def spread(values: Any, digits: int = 3) -> str:
    """Mean ± standard deviation as text.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0])
    '2 ± 0.816'
    """
    return f"{np.mean(values):.{digits}g} ± {np.std(values):.{digits}g}"


def _show(cell: object) -> str:
    if isinstance(cell, float | np.floating):
        return f"{cell:.3g}"
    return str(cell)


def _plain_number(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot save a {type(value).__name__}")
