"""Directions against explicit formulas, their invariances, their memory and their refusals."""

from __future__ import annotations

import dataclasses
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from test_clusters import BAD_DATA, BAD_LABELS
from toy import (
    Array,
    covariance,
    explicit_indicator,
    leading,
    projector,
    random_problem,
    reconstruction,
    same_examples,
    same_up_to_sign,
    true_toy_directions,
    two_types,
)

from informed.datasets import make_two_types
from informed.directions import (
    Directions,
    averaged_directions,
    exact_directions,
    fix_signs,
    gradient_directions,
    pca_directions,
    penalized_directions,
    penalty_path,
    reconstruction_error,
    reconstruction_gradient,
    subspace_error,
    unit_columns,
)

seeds = st.integers(0, 2**32 - 1)

Find = Callable[[Array, Array, int], Directions]

FINDERS: dict[str, Find] = {
    "pca": lambda X, labels, d: pca_directions(X, d),
    "averaged": averaged_directions,
    "exact": exact_directions,
    "gradient": gradient_directions,
    "penalized": lambda X, labels, d: penalized_directions(X, labels, d, 2.0),
    "hard": lambda X, labels, d: penalized_directions(X, labels, d, np.inf),
    "cv": lambda X, labels, d: penalized_directions(X, labels, d, "cv"),
}
every_finder = pytest.mark.parametrize("find", FINDERS.values(), ids=FINDERS.keys())


def stopped_early(*args: object, **kwargs: object) -> Directions:
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter"):
        return gradient_directions(*args, **kwargs)


# ---------------------------------------------------------------------- objective and gradient


@same_examples
@given(seeds, st.integers(1, 5))
def test_reconstruction_error_is_the_trace_formula(seed, d):
    X, _ = random_problem(seed)
    U = np.random.default_rng(seed).standard_normal((12, d))
    assert reconstruction_error(X, U) == pytest.approx(reconstruction(covariance(X), U), rel=1e-9)


@same_examples
@given(seeds, st.integers(1, 4))
def test_gradient_against_finite_differences(seed, d):
    X, _ = random_problem(seed, n_features=7)
    U = 0.5 * np.random.default_rng(seed).standard_normal((7, d))
    numeric = np.empty_like(U)
    h = 1e-5
    for index in np.ndindex(*U.shape):
        plus, minus = U.copy(), U.copy()
        plus[index] += h
        minus[index] -= h
        difference = reconstruction_error(X, plus) - reconstruction_error(X, minus)
        numeric[index] = difference / (2 * h)
    found = reconstruction_gradient(X, U)
    np.testing.assert_allclose(found, numeric, atol=1e-7 * np.abs(numeric).max())
    S, rest = covariance(X), np.eye(7) - U @ U.T
    np.testing.assert_allclose(found, -2 * (rest @ S + S @ rest) @ U, rtol=1e-8, atol=1e-8)


# ------------------------------------------------------------------------------ subspace error


@pytest.mark.parametrize("norm", ["fro", 2])
@pytest.mark.parametrize("orthonormal", [True, False])
@pytest.mark.parametrize(("d", "e"), [(2, 2), (1, 3), (5, 6)])
def test_subspace_error_against_explicit_projectors(norm, orthonormal, d, e):
    rng = np.random.default_rng(d)
    U, V = rng.standard_normal((9, d)), 2 * rng.standard_normal((9, e))
    if orthonormal:
        U, V = np.linalg.qr(U)[0], np.linalg.qr(V)[0]
    expected = np.linalg.norm(U @ U.T - V @ V.T, norm)
    assert subspace_error(U, V, norm=norm) == pytest.approx(expected, rel=1e-10)
    assert subspace_error(V, U, norm=norm) == pytest.approx(expected, rel=1e-10)


