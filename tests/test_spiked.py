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
            _, values, right = np.linalg.svd(X, full_matrices=False)
            found = right[1]
            # The identity behind the proof, in the coordinates of the signal and of the noise.
            _, noise_values, noise_vectors = np.linalg.svd(X[:, 2:], full_matrices=False)
            pulled = noise_vectors @ (X[:, 2:].T @ X[:, :2]) @ found[:2]
            gaps = values[1] ** 2 - noise_values**2
            assert_allclose(pulled, gaps * (noise_vectors @ found[2:]), atol=1e-6 * n)
            rows.append([np.sum(found[:2] ** 2), values[1] ** 2 / n])
        trace, variance = np.mean(rows, axis=0)
        traces.append(trace)
        assert_allclose(variance, edge, rtol=15 / n ** (2 / 3))
    assert traces[0] > traces[1] > traces[2]
    assert traces[2] < 0.03
