"""The next term of the wide-kernel expansion, against kernels and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import norm

from informed import DiffusionMap
from informed.datasets import make_two_types
from informed.groups import bipartition
from informed.theory import kurtosis_samples, predicted_agreement, wide_kernel_matrix


def whitened(X: np.ndarray) -> np.ndarray:
    left = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    return left * np.sqrt(len(X) - 1)


def some_samples(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0] = rng.exponential(size=n)  # skew
    X[:, 1] = rng.choice([-1.0, 1.0], n) + 0.2 * rng.normal(size=n)  # two humps
    return whitened(X @ rng.normal(size=(d, d)))


def markov(Z: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues but the first, and eigenvectors, of the Markov matrix; by hand."""
    kernel = np.exp(-squareform(pdist(Z, "sqeuclidean")) / epsilon)
    sums = kernel.sum(axis=1)
    values, vectors = np.linalg.eigh(kernel / np.sqrt(np.outer(sums, sums)))
    return values[-2::-1], (vectors / np.sqrt(sums)[:, None])[:, -2::-1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 30), st.integers(2, 5))
def test_matrix_is_that_of_the_sums_over_samples(seed: int, n: int, d: int) -> None:
    # B = (W'(G∘G)W − W' G diag(r) W)/(n − 1), the form in which it comes out of the expansion.
    Z = some_samples(seed, n, d)
    G, r = Z @ Z.T, np.sum(Z**2, axis=1)
    W = Z / np.sqrt(n - 1)
    expected = W.T @ (G**2 - G * r) @ W / (n - 1)
    np.testing.assert_allclose(wide_kernel_matrix(Z), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_agree_to_the_next_order(seed: int) -> None:
    n, d = 60, 4
    Z = some_samples(seed, n, d)
    beta = np.linalg.eigvalsh(wide_kernel_matrix(Z))[::-1]
    errors = []
    for epsilon in (1e3, 1e4):
        found = epsilon * markov(Z, epsilon)[0][:d] * n / (2 * (n - 1))
        predicted = 1 + ((n - 1) * d / n + beta) / epsilon
        errors.append(np.abs(found - predicted).max())
    # What is left is of second order: ten times the width, a hundredth of the error.
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_first_coordinate_tends_to_the_leading_eigenvector(seed: int) -> None:
    Z = some_samples(seed, 80, 5)
    b = np.linalg.eigh(wide_kernel_matrix(Z))[1][:, -1]
    limit = Z @ b / np.linalg.norm(Z @ b)
    gaps = []
    for epsilon in (1e3, 1e4):
        vector = markov(Z, epsilon)[1][:, 0]
        vector -= vector.mean()
        gaps.append(1 - abs(vector @ limit) / np.linalg.norm(vector))
    assert gaps[1] < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(100, rel=0.2)  # an angle of order 1/ε, squared


@pytest.mark.parametrize("seed", range(3))
def test_variances_that_differ_by_little_join_the_matrix(seed: int) -> None:
    Z, epsilon = some_samples(seed, 80, 4), 1e4
    eta = np.random.default_rng(seed).uniform(0, 6, 4)
    b = np.linalg.eigh(wide_kernel_matrix(Z) - np.diag(eta))[1][:, -1]
    vector = markov(Z * np.sqrt(1 - eta / epsilon), epsilon)[1][:, 0]
    assert abs(np.corrcoef(vector, Z @ b)[0, 1]) > 0.9999
    # And without them it would be another vector.
    other = np.linalg.eigh(wide_kernel_matrix(Z))[1][:, -1]
    assert abs(np.corrcoef(vector, Z @ other)[0, 1]) < 0.999


def test_limits_of_many_samples() -> None:
    # Independent axes: a coin (kurtosis 1), normal (3), uniform (9/5), exponential (9, skewness 2).
    rng = np.random.default_rng(0)
    n = 400_000
    X = np.column_stack(
        [
            rng.choice([-1.0, 1.0], n),
            rng.normal(size=n),
            rng.uniform(-1, 1, n),
            rng.exponential(size=n),
        ]
    )
    Z = (X - X.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(X, rowvar=False))).T
    # The diagonal is (skewness)² − kurtosis − (d − 1).
    np.testing.assert_allclose(
        wide_kernel_matrix(Z), np.diag([-1 - 3, -3 - 3, -1.8 - 3, 4 - 9 - 3]), atol=0.25
    )


