"""The situations of the numerical items of exams, built anew for `test_assessment_numbers.py`.

Each function takes the numbers of a question, or its text, and measures the answer on data or
matrices, or finds it by a search, where the item has a formula.
"""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.spatial.distance import pdist
from sklearn.cluster import FeatureAgglomeration
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA

from informed import InformedMahalanobis
from informed.clusters import indicator
from informed.directions import exact_directions
from informed.spiked import detection_threshold, inflated_variance, limiting_cosine
from informed.theory import first_order_errors


def numbers(text: str) -> list[float]:
    """Return the numbers of a question, but those that belong to a name."""
    return [float(word) for word in re.findall(r"(?<![\w.^_])-?\d+(?:\.\d+)?(?!\w|\.\d)", text)]


def told(pattern: str, text: str) -> list[float]:
    """Return the numbers that a pattern finds in a question."""
    found = re.search(pattern, text)
    assert found is not None, (pattern, text)
    return [float(word.replace(",", "")) for word in found.groups()]


def table(n: float, p: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(int(n), int(p)))


# ------------------------------------------------------- Mahalanobis, PCA and pseudo-inverse


def mahalanobis(X: np.ndarray, difference: np.ndarray, divisor: float) -> float:
    centered = X - X.mean(axis=0)
    inverse = np.linalg.pinv(centered.T @ centered / divisor, rcond=1e-10, hermitian=True)
    return float(np.sqrt(difference @ inverse @ difference))


def saturated(n: float, divisor: float) -> float:
    X = table(n, n + 3)
    return mahalanobis(X, X[0] - X[1], divisor)


def from_the_mean(n: float) -> float:
    X = table(n, n + 3)
    return mahalanobis(X, X[0] - X.mean(axis=0), n - 1)


def by_scikit_learn(n: float) -> float:
    X = table(n, n + 3)
    precision = EmpiricalCovariance().fit(X).get_precision()
    return float(np.sqrt((X[0] - X[1]) @ precision @ (X[0] - X[1])))


def seen_through_a_map(covariance: np.ndarray, difference: np.ndarray) -> float:
    """The Mahalanobis distance of features that a tall random matrix makes."""
    A = table(5, len(difference))
    seen = A @ difference
    return float(np.sqrt(seen @ np.linalg.pinv(A @ covariance @ A.T, rcond=1e-10) @ seen))


def uniform_variance(length: float) -> float:
    return float(stats.uniform(0, length).var())


def shortened(k: float, mean: float, variance: float) -> float:
    means = np.full(int(k), mean)
    moments = variance * np.eye(int(k)) + np.outer(means, means)
    right = means @ means / variance
    return float(np.sqrt(right / (means @ np.linalg.inv(moments) @ means)))


def first_entry(text: str) -> float:
    a, b = (int(word) for word in re.findall(r"(\d) x_", text))
    A = np.array([[a, 0], [0, b], [0, 0.0]])
    return float(np.linalg.pinv(A @ np.diag(told(r"variances (\d) and (\d)", text)) @ A.T)[0, 0])


def rank_of_projector(rows: float, columns: float, rank: float) -> float:
    A = table(rows, rank) @ table(rank, columns, 1)
    return float(np.trace(np.linalg.pinv(A, rcond=1e-10) @ A))


def through_one_row(a: float, b: float, difference: list[float]) -> float:
    row = np.array([[a, b]])
    seen = row @ difference
    return float(np.sqrt(seen @ np.linalg.inv(row @ row.T) @ seen))


def error_afterwards(large: float, small: float, error: float) -> float:
    left, right = (np.linalg.qr(table(2, 2, seed))[0] for seed in (0, 1))
    A = left @ np.diag([large, small]) @ right
    return float(np.linalg.norm(np.linalg.pinv(A) @ (error * left[:, 1])))


def mean_square(n: float, d: float) -> float:
    return float(np.mean(pdist(PCA(int(d), whiten=True).fit_transform(table(n, d + 20))) ** 2))


# ------------------------------------------------------------------- clusters and directions


def what_averaging_leaves(p: float, variance: float, clusters: float) -> float:
    H = indicator(np.arange(int(p)) % int(clusters))
    return float(np.trace(variance * H @ H.T))


def block(size: float, variance: float, covariance: float) -> np.ndarray:
    return (variance - covariance) * np.eye(int(size)) + covariance


def variance_of_the_mean(size: float, own: float, common: float) -> float:
    share = np.full(int(size), 1 / size)
    return float(share @ block(size, own + common, common) @ share)


