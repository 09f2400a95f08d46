"""How the local metric clusters features: by any way, on any profiles, or as it is told."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from by_hand import clustered_data, mahalanobis_matrix_by_hand
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cut_tree, ward
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    FeatureAgglomeration,
    KMeans,
    SpectralClustering,
)

from informed import FewerDirectionsWarning, InformedMahalanobis, LocalInformedMahalanobis
from informed.directions import choose_penalty
from informed.directions.solvers import RankError
from informed.metrics import neighborhoods
from informed.metrics.model import find_model

PROFILES = ("as-is", "centered", "standardized")


def make(n_clusters=4, **options):
    options = {"n_init": 3, "random_state": 0} | options
    return LocalInformedMahalanobis(12, 3, n_clusters, **options)


def uneven_data(seed, n_samples=24, sizes=(6, 5, 7, 6)):
    """Clusters that overlap, features of different level and unit."""
    X, _ = clustered_data(seed, n_samples, sizes, spread=1.5)
    return X * np.exp(np.random.default_rng(seed).normal(size=X.shape[1]))


def looks(X, profiles):
    """The profiles of all samples, one feature at a time."""
    columns = []
    for column in X.T:
        if profiles != "as-is":
            column = column - sum(column) / len(column)
        if profiles == "standardized":
            column = column / np.sqrt(sum(column**2) / (len(column) - 1))
        columns.append(column)
    return np.array(columns).T


def numbered(labels):
    """Numbers in the order of first occurrence."""
    seen = list(dict.fromkeys(labels))
    return np.array([seen.index(label) for label in labels])


@pytest.mark.parametrize("profiles", PROFILES)
@pytest.mark.parametrize("seed", [0, 1])
def test_ward_in_each_neighbourhood_by_hand(profiles, seed):
    X = uneven_data(seed)
    local = make(clustering="ward", profiles=profiles, variances="own").fit(X)
    seen, matrices = looks(X, profiles), []
    for members, labels, factor in zip(
        local.neighbors_, local.labels_, local.components_, strict=True
    ):
        expected = numbered(cut_tree(ward(seen[members].T), n_clusters=4).ravel().tolist())
        assert_array_equal(labels, expected)
        # Directions and variances are those of the samples as they are.
        matrices.append(mahalanobis_matrix_by_hand(X[members], expected, 3, "exact", "own", None))
        assert_allclose(factor.T @ factor, matrices[-1], rtol=1e-6, atol=1e-9)
    step = X[2] - X[5]
    assert_allclose(
        local.pairwise_distances(squared=True)[2, 5],
        0.5 * step @ (matrices[2] + matrices[5]) @ step,
        rtol=1e-7,
    )


def test_the_three_kinds_of_profiles_give_different_clusters():
    X = uneven_data(0)
    found = [make(clustering="ward", profiles=profiles).fit(X).labels_ for profiles in PROFILES]
    assert all((a != b).any() for a, b in [found[:2], found[1:], found[::2]])


@pytest.mark.parametrize("profiles", PROFILES)
def test_k_means_sees_the_profiles_too(profiles):
    X = uneven_data(3, n_samples=30, sizes=(12, 12, 12, 12))
    local = make(profiles=profiles, n_init=10).fit(X)
    seen, ratios = looks(X, profiles), []
    for members, labels in zip(local.neighbors_[::3], local.labels_[::3], strict=True):
        rows = seen[members].T
        cost = sum(
            np.sum((rows[labels == k] - rows[labels == k].mean(axis=0)) ** 2) for k in range(4)
        )
        ratios.append(cost / KMeans(4, n_init=10, random_state=0).fit(rows).inertia_)
    assert np.mean(ratios) < 1.01
    assert np.max(ratios) < 1.1


@pytest.mark.parametrize("clustering", ["kmeans", "ward", KMeans(4, n_init=3)], ids=str)
@pytest.mark.parametrize("profiles", PROFILES)
def test_one_neighbourhood_of_all_samples_is_the_global_metric(clustering, profiles):
    # Clear clusters, so that every seed finds them.
    X, _ = clustered_data(4, 24, (6, 5, 7, 6))
    options = {"clustering": clustering, "profiles": profiles, "n_init": 10, "random_state": 0}
    if profiles == "as-is":
        # Levels that belong to the clusters.
        X = X - X.mean(axis=0) + np.array([0.0, 40.0, 80.0, 120.0])[clustered_data(4, 24)[1][:24]]
    local = LocalInformedMahalanobis(24, 3, 4, **options).fit(X)
    whole = InformedMahalanobis(3, 4, **options).fit(X)
    assert_array_equal(local.labels_, np.tile(whole.labels_, (24, 1)))
    assert_allclose(local.pairwise_distances(), whole.pairwise_distances(X), atol=1e-8)


def test_level_counts_only_as_it_is_and_unit_only_without_standard_deviation():
    X = uneven_data(5)
    rng = np.random.default_rng(0)
    shift, unit = rng.normal(scale=30, size=X.shape[1]), np.exp(rng.normal(size=X.shape[1]))

    def labels(samples, profiles):
        # The same neighbours for all: features may change unit, which moves the samples.
        local = LocalInformedMahalanobis(24, 3, 4, clustering="ward", profiles=profiles)
        return local.fit(samples).labels_

    for profiles, moved, same in [
        ("as-is", X + 5.0, True),
        ("as-is", X + rng.normal(size=(24, 1)), True),
        ("as-is", X + shift, False),
        ("centered", X + shift, True),
        ("centered", X * unit, False),
        ("standardized", X * unit + shift, True),
        ("standardized", X + 3 * rng.normal(size=(24, 1)), False),
    ]:
        assert (labels(moved, profiles) == labels(X, profiles)).all() == same


@pytest.mark.parametrize(
    "clusterer",
    [AgglomerativeClustering(3, linkage="average"), FeatureAgglomeration(3)],
    ids=["points", "columns"],
)
def test_any_clusterer_is_asked_in_each_neighbourhood(clusterer):
    X = uneven_data(6)
    local = LocalInformedMahalanobis(12, 2, clustering=clusterer).fit(X)
    by_rows = AgglomerativeClustering(3, linkage=clusterer.linkage)
    for members, labels in zip(local.neighbors_, local.labels_, strict=True):
        expected = by_rows.fit_predict(looks(X, "centered")[members].T)
        assert_array_equal(labels, numbered(expected.tolist()))
    # Ours goes before the object's own number.
    more = LocalInformedMahalanobis(12, 2, 5, clustering=clusterer).fit(X)
    assert_array_equal(more.labels_.max(axis=1), 4)
    assert not hasattr(clusterer, "labels_")


class Counting(BaseEstimator):
    """A clusterer that throws dice, and notes how often it was asked."""

    asked = 0

    def __init__(self, n_clusters=4, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit_predict(self, X):
        Counting.asked += 1
        dice = np.random.default_rng(self.random_state)
        return dice.permutation(np.arange(len(X)) % self.n_clusters)

    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("own", [None, 3])
def test_an_object_with_a_seed_is_asked_once_each_and_answers_alike(own):
    X = uneven_data(7)
    Counting.asked = 0
    first = make(clustering=Counting(random_state=own), random_state=1).fit(X)
    assert Counting.asked == len(X)
    assert_array_equal(first.labels_, np.tile(first.labels_[0], (len(X), 1)))
    again = make(clustering=Counting(random_state=own), random_state=1).fit(X)
    assert_array_equal(again.labels_, first.labels_)
    other = make(clustering=Counting(random_state=own), random_state=2).fit(X)
    assert (other.labels_ == first.labels_).all() == (own is not None)
    # New samples get what training samples get.
    assert_allclose(first.pairwise_distances(X[:3]), first.pairwise_distances()[:3, :3], rtol=1e-9)


def test_features_in_no_cluster_stand_for_themselves():
    # Everything is noise to this clusterer: the directions are free, as those of PCA.
    X = uneven_data(8)
    local = LocalInformedMahalanobis(12, 3, clustering=DBSCAN(eps=1e-9, min_samples=5)).fit(X)
    assert_array_equal(local.labels_, np.tile(np.arange(24), (24, 1)))
    free = LocalInformedMahalanobis(12, 3, directions="pca").fit(X)
    assert_allclose(local.pairwise_distances(), free.pairwise_distances(), rtol=1e-7)


def test_fewer_clusters_than_directions_make_a_model_with_fewer():
    X = uneven_data(9)
    with pytest.warns(FewerDirectionsWarning, match="24 of 24 .*features form fewer clusters"):
        local = LocalInformedMahalanobis(12, 3, clustering=AgglomerativeClustering(2)).fit(X)
    assert_array_equal(local.components_.any(axis=2), np.tile([True, True, False], (24, 1)))


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        (["a"] * 6 + ["b"] * 6 + [None] + ["c"] * 11, [0] * 6 + [1] * 6 + [2] + [3] * 11),
        ([7] * 12 + [-1, -1] + [2] * 10, [0] * 12 + [1, 2] + [3] * 10),
        ([1] * 12 + [0] * 6 + [2] * 6, [1] * 12 + [0] * 6 + [2] * 6),
    ],
    ids=["names", "gaps", "numbers"],
)
def test_given_labels_hold_in_every_neighbourhood(given, numbers):
    X = uneven_data(10)
    local = LocalInformedMahalanobis(12, 3, feature_labels=given, variances="own").fit(X)
    assert_array_equal(local.labels_, np.tile(numbers, (24, 1)))
    for members, factor in zip(local.neighbors_, local.components_, strict=True):
        expected = mahalanobis_matrix_by_hand(
            X[members], np.array(numbers), 3, "exact", "own", None
        )
        assert_allclose(factor.T @ factor, expected, rtol=1e-6, atol=1e-9)
    assert_allclose(local.pairwise_distances(X[:4]), local.pairwise_distances()[:4, :4], rtol=1e-9)


def test_given_labels_bound_the_directions_unless_these_are_given():
    X = uneven_data(11)
    labels = np.arange(24) % 4
    assert LocalInformedMahalanobis(feature_labels=labels).fit(X).components_.shape[1] == 4
    with pytest.raises(ValueError, match=r"n_components=5 .*feature_labels hold 4 clusters"):
        LocalInformedMahalanobis(12, 5, feature_labels=labels).fit(X)
    with pytest.raises(ValueError, match="n_clusters=3 contradicts feature_labels"):
        LocalInformedMahalanobis(12, 2, 3, feature_labels=labels).fit(X)


@pytest.mark.parametrize("profiles", PROFILES)
def test_the_weight_is_chosen_with_clusters_found_anew_on_the_same_profiles(profiles):
    X = uneven_data(12)
    options = {"clustering": "ward", "profiles": profiles, "directions": "penalized"}
    local = make(**options).fit(X)
    mean, deviation = X.mean(axis=0), X.std(axis=0, ddof=1)

    def by_ward(samples):
        rows = {
            "as-is": samples,
            "centered": samples - mean,
            "standardized": (samples - mean) / deviation,
        }[profiles]
        return numbered(cut_tree(ward(rows.T), n_clusters=4).ravel().tolist())

    for i in [0, 7]:
        near, labels = X[local.neighbors_[i]], local.labels_[i]
        weight = choose_penalty(near, labels, 3, "cv", recluster=by_ward)
        assert local.penalty_path(i).best == pytest.approx(weight)
        fixed = InformedMahalanobis(3, feature_labels=labels, directions="penalized")
        fixed.set_params(penalty=weight).fit(near)
        ours = local.components_[i]
        assert_allclose(ours.T @ ours, fixed.get_mahalanobis_matrix(), rtol=1e-5, atol=1e-8)


def test_the_weight_for_given_labels_keeps_them():
    X, labels = uneven_data(13), np.arange(24) % 4
    local = LocalInformedMahalanobis(
        12, 3, feature_labels=labels, directions="penalized", random_state=0
    ).fit(X)
    weight = choose_penalty(X[local.neighbors_[3]], labels, 3, "cv")
    assert local.penalty_path(3).best == pytest.approx(weight)


def test_other_directions_share_the_clusters():
    X = uneven_data(14)
    for options in [{"clustering": "ward", "profiles": "standardized"}, {"profiles": "as-is"}]:
        exact = make(**options).fit(X)
        averaged = exact.with_directions("averaged")
        assert_array_equal(averaged.labels_, exact.labels_)
        alone = make(directions="averaged", **options).fit(X)
        assert_allclose(averaged.components_, alone.components_, atol=1e-12)
        assert exact.with_directions("pca").labels_ is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_workers_pickles_and_a_caller_who_changes_the_samples(n_jobs):
    X = uneven_data(15)
    kept = X.copy()
    local = make(clustering="ward", profiles="as-is", n_jobs=n_jobs).fit(X)
    expected = local.pairwise_distances(kept[:5], kept)
    X += 1e3 * np.random.default_rng(0).normal(size=X.shape)
    assert_array_equal(local.pairwise_distances(kept[:5], kept), expected)
    copied = pickle.loads(pickle.dumps(local))
    assert_array_equal(copied.pairwise_distances(kept[:5], kept), expected)
    assert_array_equal(clone(local).fit(kept).components_, local.components_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clustering": "wards"}, "clustering='wards'"),
        ({"clustering": "auto"}, "clustering='auto'"),
        ({"profiles": "auto"}, "profiles='auto'"),
        ({"profiles": "raw"}, "profiles='raw'"),
        ({"feature_labels": [0, 1]}, "feature_labels has shape"),
        ({"clustering": DBSCAN(), "n_clusters": 4}, "n_clusters=4 cannot be given to DBSCAN"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        make(**({"n_clusters": None} | options)).fit(uneven_data(16))
    with pytest.raises(TypeError, match="clustering must be one of"):
        make(clustering=SpectralClustering).fit(uneven_data(16))


def test_a_rank_that_is_told_too_large_is_not_believed_for_ever(monkeypatch):
    """Rounding may see a direction in one matrix of a neighbourhood and not in another."""
    asked = []

    def find(centered, recipe, labels, choose):
        asked.append(recipe.n_components)
        assert len(asked) < 99
        if recipe.n_components > 1:
            raise RankError("one direction is not there", recipe.n_components)
        return find_model(centered, recipe, labels, choose)

    monkeypatch.setattr(neighborhoods, "find_model", find)
    X, _ = clustered_data(0, n_samples=12, sizes=(6, 5, 4))
    with pytest.warns(FewerDirectionsWarning):
        local = LocalInformedMahalanobis(8, 3, 3, random_state=0).fit(X)
    assert asked[:3] == [3, 2, 1]
    assert (np.count_nonzero(local.components_.any(axis=2), axis=1) == 1).all()
