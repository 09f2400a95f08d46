"""Clusters of samples and features in turn: the cost against its definition, and that it falls."""

from __future__ import annotations

import re
import warnings
from itertools import product

import numpy as np
import pytest
from by_hand import dense_indicator
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralBiclustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, consensus_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from informed import AlternatingInformedClustering
from informed.alternating import checkerboard_cost
from informed.alternating import estimator as alternating
from informed.experiments import make_block_data


def checkerboard(seed, signal=1.0):
    data = make_block_data("checkerboard", signal, random_state=seed)
    return data.X, data.row_labels, data.column_labels


def partition(rng, size, n_clusters):
    """Random labels, each used."""
    return rng.permutation(
        np.r_[np.arange(n_clusters), rng.integers(n_clusters, size=size - n_clusters)]
    )


def dense_cost(X, rows, columns, d=None):
    """The cost through n × n and p × p projectors, and a rank cut in full space."""
    centered = X - X.mean(axis=0)
    R, C = dense_indicator(rows), dense_indicator(columns)
    board = (R @ R.T) @ centered @ (C @ C.T)
    if d is not None:
        left, singular, right = np.linalg.svd(board)
        board = left[:, :d] @ np.diag(singular[:d]) @ right[:d]
    return np.sum((centered - board) ** 2)


# ---------------------------------------------------------------------------------------- the cost


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [None, 1, 2])
def test_cost_is_the_distance_from_the_nearest_checkerboard(seed, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(13, 9)) + 10
    rows, columns = partition(rng, 13, 4), partition(rng, 9, 3)
    cost = checkerboard_cost(X, rows, columns, d)
    assert cost == pytest.approx(dense_cost(X, rows, columns, d))
    # No other checkerboard with these tiles comes closer.
    R, C = dense_indicator(rows), dense_indicator(columns)
    rank = d or 3
    for _ in range(20):
        A = rng.normal(size=(4, rank)) @ rng.normal(size=(rank, 3))
        other = (X - X.mean(axis=0)) - R @ A @ C.T
        assert np.sum(other**2) > cost


def test_cost_with_one_feature_a_cluster_is_that_of_k_means():
    X, _, _ = checkerboard(0)
    found = KMeans(4, n_init=1, random_state=0).fit(X)
    cost = checkerboard_cost(X, found.labels_, np.arange(X.shape[1]))
    assert cost == pytest.approx(found.inertia_)


def test_cost_is_never_negative():
    rows, columns = np.arange(6) % 2, np.arange(8) % 3
    tiles = np.array([[1.0, 2.0, 3.0], [0.1, 0.2, 0.4]])
    assert 0 <= checkerboard_cost(tiles[np.ix_(rows, columns)], rows, columns) < 1e-12


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1], [0, 0, 1]), ValueError, r"row_labels has shape \(2,\)"),
        (([0, 0, 1], [0, 1]), ValueError, r"column_labels has shape \(2,\)"),
        (([0, 0, 2], [0, 0, 1]), ValueError, "row_labels leaves cluster 1 empty"),
        (([0, 0, 1], [0, 0, 1], 3), ValueError, "n_components=3 .* 1 to 2"),
        (([0, 0, 1], [0, 0, 1], 1.0), TypeError, "n_components must .* 1.0 of type float"),
    ],
)
def test_cost_refuses_what_does_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        checkerboard_cost(np.eye(3), *arguments)