def averaged_tile(entries: list[float]) -> float:
    left, right = indicator([0, 0]), indicator([0, 0, 0])
    tile = np.reshape(entries, (2, 3))
    return float((left @ left.T @ tile @ right @ right.T)[0, 0])


def ky_fan(text: str) -> float:
    listed = re.search(r"eigenvalues ([\d, ]+) and", text)
    assert listed is not None
    values = [float(word) for word in listed[1].split(", ")]
    (clusters,) = told(r"cost of (\d) clusters", text)
    # The best orthonormal matrix with one column less, found among many random ones and the best.
    M = np.diag(values)
    best = np.eye(len(values))[:, : int(clusters) - 1]
    others = [np.linalg.qr(table(*best.shape, seed))[0] for seed in range(50)]
    return float(min(np.trace(M) - np.trace(Q.T @ M @ Q) for Q in [best, *others]))


def rank_of_clusters(clusters: float, *, both: bool) -> int:
    """How many directions features have that agree within clusters, centred once or twice."""
    X = table(40, clusters)[:, np.repeat(np.arange(int(clusters)), 3)]
    X = X - X.mean(axis=0)
    return int(np.linalg.matrix_rank(X - X.mean(axis=1, keepdims=True) if both else X))


def clusters_for(directions: float) -> float:
    return next(k for k in range(1, 99) if rank_of_clusters(k, both=True) == directions)


def one_direction(text: str) -> float:
    first, second = told(r"have (\d+) and (\d+) features", text)
    one, other = told(r"differ by (\d+) in .* by (\d+) in each of the second", text)
    (variance,) = told(r"along the direction is (\d+)", text)
    labels = np.repeat([0, 1], [int(first), int(second)])
    U = indicator(labels) @ told(r"t = \((\S+), (\S+)\)", text)
    return float(abs(U @ np.where(labels == 0, one, other)) / np.sqrt(variance))


def one_feature(text: str) -> float:
    size, variance, change = numbers(text)[-3:]
    U = indicator(np.repeat([0, 1], [int(size), 3])) @ [1, 0]
    difference = np.zeros(len(U))
    difference[0] = change
    return float(abs(U @ difference) / np.sqrt(variance))


def pca_against_own(own: float, by_pca: float) -> float:
    return (1 / own) / (1 / by_pca)


def factor_of_the_mean(size: float) -> float:
    """Found from data: the factor that makes whitened PCA of means the informed metric."""
    labels = np.repeat([0, 1], [int(size), 4])
    X = table(30, 2)[:, labels] + 0.3 * table(30, len(labels), 1)
    ours = pdist(InformedMahalanobis(1, 2, feature_labels=labels, variances="own").fit_transform(X))
    means = FeatureAgglomeration(2).fit(X).transform(X)
    if FeatureAgglomeration(2).fit(X).labels_[0] != 0:
        means = means[:, ::-1]

    def mismatch(factor: float) -> float:
        scaled = means * [factor, 2]  # the other cluster has four features
        return float(np.sum((pdist(PCA(1, whiten=True).fit_transform(scaled)) - ours) ** 2))

    found = optimize.minimize_scalar(mismatch, bounds=(0.5, 9), options={"xatol": 1e-10})
    return float(found.x)


def entry_of_the_best(text: str) -> float:
    first, second = told(r"have (\d+) and (\d+) features", text)
    one, other = told(r"are \$\\pm (\d+)\$ and all of the second \$\\pm (\d+)", text)
    labels = np.repeat([0, 1], [int(first), int(second)])
    row = np.where(labels == 0, one, other)
    return float(abs(exact_directions(np.array([row, -row]), labels, 1).directions[0, 0]))


def largest_step(largest: float) -> float:
    """From where on a point near the optimum is thrown back too far, by the slopes of a step."""
    S = np.diag([largest, largest / 3, 1.0])
    best = np.eye(3)[:, :2]

    def gradient(flat: np.ndarray) -> np.ndarray:
        T = flat.reshape(3, 2)
        rest = np.eye(3) - T @ T.T
        return np.asarray(rest @ S @ T + S @ rest @ T).ravel()

    moves = 1e-5 * np.eye(6)
    slopes = [(gradient(best.ravel() + m) - gradient(best.ravel() - m)) / 2e-5 for m in moves]
    return float(2 / max(abs(np.linalg.eigvals(np.array(slopes)))))


def penalized(text: str) -> float:
    (weight,) = told(r"= (\d)\$\?", text)
    H = np.full((2, 1), 1 / np.sqrt(2))
    S = np.diag(told(r"variances (\d) and (\d)", text))
    return float(np.linalg.eigvalsh(S + weight * H @ H.T).max())


