"""The phase diagram: its model, its cells by hand, and what the stored result must show."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose

from informed import plots
from informed.clusters import cluster_features
from informed.directions import exact_directions, pca_directions
from informed.experiments import PhaseDiagram, cluster_ring, load_result, phase_diagram
from informed.parallel import seeds
from informed.studies.cli import main
from informed.studies.experiments.phases import boundary, share_misplaced
from informed.theory import expected_errors, misfit

STORED = load_result(ROOT / "book" / "results" / "phase_diagram")
assert isinstance(STORED, PhaseDiagram)


@pytest.fixture(scope="module")
def small():
    return phase_diagram(
        noises=(0.7, 1.4),
        sizes=(16, 40),
        n_features=60,
        strong=30.0,
        n_init=2,
        n_repeats=3,
        n_known=5,
    )


# ------------------------------------------------------------------------------------ the model


@pytest.mark.parametrize(("p", "K"), [(300, 6), (40, 4), (120, 12)])
def test_ring_is_the_spiked_model_with_clusters_that_fit(p, K):
    ring = cluster_ring(p, K, strong=20.0, weak=3.0)
    U = ring.directions
    assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    assert_allclose(U * np.sqrt(ring.strengths), ring.loadings[ring.labels], atol=1e-12)
    assert misfit(U, ring.labels) < 1e-12
    X = ring.draw(40_000, 0.5, random_state=0)
    covariance = np.cov(X, rowvar=False)
    assert_allclose(np.diag(U.T @ covariance @ U), ring.strengths + 0.25, rtol=0.05)
    signal = X[:, ring.labels == 0].mean(axis=1) - X[:, ring.labels == 1].mean(axis=1)
    assert_allclose(signal.var() - 0.5 * K / p, ring.separation**2, rtol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((300, 5), "must be even"), ((301, 6), "multiple"), ((300, 2), "n_clusters=2")],
)
def test_ring_refuses_what_makes_no_ring(arguments, message):
    with pytest.raises(ValueError, match=message):
        cluster_ring(*arguments)


def test_boundary_is_where_the_prediction_passes_one_half():
    ring = cluster_ring()
    for method, column in (("pca", 0), ("known", 1), ("found", 2)):
        for noise in (0.8, 2.0):
            n = int(boundary(ring, method, np.array([noise]))[0])
            if n > 10:
                assert (
                    ring.predict(n, noise)[column]
                    < 0.5
                    <= ring.predict(int(0.98 * n) - 1, noise)[column]
                )


# ------------------------------------------------------------------------------------- the cells


def test_a_cell_by_hand(small):
    ring = cluster_ring(60, strong=30.0)
    for r, seed in enumerate(seeds(0, 3)):
        X = ring.draw(40, 1.4, random_state=seed)
        labels = cluster_features(X, 6, n_init=2, random_state=seed)
        spaces = (
            pca_directions(X, 3).directions,
            exact_directions(X, ring.labels, 3).directions,
            exact_directions(X, labels, 3).directions,
        )
        for k, U in enumerate(spaces):
            P = U @ U.T - ring.directions @ ring.directions.T
            assert_allclose(small.errors[k, 1, 1, r], np.sum(P**2) / 2, atol=1e-10)
        assert_allclose(small.misfits[1, 1, r], misfit(ring.directions, labels))
        assert_allclose(small.misclassified[1, 1, r], share_misplaced(labels, ring.labels))


def test_measured_errors_of_found_clusters_use_the_draws_with_known_ones(small):
    extra = small.errors[2].mean(axis=-1) - small.errors[1].mean(axis=-1)
    assert_allclose(small.measured[2] - small.measured[1], extra)
    assert small.phases().shape == (2, 2)
    assert len(small.table.rows) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noises": ()}, "noises is empty"),
        ({"sizes": (4,)}, "sizes=4"),
        ({"noises": (0.0,)}, "noises=0"),
        ({"n_repeats": 0}, "n_repeats=0"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        phase_diagram(**arguments)


# ------------------------------------------------------------------- what the stored result shows


def test_stored_result_has_a_grid_of_at_least_four_by_four():
    assert STORED.predicted.shape[1] >= 4
    assert STORED.predicted.shape[2] >= 4
    # All three phases are there.
    assert set(np.unique(STORED.phases())) == {0, 1, 2}


def test_stored_predictions_are_those_of_the_theory():
    ring = STORED.ring
    for i, noise in enumerate(STORED.noises):
        for j, n in enumerate(STORED.sizes):
            assert_allclose(STORED.predicted[:, i, j], ring.predict(int(n), noise), rtol=1e-10)


@pytest.mark.parametrize("method", ["pca", "known", "found"])
def test_theory_is_within_15_percent_where_it_applies(method):
    k = STORED.methods.index(method)
    applies = STORED.applies[k]
    assert applies.sum() >= 10
    assert np.all(np.abs(STORED.ratios[k][applies] - 1) < 0.15)


@pytest.mark.parametrize("method", ["pca", "found"])
def test_boundaries_of_the_window_are_found_within_one_step(method):
    steps = STORED.first_found(method) - STORED.first_found(method, predicted=True)
    assert np.all(np.abs(steps) <= 1)


def test_p_for_k_and_a_wrong_power_of_n_would_be_noticed():
    applies = STORED.applies[1]
    known, n, ring = STORED.measured[1], STORED.sizes, STORED.ring
    with_p = np.array(
        [
            [expected_errors(int(m), ring.n_features, ring.strengths, s).sum() for m in n]
            for s in STORED.noises
        ]
    )
    assert np.all((known / with_p)[applies] < 0.5)
    for wrong in (STORED.predicted[1] * np.sqrt(n / 128), STORED.predicted[1] * (n / 128)):
        assert np.mean(np.abs(known / wrong - 1)[applies] < 0.15) < 0.5


def test_a_stored_cell_comes_out_again():
    again = phase_diagram(noises=(1.0,), sizes=(32,), n_repeats=6, n_known=20)
    i, j = list(STORED.noises).index(1.0), list(STORED.sizes).index(32)
    assert_allclose(again.errors[:, 0, 0], STORED.errors[:, i, j, :6], rtol=1e-6)
    spread = again.known_deviation[0, 0] + STORED.known_deviation[i, j]
    assert abs(again.known_mean[0, 0] - STORED.known_mean[i, j]) < 4 * spread


# ----------------------------------------------------------- another ring, simulated by the test


@pytest.mark.parametrize("noise", [0.6, 0.9, 1.4, 2.0])
def test_theory_holds_on_a_grid_that_is_not_stored(noise):
    """Four by four cells of a model that no chapter uses, smaller clusters; a row at a time."""
    row = phase_diagram(
        noises=(noise,),
        sizes=(32, 64, 128, 256),
        n_features=120,
        strong=72.0,
        n_init=25,
        n_repeats=12,
        n_known=100,
        random_state=7,
    )
    errors = [deviation / np.sqrt(12) for deviation in row.errors.std(axis=-1)]
    extra = (row.errors[2] - row.errors[1]).std(axis=-1) / np.sqrt(12)
    spreads = errors[0], row.known_deviation, np.hypot(row.known_deviation, extra)
    for k, method in enumerate(row.methods):
        applies = row.applies[k]
        off = np.abs(row.measured[k] - row.predicted[k])
        # Within 15 percent, or three standard errors of the simulation where these are larger.
        near = off < np.maximum(0.15 * row.predicted[k], 3 * spreads[k])
        assert np.all(near[applies]), method
        # PCA's law is not that of the clusters, nor the reverse: p for K would be noticed.
        other = row.predicted[1 if method == "pca" else 0]
        assert np.all(np.abs(np.log(row.measured[k] / other))[applies] > np.log(2)), method
    for method in ("pca", "found"):
        steps = row.first_found(method) - row.first_found(method, predicted=True)
        assert np.all(np.abs(steps) <= 1), method


# ---------------------------------------------------------------------------- figures, command line


def test_figures_show_every_cell(small):
    figure = plots.phase_diagram(small)
    points = sum(
        len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() in "xos"
    )
    assert points == 4
    panels = plots.prediction_check(small).axes
    assert [panel.get_title() for panel in panels] == ["noise 0.7", "noise 1.4"]


def test_command_line_runs_it(tmp_path):
    words = "run phase_diagram --noises 1.0 --sizes 16,32 --n-repeats 1 --n-known 2 --n-init 1"
    assert main([*words.split(), "--quiet", "--out", str(tmp_path)]) == 0
    assert load_result(tmp_path / "phase_diagram").errors.shape == (3, 1, 2, 1)


def test_the_theory_claims_ten_samples_per_direction_and_no_fewer(small):
    for sizes, applies in [((29, 30), [False, True]), ((30, 31), [True, True])]:
        calm = dataclasses.replace(small, noises=np.array([0.1, 0.1]), sizes=np.array(sizes))
        assert calm.applies[0].all()
        assert calm.applies[1].tolist() == [applies, applies]


def test_half_a_direction_missing_is_not_less_than_half(small):
    half = dataclasses.replace(small, predicted=np.full_like(small.predicted, 0.5))
    less = dataclasses.replace(small, predicted=np.full_like(small.predicted, 0.5 - 1e-9))
    assert set(half.first_found(small.methods[0], predicted=True)) == {len(small.sizes)}
    assert set(less.first_found(small.methods[0], predicted=True)) == {0}
    assert set(half.phases(predicted=True).ravel()) == {0}
    assert set(less.phases(predicted=True).ravel()) == {2}
