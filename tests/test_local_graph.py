"""The local metric as a graph: neighbours, transformer, other searches, samples that coincide."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from by_hand import clustered_data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
)
from sklearn.pipeline import make_pipeline

from informed import DiffusionMap, FewerDirectionsWarning, LocalInformedMahalanobis
from informed.metrics import RandomTrees
from informed.metrics.neighborhoods import few_profiles

X, _ = clustered_data(3, n_samples=40, spread=1.0)
NEW = clustered_data(4, n_samples=9, spread=1.0)[0]


def make(**options):
    options = {"n_init": 2, "random_state": 0} | options
    return LocalInformedMahalanobis(12, 3, 4, **options)


# ---------------------------------------------------------------------------------- the graph


def test_neighbours_are_those_of_all_distances():
    local = make().fit(X)
    D = local.pairwise_distances(NEW, X)
    order = np.argsort(D, axis=1)[:, :7]
    distances, neighbors = local.kneighbors(NEW, 7)
    assert_array_equal(neighbors, order)
    assert_allclose(distances, np.take_along_axis(D, order, 1))
    assert_array_equal(local.kneighbors(NEW, 7, return_distance=False), order)
    # Of the training samples each leaves itself out.
    own = local.pairwise_distances()
    np.fill_diagonal(own, np.inf)
    distances, neighbors = local.kneighbors()
    assert_array_equal(neighbors, np.argsort(own, axis=1)[:, :11])
    assert_allclose(distances, np.sort(own, axis=1)[:, :11])


def test_the_transformer_keeps_the_convention_of_scikit_learn():
    local = make()
    graph = local.fit_transform(X)
    assert isinstance(graph, sparse.csr_array)
    assert_array_equal(np.diff(graph.indptr), 12)
    assert_array_equal(graph.indices.reshape(40, 12)[:, 0], np.arange(40))
    assert_array_equal(graph.diagonal(), 0)
    # What scikit-learn would store for the same distances and one neighbour less.
    theirs = KNeighborsTransformer(n_neighbors=11, metric="precomputed").fit_transform(
        local.pairwise_distances()
    )
    assert_allclose(graph.toarray(), theirs.toarray())
    again = local.transform(X)
    assert_array_equal(again.indices, graph.indices)
    assert_allclose(again.data, graph.data, rtol=1e-9)
    assert local.transform(NEW).shape == (9, 40)
    assert len(local.get_feature_names_out()) == 40


@pytest.mark.parametrize("n_candidates", [None, 20, 39])
def test_candidates_of_the_estimator_serve_all_searches(n_candidates):
    local = make(n_candidates=n_candidates)
    graph = local.fit_transform(X)
    assert_allclose(local.transform(X).toarray(), graph.toarray(), rtol=1e-9)
    assert_array_equal(
        local.kneighbors_graph(11).indices, graph.indices.reshape(40, 12)[:, 1:].ravel()
    )
    if n_candidates == 39:
        assert_allclose(graph.toarray(), make().fit_transform(X).toarray())
    if n_candidates == 20:
        near = np.argsort(((NEW[:, None] - X) ** 2).sum(axis=2), axis=1)[:, :21]
        found = local.kneighbors(NEW, 5, return_distance=False)
        assert all(set(a) <= set(b) for a, b in zip(found, near, strict=True))


def test_too_few_candidates_are_refused():
    local = make(n_candidates=5).fit(X)
    with pytest.raises(ValueError, match=r"n_candidates=5 .* 11 to 39 .*n_neighbors=11 are asked"):
        local.kneighbors()
    with pytest.raises(ValueError, match=r"n_neighbors=41 .* 1 to 40"):
        local.kneighbors(NEW, 41)


def test_in_a_pipeline_the_graph_does_what_the_matrix_does():
    y = np.arange(40) % 2
    shifted = X + 3 * y[:, None]
    chain = make_pipeline(make(), KNeighborsClassifier(5, metric="precomputed")).fit(shifted, y)
    local = make().fit(shifted)
    whole = KNeighborsClassifier(5, metric="precomputed").fit(local.pairwise_distances(), y)
    assert_array_equal(chain.predict(NEW), whole.predict(local.pairwise_distances(NEW, shifted)))


def test_a_diffusion_map_takes_the_graph():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = make().fit_transform(X)
        # The nearest of one sample need not have it among theirs: a pair is stored in both rows.
        both = graph.maximum(graph.T)
        embedding = DiffusionMap(2, metric="precomputed").fit_transform(both)
    assert np.isfinite(embedding).all()


# -------------------------------------------------------------------------------- other searches


class WithoutItself:
    """A search that leaves a sample out of its own neighbours, as some packages do."""

    def __init__(self, n_neighbors=30):
        self.n_neighbors = n_neighbors

    def get_params(self, deep=True):
        return {"n_neighbors": self.n_neighbors}

    def fit(self, X):
        self._all = KNeighborsTransformer(n_neighbors=self.n_neighbors).fit(X)
        return self

    def transform(self, X):
        graph = sparse.lil_array(self._all.transform(X))
        for i in range(len(X)):
            nearest = self._all.kneighbors(X[i : i + 1], 1)
            if nearest[0][0, 0] == 0:
                kept = [c for c in graph.rows[i] if c != nearest[1][0, 0]]
                values = dict(zip(graph.rows[i], graph.data[i], strict=True))
                graph.rows[i], graph.data[i] = kept, [values[c] for c in kept]
        return graph.tocsr()


@pytest.mark.parametrize(
    "search", [KNeighborsTransformer(n_neighbors=20), WithoutItself(), RandomTrees(leaf_size=40)]
)
def test_any_exact_search_gives_the_same_bits(search):
    theirs, ours = make(search=search).fit(X), make().fit(X)
    assert_array_equal(theirs.neighbors_, ours.neighbors_)
    assert_array_equal(theirs.components_, ours.components_)
    assert_array_equal(theirs.pairwise_distances(NEW), ours.pairwise_distances(NEW))
    assert_array_equal(
        pickle.loads(pickle.dumps(theirs)).pairwise_distances(), ours.pairwise_distances()
    )
    assert type(clone(theirs).search) is type(search)
    # The user's own object is left as it was.
    assert not hasattr(search, "n_features_in_")


@pytest.mark.parametrize(
    ("search", "error", "message"),
    [
        (KNeighborsTransformer(n_neighbors=5), ValueError, "search found 6 neighbour.* 12 are nee"),
        (KNeighborsTransformer(mode="connectivity"), ValueError, "mode='connectivity': it must"),
        (RadiusNeighborsTransformer(radius=0.1), ValueError, "search found 1 neighbour"),
        (RandomTrees(0), ValueError, "n_trees=0 .* integer >= 1"),
        (RandomTrees(leaf_size=1), ValueError, "leaf_size=1 .* integer >= 2"),
        ("fast", ValueError, r"search='fast' .* \['exact', 'trees'\]"),
        (3, ValueError, r"search=3 .* \['exact', 'trees'\]"),
    ],
)
def test_searches_that_cannot_search_are_refused(search, error, message):
    with pytest.raises(error, match=message):
        make(search=search).fit(X)


# ------------------------------------------------------------------------- samples that coincide


def test_copies_change_no_model_where_enough_others_are_near():
    twice = np.repeat(X, 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local = LocalInformedMahalanobis(24, 3, 4, random_state=0).fit(twice)
    D = local.pairwise_distances()
    assert_allclose(np.diag(D[::2, 1::2]), 0, atol=1e-12)
    assert_allclose(D[::2, ::2], D[1::2, 1::2], rtol=1e-9, atol=1e-12)
    # A sample is among its own neighbours, also where its copy comes first.
    assert_array_equal(local.neighbors_[:, 0], np.arange(80))


def test_a_neighbourhood_of_copies_has_no_model_and_the_others_have_theirs():
    data = X.copy()
    data[:15] = data[0]
    with pytest.warns(FewerDirectionsWarning, match=r"of 40 neighbourhoods span fewer than 3"):
        local = make().fit(data)
    assert not local.components_[:15].any()
    D = local.pairwise_distances()
    assert np.isfinite(D).all()
    assert_array_equal(D[:15, :15], 0)
    # By the formula only the other side contributes: half of its quadratic form.
    difference = data[0] - data[20]
    expected = 0.5 * np.sum((local.components_[20] @ difference) ** 2)
    assert_allclose(D[0, 20] ** 2, expected)


def test_samples_in_a_plane_have_two_directions_and_the_distance_of_two():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 10)) + 5
    for directions in ("pca", "exact"):
        settings_ = dict(directions=directions, variances="own", random_state=0)
        with pytest.warns(FewerDirectionsWarning, match="30 of 30"):
            four = LocalInformedMahalanobis(12, 4, 10, **settings_).fit(flat)
        two = LocalInformedMahalanobis(12, 2, 10, **settings_).fit(flat)
        assert_allclose(four.pairwise_distances(), two.pairwise_distances(), rtol=1e-6)


@pytest.mark.parametrize("directions", ["exact", "penalized"])
def test_features_that_coincide_near_a_sample_share_a_cluster(directions):
    # Around the first samples only two features say anything; whole numbers keep the means exact.
    data = np.round(10 * X)
    data[:14, 2:] = 0.0
    data[14:27, 2:] = -data[27:, 2:]
    with pytest.warns(FewerDirectionsWarning):
        local = make(directions=directions).fit(data)
    for labels in local.labels_[:14][
        [set(near) <= set(range(14)) for near in local.neighbors_[:14]]
    ]:
        assert len(set(labels[2:])) == 1
    assert np.isfinite(local.pairwise_distances(NEW)).all()


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_few_profiles_are_told_apart_exactly_when_they_are_fewer(seed, n_profiles, n_clusters):
    rng = np.random.default_rng(seed)
    profiles = rng.integers(0, 3, size=(4, n_profiles)).astype(float)
    samples = profiles[:, rng.integers(0, n_profiles, size=9)]
    columns = [tuple(column) for column in samples.T]
    labels = few_profiles(samples, n_clusters)
    if len(set(columns)) >= n_clusters:
        assert labels is None
    else:
        assert labels.tolist() == [list(dict.fromkeys(columns)).index(c) for c in columns]


# ---------------------------------------------------------------------------------------- defaults


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((50, 30), (20, 6, 7)), ((10, 30), (10, 6, 7)), ((5, 30), (5, 4, 5)), ((50, 3), (20, 3, 3))],
)
def test_defaults_are_the_papers_as_far_as_the_data_allow(shape, expected):
    data = np.random.default_rng(0).normal(size=shape)
    local = LocalInformedMahalanobis(random_state=0).fit(data)
    n_neighbors, d, n_clusters = expected
    assert local.neighbors_.shape == (shape[0], n_neighbors)
    assert local.components_.shape == (shape[0], d, shape[1])
    assert local.labels_.max() + 1 == n_clusters
    explicit = LocalInformedMahalanobis(*expected, random_state=0).fit(data)
    assert_array_equal(explicit.components_, local.components_)
