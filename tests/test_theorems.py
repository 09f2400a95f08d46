"""The numbered statements of the paper, and its errata, each checked in numbers.

Matrices are written out as in the paper (features × features); the library enters where a statement
is about what it computes.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import ConvergenceWarning
from toy import (
    Array,
    covariance,
    explicit_indicator,
    full_rank,
    hidden_square,
    leading,
    projector,
    random_problem,
    reconstruction,
    same_examples,
    true_toy_directions,
    two_types,
)

from informed.clusters import average_over_clusters
from informed.directions import (
    averaged_directions,
    exact_directions,
    gradient_directions,
    pca_directions,
    reconstruction_error,
    reconstruction_gradient,
    subspace_error,
)

seeds = st.integers(0, 2**32 - 1)


def pseudo_inverse(S: Array) -> Array:
    return np.linalg.pinv(S, rcond=1e-10, hermitian=True)


def hidden_model(seed: int, n_features: int, n_hidden: int) -> tuple[Array, Array, Array]:
    """A, Σx, and the appendix's candidate A†ᵀ Σx⁻¹ A† for the pseudo-inverse of A Σx Aᵀ."""
    rng = np.random.default_rng(seed)
    A = full_rank(rng, n_features, n_hidden)
    root = full_rank(rng, n_hidden, n_hidden)
    covariance_x = root @ root.T
    inverse = np.linalg.pinv(A)
    return A, covariance_x, inverse.T @ np.linalg.inv(covariance_x) @ inverse


tall = st.tuples(st.integers(1, 6), st.integers(0, 20)).map(lambda s: (s[0] + s[1], s[0]))


# ------------------------------------------------------------------ T1, C1: hidden distances


@same_examples
@given(seeds, tall)
def test_theorem_2_1_observed_mahalanobis_is_hidden_mahalanobis(seed, shape):
    A, covariance_x, _ = hidden_model(seed, *shape)
    x = np.random.default_rng(seed + 1).standard_normal((6, shape[1]))
    hidden = cdist(x, x, "mahalanobis", VI=np.linalg.inv(covariance_x))
    observed = cdist(x @ A.T, x @ A.T, "mahalanobis", VI=pseudo_inverse(A @ covariance_x @ A.T))
    np.testing.assert_allclose(observed, hidden, rtol=1e-8, atol=1e-8)


@same_examples
@given(seeds, tall)
def test_corollary_unit_covariance_gives_the_euclidean_distance(seed, shape):
    A = full_rank(np.random.default_rng(seed), *shape)
    x = np.random.default_rng(seed + 1).standard_normal((6, shape[1]))
    observed = cdist(x @ A.T, x @ A.T, "mahalanobis", VI=pseudo_inverse(A @ A.T))
    np.testing.assert_allclose(observed, cdist(x, x), rtol=1e-8, atol=1e-8)


@same_examples
@given(seeds, st.integers(1, 4))
def test_theorem_2_1_holds_for_the_sample_covariance(seed, n_hidden):
    # The theorem asks nothing of Σx but to be positive definite, so the sample covariance of the
    # hidden points may stand for it: then the directions of the library recover it to rounding.
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((30, n_hidden)) @ full_rank(rng, n_hidden, n_hidden)
    X = hidden @ full_rank(rng, 40, n_hidden).T + rng.standard_normal(40)
    found = pca_directions(X, n_hidden)
    observed = pdist(X @ (found.directions / np.sqrt(found.variances)))
    expected = pdist(hidden, "mahalanobis", VI=np.linalg.inv(covariance(hidden)))
    np.testing.assert_allclose(observed, expected, rtol=1e-8)


@same_examples
@given(seeds)
def test_invertible_maps_of_the_hidden_space_do_not_change_the_distance(seed):
    rng = np.random.default_rng(seed)
    hidden, A = rng.standard_normal((20, 3)), full_rank(rng, 30, 3)
    transformed = hidden @ full_rank(rng, 3, 3)
    distances = []
    for x in (hidden, transformed):
        found = pca_directions(x @ A.T, 3)
        distances.append(pdist(x @ A.T @ (found.directions / np.sqrt(found.variances))))
    np.testing.assert_allclose(distances[0], distances[1], rtol=1e-8)


# ---------------------------------------------------- A1–A4: the four properties of Penrose

PENROSE = {
    1: lambda S, P: (S @ P @ S, S),
    2: lambda S, P: (P @ S @ P, P),
    3: lambda S, P: ((S @ P).T, S @ P),
    4: lambda S, P: ((P @ S).T, P @ S),
}


