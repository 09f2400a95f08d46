"""One look for all figures: the same colour, line and marker for a method wherever it appears.

The colours are Okabe and Ito's, which people with any kind of colour vision can tell apart; each
method also has a line style and a marker of its own, so that a grey print stays legible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from informed.validation import Array

P = ParamSpec("P")
R = TypeVar("R")

# A page of the book has room for this many inches, at the 96 pixels that CSS counts to an inch. A
# wider figure would be shown smaller than it is drawn, and its labels with it.
COLUMN = 7.0

STYLE: dict[Any, Any] = {
    "figure.dpi": 160,
    "savefig.dpi": 150,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.prop_cycle": cycler(
        color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
    ),
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "image.cmap": "cividis",
    "svg.hashsalt": "informed",
}


class Look(NamedTuple):
    """How a method is drawn and what it is called."""

    color: str
    line: str
    marker: str
    label: str


LOOKS = {
    "euclidean": Look("#000000", ":", "x", "Euclidean"),
    "pca": Look("#E69F00", "--", "s", "PCA"),
    "local pca": Look("#E69F00", "--", "s", r"local PCA, $d_{LM}$"),
    "informed": Look("#0072B2", "-", "o", "informed"),
    "exact": Look("#0072B2", "-", "o", "exact"),
    "informed, own variances": Look("#CC79A7", "-.", "D", "informed, own variances"),
    "averaged": Look("#56B4E9", "-.", "v", "averaged"),
    "gradient": Look("#009E73", (0, (5, 1)), "^", "gradient (200 steps)"),  # type: ignore[arg-type]
    "penalized": Look("#D55E00", "-", "P", "penalised"),
    "global exact": Look("#0072B2", "--", "D", "exact, global"),
    "shrunk pca": Look("#E69F00", "-", "P", "PCA, shrunk variances"),
    "agglomeration": Look("#009E73", "-", "^", "feature agglomeration"),
    "agglomeration + pca": Look("#009E73", "--", "v", "agglomeration + PCA"),
    "true": Look("#000000", "-", "", "true"),
}

GROUP_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
GROUP_MARKERS = ("o", "^", "s", "D")
GROUP_LINES = ("-", "--", "-.", ":")


def look(method: str) -> Look:
    """Return the look of a method; ``"exact, known"`` looks like ``"exact"``.

    Examples
    --------
    >>> look("pca").label
    'PCA'
    """
    return LOOKS[method if method in LOOKS else method.split(",")[0]]


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Draw with the book's style, and leave the caller's settings as they were."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with plt.rc_context(STYLE):
            return function(*args, **kwargs)

    return inside


def new_figure(
    n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (6.0, 4.0), **options: Any
) -> tuple[Figure, Array]:
    """Make a figure that pyplot does not keep, and its axes as a two-dimensional array.

    A notebook then shows it once, as the value of a cell, and no figure is left open. No figure is
    wider than a page of the book has room for: what is asked for beyond that is not given.
    """
    size = (min(size[0], COLUMN), size[1])
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    plt.close(figure)
    return figure, axes


def legend_below(figure: Figure, ax: Axes, n_columns: int) -> None:
    """Explain what is drawn in one of the axes below all of them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=n_columns)


def new_panels(
    n_panels: int, height: float, *, n_columns: int = 3, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Make a figure as wide as a page, with panels in rows of ``height`` inches each.

    Examples
    --------
    >>> figure, panels = new_panels(5, 2.4)
    >>> len(panels), figure.get_size_inches().tolist()
    (5, [7.0, 4.8])
    """
    n_columns = min(n_panels, n_columns)
    n_rows = -(-n_panels // n_columns)
    figure, axes = new_figure(n_rows, n_columns, (COLUMN, n_rows * height), **options)
    panels = list(axes.flat)
    for unused in panels[n_panels:]:
        unused.remove()
    return figure, panels[:n_panels]


def draw_heat_map(
    axes: Axes,
    matrix: Array,
    *,
    borders: Sequence[int] = (),
    limits: tuple[float, float] | None = None,
) -> Any:
    """Draw a matrix with features as rows, as the paper does; white lines between clusters."""
    low, high = limits if limits is not None else (float(np.min(matrix)), float(np.max(matrix)))
    image = axes.imshow(matrix, aspect="auto", interpolation="nearest", vmin=low, vmax=high)
    for border in borders:
        axes.axhline(border - 0.5, color="white", linewidth=0.8)
    for side in axes.spines.values():
        side.set_visible(False)
    return image