@same_examples
@given(seeds, st.integers(1, 4))
def test_subspace_error_forgets_rotations_and_knows_angles(seed, d):
    rng = np.random.default_rng(seed)
    U, rotation = (np.linalg.qr(rng.standard_normal((size, d)))[0] for size in (10, d))
    assert subspace_error(U, U @ rotation) < 1e-14 * 10
    V = np.linalg.qr(rng.standard_normal((10, d)))[0]
    angles = linalg.subspace_angles(U, V)
    assert subspace_error(U, V) == pytest.approx(np.sqrt(2 * np.sum(np.sin(angles) ** 2)))
    assert subspace_error(U, V, norm=2) == pytest.approx(np.sin(angles).max())


# --------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("n_samples", [6, 80])
@pytest.mark.parametrize("seed", range(4))
def test_pca_against_eigh_and_scikit_learn(seed, n_samples):
    X, _ = random_problem(seed, n_samples)
    found = pca_directions(X, 4)
    U, values = leading(covariance(X), 4)
    assert same_up_to_sign(found.directions, U) < 1e-9
    np.testing.assert_allclose(found.variances, values)
    np.testing.assert_allclose(found.pca_variances, values)
    reference = PCA(4).fit(X)
    assert same_up_to_sign(found.directions, reference.components_.T) < 1e-9
    np.testing.assert_allclose(found.variances, reference.explained_variance_)
    assert (found.n_iter, found.converged, found.penalty) == (0, True, 0.0)
    assert found.history.size == 0


@pytest.mark.parametrize("n_samples", [6, 80])
@pytest.mark.parametrize("seed", range(4))
def test_exact_against_eigh_in_the_span_of_the_indicators(seed, n_samples):
    X, labels = random_problem(seed, n_samples, n_clusters=5)
    found = exact_directions(X, labels, 4)
    H, S = explicit_indicator(labels), covariance(X)
    values, T = linalg.eigh(H.T @ S @ H, subset_by_index=[1, 4])
    assert same_up_to_sign(found.directions, (H @ T)[:, ::-1]) < 1e-9
    np.testing.assert_allclose(found.variances, values[::-1])
    np.testing.assert_allclose(found.pca_variances, leading(S, 4)[1])
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(projector(labels) @ found.directions, found.directions, atol=1e-12)
    assert (found.n_iter, found.converged, found.penalty) == (0, True, np.inf)
    assert found.history.size == 0


@same_examples
@given(seeds)
def test_no_random_competitor_in_the_span_beats_exact(seed):
    X, labels = random_problem(seed)
    H, rng = explicit_indicator(labels), np.random.default_rng(seed)
    best = reconstruction_error(X, exact_directions(X, labels, 2).directions)
    for _ in range(20):
        T = np.linalg.qr(rng.standard_normal((4, 2)))[0]
        assert best <= reconstruction_error(X, H @ T)


@every_finder
def test_variances_are_those_along_the_unit_directions(find):
    X, labels = random_problem(3)
    found = find(X, labels, 3)
    unit = found.directions / np.linalg.norm(found.directions, axis=0)
    np.testing.assert_allclose(found.variances, np.var(X @ unit, axis=0, ddof=1))
    np.testing.assert_allclose(found.pca_variances, leading(covariance(X), 3)[1])
    assert found.directions.shape == (12, 3)


def test_singletons_and_one_cluster():
    X, _ = random_problem(0)
    alone = exact_directions(X, np.arange(12), 3)
    np.testing.assert_allclose(alone.directions, pca_directions(X, 3).directions, atol=1e-9)
    together = exact_directions(X, np.zeros(12, int), 1)
    np.testing.assert_allclose(together.directions, np.full((12, 1), 1 / np.sqrt(12)))
    assert together.variances[0] == pytest.approx(12 * np.var(X.mean(axis=1), ddof=1))


# ------------------------------------------------------------------------ the paper's iteration


