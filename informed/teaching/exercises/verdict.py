"""What a self-check says, and how it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Literal

__all__ = ["Told", "Verdict"]

Status = Literal["Right", "Not yet", "Wrong"]
"""Right, not given yet, or wrong."""

COLORS: dict[Status, str] = {"Right": "#2e8b57", "Not yet": "#8a8a8a", "Wrong": "#d55e00"}


@dataclass(frozen=True, repr=False)
class Verdict:
    """What the self-check says about an answer; true if the answer is right.

    Attributes
    ----------
    exercise : str
        Label of the exercise.
    status : {"Right", "Not yet", "Wrong"}
        "Not yet" is for an answer that has not been given.
    message : str
        The reason in words.
    """

    exercise: str
    status: Status
    message: str

    def __bool__(self) -> bool:
        return self.status == "Right"

    def __repr__(self) -> str:
        return f"{self._title}: {self.message}"

    @property
    def _title(self) -> str:
        # A page on which nothing runs shows this below each starter: it must not read as an error.
        return "Not tried yet" if self.status == "Not yet" else self.status

    def _repr_html_(self) -> str:
        # Colours of text and ground are the page's own, so that it is legible in the dark.
        words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.message, quote=False))
        return (
            f'<div class="informed-check" role="status" style="padding: 0.2rem 0.8rem; '
            f'border-left: 0.3rem solid {COLORS[self.status]}">'
            f"<strong>{self._title}:</strong> {words}</div>"
        )


class Told(Exception):
    """A verdict that ends a check: everything but "Right"."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status: Status = status
        self.message = message
