"""K-means with a first look in single precision must give what double precision gives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from informed import LocalInformedMahalanobis
from informed.clusters import features, wide
from informed.clusters.kmeans import best_partitions, spread_partitions
from informed.clusters.wide import _FirstLook, best_wide_partition


def points(kind: str, seed: int, n_dimensions: int = 12, n_points: int = 900) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_dimensions, n_points))
    return {
        "noise": lambda: noise,
        "clusters": lambda: rng.normal(size=(n_dimensions, 5))[:, np.arange(n_points) % 5] + noise,
        "heavy tails": lambda: rng.standard_t(1.5, size=noise.shape),
        # Here even double precision would lose digits, unless the points are centred first.
        "far from zero": lambda: noise + 1e6,
        "one outlier": lambda: np.where(np.arange(n_points) == 7, 1e9, noise),
        "large": lambda: 1e60 * noise,
        "small": lambda: 1e-60 * noise,
        # Ties and copies: half of the decisions are doubtful.
        "grid": lambda: rng.integers(0, 3, size=noise.shape).astype(float),
    }[kind]()


KINDS = [
    "noise",
    "clusters",
    "heavy tails",
    "far from zero",
    "one outlier",
    "large",
    "small",
    "grid",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seed", "n_clusters", "n_starts"), [(0, 5, 10), (1, 2, 1), (2, 17, 6)])
def test_the_labels_are_those_of_double_precision(kind, seed, n_clusters, n_starts):
    columns = points(kind, seed)
    starts = spread_partitions(columns.T, n_clusters, n_starts, np.random.RandomState(seed))
    centered = columns - np.median(columns, axis=1, keepdims=True)
    expected, cost = best_partitions(centered[None], starts, n_clusters)
    labels, found = best_wide_partition(columns, starts, n_clusters)
    if kind != "grid":
        # Where points are as near to two centres, the last bit decides, and any end is right.
        assert_array_equal(labels, expected[0])
    assert found == pytest.approx(cost[0], rel=1e-3 if kind == "grid" else 1e-9)


@pytest.mark.parametrize("block", [3_000, 10**9])
@pytest.mark.parametrize("few", [0, 10**9])
def test_neither_blocks_nor_the_way_of_adding_matter(block, few, monkeypatch):
    columns = points("clusters", 3)
    starts = spread_partitions(columns.T, 6, 8, np.random.RandomState(0))
    expected, _ = best_partitions(columns[None], starts, 6)
    monkeypatch.setattr(wide, "BLOCK", block)
    monkeypatch.setattr(wide, "FEW", few)
    assert_array_equal(best_wide_partition(columns, starts, 6)[0], expected[0])


def test_empty_clusters_are_filled_as_in_double_precision():
    columns = points("clusters", 4)
    starts = spread_partitions(columns.T, 9, 4, np.random.RandomState(0))
    starts[0] = np.minimum(starts[0], 5)
    starts[1] = 0
    for chosen in (starts, starts[:1], starts[1:2]):
        expected, cost = best_partitions(columns[None], chosen, 9)
        labels, found = best_wide_partition(columns, chosen, 9)
        assert_array_equal(labels, expected[0])
        assert found == pytest.approx(cost[0])
        assert len(np.unique(labels)) == 9


@pytest.mark.parametrize("seed", range(3))
def test_a_run_ends_as_soon_as_no_point_moves(seed, monkeypatch):
    columns = points("clusters", seed)
    labels = np.arange(900) % 7
    looks, right = [], _FirstLook.nearest
    monkeypatch.setattr(_FirstLook, "nearest", lambda *given: looks.append(1) or right(*given))
    best_wide_partition(columns, labels[None], 7)
    rounds, before = 0, None
    while not np.array_equal(labels, before):
        before = labels
        means = np.array([columns[:, labels == k].mean(axis=1) for k in range(7)])
        labels = np.argmin(((columns.T[:, None] - means) ** 2).sum(axis=2), axis=1)
        rounds += 1
    assert len(looks) == rounds > 3


def test_more_clusters_than_a_byte_can_count_and_a_single_one():
    columns = points("noise", 5)
    starts = np.arange(900)[None] % 300
    expected, _ = best_partitions(columns[None], starts, 300)
    assert_array_equal(best_wide_partition(columns, starts, 300)[0], expected[0])
    labels, cost = best_wide_partition(columns, np.zeros((2, 900), dtype=int), 1)
    assert not labels.any()
    assert cost == pytest.approx(columns.var(axis=1).sum() * 900)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_first_look_is_sure_of_is_true(kind):
    """Its margin covers rounding: against distances in more digits than double precision has."""
    columns = points(kind, 6, n_dimensions=30, n_points=400)
    columns = columns - np.median(columns, axis=1, keepdims=True)
    starts = spread_partitions(columns.T, 8, 3, np.random.RandomState(0))
    centers = np.array(
        [[columns[:, start == k].mean(axis=1) for k in range(8)] for start in starts]
    )
    labels, doubts = _FirstLook(columns).nearest(centers, np.ones((3, 8), dtype=int))
    exact = columns.astype(np.longdouble).T[None, :, None] - centers[:, None]
    distances = (exact**2).sum(axis=3)
    sure = np.ones(labels.shape, dtype=bool)
    for run, doubtful in doubts:
        sure[run, doubtful] = False
    assert_array_equal(labels[sure], distances.argmin(axis=2)[sure])
    if kind in ("noise", "clusters", "large", "small", "far from zero"):
        assert sure.mean() > 0.99


def test_a_centre_between_two_points_is_doubtful():
    """Two centres as near as single precision can tell: the first look must not decide."""
    columns = np.array([[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    centers = np.array([[[-0.5, 0.0], [0.5 + 1e-9, 0.0]]])
    _, doubts = _FirstLook(columns).nearest(centers, np.array([[1, 2]]))
    assert [(run, found.tolist()) for run, found in doubts] == [(0, [1])]


def test_the_local_metric_has_the_same_bits_either_way(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 6)) @ rng.normal(size=(6, features.WIDE)) + rng.normal(
        size=(14, features.WIDE)
    )
    used = []
    narrow = LocalInformedMahalanobis(8, 2, n_init=3, random_state=0)
    monkeypatch.setattr(features, "WIDE", X.shape[1] + 1)
    narrow.fit(X)
    monkeypatch.setattr(features, "WIDE", X.shape[1])
    monkeypatch.setattr(
        features,
        "best_wide_partition",
        lambda *given: used.append(1) or best_wide_partition(*given),
    )
    found = LocalInformedMahalanobis(8, 2, n_init=3, random_state=0).fit(X)
    # Three neighbourhoods from scratch, then all of them.
    assert len(used) == 3 + len(X)
    assert_array_equal(found.labels_, narrow.labels_)
    assert_array_equal(found.components_, narrow.components_)
