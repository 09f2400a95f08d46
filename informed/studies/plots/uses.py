"""Figures of the other uses: nearest neighbours, and covariances that predict."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import ClassificationStudy, CovarianceStudy
from informed.studies.plots.style import Look, look, new_figure, styled

__all__ = ["classification_study", "covariance_study"]

# Methods that appear in these two figures only.
OTHER_LOOKS = {
    "ledoit-wolf": Look("#CC79A7", "-.", "D", "Ledoit–Wolf"),
    "oas": Look("#56B4E9", "-.", "v", "OAS"),
    "lda": Look("#009E73", "--", "^", "LDA with shrinkage"),
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
        Left the accuracy, right the difference to the Euclidean metric on the same split, a dot a
        split.
    """
    sizes = result.train_sizes
    positions = np.arange(len(sizes), dtype=float)
    others = [method for method in result.methods if method != "euclidean"]
    figure, axes = new_figure(1, 2, (7, 3.2))
    left, right = axes[0]
    for method, accuracy in zip(result.methods, result.accuracy, strict=True):
        looks = _look(method)
        left.plot(
            positions,
            accuracy.mean(axis=1),
            color=looks.color,
            linestyle=looks.line,
            marker=looks.marker,
            label=looks.label,
        )
    for m, method in enumerate(others):
        looks, differences = _look(method), result.differences(method)
        place = positions + 0.16 * (m - (len(others) - 1) / 2)
        right.plot(
            np.repeat(place, differences.shape[1]),
            differences.ravel(),
            looks.marker,
            color=looks.color,
            alpha=0.45,
            markersize=3.5,
        )
        right.plot(place, differences.mean(axis=1), "_", color=looks.color, markersize=13, mew=2.5)
    right.axhline(0.0, color="#000000", linewidth=0.8)
    left.set(ylabel="accuracy on test samples")
    left.legend()
    right.set(ylabel="accuracy above Euclidean, same split")
    for ax in (left, right):
        ax.set_xticks(positions, [str(size) for size in sizes])
        ax.set(xlabel="number of training samples")
    return figure


@styled
def covariance_study(result: CovarianceStudy) -> Figure:
    """Held-out log-likelihood above that of Ledoit and Wolf, one panel a data set.

    Parameters
    ----------
    result : CovarianceStudy
        From :func:`informed.experiments.covariance_study`.

    Returns
    -------
    Figure
        A dot a split, and a bar for their mean. Each panel has its own scale.
    """
    n_panels = len(result.data_names)
    figure, axes = new_figure(1, n_panels, (7, 3.2))
    positions = np.arange(len(result.train_sizes), dtype=float)
    others = result.methods[1:]
    for k, (ax, name) in enumerate(zip(axes[0], result.data_names, strict=True)):
        for m, method in enumerate(others):
            looks, gains = _look(method), result.gains[k, :, m + 1]
            place = positions + 0.2 * (m - (len(others) - 1) / 2)
            ax.plot(
                np.repeat(place, gains.shape[1]),
                gains.ravel(),
                looks.marker,
                color=looks.color,
                alpha=0.5,
                label=looks.label,
            )
            ax.plot(place, gains.mean(axis=1), "_", color=looks.color, markersize=15, mew=2.5)
        ax.axhline(0.0, color="#000000", linewidth=0.8)
        ax.set_xticks(positions, [str(size) for size in result.train_sizes])
        ax.set(title=name, xlabel="training samples", xlim=(-0.5, len(positions) - 0.5))
    axes[0, 0].set_ylabel("log-likelihood per feature\nabove Ledoit–Wolf")
    axes[0, 0].legend()
    return figure


def _look(method: str) -> Look:
    return OTHER_LOOKS.get(method) or look(method)
