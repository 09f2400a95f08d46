"""Where results of the command line go: to the screen, as words or JSON, and into a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from informed.studies.files import written_whole


def check_folder(path: Path) -> None:
    """Make the folder, or say that a file is in its place."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"--out={path} is a file: it must be a folder")
    path.mkdir(parents=True, exist_ok=True)


def finish(
    result: Any, name: str, figures: Sequence[str], folder: Path | None, *, as_json: bool = False
) -> None:
    """Print the table; with a folder, write table, result and figures."""
    print(as_text(result.table.as_dicts()) if as_json else result)
    if folder is None:
        return
    with written_whole(folder / f"{name}.txt") as file:
        file.write(f"{result}\n".encode())
    result.save(folder / name)
    # Figures need more packages: if these are missing, what was computed is not lost.
    from informed import plots

    for figure in figures:
        with written_whole(folder / f"{name}-{figure}.png") as file:
            getattr(plots, figure)(result).savefig(file, format="png")
    if not as_json:
        print(f"written to {folder}: table, result and {len(figures)} figure(s)")


def as_text(document: object) -> str:
    """Return JSON; numbers of NumPy become plain ones.

    Examples
    --------
    >>> as_text({"p": np.float64(0.5)})
    '{"p": 0.5}'
    """
    return json.dumps(document, ensure_ascii=False, default=np.ndarray.tolist)
