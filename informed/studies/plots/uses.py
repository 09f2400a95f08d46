"""Figures of the other uses: nearest neighbours, and covariances that predict."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from informed.studies.experiments import ClassificationStudy, CovarianceStudy
from informed.studies.plots.style import Look, look, new_figure, styled
from informed.validation import Array

__all__ = ["classification_study", "covariance_study"]

# Methods that appear in these two figures only.
OTHER_LOOKS = {
    "ledoit-wolf": Look("#777777", "-.", "*", "Ledoit–Wolf"),
    "oas": Look("#56B4E9", "-.", "v", "OAS"),
    "lda": Look("#D55E00", "--", "*", "LDA with shrinkage"),
}


@styled
def classification_study(result: ClassificationStudy) -> Figure:
    """Accuracy of nearest neighbours against the number of training samples.

    Parameters
    ----------
    result : ClassificationStudy
        From :func:`informed.experiments.classification_study`.

    Returns
    -------
    Figure
        In the upper panel the accuracy, in the lower one the difference to the Euclidean metric on
        the same split, a dot for each split.
    """
    sizes = result.train_sizes
    positions = np.arange(len(sizes), dtype=float)
    others = [method for method in result.methods if method != "euclidean"]
    figure, axes = new_figure(2, 1, (7, 6.4), height_ratios=[1, 1.2])
    above, below = axes[:, 0]
    for method, accuracy in zip(result.methods, result.accuracy, strict=True):
        looks = _look(method)
        above.plot(
            positions,
            accuracy.mean(axis=1),
            color=looks.color,
            linestyle=looks.line,
            marker=looks.marker,
            label=looks.label,
        )
    for method, place in zip(others, _side_by_side(positions, len(others)), strict=True):
        _dots_and_means(below, place, result.differences(method), _look(method))
    below.axhline(0.0, color="#000000", linewidth=0.8)
    above.set(ylabel="accuracy on test samples")
    below.set(ylabel="above Euclidean, same split", xlabel="number of training samples")
    for ax in (above, below):
        ax.set_xticks(positions, [str(size) for size in sizes])
    handles, labels = above.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


@styled
def covariance_study(result: CovarianceStudy) -> Figure:
    """Held-out log-likelihood above that of Ledoit and Wolf, one panel for each data set.

    Parameters
    ----------
    result : CovarianceStudy
        From :func:`informed.experiments.covariance_study`.

    Returns
    -------
    Figure
        A dot for each split, and a bar for their mean. Each panel has its own scale.
    """
    n_panels = len(result.data_names)
    figure, axes = new_figure(1, n_panels, (7, 3.9))
    positions = np.arange(len(result.train_sizes), dtype=float)
    others = result.methods[1:]
    for k, (ax, name) in enumerate(zip(axes[0], result.data_names, strict=True)):
        for m, place in enumerate(_side_by_side(positions, len(others)), start=1):
            _dots_and_means(ax, place, result.gains[k, :, m], _look(result.methods[m]))
        ax.axhline(0.0, color="#000000", linewidth=0.8)
        ax.set_xticks(positions, [str(size) for size in result.train_sizes])
        ax.set(title=name, xlabel="training samples", xlim=(-0.5, len(positions) - 0.5))
    axes[0, 0].set_ylabel("log-likelihood per feature\nabove Ledoit–Wolf")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _look(method: str) -> Look:
    return OTHER_LOOKS.get(method) or look(method)


def _side_by_side(positions: Array, number: int) -> list[Array]:
    """Return the places of several methods, centred at each position."""
    return [positions + 0.125 * (m - (number - 1) / 2) for m in range(number)]


def _dots_and_means(ax: Axes, place: Array, values: Array, looks: Look) -> None:
    """Draw a dot for each split, and a bar for their mean."""
    ax.plot(
        np.repeat(place, values.shape[1]),
        values.ravel(),
        looks.marker,
        color=looks.color,
        alpha=0.5,
        markersize=3.5,
        label=looks.label,
    )
    ax.plot(place, values.mean(axis=1), "_", color=looks.color, markersize=12, mew=2.5)