# ------------------------------------------------------------------------------------- the descent


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("shape", "clusters", "d"), [((25, 40), (4, 3), None), ((40, 25), (3, 5), 1)]
)
def test_the_cost_falls_and_is_that_of_the_labels(seed, shape, clusters, d):
    X = np.random.default_rng(seed).normal(size=shape)
    model = AlternatingInformedClustering(*clusters, n_components=d, n_init=1, random_state=seed)
    model.fit(X)
    assert model.converged_
    assert len(model.history_) == model.n_iter_ + 1 >= 2
    # It falls in each round, but for the last one, which finds nothing better.
    assert (np.diff(model.history_)[:-1] < 0).all()
    assert model.history_[-1] == model.history_[-2]
    limit = min(clusters[0] - 1, clusters[1])
    expected = dense_cost(X, model.row_labels_, model.column_labels_, d or limit)
    assert model.history_[-1] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_each_half_of_a_round_lowers_the_cost(seed, d):
    """The proof's chain, link by link, from random labels and through dense projectors."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 20))
    X -= X.mean(axis=0)
    rows, columns = partition(rng, 30, 4), partition(rng, 20, 5)
    costs = [dense_cost(X, rows, columns, d)]
    for _ in range(4):
        U = alternating._tile_directions(X, rows, columns, d).of_features
        assert_allclose(U.T @ U, np.eye(d), atol=1e-12)
        rows = alternating._recluster(X @ U, rows, 4, np.random.RandomState(seed))
        costs.append(dense_cost(X, rows, columns, d))
        V = alternating._tile_directions(X, rows, columns, d).of_samples
        columns = alternating._recluster(X.T @ V, columns, 5, np.random.RandomState(seed))
        costs.append(dense_cost(X, rows, columns, d))
    assert (np.diff(costs) <= 1e-9).all()
    assert costs[-1] < costs[0]


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, (7, 6), elements=st.integers(-2, 2).map(float)),
    st.integers(2, 4),
    st.integers(2, 4),
    st.integers(0, 100),
)
def test_small_tables_of_integers_with_many_ties(X, n_rows, n_columns, seed):
    centered = X - X.mean(axis=0)
    model = AlternatingInformedClustering(n_rows, n_columns, n_init=2, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        rows = len(np.unique(X, axis=0))
        columns = len({tuple(column) for column in (7 * centered.T).round().astype(int)})
        if rows < n_rows or columns < n_columns:
            with pytest.raises(ValueError, match="is out of range: after centring"):
                model.fit(X)
            return
        model.fit(X)
    assert set(model.row_labels_) == set(range(n_rows))
    assert set(model.column_labels_) == set(range(n_columns))
    assert (np.diff(model.history_) <= 0).all()
    assert model.history_[-1] == pytest.approx(
        checkerboard_cost(X, model.row_labels_, model.column_labels_), abs=1e-9
    )


def test_the_best_of_all_partitions_of_a_small_table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 5)) + np.outer([2, 2, 2, -2, -2, -2], [1, 1, -1, -1, -1])
    splits = [
        (rows, columns)
        for rows, columns in product(product([0, 1], repeat=6), product([0, 1], repeat=5))
        if len(set(rows)) == len(set(columns)) == 2
    ]
    best = min(checkerboard_cost(X, rows, columns) for rows, columns in splits)
    model = AlternatingInformedClustering(random_state=0).fit(X)
    assert model.history_[-1] == pytest.approx(best)


def test_more_runs_never_cost_more():
    def cost(seed, n_init):
        model = AlternatingInformedClustering(4, 4, n_init=n_init, random_state=0)
        return model.fit(np.random.default_rng(seed).normal(size=(40, 40))).history_[-1]

    one, five = np.transpose([[cost(seed, 1), cost(seed, 5)] for seed in range(5)])
    assert (five <= one).all()
    assert (five < one).any()


def test_a_run_that_is_cut_short_says_so():
    X, _, _ = checkerboard(0, signal=0.25)
    model = AlternatingInformedClustering(4, 4, n_init=1, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 rounds") as caught:
        model.fit(X)
    assert caught[0].filename == __file__
    assert (model.n_iter_, model.converged_) == (1, False)


# ------------------------------------------------------------------------------------- the answers


@pytest.mark.parametrize("seed", range(3))
def test_a_clear_checkerboard_is_found(seed):
    X, rows, columns = checkerboard(seed)
    model = AlternatingInformedClustering(4, 4, random_state=seed).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1
    means = [
        [X[np.ix_(model.row_labels_ == i, model.column_labels_ == j)].mean() for j in range(4)]
        for i in range(4)
    ]
    assert_allclose(model.block_means_, means)


def test_weak_clusters_are_found_better_together():
    gains = []
    for seed in range(4):
        X, rows, columns = checkerboard(seed, signal=0.3)
        model = AlternatingInformedClustering(4, 4, random_state=0).fit(X)
        alone = KMeans(4, n_init=10, random_state=0)
        centered = X - X.mean(axis=0)
        gains.append(
            (
                adjusted_rand_score(rows, model.row_labels_)
                - adjusted_rand_score(rows, alone.fit_predict(centered)),
                adjusted_rand_score(columns, model.column_labels_)
                - adjusted_rand_score(columns, alone.fit_predict(centered.T)),
            )
        )
    assert np.min(gains) > 0
    assert (np.mean(gains, axis=0) > 0.15).all()


def test_labels_are_numbered_by_first_occurrence():
    X, _, _ = checkerboard(0, signal=0.4)
    model = AlternatingInformedClustering(3, 5, random_state=0).fit(X)
    for labels, count in ((model.row_labels_, 3), (model.column_labels_, 5)):
        _, first = np.unique(labels, return_index=True)
        assert len(first) == count
        assert (np.diff(first) > 0).all()


def test_directions_are_constant_on_clusters_and_orthonormal():
    X, _, _ = checkerboard(0)
    model = AlternatingInformedClustering(4, 3, n_components=2, random_state=0).fit(X)
    U = model.directions_
    assert U.shape == (80, 2)
    assert_allclose(U.T @ U, np.eye(2), atol=1e-12)
    for k in range(3):
        assert np.ptp(U[model.column_labels_ == k], axis=0).max() < 1e-12
    # They are those of the data averaged over both clusterings, from NumPy.
    R, C = dense_indicator(model.row_labels_), dense_indicator(model.column_labels_)
    board = R @ R.T @ (X - X.mean(axis=0)) @ C @ C.T
    right = np.linalg.svd(board)[2][:2]
    assert_allclose(U @ U.T, right.T @ right, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_same_seed_same_answer_and_levels_of_features_do_not_count(seed):
    X, _, _ = checkerboard(seed, signal=0.3)
    model = AlternatingInformedClustering(4, 4, n_init=2, random_state=seed)
    first, second = clone(model).fit(X), clone(model).fit(X)
    levels = np.random.default_rng(seed).integers(-50, 50, size=80)
    moved = clone(model).fit(X + levels)
    for name in ("row_labels_", "column_labels_", "history_", "directions_"):
        assert_array_equal(getattr(first, name), getattr(second, name))
        assert_allclose(getattr(moved, name), getattr(first, name), atol=1e-9)
    assert_allclose(
        clone(model).set_params(random_state=np.random.RandomState(seed)).fit(X).history_,
        first.history_,
    )


def test_answer_follows_the_order_of_samples_and_features():
    X, _, _ = checkerboard(2, signal=0.6)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(80), rng.permutation(80)
    plain = AlternatingInformedClustering(4, 4, random_state=0).fit(X)
    mixed = AlternatingInformedClustering(4, 4, random_state=0).fit(X[np.ix_(rows, columns)])
    assert adjusted_rand_score(plain.row_labels_[rows], mixed.row_labels_) == 1
    assert adjusted_rand_score(plain.column_labels_[columns], mixed.column_labels_) == 1


def test_tiles_are_those_of_scikit_learn():
    X, _, _ = checkerboard(0)
    ours = AlternatingInformedClustering(4, 4, random_state=0).fit(X)
    theirs = SpectralBiclustering(4, random_state=0).fit(X)
    assert ours.rows_.shape == theirs.rows_.shape
    assert ours.columns_.shape == theirs.columns_.shape
    assert consensus_score(ours.biclusters_, theirs.biclusters_) == pytest.approx(1)
    for i, j in product(range(4), range(4)):
        rows, columns = ours.get_indices(4 * i + j)
        assert_array_equal(rows, np.flatnonzero(ours.row_labels_ == i))
        assert_array_equal(columns, np.flatnonzero(ours.column_labels_ == j))
        assert ours.get_submatrix(4 * i + j, X).mean() == pytest.approx(ours.block_means_[i, j])


def test_single_precision_gives_the_same_clusters():
    X, _, _ = checkerboard(0)
    double = AlternatingInformedClustering(4, 4, random_state=0).fit(X)
    single = AlternatingInformedClustering(4, 4, random_state=0).fit(X.astype(np.float32))
    assert_array_equal(single.row_labels_, double.row_labels_)
    assert_array_equal(single.column_labels_, double.column_labels_)


def test_empty_clusters_are_filled_from_the_largest():
    labels = np.array([0, 0, 0, 2, 2])
    assert_array_equal(alternating._fill_empty(labels, 4), [0, 3, 1, 2, 2])
    assert_array_equal(labels, [0, 0, 0, 2, 2])
    whole = np.array([1, 0, 1])
    assert alternating._fill_empty(whole, 2) is whole


def test_features_that_coincide_along_the_directions_still_fill_all_clusters():
    """Two clusters of samples give one direction; six features take few values along it."""
    X = [
        [1, 0, 1, 0, 1, 1],
        [0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0, 1],
        [0, 1, 1, 0, 1, 1],
        [0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 1],
    ]
    model = AlternatingInformedClustering(2, 5, n_init=2, random_state=0).fit(X)
    assert set(model.column_labels_) == set(range(5))


# ------------------------------------------------------------------------------ inside scikit-learn


@parametrize_with_checks([AlternatingInformedClustering(n_init=1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------------------- bad input

X = np.random.default_rng(0).normal(size=(20, 24))


@pytest.fixture
def no_work(monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("work was done before the input was checked")

    monkeypatch.setattr(alternating, "_run", work)
    monkeypatch.setattr(alternating.linalg, "svd", work)


@pytest.mark.usefixtures("no_work")
def test_work_would_be_seen():
    with pytest.raises(AssertionError, match="work was done"):
        AlternatingInformedClustering().fit(X)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (np.where(X[1, 2] == X, np.nan, X), ValueError, "X contains NaN"),
        (np.where(X[1, 2] == X, np.inf, X), ValueError, "X contains infinity"),
        (X[:1], ValueError, "X must .* at least 2 row.* 1 sample"),
        (X[0], ValueError, "X must .* Expected 2D array, got 1D"),
        (sparse.csr_array(X), TypeError, "Sparse data was passed for X"),
        (X.astype(str), ValueError, "X must .* real numbers .* text"),
        (X + 1j, ValueError, "X must .* Complex data not supported"),
    ],
)
def test_data(data, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        AlternatingInformedClustering().fit(data)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_row_clusters": 1}, ValueError, "n_row_clusters=1 .* 2 to 20 .*n_samples=20"),
        ({"n_row_clusters": 21}, ValueError, "n_row_clusters=21 .* 2 to 20 .*n_samples=20"),
        ({"n_row_clusters": 2.0}, TypeError, "n_row_clusters must .* 2.0 of type float"),
        ({"n_row_clusters": None}, TypeError, "n_row_clusters must .* None of type NoneType"),
        ({"n_column_clusters": 1}, ValueError, "n_column_clusters=1 .* 2 to 24 .*n_features=24"),
        ({"n_column_clusters": 25}, ValueError, "n_column_clusters=25 .* 2 to 24 .*n_features=24"),
        ({"n_column_clusters": "3"}, TypeError, "n_column_clusters must .* '3' of type str"),
        (
            {"n_row_clusters": 4, "n_column_clusters": 5, "n_components": 4},
            ValueError,
            "n_components=4 .* 1 to 3 .*n_row_clusters=4, n_column_clusters=5",
        ),
        (
            {"n_row_clusters": 6, "n_column_clusters": 3, "n_components": 4},
            ValueError,
            "n_components=4 .* 1 to 3",
        ),
        ({"n_components": 0}, ValueError, "n_components=0 .* 1 to 1"),
        ({"n_components": True}, TypeError, "n_components must .* True of type bool"),
        ({"n_init": 0}, ValueError, "n_init=0 .* integer >= 1"),
        ({"n_init": "auto"}, TypeError, "n_init must .* 'auto' of type str"),
        ({"max_iter": 0}, ValueError, "max_iter=0 .* integer >= 1"),
        ({"max_iter": 1e3}, TypeError, "max_iter must .* 1000.0 of type float"),
    ],
)
def test_parameters(options, error, message):
    with pytest.raises(error, match=message):
        AlternatingInformedClustering(**options).fit(X)


def test_the_limits_themselves_are_allowed():
    model = AlternatingInformedClustering(20, 24, n_init=1, random_state=0).fit(X)
    assert model.history_[-1] == pytest.approx(0, abs=1e-9)
    assert_array_equal(model.row_labels_, np.arange(20))
    AlternatingInformedClustering(4, 5, n_components=3, n_init=1).fit(X)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            X[[0, 1, 0, 1]],
            "n_row_clusters=3 is out of range: .* samples take only 2",
        ),
        (X[:, [0, 1, 0, 1]], "n_column_clusters=3 .* the features take only 2 distinct"),
        (
            X[:, [0, 1, 0, 1]] + np.array([0, 0, 8, 16]),
            "n_column_clusters=3 .* the features take only 2 distinct",
        ),
    ],
)
def test_more_clusters_than_distinct_points(data, message):
    data = np.round(data * 64) / 64  # sums are then exact
    with pytest.raises(ValueError, match=message):
        AlternatingInformedClustering(3, 3).fit(data)


def test_constant_features_warn_and_cluster_together():
    data = X.copy()
    data[:, [3, 7]] = 1.5, 0.1
    with pytest.warns(UserWarning, match=r"X has 2 constant feature.* index 3") as caught:
        model = AlternatingInformedClustering(3, 4, random_state=0).fit(data)
    assert caught[0].filename == __file__
    assert model.column_labels_[3] == model.column_labels_[7]


def test_messages_name_the_estimator_when_it_is_not_fitted():
    with pytest.raises(AttributeError, match=re.escape("'rows_'")):
        AlternatingInformedClustering().get_indices(0)


@pytest.mark.parametrize(
    ("start", "expected"), [("pca", "pppp"), ("random", "rrrr"), ("both", "prpr")]
)
def test_where_each_run_starts(start, expected, monkeypatch):
    begun = []
    for name, letter in {"_labels_from_pca": "p", "_random_labels": "r"}.items():
        right = getattr(alternating, name)

        def noting(*arguments, right=right, letter=letter):
            begun.append(letter)
            return right(*arguments)

        monkeypatch.setattr(alternating, name, noting)
    data = np.random.default_rng(1).normal(size=(12, 9))
    AlternatingInformedClustering(start=start, n_init=4, random_state=0).fit(data)
    # A random start draws samples and features.
    assert "".join(begun).replace("rr", "r") == expected
