"""Figures of the penalty between PCA and the clusters."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import LocalPenaltyStudy, PenaltyStudy
from informed.studies.plots.style import look, new_figure, new_panels, styled

__all__ = ["local_penalty_study", "penalty_study"]

# Red and blue are told apart by all; white is no difference.
RATIO_COLORS = "RdBu_r"


@styled
def penalty_study(result: PenaltyStudy, *, method: str = "penalized") -> Figure:
    """Error of a penalty relative to the better of PCA and the hard constraint, cell by cell.

    Parameters
    ----------
    result : PenaltyStudy
        From :func:`informed.experiments.penalty_study`.
    method : {"penalized", "capped", "analytic", "oracle"}
        Whose error is compared.

    Returns
    -------
    Figure
        One heat map for each number of clusters; blue cells are better than both, and a dot marks
        those where the hard constraint beats PCA.
    """
    ratios, mean = result.ratios(method), result.errors.mean(axis=-1)
    hard_wins = mean[result.methods.index("hard")] < mean[result.methods.index("pca")]
    figure, panels = new_panels(len(result.counts), 2.6, n_columns=2)
    for k, (ax, count) in enumerate(zip(panels, result.counts, strict=True)):
        image = ax.imshow(ratios[:, :, k], cmap=RATIO_COLORS, vmin=0.75, vmax=1.25, aspect="auto")
        for i, j in np.ndindex(ratios.shape[:2]):
            text = f"{ratios[i, j, k]:.2f}" + ("•" if hard_wins[i, j, k] else "")
            ax.text(j, i, text, ha="center", va="center", fontsize=7)
        ax.set_xticks(range(len(result.sizes)), [str(n) for n in result.sizes])
        ax.set_yticks(
            range(len(result.blurs)),
            [f"{b:g}" if np.isfinite(b) else "none" for b in result.blurs],
        )
        ax.set(title=f"{count} clusters", xlabel="number of samples $n$")
        ax.set_ylabel("blur of the clusters" if k % 2 == 0 else None)
        ax.spines[:].set_visible(False)
    figure.colorbar(image, ax=panels, label="error / better of both", shrink=0.6)
    return figure


@styled
def local_penalty_study(result: LocalPenaltyStudy) -> Figure:
    """Error of local distances against the neighbourhood size, one panel a spread.

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
    axes[0, 0].set_ylim(bottom=0)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure
