"""Clusters of features: k-means labels, the indicator matrix and averaging over clusters."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from toy import Array, explicit_indicator, projector, same_examples

from informed.clusters import check_feature_labels, cluster_features
from informed.clusters.features import (
    average_over_clusters,
    indicator,
    relabel_by_first_occurrence,
)
from informed.directions.solvers import cluster_coordinates, from_cluster_coordinates

seeds = st.integers(0, 2**32 - 1)
few_examples = settings(same_examples, max_examples=10)  # k-means with its restarts takes longer


@st.composite
def labelings(draw, max_features: int = 15):
    """Labels 0 … K − 1 in any order, none missing."""
    raw = draw(st.lists(st.integers(0, 5), min_size=1, max_size=max_features))
    return np.unique(raw, return_inverse=True)[1]


def separated(seed: int, n_clusters: int = 4, n_features: int = 40) -> tuple[Array, Array]:
    """Features that follow their cluster's course over the samples up to a little noise."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_features) % n_clusters)
    courses = 3 * np.linalg.qr(rng.standard_normal((12, n_clusters)))[0]
    return courses[:, truth] + 0.1 * rng.standard_normal((12, n_features)), truth


# ------------------------------------------------------------------------------- k-means


@pytest.mark.parametrize("seed", range(10))
def test_separated_clusters_are_found(seed):
    X, truth = separated(seed)
    labels = cluster_features(X, 4, random_state=seed)
    assert adjusted_rand_score(truth, labels) == 1
    assert labels.dtype == np.intp
    # Numbered by first occurrence, so the partition fixes the numbers too.
    np.testing.assert_array_equal(labels, relabel_by_first_occurrence(truth))


@few_examples
@given(seeds)
def test_labels_follow_a_permutation_of_the_features(seed):
    X, _ = separated(seed % 1000)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    labels = cluster_features(X, 4, random_state=0)
    permuted = cluster_features(X[:, order], 4, random_state=1)
    assert adjusted_rand_score(labels[order], permuted) == 1


@few_examples
@given(seeds, st.floats(1e-3, 1e3), st.sampled_from([-1, 1]))
def test_labels_do_not_change_with_scale_translation_and_order_of_samples(seed, scale, sign):
    X, _ = separated(seed % 1000)
    rng = np.random.default_rng(seed)
    labels = cluster_features(X, 4, random_state=0)
    changed = sign * scale * (X + 100 * rng.standard_normal(X.shape[1]))[rng.permutation(len(X))]
    np.testing.assert_array_equal(cluster_features(changed, 4, random_state=0), labels)


def test_level_of_a_feature_plays_no_part():
    # Two courses, each at two levels far apart: without centring the levels would win.
    course = np.array([0.0, 1, 0, 1, 0, 1])
    X = np.column_stack([course, 1 - course, course + 50, 51 - course])
    np.testing.assert_array_equal(cluster_features(X, 2, random_state=0), [0, 1, 0, 1])


def test_same_seed_same_labels_and_restarts_lower_the_cost():
    X = np.random.default_rng(0).standard_normal((10, 80))
    centered = X - X.mean(axis=0)

    def cost(seed, n_init):
        labels = cluster_features(X, 9, n_init=n_init, random_state=seed)
        repeated = cluster_features(X, 9, n_init=n_init, random_state=seed)
        np.testing.assert_array_equal(labels, repeated)
        return np.sum((centered.T - average_over_clusters(centered.T, labels)) ** 2)

    single = [cost(seed, 1) for seed in range(5)]
    assert len(set(single)) > 1
    assert cost(0, 20) < np.mean(single)


def test_as_many_clusters_as_features_and_one_cluster():
    X = np.random.default_rng(0).standard_normal((5, 6))
    np.testing.assert_array_equal(cluster_features(X, 6), np.arange(6))
    np.testing.assert_array_equal(cluster_features(X, 1), np.zeros(6))


def test_constant_features_warn_and_cluster_together():
    X, truth = separated(0, n_clusters=3, n_features=20)
    constant = [2, 7, 11]
    X[:, constant] = [0.1, -3.7, 1e6]
    truth[constant] = 3
    with pytest.warns(UserWarning, match=r"X has 3 constant feature.*first at index 2") as record:
        labels = cluster_features(X, 4, random_state=0)
    assert record[0].filename == __file__
    assert adjusted_rand_score(truth, labels) == 1


def test_data_that_vary_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cluster_features([[0.0, 0.0], [0.0, 1.0], [1e-9, 0.0]], 2)


def test_more_clusters_than_distinct_features_is_an_error_not_a_warning():
    X = np.array([[0.0, 1, 5, 0], [1, 2, 6, 0], [2, 3, 7, 9]])  # the first three differ in level
    with pytest.raises(ValueError, match=r"n_clusters=3 is out of range: .*at most 2"):
        cluster_features(X, 3)