def naive_iteration(
    X: Array, labels: Array, d: int, step: str, n_steps: int
) -> tuple[Array, list[float]]:
    """Gradient projection as printed, with Σ and H Hᵀ as p × p matrices."""
    S, average = covariance(X), projector(labels)
    identity = np.eye(len(S))
    U = leading(S, d)[0]
    history = [reconstruction(S, U)]
    largest = np.linalg.eigvalsh(average @ S @ average)[-1]
    for number in range(n_steps):
        rest = identity - U @ U.T
        G = rest @ S @ U + S @ rest @ U
        if number == 0:
            G = np.zeros_like(G)  # at PCA's directions it is zero but for rounding
        size = np.linalg.norm(G, 2)
        alpha = 1 / (4 * largest) if step == "constant" else 0.1 / size if size else 0
        U = average @ (U + alpha * G)
        history.append(reconstruction(S, U))
    return U / np.linalg.norm(U, axis=0), history


@pytest.mark.parametrize("step", ["constant", "paper"])
@pytest.mark.parametrize("n_steps", [1, 2, 7, 60])
@pytest.mark.parametrize(("seed", "n_samples"), [(0, 25), (1, 6)])
def test_reduced_iteration_is_the_one_in_full_space(step, n_steps, seed, n_samples):
    X, labels = random_problem(seed, n_samples)
    found = stopped_early(X, labels, 3, step=step, max_iter=n_steps)
    U, history = naive_iteration(X, labels, 3, step, n_steps)
    assert same_up_to_sign(found.directions, U) < 1e-9
    np.testing.assert_allclose(found.history, history, rtol=1e-10)
    assert found.n_iter == n_steps
    assert not found.converged


@pytest.mark.parametrize("step", ["constant", "paper"])
def test_reduced_iteration_on_the_toy(step):
    X, labels = two_types(30, 0)
    keep = slice(None, None, 6)
    X, labels = X[:, keep], labels[keep]
    found = stopped_early(X, labels, 18, step=step, max_iter=25)
    U, history = naive_iteration(X, labels, 18, step, 25)
    assert same_up_to_sign(found.directions, U) < 1e-8
    np.testing.assert_allclose(found.history, history, rtol=1e-9)


@same_examples
@given(seeds, st.integers(1, 4), st.sampled_from([6, 25]))
def test_constant_step_converges_to_the_closed_form(seed, d, n_samples):
    X, labels = random_problem(seed, n_samples)
    values = exact_directions(X, labels, 4).variances
    if d < 4 and values[d - 1] < 1.05 * values[d]:
        return  # nearly tied: the subspace itself is hardly determined
    found, exact = gradient_directions(X, labels, d), exact_directions(X, labels, d)
    assert found.converged
    assert subspace_error(found.directions, exact.directions) < 1e-6
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(d), atol=1e-6)
    assert found.history[-1] == pytest.approx(reconstruction_error(X, exact.directions))


@same_examples
@given(seeds, st.integers(1, 4))
def test_history_of_the_constant_step_never_rises_after_averaging(seed, d):
    X, labels = random_problem(seed)
    found = gradient_directions(X, labels, d)
    assert len(found.history) == found.n_iter + 1
    assert found.history[1] >= found.history[0]
    assert np.all(np.diff(found.history[1:]) <= 1e-12 * found.history[1])
    assert found.history[0] == pytest.approx(
        reconstruction_error(X, pca_directions(X, d).directions), rel=1e-9
    )


def test_threshold_sets_when_it_stops():
    X, labels = random_problem(0)
    runs = [gradient_directions(X, labels, 3, tol=tol) for tol in (1e-2, 1e-5, 1e-8)]
    assert runs[0].n_iter < runs[1].n_iter < runs[2].n_iter
    assert all(run.converged for run in runs)
    exact = exact_directions(X, labels, 3).directions
    errors = [subspace_error(run.directions, exact) for run in runs]
    assert errors[0] > errors[1] > errors[2]
    np.testing.assert_array_equal(runs[2].history[: runs[0].n_iter + 1], runs[0].history)


def test_early_stop_warns_at_the_call_and_says_what_to_do():
    X, labels = random_problem(0)
    with pytest.warns(ConvergenceWarning) as record:
        found = gradient_directions(X, labels, 3, max_iter=4, tol=1e-7)
    message = str(record[0].message)
    for part in ("max_iter=4", "tol=1e-07", "raise max_iter", "exact_directions"):
        assert part in message
    assert record[0].filename == __file__
    assert len(record) == 1
    assert not found.converged


