"""The paper's iteration: where it goes, how fast, and what it does on the toy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from finders import seeds
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from toy import (
    Array,
    covariance,
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
    gradient_directions,
    pca_directions,
    reconstruction_error,
    subspace_error,
)


def stopped_early(*args: object, **kwargs: object) -> Directions:
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter"):
        return gradient_directions(*args, **kwargs)


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
