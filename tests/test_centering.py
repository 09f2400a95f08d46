"""One centring for all: its two results, and what it does to constant features."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.centering import center
from informed.clusters import cluster_features


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_taken_away_is_the_mean(dtype):
    X = np.random.default_rng(0).normal(3.0, 2.0, (30, 5)).astype(dtype)
    centered, mean = center(X)
    tolerance = 20 * np.finfo(dtype).eps
    assert centered.dtype == mean.dtype == dtype
    assert_allclose(mean, X.mean(axis=0), rtol=tolerance)
    assert_allclose(centered, X - X.mean(axis=0), atol=10 * tolerance)


def test_samples_far_from_zero_keep_their_digits():
    deviations = np.array([[0.0], [1.0], [2.0], [5.0]])
    centered, mean = center(2.0**52 + deviations)
    assert_array_equal(centered, deviations - 2.0)
    assert_array_equal(mean, [2.0**52 + 2.0])


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 / 7, -0.7])
def test_constant_features_are_exactly_zero_and_their_mean_is_their_value(value):
    centered, mean = center(np.full((7, 1), value))
    assert_array_equal(centered, 0.0)
    assert_array_equal(mean, value)


def some_constant_features(n_constant, dtype):
    rng = np.random.default_rng(1)
    constant = np.linspace(0.1, 0.7, n_constant)
    return np.hstack([rng.normal(size=(30, 2)), np.tile(constant, (30, 1))]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_clusters", [3, 4])
def test_functions_and_estimators_agree_on_how_many_clusters_constant_features_leave(
    n_clusters, dtype
):
    X = some_constant_features(5, dtype)
    ways = {
        "function": lambda: cluster_features(X, n_clusters, random_state=0),
        "global": lambda: InformedMahalanobis(2, n_clusters, random_state=0).fit(X).labels_,
        "local": lambda: (
            LocalInformedMahalanobis(30, 2, n_clusters, random_state=0).fit(X).labels_[0]
        ),
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has 5 constant feature")
        for way in ways.values():
            if n_clusters == 3:
                assert_array_equal(way(), [0, 1, 2, 2, 2, 2, 2])
            else:
                with pytest.raises(ValueError, match=r"n_clusters=4 .* only 3 distinct profiles"):
                    way()
