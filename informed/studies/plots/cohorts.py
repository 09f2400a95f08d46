"""Figures of the real cohorts: effect sizes, differences of metrics, p under other settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from informed.studies.experiments import CohortComparison, CohortSensitivity, CohortStudy
from informed.studies.experiments.cohort_comparison import MARGINS
from informed.studies.plots.style import look, new_figure, styled
from informed.validation import Array

__all__ = ["cohort_comparison", "cohort_forest", "cohort_sensitivity"]

_SMALLEST_P = 1e-4  # what is below looks alike in a heat map


@styled
def cohort_forest(result: CohortStudy) -> Figure:
    """Hazard ratios with their intervals, a row for every cohort and metric, and the p-values.

    Parameters
    ----------
    result : CohortStudy
        From :func:`informed.experiments.cohorts`.

    Returns
    -------
    Figure
    """
    n_cohorts, n_methods = result.ratios.shape
    height = n_cohorts * (n_methods + 1)
    figure, axes = new_figure(1, 1, (6.9, 0.17 * height + 0.9))
    ax = axes[0, 0]
    right = 1.12 * float(np.nanmax(result.upper))
    for i in range(n_cohorts):
        top = i * (n_methods + 1)
        for j, method in enumerate(result.methods):
            style = look(method)
            y = top + j
            ax.plot(
                [result.lower[i, j], result.upper[i, j]], [y, y], color=style.color, linewidth=1.4
            )
            ax.plot(
                result.ratios[i, j],
                y,
                style.marker,
                color=style.color,
                label=style.label if i == 0 else None,
            )
            ax.annotate(
                f"{result.p_values[i, j]:.1g}",
                (1.0, y),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
    centers = np.arange(n_cohorts) * (n_methods + 1) + (n_methods - 1) / 2
    ax.set_yticks(
        centers,
        [
            f"{name}\n{events} of {n}"
            for name, events, n in zip(
                result.cohorts, result.n_events, result.n_samples, strict=True
            )
        ],
    )
    ax.annotate(
        "log-rank p",
        (1.0, 1.0),
        xycoords="axes fraction",
        xytext=(6, 3),
        textcoords="offset points",
        fontsize=8,
    )
    ax.axvline(1, color="0.5", linewidth=0.8)
    ticks = [tick for tick in (1, 2, 4, 8, 16) if tick <= right]
    ax.set(
        xscale="log",
        xlim=(min(0.6, 0.95 * float(np.nanmin(result.lower))), right),
        ylim=(height - 0.7, -0.8),
        xlabel="hazard of the worse group over the better one, 95 % interval",
    )
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.tick_params(axis="y", length=0)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.09), ncols=n_methods, columnspacing=1.2)
    return figure


@styled
def cohort_comparison(result: CohortComparison, other: str = "euclidean") -> Figure:
    """Differences between metrics: each cohort, the summary over all, and a prediction.

    Parameters
    ----------
    result : CohortComparison
        From :func:`informed.experiments.cohort_comparison`.
    other : str
        The metric that is subtracted.

    Returns
    -------
    Figure
    """
    methods = [method for method in result.methods if method != other]
    figure, axes = new_figure(1, 2, (6.9, 0.42 * len(methods) + 1.1), sharey=True)
    titles = {
        "concordance": "concordance index",
        "separation": "restricted mean survival\n(share of the horizon)",
    }
    for ax, (measure, margin) in zip(axes[0], MARGINS.items(), strict=True):
        ax.axvspan(-margin, margin, color="0.9", linewidth=0)
        ax.axvline(0, color="0.5", linewidth=0.8)
        for y, method in enumerate(methods):
            style = look(method)
            means, _ = result.differences(method, other, measure)
            own = [i for i, name in enumerate(result.cohorts) if name in result.independent]
            ax.plot(means[own], np.full(len(own), y - 0.27), "|", color=style.color, markersize=6)
            if len(own) > 1:
                found = result.summary(method, other, measure)
                for low, high, width in (
                    (found.predicted_lower, found.predicted_upper, 1.0),
                    (found.lower, found.upper, 3.2),
                ):
                    # Ends that are cut off where the interval ends, not half a width beyond.
                    ax.plot(
                        [low, high],
                        [y + 0.1] * 2,
                        color=style.color,
                        linewidth=width,
                        solid_capstyle="butt",
                    )
                ax.plot(found.mean, y + 0.1, style.marker, color=style.color, markersize=6)
        ax.set(title=titles[measure], xlabel=f"minus {look(other).label}")
        ax.set_yticks(range(len(methods)), [look(method).label for method in methods])
        ax.set_ylim(len(methods) - 0.5, -0.6)
        ax.tick_params(axis="y", length=0)
    return figure


@styled
def cohort_sensitivity(result: CohortSensitivity) -> Figure:
    """Heat maps of log-rank p over pairs of settings; the protocol's own setting is framed.

    Parameters
    ----------
    result : CohortSensitivity
        From :func:`informed.experiments.cohort_sensitivity`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 3, (6.9, 2.7), width_ratios=[1.25, 1.25, 1])
    n_genes, n, d, k = result.base
    rows = [
        f"{genes}\nEucl. {p:.1g}" for genes, p in zip(result.genes, result.p_euclidean, strict=True)
    ]
    for ax, p, method in (
        (axes[0, 0], result.p_local_pca, "local pca"),
        (axes[0, 1], result.p_exact, "exact"),
    ):
        image = _draw_p_map(ax, p, rows, [str(size) for size in result.sizes])
        _frame(ax, result.genes, n_genes, result.sizes, n)
        ax.set(title=look(method).label, xlabel="neighbours $N$")
    axes[0, 0].set_ylabel("number of genes")
    _draw_p_map(
        axes[0, 2],
        result.p_rank,
        [str(value) for value in result.components],
        [str(value) for value in result.clusters],
    )
    _frame(axes[0, 2], result.components, d, result.clusters, k)
    axes[0, 2].set(title=look("exact").label, xlabel="clusters $K$", ylabel="directions $d$")
    figure.colorbar(image, ax=axes[0, 2], label="log-rank p", extend="min")
    axes[0, 1].set_yticks([])
    figure.suptitle(result.cohort, fontsize=10.5)
    return figure


def _draw_p_map(ax: Axes, p: Array, rows: list[str], columns: list[str]) -> Any:
    """Draw one heat map with its p-values written in; dark is small."""
    image = ax.imshow(p, norm=LogNorm(_SMALLEST_P, 1.0), aspect="auto")
    for (i, j), value in np.ndenumerate(p):
        if np.isfinite(value):
            bright = value > 0.006
            ax.text(
                j,
                i,
                f"{value:.1g}",
                ha="center",
                va="center",
                fontsize=7,
                color="black" if bright else "white",
            )
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    return image


def _frame(
    ax: Axes, rows: NDArray[np.intp], row: int, columns: NDArray[np.intp], column: int
) -> None:
    """Frame the cell of the protocol, if it is on the grid."""
    for i in np.flatnonzero(rows == row):
        for j in np.flatnonzero(columns == column):
            corner = (float(j) - 0.47, float(i) - 0.47)
            ax.add_patch(
                Rectangle(corner, 0.94, 0.94, fill=False, edgecolor="#D55E00", linewidth=2)
            )
