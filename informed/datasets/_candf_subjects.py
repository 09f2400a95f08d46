"""What both sources of the CAN/DF cohort share: how its site is spelled, and who belongs to it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_SUBJECTS, N_DEATHS = 82, 35

_SITE = re.compile(r"\b(can\s*[/_-]?\s*df|dfci|dana[\s_-]*farber)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Subjects:
    """The subjects of the cohort as a source holds them."""

    names: list[str]
    probes: list[str]
    expression: NDArray[np.float64]
    months: list[float]
    dead: list[bool]


def names_the_site(text: str) -> bool:
    """Tell whether a text names the cohort's institution in one of its usual spellings.

    Examples
    --------
    >>> [names_the_site(text) for text in ("CAN/DF", "Dana-Farber Cancer Institute", "MSKCC")]
    [True, True, False]
    """
    return _SITE.search(text) is not None


def is_missing(text: str) -> bool:
    """Tell whether a cell stands for a missing value.

    Examples
    --------
    >>> [is_missing(text) for text in ("", " NA", "--", "0")]
    [True, True, True, False]
    """
    return text.strip().casefold() in {"", "na", "n/a", "--"}


def read_status(text: str, subject: str) -> bool:
    """Return whether a vital status means death.

    Examples
    --------
    >>> read_status("Dead", "p1"), read_status("alive", "p2")
    (True, False)
    """
    status = text.strip().casefold()
    if status not in {"dead", "alive"}:
        raise ValueError(f"{subject} has the vital status {text!r}: it must be Dead or Alive")
    return status == "dead"


def read_number(text: str, what: str, subject: str) -> float:
    """Return a cell as a finite number, or say which cell is none.

    Examples
    --------
    >>> read_number("25", "months", "p1")
    25.0
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} of {subject} is {text!r}: it must be a number")
    return number


def require_unique(names: Iterable[str], what: str) -> None:
    """Refuse names that occur more than once.

    Examples
    --------
    >>> require_unique(["a", "b"], "arrays")
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} holds {name!r} more than once")
        seen.add(name)
