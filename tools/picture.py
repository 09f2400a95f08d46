"""Draw the pictures of the landing page and of the README: the idea, and when it works.

Run as ``python tools/picture.py``; writes ``idea.png`` and ``phases.png`` into
``book/assets``, each with a narrow form, ``idea-phone.png`` and ``phases-phone.png``.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial.distance import pdist, squareform

from informed import InformedMahalanobis
from informed.datasets import make_hidden_square
from informed.experiments import PhaseDiagram, load_result
from informed.plots import phase_diagram
from informed.studies.plots.style import look, new_figure, styled

BOOK = Path(__file__).resolve().parent.parent / "book"
PICTURE = BOOK / "assets" / "idea.png"
PHASES = BOOK / "assets" / "phases.png"
# A page shows these instead of the pictures of the same names where it is narrow (lighten.py).
PICTURE_ON_A_PHONE = BOOK / "assets" / "idea-phone.png"
PHASES_ON_A_PHONE = BOOK / "assets" / "phases-phone.png"
DPI = 160


@styled
def draw(columns: int = 2, size: tuple[float, float] = (7, 5.0)) -> Figure:
    """Show hidden points, what is measured of them, and what two distances make of that."""
    n, p = 60, 300
    data = make_hidden_square(n, p, spread=0.3, noise=0.5, random_state=0)
    usual = InformedMahalanobis(n - 1, directions="pca").fit(data.X)
    informed = InformedMahalanobis(2, random_state=0).fit(data.X)
    by_cluster = np.argsort(informed.labels_, kind="stable")
    by_first_variable = np.argsort(data.hidden[:, 0])
    truth = pdist(data.hidden)

    figure, axes = new_figure(4 // columns, columns, size)
    hidden, table, *plots = axes.flat
    hidden.scatter(*data.hidden.T, c=data.hidden[:, 0], s=20)
    hidden.set(title="Hidden: where each sample is", xlabel="variable 1", ylabel="variable 2")
    centered = data.X - data.X.mean(axis=0)
    sorted_table = centered[np.ix_(by_first_variable, by_cluster)].T
    table.imshow(sorted_table, aspect="auto", cmap="PuOr_r", interpolation="nearest")
    for border in np.cumsum(np.bincount(informed.labels_))[:-1]:
        table.axhline(border - 0.5, color="black", linewidth=1.5)
    table.set(title=f"Seen: {p} features,\nin clusters that move together")
    table.set(xlabel=f"{n} samples", ylabel="features")
    for ax, metric, method, title in [
        (plots[0], usual, "pca", "The usual distance:\nall pairs equally far"),
        (plots[1], informed, "exact", "Informed by clusters:\nthe hidden distance"),
    ]:
        found = squareform(metric.pairwise_distances(data.X), checks=False)
        ax.plot(truth, found, ".", color=look(method).color, markersize=2, alpha=0.5)
        ax.set(title=title, xlabel="hidden distance", ylabel="distance found")
        ax.set(ylim=(0, 1.3 * found.max()))
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a picture with as many colours as it shows, in a third of the bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI)
    picture = Image.open(buffer).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True, dpi=(DPI, DPI))


if __name__ == "__main__":
    save(draw(), PICTURE)
    save(draw(columns=1, size=(3.7, 8.4)), PICTURE_ON_A_PHONE)
    study = load_result(BOOK / "results" / "phase_diagram")
    assert isinstance(study, PhaseDiagram)
    save(phase_diagram(study), PHASES)
    narrow = phase_diagram(study, marks=False)
    narrow.set_size_inches(3.7, 3.4)
    # The window is narrower than its name here: two lines stay between the borders.
    narrow.axes[0].texts[1].set(text="only clusters\nhelp", position=(0.57, 0.6))
    save(narrow, PHASES_ON_A_PHONE)
