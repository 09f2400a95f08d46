"""Directions against independent ways: objective, closed forms, signs, invariances, ties."""

from __future__ import annotations

import numpy as np
import pytest
from finders import FINDERS, every_finder, seeds
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from sklearn.decomposition import PCA
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
)

from informed.directions import (
    averaged_directions,
    exact_directions,
    pca_directions,
    penalized_directions,
    reconstruction_error,
    reconstruction_gradient,
    subspace_error,
)
from informed.directions.solvers import fix_signs, unit_columns

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
