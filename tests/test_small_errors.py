"""Small errors that no other test noticed when they were planted (``make mutants``).

Each test holds a property of the result, or compares with another way to it, where the change of an
operator, a constant or a flag would otherwise pass. What they have in common is that the error
shows only in a corner: a factor that a coarse grid hides, a tolerance, two rare events at once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from follow_ups import log_rank_by_loops
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.utils import get_tags

from informed.alternating.estimator import _recluster
from informed.clusters import cluster_features, kmeans
from informed.clusters.features import check_distinct_rows, cluster_rows_from
from informed.clusters.kmeans import fill_empty_clusters
from informed.datasets import make_risk_cohort
from informed.datasets.block_data import _rotation_without_levels
from informed.datasets.blurred import blurred_toy
from informed.datasets.risk_cohort import _factor_for_deaths
from informed.diffusion import DiffusionMap
from informed.directions import (
    analytic_penalty,
    gradient_directions,
    pca_directions,
    subspace_error,
)
from informed.experiments import HiddenSpace
from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
from informed.metrics.global_metric import _cluster_samples
from informed.metrics.model import check_parameters
from informed.metrics.neighborhoods import cluster_from_scratch
from informed.metrics.neighbors import _leaves
from informed.spiked import limiting_cosine, strength_from_variance
from informed.survival import compare_survival

# ------------------------------------------------------------------------------------ data sets


@pytest.mark.parametrize("effect", [0.5, 1.5, 3.0])
def test_the_risk_shortens_every_life_by_its_own_factor(effect: float) -> None:
    """With hazard t^0.3 exp(βz) a patient's time is exp(−βz/1.3) times that without effect."""
    drawn = {"n_samples": 60, "n_features": 7, "n_deaths": 60, "random_state": 4}
    with_effect, without = (
        make_risk_cohort(effect=effect, **drawn),
        make_risk_cohort(effect=0, **drawn),
    )
    assert with_effect.events.all()
    assert_allclose(
        with_effect.durations / without.durations, np.exp(-effect * without.risk / 1.3), rtol=1e-9
    )


@pytest.mark.parametrize(("n_deaths", "factor"), [(1, 2**0.5), (2, 8**0.5), (4, 16.0)])
def test_the_end_of_follow_up_lies_between_two_deaths(n_deaths: int, factor: float) -> None:
    """Halfway on a log scale; after the last death, as far as if another came at four times it."""
    assert _factor_for_deaths(np.array([4.0, 1.0, 8.0, 2.0]), n_deaths) == pytest.approx(factor)


CURVES: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda z: np.tanh(3 * z),
    lambda z: -np.tanh(3 * z),
    lambda z: np.log(1 + np.exp(6 * z)) / 3 - 1,
    lambda z: 1 - np.log(1 + np.exp(-6 * z)) / 3,
    lambda z: 2 * np.exp(-4 * z**2) - 1,
    lambda z: np.sin(np.pi * z),
    lambda z: 0 * z,
]


def test_each_cluster_of_genes_follows_its_curve_of_the_risk() -> None:
    """A gene is level + gain (curve of the risk + 0.6 × own deviation), noise apart."""
    cohort = make_risk_cohort(40_000, 7, noise=0.0, random_state=0)
    bins = np.digitize(cohort.risk, np.linspace(-1, 1, 11)[1:-1])
    for column, label in enumerate(cohort.feature_labels):
        gene, curve = cohort.X[:, column], CURVES[label](cohort.risk)
        design = np.column_stack([np.ones_like(curve), curve])
        (_, gain), *_ = np.linalg.lstsq(design, gene, rcond=None)
        rest = gene - design @ np.linalg.lstsq(design, gene, rcond=None)[0]
        for number in range(10):
            assert abs(rest[bins == number].mean()) < 0.05
        if curve.any():
            assert 0.3 < gain < 1.8
            assert rest.std() / gain == pytest.approx(0.6, rel=0.05)


