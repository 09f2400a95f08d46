"""Who handed in what: the folders that learning platforms and teachers make.

Four layouts are known, and may be mixed:

- a folder for each student, with notebooks anywhere below it (nbgrader's ``submitted/``, too);
- Moodle's download, folders ``Ada Lovelace_1042_assignsubmission_file``;
- Canvas's download, files ``lovelaceada_LATE_311_9077_averaging.ipynb``;
- files ``ada.ipynb``, one for each student.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Submission", "find_submissions"]

MOODLE = re.compile(r"^(?P<name>.+)_(?P<number>\d+)_assignsubmission_(file|onlinetext)_?.*$")
CANVAS = re.compile(r"^(?P<name>[^_]+)_(LATE_)?(?P<number>\d+)_\d+_.+$")
IGNORED = {".ipynb_checkpoints", "__MACOSX"}


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    Attributes
    ----------
    student : str
        Name, or what stands for it in the folder.
    number : str
        Number of the student at the platform, empty if the folder does not tell.
    notebooks : tuple of Path
        The files, sorted.
    """

    student: str
    number: str
    notebooks: tuple[Path, ...]


def find_submissions(folder: Path) -> list[Submission]:
    """Find the submissions in a folder, sorted by student.

    Raises
    ------
    ValueError
        If there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise ValueError(f"submissions={folder} is no folder")
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in IGNORED:
            continue
        if path.is_dir() and not path.is_symlink():
            # A folder without a notebook is a student without points, not nobody.
            found.setdefault(_owner(path.name, MOODLE), []).extend(_below(path))
        elif path.suffix == ".ipynb":
            found.setdefault(_owner(path.stem, CANVAS), []).append(path)
    if not found:
        raise ValueError(f"submissions={folder} holds no folders of students and no notebooks")
    return [
        Submission(student, number, tuple(sorted(notebooks)))
        for (student, number), notebooks in sorted(found.items())
    ]


def _owner(name: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    match = pattern.match(name)
    return (match["name"], match["number"]) if match else (name, "")


def _below(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if not IGNORED & set(path.relative_to(folder).parts) and not path.name.startswith(".")
    ]
