"""Figures of clusters of rows and columns that inform each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from informed.studies.experiments import AlternationStudy, BlockStudy
from informed.studies.plots.style import Look, legend_below, new_figure, styled
from informed.validation import Array

__all__ = ["alternation_study", "block_study", "draw_sorted_table"]

LOOKS = {
    "k-means": Look("#000000", ":", "x", "k-means, each side by itself"),
    "pca": Look("#E69F00", "--", "s", "PCA, then k-means"),
    "coclustering": Look("#CC79A7", "-.", "v", "SpectralCoclustering"),
    "biclustering": Look("#009E73", (0, (5, 1)), "^", "SpectralBiclustering"),  # type: ignore[arg-type]
    "whitened": Look("#56B4E9", "-.", "D", "Mahalanobis, in turn"),
    "double, random": Look("#999999", "--", "<", "double k-means, random starts"),
    "double, pca": Look("#8c564b", ":", ">", "double k-means, PCA start"),
    "latent blocks": Look("#D55E00", "-", "P", "latent block model"),
    "alternating": Look("#0072B2", "-", "o", "alternating"),
    "rows centred": Look("#003f5c", "--", "*", "alternating, rows centred"),
    "tile noise": Look("#6A3D9A", ":", "p", "alternating, noise of each tile"),
}


@styled
def alternation_study(result: AlternationStudy, *, families: Sequence[str] | None = None) -> Figure:
    """Draw the adjusted Rand index of samples and features against the signal, ± one sd.

    Parameters
    ----------
    result : AlternationStudy
        From :func:`informed.experiments.alternation_study`.
    families : sequence of str, optional
        Kinds of data to draw, a row each; all by default.

    Returns
    -------
    Figure
    """
    shown = result.families if families is None else tuple(families)
    figure, axes = new_figure(
        len(shown), 2, (7.4, 2.1 * len(shown) + 0.9), sharex=True, sharey=True
    )
    for family, (left, right) in zip(shown, axes, strict=True):
        left.set(title=f"{family}: samples", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
        right.set_title(f"{family}: features")
        for method in result.methods:
            for ax, scores in zip((left, right), result.scores(family, method), strict=True):
                _draw_curve(ax, result.signals, scores, LOOKS[method])
        if not left.lines:
            left.text(0.5, 0.5, "no clusters", ha="center", transform=left.transAxes)
    for ax in axes[-1]:
        ax.set_xlabel("signal")
    legend_below(figure, axes[0, 1], 2)
    return figure


@styled
def block_study(result: BlockStudy) -> Figure:
    """Draw the adjusted Rand index of each method on each kind of table, with standard errors.

    Parameters
    ----------
    result : BlockStudy
        From :func:`informed.experiments.block_study`.

    Returns
    -------
    Figure
        Two panels, samples and features; a row for each kind of table.
    """
    figure, axes = new_figure(1, 2, (7.2, 0.62 * len(result.cases) + 1.6), sharey=True)
    places = np.arange(len(result.cases), dtype=float)
    offsets = np.linspace(-0.3, 0.3, len(result.methods))
    for ax, scores, title in zip(
        axes[0], (result.rows, result.columns), ("samples", "features"), strict=True
    ):
        mean = scores.mean(axis=-1)
        error = scores.std(axis=-1, ddof=1) / np.sqrt(scores.shape[-1])
        for j, method in enumerate(result.methods):
            looks = LOOKS[method]
            ax.errorbar(
                mean[:, j],
                places + offsets[j],
                xerr=error[:, j],
                linestyle="none",
                color=looks.color,
                marker=looks.marker,
                markersize=5,
                label=looks.label,
            )
        ax.set(title=title, xlabel="adjusted Rand index", xlim=(-0.05, 1.05))
        for border in places[:-1] + 0.5:
            ax.axhline(border, color="0.85", linewidth=0.6)
    axes[0, 0].set_yticks(places, result.cases)
    axes[0, 0].invert_yaxis()
    legend_below(figure, axes[0, 1], 2)
    return figure


def draw_sorted_table(
    axes: Axes,
    X: Array,
    row_labels: NDArray[np.integer],
    column_labels: NDArray[np.integer],
    *,
    limit: float | None = None,
) -> None:
    """Draw a table, samples as rows, sorted by clusters, with lines between them.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    X : array of shape (n_samples, n_features)
        The table.
    row_labels, column_labels : int arrays
        Clusters of samples and features.
    limit : float, optional
        Colours run from −limit to limit; by default the largest value.
    """
    rows, columns = (np.argsort(each, kind="stable") for each in (row_labels, column_labels))
    bound = float(np.abs(X).max()) if limit is None else limit
    axes.imshow(
        X[np.ix_(rows, columns)],
        aspect="auto",
        cmap="RdBu_r",
        interpolation="nearest",
        vmin=-bound,
        vmax=bound,
    )
    for draw, labels in ((axes.axhline, row_labels), (axes.axvline, column_labels)):
        for border in np.cumsum(np.bincount(labels))[:-1]:
            draw(border - 0.5, color="black", linewidth=0.8)
    axes.set(xticks=[], yticks=[])


def _draw_curve(ax: Axes, signals: Array, scores: Array, looks: Look) -> None:
    if np.isnan(scores).any():
        return
    mean, sd = scores.mean(axis=1), scores.std(axis=1)
    ax.plot(
        signals,
        mean,
        color=looks.color,
        linestyle=looks.line,
        marker=looks.marker,
        label=looks.label,
    )
    ax.fill_between(signals, mean - sd, mean + sd, color=looks.color, alpha=0.12, linewidth=0)
