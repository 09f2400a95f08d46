"""A variance for each tile: deviances by SciPy, the best labels of small tables by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from informed import AlternatingInformedClustering
from informed.block_noise import LEAST_VARIANCE, _likeliest, fit_tiles, settle_by_noise
from informed.datasets import make_block_data

property_test = settings(max_examples=40, deadline=None)


def some_labels(rng, size, k):
    return rng.permutation(np.r_[np.arange(k), rng.integers(k, size=size - k)])


@property_test
@given(seed=st.integers(0, 2**32 - 1), level=st.sampled_from([0.0, 1e6]))
def test_deviance_is_minus_twice_the_log_likelihood(seed, level):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 6)) * rng.uniform(0.5, 3, size=(7, 1)) + level
    rows, columns = some_labels(rng, 7, 3), some_labels(rng, 6, 2)
    tiles = fit_tiles(X, rows, columns)
    expected = 0.0
    for k, m in product(range(3), range(2)):
        own = X[np.ix_(rows == k, columns == m)]
        variance = max(own.var(), LEAST_VARIANCE * X.var())
        assert tiles.means[k, m] == pytest.approx(own.mean())
        assert tiles.variances[k, m] == pytest.approx(variance, rel=1e-6)
        expected -= 2 * norm.logpdf(own, own.mean(), np.sqrt(variance)).sum()
    assert tiles.deviance + X.size * np.log(2 * np.pi) == pytest.approx(expected, rel=1e-6)


@property_test
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4))
def test_rows_go_where_they_are_likeliest_and_no_cluster_is_lost(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 6)) * rng.uniform(0.2, 3, size=6)
    rows, columns = some_labels(rng, 8, k), some_labels(rng, 6, 2)
    tiles = fit_tiles(X, rows, columns)
    new = _likeliest(X, rows, columns, tiles)
    assert_array_equal(np.unique(new), np.arange(k))
    means, deviations = tiles.means[:, columns], np.sqrt(tiles.variances[:, columns])
    parts = -2 * norm.logpdf(X[:, None], means, deviations).sum(axis=2)
    own = np.arange(8)
    # A row is at its best place, or where it was because its cluster would be empty without it.
    at_best = parts[own, new] <= parts.min(axis=1) + 1e-9
    assert np.all(at_best | (new == rows))
    alone = [np.sum(new == cluster) for cluster in new[~at_best]]
    assert all(count == 1 for count in alone)


@property_test
@given(seed=st.integers(0, 2**32 - 1))
def test_deviance_falls_and_labels_settle(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 10)) * rng.uniform(0.3, 2, size=(12, 1))
    start = some_labels(rng, 12, 3), some_labels(rng, 10, 3)
    found = settle_by_noise(X, *start, 100)
    assert found.converged
    assert np.all(np.diff(found.history)[:-1] < 0)
    assert found.history[-1] == fit_tiles(X, found.rows, found.columns).deviance
    again = settle_by_noise(X, found.rows, found.columns, 100)
    assert_array_equal(again.rows, found.rows)
    assert_array_equal(again.columns, found.columns)
    # It does not know in which order the rows stand.
    order = rng.permutation(12)
    turned = settle_by_noise(X[order], start[0][order], start[1], 100)
    assert turned.history[-1] == pytest.approx(found.history[-1])
    stopped = settle_by_noise(X, *start, 1)
    assert stopped.converged == (len(found.history) == 2)


@pytest.mark.parametrize("seed", range(3))
def test_best_labels_of_a_small_table(seed):
    rng = np.random.default_rng(seed)
    halves = [np.array((0, *rest)) for rest in product((0, 1), repeat=4) if any(rest)]
    X = rng.normal(size=(5, 5)) * np.array([0.3, 0.3, 2, 2, 2])[:, None]
    X -= X.mean(axis=0)
    pairs = list(product(halves, halves))
    least = min(fit_tiles(X, *pair).deviance for pair in pairs)
    reached = min(settle_by_noise(X, *pair, 50).history[-1] for pair in pairs)
    assert reached == pytest.approx(least)


def test_estimator_sees_differences_in_noise_that_means_do_not_show():
    rng = np.random.default_rng(0)
    rows, columns = np.arange(40) % 2, np.arange(40) % 2
    scale = np.array([[0.3, 2.0], [2.0, 0.3]])[np.ix_(rows, columns)]
    X = scale * rng.normal(size=(40, 40))
    model = AlternatingInformedClustering(2, 2, noise="blocks", start="both", random_state=0)
    model.fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1
    # Centring a feature puts a part of its noisy entries into the quiet ones.
    truth = fit_tiles(X - X.mean(axis=0), rows, columns)
    assert_allclose(model.block_variances_, truth.variances)
    equal = AlternatingInformedClustering(2, 2, start="both", random_state=0).fit(X)
    assert adjusted_rand_score(rows, equal.row_labels_) < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_one_noise_for_all_is_as_it_was_and_each_its_own_is_better_where_it_is(seed):
    data = make_block_data("unequal noise", 0.4, random_state=seed)
    equal, own = (
        AlternatingInformedClustering(4, 4, noise=noise, n_init=5, random_state=seed).fit(data.X)
        for noise in ("equal", "blocks")
    )
    truth = data.row_labels, data.column_labels
    right = [
        [adjusted_rand_score(*pair) for pair in zip(truth, found, strict=True)]
        for found in (
            (equal.row_labels_, equal.column_labels_),
            (own.row_labels_, own.column_labels_),
        )
    ]
    assert np.all(np.array(right[1]) > np.array(right[0]))
    assert min(right[1]) > 0.95
    assert len(equal.deviance_history_) == 0
    centred = data.X - data.X.mean(axis=0)
    for model in (equal, own):
        tiles = fit_tiles(centred, model.row_labels_, model.column_labels_)
        assert_allclose(model.block_variances_, tiles.variances)
    assert own.deviance_history_[-1] == pytest.approx(
        fit_tiles(centred, own.row_labels_, own.column_labels_).deviance
    )
    assert own.deviance_history_[-1] < own.deviance_history_[0]
    # The first stage is the one of equal noise.
    assert np.all(np.diff(own.history_) <= 0)


def test_bad_noise():
    X = np.random.default_rng(0).normal(size=(9, 8))
    with pytest.raises(ValueError, match="noise='loud' is unknown"):
        AlternatingInformedClustering(noise="loud").fit(X)
    with pytest.raises(ValueError, match="n_components=1 limits the tiles"):
        AlternatingInformedClustering(noise="blocks", n_components=1).fit(X)
