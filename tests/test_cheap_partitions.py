"""A partition that costs no more than the true one is nearly right: the theorem on k-means."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from informed.theory import kmeans_mistakes


def means_of(Y, labels, n_clusters):
    """Each column replaced by the mean of its cluster, as the theorem writes it."""
    members = np.equal.outer(labels, np.arange(n_clusters))
    return Y @ members / np.maximum(members.sum(axis=0), 1) @ members.T


def misplaced(found, truth, n_clusters):
    """Features in a wrong cluster, with the numbering that makes them fewest."""
    numberings = permutations(range(n_clusters))
    return min(int(np.sum(np.array(new)[found] != truth)) for new in numberings)


def draw_features(rng, truth, d, noise, degrees):
    """Centres that are d hidden variables mixed, and the noise around them."""
    n_clusters = truth.max() + 1
    centers = rng.standard_normal((degrees, d)) @ rng.standard_normal((d, n_clusters))
    G = rng.standard_normal((degrees, len(truth)))
    apart = [
        np.linalg.norm(centers[:, k] - centers[:, m])
        for k in range(n_clusters)
        for m in range(k)
    ]  # fmt: skip
    return centers[:, truth], G, centers[:, truth] + noise * G, min(apart)


CASES = [
    (n_clusters, d, noise, seed)
    for n_clusters, d in ((2, 1), (3, 1), (3, 2))
    for noise in (0.05, 0.6, 2.0)
    for seed in (0, 1)
]


@pytest.mark.parametrize(("n_clusters", "d", "noise", "seed"), CASES)
def test_every_partition_that_is_cheap_lies_close_to_the_truth(n_clusters, d, noise, seed):
    """All partitions of eight features, not only those that an algorithm would find."""
    rng = np.random.default_rng(seed)
    truth = np.arange(8) % n_clusters
    C, G, Y, apart = draw_features(rng, truth, d, noise, 12)
    true_cost = np.sum((Y - means_of(Y, truth, n_clusters)) ** 2)
    norm = np.linalg.norm(G, 2)
    smallest = np.bincount(truth).min()
    cheap = 0
    for labels in product(range(n_clusters), repeat=8):
        found = np.array(labels)
        means = means_of(Y, found, n_clusters)
        if np.sum((Y - means) ** 2) > true_cost * (1 + 1e-12):
            continue
        cheap += 1
        B = means - C
        assert np.linalg.matrix_rank(B) <= n_clusters + d
        assert np.linalg.norm(B) <= 2 * np.sqrt(n_clusters + d) * noise * norm + 1e-12
        lost = 4 * np.linalg.norm(B) ** 2 / apart**2
        if lost < smallest:
            assert misplaced(found, truth, n_clusters) <= lost
    assert cheap >= 2  # the true one, at least, under each of its numberings


def test_cheap_partitions_that_stay_are_exact_where_the_theorem_says_so():
    """Part two, with the numbers of the draw, for each partition that Lloyd's algorithm keeps."""
    rng = np.random.default_rng(3)
    spoken = 0
    for noise in (0.02, 0.05, 0.1, 0.3):
        truth = np.arange(8) % 2
        C, G, Y, apart = draw_features(rng, truth, 1, noise, 12)
        true_cost = np.sum((Y - means_of(Y, truth, 2)) ** 2)
        along = np.abs(G.T @ (C[:, 1] - C[:, 0])).max() / apart
        longest = np.linalg.norm(G, axis=0).max()
        lost = 16 * 3 * (noise * np.linalg.norm(G, 2) / apart) ** 2
        if lost >= 4:
            continue
        off = 0.5 * np.sqrt(lost / (4 - lost))
        if apart * (1 - 2 * off) <= 2 * noise * along + 4 * noise * off * longest:
            continue
        spoken += 1
        for labels in product(range(2), repeat=8):
            found = np.array(labels)
            means = means_of(Y, found, 2)
            if len(set(labels)) < 2 or np.sum((Y - means) ** 2) > true_cost * (1 + 1e-12):
                continue
            own = np.sum((Y - means) ** 2, axis=0)
            # The mean of the other cluster, for each feature.
            other = means[:, [int(np.argmax(found != k)) for k in found]]
            if np.all(own <= np.sum((Y - other) ** 2, axis=0)):
                assert misplaced(found, truth, 2) == 0
    assert spoken >= 2


