"""Sparse samples: the numbers of dense ones, and never a dense array of their size."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from informed import ConstantFeatureWarning, InformedMahalanobis
from informed.centering import CenteredSparse, center, row_squares, subtract
from informed.clusters import features, large
from informed.clusters.features import cluster_rows
from informed.clusters.large import cluster_many_rows, spread_points
from informed.directions import solvers
from informed.directions.solvers import leading_variances, pca_directions

SOLVERS = ["exact", "gradient", "averaged", "pca"]


def some(seed=0, n_samples=60, n_features=40, density=0.3):
    """Sparse samples whose features fall into groups."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n_samples, 5)))[:, np.arange(n_features) % 5]
    X = X * rng.exponential(size=X.shape) * (rng.uniform(size=X.shape) < density)
    return sparse.csr_array(X)


# --------------------------------------------------------------------------------- the operator


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_products_are_those_of_centred_samples(seed, n_samples, n_features, n_columns):
    X = some(seed, n_samples, n_features)
    implicit, mean = center(X)
    dense = X.toarray() - X.toarray().mean(axis=0)
    assert_allclose(mean, X.toarray().mean(axis=0), atol=1e-12)
    rng = np.random.default_rng(seed)
    right = rng.normal(size=(n_features, n_columns))
    left = rng.normal(size=(n_samples, n_columns))
    assert_allclose(implicit @ right, dense @ right, atol=1e-10)
    assert_allclose(implicit.T @ left, dense.T @ left, atol=1e-10)
    assert_allclose(left.T @ implicit, left.T @ dense, atol=1e-10)
    assert_allclose(implicit @ right[:, 0], dense @ right[:, 0], atol=1e-10)
    assert_allclose(implicit.T @ left[:, 0], dense.T @ left[:, 0], atol=1e-10)
    assert_allclose(sparse.csr_array(left.T) @ implicit, left.T @ dense, atol=1e-10)
    for ours, theirs in ((implicit, dense), (implicit.T, dense.T)):
        assert ours.shape == theirs.shape
        assert len(ours) == len(theirs)
        assert_allclose(row_squares(ours), row_squares(theirs), atol=1e-9)
    other = subtract(X, 2 * mean)
    assert_allclose(row_squares(other), ((X.toarray() - 2 * mean) ** 2).sum(axis=1), atol=1e-9)


# -------------------------------------------------------------------------------- the estimator


@pytest.mark.parametrize("directions", SOLVERS)
@pytest.mark.parametrize("variances", ["pca", "own"])
@pytest.mark.parametrize("lanczos", [False, True])
def test_a_fit_is_that_of_dense_samples(directions, variances, lanczos, monkeypatch):
    if lanczos:
        monkeypatch.setattr(solvers, "DENSE_SIDE", 0)
    X, new = some(1), some(2, n_samples=7)
    options = dict(directions=directions, variances=variances, random_state=0)
    ours = InformedMahalanobis(3, **options).fit(X)
    theirs = InformedMahalanobis(3, **options).fit(X.toarray())
    if directions != "pca":
        assert_array_equal(ours.labels_, theirs.labels_)
    for name in ("mean_", "directions_", "variances_", "components_", "noise_variance_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-10)
    for method in ("transform", "pairwise_distances", "mahalanobis", "score_samples", "score"):
        expected = getattr(theirs, method)(new.toarray())
        # Roots of sums that cancel keep half of the digits.
        atol = 1e-6 if method == "pairwise_distances" else 1e-9
        assert_allclose(getattr(ours, method)(new), expected, rtol=1e-9, atol=atol)
        assert_allclose(getattr(ours, method)(new.toarray()), expected, rtol=1e-9, atol=atol)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X.toarray()), atol=1e-9)
    again = pickle.loads(pickle.dumps(ours))
    assert_array_equal(again.transform(new), ours.transform(new))


@pytest.mark.parametrize("form", [sparse.csc_matrix, sparse.coo_array, sparse.csr_matrix])
def test_other_formats_and_single_precision(form):
    X = some(3)
    expected = InformedMahalanobis(2, random_state=0).fit_transform(X)
    given_ = form(X)
    before = given_.copy()
    assert_allclose(InformedMahalanobis(2, random_state=0).fit_transform(given_), expected)
    assert (given_ != before).nnz == 0
    single = InformedMahalanobis(2, random_state=0).fit_transform(form(X).astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, expected, atol=1e-3)


