"""Statements of the book that were once too strong: each test fails on the earlier wording.

A test is named by what holds. Its last lines, where there are any after a blank one, show what the
earlier statement would have claimed, and that it does not hold.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.covariance import LedoitWolf

from informed import InformedMahalanobis
from informed.clusters import average_over_clusters, cluster_features, indicator
from informed.datasets import make_curved_manifold, make_hidden_square, make_two_types
from informed.directions import exact_directions, gradient_directions, pca_directions
from informed.metrics import spiked_covariance

SEEDS = pytest.mark.parametrize("seed", range(5))


# ---------------------------------------------------------------------------------------- averaging


def misfit(V, labels):
    return np.sum((V - average_over_clusters(V, labels)) ** 2)


def second_direction(n, spread, seed):
    data = make_hidden_square(n, 150, spread=spread, noise=0.5, random_state=seed)
    V = np.linalg.svd(data.transformation, full_matrices=False)[0]
    u = pca_directions(data.X, 2).directions[:, 1]
    return u * np.sign(u @ V[:, 1]), V, data.feature_labels


@pytest.mark.parametrize(("n", "spread"), [(20, 0.0), (40, 0.0), (20, 0.2), (80, 0.2)])
def test_averaged_directions_lack_the_length_that_the_tilt_has_taken(n, spread):
    found, whole, noise = [], [], []
    for seed in range(40):
        u, V, labels = second_direction(n, spread, seed)
        v, cosine = V[:, 1], u @ V[:, 1]
        loss, share = misfit(v, labels), (3 - 2 + misfit(V, labels)) / (150 - 2)
        noise.append(loss + (1 - cosine**2) * share)
        whole.append(noise[-1] + (1 - cosine) ** 2 * (1 - loss))
        found.append(np.sum((average_over_clusters(u, labels) - v) ** 2))
    assert np.mean(whole) == pytest.approx(np.mean(found), rel=0.05)

    if spread == 0:  # what is left would be K of p shares of the noise
        assert np.mean(noise) < 0.1 * np.mean(found)


def tilted(cosine, V, rng):
    """Unit vectors at a given angle to the last column of V, evenly around the true directions."""
    w = rng.normal(size=(4000, len(V)))
    w -= w @ V @ V.T
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return cosine * V[:, -1] + np.sqrt(1 - cosine**2) * w


@pytest.mark.parametrize("cosine", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("blur", [0.0, 0.05, 0.1])
def test_averaging_helps_as_long_as_the_misfit_is_small_beside_the_tilt(cosine, blur):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), [10, 15, 20, 15])
    V = np.linalg.qr(rng.normal(size=(4, 2))[labels] + 60 * blur * rng.normal(size=(60, 2)) / 8)[0]
    v, loss = V[:, 1], misfit(V[:, 1], labels)
    found = tilted(cosine, V, rng)
    averaged = average_over_clusters(found.T, labels)
    gain = np.mean(np.sum((found - v) ** 2, axis=1) - np.sum((averaged.T - v) ** 2, axis=1))
    sine2 = 1 - cosine**2
    predicted = sine2 * (60 - 4 - misfit(V, labels)) / 58 - loss * cosine * (2 - cosine)
    assert gain == pytest.approx(predicted, abs=0.01)

    if cosine < 0.9 and blur == 0:  # noise around the truth itself: K of p shares would be left
        assert abs(gain - (2 * (1 - cosine) * (60 - 4) / 60)) > 0.05


def test_scaling_after_averaging_leaves_the_share_of_the_noise():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), [10, 15, 20, 15])
    V = np.linalg.qr(rng.normal(size=(4, 2))[labels])[0]
    averaged = average_over_clusters(tilted(0.5, V, rng).T, labels).T
    along = averaged @ V[:, 1]
    tangent2 = np.sum(averaged**2, axis=1) / along**2 - 1
    assert np.mean(tangent2) == pytest.approx((4 - 2) / (60 - 2) * 3, rel=0.05)


def test_averaged_directions_can_stay_orthogonal():
    U = np.array([[1, 1, 1, 1], [1, 1, -1, -1]]).T / 2
    averaged = average_over_clusters(U, np.array([0, 0, 0, 1]))
    assert averaged[:, 0] @ averaged[:, 1] == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(averaged[:, 1]) < 0.6


# ---------------------------------------------------------------------------------------------- PCA


def test_a_single_sample_variance_after_the_first_can_be_too_small():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, 10, 3)) * np.sqrt([1, 1, 0.1])
    centred = draws - draws.mean(axis=1, keepdims=True)
    variances = np.mean(np.linalg.svd(centred, compute_uv=False) ** 2 / 9, axis=0)
    assert variances[0] > 1
    assert variances[:2].sum() > 2
    assert variances[1] == pytest.approx(0.60, abs=0.02)


@SEEDS
def test_units_matter_below_the_rank_and_not_below_the_number_of_features(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 50))  # rank two
    units = np.exp(rng.normal(size=50))

    def distances(data, d):
        return pdist(InformedMahalanobis(d, directions="pca").fit_transform(data))

    assert distances(X, 2) == pytest.approx(distances(X * units, 2))
    noisy = X + 0.3 * rng.normal(size=X.shape)
    assert distances(noisy, 2) != pytest.approx(distances(noisy * units, 2), rel=0.01)


# ---------------------------------------------------------------------------------- k-means and PCA


@SEEDS
def test_with_one_centring_the_staircases_do_not_attain_the_bound(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), [6, 5, 4, 3])
    X = rng.normal(size=(30, 4))[:, labels] + rng.normal(size=(30, 1))
    for twice in (True, False):
        Y = X - X.mean(axis=1, keepdims=True) if twice else X
        Y = Y - Y.mean(axis=0)
        U, s, _ = np.linalg.svd(Y.T, full_matrices=False)
        cost = np.sum((Y.T - average_over_clusters(Y.T, labels)) ** 2)
        bound = np.sum(s[3:] ** 2)
        assert average_over_clusters(U[:, :3], labels) == pytest.approx(U[:, :3], abs=1e-9)
        assert cost == pytest.approx(0, abs=1e-9)
        assert (bound < 1e-9) if twice else (bound > 1)


@SEEDS
def test_noise_may_differ_between_clusters_but_not_within(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [5, 6, 7])
    H, centring = indicator(labels), np.eye(18) - 1 / 18
    root = rng.normal(size=(3, 3))
    common = H @ (40 * np.eye(3) + root @ root.T) @ H.T
    noises = np.array([1.0, 3, 6])[labels], rng.uniform(1, 6, size=18)
    gaps = []
    for noise in noises:
        Sigma = common + np.diag(noise)
        for covariance, d in ((Sigma, 3), (centring @ Sigma @ centring, 2)):
            U = np.linalg.eigh(covariance)[1][:, -d:]
            gaps.append(np.sqrt(misfit(U, labels)))
    assert gaps[:2] == pytest.approx([0, 0], abs=1e-9)
    assert min(gaps[2:]) > 0.01


# ------------------------------------------------------------------------------- optimal directions


def steps(T, S, alpha, n_steps):
    """The iteration in the space of the clusters, and all its objectives and norms."""
    objectives, norms = [], []
    for _ in range(n_steps):
        gram, inner = T.T @ S @ T, T.T @ T
        objectives.append(np.trace(S) - 2 * np.trace(gram) + np.trace(gram @ inner))
        norms.append(np.linalg.norm(T, 2))
        if not norms[-1] < 1e6:
            break
        T = T + alpha * (2 * S @ T - T @ gram - S @ T @ inner)
    return T, np.array(objectives), np.array(norms)


def random_covariance(rng, K):
    basis = np.linalg.qr(rng.normal(size=(K, K)))[0]
    return basis * rng.uniform(0.05, 1, size=K) @ basis.T


@pytest.mark.parametrize("seed", range(20))
def test_steps_of_a_quarter_converge_from_starts_in_the_unit_ball(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    d = int(rng.integers(1, K))
    S = random_covariance(rng, K)
    start = rng.normal(size=(K, d))
    start *= rng.uniform(0.2, 1) / np.linalg.norm(start, 2)
    _, objectives, norms = steps(start, S, 1 / (4 * np.linalg.norm(S, 2)), 6000)
    assert max(norms) ** 2 <= 1.25
    assert np.all(np.diff(objectives) <= 1e-12)
    best = np.linalg.eigvalsh(S)[:-d].sum()
    assert objectives[-1] == pytest.approx(best, rel=1e-3, abs=1e-6)


def test_a_step_below_a_half_diverges_from_a_long_start():
    one = np.eye(1)
    assert steps(0.5 * one, one, 0.45, 200)[0] == pytest.approx(1)
    assert steps(1.9 * one, one, 0.45, 200)[2][-1] > 1e6


def test_zero_is_a_maximum_and_whole_lines_lead_to_a_saddle():
    S = np.diag([2.0, 1.0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = 1e-3 * rng.normal(size=(2, 1))
        assert steps(near, S, 0.1, 1)[1][0] < np.trace(S)
    end = steps(np.array([[0.0], [0.4]]), S, 0.1, 400)[0]
    assert end == pytest.approx(np.array([[0.0], [1.0]]), abs=1e-9)


def test_as_many_directions_as_clusters_leave_a_choice_if_samples_are_few():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(3, 12)), np.repeat(np.arange(4), 3)
    H, Xc = indicator(labels), X - X.mean(axis=0)

    def error(T):
        U = H @ T
        return np.sum((Xc - Xc @ U @ U.T) ** 2)

    T = np.linalg.svd(H.T @ Xc.T)[0]
    other = T.copy()
    other[:, 2:] = 0  # the samples have no variance there
    assert error(other) == pytest.approx(error(T))
    assert np.linalg.norm(other @ other.T - np.eye(4)) > 1


@pytest.mark.parametrize("seed", range(10))
def test_near_a_solution_errors_shrink_by_the_stated_factors_once_rotations_are_taken_out(seed):
    rng = np.random.default_rng(seed)
    s, d, alpha, size = np.array([4.0, 2.5, 1.0, 0.4]), 2, 0.1, 1e-5
    E = rng.normal(size=(d, d))
    E, Z = size * (E + E.T), size * rng.normal(size=(2, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    T = np.vstack([np.eye(d) + E, Z]) @ rotation
    new = steps(T, np.diag(s), alpha, 1)[0] @ rotation.T
    left, singular, right = np.linalg.svd(new[:d])
    polar = left @ right
    after = left * singular @ left.T - np.eye(d)
    assert polar == pytest.approx(np.eye(d), abs=500 * size**2)
    assert after == pytest.approx((1 - 2 * alpha * (s[:d, None] + s[:d])) * E, abs=500 * size**2)
    factors = 1 - alpha * (s[:d] - s[d:, None])
    assert new[d:] @ polar.T == pytest.approx(factors * Z, abs=500 * size**2)

    turn = np.array([[0, -size], [size, 0]])  # a rotation has the factor one
    turned = steps(np.vstack([np.eye(d) + turn, 0 * Z]), np.diag(s), alpha, 1)[0]
    assert turned[:d] - np.eye(d) == pytest.approx(turn, abs=500 * size**2)


@pytest.mark.parametrize("seed", range(5))
def test_no_weight_is_lost_at_the_largest_trace(seed):
    """Ties among the eigenvalues: what is missing to the bound, term by term."""
    rng = np.random.default_rng(seed)
    values, d = np.array([3.0, 2.0, 2.0, 2.0, 0.5]), 2
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    M = basis * values @ basis.T
    Q = np.linalg.qr(rng.normal(size=(5, d)))[0]
    weights = np.sum((Q.T @ basis) ** 2, axis=0)
    terms = (values - values[d - 1]) * (np.array([1, 1, 0, 0, 0]) - weights)
    assert values[:d].sum() - np.trace(Q.T @ M @ Q) == pytest.approx(terms.sum())
    assert np.all(terms >= -1e-12)
    # Any unit vector of the threefold eigenspace will do as the second one.
    second = basis[:, 1:4] @ np.linalg.qr(rng.normal(size=(3, 1)))[0]
    best = np.column_stack([basis[:, 0], second])
    assert np.trace(best.T @ M @ best) == pytest.approx(5)


@pytest.mark.parametrize(("noise", "attracts"), [(0.5, False), (4.0, True)])
def test_constant_length_decides_nearby_only(noise, attracts):
    """At a solution the rule rests whatever the clusters; what is near is drawn or repelled."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 10)
    X = 2 * rng.normal(size=(25, 4))[:, labels] + noise * rng.normal(size=(25, 40))
    Sigma, H = np.cov(X, rowvar=False), indicator(labels)
    solution = exact_directions(X, labels, 2).directions

    def step(U):
        G = 2 * Sigma @ U - U @ (U.T @ Sigma @ U) - Sigma @ U @ (U.T @ U)
        return H @ (H.T @ (U + 0.1 * G / np.linalg.norm(G, 2)))

    outside = np.linalg.norm(Sigma @ solution - H @ (H.T @ Sigma @ solution), 2)
    assert (outside > np.linalg.norm(H.T @ Sigma @ H, 2) / 5) == attracts
    assert step(solution) == pytest.approx(solution, abs=1e-9)

    start = solution * [1 + 1e-4, 1]  # the leading direction a little too long
    near = start
    for _ in range(40):
        near = step(near)
    off = np.linalg.norm(near - solution) / np.linalg.norm(start - solution)
    assert (off < 0.1) if attracts else (off > 10)


