"""Progress bars, where tqdm is installed; a line that says how to get them where it is not."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Protocol

from informed.extras import MissingExtra, import_extra


class Bar(Protocol):
    """What moves a bar."""

    def update(self, n: int) -> object:
        """Move the bar by ``n`` steps."""


class _NoBar:
    def update(self, n: int) -> None:
        """Show nothing."""


def progress_bar(total: int, label: str, *, shown: bool) -> AbstractContextManager[Bar]:
    """Return a bar to be moved inside a ``with`` block.

    Examples
    --------
    >>> with progress_bar(3, "steps", shown=False) as bar:
    ...     bar.update(1)
    """
    if not shown:
        return nullcontext(_NoBar())
    try:
        tqdm = import_extra("tqdm.auto", "a progress bar").tqdm
    except MissingExtra as missing:
        _hint(str(missing))
        return nullcontext(_NoBar())
    bar: AbstractContextManager[Bar] = tqdm(total=total, desc=label)
    return bar


@cache
def _hint(message: str) -> None:
    """Say it once in a process; the work goes on without."""
    print(f"informed: {message}", file=sys.stderr)
