"""One weight for each direction: against brute force, against the planes of the proof, in use."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters import average_over_clusters, cluster_features, indicator
from informed.datasets import mixed_toy
from informed.directions import (
    DirectionWeights,
    analytic_penalty,
    choose_penalty,
    direction_weights,
    exact_directions,
    pca_directions,
    penalized_directions,
    penalty_path,
    reconstruction_error,
    subspace_error,
)
from informed.directions.penalty import cap_errors, default_grid, held_out_errors


def problem(seed, n=15, p=9, k=4, n_targets=2):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=p - k)])
    X = rng.normal(size=(n, p)) * np.linspace(2, 0.5, p)
    targets = np.linalg.qr(rng.normal(size=(k, n_targets)))[0]
    base = float(rng.uniform(0, 1))
    weights = base + rng.exponential(2.0, size=n_targets)
    return X, labels, DirectionWeights(targets, weights, base)


def cost(X, labels, weights, U):
    """Evaluate the objective as written: every target, and a basis of the rest of the span."""
    H = indicator(labels)
    rest = np.linalg.svd(weights.targets, full_matrices=True)[0][:, weights.targets.shape[1] :]
    pulls = [
        *zip(weights.weights, weights.targets.T, strict=True),
        *((weights.base, t) for t in rest.T),
    ]
    outside = np.eye(len(H)) - U @ U.T
    return reconstruction_error(X, U) + sum(w * np.sum((outside @ H @ t) ** 2) for w, t in pulls)


def descend(X, labels, weights, U, n_steps=3000):
    """Projected gradient on the Stiefel manifold, without any eigenvectors of the problem."""
    H = indicator(labels)
    Xc = X - X.mean(axis=0)
    k, r = weights.targets.shape
    A = weights.base * np.eye(k)
    for j in range(r):
        t = weights.targets[:, j]
        A = A + (weights.weights[j] - weights.base) * np.outer(t, t)
    M = Xc.T @ Xc / (len(X) - 1) + H @ A @ H.T
    step = 0.5 / np.trace(M)
    for _ in range(n_steps):
        G = M @ U
        U = np.linalg.qr(U + step * (G - U @ (U.T @ G)))[0]
    return U


# ------------------------------------------------------------------------- the problem it solves


@pytest.mark.parametrize("seed", range(3))
def test_no_directions_that_descent_finds_cost_less(seed):
    X, labels, weights = problem(seed)
    found = penalized_directions(X, labels, 2, weights).directions
    least = cost(X, labels, weights, found)
    rng = np.random.default_rng(100 + seed)
    ends = []
    for _ in range(3):
        start = np.linalg.qr(rng.normal(size=(X.shape[1], 2)))[0]
        assert cost(X, labels, weights, start) > least
        ends.append(cost(X, labels, weights, descend(X, labels, weights, start)))
    assert min(ends) >= least - 1e-9
    assert min(ends) == pytest.approx(least, rel=1e-6)


@given(seed=st.integers(0, 10_000), weight=st.floats(0.01, 50))
@settings(max_examples=15, deadline=None)
def test_equal_weights_are_the_single_penalty(seed, weight):
    X, labels, mixed = problem(seed)
    equal = DirectionWeights(mixed.targets, np.full(2, weight), weight)
    one = penalized_directions(X, labels, 2, weight)
    assert subspace_error(penalized_directions(X, labels, 2, equal).directions, one.directions) < (
        1e-6
    )
    # A cap below all weights makes them equal.
    low = mixed.capped(mixed.base / 2)
    again = penalized_directions(X, labels, 2, mixed.base / 2)
    assert subspace_error(penalized_directions(X, labels, 2, low).directions, again.directions) < (
        1e-6
    )


def test_infinite_weights_reach_their_targets_and_infinite_base_is_the_hard_constraint():
    X, labels, mixed = problem(5)
    firm = DirectionWeights(mixed.targets, np.array([np.inf, np.inf]), 0.1)
    found = penalized_directions(X, labels, 2, firm)
    assert found.penalty == np.inf
    assert subspace_error(found.directions, indicator(labels) @ mixed.targets) < 1e-5
    all_firm = DirectionWeights(mixed.targets, np.array([np.inf, np.inf]), np.inf)
    hard = exact_directions(X, labels, 2).directions
    assert_array_equal(penalized_directions(X, labels, 2, all_firm).directions, hard)


@pytest.mark.parametrize("seed", range(3))
def test_equal_strengths_fall_apart_into_planes(seed):
    # For a covariance σ²I + ℓUUᵀ the solution is a_j + f_j b_j with f_j = 1 − η_j/(ω_j − σ²).
    rng = np.random.default_rng(seed)
    p, d, ell, noise = 12, 3, 5.0, 0.7
    labels = np.arange(p) % 5
    U = np.linalg.qr(
        average_over_clusters(rng.normal(size=(p, d)), labels) + rng.normal(size=(p, d))
    )[0]
    Z = rng.normal(size=(40, p))
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0]
    scales = np.sqrt(noise) * np.eye(p) + (np.sqrt(noise + ell) - np.sqrt(noise)) * U @ U.T
    X = np.sqrt(39) * Z @ scales
    H = indicator(labels)
    cosines, V = np.linalg.eigh(U.T @ H @ H.T @ U)
    R = U @ V
    a = average_over_clusters(R, labels)
    b = R - a
    # The parts of different planes are orthogonal, inside and outside.
    assert_allclose(a.T @ a, np.diag(cosines), atol=1e-12)
    assert_allclose(b.T @ b, np.diag(1 - cosines), atol=1e-12)
    eta = rng.exponential(4.0, size=d)
    weights = DirectionWeights(H.T @ a / np.sqrt(cosines), eta, float(eta.min()))
    found = penalized_directions(X, labels, d, weights).directions
    A = H @ weights.root(np.inf)
    omega = [
        np.linalg.eigvalsh(Q.T @ (scales @ scales + A @ A.T) @ Q)[-1]
        for Q in (np.linalg.qr(np.column_stack([a[:, j], b[:, j]]))[0] for j in range(d))
    ]
    f = 1 - eta / (np.array(omega) - noise)
    assert subspace_error(np.linalg.qr(a + f * b)[0], found) < 1e-6


def test_one_weight_loses_the_weighted_variance_of_the_factors():
    rng = np.random.default_rng(0)
    s, nu = rng.exponential(size=(2, 6))
    best = s / (s + nu)
    each = np.sum(s * nu / (s + nu))
    common = np.sum((s + nu) * best) / np.sum(s + nu)
    grid = np.linspace(0, 1, 20_001)[:, None]
    one = np.min(np.sum((1 - grid) ** 2 * s + grid**2 * nu, axis=1))
    assert one - each == pytest.approx(np.sum((s + nu) * (best - common) ** 2), abs=1e-6)


# ----------------------------------------------------------------------------------- the formula


def two_kinds(n, seed, p=120):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], p // 2)
    loadings = np.column_stack([2.0 * labels - 1, rng.choice([-1.0, 1.0], p)])
    return rng.normal(size=(n, 2)) @ loadings.T + rng.normal(size=(n, p)), labels


@pytest.mark.parametrize("seed", range(3))
def test_clustered_directions_get_large_weights_and_free_ones_small(seed):
    X, labels = two_kinds(50, seed)
    found = direction_weights(X, labels, 2)
    assert found.weights[0] > 20 * found.weights[1]
    assert found.base == found.weights.min()
    assert_allclose(found.targets.T @ found.targets, np.eye(2), atol=1e-9)
    # The free direction alone sets the single weight that the clustered one has to live with.
    one = analytic_penalty(X, labels, 2)
    assert found.weights[1] < one < found.weights[0]


@pytest.mark.parametrize("n", [40, 200])
def test_one_direction_has_the_weight_of_the_formula_for_one(n):
    rng = np.random.default_rng(1)
    labels = np.arange(100) % 5
    u = average_over_clusters(rng.normal(size=100), labels)
    u = u / np.linalg.norm(u) + 0.5 * rng.normal(size=100) / 10
    X = 5 * rng.normal(size=(n, 1)) * u + rng.normal(size=(n, 100))
    single, several = analytic_penalty(X, labels, 1), direction_weights(X, labels, 1)
    # The single weight is one of a grid whose steps are a factor of 1.8.
    assert 1 / 1.8 < several.weights[0] / single < 1.8


def test_noise_alone_asks_for_the_hard_constraint():
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 11)))[0].T
    nothing = direction_weights(X, np.arange(40) % 4, 2)
    assert nothing.base == np.inf
    assert nothing.targets.shape == (4, 0)


def test_clusters_of_one_feature_ask_for_nothing():
    X = np.random.default_rng(0).standard_normal((12, 3)) * [3, 2, 1]
    each = direction_weights(X, [0, 1, 2], 2)
    assert_allclose(each.weights, 0, atol=1e-6)


def test_a_direction_across_the_clusters_has_no_target():
    # Alternating signs within each cluster: nothing of it lies in the span, not even noise.
    u = np.tile([1.0, -1.0], 10)
    X = np.outer([-2.0, -1.0, 0.0, 1.0, 2.0], u)
    found = direction_weights(X, np.repeat([0, 1], 10), 1)
    assert found.targets.shape == (2, 0)
    assert found.base == 0
    assert (
        subspace_error(
            penalized_directions(X, np.repeat([0, 1], 10), 1, found).directions,
            u[:, None] / np.sqrt(20),
        )
        < 1e-7
    )


# ------------------------------------------------------------------------------ choosing and using


@pytest.mark.parametrize("seed", range(2))
def test_weights_for_each_direction_beat_every_single_weight_where_kinds_mix(seed):
    X, truth = mixed_toy(80, 0.0, random_state=seed)
    labels = np.repeat(np.arange(12), (20,) * 6 + (4,) * 6)
    several = penalized_directions(X, labels, 9, direction_weights(X, labels, 9)).directions
    singles = [
        subspace_error(penalized_directions(X, labels, 9, w).directions, truth)
        for w in default_grid(float(pca_directions(X, 1).variances[0]))[::3]
    ]
    assert subspace_error(several, truth) < 0.95 * min(singles)


def test_held_out_errors_are_those_of_the_directions():
    X, labels, mixed = problem(2, n=20)
    train, test = X[:14], X[14:]
    U = penalized_directions(train, labels, 2, mixed).directions
    fresh = test - train.mean(axis=0)
    expected = np.mean(np.sum((fresh - fresh @ U @ U.T) ** 2, axis=1))
    assert held_out_errors(train, test, labels, 2, [mixed])[0] == pytest.approx(expected)


def test_small_caps_are_single_weights_and_large_ones_change_nothing():
    X, labels = two_kinds(40, 3)
    formula = direction_weights(X[:30], labels, 2)
    caps = np.array([0.0, formula.base / 2, 3 * formula.weights.max(), np.inf])
    errors = cap_errors(X[:30], X[30:], labels, 2, caps)
    single = held_out_errors(X[:30], X[30:], labels, 2, caps[:2])
    assert_allclose(errors[:2], single)
    assert_allclose(cap_errors(X[:30], X[30:], labels, 2, caps[:2]), single)
    assert errors[2] == errors[3]
    assert_allclose(errors[3], held_out_errors(X[:30], X[30:], labels, 2, [formula])[0])


def test_rules():
    X, labels = two_kinds(40, 0)
    cv = penalty_path(X, labels, 2).best
    assert choose_penalty(X, labels, 2, "cv") == cv
    assert choose_penalty(X, labels, 2, "capped") == min(cv, analytic_penalty(X, labels, 2))
    chosen = choose_penalty(X, labels, 2, "per-direction")
    assert_allclose(
        penalized_directions(X, labels, 2, "per-direction").directions,
        penalized_directions(X, labels, 2, chosen).directions,
    )
    with pytest.raises(ValueError, match="rule='best' is unknown"):
        choose_penalty(X, labels, 2, "best")


@pytest.mark.parametrize("rule", ["capped", "per-direction"])
def test_estimators_take_the_rules(rule):
    X = two_kinds(30, 1, p=24)[0]
    model = InformedMahalanobis(
        2, 3, directions="penalized", penalty=rule, n_init=2, random_state=0
    ).fit(X)
    again = partial(cluster_features, n_clusters=3, n_init=2, random_state=0)
    chosen = choose_penalty(X, model.labels_, 2, rule, recluster=again)
    expected = penalized_directions(X, model.labels_, 2, chosen)
    assert_allclose(model.directions_, expected.directions, atol=1e-8)
    assert model.penalty_ == pytest.approx(expected.penalty)
    local = LocalInformedMahalanobis(
        10, 2, 3, directions="penalized", penalty=rule, n_init=1, random_state=0
    ).fit(X)
    assert np.isfinite(local.pairwise_distances()).all()
