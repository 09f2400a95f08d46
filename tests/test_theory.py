"""The theory of when clusters help: each formula against a simulation that does not know it.

The tolerances are set so that p in place of K, a wrong power of the number of samples, of the
strength or of the noise, and a forgotten factor two all fail; ``test_wrong_laws_are_refused`` says
so in numbers.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from spiked_samples import draw, missing, orthonormal

from informed.clusters import average_over_clusters, cluster_features, indicator
from informed.directions import exact_directions, pca_directions
from informed.spiked import inflated_variance
from informed.theory import (
    axis_roles,
    distance_moments,
    error_bound,
    estimate_spectrum,
    expected_errors,
    first_order_errors,
    linkage_failure,
    linkage_samples,
    misclassification_rate,
    misfit,
    predicted_gain,
    recovery,
    samples_needed,
    split_error,
)
from informed.theory.recovery import samples_for_rate


def clustered(rng, n_clusters, size, d):
    labels = np.repeat(np.arange(n_clusters), size)
    return labels, indicator(labels) @ orthonormal(rng, n_clusters, d)


def mean_errors(n, strengths, noise, *, n_clusters=6, size=20, repeats=80, seed=0):
    """Mean error of PCA and of the exact directions with known clusters, and their errors."""
    rng = np.random.default_rng(seed)
    labels, U = clustered(rng, n_clusters, size, len(strengths))
    errors = []
    for _ in range(repeats):
        X = draw(rng, n, U, strengths, noise)
        d = len(strengths)
        by_pca, exact = pca_directions(X, d), exact_directions(X, labels, d)
        errors.append([missing(by_pca.directions, U), missing(exact.directions, U)])
    errors = np.array(errors)
    return errors.mean(axis=0), errors.std(axis=0) / np.sqrt(repeats)


# ------------------------------------------------------------------------------ K dimensions for p


@pytest.mark.parametrize("seed", range(3))
def test_exact_directions_are_pca_of_a_spiked_model_in_k_dimensions(seed):
    rng = np.random.default_rng(seed)
    labels, U = clustered(rng, 5, 8, 2)
    H = indicator(labels)
    X = draw(rng, 12, U, [9.0, 4.0], 0.7)
    exact = exact_directions(X, labels, 2).directions
    small = pca_directions(X @ H, 2).directions
    # The same space, and the same error, as PCA of the K cluster coordinates.
    assert_allclose(exact @ exact.T, H @ small @ small.T @ H.T, atol=1e-10)
    assert_allclose(missing(exact, U), missing(small, H.T @ U), atol=1e-10)


def test_noise_in_cluster_coordinates_has_the_variance_of_one_feature():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [1, 10, 200])
    noise = rng.standard_normal((20_000, 211)) @ indicator(labels)
    assert_allclose(np.cov(noise, rowvar=False), np.eye(3), atol=0.04)


# ------------------------------------------------------------------------------ misfit and the rest


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(4, 8))
def test_misfit_and_the_error_within_the_span_add_up_exactly(seed, d, n_clusters):
    rng = np.random.default_rng(seed)
    p = 5 * n_clusters
    U = orthonormal(rng, p, d)
    labels = rng.permutation(np.arange(p) % n_clusters)
    found = indicator(labels) @ orthonormal(rng, n_clusters, d)
    outside, inside = split_error(found, U, labels)
    assert_allclose(outside + inside, missing(found, U), atol=1e-10)
    assert_allclose(outside, misfit(U, labels), atol=1e-12)
    # What is lost within the span is at most the error against the projected space.
    A = indicator(labels).T @ U
    V = np.linalg.svd(A, full_matrices=False)[0]
    assert inside <= missing(indicator(labels).T @ found, V) + 1e-10


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_misfit_is_at_most_what_the_moved_features_carry(seed):
    rng = np.random.default_rng(seed)
    labels, U = clustered(rng, 4, 6, 2)
    wrong = labels.copy()
    moved = rng.choice(24, size=rng.integers(1, 8), replace=False)
    wrong[moved] = rng.integers(0, 4, size=len(moved))
    rows = U[np.arange(4) * 6]
    if len(np.unique(wrong)) == 4:
        assert misfit(U, wrong) <= np.sum((rows[labels] - rows[wrong]) ** 2) + 1e-12


def test_strengths_within_wrong_clusters_are_those_of_the_projected_signal():
    rng = np.random.default_rng(3)
    U, strengths = orthonormal(rng, 24, 2), np.array([5.0, 2.0])
    labels = np.arange(24) % 6
    A = indicator(labels).T @ U
    values = np.linalg.eigvalsh(A @ np.diag(strengths) @ A.T)[::-1][:2]
    worst = np.linalg.norm(U - average_over_clusters(U, labels), 2) ** 2
    assert np.all(values <= strengths + 1e-12)
    assert np.all(values >= strengths * (1 - worst) - 1e-12)


# ------------------------------------------------------------------------------------- the bound


@pytest.mark.parametrize(
    ("n", "noise"), [(40, 0.3), (40, 1.0), (150, 0.3), (150, 1.0), (600, 1.0), (600, 2.0)]
)
def test_bound_holds_and_expectation_lies_below_it(n, noise):
    strengths = [30.0, 8.0]
    (by_pca, exact), _ = mean_errors(n, strengths, noise, repeats=30)
    for measured, q in ((by_pca, 120), (exact, 6)):
        assert measured <= error_bound(n, q, strengths, noise)


def test_bound_is_sharp_for_one_direction_and_many_samples():
    for n in (10**4, 10**6):
        ratio = error_bound(n, 30, [4.0], 1.0) / first_order_errors(n, 30, [4.0], 1.0).sum()
        assert 1 < ratio < 1 + 60 / np.sqrt(n) * np.log(n)


def test_trivial_cases_of_the_bound():
    assert error_bound(50, 3, [4.0, 3.0, 2.0], 1.0) == 0.0  # as many directions as dimensions
    assert error_bound(10, 500, [0.1], 1.0) == 1.0  # nothing to see
    assert error_bound(50, 9, [4.0], 0.0) < 1e-6  # no noise


def test_inverse_wishart_moment_of_the_proof_is_exact():
    rng = np.random.default_rng(0)
    N, d, q, noise = 12, 2, 7, 0.8
    total = np.array([3.0, 1.0])  # strengths + noise²
    values = []
    for _ in range(8000):
        F = rng.standard_normal((N, d)) * np.sqrt(total)
        G = noise * rng.standard_normal((N, q - d))
        values.append(np.sum((G.T @ F @ np.linalg.inv(F.T @ F)) ** 2))
    expected = noise**2 * (q - d) / (N - d - 1) * np.sum(1 / total)
    assert_allclose(np.mean(values), expected, rtol=0.04)


# --------------------------------------------------------------------------------- the expectation

GRID = [
    (n, noise) for n in (40, 80, 160, 320) for noise in (0.4, 0.7, 1.0, 1.4)
]  # four by four, as the claim asks


@pytest.fixture(scope="module")
def simulated():
    return {cell: mean_errors(*cell[:1], [30.0, 8.0], cell[1]) for cell in GRID}


@pytest.mark.parametrize("cell", GRID)
def test_expected_errors_are_those_of_a_simulation(simulated, cell):
    n, noise = cell
    measured, spread = simulated[cell]
    predicted = [expected_errors(n, q, [30.0, 8.0], noise).sum() for q in (120, 6)]
    # Within 15 percent, or three standard errors of the simulation where these are larger.
    assert np.all(np.abs(measured - predicted) < np.maximum(0.15 * measured, 3 * spread))


@pytest.mark.parametrize(
    "law",
    [
        lambda n, q, s, e: expected_errors(n, 120, s, e),  # p for K
        lambda n, q, s, e: expected_errors(n, q, s, e) * np.sqrt(n / 80),  # wrong power of n
        lambda n, q, s, e: first_order_errors(n, q, s, e) * np.array(s) / e**2,  # of the strength
        lambda n, q, s, e: 2 * expected_errors(n, q, s, e),  # factor two
        lambda n, q, s, e: expected_errors(n, q, s, np.sqrt(e)),  # of the noise
    ],
)
def test_wrong_laws_are_refused(simulated, law):
    failed = 0
    for (n, noise), (measured, spread) in simulated.items():
        predicted = law(n, 6, [30.0, 8.0], noise).sum()
        failed += abs(measured[1] - predicted) > max(0.15 * measured[1], 3 * spread[1])
    assert failed >= len(GRID) // 2


def test_first_order_is_the_limit_and_the_inverse_fisher_information():
    strengths, noise, q = np.array([7.0, 2.0]), 0.9, 15
    many = 10**7
    assert_allclose(
        first_order_errors(many, q, strengths, noise),
        expected_errors(many, q, strengths, noise),
        rtol=1e-4,
    )
    # Information about a rotation of direction j towards a noise direction, by finite differences.
    for j, strength in enumerate(strengths):

        def covariance(angle, j=j):
            basis = np.eye(q)[:, :2]
            basis[:, j] = np.cos(angle) * np.eye(q)[j] + np.sin(angle) * np.eye(q)[5]
            return basis @ np.diag(strengths) @ basis.T + noise**2 * np.eye(q)

        slope = (covariance(1e-5) - covariance(-1e-5)) / 2e-5
        root = np.linalg.solve(covariance(0.0), slope)
        information = np.trace(root @ root) / 2
        per_sample = first_order_errors(many, q, [strength], noise)[0] * (many - 3) / (q - 1)
        assert_allclose(1 / information, per_sample, rtol=1e-6)


@given(st.integers(10, 5000), st.floats(0.1, 50), st.floats(0.1, 3), st.floats(0.05, 1.0))
def test_samples_needed_solve_the_limit(dimension, strength, noise, target):
    n = samples_needed(dimension, strength, noise, target)
    ratio = strength / noise**2
    gamma = dimension / n
    assert_allclose(gamma * (1 + ratio) / (ratio * (ratio + gamma)), target, rtol=1e-9)


def test_threshold_moves_from_p_to_k():
    p, k = (samples_needed(q, 2.0, 1.0, error=1.0) for q in (300, 6))
    assert_allclose([p, k], [300 / 4, 6 / 4])
    below, above = (expected_errors(n, 300, [2.0], 1.0)[0] for n in (70, 90))
    assert below == 1 > above


# ------------------------------------------------------------------------------------- distances


def test_distance_moments_are_those_of_new_samples():
    rng = np.random.default_rng(0)
    labels, U = clustered(rng, 4, 5, 2)
    A = U * np.sqrt([8.0, 3.0])
    X = draw(rng, 30, U, [8.0, 3.0], 0.8)
    skewed = exact_directions(X, labels, 2).directions @ np.array([[1.0, 0.3], [0.0, 0.9]])
    variances = np.array([9.0, 4.0])
    w = np.array([[1.0, -0.5], [0.0, 0.0]])
    mean, variance = distance_moments(skewed, variances, A, 0.8, w)
    fresh = 0.8 * np.sqrt(2) * rng.standard_normal((200_000, 20))
    for i in range(2):
        shown = np.sum(((A @ w[i] + fresh) @ (skewed / np.sqrt(variances))) ** 2, axis=1)
        assert_allclose(shown.mean(), mean[i], rtol=0.01)
        assert_allclose(shown.var(), variance[i], rtol=0.03)


def test_axis_roles_multiply_to_the_slope_and_shrink_as_the_square():
    roles = axis_roles([3.0, 20.0], 1.3, 4.0, 4.0)
    assert_allclose(roles.slope, roles.signal_share * roles.cosine / roles.inflation)
    inflation = 1 + 4.0 * 1.3**2 / np.array([20.0])
    assert_allclose(roles.shrinkage[1:], inflation**-2.0)
    one = axis_roles([20.0], 1.3, 0.0, 4.0)
    assert_allclose(one.shrinkage, 1 / inflation)
    assert_allclose(axis_roles([20.0], 1.3, 0.0, 0.0).shrinkage, 1)


@pytest.mark.parametrize(("n", "noise"), [(60, 1.0), (120, 1.0), (120, 1.6)])
def test_new_samples_shrink_by_the_factors_of_the_theory(n, noise):
    p, strength, size = 240, 40.0, 40
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), size)
    U = indicator(labels) @ orthonormal(rng, 6, 1)
    rows = []
    for _ in range(60):
        X = draw(rng, n, U, [strength], noise)
        pca, exact = pca_directions(X, 1), exact_directions(X, labels, 1)
        true = [
            strength * error_free + noise**2
            for error_free in (1 - missing(pca.directions, U), 1 - missing(exact.directions, U))
        ]
        found = pca.variances[0], exact.variances[0]
        rows.append([true[0] / found[0], true[1] / found[0], true[1] / found[1], found[0]])
    gamma = p / (n - 1)
    predicted = [
        axis_roles(strength, noise, *aspects).shrinkage
        for aspects in ((gamma, gamma), (6 / n, gamma), (6 / n, 6 / n))
    ]
    inflated = inflated_variance(strength, gamma, noise**2)
    assert_allclose(np.mean(rows, axis=0), [*predicted, inflated], rtol=0.08)


# -------------------------------------------------------------------------------------- recovery


@pytest.mark.parametrize(("n", "separation"), [(6, 1.0), (20, 1.0), (20, 2.0), (60, 0.7)])
def test_two_clusters_with_known_centers_err_like_students_t(n, separation):
    rng = np.random.default_rng(0)
    wrong = []
    for _ in range(4000):
        difference = separation * rng.standard_normal(n)
        difference -= difference.mean()
        features = rng.standard_normal((10, n))
        features -= features.mean(axis=1, keepdims=True)
        wrong.append(np.mean(features @ difference > difference @ difference / 2))
    assert_allclose(
        np.mean(wrong), misclassification_rate(n, separation, 1.0), rtol=0.08, atol=1e-4
    )


def test_rate_falls_exponentially_with_the_number_of_samples():
    rates = [misclassification_rate(n, 1.0, 1.0) for n in (101, 201, 301)]
    decay = np.diff(np.log(rates)) / 100
    assert_allclose(decay, -np.log(1 + 1 / 4) / 2, rtol=0.05)
    assert misclassification_rate(2, 1e-3, 1.0, n_clusters=5) == 0.8  # no better than guessing


@pytest.mark.parametrize(("n", "noise"), [(24, 1.0), (48, 1.0), (48, 1.4)])
def test_k_means_errs_about_as_often_as_predicted(n, noise):
    p, half = 200, 100
    labels = np.repeat([0, 1], half)
    rng = np.random.default_rng(0)
    wrong = []
    for seed in range(60):
        signal = rng.standard_normal((n, 2)) / np.sqrt(2)
        X = signal[:, labels] + noise * rng.standard_normal((n, p))
        found = cluster_features(X, 2, n_init=5, random_state=seed)
        share = np.mean(found != labels)
        wrong.append(min(share, 1 - share))
    predicted = misclassification_rate(n, 1.0, noise, cluster_size=half)
    blind = misclassification_rate(n, 1.0, noise)
    assert_allclose(np.mean(wrong), predicted, rtol=0.35, atol=5e-4)
    assert blind < predicted  # estimated centres cost something


def test_samples_of_linkage_where_next_to_nothing_is_asked():
    for failure in (0.5, 1.9, 1.99, 2.5, 30.0):
        needed = 16 * np.log(4 / (2 * failure)) * (1 + 4 * 0.25) ** 2
        assert linkage_samples(2, 2.0, 1.0, failure) == int(np.ceil(1 + max(0, needed)))
    assert linkage_samples(2, 2.0, 1.0, 30.0) == 1


def test_no_number_of_samples_that_anyone_has_is_infinite():
    assert samples_for_rate(0.05, 1e-9, 1.0, 3, 3.0) == np.inf
    assert np.isfinite(samples_for_rate(0.05, 1e-3, 1.0, 3, 3.0))


def test_linkage_bound_holds_and_the_samples_suffice():
    p, noise, separation = 30, 0.5, 2.0
    labels = np.repeat(np.arange(3), 10)
    rng = np.random.default_rng(0)
    for n in (20, 40):
        failed = 0
        for _ in range(200):
            signal = separation / np.sqrt(2) * rng.standard_normal((n, 3))
            X = signal[:, labels] + noise * rng.standard_normal((n, p))
            X -= X.mean(axis=0)
            found = fcluster(linkage(X.T, "single"), 3, "maxclust")
            failed += len(set(zip(found, labels, strict=True))) != 3
        bound = linkage_failure(n, p, separation, noise)
        assert failed / 200 <= bound + 0.02
    assert 0 < bound < 1
    enough = linkage_samples(p, separation, noise, failure=0.05)
    assert linkage_failure(enough, p, separation, noise) < 0.05


def test_squared_distances_of_features_are_chi_squared():
    rng = np.random.default_rng(0)
    n, separation, noise = 9, 1.5, 0.7
    signal = separation / np.sqrt(2) * rng.standard_normal((5000, n, 2))
    X = signal + noise * rng.standard_normal((5000, n, 2))
    X -= X.mean(axis=1, keepdims=True)
    squared = np.sum((X[:, :, 0] - X[:, :, 1]) ** 2, axis=1)
    scale = 2 * noise**2 + separation**2
    assert stats.kstest(squared / scale, stats.chi2(n - 1).cdf).pvalue > 0.01


def nearest_centers(rng, n, places, noise):
    """Share of features of each cluster that are nearest to each true centre."""
    K, d = places.shape
    counts = np.zeros((K, K))
    for _ in range(300):
        hidden = rng.standard_normal((n, d))
        centers = places @ (hidden - hidden.mean(axis=0)).T
        features = np.repeat(centers, 40, axis=0)
        drawn = noise * rng.standard_normal(features.shape)
        features += drawn - drawn.mean(axis=1, keepdims=True)
        chosen = cdist(features, centers).argmin(axis=1)
        np.add.at(counts, (np.repeat(np.arange(K), 40), chosen), 1)
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "noise"), [(16, 1.0), (32, 1.0), (32, 1.4)])
def test_recovery_agrees_with_nearest_centers_on_a_ring(n, noise):
    angles = 2 * np.pi * np.arange(6) / 6
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    measured = nearest_centers(np.random.default_rng(0), n, ring, noise)
    found = recovery(n, ring, [10**9] * 6, noise)  # so many features that centres are known
    assert_allclose(found.rates.sum(axis=1), 1)
    wrong = 1 - np.trace(measured) / 6
    assert_allclose(found.misclassified, wrong, rtol=0.2)
    # Misfit of the expected clusters, from the measured rates by least squares.
    U = np.repeat(ring, 1000, axis=0) / np.sqrt(3000)
    labels = np.concatenate(
        [
            np.repeat(np.arange(6), np.diff(np.round(1000 * np.r_[0, np.cumsum(row)]).astype(int)))
            for row in measured
        ]
    )
    assert_allclose(found.misfit, misfit(U, labels), rtol=0.25)


def test_recovery_without_mistakes_keeps_everything():
    square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    found = recovery(50, square, [10, 10, 10, 10], 0.01)
    assert found.misclassified == 0
    assert_allclose(found.misfit, 0, atol=1e-12)
    assert_allclose(found.strengths, [40, 40])


# ------------------------------------------------------------------------------- predicted_gain


def test_predicted_gain_names_the_four_phases():
    ring = {"n_features": 300, "n_clusters": 6, "strengths": [150.0, 150.0, 6.0]}
    phases = {n: predicted_gain(n, noise=1.0, separation=1.04, **ring).phase for n in (10, 64, 512)}
    assert phases == {10: "clusters lost", 64: "window", 512: "both"}
    lone = predicted_gain(200, 2000, 40, [300.0, 300.0], 3.0, separation=0.3)
    assert lone.phase == "pca only"
    assert "Use PCA" in str(lone)


def test_predicted_gain_with_right_clusters_is_p_over_k():
    gain = predicted_gain(2000, 1000, 10, [200.0, 100.0], 1.0)
    assert_allclose(gain.gain, (1000 - 2) / (10 - 2), rtol=0.02)
    blurred = predicted_gain(2000, 1000, 10, [200.0, 100.0], 1.0, misfit=0.1)
    assert_allclose(blurred.known_error - gain.known_error, 0.1, rtol=0.02)
    assert blurred.gain < 0.2
    assert "bring nothing" in blurred.verdict


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 4}, "n_samples=4"),
        ({"n_clusters": 1}, "n_clusters=1"),
        ({"strengths": [1.0, -1.0]}, "positive variances"),
        ({"noise": 0.0}, "noise=0"),
        ({"misfit": 3.0}, "misfit=3.0"),
        ({"separation": 0.0}, "separation=0"),
    ],
)
def test_predicted_gain_refuses_what_makes_no_sense(arguments, message):
    good = {"n_samples": 50, "n_features": 90, "n_clusters": 5, "strengths": [9.0, 5.0]}
    with pytest.raises(ValueError, match=message):
        predicted_gain(**(good | {"noise": 1.0} | arguments))


def test_spectrum_of_data_leads_to_the_same_verdict():
    rng = np.random.default_rng(0)
    U = orthonormal(rng, 300, 2)
    X = draw(rng, 100, U, [200.0, 60.0], 1.5)
    strengths, noise = estimate_spectrum(X, 2)
    assert_allclose(strengths, [200, 60], rtol=0.4)
    assert_allclose(noise, 1.5, rtol=0.03)
    guessed = predicted_gain(100, 300, 8, strengths, noise)
    true = predicted_gain(100, 300, 8, [200.0, 60.0], 1.5)
    assert guessed.phase == true.phase
    assert_allclose(guessed.pca_error, true.pca_error, rtol=0.4)


@pytest.mark.parametrize("separation", [0.5, 2.0])
@pytest.mark.parametrize(("n_clusters", "cluster_size"), [(2, 10.0), (5, np.inf)])
def test_samples_for_a_rate_are_those_at_which_it_is_reached(separation, n_clusters, cluster_size):
    rest = {"n_clusters": n_clusters, "cluster_size": cluster_size}
    for rate in (0.2, 0.01):
        n = samples_for_rate(rate, separation, 1.3, **rest)
        assert misclassification_rate(n, separation, 1.3, **rest) == pytest.approx(rate)
    # What guessing gives costs no more than the fewest samples that are looked at.
    assert samples_for_rate(0.99, separation, 1.3, **rest) == pytest.approx(1 + np.exp(-2.0))
