"""Every figure: drawn from a result, labelled, in the same colours, and not left open."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from test_figures import too_small

from informed import plots
from informed.datasets import make_risk_cohort, make_two_types
from informed.experiments import (
    covariance_stairs,
    direction_error,
    hidden_space,
    locality_tradeoff,
    neighborhood_sweep,
    risk_groups,
    type_embedding,
)
from informed.studies.plots.style import LOOKS, look

COHORT = make_risk_cohort(random_state=0)


@pytest.fixture(scope="module")
def results():
    return {
        "square": hidden_space(n_samples=60, n_features=60, n_fit=30),
        "errors": direction_error(sizes=(20, 30), n_repeats=2, methods=("averaged", "exact")),
        "stairs": covariance_stairs(n_samples=40),
        "types": type_embedding(n_samples=40, n_repeats=1),
        "locality": locality_tradeoff(sizes=(6, 12), n_samples=40, n_features=30, n_repeats=2),
        "risk": risk_groups(COHORT, n_repeats=1),
        "sweep": neighborhood_sweep(COHORT, sizes=(12, 20), n_repeats=2),
    }


FIGURES = [
    (plots.distance_recovery, "square"),
    (plots.square_embeddings, "square"),
    (plots.direction_error, "errors"),
    (plots.covariance_stairs, "stairs"),
    (plots.type_embedding, "types"),
    (plots.locality_tradeoff, "locality"),
    (plots.expression_heat_maps, "risk"),
    (plots.kaplan_meier, "risk"),
    (plots.risk_embeddings, "risk"),
    (plots.neighborhood_sweep, "sweep"),
]


@pytest.mark.parametrize(("draw", "name"), FIGURES)
def test_every_axis_has_labels_and_the_figure_is_not_kept(draw, name, results):
    before = dict(plt.rcParams)
    figure = draw(results[name])
    assert isinstance(figure, Figure)
    assert too_small(figure) == {}
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>":
            assert axes.get_ylabel()
            continue
        assert axes.get_xlabel()
        first_in_row = axes.get_subplotspec().is_first_col()
        assert axes.get_ylabel() or not first_in_row
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before


def test_data_matrix_sorts_what_it_is_told_to():
    data = make_two_types(20, random_state=0)
    plain = plots.data_matrix(data.X).axes[0].images[0].get_array()
    np.testing.assert_array_equal(plain, data.X.T)
    figure = plots.data_matrix(
        data.X, feature_labels=data.feature_labels, sample_labels=data.types, title="ordered"
    )
    shown = figure.axes[0].images[0].get_array()
    rows = np.argsort(data.feature_labels, kind="stable")
    columns = np.argsort(data.types, kind="stable")
    np.testing.assert_array_equal(shown, data.X[columns][:, rows].T)
    assert len(figure.axes[0].lines) == data.feature_labels.max()


def test_error_curves_show_the_means(results):
    result = results["errors"]
    figure = plots.direction_error(result, methods=("pca", "exact, known"))
    left = figure.axes[0].lines
    np.testing.assert_allclose(left[0].get_ydata(), result.e_fro[0].mean(axis=1))
    assert left[0].get_color() == look("pca").color
    assert left[1].get_markerfacecolor() == "white"


def test_kaplan_meier_shows_the_curves_of_the_comparison(results):
    figure = plots.kaplan_meier(results["risk"], methods=("informed",))
    comparison = results["risk"].survival("informed")
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), comparison.curves[0].survival)
    assert f"{comparison.p_value:.2g}" in figure.axes[0].get_title()
    assert results["risk"].time_unit in figure.axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("draw", "name"), [(plots.kaplan_meier, "risk"), (plots.neighborhood_sweep, "sweep")]
)
def test_a_legend_hides_no_band(draw, name, results):
    figure = draw(results[name])
    figure.canvas.draw()
    legends = figure.legends + [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    assert legends
    for legend in legends:
        for ax in figure.axes:
            assert not legend.get_window_extent().overlaps(ax.get_window_extent())


def test_neighbourhood_pictures_differ():
    figure = plots.manifold_neighborhoods()
    small, large = (axes.lines[2].get_xydata() for axes in figure.axes)
    assert np.ptp(large, axis=0).min() > 2 * np.ptp(small, axis=0).min()


def test_methods_differ_in_line_or_marker_too():
    """A grey print must tell apart what is drawn together."""
    together = [
        ["euclidean", "local pca", "informed"],
        ["pca", "averaged", "gradient", "exact", "penalized"],
    ]
    for methods in together:
        shapes = [(LOOKS[m].line, LOOKS[m].marker) for m in methods]
        assert len(set(shapes)) == len(shapes)
        colors = [LOOKS[m].color for m in methods]
        assert len(set(colors)) == len(colors)


def test_looks_follow_the_method_not_the_clusters():
    assert look("exact, known") == look("exact, k-means") == look("exact")
    with pytest.raises(KeyError):
        look("magic")