def test_the_iteration_ends_at_the_same_span_with_another_distance():
    X = make_hidden_square(60, 120, spread=0.1, noise=1.0, random_state=0).X
    labels = cluster_features(X, 3, random_state=0)
    exact, end = exact_directions(X, labels, 2), gradient_directions(X, labels, 2)
    cosines = np.linalg.svd(exact.directions.T @ end.directions, compute_uv=False)
    assert cosines == pytest.approx(1, abs=1e-6)
    root = np.sqrt(exact.pca_variances)
    ratio = pdist(X @ end.directions / root) / pdist(X @ exact.directions / root)
    assert np.ptp(ratio) > 0.01


# ----------------------------------------------------------------------------------- other chapters


def test_a_quasi_mode_need_not_be_near_an_eigenvector():
    points = np.random.default_rng(0).random((600, 2))
    kernel = np.exp(-(squareform(pdist(points)) ** 2) / 0.02)
    degrees = kernel.sum(axis=1)
    values, vectors = np.linalg.eigh(kernel / np.sqrt(np.outer(degrees, degrees)))
    first = vectors[:, -2] / np.sqrt(degrees)
    wave = np.cos(np.pi * points[:, 0])
    P = kernel / degrees[:, None]
    residual = P @ wave - wave * (wave @ P @ wave) / (wave @ wave)
    assert np.linalg.norm(residual) < 0.3 * (1 - values[-6]) * np.linalg.norm(wave)
    assert abs(np.corrcoef(first, wave)[0, 1]) < 0.9


