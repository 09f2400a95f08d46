"""Which exercises are done: a student's own view, kept on the student's own machine.

`check` notes each verdict, by the label of the exercise: whether the answer was right, and how many
answers were tried. No answer is kept, and nothing leaves the machine. The notes are a small JSON
file in the folder where programs keep their state; the environment variable ``INFORMED_PROGRESS``
names another file, or turns the notes off by ``off``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

from informed.teaching.exercises import registry
from informed.teaching.exercises.verdict import Verdict

__all__ = ["Progress", "passed", "progress"]

VARIABLE = "INFORMED_PROGRESS"
OFF = "off"
DONE, TRIED, OPEN = "done", "tried", "open"
SIGNS = {DONE: "■", TRIED: "▣", OPEN: "□"}
COLORS = {DONE: "#2e8b57", TRIED: "#e69f00", OPEN: "none"}

_session: dict[str, dict[str, int]] = {}


@dataclass(frozen=True, repr=False)
class Progress:
    """Which exercises are done, tried or open, by chapter.

    Attributes
    ----------
    states : dict from str to dict from str to str
        By chapter and exercise: "done", "tried" or "open".
    note : str
        Where this is kept, or why it is not.
    """

    states: dict[str, dict[str, str]]
    note: str

    @property
    def n_done(self) -> int:
        """Number of exercises that are done."""
        return sum(list(chapter.values()).count(DONE) for chapter in self.states.values())

    @property
    def n_exercises(self) -> int:
        """Number of exercises with a self-check."""
        return sum(map(len, self.states.values()))

    def __repr__(self) -> str:
        width = max(map(len, self.states), default=0)
        lines = [f"{self.n_done} of {self.n_exercises} exercises are done"]
        for chapter, states in self.states.items():
            row = "".join(SIGNS[state] for state in states.values())
            left = [name for name, state in states.items() if state == TRIED]
            more = f"  tried: {', '.join(left)}" if left else ""
            lines.append(f"{chapter:<{width}}  {row}{more}")
        signs = ", ".join(f"{sign} {state}" for state, sign in SIGNS.items())
        return "\n".join([*lines, f"({signs}; {self.note})"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align: left; font-weight: normal; '
            f'padding: 0.1rem 1rem 0.1rem 0">{escape(chapter.replace("-", " "))}</th>'
            f'<td style="text-align: left">{"".join(map(_square, states, states.values()))}</td>'
            f"<td>{list(states.values()).count(DONE)} of {len(states)}</td></tr>"
            for chapter, states in self.states.items()
        )
        return (
            '<div class="informed-progress"><p><strong>'
            f"{self.n_done} of {self.n_exercises}</strong> exercises are done.</p>"
            f"<table>{rows}</table><p><small>Green is done, orange is tried; "
            f"{escape(self.note)}.</small></p></div>"
        )


def _square(name: str, state: str) -> str:
    # The word is there for who cannot see the colour.
    return (
        f'<span role="img" aria-label="{escape(name)}: {state}" title="{escape(name)}: {state}" '
        f'style="display: inline-block; width: 0.9em; height: 0.9em; margin: 0 0.15em; '
        f'border: 1px solid currentColor; background: {COLORS[state]}"></span>'
    )


def progress(chapter: str | None = None) -> Progress:
    """Show which exercises you have done.

    Parameters
    ----------
    chapter : str or None
        Name of a chapter, as ``"averaging"``; all of them if None.

    Returns
    -------
    progress : Progress
        A notebook draws it; elsewhere it prints itself.

    Raises
    ------
    ValueError
        If no chapter with self-checks has this name.

    Examples
    --------
    >>> from informed.exercises import progress
    >>> progress("averaging").n_exercises
    4
    """
    places = registry.chapters()
    if chapter is not None and chapter not in places:
        raise ValueError(f"chapter={chapter!r} has no self-checks: it must be one of {[*places]}")
    noted = {**_read(_file()), **_session}
    chosen = places if chapter is None else {chapter: places[chapter]}
    states = {
        name: {label: _state(noted.get(label)) for label in labels}
        for name, labels in chosen.items()
    }
    file = _file()
    return Progress(states, f"kept in {file}" if file else "kept for this session only")


def passed(name: str) -> bool:
    """Say whether the last answer to an exercise that was tried in this session is right.

    Parameters
    ----------
    name : str
        Label of the exercise.

    Returns
    -------
    right : bool
        False also if none was tried.
    """
    return bool(_session.get(name, {}).get("last"))


def remember(verdict: Verdict) -> None:
    """Note a verdict; what cannot be written is noted for this session only."""
    if verdict.status == "Not yet":
        return
    file = _file()
    # Read anew: another notebook may have noted something meanwhile.
    noted = _read(file)
    before = noted.get(verdict.exercise) or _session.get(verdict.exercise, {})
    right = int(bool(verdict))
    now = {
        "tries": before.get("tries", 0) + 1,
        "done": max(before.get("done", 0), right),
        "last": right,
    }
    _session[verdict.exercise] = now
    if file is not None:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f"{file.name}.part-{os.getpid()}")
            part.write_text(json.dumps({**noted, verdict.exercise: now}), encoding="utf-8")
            part.replace(file)


def _state(noted: Mapping[str, int] | None) -> str:
    if not noted:
        return OPEN
    return DONE if noted.get("done") else TRIED


def _file() -> Path | None:
    named = os.environ.get(VARIABLE, "")
    if named == OFF:
        return None
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        top = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        top = Path.home() / "Library" / "Application Support"
    else:
        top = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return top / "informed" / "progress.json"


def _read(file: Path | None) -> dict[str, dict[str, int]]:
    try:
        noted = json.loads(file.read_text("utf-8")) if file is not None else {}
    except (OSError, ValueError):
        return {}
    # Somebody may have edited it: what is no note is left out.
    return {
        str(name): note
        for name, note in (noted.items() if isinstance(noted, dict) else ())
        if isinstance(note, dict) and all(isinstance(value, int) for value in note.values())
    }
