"""What a metric is made of: clusterers, profiles, names, shrunk variances, stability."""

from __future__ import annotations

import pickle
from copy import copy

import numpy as np
import pytest
from by_hand import clustered_data
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    FeatureAgglomeration,
    KMeans,
    SpectralClustering,
)
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters import check_feature_labels, cluster_features
from informed.clusters.clusterers import PROFILES, ward_labels
from informed.clusters.features import cluster_rows_twice, relabel_by_first_occurrence
from informed.datasets import make_hidden_square, make_two_types
from informed.metrics.stability import coordinate_agreement
from informed.spiked import inflated_variance, limiting_cosine, shrunk_variances

property_test = settings(max_examples=20, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def agglomerated(X, n_clusters, d):
    """Whitened PCA of FeatureAgglomeration's cluster means, each times the root of its size."""
    pooling = FeatureAgglomeration(n_clusters).fit(X - X.mean(axis=0))
    roots = np.sqrt(np.bincount(pooling.labels_))
    return PCA(d, whiten=True, svd_solver="full").fit_transform(pooling.transform(X) * roots)


# ------------------------------------------------------------------------------------ the identity


@property_test
@given(seed=seeds, n_samples=st.integers(5, 30), n_features=st.integers(6, 40), data=st.data())
def test_own_variances_are_whitened_pca_of_agglomerated_features(seed, n_samples, n_features, data):
    n_clusters = data.draw(st.integers(2, n_features - 1))
    d = data.draw(st.integers(1, min(n_clusters, n_samples - 1)))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 3, size=n_features) + 5
    metric = InformedMahalanobis(d, n_clusters, clustering="ward", variances="own")
    theirs = agglomerated(X, n_clusters, d)
    ours = metric.fit_transform(X)
    assert_allclose(ours * np.sign(np.sum(ours * theirs, axis=0)), theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_identity_holds_to_rounding(seed):
    X = make_hidden_square(60, 300, noise=1.0, random_state=seed).X
    metric = InformedMahalanobis(3, 9, clustering="ward", variances="own").fit(X)
    distances = pdist(agglomerated(X, 9, 3))
    assert np.abs(pdist(metric.transform(X)) - distances).max() < 1e-12 * distances.max()


def test_without_the_roots_or_with_other_variances_it_is_another_metric():
    X = make_hidden_square(60, 300, noise=1.0, random_state=0).X
    metric = InformedMahalanobis(3, 9, clustering="ward", variances="own").fit(X)
    pooled = FeatureAgglomeration(9).fit(X - X.mean(axis=0)).transform(X)
    plain = PCA(3, whiten=True, svd_solver="full").fit_transform(pooled)
    assert coordinate_agreement(metric.transform(X), plain) < 0.999
    paper = clone(metric).set_params(variances="pca").fit(X)
    assert coordinate_agreement(metric.transform(X), paper.transform(X)) < 0.999


# ------------------------------------------------------------------------------ ways to cluster


@pytest.mark.parametrize("seed", range(4))
def test_restarts_in_two_halves_are_the_restarts_in_one(seed):
    rows = np.random.default_rng(seed).normal(size=(50, 8))
    for n_init in (1, 2, 5, 10):
        labels, rival = cluster_rows_twice(rows, 6, n_init, seed)
        whole = KMeans(6, n_init=n_init, random_state=seed).fit(rows)
        assert_array_equal(labels, relabel_by_first_occurrence(whole.labels_))
        assert (rival is None) == (n_init == 1)


@pytest.mark.parametrize("seed", range(4))
def test_ward_is_that_of_scikit_learn(seed):
    rows = np.random.default_rng(seed).normal(size=(40, 6))
    for count, labels in zip((1, 2, 7, 40), ward_labels(rows, [1, 2, 7, 40]), strict=True):
        theirs = AgglomerativeClustering(count).fit_predict(rows)
        assert_array_equal(labels, relabel_by_first_occurrence(theirs))


CLUSTERERS = {
    "ward": AgglomerativeClustering(4),
    "their FeatureAgglomeration": FeatureAgglomeration(4),
    "k-means with a seed": KMeans(4, n_init=5, random_state=3),
    "k-means without": KMeans(4, n_init=5),
    "spectral": SpectralClustering(4, random_state=0),
}


@pytest.mark.parametrize("clusterer", CLUSTERERS.values(), ids=CLUSTERERS.keys())
def test_any_clusterer_serves(clusterer):
    X, labels = clustered_data(0, n_samples=60)
    before = str(clusterer.get_params())
    metric = InformedMahalanobis(3, clustering=clusterer, random_state=0).fit(X)
    assert_array_equal(metric.labels_, relabel_by_first_occurrence(labels))
    assert metric.settings_["n_clusters"] == 4
    # The object is used as a pattern and stays as it was.
    assert str(clusterer.get_params()) == before
    assert not hasattr(clusterer, "labels_")
    again = clone(metric).fit(X)
    assert_array_equal(again.components_, metric.components_)
    fewer = InformedMahalanobis(2, 3, clustering=clusterer, random_state=0).fit(X)
    assert fewer.labels_.max() == 2


def test_points_in_no_cluster_stand_for_themselves():
    X, labels = clustered_data(0, n_samples=60)
    lonely = np.column_stack([X, 50 * np.random.default_rng(0).normal(size=(60, 2))])
    metric = InformedMahalanobis(2, clustering=DBSCAN(eps=6.0, min_samples=2)).fit(lonely)
    assert_array_equal(metric.labels_[:-2], relabel_by_first_occurrence(labels))
    assert_array_equal(metric.labels_[-2:], [4, 5])


def test_a_clusterer_goes_through_pickles_and_grids():
    X, _ = clustered_data(0)
    metric = InformedMahalanobis(2, 3, clustering=AgglomerativeClustering())
    metric.set_params(clustering__linkage="average").fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(metric)).components_, metric.components_)