def test_a_distance_that_knows_more_than_the_covariance_can_be_invariant_too():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(80, 3))

    def distances(data):
        centred = data - data.mean(axis=0)
        far = np.sum(centred @ np.linalg.inv(np.cov(data.T)) * centred, axis=1)
        return pdist(data, "mahalanobis", VI=np.linalg.inv(centred.T * far @ centred))

    mixed = X @ rng.normal(size=(3, 3)).T
    assert distances(X) == pytest.approx(distances(mixed))
    ratio = distances(X) / pdist(X, "mahalanobis", VI=np.linalg.inv(np.cov(X.T)))
    assert ratio.max() > 1.1 * ratio.min()


@pytest.mark.parametrize(
    ("shape", "holds"),
    [((5, 2, 5), True), ((4, 4, 4), True), ((2, 5, 7), False), ((2, 5, 2), False)],
)
def test_the_pseudo_inverse_of_a_product_depends_on_the_shapes(shape, holds):
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, B = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
        agree = np.allclose(np.linalg.pinv(A @ B), np.linalg.pinv(B) @ np.linalg.pinv(A))
        assert agree == holds


def test_saturation_needs_no_noise():
    curve = np.cos(np.outer(np.linspace(0.1, 3, 20), np.arange(1, 61)))
    centred = curve - curve.mean(axis=0)
    P = np.linalg.svd(centred, full_matrices=False)[0][:, :19]
    assert pdist(np.sqrt(19) * P) == pytest.approx(np.sqrt(2 * 19))
    steps_ = pdist(curve, "mahalanobis", VI=np.linalg.pinv(np.cov(curve.T), rcond=1e-10))
    assert steps_ == pytest.approx(np.sqrt(2 * 19), rel=1e-6)


