"""Double k-means, the latent block model, row centring, starts, and the numbers of clusters."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from informed import AlternatingInformedClustering, plots
from informed.alternating import checkerboard_cost, choose_block_numbers
from informed.datasets import make_block_data
from informed.experiments import block_study, load_result
from informed.studies.experiments import biclusterers, blocks
from informed.studies.experiments.biclusterers import (
    double_k_means,
    latent_block_model,
    pca_start,
    random_start,
)


def agreement(data, found):
    return [
        adjusted_rand_score(truth, labels)
        for truth, labels in zip((data.row_labels, data.column_labels), found, strict=True)
    ]


def centered(X):
    return X - X.mean(axis=0)


# ------------------------------------------------------------------------------------- the rivals


def test_double_k_means_finds_the_cheapest_pair_of_a_small_table():
    X = centered(np.random.default_rng(3).normal(size=(5, 5)))
    found = double_k_means(X, 2, 2, n_init=60, random_state=0)
    pairs = [np.array((0, *rest)) for rest in product((0, 1), repeat=4) if any(rest)]
    least = min(checkerboard_cost(X, rows, columns) for rows in pairs for columns in pairs)
    assert checkerboard_cost(X, *found) == pytest.approx(least)


@pytest.mark.parametrize("start", [random_start, pca_start])
def test_double_k_means_keeps_all_clusters_and_settles(start):
    for seed in range(3):
        X = centered(np.random.default_rng(seed).normal(size=(12, 9)))
        rows, columns = double_k_means(X, 4, 3, start=start, n_init=3, random_state=seed)
        assert set(rows) == set(range(4))
        assert set(columns) == set(range(3))
        # No single move of a row to another cluster's means lowers the cost at given means.
        means = biclusterers._block_means(X, rows, columns, 4, 3)
        costs = np.array([np.sum((X - means[k, columns]) ** 2, axis=1) for k in range(4)])
        assert np.all(costs[rows, np.arange(12)] <= costs.min(axis=0) + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_start_weighs_principal_components_by_what_they_explain(seed):
    # Three levels explain nearly all; two signs across them next to nothing.
    sides = [np.repeat([-1.0, 0.0, 1.0], size) for size in (4, 6)]
    signs = [np.tile([1.0, -1.0], size) for size in (6, 9)]
    X = 10 * np.outer(*sides) + np.outer(*signs)
    found = pca_start(X, 3, 3, np.random.RandomState(seed))
    for side, labels in zip(sides, found, strict=True):
        assert adjusted_rand_score(side, labels) == 1


def test_empty_clusters_take_the_farthest_rows_that_are_not_alone():
    X = np.array([[0.0], [0.0], [0.1], [5.0], [7.0]])
    rows, columns = np.zeros(5, dtype=int), np.zeros(1, dtype=int)
    # The means are 2.42 and, of empty clusters, zero: the first of these takes what is small. Then
    # 7 is farthest from its mean, and leaves 5 alone: the last cluster takes 0.1.
    assert_array_equal(biclusterers._nearest_rows(X, rows, columns, 4, 1), [1, 1, 3, 0, 2])


@pytest.mark.parametrize("seed", range(3))
def test_default_cost_is_that_of_double_k_means(seed):
    """The estimator's labels are a fixed point of double k-means, up to what a step can gain."""
    X = make_block_data("checkerboard", 0.5, random_state=seed).X
    model = AlternatingInformedClustering(4, 4, random_state=seed).fit(X)
    found = double_k_means(centered(X), 4, 4, start=pca_start, random_state=seed)
    ours = checkerboard_cost(X, model.row_labels_, model.column_labels_)
    assert ours == pytest.approx(checkerboard_cost(X, *found), rel=2e-3)


def test_latent_block_densities_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5))
    R, C = np.eye(2)[[0, 1, 0, 1, 1, 0]], np.eye(3)[[0, 1, 2, 0, 1]]
    model = biclusterers._estimate(X, R, C, 1e-6)
    by_hand = [
        [
            sum(
                norm.logpdf(X[i, j], model.means[k, col], np.sqrt(model.variances[k, col]))
                for j, col in enumerate([0, 1, 2, 0, 1])
            )
            for k in range(2)
        ]
        for i in range(6)
    ]
    assert_allclose(biclusterers._log_densities(X, C, model), by_hand)
    block = X[np.ix_([0, 2, 5], [0, 3])]
    assert model.means[0, 0] == pytest.approx(block.mean())
    assert model.variances[0, 0] == pytest.approx(block.var())


