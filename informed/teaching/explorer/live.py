"""An explorer in a notebook with a kernel: `draw` is called on each move."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from informed.extras import import_extra
from informed.teaching.explorer.controls import Dial
from informed.teaching.explorer.frames import Frame, as_png, draw_frame


def build_widget(
    draw: Callable[..., Any],
    describe: Callable[..., str],
    title: str | None,
    dials: Sequence[Dial],
    still: Frame,
    *,
    dpi: float,
    caption: bool,
) -> Any:
    """Return a box of ipywidgets that shows the picture of the values that its controls have.

    It starts with the picture `still`. One image widget gets new bytes at each move, and the
    browser shows the old picture until the new one is there. An error of `draw` takes the place of
    the picture until a call succeeds.
    """
    ipywidgets = import_extra("ipywidgets", "a live explorer")
    controls = {dial.name: _control(dial) for dial in dials}
    picture = ipywidgets.Image(
        value=still.data,
        format="png",
        layout={"width": f"{still.width}px", "max_width": "100%", "height": "auto"},
    )
    # An image widget has no alternative text: the words stand below it, for all or, where the
    # controls already say as much, for screen readers only.
    words = ipywidgets.HTML(
        _words(still, caption), layout={} if caption else {"height": "0", "margin": "0"}
    )
    fault = ipywidgets.HTML(layout={"display": "none"})

    def show(_: object) -> None:
        values = {name: control.value for name, control in controls.items()}
        try:
            frame = draw_frame(draw, describe, values, dpi, as_png)
        except Exception as error:
            fault.value = _fault(error)
            fault.layout.display = "block"
            # It belongs to other values, but keeps its place, so that the page does not jump.
            picture.layout.visibility = "hidden"
            words.value = ""
        else:
            picture.value = frame.data
            picture.layout.visibility = "visible"
            words.value = _words(frame, caption)
            fault.layout.display = "none"

    for control in controls.values():
        control.observe(show, names="value")
    heading = [ipywidgets.HTML(f"<strong>{escape(title)}</strong>")] if title else []
    return ipywidgets.VBox([*heading, *controls.values(), fault, picture, words])


def _control(dial: Dial) -> Any:
    ipywidgets = import_extra("ipywidgets", "a live explorer")
    common = {
        "description": dial.label,
        "tooltip": dial.help or None,
        "value": dial.values[dial.start],
        "style": {"description_width": "initial"},
    }
    if dial.kind == "checkbox":
        return ipywidgets.Checkbox(indent=False, **common)
    options = list(zip(dial.texts, dial.values, strict=True))
    if dial.kind == "dropdown":
        return ipywidgets.Dropdown(options=options, **common)
    return ipywidgets.SelectionSlider(
        options=options, layout={"width": "min(100%, 30em)"}, continuous_update=True, **common
    )


def _words(frame: Frame, caption: bool) -> str:
    style = "" if caption else ' style="position: absolute; clip-path: inset(50%)"'
    return f'<div role="status"{style}>{escape(frame.words)}</div>'


def _fault(error: Exception) -> str:
    """Say what went wrong in one line, with the rest of it folded away."""
    details = "".join(traceback.format_exception(error.__cause__ or error))
    return (
        f'<details role="alert"><summary>{escape(str(error))}</summary>'
        f"<pre>{escape(details)}</pre></details>"
    )
