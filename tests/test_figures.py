"""Figures can be read where they are shown: as wide as a page, and no label below nine pixels."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import font_scalings
from matplotlib.text import Text

from informed import plots
from informed.experiments import cluster_ring, load_result
from informed.studies.plots.style import COLUMN, STYLE, new_figure, new_panels

sys.path.insert(0, str(ROOT / "tools"))
import notebooks

# What a page of the book has room for, and what a label must have there, in the pixels of CSS.
PAGE_PIXELS, LABEL_PIXELS, CSS_DPI, POINTS = 690, 9.0, 96, 72
SMALLEST_POINTS = LABEL_PIXELS * POINTS / CSS_DPI
RESULTS = ROOT / "book" / "results"


def label_pixels(figure: Figure) -> dict[str, float]:
    """The height of every label of a figure at the width at which a page shows it."""
    figure.canvas.draw()
    inches = figure.get_size_inches()[0]
    scale = min(CSS_DPI, PAGE_PIXELS / inches) / POINTS
    return {
        text.get_text(): text.get_fontsize() * scale
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    }


def too_small(figure: Figure) -> dict[str, float]:
    return {text: size for text, size in label_pixels(figure).items() if size < LABEL_PIXELS}


def test_a_wide_figure_is_seen() -> None:
    figure = Figure(figsize=(12, 3))
    figure.add_subplot().set_title("title", fontsize=9)
    assert too_small(figure)


def test_no_figure_is_wider_than_the_page() -> None:
    assert new_figure(1, 4, (12, 3))[0].get_size_inches().tolist() == [COLUMN, 3]
    assert new_figure(size=(5, 3))[0].get_size_inches().tolist() == [5, 3]
    # A picture is cropped with a margin of a tenth of an inch.
    assert (COLUMN + 0.2) * CSS_DPI <= PAGE_PIXELS + 2


def test_panels_fill_rows() -> None:
    figure, panels = new_panels(5, 2.0, n_columns=3)
    assert len(panels) == len(figure.axes) == 5
    assert figure.get_size_inches().tolist() == [COLUMN, 4.0]
    assert panels[3].get_subplotspec().is_first_col()


def test_the_style_has_no_small_letters() -> None:
    sizes = [
        value for key, value in STYLE.items() if key.endswith(("size",)) and "marker" not in key
    ]
    assert len(sizes) >= 5
    assert min(sizes) >= SMALLEST_POINTS


STORED = {
    "own_patients": ("own_patients", plots.own_patients),
    "own_variations": ("own_patients", plots.own_variations),
    "site_transfer": ("site_transfer", plots.site_transfer),
    "classification_study": ("classification_study", plots.classification_study),
    "covariance_study": ("covariance_study", plots.covariance_study),
    "rival_study": ("rival_study", plots.rival_study),
    "rival_study_genes": ("rival_study_genes", plots.rival_study),
    "penalty_study": ("penalty_study", plots.penalty_study),
    "phase_diagram": ("phase_diagram", plots.phase_diagram),
    "prediction_check": ("phase_diagram", plots.prediction_check),
}


@pytest.mark.parametrize("name", STORED)
def test_labels_of_stored_results_can_be_read(name: str) -> None:
    result, draw = STORED[name]
    assert too_small(draw(load_result(RESULTS / result))) == {}  # type: ignore[operator]


def test_labels_of_drawn_figures_can_be_read() -> None:
    for figure in (plots.manifold_neighborhoods(), plots.phase_point(cluster_ring(), 64, 1.4)):
        assert too_small(figure) == {}


def collisions(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of labels of which one is written over the other."""
    FigureCanvasAgg(figure).draw()
    unseen = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not (axis.get_visible() and low <= tick.get_loc() <= high):
                    unseen |= {tick.label1, tick.label2}
    boxes = [
        (text.get_text(), text.get_window_extent())
        for ax in (figure, *figure.axes)
        for text in (ax.findobj(Text) if ax.get_visible() else [])
        if text.get_visible() and text.get_text().strip() and text not in unseen
    ]
    return sorted(
        {
            (one, other)
            for (one, a), (other, b) in combinations(boxes, 2)
            if one != other or a.bounds != b.bounds  # the same label, found twice
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
        }
    )


def test_labels_that_collide_are_seen() -> None:
    figure, axes = new_figure(1, 3, (6, 2))
    for ax in axes.flat:
        ax.set(xlabel="a label that is wider than its panel")
    assert collisions(figure) == [(ax.get_xlabel(), ax.get_xlabel())]
    apart, axes = new_figure(1, 3, (6, 2))
    axes[0, 1].set(xlabel="short", title="short", xscale="log", xlim=(1, 1e4))
    assert collisions(apart) == []


@pytest.mark.parametrize("name", STORED)
def test_labels_of_stored_results_do_not_collide(name: str) -> None:
    result, draw = STORED[name]
    assert collisions(draw(load_result(RESULTS / result))) == []  # type: ignore[operator]


def sources() -> Iterator[tuple[str, ast.AST]]:
    """All code that draws: the figures of the library, and the cells of the notebooks."""
    for path in sorted((ROOT / "informed" / "studies" / "plots").glob("*.py")):
        yield path.name, ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(notebooks.BOOK.glob("*.ipynb")):
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if cell.cell_type == "code" and not cell.source.startswith("%"):
                yield f"{path.name}, cell {number}", ast.parse(cell.source)


def written_sizes(tree: ast.AST) -> Iterator[tuple[str, object]]:
    """Sizes of letters and figures in code, as a keyword or in a dictionary of settings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("fontsize", "labelsize", "figsize"):
            yield node.arg, node.value
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                name = key.value if isinstance(key, ast.Constant) else ""
                if isinstance(name, str) and name.endswith(("font.size", "labelsize", "fontsize")):
                    yield name, value


def faults(name: str, tree: ast.AST) -> list[str]:
    found = []
    for what, node in written_sizes(tree):
        try:
            value = ast.literal_eval(node)  # type: ignore[arg-type]
        except ValueError:
            continue
        if what == "figsize":
            if value[0] > COLUMN:
                found.append(f"{name}: a figure {value[0]} inches wide")
        else:
            if isinstance(value, str):
                value = font_scalings[value] * float(STYLE["font.size"])
            if value < SMALLEST_POINTS:
                found.append(f"{name}: {what} of {value} points")
    return found


def test_small_letters_and_wide_figures_are_seen_in_code() -> None:
    code = 'ax.text(0, 0, "a", fontsize=6); plt.subplots(figsize=(9, 3)); {"legend.fontsize": 5}'
    assert len(faults("code", ast.parse(code))) == 3
    assert rcParams["font.size"] >= SMALLEST_POINTS


def test_no_code_of_the_book_asks_for_small_letters_or_wide_figures() -> None:
    assert [fault for name, tree in sources() for fault in faults(name, tree)] == []


def test_every_notebook_is_read() -> None:
    read = {name.partition(",")[0] for name, _ in sources()}
    assert {path.name for path in Path(notebooks.BOOK).glob("*.ipynb")} <= read
