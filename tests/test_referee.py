"""Statements of *When clusters help*, tried where their author did not look."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spiked_samples import draw, missing, orthonormal

from informed.clusters import cluster_features, indicator
from informed.directions import exact_directions, pca_directions
from informed.theory import (
    distance_moments,
    error_bound,
    error_floor,
    estimate_spectrum,
    expected_errors,
    first_order_errors,
    misfit,
    predicted_gain,
    split_error,
)

# ---------------------------------------- floor


def family(signs, h):
    """The directions of the proof: the matrix of signs times h below the identity, orthonormal."""
    d = signs.shape[1]
    tall = np.vstack([np.eye(d), h * signs])
    values, vectors = np.linalg.eigh(tall.T @ tall)
    return tall @ (vectors / np.sqrt(values)) @ vectors.T


@pytest.mark.parametrize(
    ("q", "d", "strength", "noise"), [(3, 1, 2.0, 1.0), (6, 1, 0.5, 2.0), (7, 3, 4.0, 0.8)]
)
def test_divergence_is_the_information_times_the_squared_sines(q, d, strength, noise):
    rng = np.random.default_rng(q)
    U, V = orthonormal(rng, q, d), orthonormal(rng, q, d)
    one, other = (strength * W @ W.T + noise**2 * np.eye(q) for W in (U, V))
    divergence = 0.5 * (np.trace(np.linalg.solve(other, one)) - q)
    information = strength**2 / (noise**2 * (strength + noise**2))
    assert_allclose(divergence, 0.5 * information * missing(U, V))
    assert_allclose(np.linalg.slogdet(one)[1], np.linalg.slogdet(other)[1])


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.floats(0.01, 1.0), st.integers(0, 10**6))
def test_directions_of_the_proof_lie_as_far_apart_as_it_says(d, rest, part, seed):
    """Pairs of matrices of signs: the squared sines lie between 2h²k and 4h²k."""
    h = np.sqrt(0.4 * part / (d * rest))
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(6, rest, d))
    signs[0], signs[1] = 1.0, -1.0  # the longest, and its opposite
    signs[2] = signs[0]
    signs[2, 0, 0] = -1.0  # one sign away
    spaces = [family(one, h) for one in signs]
    for i in range(6):
        assert_allclose(spaces[i].T @ spaces[i], np.eye(d), atol=1e-12)
        for j in range(i):
            differ = np.sum(signs[i] != signs[j])
            squared = missing(spaces[i], spaces[j])
            assert 2 * h**2 * differ - 1e-12 <= squared <= 4 * h**2 * differ + 1e-12


@settings(max_examples=200, deadline=None)
@given(
    st.integers(12, 4000),
    st.integers(1, 6),
    st.integers(1, 3000),
    st.floats(0.05, 500),
    st.floats(0.1, 5),
)
def test_floor_lies_below_what_pca_does_and_follows_its_law(n, d, rest, strength, noise):
    q, strengths = d + rest, [strength] * d
    floor = error_floor(n, q, strength, noise, n_components=d)
    expected = expected_errors(n, q, strengths, noise).sum()
    assert floor <= expected + 1e-12
    assert floor <= 1 / 20
    first = first_order_errors(n, q, strengths, noise).sum() * (n - d - 2) / n
    if first < 1.6:  # below the cap: a factor of 32, whatever the numbers
        assert_allclose(first / floor, 32)


@pytest.mark.parametrize(
    ("n", "q", "d", "strength", "noise"), [(40, 12, 1, 2.0, 1.0), (60, 9, 3, 5.0, 1.5)]
)
def test_no_directions_of_the_proof_are_found_much_better(n, q, d, strength, noise):
    """PCA on the family of the proof: its mean error is above the floor, and within 64."""
    rng = np.random.default_rng(0)
    information = strength**2 / (noise**2 * (strength + noise**2))
    h = np.sqrt(min(1 / (4 * n * information), 2 / (5 * d * (q - d))))
    errors = []
    for _ in range(200):
        U = family(rng.choice([-1.0, 1.0], size=(q - d, d)), h)
        X = draw(rng, n, U, [strength] * d, noise)
        errors.append(missing(pca_directions(X, d).directions, U))
    floor = error_floor(n, q, strength, noise, n_components=d)
    assert floor < np.mean(errors) < 64 * floor


def test_one_who_knows_the_family_of_the_proof_stays_above_the_floor():
    """The best rule on two neighbours of the family errs as often as the proof says, or more."""
    rng = np.random.default_rng(0)
    n, strength, noise, q, d = 30, 2.0, 1.0, 5, 2
    information = strength**2 / (noise**2 * (strength + noise**2))
    h = np.sqrt(min(1 / (4 * n * information), 2 / (5 * d * (q - d))))
    signs = np.ones((q - d, d))
    other = signs.copy()
    other[0, 0] = -1.0
    U, V = family(signs, h), family(other, h)
    difference = V @ V.T - U @ U.T  # the likelihood ratio depends on the samples through this
    wrong = 0
    for k in range(2000):
        hidden = np.sqrt(strength) * rng.standard_normal((n, d)) @ (U, V)[k % 2].T
        X = hidden + noise * rng.standard_normal((n, q))  # the mean is known
        wrong += (np.sum(X @ difference * X) > 0) != k % 2
    assert wrong / 2000 > 0.25


@pytest.mark.parametrize("n_components", [0, 6, 1.5])
def test_a_floor_needs_directions_and_dimensions_without_signal(n_components):
    with pytest.raises((TypeError, ValueError), match="n_components"):
        error_floor(50, 6, 1.0, 1.0, n_components=n_components)


# ---------------------------------------- sizes that the author did not choose

SIZES = [
    (20, 90, 9, [60.0, 40.0, 20.0, 10.0], 1.0),
    (35, 500, 20, [80.0, 15.0], 1.5),
    (150, 60, 30, [9.0, 8.0, 7.0, 6.0, 5.0], 1.0),
    (400, 200, 5, [3.0, 2.0], 1.0),
]


@pytest.mark.parametrize(("n", "p", "K", "strengths", "noise"), SIZES)
def test_errors_at_other_sizes_and_with_unequal_clusters(n, p, K, strengths, noise):
    rng = np.random.default_rng(p)
    sizes = rng.multinomial(p - K, np.ones(K) / K) + 1
    labels = np.repeat(np.arange(K), sizes)
    d = len(strengths)
    U = indicator(labels) @ orthonormal(rng, K, d)
    drawn = []
    for _ in range(40):
        X = draw(rng, n, U, strengths, noise)
        fits = pca_directions(X, d), exact_directions(X, labels, d)
        drawn.append([missing(fit.directions, U) for fit in fits])
    for measured, q in zip(np.mean(drawn, axis=0), (p, K), strict=True):
        expected = expected_errors(n, q, strengths, noise).sum()
        assert 0.8 < measured / expected < 1.25
        assert measured < error_bound(n, q, strengths, noise)


def test_as_many_directions_as_clusters_leave_no_error():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), [4, 10, 7])
    U = indicator(labels) @ orthonormal(rng, 3, 3)
    X = draw(rng, 12, U, [5.0, 4.0, 3.0], 2.0)
    assert missing(exact_directions(X, labels, 3).directions, U) < 1e-9


# ---------------------------------------- the same samples twice


def surplus_cluster(n, noise, seed):
    """Four clusters, of which the first two are one in truth."""
    rng = np.random.default_rng(seed)
    T = np.array([[0.5, 0.5, -0.5, -0.5], [0, 0, np.sqrt(0.5), -np.sqrt(0.5)]]).T
    U = indicator(np.repeat(range(4), 30)) @ T
    X, other = (draw(rng, n, U, [60.0, 10.0], noise) for _ in range(2))
    labels = cluster_features(X, 4, n_init=10, random_state=seed)
    fits = [exact_directions(data, labels, 2) for data in (X, other)]
    inside = [split_error(fit.directions, U, labels)[1] for fit in fits]
    return misfit(U, labels), *inside, *(fit.variances[-1] for fit in fits)


def test_the_same_samples_twice_do_harm_if_there_is_a_cluster_too_many():
    """The old text said: for the directions it does no harm to use the samples twice."""
    rows = np.array([surplus_cluster(60, 1.5, seed) for seed in range(30)])
    lost, same, other, variance, fresh = rows.mean(axis=0)
    known = expected_errors(60, 4, [60.0, 10.0], 1.5).sum()
    assert lost < 0.35  # most of the clusters are found
    assert same > 1.8 * known
    assert other < 1.8 * known
    assert variance > 1.1 * fresh


# ---------------------------------------- no clusters at all


def test_without_clusters_the_promise_has_a_condition_that_fails():
    rng = np.random.default_rng(0)
    U = orthonormal(rng, 300, 3)
    X = draw(rng, 100, U, [60.0, 40.0, 20.0], 1.0)
    labels = cluster_features(X, 6, n_init=10, random_state=0)
    by_pca = missing(pca_directions(X, 3).directions, U)
    informed = missing(exact_directions(X, labels, 3).directions, U)
    assert informed > 3 * by_pca
    strengths, noise = estimate_spectrum(X, 3)
    promise = predicted_gain(100, 300, 6, strengths, noise)
    assert promise.found_error < by_pca
    assert "if they fit the truth" in str(promise)
    # Told of the misfit, it says what happens.
    told = predicted_gain(100, 300, 6, strengths, noise, misfit=misfit(U, labels))
    assert_allclose(told.found_error, informed, rtol=0.15)


# ---------------------------------------- distances, squared and not squared


@pytest.mark.parametrize("seed", range(2))
def test_squared_distances_shrink_by_the_square_and_distances_by_the_root(seed):
    """One direction, p/n = 4, strength 30: new pairs against training pairs along PCA's axis."""
    rng = np.random.default_rng(seed)
    n, p, strength = 250, 1000, 30.0
    u = orthonormal(rng, p, 1)
    X, fresh = draw(rng, n, u, [strength], 1.0), draw(rng, 2000, u, [strength], 1.0)
    fit = pca_directions(X, 1)
    along = [data @ fit.directions[:, 0] for data in (X, fresh)]
    factor = 1 + p / n / strength
    assert_allclose(along[1].var() / along[0].var(), factor**-2, rtol=0.2)
    lengths = [np.abs(values[::2] - values[1::2]).mean() for values in along]
    assert abs(lengths[1] / lengths[0] - 1 / factor) < 0.12
    mean, _ = distance_moments(
        fit.directions, fit.variances, np.sqrt(strength) * u, 1.0, np.array([[1.0]])
    )
    cosine = float((fit.directions[:, 0] @ u[:, 0]) ** 2)
    assert_allclose(mean[0], (strength * cosine + 2) / fit.variances[0])
