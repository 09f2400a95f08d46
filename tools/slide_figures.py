"""Figures drawn for slides: larger letters and lines than on a page, at the size they are shown.

A figure of the library is drawn by its own function, with the settings of a slide in place of those
of a page, and then laid out for its place on the slide. A label that a hall could not read stops
the build.
"""

from __future__ import annotations

import ast
import base64
import html
import io
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from informed.studies.plots.style import STYLE

# One inch of a figure is shown as 96 pixels of a slide that is 1280 wide; a point is 4/3 of one.
INCH = 96
PIXELS_PER_POINT = INCH / 72
SMALLEST = 18
FORMULA = re.compile(r"\$[^$]+\$")
SLIDE_STYLE: dict[str, Any] = {
    "axes.titlesize": 16.5,
    "axes.labelsize": 15.5,
    "legend.fontsize": 15,
    "xtick.labelsize": 14,
    "ytick.labelsize": 14,
    "font.size": 14.5,
    "lines.linewidth": 2.6,
    "lines.markersize": 7,
    "axes.linewidth": 1.2,
    "legend.handlelength": 1.6,
}


@contextmanager
def slide_style() -> Iterator[None]:
    """Draw for a slide: the functions of the library look up their settings when they draw."""
    before = dict(STYLE)
    STYLE.update(SLIDE_STYLE)
    try:
        yield
    finally:
        STYLE.clear()
        STYLE.update(before)


def run_figure(code: str, names: dict[str, Any]) -> Figure:
    """Run the code of a figure, and return what its last line gives."""
    tree = ast.parse(code)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        raise TypeError(f"the last line of a figure must give the figure:\n{code}")
    with slide_style():
        exec(compile(ast.Module(tree.body[:-1], []), "<slide>", "exec"), names)
        figure = eval(compile(ast.Expression(last.value), "<slide>", "eval"), names)
    if not isinstance(figure, Figure):
        raise TypeError(f"the last line gave {figure!r}, not a figure:\n{code}")
    return figure


def fit_to_slide(figure: Figure, width: int, height: int) -> None:
    """Lay a figure out for its place on the slide; letters that were set too small grow."""
    figure.set_size_inches(width / INCH, height / INCH)
    for text in labels(figure):
        text.set_fontsize(max(text.get_fontsize(), SMALLEST / PIXELS_PER_POINT))
    figure.draw_without_rendering()
    for axes in figure.axes:
        wrap_title(axes)


def wrap_title(axes: Axes) -> None:
    """Break a title that is wider than its axes into lines; formulas stay whole."""
    title = axes.title
    wide, room = title.get_window_extent().width, axes.get_window_extent().width
    if title.get_text() and wide > room:
        words = title.get_text().replace("\n", " ")
        whole = FORMULA.sub(lambda match: match[0].replace(" ", "\0"), words)
        longest = max(map(len, title.get_text().split("\n")))
        lines = textwrap.fill(whole, max(8, int(longest * room / wide)), break_long_words=False)
        title.set_text(lines.replace("\0", " "))


def outside(figure: Figure) -> list[str]:
    """Return titles, labels and legends that leave the figure, and titles that touch each other."""
    figure.draw_without_rendering()
    boxes = {}
    for axes in figure.axes:
        legend = axes.get_legend()
        words = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for text in [*words, *(legend.get_texts() if legend else ())]:
            if text.get_visible() and text.get_text().strip():
                boxes[text] = text.get_window_extent()
    cut = [
        text.get_text()
        for text, box in boxes.items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.x1 + 1 or box.y1 > figure.bbox.y1 + 1
    ]
    titles = [boxes[axes.title] for axes in figure.axes if axes.title in boxes]
    return cut + [
        "titles overlap" for first, second in combinations(titles, 2) if first.overlaps(second)
    ]


def labels(figure: Figure) -> list[Text]:
    """Return all words and numbers of a figure that are drawn."""
    figure.draw_without_rendering()
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def smallest_label(figure: Figure) -> float:
    """Return the size of the smallest letters, in pixels of the slide."""
    return min((text.get_fontsize() * PIXELS_PER_POINT for text in labels(figure)), default=99.0)


def as_image(figure: Figure, alt: str, width: int, height: int) -> str:
    """Write a figure as an image that carries its data, at twice its size for sharp screens."""
    fit_to_slide(figure, width, height)
    if smallest_label(figure) < SMALLEST - 0.01:
        raise ValueError(f"letters of {smallest_label(figure):.0f} pixels in the figure {alt!r}")
    if faults := outside(figure):
        raise ValueError(f"in the figure {alt!r} these do not fit: {faults}")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=2 * INCH)
    packed = io.BytesIO()
    picture = Image.open(buffer).convert("RGB").quantize(192, dither=Image.Dither.NONE)
    picture.save(packed, format="png", optimize=True)
    data = base64.b64encode(packed.getvalue()).decode()
    return (
        f'<figure><img alt="{html.escape(alt)}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{data}"></figure>\n'
    )
