"""From the table of expression to two groups: each step does what its name says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from informed import DiffusionMap, LocalInformedMahalanobis
from informed.datasets import make_risk_cohort, top_variance
from informed.directions import gradient_directions
from informed.experiments import risk_groups
from informed.groups import bipartition
from informed.parallel import seeds
from informed.studies.experiments.own_steps import (
    OWN_METHODS,
    PAPER_SETTINGS,
    UNCHANGED,
    VARIATIONS,
    Steps,
    _factors,
    _genes,
    _labels,
    _split,
    find_groups,
    paper_gradient,
)


@pytest.fixture(scope="module")
def cohort():
    return make_risk_cohort(50, 420, random_state=0)


def test_nothing_changed_is_what_risk_groups_does(cohort):
    drawn = seeds(0, 2)
    common = PAPER_SETTINGS | {"n_repeats": 2, "random_state": 0}
    exact = risk_groups(cohort, directions="exact", **common)
    averaged = risk_groups(cohort, directions="averaged", **common)
    for i, seed in enumerate(drawn):
        found = dict(zip(OWN_METHODS, find_groups(cohort.X, [Steps()], seed)[0], strict=True))
        np.testing.assert_array_equal(found["euclidean"], exact.groups["euclidean"][0])
        np.testing.assert_array_equal(found["local pca"], exact.groups["local pca"][0])
        np.testing.assert_array_equal(found["exact"], exact.groups["informed"][i])
        np.testing.assert_array_equal(found["averaged"], averaged.groups["informed"][i])


def test_own_variances_are_those_of_the_estimator(cohort):
    found = find_groups(cohort.X, [Steps(variances="own")], 7)[0][OWN_METHODS.index("exact")]
    X = top_variance(cohort.X, 200, skip=1)
    metric = LocalInformedMahalanobis(20, 6, 7, variances="own", random_state=7).fit(X)
    embedding = DiffusionMap(1, scale=2.0, metric="precomputed").fit_transform(
        metric.pairwise_distances()
    )
    np.testing.assert_array_equal(found, bipartition(embedding))


def test_gradient_of_all_neighbourhoods_is_that_of_each():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(4, 15, 40))
    samples -= samples.mean(axis=1, keepdims=True)
    labels = np.array([np.arange(40) % 7 for _ in samples])
    directions, variances = paper_gradient(samples, labels, n_steps=60)
    for own, clusters, found, found_variances in zip(
        samples, labels, directions, variances, strict=True
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            expected = gradient_directions(own, clusters, 6, step="paper", max_iter=60)
        signs = np.sign(np.sum(found * expected.directions, axis=0))
        np.testing.assert_allclose(found * signs, expected.directions, atol=1e-8)
        np.testing.assert_allclose(found_variances, expected.pca_variances)


@pytest.mark.parametrize("method", OWN_METHODS[1:])
def test_along_its_directions_a_neighbourhood_has_variance_one_where_variances_are_own(method):
    rng = np.random.default_rng(2)
    samples = rng.normal(size=(3, 15, 40)) * np.linspace(0.5, 2, 40)
    samples -= samples.mean(axis=1, keepdims=True)
    labels = np.array([rng.permutation(np.arange(40) % 7) for _ in samples])
    factors = _factors(samples, labels, method, Steps(variances="own"))
    assert factors.shape == (3, 6, 40)
    for own, factor in zip(samples, factors, strict=True):
        np.testing.assert_allclose((own @ factor.T).var(axis=0, ddof=1), 1)


def test_genes_are_chosen_and_scaled_as_said():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 12)) * rng.permutation(np.linspace(0.2, 2, 12)) + 2 * rng.normal(
        size=12
    )
    order = np.argsort(-X.std(axis=0))
    steps = Steps(ranks=(2, 5))
    np.testing.assert_array_equal(_genes(X, steps), X[:, order[1:5]])
    np.testing.assert_array_equal(_genes(X, steps._replace(ranks=(1, 4))), X[:, order[:4]])
    np.testing.assert_array_equal(_genes(X, steps._replace(ranked="table")), X[:, 1:5])
    linear = np.argsort(-(2**X).std(axis=0))[1:5]
    assert sorted(linear) != sorted(order[1:5])
    np.testing.assert_array_equal(_genes(X, steps._replace(ranked="linear")), X[:, linear])
    np.testing.assert_array_equal(_genes(X, steps._replace(values="linear")), 2 ** X[:, linear])
    unit = _genes(X, steps._replace(values="unit variance"))
    np.testing.assert_allclose(unit, X[:, order[1:5]] / X[:, order[1:5]].std(axis=0))


@pytest.mark.parametrize(
    ("rows", "treat"),
    [
        ("as they are", lambda near, X: near),
        ("over all", lambda near, X: near - X.mean(axis=0)),
        ("in the neighbourhood", lambda near, X: near - near.mean(axis=0)),
        ("standardised", lambda near, X: (near - near.mean(axis=0)) / near.std(axis=0)),
    ],
)
@pytest.mark.parametrize("starts", ["shared", "ten"])
def test_rows_are_treated_as_said_before_they_are_clustered(cohort, rows, treat, starts):
    X = top_variance(cohort.X, 60)
    near = X[:40].reshape(4, 10, 60)
    labels = _labels(X, near, Steps(rows=rows, starts=starts), seed=0)
    for own, found in zip(near, labels, strict=True):
        profiles = treat(own, X).T
        best = KMeans(7, n_init=30, random_state=0).fit(profiles)
        cost = sum(
            np.sum((profiles[found == k] - profiles[found == k].mean(axis=0)) ** 2)
            for k in range(7)
        )
        # The same cost function, up to a local optimum; another treatment would cost far more.
        assert cost <= 1.1 * best.inertia_


def test_one_start_costs_more_than_ten(cohort):
    X = top_variance(cohort.X, 100)
    near = X.reshape(5, 10, 100)

    def cost(starts):
        labels = _labels(X, near, Steps(starts=starts), seed=3)
        profiles = near - X.mean(axis=0)
        return sum(
            np.sum((own.T[found == k] - own.T[found == k].mean(axis=0)) ** 2)
            for own, found in zip(profiles, labels, strict=True)
            for k in range(7)
        )

    assert cost("one") > cost("ten")


def test_split_rules():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (24, 3)), rng.normal(4, 1, (12, 3))])
    distances = cdist(points, points)
    sign, median, means, component = (
        _split(distances, Steps(split=rule))
        for rule in ("sign", "median", "two-means", "component")
    )
    assert sorted(np.bincount(median)) == [18, 18]
    assert sorted(np.bincount(means)) == [12, 24]
    coordinate = DiffusionMap(5, scale=2.0, metric="precomputed").fit_transform(distances)
    np.testing.assert_array_equal(sign, coordinate[:, 0] > 0)
    centered = coordinate - coordinate.mean(axis=0)
    leading = np.linalg.eigh(centered.T @ centered)[1][:, -1]
    assert adjusted_rand_score(component, centered @ leading > 0) == 1


def test_uncentred_covariances_are_those_of_the_printed_formula(cohort):
    X = top_variance(cohort.X, 200, skip=1)
    found = find_groups(cohort.X, [Steps(covariances="as printed")], 0)[0][
        OWN_METHODS.index("local pca")
    ]
    distances = np.zeros((50, 50))
    plain = cdist(X, X)
    inverses = []
    for i in range(50):
        near = X[np.argsort(plain[i], kind="stable")[:20]]
        values, vectors = np.linalg.eigh(near.T @ near / 19)
        inverses.append(vectors[:, -6:] / values[-6:] @ vectors[:, -6:].T)
    for i in range(50):
        for j in range(50):
            gap = X[i] - X[j]
            distances[i, j] = np.sqrt(gap @ (inverses[i] + inverses[j]) @ gap / 2)
    embedding = DiffusionMap(1, scale=2.0, metric="precomputed").fit_transform(distances)
    np.testing.assert_array_equal(found, bipartition(embedding))


def test_every_variation_changes_exactly_one_step():
    defaults = Steps()
    for name, change in VARIATIONS.items():
        assert len(change) == (name != UNCHANGED)
        assert all(getattr(defaults, key) != value for key, value in change.items())


def test_two_means_split_looks_at_two_coordinates() -> None:
    steps, differ = Steps(split="two-means"), 0
    for seed in range(6):
        points = np.random.default_rng(seed).normal(size=(24, 6))
        distances = squareform(pdist(points))
        embedding = DiffusionMap(5, scale=steps.scale, metric="precomputed").fit_transform(
            distances
        )
        two, three = (
            KMeans(2, n_init=10, random_state=0).fit_predict(embedding[:, :count])
            for count in (2, 3)
        )
        assert adjusted_rand_score(_split(distances, steps), two) == 1
        differ += adjusted_rand_score(two, three) < 1
    assert differ > 0