def test_convergence_is_silent():
    X, labels = random_problem(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradient_directions(X, labels, 3).converged


def test_data_that_fit_the_clusters_need_no_step():
    _, labels = random_problem(0)
    X = np.random.default_rng(0).standard_normal((9, 4))[:, labels]
    for step in ("constant", "paper"):
        found = gradient_directions(X, labels, 3, step=step)
        assert found.n_iter == 2  # averaging, and one step that moves nothing
        np.testing.assert_allclose(found.directions, pca_directions(X, 3).directions, atol=1e-9)


def test_direction_that_averages_to_zero_is_refused():
    X = np.array([[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, -0.5, -0.5]])
    labels = [0, 0, 1, 1]
    with pytest.raises(ValueError, match="direction 0 averages to zero over the clusters"):
        gradient_directions(X, labels, 1)
    averaged = averaged_directions(X, labels, 1)  # the formula's own answer: nothing is left
    np.testing.assert_allclose(averaged.directions, 0, atol=1e-15)
    exact = exact_directions(X, labels, 1)
    np.testing.assert_allclose(exact.directions.T, [[0, 0, np.sqrt(0.5), np.sqrt(0.5)]], atol=1e-15)


def test_directions_that_averaging_makes_dependent_stay_so():
    axes = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, -1, 0], [0, 1, 0, -1]]) / np.sqrt(2)
    X = np.vstack([axes, -axes]) * np.sqrt(np.tile([3, 2, 1, 0.5], 2))[:, None]
    labels = [0, 0, 1, 1]
    found = gradient_directions(X, labels, 2)
    np.testing.assert_allclose(found.directions, 0.5)
    assert found.history[-1] > reconstruction_error(X, exact_directions(X, labels, 2).directions)


# --------------------------------------------------------------------- the toy problem (§5)


@pytest.mark.parametrize(("n_samples", "seed"), [(20, 0), (40, 1), (100, 0), (100, 1), (100, 2)])
def test_toy_exact_directions_span_the_true_eigenspace(n_samples, seed):
    X, labels = two_types(n_samples, seed)
    found = exact_directions(X, labels, 18).directions
    for norm in ("fro", 2):
        assert subspace_error(found, true_toy_directions(), norm=norm) < 1e-10
    pca = pca_directions(X, 18).directions
    assert subspace_error(pca, true_toy_directions()) > 2


@pytest.mark.parametrize(("n_samples", "seed"), [(100, 0), (100, 1), (40, 0)])
def test_toy_gradient_reaches_the_same_projector(n_samples, seed):
    X, labels = two_types(n_samples, seed)
    found = gradient_directions(X, labels, 18)
    assert found.converged
    assert subspace_error(found.directions, exact_directions(X, labels, 18).directions) < 1e-6
    assert subspace_error(found.directions, true_toy_directions()) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_toy_of_the_library(seed):
    toy = make_two_types(100, random_state=seed)
    truth = toy.eigenvectors(18)
    exact = exact_directions(toy.X, toy.feature_labels, 18).directions
    assert subspace_error(exact, truth) < 1e-10
    assert subspace_error(exact, truth, norm=2) < 1e-10
    gradient = gradient_directions(toy.X, toy.feature_labels, 18)
    assert subspace_error(gradient.directions, truth) < 1e-6


@pytest.mark.parametrize(
    ("n_samples", "after_200", "after_2000"), [(40, (0.05, 1.5), 1e-4), (100, (0.005, 0.1), 1e-5)]
)
@pytest.mark.parametrize("seed", range(3))
def test_toy_the_papers_rule_never_settles(n_samples, after_200, after_2000, seed):
    X, labels = two_types(n_samples, seed)
    early = stopped_early(X, labels, 18, step="paper", max_iter=200)
    low, high = after_200
    assert low < subspace_error(early.directions, true_toy_directions()) < high
    late = stopped_early(X, labels, 18, step="paper", max_iter=2000)
    assert subspace_error(late.directions, true_toy_directions()) > after_2000
    np.testing.assert_array_equal(late.history[:201], early.history)
    # Every second step undoes the one before: the error jumps by 10 (of 400) for ever.
    jumps = np.diff(late.history[-100:])
    assert np.all(np.abs(jumps) > 10)
    assert np.all(jumps[1:] * jumps[:-1] < 0)


