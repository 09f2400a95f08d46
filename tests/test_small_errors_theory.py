"""Small errors in the theory that no other test noticed: see ``test_small_errors.py``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from informed.spiked import inflated_variance
from informed.theory import (
    axis_roles,
    error_bound,
    estimate_spectrum,
    expected_errors,
    kmeans_mistakes,
    linkage_failure,
    linkage_samples,
    misclassification_rate,
    predicted_gain,
    recovery,
)
from informed.theory.recovery import samples_for_rate

# --------------------------------------------------------------------------------------- theory


@pytest.mark.parametrize("n", [8, 30])
def test_the_estimated_spectrum_explains_the_sample_covariance(n: int) -> None:
    """Inflated again, the strengths are its leading variances; with the noise, its trace."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2)) * [9, 7] @ rng.normal(size=(2, 12)) + rng.normal(size=(n, 12))
    S = np.cov(X.T)
    strengths, noise = estimate_spectrum(X + 5, 2)
    assert 12 * noise**2 + strengths.sum() == pytest.approx(np.trace(S))
    leading = np.linalg.eigvalsh(S)[::-1][:2]
    assert_allclose(inflated_variance(strengths, 12 / (n - 1), noise**2), leading, rtol=1e-6)


def test_what_cannot_be_told_from_noise_gets_the_strength_of_the_threshold() -> None:
    X = np.random.default_rng(3).normal(size=(10, 40))
    strengths, noise = estimate_spectrum(X, 1)
    assert strengths[0] == pytest.approx(noise**2 * np.sqrt(40 / 9))


def test_a_gain_over_no_error_is_infinite() -> None:
    found = predicted_gain(100, 300, 6, [150.0, 6.0], 1.0)
    assert dataclasses.replace(found, found_error=0.0).gain == np.inf
    assert dataclasses.replace(found, pca_error=0.6, found_error=0.2).gain == pytest.approx(3)


@pytest.mark.parametrize(
    ("n", "q", "strengths", "noise"),
    [(512, 6, [150.0, 6.0], 1.0), (400, 20, [30.0], 0.7), (3000, 100, [9.0, 5.0, 4.0], 1.5)],
)
def test_error_bound_is_the_least_value_of_its_formula(
    n: int, q: int, strengths: list[float], noise: float
) -> None:
    d, variance = len(strengths), noise**2

    def bound(t: float) -> float:
        above = variance * (1 + np.sqrt((q - d) / (n - 1)) + t / np.sqrt(n - 1)) ** 2
        below = (strengths[-1] + variance) * (1 - np.sqrt(d / (n - 1)) - t / np.sqrt(n - 1)) ** 2
        if above >= below:
            return np.inf
        leading = variance * (q - d) / (n - d - 2) * sum(1 / (s + variance) for s in strengths)
        return leading / (1 - above / below) ** 2 + 2 * d * np.exp(-(t**2) / 2)

    least = min(bound(t) for t in np.linspace(0, np.sqrt(n - 1) - np.sqrt(d), 5000)[1:-1])
    assert least < min(d, q - d)
    assert error_bound(n, q, strengths, noise) == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize(("n", "K"), [(60, 8), (200, 20)])
def test_thresholds_are_where_the_expected_errors_begin_to_fall(n: int, K: int) -> None:
    found = predicted_gain(n, 300, K, [50.0, 9.0], 1.3)
    for dimension, threshold in ((300, found.pca_threshold), (K, found.informed_threshold)):
        just_below, just_above = (
            expected_errors(n, dimension, [50.0, factor * threshold], 1.3)[1]
            for factor in (0.999, 1.001)
        )
        assert just_below == 1
        assert just_above < 1


def test_the_offset_of_a_pair_is_twice_the_share_of_the_noise() -> None:
    """A new sample has half the variance of a difference of two: slope and half of the offset."""
    strength, noise = np.array([3.0, 20.0]), 1.3
    roles = axis_roles(strength, noise, 0.5, 4.0)
    assert_allclose(roles.shrinkage, roles.slope + roles.offset / 2)
    plain = axis_roles(strength, noise, 0.0, 0.0)
    assert_allclose(plain.offset, 2 * 1.69 / (strength + 1.69))
    assert_allclose(plain.signal_share, strength / (strength + 1.69))