# ---------------------------------------------------------------------------------------- profiles


def moved(X, profiles, rng):
    """Change the data in a way that the profiles must not see."""
    level, unit = rng.normal(size=X.shape[1]), rng.uniform(0.2, 5, size=X.shape[1])
    if profiles == "as-is":
        return 3 * X + 7 + rng.normal(size=(len(X), 1))
    if profiles == "centered":
        return 3 * X + level + rng.normal(size=(len(X), 1))
    return unit * X + level


@property_test
@given(
    seed=seeds, profiles=st.sampled_from(PROFILES), clustering=st.sampled_from(["kmeans", "ward"])
)
def test_what_each_profile_is_invariant_to(seed, profiles, clustering):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 20)) + 2 * rng.normal(size=20)
    options = {"clustering": clustering, "profiles": profiles, "n_init": 3, "random_state": 0}
    assert_array_equal(
        cluster_features(X, 4, **options), cluster_features(moved(X, profiles, rng), 4, **options)
    )


def test_what_each_profile_is_not_invariant_to():
    X, labels = clustered_data(0, n_samples=60)
    X -= X.mean(axis=0)
    rng = np.random.default_rng(0)
    truth = relabel_by_first_occurrence(labels)
    level = X + 100 * rng.permutation(np.arange(X.shape[1]))
    unit = X * np.exp(3 * rng.normal(size=X.shape[1]))

    def right(data, profiles):
        found = cluster_features(data, 4, profiles=profiles, random_state=0)
        return np.array_equal(found, truth)

    assert [right(level, kind) for kind in PROFILES] == [False, True, True]
    assert [right(unit, kind) for kind in PROFILES] == [False, False, True]
    noise = rng.normal(size=(12, 20))
    options = {"profiles": "standardized", "random_state": 0}
    effects = cluster_features(noise + 5 * rng.normal(size=(12, 1)), 4, **options)
    assert adjusted_rand_score(cluster_features(noise, 4, **options), effects) < 0.9


def test_standardized_profiles_compare_correlations():
    X = np.random.default_rng(0).normal(size=(9, 5)) * [1, 2, 3, 4, 5] + 3
    from informed.clusters.clusterers import profiles_of

    squared = squareform(pdist(profiles_of(X, "standardized"))) ** 2
    assert_allclose(squared, 2 * 8 * (1 - np.corrcoef(X, rowvar=False)), atol=1e-12)


def test_level_tells_the_clusters_of_the_hidden_square():
    found = {kind: [] for kind in ("as-is", "centered")}
    for seed in range(5):
        square = make_hidden_square(50, 300, noise=2.0, random_state=seed)
        for kind, values in found.items():
            labels = cluster_features(square.X, 3, profiles=kind, n_init=3, random_state=0)
            values.append(adjusted_rand_score(square.feature_labels, labels))
    assert np.mean(found["as-is"]) > 0.85
    assert np.mean(found["centered"]) < 0.6


def test_level_hides_the_clusters_when_it_tells_only_the_probe():
    square = make_hidden_square(50, 300, noise=1.0, random_state=0)
    probes = square.X + np.random.default_rng(0).normal(scale=3, size=300)
    rand = [
        adjusted_rand_score(
            square.feature_labels,
            cluster_features(probes, 3, profiles=kind, n_init=3, random_state=0),
        )
        for kind in ("as-is", "centered")
    ]
    assert rand[0] < 0.3 < 0.8 < rand[1]


