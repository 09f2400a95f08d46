"""The phase diagram: who sees the directions, over samples and noise."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from informed.studies.experiments import ClusterRing, PhaseDiagram
from informed.studies.experiments.phases import boundary
from informed.studies.plots.style import look, new_figure, new_panels, styled
from informed.validation import Array

__all__ = ["phase_diagram", "phase_point", "prediction_check"]

# Grey where nothing works, blue where only clusters do, pale yellow where PCA does, too.
PHASE_COLORS = ("#DADADA", "#9CCBEA", "#F6E3B4")
PHASE_MARKS = (("x", "clusters lost"), ("o", "only clusters help"), ("s", "PCA is fine, too"))


@styled
def phase_diagram(result: PhaseDiagram, *, marks: bool = True) -> Figure:
    """Regions by the theory, and what a simulation found in each cell.

    Parameters
    ----------
    result : PhaseDiagram
        From :func:`informed.experiments.phase_diagram`.
    marks : bool
        Whether to draw the cells of the simulation.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 1, (6.6, 4.3))
    ax = axes[0, 0]
    low, high = result.sizes[0] / 1.5, result.sizes[-1] * 1.5
    bottom, top = result.noises[0] / 1.25, result.noises[-1] * 1.25
    draw_regions(ax, result.ring, np.geomspace(bottom, top, 40), (low, high))
    words = (
        (0.03, 0.94, "clusters lost", "left"),
        (0.53, 0.60, "only clusters help", "center"),
        (0.97, 0.22, "PCA works, too", "right"),
    )
    for x, y, text, side in words:
        ax.text(
            x, y, text, transform=ax.transAxes, ha=side, va="center", fontsize=12, weight="bold"
        )
    if marks:
        phases = result.phases()
        for phase, (marker, label) in enumerate(PHASE_MARKS):
            rows, columns = np.nonzero(phases == phase)
            ax.plot(
                result.sizes[columns],
                result.noises[rows],
                marker,
                color="black",
                markersize=6,
                fillstyle="none" if marker != "x" else None,
                linestyle="none",
                label=f"simulation: {label}",
            )
        figure.legend(loc="outside lower center", ncols=3, fontsize=8.5)
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(bottom, top))
    ax.set_xticks(result.sizes, [str(size) for size in result.sizes])
    ax.set_yticks(result.noises, [f"{noise:g}" for noise in result.noises])
    ax.minorticks_off()
    ax.set(xlabel="number of samples", ylabel="noise in each feature")
    return figure


def draw_regions(
    ax: Axes,
    ring: ClusterRing,
    noises: Array,
    limits: tuple[float, float],
    *,
    clusters: str = "found",
) -> None:
    """Colour the regions of the theory, for clusters that are ``"found"`` or ``"known"``."""
    low, high = limits
    found, by_pca = (boundary(ring, method, noises) for method in (clusters, "pca"))
    # Where PCA is the better one there is no window.
    first = np.minimum(found, by_pca)
    ax.fill_betweenx(noises, low, np.maximum(first, low), color=PHASE_COLORS[0], linewidth=0)
    ax.fill_betweenx(noises, first, by_pca, color=PHASE_COLORS[1], linewidth=0)
    ax.fill_betweenx(noises, by_pca, np.maximum(by_pca, high), color=PHASE_COLORS[2], linewidth=0)
    ax.plot(found, noises, color=look("exact").color, linewidth=2.2)
    ax.plot(by_pca, noises, color="#B07900", linestyle="--", linewidth=2.2)


@styled
def phase_point(ring: ClusterRing, n_samples: int, noise: float) -> Figure:
    """Where data of one size lie in the diagram, and how many directions each method misses.

    Parameters
    ----------
    ring : ClusterRing
        The model, from :func:`informed.experiments.cluster_ring`.
    n_samples : int
        Number of samples.
    noise : float
        Standard deviation of the noise.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 2, (7, 3.3), width_ratios=[1.5, 1])
    left, right = axes[0]
    draw_regions(left, ring, np.geomspace(0.5, 4, 30), (10, 1000))
    left.plot(n_samples, noise, "o", color="black", markersize=11)
    left.set(xscale="log", yscale="log", xlim=(10, 1000), ylim=(0.5, 4))
    left.set_xticks([10, 30, 100, 300, 1000], ["10", "30", "100", "300", "1000"])
    left.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    left.minorticks_off()
    left.set(xlabel="number of samples", ylabel="noise in each feature")
    left.set_title("grey: nobody; blue: clusters; yellow: PCA too")
    by_pca, _, found, _ = ring.predict(n_samples, noise)
    bars = (("PCA", by_pca, look("pca").color), ("informed", found, look("exact").color))
    for place, (_, missing, color) in enumerate(bars):
        right.bar(place, missing, color=color, width=0.6)
        right.text(place, missing + 0.05, f"{missing:.2f}", ha="center")
    right.set_xticks(range(2), [name for name, *_ in bars])
    right.axhline(0.5, color="0.4", linewidth=1, linestyle=":")
    right.set(ylim=(0, 3.2), ylabel="directions missing, of three", title="predicted error")
    return figure


@styled
def prediction_check(result: PhaseDiagram) -> Figure:
    """Measured errors as points over the curves of the theory, one panel for each noise.

    Parameters
    ----------
    result : PhaseDiagram
        From :func:`informed.experiments.phase_diagram`.

    Returns
    -------
    Figure
    """
    n_panels = len(result.noises)
    figure, panels = new_panels(n_panels, 2.5, sharey=True)
    sizes = np.unique(np.geomspace(result.sizes[0], result.sizes[-1], 60).astype(int))
    looks = {"pca": look("pca"), "known": look("true"), "found": look("exact")}
    labels = {"pca": "PCA", "known": "known clusters", "found": "found clusters"}
    measured = result.measured
    for i, (ax, noise) in enumerate(zip(panels, result.noises, strict=True)):
        curves = np.array([result.ring.predict(int(n), noise) for n in sizes])
        for k, method in enumerate(result.methods):
            style = looks[method]
            ax.loglog(sizes, curves[:, k], color=style.color, linestyle=style.line)
            marker = style.marker or "+"
            ax.loglog(
                result.sizes,
                measured[k, i],
                marker,
                color=style.color,
                label=labels[method] if i == 0 else None,
                fillstyle="none",
                markersize=7,
            )
        ax.axhline(0.5, color="0.6", linewidth=0.8, zorder=0)
        ax.set(title=f"noise {noise:g}", xlabel="samples")
        ax.set_xticks(result.sizes[::2], [str(size) for size in result.sizes[::2]])
        ax.minorticks_off()
    for first in panels[::3]:
        first.set_ylabel("directions missing, of three")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
