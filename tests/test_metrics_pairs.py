"""What the local metric offers beside all distances: pairs, a function, shared clusters."""

from __future__ import annotations

import numpy as np
import pytest
from by_hand import clustered_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.directions import penalty_path, solvers
from informed.directions.registry import DIRECTIONS
from informed.metrics.neighborhoods import cluster_from_scratch

# A sweep over all directions gives each of them a weight, which only one of them reads.
pytestmark = pytest.mark.filterwarnings("ignore::informed.IgnoredParameterWarning")


def make(directions="exact", **options):
    options = {"n_init": 2, "random_state": 0} | options
    return LocalInformedMahalanobis(12, 3, 4, directions=directions, **options)


X, _ = clustered_data(3, n_samples=30)
NEW = clustered_data(4, n_samples=6)[0]
PAIRS = np.stack([NEW[:5], X[4:9]], axis=1)


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_distances_of_pairs_are_entries_of_all_distances(directions):
    local = make(directions, penalty=2.0).fit(X)
    expected = np.diag(local.pairwise_distances(PAIRS[:, 0], PAIRS[:, 1]))
    assert_allclose(local.pair_distance(PAIRS), expected)
    assert_allclose(local.pair_distance(PAIRS[:, ::-1]), expected)
    metric = local.get_metric()
    assert_allclose([metric(u, v) for u, v in PAIRS], expected)


def test_the_function_stays_as_it_is_when_its_estimator_is_fitted_again():
    local = make().fit(X)
    metric = local.get_metric()
    before = metric(*PAIRS[0])
    local.fit(X**3)
    assert metric(*PAIRS[0]) == before
    assert local.get_metric()(*PAIRS[0]) != before


def test_the_function_serves_the_neighbours_of_scikit_learn():
    y = np.arange(30) % 2
    local = make().fit(X)
    called = KNeighborsClassifier(3, metric=local.get_metric(), algorithm="brute").fit(X, y)
    computed = KNeighborsClassifier(3, metric="precomputed").fit(local.pairwise_distances(X, X), y)
    assert_array_equal(called.predict(NEW), computed.predict(local.pairwise_distances(NEW, X)))


@pytest.mark.parametrize("estimator", [make(), InformedMahalanobis()])
def test_both_metrics_refuse_other_shapes_and_unfitted_use(estimator):
    with pytest.raises(NotFittedError):
        estimator.pair_distance(PAIRS)
    with pytest.raises(NotFittedError):
        estimator.get_metric()
    estimator.fit(X)
    for wrong in (PAIRS[:, :, :5], PAIRS[0], PAIRS[:, :1]):
        with pytest.raises(ValueError, match=r"pairs has shape .* it must be \(n_pairs, 2, 24\)"):
            estimator.pair_distance(wrong)


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_other_directions_in_the_same_clusters_are_those_of_a_new_fit(directions):
    other = make().fit(X).with_directions(directions, penalty=2.0)
    again = make(directions, penalty=2.0).fit(X)
    assert_allclose(other.components_, again.components_, rtol=1e-10, atol=1e-12)
    assert_allclose(other.pairwise_distances(NEW), again.pairwise_distances(NEW), rtol=1e-10)
    assert (other.labels_ is None) == (again.labels_ is None)


def test_a_copy_leaves_its_origin_as_it_was():
    local = make().fit(X)
    before = local.pairwise_distances()
    local.with_directions("pca")
    assert local.directions == "exact"
    assert_array_equal(local.pairwise_distances(), before)


def test_directions_that_need_clusters_refuse_a_fit_without():
    local = make("pca").fit(X)
    with pytest.raises(ValueError, match="directions='exact' needs clusters"):
        local.with_directions("exact")
    with pytest.raises(ValueError, match="directions='pca' has none"):
        local.penalty_path(0)


def test_the_path_of_a_neighbourhood_is_that_of_its_samples():
    local = make().fit(X)
    near = (X - X.mean(axis=0))[local.neighbors_[7]]
    by_hand = penalty_path(
        near,
        local.labels_[7],
        3,
        recluster=lambda samples: cluster_from_scratch(samples, local._ground.recipe),
    )
    found = local.penalty_path(7)
    assert_allclose(found.errors, by_hand.errors, rtol=1e-9)
    assert_allclose(found.penalties, by_hand.penalties)
    with pytest.raises(ValueError, match="sample=30 is out of range"):
        local.penalty_path(30)


@pytest.mark.parametrize("make_metric", [InformedMahalanobis, LocalInformedMahalanobis])
def test_own_variances_take_no_decomposition_of_the_whole_data(make_metric, monkeypatch):
    def unwanted(*args, **kwargs):
        raise AssertionError("principal variances that nobody uses")

    monkeypatch.setattr(solvers, "leading_variances", unwanted)
    options = {"n_components": 3, "n_clusters": 4, "random_state": 0}
    make_metric(variances="own", **options).fit(X)
    with pytest.raises(AssertionError, match="nobody uses"):
        make_metric(variances="pca", **options).fit(X)