def not_carried(total: float, *carried: float) -> float:
    S = np.diag([*carried, total - sum(carried)])
    U = np.eye(3)[:, :2]
    return float(np.trace((np.eye(3) - U @ U.T) @ S))


def worst_misfit(excess: float, last: float, first_left: float) -> float:
    """The largest misfit of one direction at this excess: it leans towards the next one."""
    M = np.diag([last, first_left])

    def more(angle: float) -> float:
        q = np.array([np.cos(angle), np.sin(angle)])
        return float(last - q @ M @ q - excess)

    return float(np.sin(optimize.brentq(more, 0, np.pi / 2, xtol=1e-14)) ** 2)


def tiles(samples: float, rows: float, features: float, columns: float) -> np.ndarray:
    X = table(samples, features)
    R, C = (
        indicator(np.arange(int(n)) % int(k)) for n, k in ((samples, rows), (features, columns))
    )
    return np.asarray(R.T @ (X - X.mean(axis=0)) @ C)


def cost_of_tiles(total: float, singular: list[float], d: int) -> float:
    B = np.linalg.qr(table(4, 4))[0] @ np.diag(singular) @ np.linalg.qr(table(6, 4, 1))[0].T
    left, values, right = np.linalg.svd(B, full_matrices=False)
    near = left[:, :d] * values[:d] @ right[:d]
    return float(total - np.sum(B**2) + np.sum((B - near) ** 2))


def shared_directions(d: float, other: float) -> float:
    Q = np.linalg.qr(table(60, d + other))[0]
    U, V = Q[:, : int(d)], Q[:, int(other) :]
    return float(np.linalg.norm(U @ U.T - V @ V.T))


# --------------------------------------------------------------------------- local and hidden


def local_distance(first: float, second: float) -> float:
    """Both rulers along a line, and their mean."""
    one, other = np.array([[1 / first]]), np.array([[1 / second]])
    both = (np.linalg.pinv(one) + np.linalg.pinv(other)) / 2
    return float(np.sqrt(np.ones(1) @ both @ np.ones(1)))


def shrunk_error(parts: float) -> float:
    """On the curve $e^x$, whose speed is itself: the exact errors of two pairs about zero."""

    def error(h: float) -> float:
        return float(4 * np.sinh(h / 2) ** 2 * np.cosh(h) - h**2)

    return round(error(1e-3) / error(1e-3 / parts))


def by_derivative(x: float, change: float) -> float:
    slope = ((x + 1e-6) ** 2 - (x - 1e-6) ** 2) / 2e-6
    return change / slope


def on_a_circle(radius: float, speed: float) -> float:
    """What the tangents at both ends see of a chord, against the arc."""
    h = 1e-3
    angle = speed * h / radius
    chord = radius * np.array([np.cos(angle) - 1, np.sin(angle)])
    tangents = np.array([[0, 1], [-np.sin(angle), np.cos(angle)]])
    return float((np.mean((tangents @ chord / speed) ** 2) - h**2) / h**4)


def step_to_the_second(scale: float, first: float, second: float) -> float:
    kernel = np.exp(-np.square([0, first, second]) / scale)
    return float((kernel / kernel.sum())[1])


def eigenvalue_of_a_cosine(text: str) -> float:
    waves = re.search(r"\\cos (\d?)", text)
    assert waves is not None
    (scale,) = told(r"varepsilon = ([\d.]+)", text)
    k, x, h = float(waves[1] or 1), 0.1, 1e-4
    curve = np.cos(k * np.pi * (x + h * np.array([-1, 0, 1])))
    second = (curve[0] - 2 * curve[1] + curve[2]) / h**2
    return float(1 + scale / 4 * second / curve[1])


# ------------------------------------------------------------------------- tests and survival


def kaplan_meier(text: str) -> float:
    from lifelines import KaplanMeierFitter

    listed = re.search(r"seen: ([\d+, ]+)\.", text)
    assert listed is not None
    words = listed[1].split(", ")
    times = [float(word.rstrip("+")) for word in words]
    curve = KaplanMeierFitter().fit(times, [not word.endswith("+") for word in words])
    return float(curve.predict(times[4] + 0.5))


def holm(number: float, first: float, second: float) -> float:
    """The smallest level at which the second is rejected, step by step."""

    def is_rejected(level: float) -> bool:
        return first <= level / number and second <= level / (number - 1)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if is_rejected(middle) else (middle, high)
    return high


def explained(values: list[float]) -> float:
    one, other = np.array(values[:3]), np.array(values[3:6])
    dummies = np.column_stack([np.ones(6), np.repeat([0, 1], 3)])
    y = np.concatenate([one, other])
    rest = y - dummies @ np.linalg.lstsq(dummies, y)[0]
    return float(1 - rest @ rest / np.sum((y - y.mean()) ** 2))


