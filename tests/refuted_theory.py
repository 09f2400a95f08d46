"""Earlier statements about optimal directions, eigenfunctions, inverses and errata, in numbers.

The second half of ``refuted_claims.py``, which says how a claim is written.
"""

from __future__ import annotations

import numpy as np
from refuted_claims import Claim
from scipy.spatial.distance import cdist, pdist, squareform
from toy import Array, covariance, explicit_indicator, leading

from informed.clusters import average_over_clusters
from informed.directions import exact_directions

# ---------------------------------------- optimal directions


def objective(T: Array, S: Array) -> float:
    gram = T.T @ S @ T
    return float(np.trace(S) - 2 * np.trace(gram) + np.trace(gram @ T.T @ T))


def step(T: Array, S: Array, alpha: float) -> Array:
    """One step of gradient projection in the coordinates of the clusters."""
    return T + alpha * (2 * S @ T - T @ (T.T @ S @ T) - S @ T @ (T.T @ T))


def random_covariance(rng: np.random.Generator, size: int) -> Array:
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return basis * rng.uniform(0.3, 1, size=size) @ basis.T


def all_clusters_leave_no_choice(seed: int) -> tuple[bool, bool]:
    """For d = K the solution would be H Hᵀ whatever the data."""
    rng = np.random.default_rng(seed)
    H = explicit_indicator(np.repeat(np.arange(4), 3))
    unique = []
    for n in (3, 30):
        X = rng.normal(size=(n, 12))
        S = H.T @ covariance(X) @ H
        T = leading(S, 4)[0]
        other = T.copy()
        other[:, 3] = 0  # not orthonormal, and not the projector on the span of H
        unique.append(objective(other, S) > objective(T, S) + 1e-9)
    return unique[0], unique[1]


