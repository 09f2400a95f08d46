"""Figures of local metrics (X2)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import LocalityTradeoff
from informed.studies.plots.style import look, new_figure, styled

__all__ = ["locality_tradeoff", "manifold_neighborhoods"]


@styled
def locality_tradeoff(result: LocalityTradeoff) -> Figure:
    """Error of local distances against the neighbourhood size, with bands of ± one sd.

    Parameters
    ----------
    result : LocalityTradeoff
        From :func:`informed.experiments.locality_tradeoff`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(size=(6.4, 4))
    ax = axes[0, 0]
    for method, errors in zip(result.methods, result.errors, strict=True):
        looks = look(method)
        mean, sd = errors.mean(axis=1), errors.std(axis=1)
        ax.plot(
            result.sizes,
            mean,
            color=looks.color,
            linestyle=looks.line,
            marker=looks.marker,
            label=looks.label,
        )
        ax.fill_between(result.sizes, mean - sd, mean + sd, color=looks.color, alpha=0.15)
    plain = look("euclidean")
    ax.axhline(result.euclidean.mean(), color=plain.color, linestyle=plain.line, label=plain.label)
    ax.set(
        xscale="log",
        xlabel="neighbourhood size $N$",
        ylabel="relative error of near distances",
        xticks=result.sizes,
        xticklabels=[str(size) for size in result.sizes],
    )
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.legend()
    return figure


@styled
def manifold_neighborhoods(
    curvature: float = 4.0, *, n_samples: int = 120, sizes: tuple[int, int] = (8, 50), seed: int = 1
) -> Figure:
    """Draw a small and a large neighbourhood on a curve, and the ellipse that each one suggests.

    The small one is drawn a second time, enlarged, in a frame beside the curve.

    Parameters
    ----------
    curvature : float
        Angle of the arc, in radians.
    n_samples : int
        Number of points.
    sizes : tuple of int
        Sizes of the two neighbourhoods.
    seed : int
        Seed of the points.

    Returns
    -------
    Figure
    """
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, curvature, n_samples))
    points = np.column_stack([np.sin(angle), 1 - np.cos(angle)])
    points += 0.03 * rng.standard_normal(points.shape)
    center = n_samples // 2
    by_distance = np.argsort(np.linalg.norm(points - points[center], axis=1))
    circle = np.linspace(0, 2 * np.pi, 200)
    figure, axes = new_figure(1, 2, (7, 3.2), sharex=True, sharey=True)
    for ax, size, word in zip(axes[0], sizes, ("local, but few", "many, but bent"), strict=True):
        near = points[by_distance[:size]]
        values, vectors = np.linalg.eigh(np.cov(near.T))
        ellipse = (
            near.mean(axis=0)
            + 2 * np.column_stack([np.cos(circle), np.sin(circle)]) @ (vectors * np.sqrt(values)).T
        )
        panels = [ax]
        if size == min(sizes):  # too small to be seen under its star: enlarge it beside the arc
            panels.append(ax.inset_axes((0.1, 0.24, 0.48, 0.48)))
        for panel in panels:
            panel.plot(*points.T, ".", color="0.7", markersize=4)
            panel.plot(*near.T, "o", color=look("informed").color, markersize=4)
            panel.plot(*ellipse.T, color=look("penalized").color)
            panel.plot(*points[center], "k*", markersize=8)
        ax.set(title=f"N = {size}: {word}", xlabel="first coordinate", aspect="equal")
        for inset in panels[1:]:
            half = 0.75 * np.ptp(ellipse, axis=0).max()
            x, y = near.mean(axis=0)
            inset.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
            inset.set(xticks=[], yticks=[])
            inset.spines[:].set(visible=True, color="0.4")
            ax.indicate_inset_zoom(inset, edgecolor="0.4", alpha=1)
    axes[0, 0].set_ylabel("second coordinate")
    return figure
