"""An explorer as one block of HTML that needs nothing else: no library, no server, no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from informed.teaching.explorer.controls import Dial
from informed.teaching.explorer.frames import Frame

# What the explorers of one page may weigh together.
MAX_PAGE_BYTES = 4_000_000
MARK = '<div class="informed-explorer"'


def overweight(blocks: Iterable[str]) -> str | None:
    """Say what to do if the explorers among the blocks of a page weigh too much together.

    Examples
    --------
    >>> overweight(["<p>light</p>", MARK + ">" + 4_000_000 * "x" + "</div>"])[:50]
    'the explorers of this page weigh 4.00 MB together,'
    """
    size = sum(len(block.encode()) for block in blocks if MARK in block)
    if size <= MAX_PAGE_BYTES:
        return None
    return (
        f"the explorers of this page weigh {size / 1e6:.2f} MB together, and "
        f"{MAX_PAGE_BYTES / 1e6:.1f} MB are allowed: move one to another page, give fewer values, "
        "a smaller figure, a lower dpi, or draw fewer points"
    )


def block(
    title: str | None, dials: Sequence[Dial], frames: Sequence[Frame], *, caption: bool
) -> str:
    """Write an explorer, or one still picture if there are no dials.

    Parameters
    ----------
    title : str or None
        Heading.
    dials : sequence of Dial
        Controls.
    frames : sequence of Frame
        One for each combination; the last dial changes fastest.
    caption : bool
        Whether the words of a frame are its caption. If not they only name the values, and are
        shown where there are no controls to show these: in print and without JavaScript.

    Returns
    -------
    html : str
        The default frame, which is all that shows in print and without JavaScript, and, if there
        are dials, the controls, the other frames and the script that joins them.
    """
    default = 0
    for dial in dials:
        default = default * len(dial.values) + dial.start
    still = _figure(frames[default], title, caption=caption)
    heading = f'<p class="title">{escape(title)}</p>\n' if title else ""
    payload = _payload(dials, frames, default) if dials else ""
    # Only explorers that are the same in every byte have the same name.
    content = json.dumps([title, [repr(dial) for dial in dials], still, payload])
    name = f"explorer-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    return "".join(
        [
            f'{MARK} id="{name}" role="group" ',
            f'aria-label="{escape(title or "Figure with controls")}">\n',
            f"<style>\n{_asset('explorer.css')}</style>\n",
            heading,
            _controls(name, dials) if dials else "",
            still,
            f'<script type="application/json">{payload}</script>\n' if dials else "",
            f"<script>\n{_asset('explorer.js')}</script>\n" if dials else "",
            "</div>\n",
        ]
    )


def _figure(frame: Frame, title: str | None, *, caption: bool) -> str:
    kind = "" if caption else ' class="settings"'
    words = frame.words if caption else frame.words.removeprefix(f"{title}. ")
    # Themes of the pydata family dim images in the dark unless they have the class dark-light.
    return (
        f'<figure class="still">\n<img class="dark-light" alt="{escape(frame.words)}" '
        f'width="{frame.width}" height="{frame.height}" src="{_source(frame)}">\n'
        f"<figcaption{kind}>{escape(words)}</figcaption>\n</figure>\n"
    )


def _controls(name: str, dials: Sequence[Dial]) -> str:
    """Write the controls; they are hidden until the script has given them something to do."""
    rows = [_control(f"{name}-{number}", dial) for number, dial in enumerate(dials)]
    # Play walks along the one axis there is; with two controls there is no such walk.
    if len(dials) == 1 and dials[0].kind == "slider" and len(dials[0].values) > 1:
        rows.append('<button type="button">Play</button>\n')
    return (
        f'<div class="controls" hidden>\n{"".join(rows)}'
        '<span class="unseen" role="status" aria-live="polite"></span>\n</div>\n'
    )


def _control(name: str, dial: Dial) -> str:
    help_id = f"{name}-help"
    common = f'data-values="{len(dial.values)}" data-start="{dial.start}" autocomplete="off"' + (
        f' aria-describedby="{help_id}"' if dial.help else ""
    )
    label = f'<span class="name">{escape(dial.label)}</span>'
    if dial.kind == "checkbox":
        checked = " checked" if dial.start else ""
        row = f'{label}<input type="checkbox" {common}{checked}>'
    elif dial.kind == "dropdown":
        options = "".join(
            f"<option{' selected' if position == dial.start else ''}>{escape(text)}</option>"
            for position, text in enumerate(dial.texts)
        )
        row = f"{label}<select {common}>{options}</select>"
    else:
        # The label would otherwise change its name with each move; a reader hears the valuetext.
        text = escape(dial.texts[dial.start])
        # Room for the longest text, so that the slider does not move under the hand.
        room = max(map(len, dial.texts))
        row = (
            f'{label}<input type="range" min="0" max="{len(dial.values) - 1}" step="1" '
            f'value="{dial.start}" aria-valuetext="{text}" {common}>'
            f'<span class="value" aria-hidden="true" style="min-width:{room}ch">{text}</span>'
        )
    note = f'<p class="help" id="{help_id}">{escape(dial.help)}</p>' if dial.help else ""
    return f'<div class="control {dial.kind}"><label>{row}</label>{note}</div>\n'


def _payload(dials: Sequence[Dial], frames: Sequence[Frame], default: int) -> str:
    """Write what the script needs as JSON that is safe inside a script element.

    Equal pictures are stored once; the default one is on the page already, its place is null.
    """
    numbers: dict[str, int] = {}
    shown = [numbers.setdefault(_source(frame), len(numbers)) for frame in frames]
    sources: list[str | None] = list(numbers)
    sources[shown[default]] = None
    content: dict[str, Any] = {
        "frames": sources,
        "shown": shown,
        "words": [frame.words for frame in frames],
        "texts": [dial.texts for dial in dials],
    }
    # json.dumps writes ASCII only; "<" could otherwise end the script element or open a comment.
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _source(frame: Frame) -> str:
    return f"data:{frame.media_type};base64,{base64.b64encode(frame.data).decode()}"


@cache
def _asset(name: str) -> str:
    return files("informed.teaching.explorer").joinpath(name).read_text(encoding="utf-8")
