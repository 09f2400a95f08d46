"""The study of the penalty: its cells by hand, its claims in small, the analytic weight."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.spatial.distance import pdist, squareform

from informed import plots
from informed.clusters import average_over_clusters, cluster_features
from informed.datasets import make_curved_manifold, make_two_types, mixed_toy
from informed.datasets.blurred import BORDERS, CLUSTER_SIZES
from informed.directions import (
    analytic_penalty,
    exact_directions,
    pca_directions,
    penalized_directions,
    penalty_path,
    subspace_error,
)
from informed.experiments import (
    PenaltyStudy,
    blurred_toy,
    load_result,
    local_penalty_study,
    penalty_study,
)
from informed.metrics import LocalInformedMahalanobis
from informed.parallel import seeds
from informed.spiked import spikes_from_variances
from informed.studies.cli import main
from informed.studies.experiments.locality import scaled_error
from informed.studies.experiments.penalty import span_errors


@pytest.fixture(scope="module")
def study():
    return penalty_study(
        designs=("toy",), blurs=(0.0, 0.6, np.inf), sizes=(40,), counts=(9, 12), n_repeats=3
    )


@pytest.fixture(scope="module")
def local():
    return local_penalty_study(
        spreads=(0.1, 1.0), sizes=(8, 20), n_samples=30, n_features=24, n_repeats=2
    )


def made_up(errors):
    """Return a study with the given mean errors of PCA, hard, penalised: (3, blurs, sizes)."""
    errors = np.array(errors, dtype=float)[:, None, ..., None, None]
    n_blurs, n_sizes = errors.shape[2:4]
    return PenaltyStudy(
        designs=("toy",),
        blurs=np.array([0.5, np.inf])[:n_blurs],
        sizes=np.array([20, 40])[:n_sizes],
        counts=np.array([12]),
        methods=("pca", "hard", "penalized"),
        errors=np.concatenate([0.5 * errors, 1.5 * errors], axis=-1),
        penalties=np.zeros((1, n_blurs, n_sizes, 1, 2)),
    )


# ------------------------------------------------------------------------------------- the data


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("blur", [0.0, 0.7, np.inf])
def test_truth_is_where_the_sample_covariance_goes(blur, seed):
    errors = []
    for n in (500, 8000):
        X, truth = blurred_toy(n, blur, random_state=seed)
        assert_allclose(truth.T @ truth, np.eye(7), atol=1e-12)
        errors.append(subspace_error(pca_directions(X, 7).directions, truth))
    # Errors fall with the root of n, up to chance.
    assert errors[1] < 0.65 * errors[0]


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("blur", [0.0, 0.7, np.inf])
def test_mixed_truth_is_where_the_sample_covariance_goes(blur, steps):
    errors = []
    for n in (500, 8000):
        X, truth = mixed_toy(n, blur, steps=steps, random_state=3)
        d = 6 if steps else 9
        assert_allclose(truth.T @ truth, np.eye(d), atol=1e-12)
        errors.append(subspace_error(pca_directions(X, d).directions, truth))
    assert errors[1] < 0.65 * errors[0]


def test_mixed_toy_has_free_directions_and_clustered_ones():
    labels = np.repeat(np.arange(12), CLUSTER_SIZES)
    for steps in (False, True):
        truth = mixed_toy(20, 0.0, steps=steps, random_state=0)[1]
        inside = np.linalg.svd(average_over_clusters(truth, labels), compute_uv=False) ** 2
        assert np.sum(inside > 0.9) == truth.shape[1] - 3
        assert np.sum(inside < 0.4) == 3


def test_blurred_toy_is_the_toy_with_other_clusters():
    X, truth = blurred_toy(10, 0.3, random_state=4)
    toy = make_two_types(10, borders=BORDERS, rho=0.4, loading_sd=0.3, random_state=4)
    assert_array_equal(X, toy.X)
    assert_array_equal(truth, toy.eigenvectors(7))


def test_seven_directions_stand_out_and_are_fewer_than_the_clusters():
    for blur in (0.0, 0.5, 1.0):
        toy = make_two_types(10, borders=BORDERS, loading_sd=blur, random_state=0)
        values = toy.eigenvalues(8)
        assert values[6] > 1.5 * values[7]
    assert toy.feature_labels.max() + 1 == 12


def test_without_clusters_k_means_finds_none_that_help():
    X, truth = blurred_toy(200, np.inf, random_state=0)
    labels = cluster_features(X, 12, n_init=3, random_state=0)
    assert np.sum((truth - average_over_clusters(truth, labels)) ** 2) > 1.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, -0.1), "blur=-0.1"),
        ((10, np.nan), "blur=nan"),
        ((1, 0.5), "n_samples=1"),
        ((1, np.inf), "n_samples=1"),
    ],
)
def test_bad_data(arguments, message):
    with pytest.raises(ValueError, match=message):
        blurred_toy(*arguments)


# ------------------------------------------------------------------------------------ the cells


@pytest.mark.parametrize("n_samples", [20, 300])
def test_span_errors_are_those_of_the_directions(n_samples):
    X, truth = blurred_toy(n_samples, 0.5, random_state=2)
    labels = cluster_features(X, 12, n_init=2, random_state=0)
    weights = np.array([0.0, 0.1, 10.0, 1000.0, np.inf])
    expected = [
        subspace_error(penalized_directions(X, labels, 7, w).directions, truth) for w in weights
    ]
    assert_allclose(span_errors(X, labels, truth, weights), expected, rtol=1e-6)


def test_cell_by_the_public_functions(study):
    for repeat, seed in enumerate(seeds(0, 3)):
        X, truth = blurred_toy(40, 0.6, random_state=seed)
        again = partial(cluster_features, n_clusters=12, n_init=3, random_state=seed)
        labels = again(X)
        chosen = penalized_directions(X, labels, 7, "cv", recluster=again)
        found = {
            "pca": pca_directions(X, 7),
            "hard": exact_directions(X, labels, 7),
            "penalized": chosen,
            "analytic": penalized_directions(X, labels, 7, analytic_penalty(X, labels, 7)),
            "capped": penalized_directions(X, labels, 7, "capped", recluster=again),
            "per-direction": penalized_directions(X, labels, 7, "per-direction", recluster=again),
        }
        errors = dict(zip(study.methods, study.errors[:, 0, 1, 0, 1, repeat], strict=True))
        for method, directions in found.items():
            expected = subspace_error(directions.directions, truth)
            assert errors[method] == pytest.approx(expected, rel=1e-6)
        grid = penalty_path(X, labels, 7, n_folds=2).penalties
        best = min(
            subspace_error(penalized_directions(X, labels, 7, w).directions, truth) for w in grid
        )
        assert errors["oracle"] == pytest.approx(best, rel=1e-6)
        leading = pca_directions(X, 1).variances[0]
        assert study.penalties[0, 1, 0, 1, repeat] == pytest.approx(chosen.penalty / leading)


def test_shapes_and_order(study):
    assert study.errors.shape == (7, 1, 3, 1, 2, 3)
    assert study.penalties.shape == (1, 3, 1, 2, 3)
    # PCA does not know of clusters, so their number changes nothing.
    assert_allclose(study.errors[0, ..., 0, :], study.errors[0, ..., 1, :])
    assert np.all(study.errors[6] <= study.errors[:3].min(axis=0) + 1e-9)


def test_penalty_beats_both_between_and_falls_back_at_the_ends(study):
    mean = dict(zip(study.methods, study.errors.mean(axis=-1)[:, 0, :, 0, 1], strict=True))
    assert mean["hard"][0] < 0.8 * mean["pca"][0]
    assert mean["penalized"][1] < 0.95 * min(mean["pca"][1], mean["hard"][1])
    assert mean["hard"][2] > 1.3 * mean["pca"][2]
    assert study.worst()[0] < 1.05
    assert study.worst("per-direction")[0] < 1.05
    # Without clusters the weight all but vanishes.
    assert np.all(study.penalties[0, 2] < 0.1)


# ----------------------------------------------------------------------------- ratios and table


def test_ratios_by_hand():
    # PCA, hard, penalised; blurs down, sizes across.
    study = made_up([[[2, 4], [1, 1]], [[4, 2], [3, 5]], [[1, 3], [1.1, 1]]])
    assert_allclose(study.ratios()[0, ..., 0], [[0.5, 1.5], [1.1, 1.0]])
    assert_allclose(study.ratios("hard")[0, ..., 0], [[2, 1], [3, 5]])
    assert study.worst()[0] == pytest.approx(1.5)
    # All errors of a data set grow alike, so their ratio has no spread.
    assert_allclose(study.standard_errors(), 0, atol=1e-12)


def test_worst_and_mean_are_over_the_same_cells():
    study = made_up([[[2], [1]], [[4], [3]], [[1], [1.7]]])
    assert study.worst()[0] == pytest.approx(1.7)
    assert study.mean_ratio() == pytest.approx((0.5 + 1.7) / 2)
    assert study.mean_ratio("penalized", "toy") == study.mean_ratio()


def test_standard_error_is_that_of_the_bootstrap():
    rng = np.random.default_rng(0)
    shared = rng.uniform(1, 3, size=40)
    free, mine = shared, 0.9 * shared + 0.1 * rng.normal(size=40)
    study = PenaltyStudy(
        designs=("toy",),
        blurs=np.array([0.5]),
        sizes=np.array([20]),
        counts=np.array([12]),
        methods=("pca", "hard", "penalized"),
        errors=np.array([free, free + 1, mine])[:, None, None, None, None],
        penalties=np.zeros((1, 1, 1, 1, 40)),
    )
    drawn = rng.integers(40, size=(4000, 40))
    bootstrap = np.std(mine[drawn].mean(axis=1) / free[drawn].mean(axis=1))
    assert study.standard_errors()[0, 0, 0, 0] == pytest.approx(bootstrap, rel=0.1)


def test_table():
    rows = made_up([[[2, 4], [1, 1]], [[4, 2], [3, 5]], [[1, 3], [1.1, 1]]]).table.as_dicts()
    assert rows[1] == {
        "design": "toy",
        "blur": "0.5",
        "n": 40,
        "K": 12,
        "pca": "4.00",
        "hard": "2.00",
        "penalized": "3.00",
        "ratio": "1.500",
    }
    assert rows[2]["blur"] == "none"


def test_results_survive_saving(study, local, tmp_path):
    for result in (study, local):
        result.save(tmp_path / result.name)
        again = load_result(tmp_path / result.name)
        assert type(again) is type(result)
        assert again.methods == result.methods
        assert_array_equal(again.errors, result.errors)
        assert str(again) == str(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"blurs": ()}, "blurs is empty"),
        ({"sizes": ()}, "sizes is empty"),
        ({"counts": ()}, "counts is empty"),
        ({"blurs": (-1.0,)}, "blurs=-1.0"),
        ({"sizes": (13,)}, "sizes=13"),
        ({"counts": (8,)}, "counts=8"),
        ({"designs": ()}, "designs is empty"),
        ({"designs": ("magic",)}, "designs='magic' is unknown"),
        ({"counts": (145,)}, "counts=145"),
        ({"n_init": 0}, "n_init=0"),
        ({"n_repeats": 0}, "n_repeats=0"),
    ],
)
def test_bad_study(arguments, message):
    with pytest.raises(ValueError, match=message):
        penalty_study(**arguments)


# ------------------------------------------------------------------------------ the stored table


@pytest.fixture(scope="module")
def stored():
    return load_result(ROOT / "book" / "results" / "penalty_study")


def test_stored_table_of_penalties_comes_out_again(stored):
    part = penalty_study(designs=("steps", "mixed"), blurs=(0.8,), sizes=(20,), n_repeats=2)
    for i, design in enumerate(part.designs):
        cell = stored.errors[:, stored.designs.index(design), 2, 0, 0, :2]
        assert_allclose(part.errors[:, i, 0, 0, 0], cell, rtol=1e-3)


def test_what_the_chapter_says_of_the_stored_table(stored):
    assert stored.errors.shape[-1] >= 20
    assert len(stored.designs) == 3
    # No rule that looks at held-out samples loses more than a per cent; the formula alone does.
    for method in ("penalized", "capped", "per-direction"):
        assert stored.worst(method)[0] < 1.01
    assert stored.worst("analytic")[0] > 1.15
    # Where kinds mix, a weight for each direction is better than one, by more than the error.
    mixed = stored.designs.index("mixed")
    one, each = (
        stored.errors[stored.methods.index(method), mixed]
        for method in ("penalized", "per-direction")
    )
    assert np.all(each.mean(axis=-1) <= one.mean(axis=-1) + 1e-9)
    gain = (one - each)[:3, 2, 0]
    assert np.all(gain.mean(axis=-1) > 3 * gain.std(axis=-1, ddof=1) / np.sqrt(gain.shape[-1]))
    assert stored.mean_ratio("per-direction", "mixed") < stored.mean_ratio("oracle", "mixed")


# --------------------------------------------------------------------------- the analytic weight


@pytest.mark.parametrize("aspect", [0.2, 1.0, 7.2])
def test_inflation_is_undone(aspect):
    noise, excess, n_features = 0.7, np.array([40.0, 12.0, 5.0]), 200
    shown = (excess + noise) * (1 + aspect * noise / excess)
    total = excess.sum() + n_features * noise
    found, level = spikes_from_variances(shown, total, n_features, aspect)
    assert_allclose(found, excess, rtol=1e-6)
    assert level == pytest.approx(noise, rel=1e-6)


def test_one_direction_has_noise_over_signal():
    # A direction at a known angle to the clusters: λ = Δ ν / s up to one step of the grid.
    p, strength = 200, 30.0
    labels = np.repeat([0, 1], p // 2)
    inside = np.repeat([1.0, -1.0], p // 2) / np.sqrt(p)
    outside = np.tile([1.0, -1.0], p // 2) / np.sqrt(p)
    signal = 0.2
    u = np.sqrt(1 - signal) * inside + np.sqrt(signal) * outside
    for n in (50, 400):
        ratios = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = np.sqrt(strength) * rng.standard_normal((n, 1)) * u
            X = X + rng.standard_normal((n, p))
            aspect = p / (n - 1)
            cosine = (1 - aspect / strength**2) / (1 + aspect / strength)
            expected = strength * (1 - cosine) / cosine / signal
            ratios.append(analytic_penalty(X, labels, 1) / expected)
        assert 0.5 < np.exp(np.mean(np.log(ratios))) < 2


def test_analytic_weight_falls_with_samples_and_with_blur():
    weights = {
        (n, blur): np.median(
            [
                analytic_penalty(toy.X, toy.feature_labels, 7)
                for toy in (
                    make_two_types(n, borders=BORDERS, loading_sd=blur, random_state=seed)
                    for seed in range(3)
                )
            ]
        )
        for n in (30, 300)
        for blur in (0.2, 0.8)
    }
    assert weights[30, 0.2] > weights[300, 0.2] > weights[300, 0.8]
    assert weights[30, 0.2] > weights[30, 0.8] > weights[300, 0.8]


def test_analytic_weight_of_perfect_clusters_is_large_and_of_wrong_ones_small():
    toy = make_two_types(60, borders=BORDERS, random_state=0)
    leading = pca_directions(toy.X, 1).variances[0]
    assert analytic_penalty(toy.X, toy.feature_labels, 7) > leading
    assert analytic_penalty(toy.X, np.arange(144) % 12, 7) < 0.01 * leading


def test_analytic_weight_is_infinite_when_no_direction_stands_out():
    # Eleven samples of equal variance in all ten directions: nothing but noise.
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 11)))[0].T
    assert analytic_penalty(X, np.arange(40) % 4, 2) == np.inf


def test_analytic_weight_with_as_many_directions_as_features():
    X = np.random.default_rng(0).standard_normal((12, 3)) * [3, 2, 1]
    # Each feature is a cluster of its own: outside of them there is nothing, and no noise either.
    assert analytic_penalty(X, [0, 1, 2], 3) == 0


# ------------------------------------------------------------------------------ the local metric


def test_local_cell_by_the_public_functions(local):
    seed = seeds(0, 2)[1]
    sheet = make_curved_manifold(30, 24, spread=1.0, noise=0.3, random_state=seed)
    hidden = pdist(sheet.hidden)
    near = hidden < 0.25
    for m, directions in enumerate(("pca", "exact", "penalized")):
        metric = LocalInformedMahalanobis(
            20, 2, 3, directions=directions, n_init=3, random_state=seed
        )
        distances = squareform(metric.fit(sheet.X).pairwise_distances(), checks=False)
        expected = scaled_error(distances[near], hidden[near])
        assert local.errors[m, 1, 1, 1] == pytest.approx(expected)
    assert local.errors.shape == (3, 2, 2, 2)
    assert [row["N"] for row in local.table.as_dicts()] == [8, 20, 8, 20]
    assert local.table.as_dicts()[2]["spread"] == "1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spreads": ()}, "spreads is empty"),
        ({"sizes": ()}, "sizes is empty"),
        ({"spreads": (-1.0,)}, "spreads=-1.0"),
        ({"sizes": (3,)}, "sizes=3"),
        ({"sizes": (151,)}, "sizes=151"),
        ({"n_samples": 3}, "n_samples=3"),
        ({"reach": 0.0}, "reach=0.0"),
        ({"n_repeats": 0}, "n_repeats=0"),
    ],
)
def test_bad_local_study(arguments, message):
    with pytest.raises(ValueError, match=message):
        local_penalty_study(**arguments)


# ---------------------------------------------------------------------------------- the figures


def test_heat_maps_show_the_ratios(study):
    figure = plots.penalty_study(study, methods=("penalized", "oracle"))
    panels = figure.axes[:2]
    assert [ax.get_title() for ax in panels] == ["one, held out", "oracle"]
    mean = study.errors.mean(axis=-1)[:, 0, :, 0, 0]
    for method, ax in zip(("penalized", "oracle"), panels, strict=True):
        ratios = study.ratios(method)[0, :, :, 0]
        assert_array_equal(ax.images[0].get_array(), ratios)
        shown = [text.get_text() for text in ax.texts]
        assert [t.rstrip("•") for t in shown] == [f"{r:.2f}" for r in ratios[:, 0]]
        assert [t.endswith("•") for t in shown] == list(mean[1] < mean[0])
        # Readable in a column of the page.
        assert all(text.get_fontsize() >= 9 for text in ax.texts)
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["0", "0.6", "none"]


def test_local_figure_shows_the_mean_errors(local):
    figure = plots.local_penalty_study(local)
    assert [ax.get_title() for ax in figure.axes] == ["spread 0.1", "spread 1"]
    for i, ax in enumerate(figure.axes):
        for line, errors in zip(ax.lines, local.errors[:, i], strict=True):
            assert_allclose(line.get_ydata(), errors.mean(axis=1))


def test_command_line(tmp_path, capsys):
    words = "run penalty_study --designs mixed --blurs 0.5,inf --sizes 20 --n-repeats 2 --n-init 1"
    assert main([*words.split(), "--quiet", "--out", str(tmp_path)]) == 0
    assert "none" in capsys.readouterr().out
    assert load_result(tmp_path / "penalty_study").errors.shape == (7, 1, 2, 1, 1, 2)
    with Image.open(tmp_path / "penalty_study-penalty_study.png") as picture:
        assert len(np.unique(np.asarray(picture.convert("L")))) > 50