# ---------------------------------------------------------------------------------- given clusters


@property_test
@given(st.lists(st.integers(-1, 6), min_size=1, max_size=20))
def test_given_numbers_keep_who_is_with_whom(values):
    labels = check_feature_labels(values, len(values))
    assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (labels[i] == labels[j]) == (i == j or a == b != -1)


def test_names_numbers_with_gaps_and_numbers_are_one_clustering():
    X, labels = clustered_data(0, n_samples=60)
    names = np.array(["cycle", "repair", "immune", "stroma"])[labels]
    plain = InformedMahalanobis(3, feature_labels=labels).fit(X)
    for given_labels in (names, names.tolist(), labels * 10, labels.astype(np.uint8)):
        other = InformedMahalanobis(3, feature_labels=given_labels).fit(X)
        assert_allclose(other.pairwise_distances(X), plain.pairwise_distances(X), rtol=1e-10)
    assert_array_equal(plain.labels_, labels)


@pytest.mark.parametrize("missing", [-1, None, float("nan")])
def test_a_feature_in_no_cluster_is_a_cluster_by_itself(missing):
    X, labels = clustered_data(0, n_samples=60)
    names = [missing if i in (3, 8) else f"set {label}" for i, label in enumerate(labels)]
    apart = labels.copy()
    apart[[3, 8]] = 4, 5
    ours = InformedMahalanobis(3, feature_labels=names).fit(X)
    theirs = InformedMahalanobis(3, feature_labels=apart).fit(X)
    assert_allclose(ours.pairwise_distances(X), theirs.pairwise_distances(X), rtol=1e-10)
    assert ours.stability_ == 1.0


# -------------------------------------------------------------------------------- shrunk variances


@property_test
@given(strength=st.floats(0.1, 50), aspect=st.floats(0.05, 10), noise=st.floats(0.1, 5))
def test_shrinking_undoes_the_limits(strength, aspect, noise):
    """One direction of known strength, in the limit: back comes the variance of new samples."""
    n_samples = 100_001
    dimension = round(aspect * (n_samples - 1))
    aspect = dimension / (n_samples - 1)
    found = inflated_variance(strength, aspect, noise)
    # The trace of the sample covariance is that of the true one.
    total = noise * dimension + strength
    shrunk = shrunk_variances(np.array([float(found)]), total, dimension, dimension, n_samples)
    expected = noise + strength * limiting_cosine(strength, aspect, noise)
    assert_allclose(shrunk, expected, rtol=0.02)


@pytest.mark.parametrize("directions", ["pca", "exact"])
def test_shrunk_variances_are_those_of_new_samples(directions):
    toy = make_two_types(1000, random_state=1)
    few, new = toy.X[:60], toy.X[60:]
    options = {"directions": directions, "feature_labels": toy.feature_labels}
    shrunk = InformedMahalanobis(12, variances="shrunk", **options).fit(few)
    own = InformedMahalanobis(12, variances="own", **options).fit(few)
    assert_array_equal(shrunk.directions_, own.directions_)
    # Beyond the first, which is so large that its sample variance is what scatters.
    there = (new @ own.directions_).var(axis=0)[1:]
    after, before = (
        np.abs(np.log(metric.variances_[1:] / there)).mean() for metric in (shrunk, own)
    )
    if directions == "pca":
        assert after < 0.75 * before
        assert shrunk.score(new) > own.score(new) + 0.03 * 900
    else:
        # In 20 dimensions instead of 900 there is hardly any noise to follow.
        assert after < 1.02 * before
        assert shrunk.score(new) > own.score(new)


@property_test
@given(seed=seeds, d=st.integers(1, 4), directions=st.sampled_from(["pca", "exact", "averaged"]))
def test_shrunk_variances_keep_the_total(seed, d, directions):
    X, labels = clustered_data(seed % 1000)
    metric = InformedMahalanobis(
        d, directions=directions, variances="shrunk", feature_labels=labels
    ).fit(X)
    own = clone(metric).set_params(variances="own").fit(X)
    assert np.all(metric.variances_ <= own.variances_ * (1 + 1e-12))
    assert np.all(metric.variances_ > 0)
    across = metric.noise_variance_ * (X.shape[1] - d)
    assert_allclose(metric.variances_.sum() + across, X.var(axis=0, ddof=1).sum())


