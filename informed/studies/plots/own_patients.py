"""Figures of the paper's own patients, and of the hospitals beside theirs."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments.own_patients import (
    PAPERS_COHORT,
    PUBLISHED,
    PUBLISHED_P,
    OwnPatients,
)
from informed.studies.experiments.site_transfer import SiteTransfer
from informed.studies.plots.style import legend_below, look, new_figure, styled

__all__ = ["own_patients", "own_variations", "site_transfer"]


@styled
def own_patients(result: OwnPatients) -> Figure:
    """p-values against the neighbourhood size: published, and ours on the same patients.

    The published curve is drawn for the paper's cohort only; others have their own two panels.

    Parameters
    ----------
    result : OwnPatients
        From :func:`informed.experiments.own_patients`.

    Returns
    -------
    Figure
    """
    theirs = result.cohort == PAPERS_COHORT
    figure, axes = new_figure(1, 2 + theirs, (7, 3.6), sharey=True)
    if theirs:
        for name in ("local pca", "informed"):
            style = look(name)
            axes[0, 0].plot(
                PUBLISHED["sizes"],
                PUBLISHED[name],
                color=style.color,
                linestyle=style.line,
                marker=style.marker,
                label=style.label,
            )
        axes[0, 0].set_title("published\n(probes, dChip)")
    for ax, p, words in (
        (axes[0, -2], result.dropped, "late deaths dropped"),
        (axes[0, -1], result.censored, "late deaths censored"),
    ):
        for method, values in zip(result.methods, p, strict=True):
            style = look(method)
            ax.plot(
                result.sizes,
                values.mean(axis=1),
                color=style.color,
                linestyle=style.line,
                marker=style.marker,
                label=style.label,
            )
            if method == "exact":
                ax.fill_between(
                    result.sizes,
                    values.min(axis=1),
                    values.max(axis=1),
                    color=style.color,
                    alpha=0.12,
                    linewidth=0,
                )
        ax.set_title(f"{'from 500 genes' if theirs else result.cohort},\n{words}")
    for ax in axes[0]:
        ax.axhline(0.05, color="0.7", linewidth=0.8, zorder=0)
        ax.set(xlabel="neighbours $N$", yscale="log")
    legend_below(figure, axes[0, -1], 5)
    axes[0, 0].set_ylabel("log-rank p")
    return figure


@styled
def own_variations(result: OwnPatients) -> Figure:
    """p-values under one change at a time: a row per change, a dot per seed.

    Parameters
    ----------
    result : OwnPatients
        From :func:`informed.experiments.own_patients`.

    Returns
    -------
    Figure
    """
    n_rows = len(result.variations)
    # As wide as a phone: what was changed stands above its row, not beside it.
    figure, axes = new_figure(1, 1, (4.05, 0.5 * n_rows + 1.5))
    ax = axes[0, 0]
    heights = np.arange(n_rows)[::-1]
    for j, method in enumerate(result.methods):
        style = look(method)
        # The methods of a row stand a little above each other.
        shift = 0.13 * (2 - j)
        for height, p in zip(heights, result.changed[:, j], strict=True):
            ax.plot(p, np.full(len(p), height + shift), ".", color=style.color, markersize=3)
        ax.plot(
            np.median(result.changed[:, j], axis=1),
            heights + shift,
            style.marker,
            color=style.color,
            label=style.label,
        )
    ax.axvline(0.05, color="0.7", linewidth=0.8, zorder=0)
    ax.axvline(PUBLISHED_P["informed"], color="0.4", linewidth=0.8, linestyle="--", zorder=0)
    ax.set(
        xscale="log",
        xlabel="log-rank p (large: median; small: each seed)",
        ylabel="one change at a time",
        ylim=(-0.6, n_rows),
        yticks=[],
    )
    for height, variation in zip(heights, result.variations, strict=True):
        ax.axhline(height - 0.36, color="0.9", linewidth=0.8, zorder=0)
        # Its ground keeps the vertical lines out of the words.
        ax.text(
            0.01,
            height + 0.36,
            variation,
            transform=ax.get_yaxis_transform(),
            fontsize=8,
            va="bottom",
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
        )
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    return figure


@styled
def site_transfer(result: SiteTransfer, *, preparation: str = "centred") -> Figure:
    """Hazard ratios at the test hospitals, adjusted for age and stage, by pair of hospitals.

    Parameters
    ----------
    result : SiteTransfer
        From :func:`informed.experiments.site_transfer`.
    preparation : str
        One of ``result.preparations``.

    Returns
    -------
    Figure
    """
    row = result.preparations.index(preparation)
    n_pairs, n_methods = len(result.train), len(result.methods)
    figure, axes = new_figure(1, n_methods, (7, 0.28 * n_pairs + 1.3), sharey=True)
    heights = np.arange(n_pairs)[::-1]
    for j, (ax, method) in enumerate(zip(axes[0], result.methods, strict=True)):
        style = look(method)
        ratio = result.adjusted[row, :, j]
        ax.errorbar(
            ratio,
            heights,
            xerr=[
                ratio - result.adjusted_lower[row, :, j],
                result.adjusted_upper[row, :, j] - ratio,
            ],
            fmt=style.marker,
            color=style.color,
            capsize=2,
            linewidth=1.2,
        )
        ax.axvline(1, color="0.6", linewidth=0.8, zorder=0)
        ax.set(xscale="log", title=style.label, xlabel="hazard ratio", xlim=(0.2, 8))
        ax.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
        ax.minorticks_off()
    axes[0, 0].set_yticks(
        heights,
        [
            f"{result.sites[a]} → {result.sites[b]}"
            for a, b in zip(result.train, result.test, strict=True)
        ],
    )
    return figure