def test_the_papers_rule_settles_where_the_clusters_fit_badly():
    # A part of G sticks out of the span of H, so that normalising it keeps the steps in proportion.
    X, labels = random_problem(0, n_features=30)
    X += 4 * np.random.default_rng(1).standard_normal(X.shape)
    found = gradient_directions(X, labels, 3, step="paper")
    assert found.converged
    exact = exact_directions(X, labels, 3).directions
    assert subspace_error(found.directions, exact) < 1e-6


# ------------------------------------------------------------------------------- signs


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "averaged"])
@pytest.mark.parametrize("seed", range(5))
def test_largest_entry_is_positive(name, seed):
    X, labels = random_problem(seed)
    U = FINDERS[name](X, labels, 3).directions
    assert np.all(U[np.argmax(np.abs(U), axis=0), range(3)] > 0)


def test_averaged_directions_keep_the_signs_of_pca():
    signs = []
    for seed in range(20):
        X, labels = random_problem(seed)
        U = averaged_directions(X, labels, 3).directions
        assert np.all(np.sum(U * pca_directions(X, 3).directions, axis=0) > 0)
        signs.extend(U[np.argmax(np.abs(U), axis=0), range(3)] > 0)
    assert not all(signs)  # as the rule for the others would have it


@pytest.mark.parametrize(
    ("column", "sign"),
    [
        ([-2, 1, 1], -1),
        ([1, -2, 1], -1),
        ([1, 2, -1], 1),
        ([-1, 1], -1),  # a tie: the first one counts
        ([1, -1], 1),
        ([-1, 1 + 1e-8], -1),  # nearly a tie, either way
        ([-1, 1 - 1e-8], -1),
        ([-1, 1 + 1e-4], 1),  # no tie
        ([0.3, -1, 1 + 1e-8], -1),
        ([0, 0, 0], 1),
    ],
)
def test_sign_rule(column, sign):
    U = np.array(column, dtype=float)[:, None]
    np.testing.assert_array_equal(fix_signs(U), sign * U)
    np.testing.assert_array_equal(fix_signs(-U), sign * U)


@same_examples
@given(seeds)
def test_rounding_cannot_flip_a_sign(seed):
    # Directions in the span of H have as many equal largest entries as the cluster has features.
    rng = np.random.default_rng(seed)
    U = explicit_indicator(np.arange(12) % 3) @ np.linalg.qr(rng.standard_normal((3, 2)))[0]
    shaken = U * (1 + 1e-9 * rng.standard_normal(U.shape))
    np.testing.assert_allclose(fix_signs(shaken), fix_signs(U), atol=1e-7)


# --------------------------------------------------------------------------- invariances


@every_finder
@same_examples
@given(seed=seeds, scale=st.floats(1e-2, 1e2), sign=st.sampled_from([-1, 1]))
def test_scaling_the_data_scales_the_variances_only(find, seed, scale, sign):
    if find is FINDERS["penalized"]:

        def find_scaled(X, labels, d):
            return penalized_directions(X, labels, d, 2.0 * scale**2)
    else:
        find_scaled = find
    X, labels = random_problem(seed)
    before, after = find(X, labels, 2), find_scaled(sign * scale * X, labels, 2)
    np.testing.assert_allclose(after.directions, before.directions, atol=1e-5)
    np.testing.assert_allclose(after.variances, scale**2 * before.variances, rtol=1e-6)
    np.testing.assert_allclose(after.pca_variances, scale**2 * before.pca_variances, rtol=1e-8)


