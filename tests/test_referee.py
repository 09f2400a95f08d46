"""Statements of *When clusters help*, tried where their author did not look."""

from __future__ import annotations

from itertools import product

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


@pytest.mark.parametrize(("q", "strength", "noise"), [(3, 2.0, 1.0), (6, 0.5, 2.0)])
def test_divergence_of_two_directions_is_the_information_times_the_squared_sine(q, strength, noise):
    rng = np.random.default_rng(q)
    u, v = orthonormal(rng, q, 1)[:, 0], orthonormal(rng, q, 1)[:, 0]
    one, other = (strength * np.outer(w, w) + noise**2 * np.eye(q) for w in (u, v))
    divergence = 0.5 * (np.trace(np.linalg.solve(other, one)) - q)
    information = strength**2 / (noise**2 * (strength + noise**2))
    assert_allclose(divergence, 0.5 * information * (1 - (u @ v) ** 2))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.floats(0.01, 1.0))
def test_directions_of_the_proof_lie_as_far_apart_as_it_says(q, part):
    """Every pair of sign vectors: the squared sine lies between 2h²k and 4h²k."""
    h = np.sqrt(part / (2 * (q - 1)))
    signs = np.array(list(product([-1.0, 1.0], repeat=q - 1)))[: 2**5]
    u = np.column_stack([np.full(len(signs), np.sqrt(1 - (q - 1) * h**2)), h * signs])
    assert_allclose(np.linalg.norm(u, axis=1), 1)
    differ = np.sum(signs[:, None] != signs, axis=2)
    squared = 1 - (u @ u.T) ** 2
    assert (squared >= 2 * h**2 * differ - 1e-12).all()
    assert (squared <= 4 * h**2 * differ + 1e-12).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(5, 4000), st.integers(2, 3000), st.floats(0.05, 500), st.floats(0.1, 5))
def test_floor_lies_below_what_pca_does_and_follows_its_law(n, q, strength, noise):
    floor = error_floor(n, q, strength, noise)
    expected = expected_errors(n, q, [strength], noise)[0]
    assert floor <= expected + 1e-12
    assert floor <= 1 / 16
    first = first_order_errors(n, q, [strength], noise)[0] * (n - 3) / n
    if first < 2:  # below the cap: a factor of 32, whatever the numbers
        assert_allclose(first / floor, 32)


def test_no_direction_of_the_proof_is_found_much_better():
    """PCA on the family of the proof: its worst mean error is above the floor, and within 64."""
    rng = np.random.default_rng(0)
    n, q, strength, noise = 40, 12, 2.0, 1.0
    information = strength**2 / (noise**2 * (strength + noise**2))
    h = np.sqrt(min(1 / (4 * n * information), 1 / (2 * (q - 1))))
    errors = []
    for _ in range(200):
        signs = rng.choice([-1.0, 1.0], q - 1)
        u = np.concatenate([[np.sqrt(1 - (q - 1) * h**2)], h * signs])[:, None]
        errors.append(missing(pca_directions(draw(rng, n, u, [strength], noise), 1).directions, u))
    floor = error_floor(n, q, strength, noise)
    assert floor < np.mean(errors) < 64 * floor


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