def test_numbers_stored_twice_are_added_and_the_input_is_left_alone():
    X = some(4).tocoo()
    rows, columns = X.coords
    doubled = sparse.csr_matrix(
        (np.repeat(X.data / 2, 2), (np.repeat(rows, 2), np.repeat(columns, 2))), shape=X.shape
    )
    unsorted = sparse.csr_array(
        (doubled.data[::-1].copy(), doubled.indices[::-1].copy(), np.array([0, doubled.nnz])),
        shape=(1, X.shape[1]),
    )
    stored = unsorted.data.copy()
    fitted = InformedMahalanobis(2, random_state=0).fit(X.tocsr())
    assert_allclose(fitted.transform(doubled), fitted.transform(X.toarray()), atol=1e-9)
    assert_allclose(fitted.transform(unsorted), fitted.transform(unsorted.toarray()), atol=1e-9)
    assert_array_equal(unsorted.data, stored)


def test_what_needs_dense_samples_says_so():
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        InformedMahalanobis(2, directions="penalized").fit(some())
    bad = some()
    bad.data[0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        InformedMahalanobis(2).fit(bad)
    silent = some().tolil()
    silent[:, [3]] = 0
    with pytest.warns(ConstantFeatureWarning, match=r"1 constant feature.* index 3"):
        InformedMahalanobis(2, random_state=0).fit(silent.tocsr())


def test_rank_is_seen_through_the_iteration(monkeypatch):
    monkeypatch.setattr(solvers, "DENSE_SIDE", 0)
    rng = np.random.default_rng(0)
    flat = sparse.csr_array(rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)))
    with pytest.raises(ValueError, match=r"n_components=3 .* rank .* is 2"):
        pca_directions(center(flat)[0], 3, check_input=False)
    assert pca_directions(center(flat)[0], 2, check_input=False).directions.shape == (20, 2)


def test_memory_stays_below_that_of_a_dense_array():
    X = some(5, n_samples=1500, n_features=2000, density=0.01)
    dense = X.shape[0] * X.shape[1] * 8
    tracemalloc.start()
    try:
        InformedMahalanobis(2, n_init=2, random_state=0).fit(X).score(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        InformedMahalanobis(2, n_init=2, random_state=0).fit(X.toarray())
        peak_dense = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < dense / 4
    assert peak_dense > dense


# ------------------------------------------------------------------- k-means of many points


@pytest.mark.parametrize("seed", range(6))
def test_many_points_are_clustered_as_scikit_learn_clusters_them(seed):
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(3, 20)), int(rng.integers(40, 300)), int(rng.integers(1, 8))
    strength = rng.choice([0.0, 0.5, 2.0])
    X = strength * rng.normal(size=(n, k))[:, rng.integers(k, size=p)] + rng.normal(size=(n, p))
    rows = center(X)[0].T
    labels = cluster_many_rows(rows, k, 4, seed)
    theirs = KMeans(k, n_init=4, random_state=seed).fit(rows)
    cost = sum(((rows[labels == j] - rows[labels == j].mean(axis=0)) ** 2).sum() for j in range(k))
    assert_allclose(cost, theirs.inertia_, rtol=1e-6)
    assert_array_equal(
        features.relabel_by_first_occurrence(labels),
        features.relabel_by_first_occurrence(theirs.labels_),
    )


@pytest.mark.parametrize("as_sparse", [False, True])
def test_size_and_sparsity_choose_the_way_and_not_the_clusters(as_sparse, monkeypatch):
    X = some(6, n_features=90)
    rows = center(X if as_sparse else X.toarray())[0].T
    small = cluster_rows(center(X.toarray())[0].T, 5, 3, 0)
    monkeypatch.setattr(features, "MANY", 1)
    assert_array_equal(cluster_rows(rows, 5, 3, 0), small)


def test_points_that_coincide_leave_no_cluster_unseen(monkeypatch):
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]], [4, 3, 2], axis=0)
    labels = cluster_many_rows(rows, 3, 2, 0)
    assert len(set(labels)) == 3
    assert len(set(labels[:4])) == len(set(labels[4:7])) == len(set(labels[7:])) == 1
    monkeypatch.setattr(features, "MANY", 1)
    with pytest.raises(ValueError, match="only 3 distinct profiles"):
        cluster_rows(rows, 4, 1, 0)


