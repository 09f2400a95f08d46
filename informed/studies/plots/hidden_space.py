"""Figures of the hidden unit square (X1)."""

from __future__ import annotations

from matplotlib.figure import Figure

from informed.studies.experiments import HiddenSpace
from informed.studies.plots.style import look, new_figure, new_panels, styled

__all__ = ["distance_recovery", "square_embeddings"]

_TITLES = {
    "euclidean": "Euclidean",
    "pca": r"Mahalanobis $\hat d$",
    "informed": r"informed $\tilde d$",
}


@styled
def distance_recovery(result: HiddenSpace, *, n_shown: int = 4000) -> Figure:
    """Draw observed against hidden distance, one panel for each metric.

    Parameters
    ----------
    result : HiddenSpace
        From :func:`informed.experiments.hidden_space`.
    n_shown : int
        Number of pairs to draw, evenly taken from all.

    Returns
    -------
    Figure
    """
    figure, axes = new_figure(1, len(result.methods), (7, 2.7))
    step = max(1, len(result.hidden_distances) // n_shown)
    hidden = result.hidden_distances[::step]
    for i, method in enumerate(result.methods):
        ax = axes[0, i]
        ax.plot(hidden, result.distances[method][::step], ".", ms=1.5, color=look(method).color)
        end = hidden.max()
        ax.plot([0, end], [0, result.slopes[i, 0] * end], "-", color="0.4", linewidth=1)
        ax.set(
            title=f"{_TITLES[method]}\ncorrelation {result.correlations[i, 0]:.3f}",
            xlabel="hidden distance",
            ylabel="observed distance" if i == 0 else None,
        )
        ax.text(0.04, 0.92, f"slope {result.slopes[i, 0]:.2f}", transform=ax.transAxes)
    return figure


@styled
def square_embeddings(result: HiddenSpace) -> Figure:
    """Draw the hidden points and the diffusion map under each metric, coloured by x₁.

    Parameters
    ----------
    result : HiddenSpace
        From :func:`informed.experiments.hidden_space`.

    Returns
    -------
    Figure
    """
    figure, panels = new_panels(1 + len(result.methods), 2.9, n_columns=2)
    x = result.hidden
    ax = panels[0]
    dots = ax.scatter(x[:, 0], x[:, 1], c=x[:, 0], s=8)
    ax.set(title="hidden square", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    for i, method in enumerate(result.methods):
        ax, points = panels[i + 1], result.embeddings[method]
        dots = ax.scatter(points[:, 0], points[:, 1], c=x[:, 0], s=8)
        ax.set(
            title=f"{_TITLES[method]}: recovery {result.recovery[i, 0]:.2f}",
            xlabel=r"$\xi_1\varphi_1$",
            ylabel=r"$\xi_2\varphi_2$",
        )
    # One scale for all panels: a point has the colour of its place in the hidden square.
    figure.colorbar(dots, ax=panels, label="$x_1$", shrink=0.6)
    return figure