def test_latent_block_bound_rises():
    X = centered(make_block_data("unequal noise", 0.4, random_state=1).X)
    rows, columns = random_start(X, 4, 4, np.random.RandomState(0))
    R, C = np.eye(4)[rows], np.eye(4)[columns]
    bounds = []
    for _ in range(8):
        R = biclusterers._memberships(X, C, biclusterers._estimate(X, R, C, 1e-3))
        turned = biclusterers._turned(biclusterers._estimate(X, R, C, 1e-3))
        C = biclusterers._memberships(X.T, R, turned)
        bounds.append(biclusterers._lower_bound(X, R, C, biclusterers._estimate(X, R, C, 1e-3)))
    assert np.all(np.diff(bounds) > -1e-6)


def test_latent_blocks_see_differences_in_noise_that_means_do_not_show():
    rng = np.random.default_rng(0)
    rows, columns = np.arange(40) % 2, np.arange(40) % 2
    scale = np.array([[0.3, 2.0], [2.0, 0.3]])[np.ix_(rows, columns)]
    X = centered(scale * rng.normal(size=(40, 40)))
    found = latent_block_model(X, 2, 2, random_state=0)
    assert adjusted_rand_score(rows, found[0]) == adjusted_rand_score(columns, found[1]) == 1
    blind = double_k_means(X, 2, 2, random_state=0)
    assert adjusted_rand_score(rows, blind[0]) < 0.5


# ---------------------------------------------------------------------------------- the estimator


@pytest.mark.parametrize("seed", range(3))
def test_centred_rows_do_not_see_the_level_of_a_sample(seed):
    data = make_block_data("checkerboard", 0.5, random_state=seed)
    levels = 5 * np.random.default_rng(seed).normal(size=(80, 1))
    plain, moved = (
        AlternatingInformedClustering(4, 4, center_rows=True, random_state=0).fit(X)
        for X in (data.X, data.X + levels)
    )
    assert_array_equal(plain.row_labels_, moved.row_labels_)
    assert_array_equal(plain.column_labels_, moved.column_labels_)
    assert min(agreement(data, (moved.row_labels_, moved.column_labels_))) > 0.9
    spoilt = AlternatingInformedClustering(4, 4, random_state=0).fit(data.X + levels)
    assert agreement(data, (spoilt.row_labels_, spoilt.column_labels_))[0] < 0.3
    assert plain.directions_.shape == (80, 3)


def test_centred_rows_have_one_direction_less():
    X = np.random.default_rng(0).normal(size=(20, 20))
    with pytest.raises(ValueError, match="n_components=3"):
        AlternatingInformedClustering(5, 3, n_components=3, center_rows=True).fit(X)
    model = AlternatingInformedClustering(5, 3, center_rows=True, random_state=0).fit(X)
    assert model.directions_.shape == (20, 2)
    # The cost is the one of the doubly centred table.
    both = centered(X) - centered(X).mean(axis=1, keepdims=True)
    cost = checkerboard_cost(both, model.row_labels_, model.column_labels_)
    assert model.history_[-1] == pytest.approx(cost)


@pytest.mark.parametrize("start", ["pca", "random", "both"])
def test_all_starts_descend(start):
    X = make_block_data("checkerboard", 0.5, random_state=1).X
    model = AlternatingInformedClustering(4, 4, start=start, n_init=4, random_state=0).fit(X)
    assert np.all(np.diff(model.history_) <= 0)
    assert model.converged_
    with pytest.raises(ValueError, match="start='magic' is unknown"):
        AlternatingInformedClustering(4, 4, start="magic").fit(X)


@pytest.mark.parametrize(
    ("family", "signal", "numbers"),
    [
        ("checkerboard", 0.5, (4, 4)),
        ("no structure", 0.0, (1, 1)),
        ("unequal numbers", 2.0, (3, 6)),
    ],
)
def test_numbers_are_found_where_the_signal_is_clear(family, signal, numbers):
    X = make_block_data(family, signal, random_state=2).X
    found = choose_block_numbers(X, 7, n_init=3, random_state=0)
    assert (found.n_row_clusters, found.n_column_clusters) == numbers
    assert max(found.tried, key=found.tried.get) == numbers