def test_a_change_of_speed_can_make_local_distances_too_short():
    h = np.array([0.05, 0.1, 0.2])
    seen = 2 * np.sinh(h / 2) / np.cosh(h / 2)  # both Jacobians are cosh(h/2)
    assert (seen**2 - h**2) / h**4 == pytest.approx(-1 / 6, rel=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_three_global_directions_can_do_better_than_true_jacobians(seed):
    data = make_curved_manifold(100, 300, noise=0.2, random_state=seed)
    hidden = pdist(data.hidden)
    near = hidden < 0.25

    def error(distances):
        d, h = distances[near], hidden[near]
        return np.linalg.norm(d * (d @ h) / (d @ d) - h) / np.linalg.norm(h)

    jumps = data.X[:, None] - data.X
    seen = np.einsum("idp,ijp->ijd", np.linalg.pinv(data.jacobian(data.hidden)), jumps)
    squared = np.sum(seen**2, axis=2)
    jacobians = np.sqrt(squareform(squared + squared.T, checks=False) / 2)
    projected = pdist(data.X @ pca_directions(data.X, 3).directions)
    assert error(projected) < error(jacobians)


def test_unit_columns_do_not_make_a_pseudo_inverse():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(6, 2))
    U /= np.linalg.norm(U, axis=0)
    variances = np.array([3.0, 1.0])
    exact = np.linalg.pinv(U * variances @ U.T, rcond=1e-10)
    assert np.linalg.norm(U / variances @ U.T - exact) > 0.05 * np.linalg.norm(exact)
    Q = np.linalg.qr(U)[0]
    assert Q / variances @ Q.T == pytest.approx(np.linalg.pinv(Q * variances @ Q.T, rcond=1e-10))