@pytest.mark.parametrize("number", PENROSE)
@same_examples
@given(seed=seeds, shape=tall)
def test_penrose_property(number, seed, shape):
    A, covariance_x, candidate = hidden_model(seed, *shape)
    left, right = PENROSE[number](A @ covariance_x @ A.T, candidate)
    np.testing.assert_allclose(left, right, atol=1e-10 * max(1, np.abs(right).max()))


@same_examples
@given(seeds, tall)
def test_penrose_properties_make_it_the_pseudo_inverse(seed, shape):
    A, covariance_x, candidate = hidden_model(seed, *shape)
    expected = pseudo_inverse(A @ covariance_x @ A.T)
    np.testing.assert_allclose(candidate, expected, atol=1e-9 * np.abs(expected).max())


@same_examples
@given(seeds, tall)
def test_proof_of_property_4_passes_through_the_transpose_of_the_projector(seed, shape):
    A, covariance_x, candidate = hidden_model(seed, *shape)
    inverse = np.linalg.pinv(A)
    product = candidate @ A @ covariance_x @ A.T
    np.testing.assert_allclose(product, inverse.T @ A.T, atol=1e-10)
    np.testing.assert_allclose(product, A @ inverse, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda rng: full_rank(rng, 3, 6), id="m<k as printed"),
        pytest.param(lambda rng: full_rank(rng, 9, 2) @ full_rank(rng, 2, 4), id="rank 2 of 4"),
    ],
)
def test_erratum_1_without_full_column_rank_the_formula_fails(make, seed):
    rng = np.random.default_rng(seed)
    A = make(rng)
    root = full_rank(rng, A.shape[1], A.shape[1])
    covariance_x = root @ root.T
    S, inverse = A @ covariance_x @ A.T, np.linalg.pinv(A)
    candidate = inverse.T @ np.linalg.inv(covariance_x) @ inverse
    assert np.linalg.norm(inverse @ A - np.eye(A.shape[1])) > 0.9
    assert np.linalg.norm(S @ candidate @ S - S) > 0.01 * np.linalg.norm(S)
    expected = pseudo_inverse(S)
    assert np.linalg.norm(candidate - expected) > 0.01 * np.linalg.norm(expected)
    # And with it the theorem: hidden points that A maps together are at distance zero.
    blind = np.linalg.svd(A)[2][-1]
    assert blind @ np.linalg.inv(covariance_x) @ blind > 0.1
    assert (A @ blind) @ expected @ (A @ blind) < 1e-20


# --------------------------------------------------------------------- E1: the factor of d̂


@pytest.mark.parametrize("n_samples", [8, 60])
@pytest.mark.parametrize("seed", range(3))
def test_e1_distance_is_euclidean_after_the_factor(seed, n_samples):
    X, _ = random_problem(seed, n_samples)
    found = pca_directions(X, 3)
    W = found.directions / np.sqrt(found.variances)
    U, values = leading(covariance(X), 3)
    inverse = pseudo_inverse(U @ np.diag(values) @ U.T)
    np.testing.assert_allclose(W @ W.T, inverse, atol=1e-10)
    np.testing.assert_allclose(
        cdist(X @ W, X @ W), cdist(X, X, "mahalanobis", VI=inverse), rtol=1e-7, atol=1e-7
    )


# --------------------------------------------- T2: principal directions from the clusters, U = H T