@pytest.mark.parametrize(
    ("n", "size", "noise", "exact"), [(300, 30, 0.05, True), (200, 40, 0.25, False)]
)
def test_the_bound_holds_for_what_kmeans_finds(n, size, noise, exact):
    truth = np.repeat([0, 1, 2], size)
    loadings = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])  # √3 apart
    bound = kmeans_mistakes(n, [size] * 3, 2, 3**0.5, noise)
    assert (bound == 0) == exact
    assert bound < size  # it says something
    rng = np.random.default_rng(n)
    for seed in range(20):
        hidden = rng.standard_normal((n, 2))
        X = hidden @ loadings[truth].T + noise * rng.standard_normal((n, 3 * size))
        X -= X.mean(axis=0)
        found = KMeans(3, n_init=5, random_state=seed).fit(X.T)
        true_cost = np.sum((X - means_of(X, truth, 3)) ** 2)
        assert found.inertia_ <= true_cost * (1 + 1e-9)
        assert misplaced(found.labels_, truth, 3) <= bound


@pytest.mark.parametrize(
    ("n", "sizes", "d", "noise"),
    [(1000, [60, 25, 40], 1, 0.06), (300, [30, 90, 45, 20], 3, 0.05), (1000, [200, 35], 2, 0.25)],
)
def test_the_bound_holds_for_unequal_clusters_and_features_with_levels(n, sizes, d, noise):
    """Sizes that the author did not choose; levels of features do not matter, they are centred."""
    rng = np.random.default_rng(n + d)
    K, truth = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
    loadings = 2 * rng.standard_normal((K, d))
    apart = min(np.linalg.norm(loadings[k] - loadings[m]) for k in range(K) for m in range(k))
    bound = kmeans_mistakes(n, sizes, d, apart, noise)
    assert bound < min(sizes)  # it says something
    for seed in range(8):
        X = 50 * rng.standard_normal(len(truth)) + rng.standard_normal((n, d)) @ loadings[truth].T
        X += noise * rng.standard_normal(X.shape)
        X -= X.mean(axis=0)
        found = KMeans(K, n_init=10, random_state=seed).fit(X.T)
        assert found.inertia_ <= np.sum((X - means_of(X, truth, K)) ** 2) * (1 + 1e-9)
        assert misplaced(found.labels_, truth, K) <= bound


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 10**6), st.integers(1, 200), st.floats(1e-6, 0.999))
def test_four_events_of_the_proof_fail_together_as_rarely_as_it_says(p, n_clusters, failure):
    tau = np.log(4 * p * n_clusters**2 / failure)
    events = np.array([1, n_clusters**2 / 2, p * n_clusters / 2, p])
    assert np.exp(-tau) * events.sum() <= failure


@settings(max_examples=200, deadline=None)
@given(
    st.integers(60, 10**6),
    st.lists(st.integers(1, 5000), min_size=2, max_size=9),
    st.integers(1, 8),
    st.floats(0.01, 10),
    st.floats(0.001, 10),
)
def test_bound_is_the_formula_of_the_theorem(n, sizes, d, separation, noise):
    p, n_clusters = sum(sizes), len(sizes)
    tau = np.log(4) + np.log(p) + 2 * np.log(n_clusters) - np.log(0.05)
    bound = kmeans_mistakes(n, sizes, d, separation, noise)
    if n - 1 <= 4 * tau:
        assert bound == p
        return
    root = (n - 1) ** 0.5 + p**0.5 + (2 * tau) ** 0.5
    kappa = separation * ((n - 1) * (1 - 2 * (tau / (n - 1)) ** 0.5)) ** 0.5
    lost = 16 * (n_clusters + d) * noise**2 * root**2 / kappa**2
    if lost >= min(sizes):
        assert bound == p
        return
    h = 0.5 / (min(sizes) / lost - 1) ** 0.5
    needed = 2 * noise * (2 * tau) ** 0.5 + 4 * noise * h * ((n - 1) ** 0.5 + (2 * tau) ** 0.5)
    assert bound == pytest.approx(0.0 if kappa * (1 - 2 * h) > needed else lost, rel=1e-9)


def test_less_chance_of_failure_costs_more():
    likely, unlikely = (
        kmeans_mistakes(400, [500] * 6, 3, 1.0, 0.25, failure=failure) for failure in (0.5, 1e-6)
    )
    assert 0 < likely < kmeans_mistakes(400, [500] * 6, 3, 1.0, 0.25) < unlikely < 3000


@pytest.mark.parametrize("sizes", [[5], [5, 0.5], [[5, 5]], []])
def test_sizes_that_are_no_clusters_are_refused(sizes):
    with pytest.raises(ValueError, match="sizes"):
        kmeans_mistakes(100, sizes, 1, 1.0, 0.1)
