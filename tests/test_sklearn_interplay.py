"""The estimators inside scikit-learn: its own checks, pipelines, searches, neighbours, t-SNE."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from by_hand import clustered_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE, trustworthiness
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis
from informed.directions.registry import DIRECTIONS

# One k-means start keeps the checks quick; they ask for conventions, not for optima.
CHECKED = [
    *(InformedMahalanobis(directions=directions, n_init=1) for directions in DIRECTIONS),
    InformedMahalanobis(1, variances="own", n_init=1),
    LocalInformedMahalanobis(),
    LocalInformedMahalanobis(5, 1, 2, n_init=1),
    DiffusionMap(),
    DiffusionMap(metric="precomputed"),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_tags_say_what_the_estimators_do():
    # The checks above believe these: a tag that is left out is a check that is left out.
    for estimator in (InformedMahalanobis(), DiffusionMap()):
        assert get_tags(estimator).transformer_tags.preserves_dtype == ["float64", "float32"]
    assert get_tags(InformedMahalanobis()).input_tags.sparse
    for dense in (InformedMahalanobis(directions="penalized"), DiffusionMap()):
        assert not get_tags(dense).input_tags.sparse
    distances = get_tags(DiffusionMap(metric="precomputed")).input_tags
    assert distances.pairwise
    assert distances.sparse
    assert distances.positive_only


def two_types(seed=0, contrast=8.0):
    """Samples of two types that differ in one of the feature clusters."""
    X, labels = clustered_data(seed, n_samples=80, spread=0.5)
    y = np.arange(80) % 2
    X[:, labels == 0] += contrast * y[:, None]
    return X, y


ESTIMATORS = [
    InformedMahalanobis(3, 4, directions="penalized", variances="own", random_state=1),
    InformedMahalanobis(2, feature_labels=np.arange(24) % 3),
    LocalInformedMahalanobis(12, 2, 3, n_init=1, random_state=1),
    DiffusionMap(3, epsilon=100.0, alpha=0.5),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_keeps_parameters_and_forgets_the_fit(estimator):
    X, _ = two_types()
    fitted = clone(estimator).fit(X)
    copy = clone(fitted)
    assert str(copy.get_params()) == str(estimator.get_params())
    assert [name for name in vars(copy) if name.endswith("_")] == []
    state = {k: v for k, v in vars(copy.fit(X)).items() if k.endswith("_")}
    for name, value in state.items():
        assert_array_equal(value, getattr(fitted, name))


# ---------------------------------------------------------------------- pipelines and searches


def test_pipeline_into_a_classifier():
    X, y = two_types()
    pipeline = make_pipeline(
        StandardScaler(), InformedMahalanobis(3, random_state=0), LogisticRegression()
    )
    pipeline.fit(X[:60], y[:60])
    step = InformedMahalanobis(3, random_state=0)
    scaled = StandardScaler().fit(X[:60])
    by_hand = LogisticRegression().fit(step.fit_transform(scaled.transform(X[:60])), y[:60])
    expected = by_hand.predict(step.transform(scaled.transform(X[60:])))
    assert_array_equal(pipeline.predict(X[60:]), expected)
    assert pipeline.score(X[60:], y[60:]) > 0.8


def test_pipeline_of_metric_and_diffusion_map():
    X, _ = two_types()
    pipeline = make_pipeline(InformedMahalanobis(3, random_state=0), DiffusionMap(2))
    embedding = pipeline.fit_transform(X)
    D = InformedMahalanobis(3, random_state=0).fit(X).pairwise_distances(X)
    expected = DiffusionMap(2, metric="precomputed").fit_transform(D)
    assert_allclose(embedding, expected, atol=1e-8)
    assert_allclose(pipeline.transform(X), embedding, atol=1e-8)
    assert list(pipeline.get_feature_names_out()) == ["diffusionmap0", "diffusionmap1"]


def test_grid_search_over_components_and_directions():
    X, y = two_types(contrast=2.0)
    pipeline = Pipeline(
        [
            ("metric", InformedMahalanobis(n_init=1, random_state=0)),
            ("neighbors", KNeighborsClassifier(3)),
        ]
    )
    grid = {
        "metric__n_components": [1, 3],
        "metric__directions": ["exact", "pca"],
        "neighbors__n_neighbors": [3],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    # The search must see a difference between its candidates.
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0
    best = search.best_estimator_["metric"]
    assert best.components_.shape[0] == search.best_params_["metric__n_components"]


# -------------------------------------------------------------------------------------- pandas


def test_pandas_in_and_out():
    X, _ = two_types()
    names = [f"gene {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=[f"patient {i}" for i in range(len(X))])
    for estimator in (InformedMahalanobis(2, random_state=0), DiffusionMap(2)):
        expected = clone(estimator).fit(X).transform(X)
        plain = clone(estimator).fit(frame)
        assert isinstance(plain.transform(frame), np.ndarray)
        assert_array_equal(plain.feature_names_in_, names)
        prefix = type(estimator).__name__.lower()
        assert list(plain.get_feature_names_out()) == [f"{prefix}0", f"{prefix}1"]
        framed = clone(estimator).set_output(transform="pandas").fit(frame)
        for result in (framed.transform(frame), framed.fit_transform(frame)):
            assert isinstance(result, pd.DataFrame)
            assert list(result.columns) == [f"{prefix}0", f"{prefix}1"]
            assert_array_equal(result.index, frame.index)
            assert_allclose(result.to_numpy(), expected, atol=1e-8)
        with pytest.raises(ValueError, match="feature names should match"):
            framed.transform(frame[names[::-1]])


def test_distances_take_frames():
    X, _ = two_types()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    whole = InformedMahalanobis(2, random_state=0).fit(frame)
    expected = InformedMahalanobis(2, random_state=0).fit(X)
    assert_array_equal(whole.pairwise_distances(frame), expected.pairwise_distances(X))
    assert_array_equal(
        whole.pairwise_distances(frame, frame[:5]), expected.pairwise_distances(X, X[:5])
    )
    # Pairs come as one array, without names: that is no reason to warn.
    pairs = np.stack([X[:5], X[5:10]], axis=1)
    assert_allclose(whole.pair_distance(pairs), expected.pair_distance(pairs))
    local = LocalInformedMahalanobis(12, 2, 3, n_init=1, random_state=0).fit(frame)
    expected = LocalInformedMahalanobis(12, 2, 3, n_init=1, random_state=0).fit(X)
    assert_array_equal(local.feature_names_in_, frame.columns)
    assert_array_equal(local.pairwise_distances(), expected.pairwise_distances())
    assert_array_equal(local.pairwise_distances(frame[:5]), expected.pairwise_distances(X[:5]))


# ---------------------------------------------------------------------------------- neighbours


def test_three_ways_to_nearest_neighbours_of_the_global_metric():
    X, y = two_types()
    train, test = np.arange(60), np.arange(60, 80)
    metric = InformedMahalanobis(3, random_state=0).fit(X[train])
    mapped = KNeighborsClassifier(5).fit(metric.transform(X[train]), y[train])
    expected_distances, expected = mapped.kneighbors(metric.transform(X[test]))

    # A callable carries the metric into the ball tree and into brute force.
    for algorithm in ("brute", "ball_tree"):
        called = KNeighborsClassifier(5, metric=metric.get_metric(), algorithm=algorithm)
        called.fit(X[train], y[train])
        distances, found = called.kneighbors(X[test])
        assert_array_equal(found, expected)
        assert_allclose(distances, expected_distances)
        assert_array_equal(called.predict(X[test]), mapped.predict(metric.transform(X[test])))

    precomputed = KNeighborsClassifier(5, metric="precomputed")
    precomputed.fit(metric.pairwise_distances(X[train]), y[train])
    distances, found = precomputed.kneighbors(metric.pairwise_distances(X[test], X[train]))
    assert_array_equal(found, expected)
    assert_allclose(distances, expected_distances)

    # Not the Euclidean neighbours of the raw samples.
    raw = KNeighborsClassifier(5).fit(X[train], y[train]).kneighbors(X[test])[1]
    assert (raw != expected).any()


def test_nearest_neighbours_of_the_local_metric():
    X, y = two_types()
    train, test = np.arange(60), np.arange(60, 80)
    local = LocalInformedMahalanobis(15, 3, 4, n_init=1, random_state=0).fit(X[train])
    classifier = KNeighborsClassifier(5, metric="precomputed")
    classifier.fit(local.pairwise_distances(), y[train])
    D = local.pairwise_distances(X[test], X[train])
    votes = y[train][np.argsort(D, axis=1)[:, :5]].mean(axis=1)
    assert_array_equal(classifier.predict(D), votes > 0.5)
    # With all samples in every neighbourhood it is the global metric.
    local = LocalInformedMahalanobis(60, 3, 4, random_state=0).fit(X[train])
    classifier.fit(local.pairwise_distances(), y[train])
    metric = InformedMahalanobis(3, 4, random_state=0).fit(X[train])
    mapped = KNeighborsClassifier(5).fit(metric.transform(X[train]), y[train])
    assert_array_equal(
        classifier.predict(local.pairwise_distances(X[test], X[train])),
        mapped.predict(metric.transform(X[test])),
    )


def test_t_sne_of_the_informed_coordinates():
    X, _ = two_types()
    metric = InformedMahalanobis(3, random_state=0).fit(X)
    Z = metric.transform(X)
    options = {"perplexity": 10, "max_iter": 300, "random_state": 0}
    embedding = TSNE(**options).fit_transform(Z)
    assert embedding.shape == (80, 2)
    # Neighbours in the picture are neighbours by the informed distance; by chance it is ½.
    assert trustworthiness(Z, embedding, n_neighbors=10) > 0.85
    D = metric.pairwise_distances(X)
    from_distances = TSNE(metric="precomputed", init="random", **options).fit_transform(D)
    assert trustworthiness(D, from_distances, n_neighbors=10, metric="precomputed") > 0.85
