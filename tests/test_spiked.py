"""Formulas of the spiked model: against each other, against known cases, against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from informed.spiked import (
    detection_threshold,
    inflated_variance,
    limiting_cosine,
    spikes_from_variances,
    strength_from_variance,
)

aspects = st.floats(0.01, 50)
noises = st.floats(0.01, 10)


@given(aspects, noises, st.floats(1.001, 100))
def test_inflation_and_its_inverse_undo_each_other(aspect, noise, times):
    strength = times * detection_threshold(aspect, noise)
    shown = inflated_variance(strength, aspect, noise)
    assert_allclose(strength_from_variance(shown, aspect, noise), strength, rtol=1e-4)


@given(aspects, noises)
def test_all_limits_are_continuous_at_the_threshold(aspect, noise):
    threshold = detection_threshold(aspect, noise)
    just = 1 + 1e-9
    assert limiting_cosine(threshold / just, aspect, noise) == 0
    assert_allclose(limiting_cosine(just * threshold, aspect, noise), 0, atol=1e-7)
    edge = inflated_variance(0.0, aspect, noise)
    assert_allclose(inflated_variance(just * threshold, aspect, noise), edge, rtol=1e-7)
    assert strength_from_variance(0.999 * edge, aspect, noise) == 0


@given(aspects, st.floats(1.01, 100), noises)
def test_only_the_ratio_to_the_noise_counts(aspect, times, noise):
    strength = times * np.sqrt(aspect)
    assert_allclose(
        limiting_cosine(noise * strength, aspect, noise), limiting_cosine(strength, aspect)
    )
    assert_allclose(
        inflated_variance(noise * strength, aspect, noise),
        noise * inflated_variance(strength, aspect),
    )


def test_without_noise_or_with_endless_samples_nothing_is_distorted():
    assert_allclose(limiting_cosine(3.0, 1e-12), 1)
    assert_allclose(inflated_variance(3.0, 1e-12, 0.5), 3.5)
    assert limiting_cosine(3.0, 2.0, 0.0) == 1
    assert inflated_variance(3.0, 2.0, 0.0) == 3


@pytest.mark.parametrize(("n", "q"), [(200, 800), (800, 200)])
def test_one_large_sample_is_close_to_the_limits(n, q):
    rng = np.random.default_rng(0)
    strength, noise = 12.0, 1.5
    X = np.sqrt(noise) * rng.standard_normal((n, q))
    X[:, 0] += np.sqrt(strength) * rng.standard_normal(n)
    values, vectors = np.linalg.eigh(X @ X.T / n)
    found = X.T @ vectors[:, -1]
    cosine = found[0] ** 2 / np.sum(found**2)
    # A wrong exponent of the aspect or of the strength is off by far more than this.
    assert_allclose(cosine, limiting_cosine(strength, q / n, noise), atol=0.04)
    assert_allclose(values[-1], inflated_variance(strength, q / n, noise), rtol=0.12)


def test_strengths_and_noise_come_back_from_the_variances():
    n, q, noise, strengths = 4000, 400, 0.7, np.array([9.0, 4.0])
    rng = np.random.default_rng(1)
    X = np.sqrt(noise) * rng.standard_normal((n, q))
    X[:, :2] += rng.standard_normal((n, 2)) * np.sqrt(strengths)
    values = np.linalg.eigvalsh(X.T @ X / n)[::-1]
    found, level = spikes_from_variances(values[:3], values.sum(), q, q / n)
    assert_allclose(found[:2], strengths, rtol=0.1)
    assert found[2] == 0
    assert_allclose(level, noise, rtol=0.01)


def quick_svd(X):
    """Return singular values and right vectors at full rank, by the smaller Gram matrix."""
    wide = X.shape[0] < X.shape[1]
    squares, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    values, vectors = np.sqrt(squares[::-1]), vectors.T[::-1]
    return values, vectors @ X / values[:, None] if wide else vectors


@pytest.mark.parametrize("aspect", [0.5, 2.0])
def test_a_weak_direction_beside_a_strong_one_leaves_no_trace(aspect):
    """Below the threshold, for two directions: the second half of the limits, as it was proved."""
    rng = np.random.default_rng(0)
    strengths = np.array([12.0, 0.5]) * np.sqrt(aspect)
    edge, traces = inflated_variance(0.0, aspect), []
    for n in (100, 400, 1600):
        q = int(aspect * n)
        rows = []
        for _ in range(12 if n < 1000 else 3):
            X = rng.standard_normal((n, q))
            X[:, :2] += rng.standard_normal((n, 2)) * np.sqrt(strengths)
            values, right = quick_svd(X)
            found = right[1]
            # The identity behind the proof, in the coordinates of the signal and of the noise.
            noise_values, noise_vectors = quick_svd(X[:, 2:])
            pulled = noise_vectors @ (X[:, 2:].T @ X[:, :2]) @ found[:2]
            gaps = values[1] ** 2 - noise_values**2
            assert_allclose(pulled, gaps * (noise_vectors @ found[2:]), atol=1e-6 * n)
            rows.append([np.sum(found[:2] ** 2), values[1] ** 2 / n])
        trace, variance = np.mean(rows, axis=0)
        traces.append(trace)
        assert_allclose(variance, edge, rtol=15 / n ** (2 / 3))
    assert traces[0] > traces[1] > traces[2]
    assert traces[2] < 0.03


# ---------------------------------------- the proof of the limits


def average_limit(z, aspect, noise):
    """The smaller solution of z = 1/ψ + γσ²/(1 − σ²ψ), a quadratic equation."""
    middle = z + noise - aspect * noise
    return (middle - np.sqrt(middle**2 - 4 * z * noise)) / (2 * z * noise)


@pytest.mark.parametrize("aspect", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_steps_of_the_proof_of_the_limits(aspect, seed):
    """The count of large eigenvalues, the limits of both averages, the eigenvector's two halves."""
    rng = np.random.default_rng(seed)
    rows, noise, d = 300, 1.7, 3
    q = int(aspect * rows)
    lambdas = noise * (1 + np.sqrt(aspect) * np.array([8.0, 4.0, 0.4]))
    F = rng.standard_normal((rows, d)) * np.sqrt(lambdas)
    G = rng.standard_normal((rows, q)) * np.sqrt(noise)
    values, vectors = np.linalg.eigh(np.hstack([F, G]).T @ np.hstack([F, G]) / rows)
    M = G @ G.T / rows
    edge = noise * (1 + np.sqrt(aspect)) ** 2
    for z in edge * np.array([1.2, 2.0, 3.0, 6.0]):
        inverse = np.linalg.inv(z * np.eye(rows) - M)
        small = np.eye(d) - F.T @ inverse @ F / rows
        assert np.sum(values > z) == np.sum(np.linalg.eigvalsh(small) < 0)
        limit = average_limit(z, aspect, noise)
        assert_allclose(np.trace(inverse) / rows, limit, rtol=0.03)
        slope = 1 / (-1 / limit**2 + aspect * noise**2 / (1 - noise * limit) ** 2)
        assert_allclose(-np.sum(inverse**2) / rows, slope, rtol=0.15)
        squared = M @ inverse @ inverse
        second = np.diag(F.T @ squared @ F) / rows / lambdas
        # Five standard deviations of such a form; the law of large numbers makes them small.
        spread = 5 * np.sqrt(2 * np.sum(squared**2)) / rows
        assert_allclose(second, np.trace(squared) / rows, rtol=0, atol=spread)
        assert_allclose(np.trace(squared) / rows, -limit - z * slope, rtol=0.2)
    # The equation for the place of an eigenvalue, and the inflated variance of the library.
    strengths = lambdas[:2] - noise
    places = inflated_variance(strengths, aspect, noise)
    assert_allclose(lambdas[:2] * average_limit(places, aspect, noise), 1)
    slopes = 1 / (-(lambdas[:2] ** 2) + aspect * noise**2 * lambdas[:2] ** 2 / strengths**2)
    assert_allclose(1 / (-lambdas[:2] * places * slopes), limiting_cosine(strengths, aspect, noise))
    # The lower half of the eigenvector's equation, and the inequality below the threshold.
    upper, lower = np.split(vectors[:, -3], [d])
    right = values[-3] * lower - G.T @ (G @ lower) / rows
    assert_allclose(G.T @ (F @ upper) / rows, right, atol=1e-9)
    z = 1.2 * edge
    left = np.linalg.solve(z * np.eye(q) - G.T @ G / rows, right)
    assert np.linalg.norm(left) <= 3 * np.linalg.norm(lower)