# --------------------------------------------------------------------------------- rows and columns


def k_means_from(points, labels):
    """Lloyd's iteration from given labels; a point that lies between two centres stays."""
    while True:
        centres = np.array([points[labels == k].mean(axis=0) for k in (0, 1)])
        distances = np.sum((points[:, None] - centres) ** 2, axis=2)
        new = np.where(
            np.abs(distances[:, 0] - distances[:, 1]) < 1e-9, labels, distances.argmin(1)
        )
        if np.array_equal(new, labels):
            return labels
        labels = new


def test_at_a_tie_only_the_clusters_of_the_last_round_are_known_to_be_settled():
    X = np.array([[1, 4, -2, 0], [1, 0, 2, -1], [-2, 2, 0, 2], [1, 3, 0, -1]], dtype=float)
    X = X - X.mean(axis=0)
    kept, found, columns = np.array([0, 1, 0, 0]), np.array([0, 1, 1, 1]), np.array([0, 0, 1, 0])

    def directions(rows):
        left, values, right = np.linalg.svd(indicator(rows).T @ X @ indicator(columns))
        return indicator(columns) @ right[:1].T, indicator(rows) @ left[:, :1], values[0]

    def lowers(points, labels):
        costs = [misfit(points, each) for each in (labels, k_means_from(points, labels))]
        return costs[1] < costs[0] - 1e-9

    (along, over_kept, value), (_, over_found, same) = directions(kept), directions(found)
    assert value == pytest.approx(same)
    assert not lowers(X @ along, kept)
    assert not lowers(X.T @ over_found, columns)
    assert lowers(X.T @ over_kept, columns)


# --------------------------------------------------------------------------------------- other-uses


def test_the_likelihood_of_ledoit_and_wolf_falls_only_while_samples_are_fewer_than_features():
    X = make_two_types(1200, random_state=0).X[:, ::9]
    few, equal, many = (LedoitWolf().fit(X[:n]).score(X[900:]) / 100 for n in (20, 70, 800))
    assert equal < few - 0.4

    assert many > few + 0.4  # "it falls as samples are added" would go on


def test_most_of_the_gain_over_pca_is_a_floor_that_a_formula_gives():
    toy = make_two_types(400, random_state=0)
    few, new = toy.X[:30], toy.X[30:]
    informed = spiked_covariance(few, 18, toy.feature_labels).score(new) / 900
    plain, shrunk = (
        InformedMahalanobis(18, directions="pca", variances=kind).fit(few).score(new) / 900
        for kind in ("own", "shrunk")
    )
    assert shrunk < informed

    assert informed - shrunk < (informed - plain) / 3  # what plain PCA promised
