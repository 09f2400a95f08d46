"""Figures with controls, which move in a live kernel and on a static page alike.

Live or static
--------------
The same call does one of two things.

*Static*: every combination is drawn at once, and the result is a block of HTML that moves by
itself. This is what happens when nobody sits in front of the notebook: while the book is built, in
``nbconvert --execute``, in a script.

*Live*: only the default is drawn, and `draw` is called again on each move (ipywidgets). This is
what happens in a notebook whose front end could answer a question of the kernel (``input()``), as
JupyterLab can and the runners above cannot.

The environment variable ``INFORMED_EXPLORER``, if set to ``static`` or ``live``, decides instead:
``live`` makes a run of the notebooks cheap that only wants to know whether they run. With ``both``
the static one is shown and the live one built as well, which is how the notebooks are tested.

Budgets
-------
A page must stay light. A call fails that would pass 80 frames or 1.5 MB; the build of the book
fails for a page whose explorers pass 4 MB together.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from informed.extras import import_extra
from informed.teaching.explorer import in_browser, live, page
from informed.teaching.explorer.controls import (
    Control,
    Dial,
    all_positions,
    as_dial,
    default_words,
    values_at,
)
from informed.teaching.explorer.frames import as_png, draw_frame, draw_frames
from informed.validation import check_choice, check_number

__all__ = ["Control", "Explorer", "computed", "explore"]

MAX_FRAMES = 80
MAX_BYTES = 1_500_000


@dataclass(frozen=True)
class Explorer:
    """What `explore` returns; a notebook shows it.

    Attributes
    ----------
    html : str
        The explorer as a block of HTML; if it is live, its default frame only.
    widget : ipywidgets.VBox or None
        The live controls and picture; None if the explorer is static.
    """

    html: str
    widget: Any = None

    def __repr__(self) -> str:
        kind = "static" if self.widget is None else "live"
        return f"<{kind} explorer, {len(self.html.encode()) / 1000:.0f} kB of HTML>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        # A widget view beside the static HTML would win in a notebook that is opened without the
        # kernel that made it, and show an error there.
        bundle = {} if self.widget is None else dict(self.widget._repr_mimebundle_(**options))
        return {**bundle, "text/plain": repr(self), "text/html": self.html}


def explore(
    draw: Callable[..., Any],
    /,
    *,
    title: str | None = None,
    describe: Callable[..., str] | None = None,
    dpi: float = 120,
    n_jobs: int | None = None,
    verbose: bool = False,
    **controls: Any,
) -> Explorer:
    """Show a figure with controls, live in a kernel and on a static page.

    Parameters
    ----------
    draw : callable
        Called as ``draw(**values)`` with one value of each control. It returns a matplotlib
        figure, or draws on the current one. The same values must give the same picture, and all
        pictures must have one size.
    title : str, optional
        Heading.
    describe : callable, optional
        Called like `draw`, it says in words what the picture shows; the words are the alternative
        text of the picture and its caption. By default they name the values, without a caption.
    dpi : float, default=120
        Pixels per inch of the pictures. It sets how sharp they are, not how large.
    n_jobs : int, optional
        Number of processes that draw the frames of a static explorer, as in joblib. By default one,
        and all cores if that would take long.
    verbose : bool, default=False
        Whether to show a progress bar meanwhile.
    **controls : list, (start, stop, count), bool or Control
        A list of numbers or a range makes a slider, a list of strings a dropdown, a truth value a
        checkbox; see `Control`, which also takes a label, a unit, a help text and a default.

    Returns
    -------
    explorer : Explorer
        Shown by a notebook if it is the last line of a cell.

    Raises
    ------
    TypeError, ValueError
        If a control cannot be used, `draw` does not take it, or a budget is passed.
    RuntimeError
        If `draw` fails, with the values at which it did. A live explorer raises only if the default
        fails; later errors appear in place of the picture.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> def draw(n, squared):
    ...     figure, axes = plt.subplots(figsize=(3, 2))
    ...     axes.plot([k**2 if squared else k for k in range(n)])
    ...     return figure
    >>> explorer = explore(draw, n=Control([5, 10, 20], label="points"), squared=False)
    >>> explorer.html.count("<img")
    1
    """
    if not callable(draw):
        raise TypeError(f"draw must be callable, got {draw!r} of type {type(draw).__name__}")
    if describe is not None and not callable(describe):
        raise TypeError(f"describe must be callable or None, got {describe!r}")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string or None, got {title!r}")
    for package in ("matplotlib", "PIL"):
        import_extra(package, "informed.explore", extra="notebook")
    dpi = check_number("dpi", dpi, open_low=True)
    dials = _read_controls(draw, controls)
    words = describe or partial(default_words, dials, title)
    caption = describe is not None
    start = values_at(dials, [dial.start for dial in dials])
    mode = _wanted_mode()
    if mode != "static":
        still = draw_frame(draw, words, start, dpi, as_png)
        widget = live.build_widget(draw, words, title, dials, still, dpi=dpi, caption=caption)
        if mode == "live":
            return Explorer(page.block(title, [], [still], caption=caption), widget)
    combinations = [values_at(dials, positions) for positions in all_positions(dials)]
    frames = draw_frames(
        draw,
        words,
        combinations,
        combinations.index(start),
        dpi=dpi,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    html = page.block(title, dials, frames, caption=caption)
    _check_weight(html, len(frames))
    return Explorer(html)


def computed(name: str) -> Explorer:
    """Show an explorer that computes in the browser: to be dragged, in a notebook and on a page.

    Nothing is drawn beforehand, so it weighs little and every position is its own computation; the
    arithmetic is a small core in JavaScript that is compared with the library.

    Parameters
    ----------
    name : str
        ``"features"``, ``"patients"``, ``"phase"``, ``"sheet"``, ``"staircases"``,
        ``"transformation"``, ``"turning"`` or ``"usual"``.

    Returns
    -------
    explorer : Explorer
        Shown by a notebook if it is the last line of a cell.

    Raises
    ------
    ValueError
        If no such explorer has this name.

    Examples
    --------
    >>> 'id="computed-turning"' in computed("turning").html
    True
    """
    return Explorer(in_browser.block(name))


def _read_controls(draw: Callable[..., Any], controls: dict[str, Any]) -> list[Dial]:
    """Check the controls against each other, `draw` and the budget, before any drawing."""
    if not controls:
        raise ValueError("explore needs at least one control, such as n=[20, 40, 80]")
    dials = [as_dial(name, given) for name, given in controls.items()]
    try:
        inspect.signature(draw).bind(**{dial.name: None for dial in dials})
    except TypeError as error:
        raise TypeError(
            f"draw cannot be called with the controls {', '.join(controls)}: {error}"
        ) from None
    counts = [len(dial.values) for dial in dials]
    if math.prod(counts) > MAX_FRAMES:
        product = " × ".join(map(str, counts))
        raise ValueError(
            f"the controls {', '.join(controls)} have {product} = {math.prod(counts)} "
            f"combinations, and a static page has room for {MAX_FRAMES}: give fewer values"
        )
    return dials


def _wanted_mode() -> str:
    """Return which kind to make: live if somebody sits in front; see the module's text."""
    wanted = os.environ.get("INFORMED_EXPLORER")
    if wanted is not None:
        return check_choice("INFORMED_EXPLORER", wanted, ["both", "live", "static"])
    return "live" if _somebody_is_there() else "static"


def _somebody_is_there() -> bool:
    """Tell whether the front end of the kernel could answer a question."""
    ipython = sys.modules.get("IPython")
    kernel = getattr(ipython.get_ipython(), "kernel", None) if ipython else None
    if kernel is None or not hasattr(kernel, "get_parent"):
        return False
    request = kernel.get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin", False))


def _check_weight(html: str, n_frames: int) -> None:
    """Refuse an explorer that is too heavy, and say what to do."""
    size = len(html.encode())
    remedy = "give fewer values, a smaller figure, a lower dpi, or draw fewer points"
    if size > MAX_BYTES:
        raise ValueError(
            f"the explorer of {n_frames} frames weighs {size / 1e6:.2f} MB, and "
            f"{MAX_BYTES / 1e6:.1f} MB are allowed: {remedy}"
        )