@every_finder
@same_examples
@given(seed=seeds)
def test_translation_changes_nothing(find, seed):
    X, labels = random_problem(seed)
    moved = X + 100 * np.random.default_rng(seed).standard_normal(12)
    before, after = find(X, labels, 2), find(moved, labels, 2)
    np.testing.assert_allclose(after.directions, before.directions, atol=1e-5)
    np.testing.assert_allclose(after.variances, before.variances, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "cv"])
@same_examples
@given(seed=seeds)
def test_order_of_samples_does_not_matter(name, seed):
    # Cross-validation is left out: which samples share a fold depends on their order.
    X, labels = random_problem(seed)
    shuffled = X[np.random.default_rng(seed).permutation(len(X))]
    before, after = FINDERS[name](X, labels, 2), FINDERS[name](shuffled, labels, 2)
    np.testing.assert_allclose(after.directions, before.directions, atol=1e-5)
    np.testing.assert_allclose(after.variances, before.variances, rtol=1e-6)


@every_finder
@same_examples
@given(seed=seeds)
def test_directions_follow_a_permutation_of_the_features(find, seed):
    X, labels = random_problem(seed)
    order = np.random.default_rng(seed).permutation(12)
    before, after = find(X, labels, 2), find(X[:, order], labels[order], 2)
    np.testing.assert_allclose(after.directions, before.directions[order], atol=1e-5)
    np.testing.assert_allclose(after.variances, before.variances, rtol=1e-6)


@every_finder
@same_examples
@given(seed=seeds)
def test_numbering_of_the_clusters_does_not_matter(find, seed):
    X, labels = random_problem(seed)
    renumbered = np.random.default_rng(seed).permutation(4)[labels]
    before, after = find(X, labels, 2), find(X, renumbered, 2)
    np.testing.assert_allclose(after.directions, before.directions, atol=1e-5)


# ------------------------------------------------------------------- ties and lack of rank


def cross(*variances: float) -> Array:
    """Samples on the axes whose covariance is exactly diagonal, with these variances."""
    n = 2 * len(variances)
    axes = np.diag(np.sqrt(np.array(variances) * (n - 1) / 2))
    return np.vstack([axes, -axes])


def test_tied_variances_determine_the_subspace_only():
    X = cross(5, 5, 1, 1)
    for found in (pca_directions(X, 2), exact_directions(X, [0, 1, 2, 3], 2)):
        np.testing.assert_allclose(found.variances, [5, 5])
        assert subspace_error(found.directions, np.eye(4)[:, :2]) < 1e-12
    # A cut through a tie: some unit vector of the tied plane, and the right variance.
    cut = pca_directions(X, 1)
    assert np.linalg.norm(cut.directions[:2]) == pytest.approx(1)
    assert cut.variances[0] == pytest.approx(5)


def test_tied_cluster_means():
    labels = np.array([0, 0, 1, 1, 2, 2])
    X = cross(3, 3, 1)[:, labels]
    found = exact_directions(X, labels, 2)
    np.testing.assert_allclose(found.variances, [6, 6])
    assert subspace_error(found.directions, explicit_indicator(labels)[:, :2]) < 1e-12


@every_finder
def test_more_directions_than_the_data_have_rank(find):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 6)) + 7
    labels = np.array([0, 1, 2, 0, 1, 2])
    assert find(X, labels, 2).directions.shape == (6, 2)
    message = r"n_components=3 is out of range: the rank of the (centred data|cluster means) is 2"
    with pytest.raises(ValueError, match=message):
        find(X, labels, 3)


@pytest.mark.parametrize("name", ["exact", "hard"])
def test_more_directions_than_the_cluster_means_have_rank(name):
    X, _ = random_problem(0, n_features=6)
    labels = np.array([0, 0, 1, 1, 2, 2])
    X[:, 1] = -X[:, 0]  # full rank, but the mean of cluster 0 is constant
    assert FINDERS[name](X, labels, 2).directions.shape == (6, 2)
    message = "n_components=3 is out of range: the rank of the cluster means is 2"
    with pytest.raises(ValueError, match=message):
        FINDERS[name](X, labels, 3)