def test_input_is_left_alone_and_float32_works():
    X, truth = separated(1)
    before = X.copy()
    cluster_features(X, 4, random_state=0)
    np.testing.assert_array_equal(X, before)
    assert (
        adjusted_rand_score(cluster_features(X.astype(np.float32), 4, random_state=0), truth) == 1
    )


# ----------------------------------------------------------------------- numbering of clusters


@same_examples
@given(st.lists(st.integers(-3, 12), min_size=1, max_size=20))
def test_relabel_by_first_occurrence(raw):
    labels = relabel_by_first_occurrence(np.array(raw))
    expected, seen = [], []
    for value in raw:
        if value not in seen:
            seen.append(value)
        expected.append(seen.index(value))
    np.testing.assert_array_equal(labels, expected)


# ------------------------------------------------------------------------- indicator, averaging


@same_examples
@given(labelings())
def test_indicator_follows_its_definition(labels):
    H = indicator(labels)
    np.testing.assert_allclose(H, explicit_indicator(labels), atol=1e-15)
    np.testing.assert_allclose(H.T @ H, np.eye(labels.max() + 1), atol=1e-14)
    np.testing.assert_allclose(H @ H.T, projector(labels), atol=1e-14)


@same_examples
@given(
    labelings().flatmap(
        lambda labels: st.tuples(
            st.just(labels),
            hnp.arrays(
                float,
                st.sampled_from([(len(labels),), (len(labels), 1), (len(labels), 3)]),
                elements=st.floats(-1e6, 1e6),
            ),
        )
    )
)
def test_averaging_is_the_explicit_projector(case):
    labels, U = case
    averaged = average_over_clusters(U, labels)
    assert averaged.shape == U.shape
    np.testing.assert_allclose(averaged, projector(labels) @ U, rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(average_over_clusters(averaged, labels), averaged, rtol=1e-12)
    assert np.linalg.norm(averaged) <= np.linalg.norm(U) * (1 + 1e-12)


def test_coordinates_are_those_of_the_indicator():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(11) % 4)
    U, T, H = rng.standard_normal((11, 3)), rng.standard_normal((4, 2)), explicit_indicator(labels)
    np.testing.assert_allclose(cluster_coordinates(U, labels), H.T @ U)
    np.testing.assert_allclose(from_cluster_coordinates(T, labels), H @ T)


def test_averaging_keeps_float32_and_takes_integers():
    U = np.array([[1, 2], [3, 6], [10, 20]])
    expected = [[2, 4], [2, 4], [10, 20]]
    for dtype, kept in [(np.float32, np.float32), (np.float64, np.float64), (int, np.float64)]:
        averaged = average_over_clusters(U.astype(dtype), [0, 0, 1])
        assert averaged.dtype == kept
        np.testing.assert_array_equal(averaged, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.uint64])
def test_labels_of_any_integer_type(dtype):
    labels = np.array([0, 1, 0, 2], dtype=dtype)
    np.testing.assert_array_equal(indicator(labels), explicit_indicator(labels.astype(int)))
    np.testing.assert_array_equal(average_over_clusters([1.0, 5, 3, 7], labels), [2, 5, 2, 7])


# --------------------------------------------------------------------------------- bad input

GOOD = np.random.default_rng(0).standard_normal((6, 5))

BAD_DATA = [
    (np.where(np.eye(6, 5), np.nan, GOOD), ValueError, "X must be .*finite.*contains NaN"),
    (np.where(np.eye(6, 5), np.inf, GOOD), ValueError, "X must be .*finite.*infinity"),
    (GOOD[:1], ValueError, r"X must be .*at least 2 row\(s\).*1 sample"),
    (GOOD[:0], ValueError, "X must be .*0 sample"),
    (GOOD[:, :0], ValueError, r"X must be .*0 feature\(s\)"),
    (GOOD[0], ValueError, "X must be a dense matrix.*1D array"),
    (GOOD[None], ValueError, "X must be a dense matrix.*dim 3"),
    (None, ValueError, "X must be a dense matrix"),
    (GOOD + 1j, ValueError, "X must be .*real numbers.*Complex"),
    (sparse.csr_array(GOOD), TypeError, "X must be a dense matrix.*Sparse"),
    (GOOD.astype(str), ValueError, "X must be .*numbers.*text"),
    (GOOD.astype("S"), ValueError, "X must be .*numbers.*text"),
    ([["1", 2.0], [3.0, 4.0]], ValueError, "X must be .*numbers.*text"),
    (np.array([["1", 2.0], [3.0, 4.0]], dtype=object), ValueError, "X must be .*numbers.*text"),
    ([[1.0, 2.0], [3.0]], ValueError, "X must be a dense matrix.*inhomogeneous"),
]


