"""Figures of the toy problem (X3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from informed.studies.experiments import CovarianceStairs, DirectionError, TypeEmbedding
from informed.studies.plots.style import (
    GROUP_COLORS,
    GROUP_MARKERS,
    draw_heat_map,
    legend_below,
    look,
    new_figure,
    new_panels,
    styled,
)
from informed.validation import Array

__all__ = ["covariance_stairs", "data_matrix", "direction_error", "type_embedding"]


@styled
def data_matrix(
    X: Array,
    *,
    feature_labels: Array | None = None,
    sample_labels: Array | None = None,
    title: str = "",
    value: str = "value",
) -> Figure:
    """Heat map of data, features as rows; ordered by cluster and by type where these are given.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    feature_labels, sample_labels : int arrays or None
        Clusters of features and types of samples; given, the rows or columns are sorted by them.
    title : str
        Title.
    value : str
        What the colour means.

    Returns
    -------
    Figure
    """
    rows = np.arange(X.shape[1])
    columns = np.arange(X.shape[0])
    borders: Sequence[int] = ()
    if feature_labels is not None:
        rows = np.argsort(feature_labels, kind="stable")
        borders = [int(b) for b in np.cumsum(np.bincount(feature_labels))[:-1]]
    if sample_labels is not None:
        columns = np.argsort(sample_labels, kind="stable")
    figure, axes = new_figure(size=(5.2, 4.6))
    ax = axes[0, 0]
    image = draw_heat_map(ax, X[np.ix_(columns, rows)].T, borders=borders)
    ax.set(title=title or None, xlabel="sample", ylabel="feature")
    figure.colorbar(image, ax=ax, label=value)
    return figure


@styled
def direction_error(result: DirectionError, *, methods: Sequence[str] | None = None) -> Figure:
    """Mean errors :math:`e_F` and :math:`e_2` with bands of one standard deviation.

    Parameters
    ----------
    result : DirectionError
        From :func:`informed.experiments.direction_error` or
        :func:`informed.experiments.cluster_count_error`.
    methods : sequence of str or None
        Which of ``result.methods`` to draw; all by default. Known clusters are drawn with open
        markers.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, 2, (7, 3.9))
    shown = result.methods if methods is None else tuple(methods)
    for ax, errors, symbol in zip(
        axes[0], (result.e_fro, result.e_two), ("$e_F$", "$e_2$"), strict=True
    ):
        for method in shown:
            values = errors[result.methods.index(method)]
            mean, sd = values.mean(axis=1), values.std(axis=1)
            looks, known = look(method), method.endswith("known")
            clusters = method.partition(",")[2]
            ax.plot(
                result.values,
                mean,
                color=looks.color,
                linestyle=":" if known else looks.line,
                marker=looks.marker,
                markerfacecolor="white" if known else looks.color,
                label=looks.label
                + (f",{clusters} clusters" if known else clusters and f",{clusters}"),
            )
            ax.fill_between(
                result.values, mean - sd, mean + sd, color=looks.color, alpha=0.15, linewidth=0
            )
        name = "number of samples $n$" if result.axis == "n_samples" else "number of clusters"
        ax.set(xlabel=name, ylabel=f"error of the directions, {symbol}")
        ax.set_ylim(bottom=0)
    legend_below(figure, axes[0, 0], 3)
    return figure


@styled
def covariance_stairs(result: CovarianceStairs) -> Figure:
    """Draw true, PCA's and informed covariance on the zoomed features, and a cross-section.

    Parameters
    ----------
    result : CovarianceStairs
        From :func:`informed.experiments.covariance_stairs`.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(2, 2, (7, 5.8))
    low, high = result.zoom
    zoomed = {m: c[low:high, low:high] for m, c in result.covariances.items()}
    limits = (min(c.min() for c in zoomed.values()), max(c.max() for c in zoomed.values()))
    titles = {
        "true": r"true $\Sigma$",
        "pca": r"PCA $\hat\Sigma$",
        "informed": r"informed $\tilde\Sigma$",
    }
    for ax, method in zip(axes.flat, titles, strict=False):
        image = ax.imshow(
            zoomed[method],
            extent=(low, high, high, low),
            vmin=limits[0],
            vmax=limits[1],
            interpolation="nearest",
        )
        ax.set(title=titles[method], xlabel="feature", ylabel="feature")
    figure.colorbar(image, ax=axes[:, 0].tolist(), label="covariance", location="left", shrink=0.7)
    ax = axes[1, 1]
    for method in ("pca", "informed", "true"):
        looks = look(method)
        ax.plot(
            result.covariances[method][result.section],
            color=looks.color,
            linewidth=0.8 if method == "pca" else 1.8,
            linestyle="--" if method == "true" else "-",
            label=looks.label,
        )
    ax.set(
        title=f"row of feature {result.section + 1}",
        xlabel="feature",
        ylabel="covariance",
    )
    ax.legend()
    return figure


@styled
def type_embedding(result: TypeEmbedding) -> Figure:
    """Embedding of the samples under each metric, coloured by type.

    Parameters
    ----------
    result : TypeEmbedding
        From :func:`informed.experiments.type_embedding`.

    Returns
    -------
    Figure
    """
    figure, panels = new_panels(len(result.methods), 2.7, n_columns=2)
    for i, (ax, method) in enumerate(zip(panels, result.methods, strict=True)):
        points = result.embeddings[method]
        for kind, name in enumerate(("type A", "type B")):
            chosen = points[result.types == kind]
            ax.plot(
                chosen[:, 0],
                chosen[:, 1],
                GROUP_MARKERS[kind],
                color=GROUP_COLORS[kind],
                markersize=4,
                alpha=0.8,
                label=name,
            )
        ax.axvline(0, color="0.7", linewidth=0.8, zorder=0)
        ax.set(
            title=f"{look(method).label}\nsign rule {result.agreement[i, 0]:.2f}",
            xlabel=r"$\xi_1\varphi_1$",
            ylabel=r"$\xi_2\varphi_2$" if i % 2 == 0 else None,
        )
    panels[0].legend()
    return figure