def test_shrunk_variances_in_neighbourhoods():
    X, _ = clustered_data(0, n_samples=30)
    local = LocalInformedMahalanobis(12, 2, 4, variances="shrunk", n_init=1, random_state=0)
    own = clone(local).set_params(variances="own").fit(X)
    # Smaller variances, larger factors, same directions.
    lengths = np.linalg.norm(local.fit(X).components_, axis=2)
    assert np.all(lengths >= np.linalg.norm(own.components_, axis=2) * (1 - 1e-12))
    assert not np.allclose(lengths, np.linalg.norm(own.components_, axis=2))


# --------------------------------------------------------------------------- stability, error_norm


def test_agreement_is_the_cosine_of_centred_squared_distances():
    rng = np.random.default_rng(0)
    Y, Z = rng.normal(size=(15, 3)), rng.normal(size=(15, 2))
    J = np.eye(15) - 1 / 15
    A, B = (J @ squareform(pdist(V)) ** 2 @ J for V in (Y, Z))
    cosine = np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B)
    assert coordinate_agreement(Y, Z) == pytest.approx(cosine)
    turned = 2 * Y @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 1
    assert coordinate_agreement(Y, turned) == pytest.approx(1.0)


def test_stability_tells_clear_clusters_from_none():
    X, _ = clustered_data(0, n_samples=60)
    noise = np.random.default_rng(0).normal(size=(60, 80))
    clear = InformedMahalanobis(3, 4, random_state=0).fit(X)
    unclear = InformedMahalanobis(3, 20, random_state=0).fit(noise)
    assert clear.stability_ == 1.0
    assert unclear.stability_ < 0.9
    labels, rival = cluster_rows_twice((noise - noise.mean(axis=0)).T, 20, 10, 0)
    first, second = (
        InformedMahalanobis(3, feature_labels=each, variances="pca").fit_transform(noise)
        for each in (labels, rival)
    )
    assert unclear.stability_ == pytest.approx(coordinate_agreement(first, second))


def test_stability_without_a_seed_or_without_a_second_restart():
    X, _ = clustered_data(0)
    assert InformedMahalanobis(2, clustering="ward").fit(X).stability_ == 1.0
    assert InformedMahalanobis(2, directions="pca").fit(X).stability_ == 1.0
    assert np.isnan(InformedMahalanobis(2, n_init=1).fit(X).stability_)
    # One cluster is the same from every seed.
    assert InformedMahalanobis(1, 1, n_init=1).fit(X).stability_ == 1.0


def test_stability_keeps_the_samples_no_longer_than_needed():
    """It is the same number whenever it is read, and neither files nor copies hold samples."""
    X = np.random.default_rng(0).normal(size=(40, 2000))
    metric = InformedMahalanobis(3, 20, random_state=0).fit(X)
    stored = pickle.dumps(metric)
    assert len(stored) < X.nbytes / 2
    X *= 100.0  # the caller's samples are the caller's
    first = metric.stability_
    assert 0 < first < 1
    assert metric.stability_ == pickle.loads(stored).stability_ == copy(metric).stability_ == first
    with pytest.raises(NotFittedError):
        InformedMahalanobis().stability_  # noqa: B018


def test_stability_is_unknown_where_the_other_clusters_have_no_such_model():
    """Two features each are copies up to sign: by the other clusters they average to zero."""

    class Seeded(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            return np.array([0, 0, 1, 1]) if self.random_state == 7 else np.array([0, 1, 0, 1])

    y = np.random.default_rng(0).normal(size=(20, 2))
    X = np.column_stack([y[:, 0], y[:, 1], -y[:, 0], y[:, 1]])
    metric = InformedMahalanobis(2, clustering=Seeded(2, random_state=7)).fit(X)
    assert np.isnan(metric.stability_)


@pytest.mark.parametrize("norm", ["frobenius", "spectral"])
@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("squared", [True, False])
def test_error_norm_is_that_of_scikit_learn(norm, scaling, squared):
    X, _ = clustered_data(0, n_samples=40)
    metric = InformedMahalanobis(2, random_state=0).fit(X)
    theirs = EmpiricalCovariance()
    U, noise = metric.directions_, metric.noise_variance_
    theirs.covariance_ = U @ np.diag(metric.variances_ - noise) @ U.T + noise * np.eye(len(U))
    other = np.cov(X, rowvar=False)
    expected = theirs.error_norm(other, norm, scaling, squared)
    assert metric.error_norm(other, norm, scaling, squared) == pytest.approx(expected)
    with pytest.raises(ValueError, match="comp_cov has shape"):
        metric.error_norm(other[:-1])
    with pytest.raises(ValueError, match="norm='max' is unknown"):
        metric.error_norm(other, "max")