@pytest.mark.parametrize("d", [6, 17])
def test_entries_scatter_as_predicted(d: int) -> None:
    n, rng = 2000, np.random.default_rng(d)
    entries = []
    for _ in range(150):
        Z = whitened(rng.normal(size=(n, d)))
        fourth = (Z * np.sum(Z**2, axis=1)[:, None]).T @ Z / (n - 1)
        entries.append(fourth[np.triu_indices(d, 1)])
    assert n * np.var(entries) == pytest.approx(2 * (d + 4), rel=0.06)


def coin_and_noise(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    coin = rng.permutation(np.arange(n) % 2 * 2 - 1)
    X = np.column_stack([coin, rng.normal(size=(n, d - 1))])
    X -= X.mean(axis=0)
    return X @ np.linalg.inv(np.linalg.cholesky(np.cov(X, rowvar=False))).T, coin


@pytest.mark.parametrize("d", [10, 17, 25])
def test_an_axis_begins_to_show_at_the_predicted_number_of_samples(d: int) -> None:
    threshold = kurtosis_samples(d, 1.0)
    shown = {}
    for times in (0.4, 4.0, 16.0):
        rng, n = np.random.default_rng(d), int(times * threshold)
        overlaps = []
        for _ in range(12):
            Z, _ = coin_and_noise(rng, n, d)
            overlaps.append(np.linalg.eigh(wide_kernel_matrix(Z))[1][0, -1] ** 2)
        shown[times] = np.mean(overlaps)
    assert shown[0.4] < 0.45
    assert shown[4.0] == pytest.approx(1 - 1 / 4, abs=0.12)
    assert shown[16.0] == pytest.approx(1 - 1 / 16, abs=0.03)


def sign_rule(Z: np.ndarray, types: np.ndarray) -> float:
    distances = pdist(Z)
    points = DiffusionMap(
        2, epsilon=2 * np.median(distances) ** 2, metric="precomputed"
    ).fit_transform(squareform(distances))
    same = np.mean(bipartition(points) == types)
    return float(max(same, 1 - same))


def test_types_of_the_toy_reappear_with_more_samples() -> None:
    # The conventional whitened distance, with the authors' kernel: lost at 100, found at 1000.
    found = {}
    for n, draws in ((100, 4), (300, 4), (1000, 1)):
        by_map, by_matrix = [], []
        for seed in range(draws):
            toy = make_two_types(n, random_state=seed)
            Z = whitened(toy.X)[:, :17]
            b = np.linalg.eigh(wide_kernel_matrix(Z))[1][:, -1]
            same = np.mean((Z @ b > 0) == toy.types)
            by_map.append(sign_rule(Z, toy.types))
            by_matrix.append(max(same, 1 - same))
        found[n] = np.mean(by_map)
        # The kernel is not wide without end, and yet the limit describes it.
        np.testing.assert_allclose(by_map, by_matrix, atol=0.12)
    assert found[100] < 0.8
    assert 0.75 < found[300] < 0.95
    assert found[1000] > 0.97
    assert found[300] == pytest.approx(predicted_agreement(300, 17, 1.03), abs=0.1)


def test_predictions() -> None:
    assert kurtosis_samples(17, 1.0) == 178.5
    assert predicted_agreement(178, 17, 1.0) == 0.5
    assert predicted_agreement(357, 17, 1.0) == pytest.approx(norm.cdf(1), abs=1e-12)
    grown = [predicted_agreement(n, 17, 1.5) for n in (200, 400, 800, 1600)]
    assert grown == sorted(grown)


def test_a_mean_may_be_as_far_from_zero_as_is_said() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    X -= X.mean(axis=0)
    Z = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X, rowvar=False))).T
    assert wide_kernel_matrix(Z + 0.9e-6).shape == (2, 2)
    with pytest.raises(ValueError, match=r"off by 1\.1e-06"):
        wide_kernel_matrix(Z + 1.1e-6)


def test_input_is_checked() -> None:
    Z = some_samples(0, 20, 3)
    with pytest.raises(ValueError, match="whitened"):
        wide_kernel_matrix(Z + 1)
    with pytest.raises(ValueError, match="whitened"):
        wide_kernel_matrix(2 * Z)
    with pytest.raises(ValueError, match="below 3"):
        kurtosis_samples(5, 3.0)
    with pytest.raises(ValueError, match="kurtosis"):
        kurtosis_samples(5, 0.9)
    with pytest.raises(ValueError, match="n_components"):
        kurtosis_samples(0, 1.0)
    with pytest.raises(ValueError, match="n_samples"):
        predicted_agreement(1, 5, 1.0)
