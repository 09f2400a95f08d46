"""The local informed distance against plain loops over explicit local matrices."""

from __future__ import annotations

import math
import pickle
import tracemalloc

import numpy as np
import pytest
from by_hand import SAMPLE_VARIANCES, clustered_data, mahalanobis_matrix_by_hand
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

from informed import (
    DiffusionMap,
    FewerDirectionsWarning,
    InformedMahalanobis,
    LocalInformedMahalanobis,
)
from informed.directions.registry import DIRECTIONS
from informed.metrics import neighborhoods
from informed.metrics.neighbors import include_self

# A sweep over all directions gives each of them a weight, which only one of them reads.
pytestmark = pytest.mark.filterwarnings("ignore::informed.IgnoredParameterWarning")

property_test = settings(max_examples=8, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def make(n_neighbors=10, n_components=3, n_clusters=4, **options):
    options = {"n_init": 2, "random_state": 0} | options
    return LocalInformedMahalanobis(n_neighbors, n_components, n_clusters, **options)


def neighbors_by_hand(X, point, n_neighbors):
    ranked = sorted(range(len(X)), key=lambda j: math.dist(X[j], point))
    return ranked[:n_neighbors]


def distance_by_hand(x, y, x_matrix, y_matrix):
    """½ (x − y)ᵀ (Σ₁† + Σ₂†) (x − y), term by term."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            weight = 0.5 * (x_matrix[i, j] + y_matrix[i, j])
            total += (x[i] - y[i]) * weight * (x[j] - y[j])
    return math.sqrt(max(total, 0.0))


@pytest.mark.parametrize("variances", SAMPLE_VARIANCES)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("seed", [0, 1])
def test_distance_is_the_formula_in_plain_loops(directions, variances, seed):
    X, labels = clustered_data(seed, n_samples=25, sizes=(3, 4, 2, 3))
    new = clustered_data(seed + 50, n_samples=3, sizes=(3, 4, 2, 3))[0]
    options = {"directions": directions, "variances": variances, "penalty": 2.0}
    local = make(**options).fit(X)

    def model(point):
        members = X[neighbors_by_hand(X, point, 10)]
        return mahalanobis_matrix_by_hand(members, labels, 3, directions, variances, 2.0)

    chosen = [0, 3, 7, 11, 24]
    matrices = [model(x) for x in X[chosen]]
    expected = [
        [distance_by_hand(x, y, M, N) for y, N in zip(X[chosen], matrices, strict=True)]
        for x, M in zip(X[chosen], matrices, strict=True)
    ]
    D = local.pairwise_distances()
    assert_allclose(D[np.ix_(chosen, chosen)], expected, rtol=1e-6, atol=1e-12)

    new_matrices = [model(x) for x in new]
    expected = [
        [distance_by_hand(x, y, M, N) for y, N in zip(X[chosen], matrices, strict=True)]
        for x, M in zip(new, new_matrices, strict=True)
    ]
    assert_allclose(local.pairwise_distances(new, X)[:, chosen], expected, rtol=1e-6)

    for i in range(len(X)):
        assert_array_equal(local.neighbors_[i], neighbors_by_hand(X, X[i], 10))
        if directions != "pca":
            assert_array_equal(local.labels_[i], labels)
    if directions == "pca":
        assert local.labels_ is None


@pytest.mark.parametrize("directions", ["exact", "averaged"])
def test_fitted_factors_are_those_of_the_global_metric_on_each_neighbourhood(directions):
    X, _ = clustered_data(2, spread=2.0)
    options = {"directions": directions, "variances": "own"}
    local = make(**options).fit(X)
    assert local.components_.shape == (40, 3, 24)
    assert local.n_features_in_ == 24
    for neighbors, labels, components in zip(
        local.neighbors_, local.labels_, local.components_, strict=True
    ):
        whole = InformedMahalanobis(3, feature_labels=labels, **options).fit(X[neighbors])
        assert_allclose(components, whole.components_, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_a_neighbourhood_are_as_good_as_those_of_k_means(seed):
    # Features centred over all samples, seen in the neighbourhood; clusters that overlap.
    X, _ = clustered_data(seed, n_samples=60, sizes=(20, 20, 20, 20), spread=3.0)
    local = make(n_neighbors=12, n_clusters=5, n_init=10).fit(X)
    ratios = []
    for members, labels in zip(local.neighbors_, local.labels_, strict=True):
        rows = (X - X.mean(axis=0))[members].T
        centers = np.array([rows[labels == k].mean(axis=0) for k in range(5)])
        # No feature is nearer to another centre than to its own.
        assert_array_equal(np.argmin(cdist(rows, centers), axis=1), labels)
        # Numbered by first occurrence.
        assert_array_equal(np.argsort(np.unique(labels, return_index=True)[1]), np.arange(5))
        alternative = KMeans(5, n_init=10, random_state=0).fit(rows)
        ratios.append(np.sum((rows - centers[labels]) ** 2) / alternative.inertia_)
    assert np.mean(ratios) < 1.005
    assert np.max(ratios) < 1.05


def test_one_neighbourhood_of_all_samples_is_the_global_metric():
    X, _ = clustered_data(3)
    local = make(n_neighbors=40).fit(X)
    whole = InformedMahalanobis(3, 4, random_state=0).fit(X)
    assert_allclose(local.pairwise_distances(), whole.pairwise_distances(X), atol=1e-8)


def test_n_clusters_none_means_one_more_than_the_directions():
    X, _ = clustered_data(4)
    assert_array_equal(make(n_clusters=None).fit(X).labels_.max(axis=1) + 1, 4)


@property_test
@given(
    seed=seeds,
    directions=st.sampled_from(DIRECTIONS),
    variances=st.sampled_from(SAMPLE_VARIANCES),
)
def test_symmetric_non_negative_and_zero_on_the_diagonal(seed, directions, variances):
    X, _ = clustered_data(seed, n_samples=20)
    local = make(directions=directions, variances=variances, penalty=1.0).fit(X)
    D = local.pairwise_distances()
    assert (D >= 0).all()
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert (D[np.triu_indices(20, 1)] > 0).all()
    assert_allclose(local.pairwise_distances(X[:5], X[5:9]), D[:5, 5:9], rtol=1e-9)
    assert_allclose(local.pairwise_distances(X[5:9], X[:5]), D[5:9, :5], rtol=1e-9)


@property_test
@given(seed=seeds, exponent=st.floats(-4, 4), size=st.floats(0, 8))
def test_units_origin_and_orders_do_not_matter(seed, exponent, size):
    X, _ = clustered_data(seed, n_samples=20)
    rng = np.random.default_rng(seed)
    expected = make().fit(X).pairwise_distances()
    moved = X + 10.0**size * rng.normal(size=X.shape[1])
    # What a shift of size s leaves of the data is exact to s times the machine precision.
    exact_to = 1e-8 + 10.0**size * 1e-13
    assert_allclose(make().fit(moved).pairwise_distances(), expected, atol=exact_to)
    assert_allclose(
        make().fit(10.0**exponent * X).pairwise_distances(), expected, atol=1e-8, rtol=1e-8
    )
    features, samples = rng.permutation(X.shape[1]), rng.permutation(len(X))
    shuffled = make().fit(X[np.ix_(samples, features)]).pairwise_distances()
    assert_allclose(shuffled, expected[np.ix_(samples, samples)], atol=1e-8)


def test_a_locally_linear_transformation_cannot_be_seen():
    # Two far-away clouds, each with its own linear map from the hidden plane (E4 of the paper).
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(40, 2))
    maps = rng.normal(size=(2, 3, 2))
    features = np.repeat(np.arange(3), 5)
    X = np.vstack([hidden[:20] @ maps[0].T, hidden[20:] @ maps[1].T + 1000])[:, features]
    D = make(n_neighbors=20, n_components=2, n_clusters=3).fit(X).pairwise_distances()
    for cloud in (np.arange(20), np.arange(20, 40)):
        inverse = np.linalg.inv(np.cov(hidden[cloud], rowvar=False))
        for i in cloud[:5]:
            for j in cloud[5:10]:
                step = hidden[i] - hidden[j]
                assert_allclose(D[i, j], math.sqrt(step @ inverse @ step), rtol=1e-8)


# --------------------------------------------------------------------- it is not a metric


def test_counter_example_to_the_triangle_inequality_of_the_docstring():
    X = np.array([[0.0], [0.5], [1.0]])
    local = LocalInformedMahalanobis(3, 1, 1).fit(X)
    local.components_ = np.array([1.0, 0.01, 1.0]).reshape(3, 1, 1)
    D = local.pairwise_distances()
    assert_allclose(D[0, 2], 1.0)
    assert round(D[0, 1] + D[1, 2], 2) == 0.71
    assert "d(0, 1) = 1 exceeds d(0, ½) + d(½, 1) ≈ 0.71" in LocalInformedMahalanobis.__doc__


def test_data_that_break_the_triangle_inequality():
    # Dense around 0 and 1, where a unit is many standard deviations, and sparse around ½.
    spots = [np.linspace(-0.02, 0.02, 5), 0.5 + 0.3 * np.linspace(-1, 1, 5) ** 3]
    X = np.concatenate([*spots, 1 + spots[0]])[:, None]
    D = LocalInformedMahalanobis(5, 1, 1, random_state=0).fit(X).pairwise_distances()
    start, middle, end = 2, 7, 12
    assert_allclose(X[[start, middle, end], 0], [0, 0.5, 1], atol=1e-12)
    assert D[start, end] > 1.2 * (D[start, middle] + D[middle, end])


def test_different_samples_may_be_at_distance_zero():
    X, labels = clustered_data(5, n_samples=20, spread=0.0)
    pair = np.flatnonzero(labels == 0)[:2]
    twin = X[0].copy()
    twin[pair] += [0.01, -0.01]  # has mean zero over every cluster
    local = make(n_components=2).fit(X)
    # The feature clusters are exact, so no local direction sees the difference.
    assert_allclose(local.pairwise_distances(twin[None], X)[0, 0], 0.0, atol=1e-10)


# ----------------------------------------------------------------------------------- new samples


@pytest.mark.parametrize("directions", ["exact", "pca"])
def test_shapes_and_arguments_of_pairwise_distances(directions):
    X, _ = clustered_data(6)
    new, _ = clustered_data(7, n_samples=6)
    local = make(directions=directions).fit(X)
    D = local.pairwise_distances()
    to_training = local.pairwise_distances(new, X)
    assert to_training.shape == (6, 40)
    assert_allclose(local.pairwise_distances(None, new), to_training.T, rtol=1e-9)
    # One argument means what it means for the global metric: the samples among themselves.
    among = local.pairwise_distances(new)
    assert among.shape == InformedMahalanobis(2).fit(X).pairwise_distances(new).shape == (6, 6)
    assert_allclose(among, local.pairwise_distances(new, new), atol=1e-7)
    assert local.pairwise_distances(new, new[:2]).shape == (6, 2)
    assert_allclose(local.pairwise_distances(squared=True), D**2, rtol=1e-12)
    assert_allclose(local.pairwise_distances(new, X, squared=True), to_training**2, rtol=1e-12)
    # A training sample that is given as new is the training sample.
    assert_allclose(local.pairwise_distances(X), D, atol=1e-12)
    assert_allclose(local.pairwise_distances(X[3:9], X[20:]), D[3:9, 20:], rtol=1e-9)


def test_a_new_sample_gets_the_model_of_its_own_training_neighbours():
    X, _ = clustered_data(8)
    local = make().fit(X)
    # So near a training sample that it has the same neighbours, and so the same model.
    near = X[[4]] + 1e-9
    assert_allclose(local.pairwise_distances(near, X), local.pairwise_distances()[[4]], atol=1e-6)


def test_new_samples_leave_the_fitted_state_alone():
    X, _ = clustered_data(9)
    local = make().fit(X)
    before = pickle.dumps((local.components_, local.neighbors_, local.labels_))
    local.pairwise_distances(X[:3] + 1)
    assert pickle.dumps((local.components_, local.neighbors_, local.labels_)) == before


def test_refitting_forgets():
    X, _ = clustered_data(10)
    other, _ = clustered_data(11)
    local = make().fit(other).fit(X)
    assert_array_equal(local.pairwise_distances(), make().fit(X).pairwise_distances())


# ------------------------------------------------------------------ workers, threads, duplicates


def test_workers_do_not_change_a_bit():
    X, _ = clustered_data(12, n_samples=30, spread=1.0)
    one = make(n_jobs=1).fit(X)
    two = make(n_jobs=2).fit(X)
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.neighbors_, two.neighbors_)
    assert_array_equal(one.pairwise_distances(), two.pairwise_distances())
    assert_array_equal(one.pairwise_distances(X[:3] + 0.1), two.pairwise_distances(X[:3] + 0.1))


def test_threads_do_not_change_a_bit():
    # Wide enough for BLAS to use its threads, had it any.
    X, _ = clustered_data(13, n_samples=60, sizes=(150, 200, 250, 200), spread=1.0)
    fits = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            fits.append(make(n_neighbors=40).fit(X))
    one, two = fits
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.neighbors_, two.neighbors_)
    assert_allclose(one.pairwise_distances(), two.pairwise_distances(), rtol=1e-12)


def test_each_neighbourhood_is_computed_on_one_thread(monkeypatch):
    # Whether a second thread would change a bit depends on the machine; that there is none, not.
    def threads():
        return max(library["num_threads"] for library in threadpool_info())

    seen = []

    def recording(*args):
        seen.append(threads())
        return find_model(*args)

    find_model = neighborhoods.find_model
    monkeypatch.setattr(neighborhoods, "find_model", recording)
    X, _ = clustered_data(14, n_samples=12)
    with threadpool_limits(limits=2):
        assert threads() == 2
        make(directions="pca").fit(X)
        assert threads() == 2
    assert seen == [1] * 12


def test_random_state_is_one_seed_for_all_neighbourhoods():
    X, _ = clustered_data(14, spread=2.0)
    fixed = make(n_init=1, random_state=5).fit(X)
    again = make(n_init=1, random_state=5).fit(X)
    assert_array_equal(fixed.components_, again.components_)
    other = make(n_init=1, random_state=6).fit(X)
    assert (fixed.labels_ != other.labels_).any()
    # All samples have the same neighbourhood: they get the same model.
    same = make(n_neighbors=40, n_init=1, random_state=5, directions="exact").fit(X)
    assert_array_equal(same.labels_, np.broadcast_to(same.labels_[0], same.labels_.shape))
    # A generator is drawn from once, at fit.
    drawn = make(n_init=1, random_state=np.random.RandomState(5)).fit(X)
    assert_array_equal(drawn.labels_, fixed.labels_)


def test_duplicates_are_their_own_nearest_neighbours():
    X, _ = clustered_data(15, n_samples=12)
    X = np.vstack([X, X, X])
    local = make(n_neighbors=24, n_components=2).fit(X)
    assert_array_equal(local.neighbors_[:, 0], np.arange(36))
    assert all(len(set(row)) == 24 for row in local.neighbors_)
    D = local.pairwise_distances()
    assert_allclose(D[:12, 12:24].diagonal(), 0.0, atol=1e-7)
    assert_allclose(D[:12, :12], D[12:24, 24:], atol=1e-7)
    graph = local.kneighbors_graph(2)
    # The two twins of each sample, at distance zero up to rounding, and stored.
    assert graph.nnz == 72
    assert_allclose(graph.data, 0.0, atol=1e-7)
    assert_array_equal(graph.indices % 12, np.repeat(np.arange(36) % 12, 2))


def test_include_self_puts_the_sample_first():
    found = include_self(np.array([[0, 3, 2], [3, 2, 1], [0, 1, 3]]))
    # The last row did not hold its own sample: the farthest entry makes room.
    assert_array_equal(found, [[0, 3, 2], [1, 3, 2], [2, 0, 1]])


@pytest.mark.parametrize("level", [0, 10, 1e6])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_neighbourhood_of_copies_lacks_directions(level, rank):
    X, _ = clustered_data(16, n_samples=20)
    X[7:13] = X[7] + level
    if rank == 1:
        X[10:13] += 0.1 * np.random.default_rng(0).normal(size=X.shape[1])
    with pytest.warns(FewerDirectionsWarning, match=rf"span fewer than {rank + 1} directions"):
        local = make(n_neighbors=5, n_components=rank + 1, directions="pca").fit(X)
    # Sample 7 has copies of itself, and for rank one a second place, among its neighbours.
    assert np.any(local.components_[7], axis=1).sum() == rank
    assert np.any(local.components_[0], axis=1).all()


# --------------------------------------------------------------------------------- sparse graph


@pytest.mark.parametrize("n_candidates", [None, 39])
@pytest.mark.parametrize("block", [None, 500])
def test_graph_holds_the_nearest_by_the_local_distance(n_candidates, block, monkeypatch):
    if block is not None:
        monkeypatch.setattr(neighborhoods, "_BLOCK", block)
    X, _ = clustered_data(17, spread=1.0)
    local = make().fit(X)
    D = local.pairwise_distances()
    graph = local.kneighbors_graph(6, n_candidates=n_candidates)
    assert isinstance(graph, sparse.csr_array)
    assert graph.shape == (40, 40)
    assert graph.nnz == 240
    np.fill_diagonal(D, np.inf)
    expected = np.argsort(D, axis=1)[:, :6]
    assert_array_equal(graph.indices.reshape(40, 6), expected)
    assert_allclose(graph.data.reshape(40, 6), np.take_along_axis(D, expected, 1), rtol=1e-9)
    ones = local.kneighbors_graph(6, mode="connectivity", n_candidates=n_candidates)
    assert_array_equal(ones.indices, graph.indices)
    assert_array_equal(ones.data, 1.0)


@pytest.mark.parametrize("block", [None, 500])
def test_blocks_do_not_change_distances(block, monkeypatch):
    X, _ = clustered_data(18)
    local = make().fit(X)
    D = local.pairwise_distances()
    if block is not None:
        monkeypatch.setattr(neighborhoods, "_BLOCK", block)
    assert_allclose(local.pairwise_distances(), D, rtol=1e-12)


def test_few_candidates_are_the_nearest_by_euclidean_distance():
    X, _ = clustered_data(19, spread=1.0)
    local = make().fit(X)
    D = local.pairwise_distances()
    graph = local.kneighbors_graph(3, n_candidates=8)
    exact = local.kneighbors_graph(3)
    for i in range(40):
        candidates = neighbors_by_hand(X, X[i], 9)[1:]
        best = sorted(candidates, key=lambda j: D[i, j])[:3]
        row = slice(3 * i, 3 * i + 3)
        assert_array_equal(graph.indices[row], best)
        assert_allclose(graph.data[row], D[i, best], rtol=1e-9)
    # … which is not all of the truth here.
    assert (graph.indices != exact.indices).any()


def test_graph_of_the_whole_set_gives_the_dense_diffusion_map():
    X, _ = clustered_data(20)
    local = make().fit(X)
    graph = local.kneighbors_graph(39)
    from_graph = DiffusionMap(metric="precomputed").fit_transform(graph)
    dense = DiffusionMap(metric="precomputed").fit_transform(local.pairwise_distances())
    assert_allclose(from_graph, dense, atol=1e-8)


# ------------------------------------------------------------------------ progress, dtype, memory


def test_progress_bar_on_request(capsys):
    X, _ = clustered_data(21, n_samples=20)
    make().fit(X)
    assert capsys.readouterr().err == ""
    make(verbose=True).fit(X)
    shown = capsys.readouterr().err
    assert "neighbourhoods: 100%" in shown
    assert "20/20" in shown


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_float32_stays_float32(directions):
    X, _ = clustered_data(22, n_samples=20)
    single = X.astype(np.float32)
    local = make(directions=directions, penalty=1.0).fit(single)
    for array in (
        local.components_,
        local.pairwise_distances(),
        local.pairwise_distances(single[:3]),
        local.kneighbors_graph(3),
        local.kneighbors_graph(3, n_candidates=5),
    ):
        assert array.dtype == np.float32
    double = make(directions=directions, penalty=1.0).fit(X)
    assert double.components_.dtype == np.float64
    assert_allclose(local.pairwise_distances(), double.pairwise_distances(), rtol=0.01, atol=0.01)


@pytest.mark.parametrize("directions", ["exact", "pca"])
def test_no_matrix_of_features_by_features(directions):
    X = np.random.default_rng(0).normal(size=(20, 3000))
    local = make(n_components=2, n_clusters=3, directions=directions, n_init=1)
    tracemalloc.start()
    try:
        local.fit(X).pairwise_distances(X)
        local.kneighbors_graph(3, n_candidates=5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 3000**2 / 4


def test_nothing_works_before_fit():
    local = make()
    with pytest.raises(NotFittedError):
        local.pairwise_distances()
    with pytest.raises(NotFittedError):
        local.kneighbors_graph(2)


def test_the_penalty_of_the_first_and_of_the_last_sample_can_be_asked_for():
    X = np.random.default_rng(0).normal(size=(12, 8))
    options = {"directions": "penalized", "penalty": 1.0, "random_state": 0}
    metric = LocalInformedMahalanobis(8, 2, 3, **options).fit(X)
    for sample in (0, 11):
        assert metric.penalty_path(sample).errors.size > 1
    for sample in (-1, 12):
        with pytest.raises(ValueError, match=f"sample={sample} is out of range.* 0 to 11"):
            metric.penalty_path(sample)
