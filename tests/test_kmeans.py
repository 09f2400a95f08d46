"""Many starts at once must do what scikit-learn's k-means does from each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from informed.clusters import kmeans
from informed.clusters.kmeans import GO_ON, best_partition, best_partitions, spread_partitions
from informed.datasets import make_risk_cohort
from informed.metrics import LocalInformedMahalanobis


def blurred(seed, n_points=120, n_dimensions=8, n_clusters=5, spread=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_clusters, size=n_points)
    centers = rng.normal(size=(n_clusters, n_dimensions))
    return centers[labels] + spread * rng.normal(size=(n_points, n_dimensions)), labels


def cost(rows, labels):
    return sum(
        np.sum((rows[labels == k] - rows[labels == k].mean(axis=0)) ** 2) for k in set(labels)
    )


@pytest.mark.parametrize("seed", range(6))
def test_one_start_ends_where_scikit_learn_ends(seed):
    rows, _ = blurred(seed)
    start = spread_partitions(rows, 5, 1, np.random.RandomState(seed))
    centers = np.array([rows[start[0] == k].mean(axis=0) for k in range(5)])
    expected = KMeans(5, init=centers, n_init=1, tol=0).fit(rows)
    labels, found = best_partition(rows, start, 5)
    assert_array_equal(labels, expected.labels_)
    assert found == pytest.approx(expected.inertia_)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_few_starts_is_found_and_its_cost_is_true(seed):
    rows, _ = blurred(seed, spread=2.0)
    starts = spread_partitions(rows, 5, GO_ON, np.random.RandomState(seed))
    alone = [best_partition(rows, start[None], 5)[1] for start in starts]
    labels, found = best_partition(rows, starts, 5)
    assert found == pytest.approx(min(alone))
    assert found == pytest.approx(cost(rows, labels))


def test_the_answer_does_not_depend_on_the_order_of_many_starts():
    rows, _ = blurred(0, spread=2.0)
    starts = spread_partitions(rows, 5, 20, np.random.RandomState(0))
    assert best_partition(rows, starts, 5)[1] == pytest.approx(
        best_partition(rows, starts[::-1], 5)[1]
    )


@pytest.mark.parametrize(("n_clusters", "n_starts"), [(5, 10), (5, 1), (30, 7)])
def test_company_does_not_change_a_bit(n_clusters, n_starts):
    problems = np.array([blurred(seed, spread=2.0)[0].T for seed in range(6)])
    starts = spread_partitions(problems[0].T, n_clusters, n_starts, np.random.RandomState(0))
    # Clusters that nobody starts in must be filled in each problem on its own.
    starts[0] = np.minimum(starts[0], n_clusters - 3)
    labels, costs = best_partitions(problems, starts, n_clusters)
    for problem, together, paid in zip(problems, labels, costs, strict=True):
        alone, cost_alone = best_partition(problem.T, starts, n_clusters)
        assert_array_equal(together, alone)
        assert paid == cost_alone == pytest.approx(cost(problem.T, alone))


def test_more_clusters_than_a_byte_can_count():
    rows = np.random.default_rng(0).normal(size=(400, 3))
    start = np.arange(400)[None] % 300
    labels, found = best_partition(rows, start, 300)
    assert_array_equal(np.unique(labels), np.arange(300))
    assert found == pytest.approx(cost(rows, labels))


@pytest.mark.parametrize("rounds", [1, 2])
def test_after_the_last_round_the_labels_are_as_they_are(rounds, monkeypatch):
    monkeypatch.setattr(kmeans, "MAX_ROUNDS", rounds)
    for seed in range(3):
        rows, _ = blurred(seed, spread=2.0)
        expected = start = np.arange(len(rows)) % 5
        for _ in range(rounds):
            means = np.array([rows[expected == k].mean(axis=0) for k in range(5)])
            expected = np.argmin(((rows[:, None] - means) ** 2).sum(axis=2), axis=1)
        assert_array_equal(best_partition(rows, start[None], 5)[0], expected)


def test_clear_clusters_are_found():
    rows, truth = blurred(1, spread=0.05)
    starts = spread_partitions(rows, 5, 10, np.random.RandomState(0))
    assert adjusted_rand_score(best_partition(rows, starts, 5)[0], truth) == 1.0


def test_an_empty_cluster_is_filled():
    rows, _ = blurred(2)
    start = np.zeros((1, len(rows)), dtype=np.intp)
    labels, found = best_partition(rows, start, 4)
    assert set(labels) == {0, 1, 2, 3}
    assert found == pytest.approx(cost(rows, labels))


def test_starts_are_spread_like_kmeans_plus_plus():
    """A point far from the first centre is drawn with probability D² / Σ D²."""
    rows = np.array([[0.0], [1.0], [3.0]])
    starts = spread_partitions(rows, 2, 20_000, np.random.RandomState(0))
    # Given the first centre 0 the second is 1 with probability 1/10 and 3 with 9/10, and so on;
    # the partition {0, 1 | 3} comes up unless 1 was drawn after 0, or 0 after 1.
    together = np.mean(starts[:, 0] == starts[:, 1])
    assert_allclose(together, 1 - (1 / 10 + 1 / 5) / 3, atol=0.01)


def test_coinciding_points_still_start_every_cluster():
    rows = np.ones((6, 2))
    starts = spread_partitions(rows, 2, 4, np.random.RandomState(0))
    assert all(set(start) == {0, 1} for start in starts)


@pytest.mark.parametrize("n_neighbors", [12, 30])
def test_borrowed_starts_cost_no_more_than_ten_restarts(n_neighbors):
    """What a neighbourhood borrows from others is as good as ten fresh restarts of its own."""
    X = make_risk_cohort(random_state=3).X
    local = LocalInformedMahalanobis(n_neighbors, 6, 7, random_state=0).fit(X)
    centered = X - X.mean(axis=0)
    chosen = range(0, len(X), 4)
    borrowed = [cost(centered[local.neighbors_[i]].T, local.labels_[i]) for i in chosen]
    fresh = [
        KMeans(7, n_init=10, random_state=0).fit(centered[local.neighbors_[i]].T).inertia_
        for i in chosen
    ]
    assert np.mean(borrowed) <= 1.005 * np.mean(fresh)


def spread_by_loops(rows, n_clusters, n_starts, random_state):
    """k-means++ as it is told: draw a centre by squared distances, join the nearest centre."""
    n_points = len(rows)
    centers = [[i] for i in random_state.randint(n_points, size=n_starts)]
    for _ in range(1, n_clusters):
        draws = random_state.uniform(size=(n_starts, 1))[:, 0]
        for own, draw in zip(centers, draws, strict=True):
            squared = [min(np.sum((row - rows[c]) ** 2) for c in own) for row in rows]
            below, chosen = 0.0, 0
            while below + squared[chosen] <= draw * sum(squared):
                below += squared[chosen]
                chosen += 1
            own.append(chosen)
    nearest = [
        [np.argmin([np.sum((row - rows[c]) ** 2) for c in own]) for row in rows] for own in centers
    ]
    return np.array(nearest)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
def test_starts_are_drawn_by_squared_distances_whatever_their_unit(seed, scale):
    rows, _ = blurred(seed, n_points=25, n_dimensions=3)
    found = spread_partitions(scale * rows, 4, 3, np.random.RandomState(seed))
    assert_array_equal(found, spread_by_loops(rows, 4, 3, np.random.RandomState(seed)))


def test_a_start_among_equal_points_still_has_all_its_clusters():
    rows = np.repeat([[0.0, 1.0], [2.0, 3.0]], 4, axis=0)
    for seed in range(10):
        starts = spread_partitions(rows, 2, 3, np.random.RandomState(seed))
        for start in starts:
            assert sorted(set(start)) == [0, 1]
            assert len({(*row, label) for row, label in zip(rows, start, strict=True)}) == 2