def pooled(*ratios: float) -> float:
    """The number with the least sum of squared differences of logarithms."""
    found = optimize.minimize_scalar(
        lambda log: sum((np.log(ratio) - log) ** 2 for ratio in ratios), options={"xtol": 1e-12}
    )
    return float(np.exp(found.x))


def overlapping(number: float, spread: float) -> float:
    """Splits whose differences are correlated by the share that is held out, 1/4."""
    n, rho = int(number), 0.25
    # s² estimates σ²(1 - ρ); the variance of the mean is σ²(ρ + (1 - ρ)/n).
    share = np.full(n, 1 / n)
    covariance = spread**2 / (1 - rho) * block(n, 1, rho)
    return float(np.sqrt(share @ covariance @ share))


def harmonic(values: list[float]) -> float:
    return float(len(values) / sum(1 / Fraction(str(value)) for value in values))


def smallest_margin(difference: float, reach: float) -> float:
    return float(np.max(np.abs([difference - reach, difference + reach])))


def spiked_distance(text: str, along: float, across: float) -> float:
    part, square = told(r"x = (-?\d+)\$ and .*\^2 = (\d+)", text)
    x = np.array([part, np.sqrt(square - part**2), 0.0])
    return float(x @ np.linalg.inv(np.diag([along, across, across])) @ x)


# ------------------------------------------------------------------------- shrinking, spikes


def exact_case(signal: float, variance: float) -> float:
    """Five samples on a line, and noise at right angles to it that is as large in all samples."""
    away = np.linalg.svd(np.ones((1, 5)))[2][1:].T  # what is at right angles to their mean
    clean = np.outer(away[:, 0], np.eye(6)[0]) * np.sqrt(4 * signal)
    noise = away @ np.eye(6)[1:5] * np.sqrt(4 * (variance - signal))
    _, singular, directions = np.linalg.svd(clean + noise)
    assert singular[0] ** 2 / 4 == pytest.approx(variance)
    return float(directions[0, 0] ** 2)


def risen_error(eta: float) -> float:
    """How much the reconstruction error rises, for each unit by which the misfit falls."""
    S = np.cov(table(30, 6) * np.arange(1, 7), rowvar=False)
    H = indicator([0, 0, 0, 1, 1, 1])

    def both(weight: float) -> tuple[float, float]:
        U = np.linalg.eigh(S + weight * H @ H.T)[1][:, -2:]
        return float(np.trace(S) - np.trace(U.T @ S @ U)), float(2 - np.sum((H.T @ U) ** 2))

    (error, misfit), (later, smaller) = both(eta - 1e-3), both(eta + 1e-3)
    return (later - error) / (misfit - smaller)


def least_factor(signal: float, noise: float) -> float:
    found = optimize.minimize_scalar(
        lambda f: (1 - f) ** 2 * signal + f**2 * noise, options={"xtol": 1e-12}
    )
    return float(found.x)


def least_weight(stands_out: float, signal: float, noise: float) -> float:
    """The weight at which what lies outside is multiplied by the best factor, ℓ/(ℓ + η)."""
    best = least_factor(signal, noise)
    return float(
        optimize.brentq(lambda eta: stands_out / (stands_out + eta) - best, 0, 1e6, xtol=1e-9)
    )


def price(factors: list[float], held: list[float]) -> float:
    def risk(f: float) -> float:
        return sum(h * (f - best) ** 2 for h, best in zip(held, factors, strict=True))

    return float(optimize.minimize_scalar(risk, options={"xtol": 1e-12}).fun)


def of_new_samples(aspect: float, ratio: float) -> float:
    along = 1 + ratio * limiting_cosine(ratio, aspect)
    return float(along / inflated_variance(ratio, aspect))


def first_order(n: float, clusters: float, strength: float, variance: float) -> float:
    # With very many samples, where the degrees of freedom that the library takes are their number.
    many = 10**9
    errors = first_order_errors(many, int(clusters), [strength], np.sqrt(variance))
    return float(np.sum(errors) * many / n)


def visible_from(features: float, ratio: float) -> float:
    return float(
        optimize.brentq(lambda n: detection_threshold(features / n) - ratio, 1, 1e6, xtol=1e-9)
    )


def error_left(d: float, p: float, clusters: float) -> float:
    strengths = np.arange(int(d)) + 2.0
    both = [first_order_errors(100, int(q), strengths, 1.0).sum() for q in (p, clusters)]
    return float(both[1] / both[0])
