"""Figures of comparisons: methods side by side, split by split; the automatic choice."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import ChoiceStudy, Comparison, RivalStudy
from informed.studies.plots.style import Look, look, new_figure, styled

__all__ = ["choice_study", "comparison", "rival_study"]

COMPARED = {
    "whitened pca": Look("#D55E00", "--", "P", "whitened PCA"),
    "shrunk pca": Look("#CC79A7", "--", "D", "shrunk PCA"),
    "agglomeration": Look("#009E73", "-.", "^", "FeatureAgglomeration"),
    "agglomeration + pca": Look("#009E73", "--", "v", "FeatureAgglomeration + PCA"),
    "ledoit-wolf": Look("#777777", "-.", "*", "Ledoit–Wolf"),
    "informed directions": Look("#56B4E9", "-", "h", "informed directions"),
}


@styled
def comparison(result: Comparison) -> Figure:
    """Scores of each method above Euclidean, split by split.

    Parameters
    ----------
    result : Comparison
        From :func:`informed.compare`.

    Returns
    -------
    Figure
        One line for each method: a dot per split, and the mean with two corrected standard errors.
    """
    others = [method for method in result.methods if method != "euclidean"]
    figure, ((ax,),) = new_figure(1, 1, (6.6, 0.8 + 0.36 * len(others)))
    for place, method in enumerate(others):
        style = COMPARED.get(method) or look(method)
        differences = result.differences(method)
        jitter = place + 0.18 * np.linspace(-1, 1, len(differences))
        ax.plot(differences, jitter, style.marker, color=style.color, alpha=0.45, markersize=4)
        ax.errorbar(
            differences.mean(),
            place,
            xerr=2 * result.standard_error(method),
            color=style.color,
            marker="|",
            markersize=13,
            markeredgewidth=2.5,
            capsize=3,
        )
    ax.axvline(0.0, color="#000000", linewidth=0.8)
    ax.set_yticks(range(len(others)), [(COMPARED.get(m) or look(m)).label for m in others])
    ax.invert_yaxis()
    ax.set(xlabel=f"{result.measure}, above Euclidean on the same split", ylabel="method")
    return figure


@styled
def choice_study(result: ChoiceStudy) -> Figure:
    """Default, PCA and automatic choice over the best fixed one.

    Parameters
    ----------
    result : ChoiceStudy
        From :func:`informed.experiments.choice_study`.

    Returns
    -------
    Figure
        On the left the density per feature, on the right the accuracy of nearest neighbours.
    """
    figure, axes = new_figure(1, 2, (7.4, 0.8 + 0.34 * len(result.data_names)), sharey=True)
    rows = np.arange(len(result.data_names))
    density = np.exp(result.likelihood.mean(axis=2) - result.best(result.likelihood)[:, None])
    best = result.best(result.accuracy)
    hits = result.accuracy.mean(axis=2) / np.where(np.isfinite(best), best, np.nan)[:, None]
    looks = {"default": look("informed"), "pca": look("pca"), "auto": look("penalized")}
    for ax, ratios, title in zip(axes[0], (density, hits), ("density", "accuracy"), strict=True):
        ax.axvspan(0.95, 1.0, color="#dddddd", zorder=0)
        for m, (method, style) in enumerate(looks.items()):
            ax.plot(ratios[:, m], rows, style.marker, color=style.color, label=method, alpha=0.8)
        ax.set(xlabel=f"{title} over that of the best fixed choice", yticks=rows)
    axes[0, 0].set_yticks(rows, result.data_names)
    axes[0, 0].set_ylabel("data")
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend(["within five per cent", *looks], loc="lower left")
    return figure


@styled
def rival_study(result: RivalStudy) -> Figure:
    """Score of each method above Euclidean, a panel for each data set.

    Parameters
    ----------
    result : RivalStudy
        From :func:`informed.experiments.rival_study`.

    Returns
    -------
    Figure
        A dot for each split, and a bar for their mean. Each panel has its own scale.
    """
    others = [method for method in result.methods if method != "euclidean"]
    columns = min(3, len(result.data_names))
    rows = -(-len(result.data_names) // columns)
    figure, axes = new_figure(rows, columns, (7.4, 0.6 + 2.3 * rows), sharey=True)
    for ax, name in zip(axes.flat, result.data_names, strict=False):
        own = result.comparison(name)
        for place, method in enumerate(others):
            if method not in own.methods:
                continue
            style = COMPARED.get(method) or look(method)
            differences = own.differences(method)
            ax.plot(
                differences,
                np.full(len(differences), place),
                style.marker,
                color=style.color,
                alpha=0.45,
            )
            ax.plot(differences.mean(), place, "|", color=style.color, markersize=14, mew=2.5)
        ax.axvline(0.0, color="#000000", linewidth=0.8)
        short = "likelihood" if own.task == "none" else "accuracy"
        ax.set(title=name, xlabel=f"{short}\nabove Euclidean")
    axes[0, 0].set_yticks(
        range(len(others)), [(COMPARED.get(method) or look(method)).label for method in others]
    )
    axes[0, 0].invert_yaxis()
    for line in axes:
        line[0].set_ylabel("method")
    for ax in axes.flat[len(result.data_names) :]:
        ax.set_visible(False)
    return figure