@every_finder
def test_constant_data_have_no_directions(find):
    with pytest.raises(ValueError, match=r"n_components=1 is out of range: .* is 0"):
        find(np.full((6, 4), 0.1), np.array([0, 0, 1, 1]), 1)


def test_two_samples_have_one_direction():
    X = np.array([[0.0, 0, 0], [3, 0, 4]])
    found = pca_directions(X, 1)
    np.testing.assert_allclose(found.directions.T, [[0.6, 0, 0.8]], atol=1e-15)
    assert found.variances[0] == pytest.approx(12.5)
    with pytest.raises(ValueError, match=r"n_components=2 .*from 1 to 1 .*rank at most 1"):
        pca_directions(X, 2)


def test_unit_columns():
    U = np.array([[3.0, 0], [4, 2]])
    np.testing.assert_allclose(unit_columns(U), [[0.6, 0], [0.8, 1]])
    with pytest.raises(ValueError, match="direction 1 averages to zero"):
        unit_columns(np.array([[1.0, 0], [0, 1e-17]]))


# ---------------------------------------------------------------- types, purity and memory


@every_finder
def test_float32_stays_float32(find):
    X, labels = random_problem(0)
    X -= X.mean(axis=0)
    double, single = find(X, labels, 2), find(X.astype(np.float32), labels, 2)
    for name in ("directions", "variances", "pca_variances"):
        assert getattr(single, name).dtype == np.float32
        assert getattr(double, name).dtype == np.float64
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), atol=1e-3)
    assert single.converged


@every_finder
def test_lists_and_integers_are_accepted_and_arguments_left_alone(find):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-9, 9, (12, 6)), np.array([0, 1, 2, 0, 1, 2])
    kept, kept_labels = X.copy(), labels.copy()
    found = find(X, labels, 2)
    as_lists = find(X.tolist(), labels.tolist(), 2)
    np.testing.assert_array_equal(found.directions, as_lists.directions)
    X = X.astype(float)
    find(X, labels, 2)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(labels, kept_labels)


def test_result_is_frozen():
    found = pca_directions(random_problem(0)[0], 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n_iter = 3  # type: ignore[misc]


WIDE = (40, 6000)


def wide_problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = np.arange(WIDE[1]) % 5
    return rng.standard_normal((WIDE[0], 5))[:, labels] + rng.standard_normal(WIDE), labels


def peak_memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


WIDE_WORK: dict[str, Callable[[Array, Array], object]] = {
    **{name: partial(lambda find, X, labels: find(X, labels, 3), f) for name, f in FINDERS.items()},
    "paper": lambda X, labels: gradient_directions(X, labels, 3, step="paper", tol=1e-2),
    "path": lambda X, labels: penalty_path(X, labels, 3),
    "error": lambda X, labels: reconstruction_error(X, X[:3].T),
    "gradient of R": lambda X, labels: reconstruction_gradient(X, X[:3].T),
    "subspace": lambda X, labels: subspace_error(X[:3].T, X[3:6].T),
}


@pytest.mark.parametrize("name", WIDE_WORK)
def test_no_matrix_of_features_by_features(name):
    X, labels = wide_problem()
    square = 8 * WIDE[1] ** 2
    assert peak_memory(lambda: WIDE_WORK[name](X, labels)) < square / 10
    assert peak_memory(lambda: np.zeros((WIDE[1], WIDE[1]))) >= square  # it would be noticed


@pytest.mark.parametrize("name", ["pca", "averaged", "exact", "gradient", "penalized", "path"])
def test_no_matrix_of_samples_by_samples(name):
    X, labels = random_problem(0, n_samples=3000)

    def work():
        if name == "path":
            penalty_path(X, labels, 3, penalties=[1.0], n_folds=2)
        else:
            FINDERS[name](X, labels, 3)

    assert peak_memory(work) < 8 * 3000**2 / 10


# --------------------------------------------------------------------------------- bad input


@every_finder
@pytest.mark.parametrize(("X", "error", "message"), BAD_DATA)
def test_bad_data(find, X, error, message):
    with pytest.raises(error, match="(?s)" + message):
        find(X, np.zeros(5, int), 1)


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "pca"])
@pytest.mark.parametrize(("labels", "error", "message"), BAD_LABELS)
def test_bad_labels(name, labels, error, message):
    X = np.random.default_rng(0).standard_normal((6, 5))
    with pytest.raises(error, match=message):
        FINDERS[name](X, labels, 1)