def test_a_cluster_that_gives_away_its_only_point_is_filled_again():
    """The second centre has one point, the farthest of all, which goes to the empty third."""
    rows = np.array([[-1.1], [-1.0], [-0.9], [0.9], [1.0], [1.1], [10.0]])
    starts = np.array([[0.0, 15.0, 1000.0]])
    labels, cost = large._run_all(rows, row_squares(rows), starts, 3)
    assert_array_equal(features.relabel_by_first_occurrence(labels), [0, 0, 0, 1, 1, 1, 2])
    assert_allclose(cost, 4 * 0.1**2)


@pytest.mark.parametrize("seed", range(4))
def test_points_that_cannot_have_moved_are_not_looked_at(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    rows = 3 * rng.normal(size=(4, 3))[np.arange(800) % 4] + rng.normal(size=(800, 3))
    looks, right = [], large._assign
    monkeypatch.setattr(
        large, "_assign", lambda rows, several: looks.append(len(rows)) or right(rows, several)
    )
    starts = rows[[0, 4, 1, 5]]
    labels, cost = large._run_all(rows, row_squares(rows), starts.T, 4)
    assert looks[0] == 800
    assert min(looks) < 100
    theirs = KMeans(4, init=starts, n_init=1).fit(rows)
    assert_array_equal(labels, theirs.labels_)
    assert_allclose(cost, theirs.inertia_)


def test_starts_differ_between_runs_and_repeat_with_the_seed():
    rows = np.random.default_rng(0).normal(size=(50, 4))
    one, two = (
        spread_points(rows, row_squares(rows), 4, 6, np.random.RandomState(3)) for _ in range(2)
    )
    assert_array_equal(one, two)
    assert len({tuple(run) for run in one}) == 6
    assert all(len(set(run)) == 4 for run in one)


# ------------------------------------------------------------------------- variances by Gram


@given(st.integers(0, 10_000), st.integers(3, 30), st.integers(2, 30), st.floats(0, 3))
@settings(max_examples=80, deadline=None)
def test_variances_of_the_gram_matrix_are_those_of_singular_values(seed, n, p, fall):
    rng = np.random.default_rng(seed)
    X = center(rng.normal(size=(n, p)) * 10.0 ** (-fall * np.arange(p) / p))[0]
    d = int(rng.integers(1, min(n - 1, p) + 1))
    expected = np.linalg.svd(X, compute_uv=False)[:d] ** 2 / (n - 1)
    if expected[-1] > 1e-20 * expected[0]:
        assert_allclose(leading_variances(X, d), expected, rtol=1e-10)


def with_singular_values(values, seed=0):
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(m, len(values))))[0] for m in (40, 25))
    U -= U.mean(axis=0)
    U = np.linalg.qr(U)[0]
    return (U * values) @ V.T


@pytest.mark.parametrize("ratio", [1e-2, 1e-5, 1e-9])
def test_small_variances_keep_their_digits(ratio):
    X = with_singular_values([1.0, 0.5, ratio])
    expected = np.array([1.0, 0.25, ratio**2]) / 39
    assert_allclose(leading_variances(center(X)[0], 3), expected, rtol=1e-6)
    assert_allclose(leading_variances(center(X)[0], 3)[:2], expected[:2], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_iteration_cannot_tell_from_rounding_is_no_direction(seed, monkeypatch):
    """Below the root of the rounding error, 1e-7 here, a singular value is noise."""
    monkeypatch.setattr(solvers, "DENSE_SIDE", 0)
    seen, unseen = (
        center(sparse.csr_array(with_singular_values([1.0, 0.5, ratio], seed)))[0]
        for ratio in (1e-5, 1e-10)
    )
    expected = np.array([1.0, 0.5, 1e-5]) ** 2 / 39
    assert_allclose(leading_variances(seen, 3), expected, rtol=1e-4)
    assert_allclose(leading_variances(unseen, 2), expected[:2], rtol=1e-10)
    with pytest.raises(ValueError, match="the rank of the centred data is 2"):
        leading_variances(unseen, 3)


def test_single_precision_loses_nothing_by_squaring():
    X = StandardScaler().fit_transform(np.random.default_rng(0).normal(size=(30, 50)))
    X *= 10.0 ** -np.linspace(0, 1.5, 50)
    double = leading_variances(X, 10)
    single = leading_variances(X.astype(np.float32), 10)
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=1e-5)


def test_the_operator_is_told_from_an_array():
    assert isinstance(center(some())[0], CenteredSparse)
    assert isinstance(center(some().toarray())[0], np.ndarray)
