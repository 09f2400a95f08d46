"""The soft trade-off between PCA and the clusters: closed form, limits and cross-validation."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.model_selection import KFold
from test_clusters import BAD_DATA, BAD_LABELS
from toy import (
    Array,
    covariance,
    explicit_indicator,
    leading,
    projector,
    random_problem,
    same_examples,
    same_up_to_sign,
)

from informed.clusters import average_over_clusters, cluster_features
from informed.directions import (
    PenaltyPath,
    exact_directions,
    pca_directions,
    penalized_directions,
    penalty_path,
    reconstruction_error,
    subspace_error,
)

seeds = st.integers(0, 2**32 - 1)


def distance_to_span(U: Array, labels: Array) -> float:
    return float(np.sum((U - average_over_clusters(U, labels)) ** 2))


# ------------------------------------------------------------------------------ closed form


@same_examples
@given(seeds, st.sampled_from([6, 40]), st.floats(1e-4, 1e4))
def test_directions_are_the_eigenvectors_of_the_penalised_covariance(seed, n_samples, ratio):
    X, labels = random_problem(seed, n_samples)
    S = covariance(X)
    weight = ratio * np.linalg.eigvalsh(S)[-1]
    found = penalized_directions(X, labels, 3, weight)
    U, values = leading(S + weight * projector(labels), 4)
    # Eigenvectors are as sure as the gaps between the eigenvalues are wide.
    gaps = np.abs(np.diff(values)) / values[0]
    accuracy = 1e-11 / gaps.min()
    assert same_up_to_sign(found.directions, U[:, :3]) < accuracy
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(3), atol=1e-12)
    assert found.penalty == weight
    assert (found.n_iter, found.converged) == (0, True)


@same_examples
@given(seeds, st.floats(1e-2, 1e2))
def test_no_competitor_has_a_lower_penalised_error(seed, weight):
    X, labels = random_problem(seed)

    def objective(U):
        return reconstruction_error(X, U) + weight * distance_to_span(U, labels)

    best = objective(penalized_directions(X, labels, 2, weight).directions)
    rng = np.random.default_rng(seed)
    start = penalized_directions(X, labels, 2, weight).directions
    for size in (1e-3, 1e-1, 10):
        U = np.linalg.qr(start + size * rng.standard_normal(start.shape))[0]
        assert best <= objective(U) * (1 + 1e-12)
    for found in (pca_directions(X, 2), exact_directions(X, labels, 2)):
        assert best <= objective(found.directions) * (1 + 1e-12)


# ----------------------------------------------------------------------------------- limits


@same_examples
@given(seeds, st.sampled_from([6, 40]))
def test_without_penalty_it_is_pca(seed, n_samples):
    X, labels = random_problem(seed, n_samples)
    found, pca = penalized_directions(X, labels, 3, 0), pca_directions(X, 3)
    np.testing.assert_allclose(found.directions, pca.directions, atol=1e-8)
    np.testing.assert_allclose(found.variances, pca.variances)
    assert found.penalty == 0
    slight = penalized_directions(X, labels, 3, 1e-9 * pca.variances[0])
    assert subspace_error(slight.directions, pca.directions) < 1e-5


@pytest.mark.parametrize(
    ("ratio", "accuracy"), [(1e6, 1e-4), (1e7, 1e-5), (1e12, 1e-12), (np.inf, 1e-12)]
)
@pytest.mark.parametrize(("seed", "n_samples"), [(0, 25), (1, 25), (2, 6)])
def test_under_a_large_penalty_it_is_the_hard_constraint(ratio, accuracy, seed, n_samples):
    X, labels = random_problem(seed, n_samples)
    hard = exact_directions(X, labels, 2)
    weight = ratio * hard.pca_variances[0]
    found = penalized_directions(X, labels, 2, weight)
    assert subspace_error(found.directions, hard.directions) < accuracy
    assert found.penalty == weight
    np.testing.assert_allclose(found.variances, hard.variances, rtol=accuracy)
    np.testing.assert_allclose(found.pca_variances, pca_directions(X, 2).variances)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_jumps_where_the_hard_constraint_takes_over(dtype, seed):
    X, labels = random_problem(seed)
    X = (X - X.mean(axis=0)).astype(dtype)
    switch = pca_directions(X, 1).variances[0] / np.sqrt(np.finfo(dtype).eps)
    below, above = (penalized_directions(X, labels, 2, f * float(switch)) for f in (0.99, 1.01))
    hard = exact_directions(X, labels, 3)
    variances = hard.variances
    np.testing.assert_array_equal(above.directions, hard.directions[:, :2])
    assert np.any(below.directions != hard.directions[:, :2])
    conditioning = variances[0] / (variances[1] - variances[2])
    jump = subspace_error(below.directions, hard.directions[:, :2])
    assert jump < 100 * conditioning * np.sqrt(np.finfo(dtype).eps)


@same_examples
@given(seeds)
def test_error_rises_and_distance_to_the_clusters_falls_along_the_path(seed):
    X, labels = random_problem(seed)
    scale = pca_directions(X, 1).variances[0]
    path = [
        penalized_directions(X, labels, 3, weight).directions
        for weight in [0.0, *scale * np.logspace(-3, 4, 15), np.inf]
    ]
    errors = np.array([reconstruction_error(X, U) for U in path])
    distances = np.array([distance_to_span(U, labels) for U in path])
    assert np.all(np.diff(errors) >= -1e-10 * errors[-1])
    assert np.all(np.diff(distances) <= 1e-10)
    assert errors[0] == pytest.approx(reconstruction_error(X, pca_directions(X, 3).directions))
    assert distances[0] > 0.01
    assert distances[-1] < 1e-20


# ----------------------------------------------------------------------------- cross-validation


def brute_force_errors(X: Array, labels: Array, d: int, penalties: Array, seed: int) -> Array:
    """Refit with p × p matrices on each training fold and reconstruct each held-out sample."""
    columns = []
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        S, H = covariance(X[train]), explicit_indicator(labels)
        column = []
        for weight in penalties:
            if np.isinf(weight):
                U = H @ linalg.eigh(H.T @ S @ H)[1][:, -d:]
            else:
                U = linalg.eigh(S + weight * H @ H.T)[1][:, -d:]
            residuals = [x - X[train].mean(axis=0) for x in X[test]]
            column.append(np.mean([np.sum((r - U @ (U.T @ r)) ** 2) for r in residuals]))
        columns.append(column)
    return np.transpose(columns)


@pytest.mark.parametrize("n_samples", [11, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_path_against_brute_force(n_samples, seed):
    X, labels = random_problem(seed, n_samples)
    path = penalty_path(X, labels, 3, random_state=seed)
    expected = brute_force_errors(X, labels, 3, path.penalties, seed)
    np.testing.assert_allclose(path.errors, expected, rtol=1e-8)
    assert path.best == path.penalties[np.argmin(expected.mean(axis=1))]


@pytest.mark.parametrize("n_samples", [11, 60])
def test_path_against_refitting_the_public_function(n_samples):
    X, labels = random_problem(3, n_samples)
    penalties = [0.0, 0.3, 3.0, 30.0, np.inf]
    path = penalty_path(X, labels, 2, penalties=penalties, n_folds=4, random_state=7)
    np.testing.assert_array_equal(path.penalties, penalties)
    assert path.errors.shape == (5, 4)
    for fold, (train, test) in enumerate(KFold(4, shuffle=True, random_state=7).split(X)):
        for row, weight in enumerate(penalties):
            U = penalized_directions(X[train], labels, 2, weight).directions
            fresh = X[test] - X[train].mean(axis=0)
            error = np.mean(np.sum((fresh - fresh @ U @ U.T) ** 2, axis=1))
            assert path.errors[row, fold] == pytest.approx(error, rel=1e-8)


def test_default_grid():
    X, labels = random_problem(0)
    grid = penalty_path(X, labels, 2).penalties
    largest = pca_directions(X, 1).variances[0]
    assert len(grid) == 31
    assert grid[0] == 0
    assert np.isinf(grid[-1])
    np.testing.assert_allclose(grid[[1, -2]], [1e-4 * largest, 1e3 * largest])
    assert np.all(np.diff(grid) > 0)
    np.testing.assert_allclose(np.diff(np.log(grid[1:-1])), np.log(10) / 4)


def test_best_is_the_least_mean_error_and_the_smallest_among_ties():
    errors = np.array([[3.0, 1], [1, 2], [2, 1], [0, 4]])
    assert PenaltyPath(np.array([0.0, 1, 2, 3]), errors).best == 1


def test_cross_validated_directions_use_the_best_of_the_path():
    X, labels = random_problem(5, n_samples=12)
    for arguments in ({}, {"n_folds": 3}, {"random_state": 4}):
        best = penalty_path(X, labels, 2, **arguments).best
        found = penalized_directions(X, labels, 2, "cv", **arguments)
        assert found.penalty == best
        np.testing.assert_array_equal(
            found.directions, penalized_directions(X, labels, 2, best).directions
        )


def test_choice_is_reproducible_and_the_seed_sets_the_folds():
    X, labels = random_problem(0)
    first = penalty_path(X, labels, 2)
    np.testing.assert_array_equal(first.errors, penalty_path(X, labels, 2).errors)
    np.testing.assert_array_equal(first.errors, penalty_path(X, labels, 2, random_state=0).errors)
    assert np.any(first.errors != penalty_path(X, labels, 2, random_state=1).errors)
    states = [np.random.RandomState(0), 0]
    by_state, by_seed = (penalty_path(X, labels, 2, random_state=state) for state in states)
    np.testing.assert_array_equal(by_state.errors, by_seed.errors)


def test_few_samples_are_left_out_one_by_one():
    X, labels = random_problem(0, n_samples=4)
    path = penalty_path(X, labels, 1, n_folds=5)
    assert path.errors.shape == (31, 4)
    np.testing.assert_array_equal(path.errors, penalty_path(X, labels, 1, n_folds=4).errors)


def test_fold_of_lower_rank_leaves_directions_out():
    # Four samples give three directions, a training fold of three only two.
    X, labels = random_problem(0, n_samples=4)
    three = penalty_path(X, labels, 3, penalties=[0.0], n_folds=4)
    two = penalty_path(X, labels, 2, penalties=[0.0], n_folds=4)
    np.testing.assert_allclose(three.errors, two.errors, rtol=1e-10)


def test_unequal_loadings_call_for_something_in_between():
    # Features follow their cluster's factor with different strength, so the truth is near the
    # clusters but not among them.
    rows = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(8), 25)
        loadings = explicit_indicator(labels) * (1 + 0.6 * rng.standard_normal((200, 1)))
        truth = np.linalg.qr(loadings)[0]
        X = 4 * rng.standard_normal((30, 8)) @ loadings.T + 0.6 * rng.standard_normal((30, 200))
        found = penalized_directions(X, labels, 8, "cv")
        assert 0 < found.penalty < np.inf
        candidates = (pca_directions(X, 8), exact_directions(X, labels, 8), found)
        rows.append([subspace_error(c.directions, truth) for c in candidates])
    pca, hard, soft = np.transpose(rows)
    assert np.all(soft < pca)
    assert np.all(soft < hard)


@pytest.mark.parametrize("seed", range(4))
def test_clusters_that_hold_get_a_large_penalty_and_wrong_ones_a_small_one(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), 30)
    X = 2 * rng.standard_normal((15, 3))[:, labels] + rng.standard_normal((15, 90))
    largest = pca_directions(X, 1).variances[0]
    assert penalty_path(X, labels, 3).best > 3 * largest
    assert penalty_path(X, np.arange(90) % 3, 3).best < 0.3 * largest


# ------------------------------------------------------------- clusters found anew in each fold


def test_recluster_sees_the_training_samples_of_each_fold_and_nothing_else():
    X, labels = random_problem(0, n_samples=23)
    seen = []

    def recluster(train):
        seen.append(train.copy())
        return labels

    kept = penalty_path(X, labels, 2)
    anew = penalty_path(X, labels, 2, recluster=recluster)
    np.testing.assert_array_equal(kept.errors, anew.errors)
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    assert len(seen) == len(folds)
    for got, (train, _) in zip(seen, folds, strict=True):
        np.testing.assert_array_equal(got, X[train])


def test_labels_of_a_fold_are_the_ones_that_recluster_gives():
    X, labels = random_problem(0)
    other = np.roll(labels, 1)
    by_recluster = penalty_path(X, labels, 2, recluster=lambda train: other)
    np.testing.assert_array_equal(by_recluster.errors, penalty_path(X, other, 2).errors)
    found = penalized_directions(X, labels, 2, "cv", recluster=lambda train: other)
    assert found.penalty == penalty_path(X, other, 2).best
    # The final fit is on the labels that were given.
    expected = penalized_directions(X, labels, 2, found.penalty)
    np.testing.assert_array_equal(found.directions, expected.directions)


def test_kept_labels_flatter_the_clusters_and_reclustering_does_not():
    # Pure noise: all directions reconstruct fresh samples equally badly, so the hard constraint can
    # gain nothing over PCA. Labels found from all samples have seen the held-out ones, though, and
    # promise a gain of about a tenth of the whole error.
    gains, choices = {"kept": [], "anew": [], "fresh": []}, {"kept": [], "anew": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 60))
        find_labels = partial(cluster_features, n_clusters=4, n_init=3, random_state=0)
        labels = find_labels(X)
        paths = {
            "kept": penalty_path(X, labels, 3),
            "anew": penalty_path(X, labels, 3, recluster=find_labels),
        }
        for name, path in paths.items():
            errors = path.errors.mean(axis=1)
            gains[name].append(errors[0] - errors[-1])
            choices[name].append(path.best)
        fresh = rng.standard_normal((2000, 60)) - X.mean(axis=0)
        kept_energy = [
            np.mean(np.sum((fresh @ found.directions) ** 2, axis=1))
            for found in (pca_directions(X, 3), exact_directions(X, labels, 3))
        ]
        gains["fresh"].append(kept_energy[1] - kept_energy[0])
    assert np.abs(np.mean(gains["fresh"])) < 0.1
    assert np.min(gains["kept"]) > 3
    assert np.abs(np.mean(gains["anew"])) < 1
    assert np.all(np.array(gains["kept"]) > np.array(gains["anew"]) + 3)
    assert np.sum(np.isinf(choices["kept"])) >= 7
    assert np.sum(np.isinf(choices["anew"])) <= 4


# --------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("penalty", "error", "message"),
    [
        (-1, ValueError, "penalty=-1.0 is out of range: it must be a number >= 0"),
        (-np.inf, ValueError, "penalty=-inf is out of range: it must be a number >= 0"),
        (np.nan, ValueError, "penalty=nan is out of range: it must be a number >= 0"),
        ("auto", ValueError, r"penalty='auto' is unknown: it must be one of"),
        (None, TypeError, "penalty must be a number >= 0, got None of type NoneType"),
        (True, TypeError, "penalty must be a number >= 0, got True of type bool"),
        ([1.0], TypeError, r"penalty must be a number >= 0, got \[1.0\] of type list"),
        (1j, TypeError, "penalty must be a number >= 0, got 1j of type complex"),
    ],
)
def test_bad_penalty(penalty, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        penalized_directions(X, labels, 2, penalty)


BAD_CHOICES = [
    ({"n_folds": 1}, ValueError, "n_folds=1 is out of range: it must be an integer >= 2"),
    ({"n_folds": 2.5}, TypeError, "n_folds must be an integer >= 2, got 2.5 of type float"),
    ({"random_state": "a"}, ValueError, "'a' cannot be used to seed"),
    ({"recluster": lambda X: [0, 1]}, ValueError, r"recluster\(X\) has shape \(2,\): .* of the 12"),
    ({"recluster": lambda X: [0] + [2] * 11}, ValueError, r"recluster\(X\) leaves cluster 1 empty"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD_CHOICES)
def test_bad_arguments_of_cross_validation(arguments, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        penalized_directions(X, labels, 1, "cv", **arguments)
    with pytest.raises(error, match=message):
        penalty_path(X, labels, 1, **arguments)


@pytest.mark.parametrize(
    ("penalties", "error", "message"),
    [
        ([], ValueError, r"penalties=\[\] must hold increasing weights"),
        ([1, 0], ValueError, r"penalties=\[1, 0\] must hold increasing weights"),
        ([1, 1], ValueError, r"penalties=\[1, 1\] must hold increasing weights"),
        ([np.inf, np.inf], ValueError, "must hold increasing weights"),
        ([-1, 1], ValueError, "penalties=-1.0 is out of range: it must be a number >= 0"),
        ([0, np.nan], ValueError, "penalties=nan is out of range: it must be a number >= 0"),
        (["1"], TypeError, "penalties must be a number >= 0, got '1' of type str"),
        ("cv", TypeError, "penalties must be a number >= 0, got 'c' of type str"),
    ],
)
def test_bad_penalties(penalties, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        penalty_path(X, labels, 2, penalties=penalties)


@pytest.mark.parametrize(
    ("n_components", "error", "message"),
    [
        (0, ValueError, r"n_components=0 is out of range: it must be an integer from 1 to 4"),
        (5, ValueError, r"n_components=5 is out of range: it must be an integer from 1 to 4"),
        (1.5, TypeError, r"n_components must be an integer from 1 to 4.*got 1.5 of type float"),
    ],
)
def test_bad_number_of_components_of_the_path(n_components, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        penalty_path(X, labels, n_components)


@pytest.mark.parametrize(("X", "error", "message"), BAD_DATA)
def test_bad_data_of_the_path(X, error, message):
    with pytest.raises(error, match="(?s)" + message.replace("2 row", "3 row")):
        penalty_path(X, np.zeros(5, int), 1)


@pytest.mark.parametrize(("labels", "error", "message"), BAD_LABELS)
def test_bad_labels_of_the_path(labels, error, message):
    X = np.random.default_rng(0).standard_normal((6, 5))
    with pytest.raises(error, match=message):
        penalty_path(X, labels, 1)


def test_two_samples_cannot_be_cross_validated():
    X, labels = random_problem(0, n_samples=2)
    with pytest.raises(ValueError, match=r"X must be .*at least 3 row\(s\).*2 sample"):
        penalized_directions(X, labels, 1, "cv")
