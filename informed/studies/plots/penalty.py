"""Figures of the penalty between PCA and the clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import LocalPenaltyStudy, PenaltyStudy
from informed.studies.plots.style import legend_below, look, new_figure, styled

__all__ = ["local_penalty_study", "penalty_study"]

# Red and blue are told apart by all; white is no difference.
RATIO_COLORS = "RdBu_r"
SHOWN = ("penalized", "analytic", "per-direction")
NAMES = {
    "penalized": "one, held out",
    "analytic": "one, formula",
    "capped": "one, capped",
    "per-direction": "one for each direction",
}


@styled
def penalty_study(result: PenaltyStudy, *, methods: Sequence[str] = SHOWN) -> Figure:
    """Error of penalties relative to the better of PCA and the hard constraint, cell by cell.

    Parameters
    ----------
    result : PenaltyStudy
        From :func:`informed.experiments.penalty_study`.
    methods : sequence of str
        Whose errors are compared, a column of heat maps each.

    Returns
    -------
    Figure
        A heat map for each design (down) and method (across), for the first number of clusters;
        blue is better than both, red is worse than the better one, and a dot marks cells where the
        hard constraint beats PCA.
    """
    mean = result.errors.mean(axis=-1)
    hard_wins = mean[result.methods.index("hard")] < mean[result.methods.index("pca")]
    shape = (len(result.designs), len(methods))
    size = (2.3 * shape[1] + 0.4, 1.9 * shape[0] + 0.9)
    figure, axes = new_figure(*shape, size, sharex=True, sharey=True)
    for (i, m), ax in np.ndenumerate(axes):
        ratios = result.ratios(methods[m])[i, :, :, 0]
        image = ax.imshow(ratios, cmap=RATIO_COLORS, vmin=0.75, vmax=1.25, aspect="auto")
        for cell in np.ndindex(ratios.shape):
            dot = "•" if hard_wins[(i, *cell, 0)] else ""
            strong = abs(ratios[cell] - 1) > 0.13
            ax.text(
                *cell[::-1],
                f"{ratios[cell]:.2f}{dot}",
                ha="center",
                va="center",
                fontsize=9,
                color="white" if strong else "black",
            )
        ax.set_xticks(range(len(result.sizes)), [str(n) for n in result.sizes])
        ax.set_yticks(
            range(len(result.blurs)),
            [f"{b:g}" if np.isfinite(b) else "none" for b in result.blurs],
        )
        ax.spines[:].set_visible(False)
        if i == 0:
            ax.set_title(NAMES.get(methods[m], methods[m]))
        if i == shape[0] - 1:
            ax.set_xlabel("samples $n$")
        if m == 0:
            ax.set_ylabel(f"{result.designs[i]}: blur")
    figure.colorbar(
        image, ax=axes.ravel().tolist(), label="error / better of both", shrink=0.6, aspect=30
    )
    return figure


@styled
def local_penalty_study(result: LocalPenaltyStudy) -> Figure:
    """Error of local distances against the neighbourhood size, one panel for each spread.

    Parameters
    ----------
    result : LocalPenaltyStudy
        From :func:`informed.experiments.local_penalty_study`.

    Returns
    -------
    Figure
    """
    n_panels = len(result.spreads)
    figure, axes = new_figure(1, n_panels, (7, 3.4), sharey=True)
    for i, (ax, width) in enumerate(zip(axes[0], result.spreads, strict=True)):
        for method, errors in zip(result.methods, result.errors, strict=True):
            looks = look(method)
            ax.plot(
                result.sizes,
                errors[i].mean(axis=1),
                color=looks.color,
                linestyle=looks.line,
                marker=looks.marker,
                label=looks.label,
            )
        ax.set(
            title=f"spread {width:g}",
            xlabel="neighbourhood size $N$",
            xscale="log",
            xticks=result.sizes,
            xticklabels=[str(size) for size in result.sizes],
        )
        ax.minorticks_off()
    axes[0, 0].set_ylabel("relative error of near distances")
    legend_below(figure, axes[0, 0], 4)
    return figure
