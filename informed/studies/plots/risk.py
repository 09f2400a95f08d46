"""Figures of the risk groups (X4)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from informed.studies.experiments import NeighborhoodSweep, RiskGroups
from informed.studies.plots.style import (
    GROUP_COLORS,
    GROUP_LINES,
    GROUP_MARKERS,
    draw_heat_map,
    legend_below,
    look,
    new_figure,
    styled,
)
from informed.survival import SurvivalComparison

__all__ = ["expression_heat_maps", "kaplan_meier", "neighborhood_sweep", "risk_embeddings"]


@styled
def expression_heat_maps(result: RiskGroups) -> Figure:
    """Expression of the chosen genes, ordered by variance and by cluster.

    Parameters
    ----------
    result : RiskGroups
        From :func:`informed.experiments.risk_groups`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 2, (7, 3.6))
    genes = result.expression.T
    # A few extreme values would wash out the colours of all others.
    limits = (float(np.quantile(genes, 0.01)), float(np.quantile(genes, 0.99)))
    by_cluster = np.argsort(result.gene_clusters, kind="stable")
    borders = [int(b) for b in np.cumsum(np.bincount(result.gene_clusters))[:-1]]
    draw_heat_map(axes[0, 0], genes, limits=limits)
    image = draw_heat_map(axes[0, 1], genes[by_cluster], borders=borders, limits=limits)
    axes[0, 0].set(title="genes by falling variance", xlabel="subject", ylabel="gene")
    axes[0, 1].set(title=f"genes in {len(borders) + 1} clusters", xlabel="subject")
    figure.colorbar(image, ax=axes[0, 1], label="expression")
    return figure


@styled
def kaplan_meier(result: RiskGroups, *, methods: tuple[str, ...] | None = None) -> Figure:
    """Survival curves of the two groups under each metric, with confidence bands.

    Parameters
    ----------
    result : RiskGroups
        From :func:`informed.experiments.risk_groups`.
    methods : tuple of str or None
        Which of ``result.methods`` to draw; all by default.

    Returns
    -------
    Figure
    """
    shown = result.methods if methods is None else methods
    figure, axes = new_figure(1, len(shown), (min(3.5 * len(shown), 7), 3.2), sharey=True)
    for ax, method in zip(axes[0], shown, strict=True):
        comparison = result.survival(method)
        draw_survival(ax, comparison)
        ax.set(
            title=f"{look(method).label}\nlog-rank p = {comparison.p_value:.2g}",
            xlabel=f"time ({result.time_unit})",
        )
    axes[0, 0].set_ylabel("fraction without event")
    return figure


def draw_survival(ax: Axes, comparison: SurvivalComparison) -> None:
    """Draw the Kaplan–Meier curves of a comparison into given axes."""
    for i, curve in enumerate(comparison.curves):
        color = GROUP_COLORS[i % len(GROUP_COLORS)]
        ax.step(
            curve.times,
            curve.survival,
            where="post",
            color=color,
            linestyle=GROUP_LINES[i % len(GROUP_LINES)],
            label=f"group {curve.group}: {curve.n}, {curve.n_events} events",
        )
        ax.fill_between(
            curve.times, curve.lower, curve.upper, step="post", color=color, alpha=0.15, linewidth=0
        )
    ax.set_ylim(0, 1.02)
    # Below the axes: the bands reach every corner.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))


@styled
def risk_embeddings(result: RiskGroups) -> Figure:
    """Diffusion maps of the subjects; colour tells the group, filled markers those who died.

    Parameters
    ----------
    result : RiskGroups
        From :func:`informed.experiments.risk_groups`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, len(result.methods), (7, 3.1))
    died = np.zeros(len(result.kept), dtype=bool)
    died[result.kept] = np.asarray(result.events, dtype=bool)
    for ax, method in zip(axes[0], result.methods, strict=True):
        points, groups = result.embeddings[method], result.groups[method][0]
        for group in (0, 1):
            for event in (False, True):
                chosen = points[(groups == group) & (died == event)]
                ax.plot(
                    chosen[:, 0],
                    chosen[:, 1],
                    GROUP_MARKERS[group],
                    color=GROUP_COLORS[group],
                    markerfacecolor=GROUP_COLORS[group] if event else "white",
                    label=f"group {group}, {'event' if event else 'censored'}",
                )
        ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.set(
            title=look(method).label,
            xlabel=r"$\xi_1\varphi_1$",
            ylabel=r"$\xi_2\varphi_2$",
        )
    legend_below(figure, axes[0, 0], 4)
    return figure


@styled
def neighborhood_sweep(result: NeighborhoodSweep) -> Figure:
    """p-values and gap statistic against the neighbourhood size; the proposed sizes are shaded.

    Parameters
    ----------
    result : NeighborhoodSweep
        From :func:`informed.experiments.neighborhood_sweep`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 2, (7, 3.3))
    left, right = axes[0]
    mean, sd = result.p_informed.mean(axis=1), result.p_informed.std(axis=1)
    informed, local, plain = look("informed"), look("local pca"), look("euclidean")
    left.plot(
        result.sizes,
        mean,
        color=informed.color,
        marker=informed.marker,
        label=r"informed, $d_{ILM}$: mean, ± one sd",
    )
    floor = result.p_informed.min(axis=1)
    left.fill_between(
        result.sizes, np.maximum(mean - sd, floor), mean + sd, color=informed.color, alpha=0.15
    )
    left.plot(
        result.sizes,
        result.p_local_pca,
        color=local.color,
        linestyle=local.line,
        marker=local.marker,
        label=local.label,
    )
    left.axhline(result.p_euclidean, color=plain.color, linestyle=plain.line, label=plain.label)
    left.set(
        title=result.cohort, xlabel="neighbourhood size $N$", ylabel="log-rank p", yscale="log"
    )
    legend_below(figure, left, 3)
    right.errorbar(
        result.sizes, result.gap, yerr=result.gap_error, color="0.2", marker="o", capsize=2
    )
    right.set(
        title="separability of the gene clusters",
        xlabel="neighbourhood size $N$",
        ylabel="gap statistic $g(N, K)$",
    )
    for ax in (left, right) if result.proposed else ():
        ax.axvspan(
            result.proposed[0], result.proposed[-1], color="#009E73", alpha=0.12, linewidth=0
        )
    return figure
