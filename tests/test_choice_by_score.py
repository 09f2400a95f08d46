"""Choosing what a metric is made of by samples held out, and the table that the book shows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from by_hand import clustered_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from informed import InformedMahalanobis
from informed.datasets import make_two_types
from informed.directions.registry import VARIANCES
from informed.metrics.choice import Settings, choose_settings, held_out_scores
from informed.parallel import seeds as random_seeds
from informed.studies.experiments import choosing, load_result


@pytest.mark.parametrize("labeled", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_held_out_scores_are_those_of_fitted_metrics(labeled, seed):
    X, labels = clustered_data(seed, n_samples=40)
    fit, held_out = X[:25], X[25:]
    given_labels = labels if labeled else None
    scores = held_out_scores(fit, held_out, given_labels, 3, VARIANCES)
    for row, kind in enumerate(VARIANCES):
        for d in (1, 2, 3):
            metric = InformedMahalanobis(
                d,
                directions="exact" if labeled else "pca",
                variances=kind,
                feature_labels=given_labels,
            ).fit(fit)
            assert scores[row, d - 1] == pytest.approx(metric.score(held_out))


def test_the_choice_is_the_best_of_an_exhaustive_search():
    X, _ = clustered_data(3, n_samples=30)
    wanted = Settings("auto", "auto", "auto", "centered", "auto", "auto", "cv", 3)
    chosen, score = choose_settings(X, wanted)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))

    def mean_score(**options):
        model = InformedMahalanobis(n_init=3, random_state=0, **options)
        return np.mean([model.fit(X[a]).score(X[b]) for a, b in folds])

    tried = {}
    for d in (1, 3, 5):
        for variances in VARIANCES:
            tried[d, variances] = mean_score(n_components=d, directions="pca", variances=variances)
            for K in (5, 8):
                if d < K:
                    for clustering in ("kmeans", "ward"):
                        tried[d, variances, K, clustering] = mean_score(
                            n_components=d, n_clusters=K, clustering=clustering, variances=variances
                        )
    assert score >= max(tried.values()) - 1e-9
    final = asdict(chosen)
    del final["n_init"]
    assert mean_score(**final) == pytest.approx(score)


@pytest.mark.parametrize("n_features", [2, 4])
def test_one_dimension_at_least_is_left_to_the_noise(n_features):
    X = np.random.default_rng(0).normal(size=(40, n_features)) * np.arange(1, n_features + 1)
    wanted = Settings("auto", None, "kmeans", "centered", "pca", "own", "cv", 3)
    assert choose_settings(X, wanted)[0].n_components < n_features
    last = replace(wanted, n_components=n_features - 1, variances="auto")
    assert choose_settings(X, last)[0].n_components == n_features - 1
    with pytest.raises(ValueError, match=f"n_components={n_features} is out of range"):
        choose_settings(X, replace(last, n_components=n_features))


def test_what_is_chosen_is_told_and_fitted():
    X = make_two_types(40, random_state=0).X[:, ::4]
    metric = InformedMahalanobis(
        "auto", "auto", clustering="auto", directions="auto", variances="auto", random_state=0
    ).fit(X)
    assert metric.settings_["directions"] == "exact"
    assert metric.components_.shape == (metric.settings_["n_components"], X.shape[1])
    assert metric.labels_.max() + 1 == metric.settings_["n_clusters"]
    again = InformedMahalanobis(**metric.settings_, random_state=0).fit(X)
    assert_array_equal(again.components_, metric.components_)
    # The parameters themselves stay as they were given.
    assert metric.get_params()["n_components"] == "auto"


def test_where_there_are_no_clusters_principal_directions_are_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) @ (4 * rng.normal(size=(3, 12))) + rng.normal(size=(80, 12))
    metric = InformedMahalanobis("auto", "auto", directions="auto", variances="own").fit(X)
    assert metric.settings_["directions"] == "pca"
    assert metric.settings_["n_components"] == 3
    assert metric.labels_ is None


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": "auto"},
        {"n_components": "auto", "n_clusters": 4},
        {"n_clusters": "auto"},
        {"clustering": "auto"},
        {"profiles": "auto"},
        {"variances": "auto"},
        {"n_components": "auto", "clustering": DBSCAN(eps=6.0)},
        {"n_components": "auto", "n_clusters": "auto", "clustering": AgglomerativeClustering()},
        {"n_components": "auto", "directions": "pca"},
        {"n_components": "auto", "directions": "averaged", "n_clusters": 4},
        {"n_components": "auto", "feature_labels": clustered_data(0)[1]},
    ],
)
def test_each_part_can_be_left_open_by_itself(options):
    X, _ = clustered_data(0, n_samples=24)
    metric = InformedMahalanobis(**options, n_init=2, random_state=0).fit(X)
    for name, value in metric.settings_.items():
        assert not (isinstance(value, str) and value == "auto"), name
    assert np.isfinite(metric.score(X))


def test_too_few_samples_to_hold_any_out():
    X, _ = clustered_data(0, n_samples=5)
    with pytest.raises(ValueError, match="n_components='auto' needs samples to hold out: X has 5"):
        InformedMahalanobis("auto").fit(X)
    with pytest.raises(ValueError, match="no choice has a likelihood"):
        InformedMahalanobis("auto", "auto").fit(np.tile(np.arange(4.0), (8, 1)))


@pytest.mark.parametrize("directions", ["exact", "pca", "auto"])
def test_a_single_feature_leaves_nothing_to_choose_from(directions):
    column = np.random.default_rng(0).normal(size=(12, 1))
    with pytest.raises(ValueError, match=r"n_components.*='auto': no choice has a likelihood"):
        InformedMahalanobis("auto", directions=directions).fit(column)


@parametrize_with_checks(
    [
        InformedMahalanobis(1, clustering="ward", profiles="standardized", variances="shrunk"),
        InformedMahalanobis(1, clustering=AgglomerativeClustering(), profiles="as-is"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --------------------------------------------------------------------------- the table of the book


def test_the_stored_table_and_what_the_chapter_says_of_it():
    stored = load_result(Path(__file__).resolve().parent.parent / "book/results/choice_study")
    assert stored.data_names == choosing.CHOICE_DATA
    density, accuracy = stored.likelihood.mean(axis=2), stored.accuracy.mean(axis=2)
    # By likelihood the automatic choice meets its mark …
    assert np.all(np.exp(density[:, 2] - stored.best(stored.likelihood)) > 0.95)
    assert np.all(np.exp(density[:, 2] - density[:, 1]) > 0.98)
    # … and by neighbours it does not, which is why the defaults are what they were.
    assert np.nanmin(accuracy[:, 2] / accuracy[:, 1]) < 0.98
    assert InformedMahalanobis().get_params()["n_components"] == 2


def test_tables_of_a_study_by_hand():
    rules = ("K = d + 1", "K = 10", "K = 20", "K = 40")
    methods = (
        *choosing.CHOSEN,
        "pca, d = 2, own",
        *(f"exact, d = 2, {K}, ward, own" for K in rules),
    )
    density = np.array([0.5, 0.25, 0.4, 0.2, 0.8, 0.4, 0.1, np.nan])
    hits = np.array([0.45, 0.6, 0.75, 0.3, 0.9, 0.6, 0.5, np.nan])
    # Two splits about these means; the second data set has no classes.
    study = choosing.ChoiceStudy(
        data_names=("wine", "NSBCD"),
        methods=methods,
        likelihood=np.log(density)[:, None] + np.array([[[-0.1, 0.1]], [[-0.3, 0.3]]]),
        accuracy=np.array([hits, np.full(8, np.nan)])[:, :, None] + [-0.05, 0.05],
    )
    shown = ["0.500", "1.600", "0.625"]
    assert study.table.rows == [
        ["wine", *shown, "0.833", "1.250", "0.500", "0.900"],
        ["NSBCD", *shown, "–", "–", "–", "–"],
    ]
    assert study.table.header[4:] == ["accuracy", "to PCA ", "defaults ", "best"]
    shown = ["1.000", "0.500", "0.125", "–"]
    assert study.cluster_table.rows == [
        ["wine", *shown, "0.900", "0.600", "0.500", "–"],
        ["NSBCD", *shown, "–", "–", "–", "–"],
    ]
    assert study.cluster_table.header[1:5] == rules


def test_the_study_on_the_smallest_data_set():
    stored = load_result(Path(__file__).resolve().parent.parent / "book/results/choice_study")
    k = stored.data_names.index("iris")
    run = choosing._judge("iris", random_seeds(0, 1)[0])
    for method in ("pca", "pca, d = 2, shrunk", "exact, d = 2, K = d + 1, ward, own"):
        m = stored.methods.index(method)
        expected = stored.likelihood[k, m, 0], stored.accuracy[k, m, 0]
        assert_allclose(run[method], expected, rtol=1e-8)