def test_criterion_by_hand():
    X = np.random.default_rng(1).normal(size=(6, 5))
    found = choose_block_numbers(X, 2, n_init=2, random_state=0)
    model = AlternatingInformedClustering(2, 2, n_init=2, random_state=0).fit(X)
    expected = -15 * np.log(model.history_[-1] / 30) - 0.5 * np.log(6) - 0.5 * np.log(5)
    for labels in (model.row_labels_, model.column_labels_):
        shares = np.bincount(labels) / len(labels)
        expected += len(labels) * np.sum(shares * np.log(shares))
    expected -= 2 * np.log(30)
    assert found.tried[2, 2] == pytest.approx(expected)


@pytest.mark.parametrize("size", [0.2, 1.0, 30.0])
@pytest.mark.parametrize("center_rows", [False, True])
def test_criterion_of_one_tile_by_hand(size, center_rows):
    X = size * np.random.default_rng(2).normal(size=(6, 5))
    found = choose_block_numbers(X, 2, center_rows=center_rows, n_init=1, random_state=0)
    rest = centered(X)
    if center_rows:
        rest = centered(rest.T)
    expected = -15 * np.log(rest.var()) - np.log(30) / 2
    assert found.tried[1, 1] == pytest.approx(expected)


# -------------------------------------------------------------------------------------- the study


@pytest.fixture(scope="module")
def study():
    return block_study(cases=("unequal noise", "no structure"), n_repeats=2, n_chosen=1)


def test_study_by_hand(study, tmp_path):
    assert study.rows.shape == study.columns.shape == (2, len(blocks.BLOCK_METHODS), 2)
    assert_array_equal(study.true_numbers, [[4, 4], [1, 1]])
    assert study.chosen_numbers.shape == (2, 1, 2)
    assert np.isnan(study.rows[1]).all()
    gap, error = study.difference("unequal noise", "latent blocks", "alternating")
    mine, theirs = (
        study.scores("unequal noise", method)[0] for method in ("latent blocks", "alternating")
    )
    assert gap[0] == pytest.approx(np.mean(mine - theirs))
    assert error[0] == pytest.approx(abs(np.diff(mine - theirs)[0]) / 2)
    study.save(tmp_path / "b")
    assert str(load_result(tmp_path / "b")) == str(study)
    assert study.table.as_dicts()[2]["alternating"] == "none"


def test_stored_table_comes_out_again_and_says_what_the_chapter_says():
    stored = load_result(ROOT / "book" / "results" / "block_study")
    assert len(stored.cases) >= 7
    assert stored.rows.shape[-1] >= 30
    part = block_study(cases=("unequal blocks",), n_repeats=1, n_chosen=0)
    place = stored.cases.index("unequal blocks")
    assert_allclose(part.rows[0, :, 0], stored.rows[place, :, 0], atol=0.05)
    # The gain is that of the start: double k-means from principal components ties.
    mean, error = stored.difference("equal blocks", "alternating", "double, pca")
    assert np.all(np.abs(mean) < 2 * error)
    mean, error = stored.difference("equal blocks", "alternating", "double, random")
    assert np.all(mean > 3 * error)
    # Others are better where the noise is uneven; levels need centred rows.
    mean, error = stored.difference("unequal noise", "latent blocks", "alternating")
    assert np.all(mean > 3 * error)
    # A variance for each tile mends that, and costs nothing where one is enough.
    mean, error = stored.difference("unequal noise", "tile noise", "alternating")
    assert np.all(mean > 3 * error)
    mean, error = stored.difference("unequal noise", "tile noise", "latent blocks")
    assert np.all(np.abs(mean) < 0.02)
    mean, error = stored.difference("equal blocks", "tile noise", "alternating")
    assert np.all(np.abs(mean) < 2 * error + 0.01)
    assert stored.difference("row effects", "rows centred", "alternating")[0].min() > 0.5


def test_study_figure(study):
    figure = plots.block_study(study)
    figure.canvas.draw()
    assert [ax.get_title() for ax in figure.axes] == ["samples", "features"]
    shown = figure.axes[1].containers[-1].lines[0].get_xdata()
    assert_allclose(shown, study.columns[:, -1].mean(axis=-1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cases": ()}, "cases is empty"),
        ({"cases": ("magic",)}, "cases='magic' is unknown"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"n_repeats": 2, "n_chosen": 3}, "n_chosen=3"),
    ],
)
def test_bad_study(arguments, message):
    with pytest.raises(ValueError, match=message):
        block_study(**arguments)