def test_levels_gains_and_noise_of_genes_have_their_laws() -> None:
    quiet, loud = (make_risk_cohort(200, 3000, noise=noise, random_state=1) for noise in (0.0, 1.6))
    assert_allclose([quiet.X.mean(), quiet.X.mean(axis=0).std()], [8, 1], atol=0.1)
    assert (loud.X - quiet.X).std() == pytest.approx(1.6, rel=0.02)
    for label in range(7):
        genes = quiet.X[:, quiet.feature_labels == label]
        assert genes.shape[1] in (428, 429)
        genes = genes - genes.mean(axis=0)
        together = genes.mean(axis=1)
        gains = genes.T @ together / (together @ together)  # over their mean, which is about one
        assert_allclose(genes, np.outer(together, gains), atol=1e-9)
        assert gains.std() == pytest.approx(0.2, abs=0.04)


def test_times_of_death_and_follow_up_have_their_laws() -> None:
    """Weibull times with scale 110 months and shape 1.3; follow-up within a factor of seven."""
    lives = make_risk_cohort(20_000, 7, n_deaths=20_000, effect=0, random_state=2).durations
    quantiles = np.array([0.1, 0.5, 0.9])
    expected = 110 * (-np.log(1 - quantiles)) ** (1 / 1.3)
    assert_allclose(np.quantile(lives, quantiles), expected, rtol=0.04)
    ends = make_risk_cohort(20_000, 7, n_deaths=1, random_state=2)
    ends = ends.durations[ends.events == 0]
    assert ends.max() / ends.min() == pytest.approx(7, rel=0.01)
    assert np.median(ends) / ends.min() == pytest.approx(4, rel=0.05)
    assert make_risk_cohort(164, 7, random_state=0).events.sum() == 70
    assert make_risk_cohort(2, 7, random_state=0).events.sum() == 1


def test_no_two_seeds_give_the_same_data_without_clusters() -> None:
    drawn = {blurred_toy(2, np.inf, random_state=seed)[0][0, 0] for seed in range(150)}
    assert len(drawn) == 150


@pytest.mark.parametrize("k", [2, 3, 6])
def test_tiles_are_rotations_drawn_alike_in_all_directions(k: int) -> None:
    """So their mean vanishes; each of them is orthogonal among what sums to zero."""
    rng = np.random.RandomState(0)
    drawn = np.array([_rotation_without_levels(k, rng) for _ in range(2000)])
    assert_allclose(drawn[0] @ drawn[0].T, np.eye(k) - 1 / k, atol=1e-12)
    assert_allclose(drawn[0].sum(axis=0), 0, atol=1e-12)
    assert np.abs(drawn.mean(axis=0)).max() < 5 / np.sqrt(2000)


# ------------------------------------------------------------------------------------- clusters


def test_two_clusters_that_are_empty_at_once_get_two_points() -> None:
    partition, sizes = np.zeros(5, dtype=np.intp), np.array([5, 0, 0])
    fill_empty_clusters(partition, np.array([1.0, 5.0, 2.0, 4.0, 0.0]), sizes)
    assert_array_equal(partition, [0, 1, 0, 2, 0])
    assert_array_equal(sizes, np.bincount(partition))