@pytest.mark.parametrize(("X", "error", "message"), BAD_DATA)
def test_bad_data(X, error, message):
    with pytest.raises(error, match="(?s)" + message):
        cluster_features(X, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"n_clusters": 0},
            ValueError,
            "n_clusters=0 is out of range: .*from 1 to 5 (n_features=5)",
        ),
        (
            {"n_clusters": 6},
            ValueError,
            "n_clusters=6 is out of range: .*from 1 to 5 (n_features=5)",
        ),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be an integer.*got 2.0 of type float"),
        ({"n_clusters": "2"}, TypeError, "n_clusters must be an integer.*got '2' of type str"),
        ({"n_clusters": None}, TypeError, "n_clusters must be an integer.*got None"),
        ({"n_clusters": True}, TypeError, "n_clusters must be an integer.*got True of type bool"),
        ({"n_init": 0}, ValueError, "n_init=0 is out of range: it must be an integer >= 1"),
        ({"n_init": 1.5}, TypeError, "n_init must be an integer >= 1, got 1.5 of type float"),
        ({"random_state": "a"}, ValueError, "random_state='a' is unknown"),
    ],
)
def test_bad_arguments(arguments, error, message):
    pattern = re.escape(message).replace(r"\.\*", ".*")
    with pytest.raises(error, match=pattern):
        cluster_features(GOOD, **{"n_clusters": 2, **arguments})


BAD_LABELS = [
    ([0, 1, 0], ValueError, r"labels has shape \(3,\): .*one cluster number for each of the 5"),
    ([[0, 1, 0, 1, 0]], ValueError, r"labels has shape \(1, 5\): "),
    (3, ValueError, r"labels has shape \(\): "),
    (None, ValueError, r"labels has shape \(\): "),
    ([], ValueError, r"labels has shape \(0,\): "),
    ([0, 1, 0, 1, 0.5], TypeError, "labels must hold integers, got .* float64"),
    (list("abcde"), TypeError, "labels must hold integers, got .* <U1"),
    ([True, False, True, True, True], TypeError, "labels must hold integers, got .* bool"),
    ([0, 1, -1, 0, 1], ValueError, "labels holds -1: cluster numbers start at 0"),
    ([0, 3, 1, 0, 1], ValueError, "labels leaves cluster 2 empty: every number from 0 to 3"),
    ([1, 2, 1, 2, 1], ValueError, "labels leaves cluster 0 empty: every number from 0 to 2"),
    ([0, 1, 10**12, 0, 0], ValueError, "labels leaves cluster 2 empty: .*to 1000000000000 must"),
]


@pytest.mark.parametrize(("labels", "error", "message"), BAD_LABELS)
def test_bad_labels(labels, error, message):
    with pytest.raises(error, match=message):
        average_over_clusters(np.ones((5, 2)), labels)


@pytest.mark.parametrize(("labels", "error", "message"), BAD_LABELS[1:])
def test_bad_labels_of_the_indicator(labels, error, message):
    with pytest.raises(error, match=message):
        indicator(labels)


@pytest.mark.parametrize(
    ("U", "message"),
    [
        (3.0, "U must be a dense matrix"),
        (np.ones((5, 2, 2)), "U must be a dense matrix.*dim 3"),
        (np.ones((5, 0)), r"U must be .*0 feature\(s\)"),
        (np.ones((0, 2)), r"U must be .*0 sample\(s\)"),
        ([1.0, np.nan, 1, 1, 1], "U must be .*finite.*NaN"),
        (np.ones(4), r"labels has shape \(5,\): .*each of the 4 features"),
    ],
)
def test_bad_columns(U, message):
    with pytest.raises(ValueError, match="(?s)" + message):
        average_over_clusters(U, [0, 1, 0, 1, 0])


@pytest.mark.parametrize("mixed", [["a", 0, "b"], ["a", "b", 1], [0, 1, "a"], ["a", 7, None]])
def test_names_and_numbers_are_not_mixed_not_even_small_numbers(mixed):
    """A number below the count of names was once taken for the cluster of a name."""
    with pytest.raises(ValueError, match="both names and numbers"):
        check_feature_labels(mixed, 3)
    assert check_feature_labels(["a", "b", -1], 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("given", [[0, 1, -2], np.array([5, -3, 0]), [-2, None, 0]])
def test_one_number_below_minus_one_is_refused(given):
    with pytest.raises(ValueError, match=f"holds {min(v for v in given if v is not None)}"):
        check_feature_labels(given, 3)


@pytest.mark.parametrize("value", [1.5, 0.0, -1.0, np.inf, " ", True, b"a", (0, 1)])
def test_what_is_neither_a_name_nor_an_integer_is_refused(value):
    given = np.array(["a", "b", None], dtype=object)
    given[1] = value
    with pytest.raises(ValueError, match=re.escape(f"labels holds {value!r} at index 1: it must")):
        check_feature_labels(given, 3, "labels")


@pytest.mark.parametrize("gap", [None, np.nan, float("nan"), np.float64("nan"), -1])
def test_a_gap_is_a_cluster_of_its_own(gap):
    assert check_feature_labels(["a", gap, "b", "a", gap], 5).tolist() == [0, 1, 2, 0, 3]