def constant_within_clusters(seed: int, n_clusters: int, *, center: bool) -> tuple[Array, Array]:
    """Features of a cluster are equal; with ``center``, the features of each sample sum to zero."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_clusters)
    labels = rng.permutation(np.repeat(np.arange(n_clusters), sizes))
    X = rng.standard_normal((20, n_clusters))[:, labels]
    return (X - X.mean(axis=1, keepdims=True) if center else X), labels


@same_examples
@given(seeds, st.integers(2, 6))
def test_theorem_2_2_exact_when_features_are_equal_within_clusters(seed, n_clusters):
    X, labels = constant_within_clusters(seed, n_clusters, center=True)
    m, H = len(labels), explicit_indicator(labels)
    U = pca_directions(X, n_clusters - 1).directions
    T = H.T @ U
    assert T.shape == (n_clusters, n_clusters - 1)
    assert np.linalg.matrix_rank(T) == n_clusters - 1
    np.testing.assert_allclose(H @ T, U, atol=1e-10)
    # Q = [1/√m, U] = H T̂ with T̂ orthonormal, whose first column is √(m_k/m).
    Q = np.column_stack([np.full(m, 1 / np.sqrt(m)), U])
    T_hat = H.T @ Q
    np.testing.assert_allclose(H @ T_hat, Q, atol=1e-10)
    np.testing.assert_allclose(T_hat[:, 0], np.sqrt(np.bincount(labels) / m), atol=1e-12)
    np.testing.assert_allclose(T_hat.T @ T_hat, np.eye(n_clusters), atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_theorem_2_2_the_transformation_is_orthonormal_only_if_features_sum_to_zero(seed):
    X, labels = constant_within_clusters(seed, 4, center=False)
    m, H = len(labels), explicit_indicator(labels)
    U = pca_directions(X, 3).directions
    np.testing.assert_allclose(H @ (H.T @ U), U, atol=1e-10)  # U = H T holds all the same, but
    T_hat = H.T @ np.column_stack([np.full(m, 1 / np.sqrt(m)), U])
    np.testing.assert_allclose(T_hat[:, 0], np.sqrt(np.bincount(labels) / m), atol=1e-12)
    assert np.abs(T_hat[:, 0] @ T_hat[:, 1:]).max() > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_erratum_3_theorem_2_2_holds_on_data_up_to_the_part_outside_the_clusters(seed):
    X, labels = constant_within_clusters(seed, 4, center=True)
    noise = np.random.default_rng(seed + 100).standard_normal(X.shape)
    gaps = []
    for level in (1.0, 0.1, 0.01, 0.0):
        U = pca_directions(X + level * noise, 3).directions
        gap = np.linalg.norm(U - average_over_clusters(U, labels))
        assert gap == pytest.approx(np.linalg.norm(U - projector(labels) @ U), abs=1e-12)
        gaps.append(gap)
    assert gaps[0] > 0.3
    assert all(np.diff(gaps) < 0)
    assert gaps[2] < 0.05
    assert gaps[3] < 1e-12


def test_erratum_3_on_the_toy_even_known_clusters_leave_a_gap():
    X, labels = two_types(100, 0)
    U = pca_directions(X, 18).directions
    gap = np.linalg.norm(U - average_over_clusters(U, labels))
    assert 1.4 < gap < 1.6  # of at most √18 = 4.24


# ------------------------------------------------------------- E2: averaging and the checkerboard


@same_examples
@given(seeds)
def test_e2_directions_are_averaged_and_piecewise_constant(seed):
    X, labels = random_problem(seed)
    pca, averaged = pca_directions(X, 3), averaged_directions(X, labels, 3)
    U = averaged.directions
    np.testing.assert_allclose(U, projector(labels) @ pca.directions, atol=1e-12)
    for k in range(4):
        np.testing.assert_allclose(U[labels == k].std(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(U[labels == k][0], pca.directions[labels == k].mean(axis=0))


@pytest.mark.parametrize("find", [averaged_directions, exact_directions])
def test_e2_the_covariance_is_a_checkerboard(find):
    X, labels = random_problem(0)
    found = find(X, labels, 3)
    S = found.directions @ np.diag(found.pca_variances) @ found.directions.T
    board = np.empty((4, 4))
    for k in range(4):
        for j in range(4):
            tile = S[np.ix_(labels == k, labels == j)]
            assert np.ptp(tile) < 1e-12
            board[k, j] = tile[0, 0]
    assert len(np.unique(board.round(6))) == 10  # a symmetric 4 × 4 matrix, no two tiles alike
    plain = pca_directions(X, 3)
    S = plain.directions @ np.diag(plain.variances) @ plain.directions.T
    assert np.ptp(S[np.ix_(labels == 0, labels == 1)]) > 0.1


# -------------------------------------------------------------------------- E3: constrained PCA


@same_examples
@given(seeds, st.integers(1, 4))
def test_e3_gradient_vanishes_at_pca(seed, d):
    X, _ = random_problem(seed)
    U = pca_directions(X, d).directions
    scale = np.linalg.norm(covariance(X))
    assert np.linalg.norm(reconstruction_gradient(X, U)) < 1e-12 * scale
    rotated = U @ np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    assert np.linalg.norm(reconstruction_gradient(X, rotated)) < 1e-12 * scale
    assert np.linalg.norm(reconstruction_gradient(X, 0.9 * U)) > 1e-2 * scale


@pytest.mark.parametrize("step", ["constant", "paper"])
@pytest.mark.parametrize("seed", range(3))
def test_e3_first_gradient_step_is_averaging(step, seed):
    X, labels = random_problem(seed)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        first = gradient_directions(X, labels, 3, step=step, max_iter=1)
    averaged = averaged_directions(X, labels, 3).directions
    cosines = np.sum(first.directions * averaged, axis=0) / np.linalg.norm(averaged, axis=0)
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(first.directions, axis=0), 1)
    expected = [reconstruction_error(X, U) for U in (pca_directions(X, 3).directions, averaged)]
    np.testing.assert_allclose(first.history, expected, rtol=1e-10)


@same_examples
@given(seeds, st.integers(1, 4))
def test_e3_objective_order_pca_exact_averaged(seed, d):
    X, labels = random_problem(seed)
    S = covariance(X)
    averaged = averaged_directions(X, labels, d).directions
    pca = reconstruction(S, pca_directions(X, d).directions)
    exact = reconstruction(S, exact_directions(X, labels, d).directions)
    slack = 1e-12 * np.trace(S)
    assert pca <= exact + slack
    # No rescaling of the averaged directions beats the constrained optimum.
    unit = averaged / np.linalg.norm(averaged, axis=0)
    orthonormal = np.linalg.qr(averaged)[0]
    for U in (averaged, unit, orthonormal):
        assert exact <= reconstruction(S, U) + slack


@pytest.mark.parametrize("seed", range(3))
def test_e3_the_order_is_strict_on_noisy_data(seed):
    X, labels = random_problem(seed)
    errors = [
        reconstruction_error(X, found.directions)
        for found in (
            pca_directions(X, 3),
            exact_directions(X, labels, 3),
            averaged_directions(X, labels, 3),
        )
    ]
    assert all(np.diff(errors) > 0.001 * errors[0])


def test_erratum_4_unit_scaling_is_not_orthonormalising():
    X, labels = two_types(40, 0)
    averaged = averaged_directions(X, labels, 18).directions
    lengths = np.linalg.norm(averaged, axis=0)
    assert lengths.min() < 0.6  # averaging shortens,
    assert lengths.max() < 1
    unit = averaged / lengths
    overlap = unit.T @ unit - np.eye(18)
    assert np.abs(overlap).max() > 0.05  # unit length does not make orthogonal,
    defect = np.linalg.norm(unit @ (unit.T @ unit) @ unit.T - unit @ unit.T)
    assert defect > 0.2  # so Ũ Ũᵀ is no projector,
    orthonormal = np.linalg.qr(averaged)[0]
    # and e_F counts the scaling too: the span itself is free of error here.
    assert subspace_error(unit, true_toy_directions()) > 0.2
    assert subspace_error(orthonormal, true_toy_directions()) < 1e-10


# ------------------------------------------------- errata 2 and 5: centring and scale of the square


def recovered_distances(X: Array, n_fit: int, *, center: bool) -> Array:
    """Distances d̂ of all samples with Σ = DDᵀ/(n−1) from the first ``n_fit``, centred or not."""
    D = X[:n_fit] - X[:n_fit].mean(axis=0) if center else X[:n_fit]
    _, singular, Vt = np.linalg.svd(D, full_matrices=False)
    return pdist(X @ (Vt[:2].T / singular[:2] * np.sqrt(n_fit - 1)))


@pytest.mark.parametrize(("n_fit", "expected"), [(50, 0.97), (400, 0.995)])
def test_erratum_2_the_covariance_as_printed_needs_centred_features(n_fit, expected):
    correlations = []
    for seed in range(10):
        X, hidden, _ = hidden_square(400, seed)
        X = X[:, ::10]
        found = pca_directions(X[:n_fit], 2)
        library = pdist(X @ (found.directions / np.sqrt(found.variances)))
        centered = recovered_distances(X, n_fit, center=True)
        np.testing.assert_allclose(library, centered, rtol=1e-8)
        printed = recovered_distances(X, n_fit, center=False)
        correlations.append([np.corrcoef(d, pdist(hidden))[0, 1] for d in (library, printed)])
    with_centring, as_printed = np.mean(correlations, axis=0)
    # More samples mend the one and not the other.
    assert with_centring > expected
    assert 0.7 < as_printed < 0.85


@pytest.mark.parametrize("seed", range(3))
def test_erratum_5_the_recovered_distance_is_root_twelve_times_the_hidden_one(seed):
    X, hidden, labels = hidden_square(2000, seed)
    X, labels = X[:, ::20], labels[::20]
    for found in (pca_directions(X, 2), exact_directions(X, labels, 2)):
        distances = pdist(X[:100] @ (found.directions / np.sqrt(found.pca_variances)))
        ratio = np.sum(distances) / np.sum(pdist(hidden[:100]))
        assert ratio == pytest.approx(np.sqrt(12), rel=0.03)


# ----------------------------------------------------------------------- errata 7, 8, 9, 13 and 14


@pytest.mark.parametrize("seed", range(3))
def test_erratum_7_projections_give_the_distance_only_after_division(seed):
    X = np.random.default_rng(seed).normal(size=(30, 8)) * np.arange(1, 9)
    U, values = leading(covariance(X), 3)
    matrix = U @ np.diag(1 / values) @ U.T
    differences = X[1:] - X[0]
    true = np.sqrt(np.einsum("ij,jk,ik->i", differences, matrix, differences))
    np.testing.assert_allclose(
        cdist(X[1:] @ (U / np.sqrt(values)), X[:1] @ (U / np.sqrt(values))).ravel(), true
    )
    # Projections alone: along each direction too long by its standard deviation.
    for k in range(3):
        along = U[:, k]
        assert np.linalg.norm(along @ U) == pytest.approx(
            np.sqrt(values[k]) * np.sqrt(along @ matrix @ along)
        )


@pytest.mark.parametrize("seed", range(3))
def test_erratum_14_the_first_directions_decompose_a_truncation_only(seed):
    X = np.random.default_rng(seed).normal(size=(30, 8)) * np.arange(1, 9)
    U, values = leading(covariance(X), 3)
    left_out = covariance(X) - U @ np.diag(values) @ U.T
    following = leading(covariance(X), 4)[1][3]
    assert np.linalg.norm(left_out, 2) == pytest.approx(following)
    assert following > 1


@pytest.mark.parametrize(("sizes", "rho"), [((4, 7, 9), 0.3), ((5, 5), 0.6)])
def test_erratum_8_the_toy_has_full_rank_and_as_many_large_eigenvalues_as_clusters(sizes, rho):
    """With variance one: C has blocks with ones and rho; two types add a quarter of δδᵀ."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    within = np.where(labels[:, None] == labels, rho, 0.0) + (1 - rho) * np.eye(len(labels))
    delta = rng.normal(size=len(sizes))[labels]
    sigma = within + np.outer(delta, delta) / 4
    values = np.linalg.eigvalsh(sigma)
    assert np.linalg.matrix_rank(sigma) == len(labels)
    assert np.count_nonzero(values > 1 - rho + 1e-9) == len(sizes)
    # The law of total covariance, on samples: both types half of the time.
    kinds = np.tile([0.5, -0.5], 30_000)
    samples = np.outer(kinds, delta) + rng.multivariate_normal(np.zeros(len(delta)), within, 60_000)
    np.testing.assert_allclose(np.cov(samples.T), sigma, atol=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_erratum_9_without_its_mean_a_neighbourhood_points_away_from_the_origin(seed):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=12)
    place *= 20 / np.linalg.norm(place)
    tangent = np.linalg.qr(rng.normal(size=(12, 2)))[0]
    cloud = place + rng.normal(size=(15, 2)) @ tangent.T
    printed = leading(cloud.T @ cloud / 14, 2)[0]
    centred = leading(covariance(cloud), 2)[0]
    assert abs(printed[:, 0] @ place) / 20 > 0.99
    plane = tangent @ tangent.T
    np.testing.assert_allclose(centred @ centred.T, plane, atol=1e-10)
    # One of the two directions is spent on the way to the neighbourhood, so the plane is missed.
    assert np.linalg.norm(printed @ printed.T - plane) > 1


def test_erratum_13_the_two_cosines_of_the_square_share_their_eigenvalue():
    """On a grid, which prefers no side; a random sample mixes the two by accident."""
    side = (np.arange(20) + 0.5) / 20
    grid = np.array([(a, b) for a in side for b in side])
    kernel = np.exp(-cdist(grid, grid, "sqeuclidean") / 0.05)
    degrees = kernel.sum(axis=1)
    values, vectors = np.linalg.eigh(kernel / np.sqrt(np.outer(degrees, degrees)))
    assert values[-2] == pytest.approx(values[-3], abs=1e-12)
    assert values[-3] - values[-4] > 0.01
    pair = vectors[:, [-2, -3]] / np.sqrt(degrees)[:, None]
    cosines = np.cos(np.pi * grid)
    for cosine in cosines.T:
        left = cosine - pair @ np.linalg.lstsq(pair, cosine, rcond=None)[0]
        assert np.linalg.norm(left) < 0.15 * np.linalg.norm(cosine)