@pytest.mark.parametrize("seed", range(8))
def test_after_the_trial_only_the_cheapest_starts_go_on(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(seed).normal(size=(300, 4))
    starts = kmeans.spread_partitions(rows, 12, 20, np.random.RandomState(seed))
    seen: list[int] = []
    gaps_to_centers = kmeans._gaps_to_centers

    def watched(problems: Any, partitions: Any, *rest: Any) -> Any:
        seen.append(len(partitions))
        return gaps_to_centers(problems, partitions, *rest)

    monkeypatch.setattr(kmeans, "_gaps_to_centers", watched)
    kmeans.best_partition(rows, starts, 12)
    assert seen[: kmeans.TRIAL_ROUNDS] == [20] * kmeans.TRIAL_ROUNDS
    assert seen[kmeans.TRIAL_ROUNDS] == kmeans.GO_ON
    assert (np.diff(seen) <= 0).all()


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_refused_exactly_if_too_few_are_distinct(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, size=(int(rng.integers(2, 9)), int(rng.integers(1, 4)))).astype(float)
    n_distinct = len({tuple(row) for row in rows.tolist()})
    for n_clusters in range(1, 8):
        if n_clusters <= n_distinct:
            check_distinct_rows(rows, n_clusters)
        else:
            with pytest.raises(ValueError, match=f"only {n_distinct} distinct"):
                check_distinct_rows(rows, n_clusters)


def test_copies_of_a_row_are_not_clustered_one_by_one() -> None:
    rows = np.repeat([[0.0, 1.0], [2.0, 3.0]], 4, axis=0)
    with pytest.raises(ValueError, match="only 2 distinct"):
        cluster_rows_from(rows, np.arange(8)[None] % 3, 3)
    assert_array_equal(cluster_rows_from(rows, np.arange(8)[None] % 2, 2), np.arange(8) // 4)


# ----------------------------------------------------------------------------------- directions


@pytest.mark.parametrize("signal", [6.0, 2.0])
@pytest.mark.parametrize("n_clusters", [4, 20, 30])
@pytest.mark.parametrize("seed", range(3))
def test_analytic_penalty_of_one_direction_is_its_closed_form(
    signal: float, n_clusters: int, seed: int
) -> None:
    """η = ℓν/s, up to the step of the grid; the noise within the span of the clusters is free."""
    p, n = 40, 60
    rng = np.random.default_rng(seed)
    labels = np.arange(p) % n_clusters
    direction = rng.normal(size=n_clusters)[labels] + 0.7 * rng.normal(size=p)
    direction /= np.linalg.norm(direction)
    X = signal * rng.normal(size=(n, 1)) * direction + rng.normal(size=(n, p))

    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / (n - 1))
    gamma, noise = p / (n - 1), values[:-1].mean()
    for _ in range(100):
        strength = float(strength_from_variance(values[-1], gamma, noise))
        noise = (values.sum() - strength) / p
    cosine = float(limiting_cosine(strength, gamma, noise))
    u = vectors[:, -1]
    means = np.array([u[labels == k].mean() for k in range(n_clusters)])[labels]
    nu = (1 - cosine) / cosine * (1 - n_clusters / p)
    s = np.sum((u - means) ** 2) / cosine - nu
    assert s > 0.05  # else there is nothing to choose
    step = 7 / 28  # of the grid, in powers of ten
    found = analytic_penalty(X, labels, 1)
    assert abs(np.log10(found / (strength * nu / s))) <= 0.55 * step


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_gradient_that_is_rounding_moves_nothing_in_any_unit(unit: float) -> None:
    """Features that equal the mean of their cluster: PCA is the solution, and the gradient zero."""
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 4
    X = unit * (rng.normal(size=(15, 4)) * [4.0, 2.0, 1.0, 0.5])[:, labels]
    found = gradient_directions(X, labels, 2, step="paper", max_iter=3)
    assert subspace_error(found.directions, pca_directions(X, 2).directions) < 1e-10


# -------------------------------------------------------------------------------------- metrics


def test_folds_are_clustered_as_the_whole_is_from_a_fixed_seed() -> None:
    """Levels of the features do not matter in a fold either, and the seed is always the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))[:, np.arange(20) % 4] + 0.8 * rng.normal(size=(12, 20))
    levels = 10.0 * (np.arange(20) % 3)
    for random_state in (None, 5):
        metric = InformedMahalanobis(2, 4, n_init=1, random_state=random_state)
        recipe = check_parameters(metric, X.shape, metric.n_components)[1]
        expected = cluster_features(X, 4, n_init=1, random_state=0)
        assert_array_equal(_cluster_samples(recipe, X + levels), expected)


@pytest.mark.parametrize("method", ["score", "score_samples", "mahalanobis", "transform"])
def test_a_fitted_metric_stays_with_its_features(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, 6))
    metric = InformedMahalanobis(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="5 features"):
        getattr(metric, method)(X[:, :5])
    assert metric.n_features_in_ == 6


@pytest.mark.parametrize(("n_init", "expected"), [(3, 3), (8, 8), (20, 8)])
def test_starts_come_from_as_many_different_neighbourhoods_as_asked_for(
    n_init: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[np.ndarray] = []

    def watched(samples: np.ndarray, *rest: Any) -> np.ndarray:
        seen.append(samples)
        return cluster_from_scratch(samples, *rest)

    monkeypatch.setattr("informed.metrics.local_metric.cluster_from_scratch", watched)
    X = np.random.default_rng(0).normal(size=(8, 12))
    local = LocalInformedMahalanobis(4, 2, 3, n_init=n_init, random_state=0).fit(X)
    assert len(seen) == expected
    found = {tuple(samples[0]) for samples in seen}  # a sample comes first among its neighbours
    assert len(found) == expected
    assert_array_equal(local.neighbors_[:, 0], np.arange(8))


# ------------------------------------------------------------------------------------ diffusion


@pytest.mark.parametrize("as_graph", [False, True])
@pytest.mark.parametrize(("pair", "factor"), [("nearest", 1.5), ("farthest", 1.001)])
def test_distances_that_differ_by_direction_are_refused(
    as_graph: bool, pair: str, factor: float
) -> None:
    """Also where the difference is small against the largest distance, or against its own."""
    points = np.random.default_rng(0).normal(size=(9, 2))
    D = squareform(pdist(points))
    off_diagonal = D + np.diag(np.full(9, np.nan))
    choose = np.nanargmin if pair == "nearest" else np.nanargmax
    i, j = np.unravel_index(choose(off_diagonal), D.shape)
    wrap = sparse.csr_array if as_graph else np.asarray

    rounded = D.copy()
    rounded[i, j] *= 1 + 1e-7
    DiffusionMap(2, metric="precomputed").fit(wrap(rounded))
    D[i, j] *= factor
    with pytest.raises(ValueError, match="not symmetric"):
        DiffusionMap(2, metric="precomputed").fit(wrap(D))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_symmetric_up_to_rounding_means_the_same_in_any_unit(unit: float) -> None:
    points = np.random.default_rng(0).normal(size=(9, 2))
    points[1] = points[0]
    D = unit * squareform(pdist(points))
    D[0, 1] = 1e-10 * D.max()  # a distance of zero, as rounding may give it
    DiffusionMap(2, metric="precomputed").fit(D)
    D[0, 1] = 1e-6 * D.max()
    with pytest.raises(ValueError, match="not symmetric"):
        DiffusionMap(2, metric="precomputed").fit(D)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_only_distances_are_said_to_be_pairwise_sparse_and_positive(metric: str) -> None:
    tags = get_tags(DiffusionMap(metric=metric)).input_tags
    precomputed = metric == "precomputed"
    assert (tags.pairwise, tags.sparse, tags.positive_only) == (precomputed,) * 3


@pytest.mark.parametrize("n_components", [1, 4, 5, 6])
def test_a_full_graph_gives_what_the_matrix_gives_up_to_all_coordinates(n_components: int) -> None:
    D = squareform(pdist(np.random.default_rng(1).normal(size=(7, 3))))
    dense = DiffusionMap(n_components, metric="precomputed").fit(D)
    graph = DiffusionMap(n_components, metric="precomputed").fit(sparse.csr_array(D))
    assert_allclose(graph.eigenvalues_, dense.eigenvalues_, atol=1e-10)
    assert_allclose(graph.embedding_, dense.embedding_, atol=1e-8)


# ------------------------------------------------------------------------------------- survival


@pytest.mark.parametrize("seed", range(3))
def test_a_group_that_is_rarely_at_risk_still_counts(seed: int) -> None:
    """One patient who dies early among many: the variances of the groups differ a hundredfold."""
    rng = np.random.default_rng(seed)
    n = 150
    durations = np.append(rng.exponential(30, n), 0.5)
    events = np.append(rng.integers(0, 2, n), 1)
    groups = np.append(np.arange(n) % 2, 2)
    statistic, _ = log_rank_by_loops(durations, events, groups)
    result = compare_survival(durations, events, groups)
    assert result.statistic == pytest.approx(statistic, rel=1e-9)
    without = compare_survival(durations[:n], events[:n], groups[:n])
    assert result.statistic > without.statistic + 10


# ---------------------------------------------------------------------------------- alternating


def _cost(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        float(np.sum((points[labels == k] - points[labels == k].mean(axis=0)) ** 2))
        for k in np.unique(labels)
    )


def test_each_round_of_the_alternation_also_starts_afresh() -> None:
    """From labels that k-means cannot leave, a fresh start does; and good labels are kept."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0], [2, 0], [40, 0], [42, 0]])
    truth = np.repeat(np.arange(4), 15)
    points = centers[truth] + 0.1 * rng.normal(size=(60, 2))
    # Left pair together, right pair in three: no single move is cheaper.
    stuck = np.where(truth < 2, 0, np.where(truth == 2, 1, 2 + (points[:, 1] > 0)))
    means = np.array([points[stuck == k].mean(axis=0) for k in range(4)])
    assert_array_equal(KMeans(4, init=means, n_init=1).fit(points).labels_, stuck)
    best = _cost(points, truth)
    costs = [
        _cost(points, _recluster(points, stuck, 4, np.random.RandomState(seed)))
        for seed in range(10)
    ]
    assert np.sum(np.array(costs) < 1.01 * best) >= 5
    assert max(costs) <= _cost(points, stuck) * (1 + 1e-12)


def test_each_round_of_the_alternation_keeps_what_is_cheaper_than_a_fresh_start() -> None:
    """A single fresh start seldom finds thirty clusters; the labels that were there know them."""
    truth = np.repeat(np.arange(30), 4)
    points = np.random.default_rng(0).normal(size=(30, 2))[truth]
    points = points + 0.01 * np.random.default_rng(1).normal(size=points.shape)
    for seed in range(5):
        kept = _recluster(points, truth, 30, np.random.RandomState(seed))
        assert _cost(points, kept) <= _cost(points, truth) * (1 + 1e-12)


def test_a_tree_cuts_points_on_a_line_into_intervals() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 1))
    for seed in range(3):
        leaves = list(_leaves(X, 40, np.random.RandomState(seed)))
        assert sorted(np.concatenate(leaves)) == list(range(1000))
        assert all(20 <= len(leaf) <= 40 for leaf in leaves)
        ends = sorted((X[leaf].min(), X[leaf].max()) for leaf in leaves)
        assert all(high < low for (_, high), (low, _) in pairwise(ends))


# ---------------------------------------------------------------------------------- experiments


def test_a_slope_of_root_twelve_is_shown_as_one() -> None:
    """Erratum 5: the slope of a recovered distance is √12, so the table shows it over √12."""
    nothing = np.zeros((1, 2))
    slopes = np.array([[np.sqrt(12) - 1, np.sqrt(12) + 1], [1.0, 2.0]])
    result = HiddenSpace(
        nothing, nothing, {}, {}, ("a", "b"), np.ones((2, 2)), slopes, np.ones((2, 2))
    )
    rows = result.table.as_dicts()
    assert [row["slope / √12"] for row in rows] == pytest.approx([1.0, 1.5 / 12**0.5])
    assert [row["slope"] for row in rows] == pytest.approx([12**0.5, 1.5])