@every_finder
@pytest.mark.parametrize(
    ("n_components", "error", "message"),
    [
        (0, ValueError, "n_components=0 is out of range: it must be an integer from 1 to 5"),
        (-1, ValueError, "n_components=-1 is out of range: it must be an integer from 1 to 5"),
        (6, ValueError, r"n_components=6 .*1 to 5 \(centred data of shape \(6, 8\) has rank at mo"),
        (1.0, TypeError, "n_components must be an integer from 1 to 5.*got 1.0 of type float"),
        ("1", TypeError, "n_components must be an integer from 1 to 5.*got '1' of type str"),
        (None, TypeError, "n_components must be an integer from 1 to 5.*got None of type"),
        (True, TypeError, "n_components must be an integer from 1 to 5.*got True of type bool"),
    ],
)
def test_bad_number_of_components(find, n_components, error, message):
    X = np.random.default_rng(0).standard_normal((6, 8))
    with pytest.raises(error, match=message):
        find(X, np.arange(8) % 4, n_components)


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "pca"])
def test_more_components_than_clusters(name):
    X, labels = random_problem(0)
    message = r"n_components=5 .*from 1 to 4 \(labels hold 4 clusters\)"
    with pytest.raises(ValueError, match=message):
        FINDERS[name](X, labels, 5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"step": "fast"}, ValueError, r"step='fast' is unknown: .*\['constant', 'paper'\]"),
        ({"step": 0.1}, ValueError, r"step=0.1 is unknown: .*\['constant', 'paper'\]"),
        ({"max_iter": 0}, ValueError, "max_iter=0 is out of range: it must be an integer >= 1"),
        ({"max_iter": 1e3}, TypeError, "max_iter must be an integer >= 1, got 1000.0 of type"),
        ({"tol": -1e-3}, ValueError, "tol=-0.001 is out of range: .* finite number >= 0"),
        ({"tol": np.nan}, ValueError, "tol=nan is out of range: .* finite number >= 0"),
        ({"tol": np.inf}, ValueError, "tol=inf is out of range: .* finite number >= 0"),
        ({"tol": "1"}, TypeError, "tol must be a finite number >= 0, got '1' of type str"),
        ({"tol": True}, TypeError, "tol must be a finite number >= 0, got True of type bool"),
    ],
)
def test_bad_iteration_arguments(arguments, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        gradient_directions(X, labels, 2, **arguments)


@pytest.mark.parametrize("function", [reconstruction_error, reconstruction_gradient])
def test_bad_arguments_of_the_objective(function):
    X, _ = random_problem(0)
    with pytest.raises(ValueError, match="U has 3 rows: it must have one for each of X's 12 feat"):
        function(X, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"(?s)U must be a dense matrix.*1D"):
        function(X, np.ones(12))
    with pytest.raises(ValueError, match=r"X must be .*at least 2 row"):
        function(X[:1], np.ones((12, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((3, 1)), np.ones((4, 1))), "U has 3 rows and V has 4"),
        ((np.ones(3), np.ones((3, 1))), "(?s)U must be a dense matrix"),
        ((np.ones((3, 1)), [[np.nan]] * 3), "V must be .*finite.*NaN"),
        ((np.ones((3, 1)), np.ones((3, 1)), 1), "norm=1 is unknown: it must be 'fro' or 2"),
        ((np.ones((3, 1)), np.ones((3, 1)), "nuc"), "norm='nuc' is unknown: it must be 'fro' or 2"),
    ],
)
def test_bad_arguments_of_the_subspace_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        subspace_error(*arguments)