def zero_is_a_saddle(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    S = random_covariance(rng, 4)
    values = np.array([objective(1e-2 * rng.normal(size=(4, 2)), S) for _ in range(200)])
    return bool(np.any(values > np.trace(S))), bool(np.all(values < np.trace(S)))


def short_steps_converge_from_everywhere(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    start, near = np.array([[rng.uniform(1.85, 2.2)]]), np.array([[rng.uniform(0.1, 1)]])
    one = np.eye(1)
    for _ in range(300):
        if abs(start[0, 0]) < 1e6:
            start = step(start, one, 0.45)  # below 1/2
        near = step(near, one, 0.25)
    return abs(abs(start[0, 0]) - 1) < 1e-6, abs(near[0, 0] - 1) < 1e-6


def all_errors_shrink(seed: int) -> tuple[bool, bool]:
    """Near a solution every multiplier would be below one; rotations have the multiplier one."""
    rng = np.random.default_rng(seed)
    S, size = np.diag([4.0, 2.5, 1.0, 0.4]), 1e-5
    solution = np.eye(4)[:, :2]
    turn = size * rng.uniform(0.5, 1) * np.array([[0, -1.0], [1, 0], [0, 0], [0, 0]])
    other = np.vstack([np.zeros((2, 2)), size * rng.normal(size=(2, 2))])
    factors = [
        np.linalg.norm(step(solution + error, S, 0.1) - solution) / np.linalg.norm(error)
        for error in (turn, other)
    ]
    return factors[0] < 0.999, abs(factors[0] - 1) < 1e-3 and factors[1] < 0.99


def only_a_start_on_the_ridge_ends_there(seed: int) -> tuple[bool, bool]:
    """Stationary at once, or it would leave for the best direction: neither happens."""
    rng = np.random.default_rng(seed)
    S, T = np.diag([2.0, 1.0]), np.array([[0.0], [rng.uniform(0.1, 0.8)]])
    at_rest = np.linalg.norm(step(T, S, 0.1) - T) < 1e-6
    other = T + np.array([[1e-3], [0]])
    for _ in range(600):
        T, other = step(T, S, 0.1), step(other, S, 0.1)
    ends_there = abs(T[1, 0] - 1) < 1e-6
    return (not ends_there) or at_rest, ends_there and abs(abs(other[0, 0]) - 1) < 1e-6


def no_weight_beyond_the_first_directions(seed: int) -> tuple[bool, bool]:
    """The largest trace would need all weight on the first d eigenvectors; ties allow others."""
    rng = np.random.default_rng(seed)
    values, basis = np.array([3.0, 2, 2, 2, 0.5]), np.linalg.qr(rng.normal(size=(5, 5)))[0]
    M = basis * values @ basis.T
    mix = np.linalg.qr(rng.normal(size=(3, 1)))[0]
    best = np.column_stack([basis[:, 0], basis[:, 1:4] @ mix])
    assert np.isclose(np.trace(best.T @ M @ best), 5)
    weights = np.sum((best.T @ basis) ** 2, axis=0)
    Q = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    lost = (values - values[1]) * ([1, 1, 0, 0, 0] - np.sum((Q.T @ basis) ** 2, axis=0))
    identity = np.isclose(5 - np.trace(Q.T @ M @ Q), lost.sum()) and lost.min() > -1e-12
    return np.allclose(weights[2:], 0), bool(identity) and np.allclose(weights[4], 0)


def constant_length(seed: int, noise: float) -> tuple[bool, list[float]]:
    """Is g above s₁/5; how far one step leads from the solution, and 40 from close to it."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 10)
    X = 2 * rng.normal(size=(25, 4))[:, labels] + noise * rng.normal(size=(25, 40))
    sigma, H = covariance(X), explicit_indicator(labels)
    solution = exact_directions(X, labels, 2).directions
    outside = np.linalg.norm(sigma @ solution - H @ (H.T @ sigma @ solution), 2)
    ends = []
    for U, n_steps in ((solution, 1), (solution * [1 + 1e-4, 1], 40)):
        for _ in range(n_steps):
            G = 2 * sigma @ U - U @ (U.T @ sigma @ U) - sigma @ U @ (U.T @ U)
            U = H @ (H.T @ (U + 0.1 * G / np.linalg.norm(G, 2)))
        ends.append(float(np.linalg.norm(U - solution)))
    return bool(outside > np.linalg.norm(H.T @ sigma @ H, 2) / 5), ends


def rest_if_and_only_if_clusters_fit_badly(seed: int) -> tuple[bool, bool]:
    badly, (at, close) = constant_length(seed, 0.5)
    also, (_, drawn) = constant_length(seed, 4.0)
    rests = at < 1e-9
    return rests == badly, close > 1e-3 and not badly and also and drawn < 1e-5


def constant_length_converges(seed: int) -> tuple[bool, bool]:
    """Erratum 11: clusters that fit well; a constant factor converges from the same start."""
    _, (_, close) = constant_length(seed, 0.5)
    rng = np.random.default_rng(seed)
    S, T = random_covariance(rng, 4), np.linalg.qr(rng.normal(size=(4, 2)))[0] * 0.8
    for _ in range(6000):
        T = step(T, S, 1 / (4 * np.linalg.norm(S, 2)))
    least = np.linalg.eigvalsh(S)[:-2].sum()
    return close < 1e-4, abs(objective(T, S) - least) < 1e-3


# ---------------------------------------- other chapters


def quasi_modes_are_eigenvectors(seed: int) -> tuple[bool, bool]:
    """Small residual of the cosine, and yet the first eigenvector is a mixture."""
    correlations, residuals = [], []
    for k in range(3):
        points = np.random.default_rng([seed, k]).random((400, 2))
        kernel = np.exp(-(squareform(pdist(points)) ** 2) / 0.03)
        degrees = kernel.sum(axis=1)
        values, vectors = np.linalg.eigh(kernel / np.sqrt(np.outer(degrees, degrees)))
        first = vectors[:, -2] / np.sqrt(degrees)
        waves = np.cos(np.pi * points)
        P = kernel / degrees[:, None]
        wave = waves[:, 0]
        rest = P @ wave - wave * (wave @ P @ wave) / (wave @ wave)
        residuals.append(np.linalg.norm(rest) / np.linalg.norm(wave) / (1 - values[-6]))
        correlations.append(max(abs(np.corrcoef(first, w)[0, 1]) for w in waves.T))
    return min(correlations) > 0.98, max(residuals) < 0.35


def only_mahalanobis_is_invariant(seed: int) -> tuple[bool, bool]:
    """Up to a factor no other quadratic distance; but one from fourth moments is invariant too."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(80, 3))
    mixed = X @ rng.normal(size=(3, 3)).T

    def distances(data: Array, moments: bool) -> Array:
        centred = data - data.mean(axis=0)
        inverse = np.linalg.inv(np.cov(data.T))
        far = np.sum(centred @ inverse * centred, axis=1) if moments else np.ones(len(data))
        return pdist(data, "mahalanobis", VI=np.linalg.inv(centred.T * far @ centred))

    invariant = np.allclose(distances(X, True), distances(mixed, True))
    ratio = distances(X, True) / distances(X, False)
    other = np.ptp(ratio) > 0.02 * ratio.mean()
    among = np.allclose(distances(X, False), distances(mixed, False))
    return not (invariant and other), among


def reversed_pseudo_inverses_fail_for_most_pairs(seed: int) -> tuple[bool, bool]:
    """Of each shape, the share of random pairs for which (AB)† = B†A†."""
    rng = np.random.default_rng(seed)
    shares = {}
    for shape in ((5, 2, 5), (4, 4, 4), (2, 5, 7), (2, 5, 2)):
        agree = []
        for _ in range(10):
            A, B = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
            agree.append(np.allclose(np.linalg.pinv(A @ B), np.linalg.pinv(B) @ np.linalg.pinv(A)))
        shares[shape] = np.mean(agree)
    found = list(shares.values())
    return all(share < 0.5 for share in found), found == [1, 1, 0, 0]


def saturation_needs_noise(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.1, 3, size=12))
    curve = np.cos(np.outer(times, np.arange(1, 61)))  # one hidden variable, no noise
    inverse = np.linalg.pinv(np.cov(curve.T), rcond=1e-10)
    distances = pdist(curve, "mahalanobis", VI=inverse)
    equal = np.allclose(distances, np.sqrt(2 * 11), rtol=1e-5)
    return not equal, equal


# ---------------------------------------- errata


def one_direction_less_than_clusters(seed: int) -> tuple[bool, bool]:
    """Erratum 6: with the covariance as it is there are K directions, centred twice K − 1."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 5)
    X = rng.normal(size=(30, 4))[:, labels]
    ranks = [
        np.linalg.matrix_rank(Y - Y.mean(axis=0)) for Y in (X, X - X.mean(axis=1, keepdims=True))
    ]
    return ranks[0] == 3, ranks == [4, 3]


def unit_columns_make_a_pseudo_inverse(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(6, 2))
    U /= np.linalg.norm(U, axis=0)
    orthonormal = np.linalg.qr(U)[0]
    holds = []
    for W in (U, orthonormal):
        exact = np.linalg.pinv(W * [3.0, 1.0] @ W.T, rcond=1e-10)
        holds.append(np.linalg.norm(W / [3.0, 1.0] @ W.T - exact) < 0.01 * np.linalg.norm(exact))
    return bool(holds[0]), bool(holds[1])


def the_first_two_eigenvalues_differ(seed: int) -> tuple[bool, bool]:
    side = (np.arange(12 + seed) + 0.5) / (12 + seed)
    grid = np.array([(a, b) for a in side for b in side])
    kernel = np.exp(-cdist(grid, grid, "sqeuclidean") / 0.08)
    degrees = kernel.sum(axis=1)
    values = np.linalg.eigvalsh(kernel / np.sqrt(np.outer(degrees, degrees)))
    return values[-2] - values[-3] > 1e-9, values[-3] - values[-4] > 0.01


def few_directions_decompose_the_whole(seed: int) -> tuple[bool, bool]:
    X = np.random.default_rng(seed).normal(size=(30, 8)) * np.arange(1, 9)
    U, values = leading(covariance(X), 4)
    left_out = np.linalg.norm(covariance(X) - U[:, :3] * values[:3] @ U[:, :3].T, 2)
    return left_out < 1e-9, bool(np.isclose(left_out, values[3]))


# ---------------------------------------- rows and columns


def settled(points: Array, labels: Array) -> bool:
    """Does k-means from these labels leave the cost as it is?"""
    found = labels
    for _ in range(20):
        centres = np.array([points[found == k].mean(axis=0) for k in (0, 1)])
        distances = cdist(points, centres, "sqeuclidean")
        tie = np.abs(distances[:, 0] - distances[:, 1]) < 1e-9
        found = np.where(tie, found, distances.argmin(axis=1))
    costs = [
        np.sum((points - average_over_clusters(points, each)) ** 2) for each in (labels, found)
    ]
    return bool(costs[1] > costs[0] - 1e-9)


def at_a_tie_the_returned_labels_are_settled(seed: int) -> tuple[bool, bool]:
    """Two clusterings of the samples of equal cost: only the one that was found is settled."""
    X = np.array([[1, 4, -2, 0], [1, 0, 2, -1], [-2, 2, 0, 2], [1, 3, 0, -1]], dtype=float)
    X = (X - X.mean(axis=0)) * (1 + seed)
    columns = np.array([0, 0, 1, 0])
    outcome = []
    for rows in (np.array([0, 1, 0, 0]), np.array([0, 1, 1, 1])):
        left, values, _ = np.linalg.svd(
            explicit_indicator(rows).T @ X @ explicit_indicator(columns)
        )
        over = explicit_indicator(rows) @ left[:, :1]
        outcome.append((values[0], settled(X.T @ over, columns)))
    assert np.isclose(outcome[0][0], outcome[1][0])
    return outcome[0][1], outcome[1][1]


CLAIMS: dict[str, Claim] = {
    "optimal-directions: H Hᵀ for d = K, whatever the data": all_clusters_leave_no_choice,
    "optimal-directions: zero is a saddle": zero_is_a_saddle,
    "optimal-directions: steps below 1/(2s₁) converge": short_steps_converge_from_everywhere,
    "optimal-directions: all errors shrink": all_errors_shrink,
    "optimal-directions: only a start on the ridge": only_a_start_on_the_ridge_ends_there,
    "optimal-directions: weight on the first d only": no_weight_beyond_the_first_directions,
    "optimal-directions: rest iff g > s₁/5": rest_if_and_only_if_clusters_fit_badly,
    "hidden-square: quasi-modes are eigenvectors": quasi_modes_are_eigenvectors,
    "hidden-variables: no other invariant distance": only_mahalanobis_is_invariant,
    "pseudo-inverse: false for most pairs": reversed_pseudo_inverses_fail_for_most_pairs,
    "why-the-usual-distance-fails: saturation is noise": saturation_needs_noise,
    "errata 6: one direction less than clusters": one_direction_less_than_clusters,
    "errata 11: the iteration converges": constant_length_converges,
    "errata 12: unit columns make a pseudo-inverse": unit_columns_make_a_pseudo_inverse,
    "errata 13: a first eigenfunction and a second": the_first_two_eigenvalues_differ,
    "errata 14: few directions decompose the whole": few_directions_decompose_the_whole,
    "rows-and-columns: the returned labels are settled": at_a_tie_the_returned_labels_are_settled,
}
