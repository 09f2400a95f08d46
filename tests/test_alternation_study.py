"""Rows and columns in turn, against other ways: where it helps, where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from informed import AlternatingInformedClustering, plots
from informed.datasets.block_data import FACTOR_SCALE, NOISE_RANGE, ROW_EFFECT
from informed.experiments import (
    ALTERNATION_FAMILIES,
    alternation_study,
    load_result,
    make_block_data,
)
from informed.parallel import seeds
from informed.studies.cli import main
from informed.studies.experiments import alternation as home
from informed.studies.plots.alternation import LOOKS
from informed.studies.plots.style import new_figure


@pytest.fixture(scope="module")
def study():
    families = ("checkerboard", "features only")
    return alternation_study(families=families, signals=(0.3,), n_repeats=6)


def mean(study, family, method):
    return [scores.mean() for scores in study.scores(family, method)]


# ----------------------------------------------------------------------------------------- the data


@pytest.mark.parametrize("family", ["checkerboard", "few samples", "block diagonal"])
@pytest.mark.parametrize("k", [2, 4, 5])
def test_clusters_of_a_checkerboard_are_equally_far_apart(family, k):
    data = make_block_data(family, 1000.0, n_clusters=k, random_state=0)
    tiles = np.array(
        [
            [
                data.X[np.ix_(data.row_labels == i, data.column_labels == j)].mean() / 1000
                for j in range(k)
            ]
            for i in range(k)
        ]
    )
    for means in (tiles, tiles.T):
        gaps = [np.linalg.norm(means[i] - means[j]) for i in range(k) for j in range(i)]
        assert_allclose(gaps, np.sqrt(2) * k / np.sqrt(k - 1), rtol=0.01)
    if family != "block diagonal":
        # No level tells clusters apart, and the signal is the root mean square.
        assert_allclose(tiles.sum(axis=0), 0, atol=0.02)
        assert_allclose(tiles.sum(axis=1), 0, atol=0.02)
        assert np.mean(tiles**2) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("family", ALTERNATION_FAMILIES)
def test_noise_has_variance_one_without_signal(family):
    data = make_block_data(family, 0.0, random_state=1)
    low, high = NOISE_RANGE
    expected = {
        "shared factors": 1 + FACTOR_SCALE**2,
        "row effects": 1 + ROW_EFFECT**2,
        "unequal noise": (low**2 + low * high + high**2) / 3,
    }.get(family, 1.0)
    assert np.var(data.X) == pytest.approx(expected, rel=0.3 if family == "unequal noise" else 0.15)
    again = make_block_data(family, 0.0, random_state=1)
    assert_array_equal(data.X, again.X)
    assert not np.array_equal(data.X, make_block_data(family, 0.0, random_state=2).X)


def test_factors_and_gradient_are_what_they_say():
    only = make_block_data("features only", 100.0, random_state=0)
    assert only.row_labels is None
    for k in range(4):
        inside = only.X[:, only.column_labels == k]
        assert np.corrcoef(inside.T).min() > 0.999
    smooth = make_block_data("gradient", 100.0, random_state=0)
    # Rank two, and the quarters are intervals of the positions.
    singular = np.linalg.svd(smooth.X, compute_uv=False)
    assert singular[2] < 0.02 * singular[1]
    assert np.sqrt(np.mean(smooth.X**2)) == pytest.approx(100, rel=0.15)
    assert set(smooth.row_labels) == set(smooth.column_labels) == {0, 1, 2, 3}


def test_unequal_families_are_what_they_say():
    blocks = make_block_data("unequal blocks", 1.0, random_state=0)
    sizes = np.bincount(blocks.row_labels)
    assert_array_equal(sizes, np.bincount(blocks.column_labels))
    assert sizes.sum() == 80
    assert np.all(sizes[:-1] >= 1.5 * sizes[1:])
    assert np.bincount(make_block_data("unequal blocks", 1.0, n_clusters=30).row_labels).min() >= 2
    numbers = make_block_data("unequal numbers", 1000.0, random_state=0)
    assert (numbers.row_labels.max() + 1, numbers.column_labels.max() + 1) == (3, 6)
    # The balanced clusters of samples are no exact third of 80, nor those of features a sixth.
    assert np.sqrt(np.mean(numbers.X**2)) == pytest.approx(1000, rel=0.05)
    rows = make_block_data("row effects", 0.0, random_state=0)
    assert np.var(rows.X.mean(axis=1)) == pytest.approx(ROW_EFFECT**2, rel=0.5)
    assert make_block_data("no structure", 5.0, random_state=0).row_labels is None


# -------------------------------------------------------------------------------------- the methods


def test_one_sided_methods_are_those_of_scikit_learn():
    X = make_block_data("checkerboard", 0.5, random_state=0).X
    centered = X - X.mean(axis=0)
    found = home.METHODS["k-means"](X, (4, 4), 7)
    expected = KMeans(4, n_init=10, random_state=7).fit(centered.T)
    assert_array_equal(found.columns, expected.labels_)
    found = home.METHODS["pca"](X, (4, 4), 7)
    rows = KMeans(4, n_init=10, random_state=7).fit(PCA(3, svd_solver="full").fit_transform(X))
    assert adjusted_rand_score(rows.labels_, found.rows) == 1
    # The left singular vectors do for features what the right ones do for samples.
    _, singular, right = np.linalg.svd(centered, full_matrices=False)
    columns = KMeans(4, n_init=10, random_state=7).fit(right[:3].T * singular[:3])
    assert adjusted_rand_score(columns.labels_, found.columns) == 1


def test_alternating_is_the_estimator():
    X = make_block_data("checkerboard", 0.4, random_state=0).X
    found = home.METHODS["alternating"](X, (4, 4), 3)
    model = AlternatingInformedClustering(4, 4, random_state=3).fit(X)
    assert_array_equal(found.rows, model.row_labels_)
    assert_array_equal(found.columns, model.column_labels_)
    assert found.rounds == model.n_iter_


def test_whitened_stops_when_labels_come_back(monkeypatch):
    X = make_block_data("checkerboard", 1.0, random_state=0).X
    settled = home.METHODS["whitened"](X, (4, 4), 0)
    assert not settled.cycled
    assert settled.rounds < home.MAX_ROUNDS

    # A scripted k-means: a start, then labels that go round with period two.
    n = len(X)
    one, two = np.arange(n) % 4, np.arange(n) // (n // 4)
    script = iter([one, *[one, two, two, one] * 10])
    monkeypatch.setattr(home, "_labels", lambda points, k, seed: next(script))
    cycled = home.METHODS["whitened"](X, (4, 4), 0)
    assert cycled.cycled
    assert cycled.rounds == 3

    script = iter([one, *(np.random.default_rng(i).permutation(one) for i in range(100))])
    stopped = home.METHODS["whitened"](X, (4, 4), 0)
    assert (stopped.rounds, stopped.cycled) == (home.MAX_ROUNDS, False)


# ---------------------------------------------------------------------------------------- the study


def test_weak_checkerboard_gains_on_both_sides(study):
    alone, together = (
        mean(study, "checkerboard", "k-means"),
        mean(study, "checkerboard", "alternating"),
    )
    assert together[0] > alone[0] + 0.2
    assert together[1] > alone[1] + 0.2
    for other in ("pca", "coclustering", "biclustering"):
        assert together[0] > mean(study, "checkerboard", other)[0]
        assert together[1] > mean(study, "checkerboard", other)[1]


def test_without_clusters_of_samples_there_is_nothing_to_gain():
    strong = alternation_study(families=("features only",), signals=(0.6,), n_repeats=4)
    rows, columns = strong.scores("features only", "alternating")
    assert np.isnan(rows).all()
    assert columns.mean() < strong.scores("features only", "k-means")[1].mean() - 0.05


def test_shapes_and_table(study):
    assert study.rows.shape == study.columns.shape == (2, 1, len(study.methods), 6)
    assert study.rounds.shape == study.cycled.shape == (2, 1, 6)
    data = make_block_data("checkerboard", 0.3, random_state=seeds(0, 6)[1])
    model = AlternatingInformedClustering(4, 4, random_state=seeds(0, 6)[1]).fit(data.X)
    assert study.rounds[0, 0, 1] == model.n_iter_
    lines = study.table.as_dicts()
    assert [(line["data"], line["side"]) for line in lines] == [
        (family, side) for family in study.families for side in ("samples", "features")
    ]
    shown = float(lines[0]["alternating"].split(" ")[0])
    assert shown == pytest.approx(mean(study, "checkerboard", "alternating")[0], abs=0.006)
    assert lines[2]["alternating"] == "none"


def test_result_survives_saving(study, tmp_path):
    study.save(tmp_path / "r")
    loaded = load_result(tmp_path / "r")
    assert loaded.methods == study.methods
    assert_array_equal(loaded.rows, study.rows)
    assert loaded.rounds.dtype == study.rounds.dtype
    assert str(loaded) == str(study)


def test_same_seed_same_bits_for_any_number_of_workers():
    options = {"families": ("few samples",), "signals": (0.3,), "n_repeats": 2}
    one = alternation_study(**options, n_jobs=1)
    two = alternation_study(**options, n_jobs=2)
    assert_array_equal(one.rows, two.rows)
    assert_array_equal(one.columns, two.columns)
    other = alternation_study(**options, random_state=1)
    assert not np.array_equal(one.columns, other.columns)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alternation_study(families=("magic",)), "families='magic' is unknown"),
        (lambda: alternation_study(families=()), "families is empty"),
        (lambda: alternation_study(signals=()), "signals is empty"),
        (lambda: alternation_study(signals=(-1.0,)), "signals=-1.0 is out of range"),
        (lambda: alternation_study(n_clusters=1), "n_clusters=1 is out of range"),
        (lambda: alternation_study(n_repeats=0), "n_repeats=0 is out of range"),
        (lambda: make_block_data("magic", 1.0), "family='magic' is unknown"),
        (lambda: make_block_data("gradient", np.nan), "signal=nan is out of range"),
        (lambda: make_block_data("gradient", 1.0, n_clusters=31), "n_clusters=31"),
        (lambda: make_block_data("unequal numbers", 1.0, n_clusters=2), "n_clusters=2"),
    ],
)
def test_bad_input_is_refused_before_any_work(call, message, monkeypatch):
    monkeypatch.setattr(home, "run_tasks", None)
    with pytest.raises(ValueError, match=message):
        call()


def test_unknown_scores_are_refused(study):
    with pytest.raises(ValueError, match="family='gradient' is unknown"):
        study.scores("gradient", "pca")
    with pytest.raises(ValueError, match="method='magic' is unknown"):
        study.scores("checkerboard", "magic")


# -------------------------------------------------------------------------- figures, command line


def test_figure_shows_the_means(study):
    figure = plots.alternation_study(study)
    figure.canvas.draw()
    assert len(figure.axes) == 4
    by_label = {line.get_label(): line for line in figure.axes[0].lines}
    assert len(by_label) == len(study.methods)
    curve = by_label[LOOKS["alternating"].label]
    assert_allclose(curve.get_ydata(), study.scores("checkerboard", "alternating")[0].mean(axis=1))
    # Where there are no clusters of samples, there is no curve, and it says so.
    assert [text.get_text() for text in figure.axes[2].texts] == ["no clusters"]
    assert not figure.axes[2].lines
    assert len(figure.axes[3].lines) == len(study.methods)
    assert all(axes.get_xlabel() for axes in figure.axes[2:])
    assert all(axes.get_ylabel() for axes in figure.axes[::2])
    one = plots.alternation_study(study, families=["features only"])
    assert [axes.get_title() for axes in one.axes] == [
        "features only: samples",
        "features only: features",
    ]


def test_methods_differ_in_line_or_marker_too():
    assert set(LOOKS) == set(home.METHODS)
    assert len({(looks.line, looks.marker) for looks in LOOKS.values()}) == len(LOOKS)
    assert len({looks.color for looks in LOOKS.values()}) == len(LOOKS)


def test_sorted_table_shows_the_tiles():
    X = np.arange(12.0).reshape(3, 4)
    _, axes = new_figure()
    plots.draw_sorted_table(axes[0, 0], X, np.array([1, 0, 1]), np.array([0, 1, 1, 0]))
    image = axes[0, 0].images[0]
    assert_array_equal(image.get_array(), X[np.ix_([1, 0, 2], [0, 3, 1, 2])])
    assert image.get_clim() == (-11, 11)
    assert [line.get_ydata()[0] for line in axes[0, 0].lines[:1]] == [0.5]
    assert [line.get_xdata()[0] for line in axes[0, 0].lines[1:]] == [1.5]
    plots.draw_sorted_table(axes[0, 0], X, np.zeros(3, int), np.zeros(4, int), limit=2)
    assert axes[0, 0].images[1].get_clim() == (-2, 2)


def test_command_line_takes_fractions(capsys):
    words = ["--families", "few samples", "--signals", "0.5,0.25", "--n-repeats", "1", "--quiet"]
    assert main(["run", "alternation_study", *words]) == 0
    out = capsys.readouterr().out
    assert "few samples    0.25" in out
    assert "checkerboard" not in out