@pytest.mark.parametrize(("n", "p"), [(20, 4), (60, 30)])
def test_linkage_fails_at_most_as_often_as_its_pairs_do(n: int, p: int) -> None:
    """All pairs of features times the chance of one on the wrong side of the best number."""
    within, between = 2 * 0.5**2, 2 * 0.5**2 + 1.5**2
    cuts = np.linspace((n - 1) * within, (n - 1) * between, 20_000)
    wrong = stats.chi2(n - 1).sf(cuts / within) + stats.chi2(n - 1).cdf(cuts / between)
    expected = p * (p - 1) / 2 * wrong.min()
    assert expected < 1
    assert linkage_failure(n, p, 1.5, 0.5) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("unit", [0.25, 3.0])
@pytest.mark.parametrize(
    "function",
    [
        partial(misclassification_rate, 10),
        partial(linkage_failure, 60, 20),
        partial(linkage_samples, 20),
        partial(kmeans_mistakes, 400, [500] * 6, 3),
        partial(samples_for_rate, 0.01, n_clusters=2, cluster_size=5),
    ],
)
def test_the_unit_of_the_data_does_not_matter(function: Callable[..., float], unit: float) -> None:
    """Recovery depends on how far apart clusters are in units of the noise, and on no unit."""
    expected = function(separation=1.0, noise=0.25)
    assert expected > 0
    assert function(separation=unit, noise=unit / 4) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_clusters_that_cannot_be_told_apart_are_guessed(K: int) -> None:
    found = recovery(2, 1e-6 * np.eye(K), [10] * K, 1.0)
    assert found.misclassified == pytest.approx(1 - 1 / K, abs=1e-3)
    assert_allclose(found.rates.sum(axis=1), 1)
    rate = misclassification_rate(2, 1e-6, 1.0, n_clusters=K)
    assert rate == pytest.approx(1 - 1 / K, abs=1e-3)


@pytest.mark.parametrize(
    "function",
    [
        partial(misclassification_rate, 10),
        partial(linkage_failure, 10, 20),
        partial(linkage_samples, 20),
        partial(kmeans_mistakes, 100, [20, 20], 1),
        partial(samples_for_rate, 0.1, n_clusters=2, cluster_size=5),
    ],
)
@pytest.mark.parametrize("name", ["separation", "noise"])
def test_nothing_is_predicted_without_separation_or_without_noise(
    function: Callable[..., float], name: str
) -> None:
    with pytest.raises(ValueError, match=name):
        function(**{"separation": 1.0, "noise": 1.0, name: 0.0})
    with pytest.raises(ValueError, match="noise"):
        recovery(10, np.eye(2), [5, 5], 0.0)


def test_what_is_left_of_clusters_of_unequal_size_by_hand() -> None:
    """The directions of the truth, averaged over what k-means is expected to find."""
    loadings, sizes = np.array([[1.0, 0.2], [-0.4, 1.0], [0.3, -1.0]]), np.array([5.0, 12.0, 60.0])
    found = recovery(7, loadings, sizes, 1.3)
    assert 0.05 < found.misclassified < 0.5
    left, strengths, _ = np.linalg.svd(np.repeat(loadings, sizes.astype(int), axis=0))
    of_cluster = left[np.cumsum(sizes).astype(int) - 1, :2]
    averaged = np.empty((3, 2))
    for cluster in range(3):
        shares = sizes * found.rates[:, cluster]
        averaged[cluster] = shares @ of_cluster / np.sqrt(shares.sum())
    assert found.misfit == pytest.approx(2 - np.sum(averaged**2))
    assert found.strengths == pytest.approx(np.linalg.svd(averaged * strengths)[1] ** 2)
    assert found.misclassified == pytest.approx(1 - sizes @ np.diag(found.rates) / sizes.sum())