@pytest.mark.parametrize("seed", range(3))
def test_tails_of_quadratic_forms(seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(-1, 2, size=12)
    for omega in (weights, np.abs(weights), np.ones(12)):
        forms = rng.standard_normal((40_000, 12)) ** 2 @ omega - omega.sum()
        for tau in (0.5, 1.0, 2.0, 3.0):
            width = 2 * np.linalg.norm(omega) * np.sqrt(tau)
            above = np.mean(forms >= width + 2 * np.abs(omega).max() * tau)
            assert above <= np.exp(-tau)
            if omega.min() >= 0:
                assert np.mean(forms <= -width) <= np.exp(-tau)
    # The exponent is nearly reached far out: twice as fast a fall would be wrong.
    single = rng.standard_normal(400_000) ** 2 - 1
    assert np.mean(single >= 2 * np.sqrt(3.0) + 6.0) > np.exp(-2 * 3.0) / 3


@pytest.mark.parametrize(("rows", "columns"), [(40, 10), (25, 24), (12, 60)])
def test_cited_bounds_of_singular_values(rows, columns):
    rng = np.random.default_rng(rows)
    drawn = rng.standard_normal((3000, rows, columns))
    values = np.linalg.svd(drawn, compute_uv=False)
    for t in (0.5, 1.0, 2.0):
        above = np.mean(values[:, 0] >= np.sqrt(rows) + np.sqrt(columns) + t)
        assert above <= np.exp(-(t**2) / 2)
        if columns <= rows:
            below = np.mean(values[:, -1] <= np.sqrt(rows) - np.sqrt(columns) - t)
            assert below <= np.exp(-(t**2) / 2)
    # The means that the bounds rest on; without either root they would be exceeded.
    assert np.sqrt(max(rows, columns)) < values[:, 0].mean() <= np.sqrt(rows) + np.sqrt(columns)
    if columns <= rows:
        assert values[:, -1].mean() >= np.sqrt(rows) - np.sqrt(columns)
