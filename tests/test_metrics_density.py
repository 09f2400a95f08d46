"""The metric as a density: distance to the mean with the part across, likelihood, inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from informed import InformedMahalanobis
from informed.datasets import make_hidden_square

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))[:, [0, 0, 1, 1, 2, 2, 0, 1]] + 0.5 * RNG.normal(size=(40, 8))
NEW = RNG.normal(size=(7, 8))


def whole_covariance(metric: InformedMahalanobis) -> np.ndarray:
    """Form the covariance along and across, by pseudo-inverses."""
    U = metric.directions_
    across = np.eye(len(U)) - U @ np.linalg.pinv(U)
    return metric.get_covariance() + metric.noise_variance_ * across


@pytest.mark.parametrize("directions", ["exact", "averaged", "gradient", "penalized", "pca"])
@pytest.mark.parametrize("variances", ["pca", "own"])
def test_density_is_that_of_the_explicit_covariance(directions: str, variances: str) -> None:
    metric = InformedMahalanobis(2, 3, directions=directions, variances=variances, random_state=0)
    C = whole_covariance(metric.fit(X))
    centered = NEW - metric.mean_
    expected = np.einsum("ij,ij->i", centered @ np.linalg.inv(C), centered)
    assert_allclose(metric.mahalanobis(NEW), expected, rtol=1e-9)
    density = multivariate_normal(metric.mean_, C)
    assert_allclose(metric.score_samples(NEW), density.logpdf(NEW), rtol=1e-9)
    assert metric.score(NEW) == pytest.approx(density.logpdf(NEW).mean())


def test_with_principal_directions_it_is_scikit_learns_pca() -> None:
    metric = InformedMahalanobis(2, directions="pca").fit(X)
    pca = PCA(2).fit(X)
    assert metric.noise_variance_ == pytest.approx(pca.noise_variance_)
    assert_allclose(metric.score_samples(NEW), pca.score_samples(NEW))
    assert_allclose(
        metric.inverse_transform(metric.transform(NEW)), pca.inverse_transform(pca.transform(NEW))
    )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), shift=st.floats(-50, 50), scale=st.floats(0.01, 100))
def test_distance_to_the_mean_ignores_shift_and_scale(
    seed: int, shift: float, scale: float
) -> None:
    data = np.random.default_rng(seed).normal(size=(15, 6))
    labels = [0, 0, 1, 1, 2, 2]
    one = InformedMahalanobis(2, feature_labels=labels).fit(data)
    two = InformedMahalanobis(2, feature_labels=labels).fit(scale * data + shift)
    assert_allclose(two.mahalanobis(scale * data + shift), one.mahalanobis(data), rtol=1e-6)


def test_what_leaves_the_span_is_seen_by_the_distance_and_not_by_the_coordinates() -> None:
    data = make_hidden_square(120, 60, noise=0.05, random_state=0).X
    train, usual = data[:80], data[80:]
    metric = InformedMahalanobis(2, random_state=0).fit(train)
    off = np.random.default_rng(1).normal(size=data.shape[1])
    off -= metric.directions_ @ (metric.directions_.T @ off)
    unusual = usual + off / np.linalg.norm(off) * np.linalg.norm(usual.std(axis=0))
    both = np.vstack([usual, unusual])
    truth = np.repeat([0, 1], len(usual))
    in_span = np.linalg.norm(metric.transform(both), axis=1)
    assert roc_auc_score(truth, in_span) == pytest.approx(0.5, abs=0.05)
    assert roc_auc_score(truth, metric.mahalanobis(both)) > 0.99


def test_inverse_transform_is_the_nearest_point_of_the_span() -> None:
    for directions in ("exact", "averaged"):
        metric = InformedMahalanobis(2, 3, directions=directions, random_state=0).fit(X)
        back = metric.inverse_transform(metric.transform(NEW))
        U = metric.directions_
        expected = metric.mean_ + (NEW - metric.mean_) @ (U @ np.linalg.pinv(U)).T
        assert_allclose(back, expected, atol=1e-10)
        assert_allclose(metric.transform(back), metric.transform(NEW), atol=1e-10)
    with pytest.raises(ValueError, match="X has 3 columns"):
        metric.inverse_transform(np.zeros((2, 3)))


def test_where_nothing_is_left_across_there_is_no_density() -> None:
    flat = X[:, [0, 0, 1, 1]]
    metric = InformedMahalanobis(2, feature_labels=[0, 0, 1, 1]).fit(flat)
    assert metric.noise_variance_ == 0
    with pytest.raises(ValueError, match="n_components=2 leaves no variance across"):
        metric.score(flat)
    whole = InformedMahalanobis(2, feature_labels=[0, 1], variances="own").fit(X[:, [0, 2]])
    expected = multivariate_normal(whole.mean_, np.cov(X[:, [0, 2]].T)).logpdf(X[:, [0, 2]])
    assert_allclose(whole.score_samples(X[:, [0, 2]]), expected)
