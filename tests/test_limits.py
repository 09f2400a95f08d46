"""Where what is allowed ends: the last value that is accepted, and the next one, which is not.

A limit that is off by one, or that counts its own value to the wrong side, refuses somebody's data
or lets nonsense through, and shows at no other value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis
from informed.alternating import AlternatingInformedClustering, choose_block_numbers
from informed.clusters import cluster_features
from informed.datasets import (
    make_curved_manifold,
    make_hidden_square,
    make_risk_cohort,
    make_two_types,
    top_variance,
)
from informed.datasets.block_data import make_block_data
from informed.datasets.blurred import blurred_toy
from informed.datasets.mixed import mixed_toy
from informed.directions import gradient_directions, penalized_directions, penalty_path
from informed.experiments import grouping_null
from informed.gap import gap_statistic, neighborhood_gap
from informed.metrics import RandomTrees
from informed.metrics.covariance import spiked_covariance
from informed.survival import (
    compare_survival,
    cox_coefficients,
    drop_late_deaths,
    permutation_p_value,
    restricted_mean,
    truncate_follow_up,
)
from informed.theory import (
    axis_roles,
    distance_moments,
    error_bound,
    error_floor,
    estimate_spectrum,
    expected_errors,
    kmeans_mistakes,
    kurtosis_samples,
    linkage_failure,
    linkage_samples,
    misclassification_rate,
    predicted_agreement,
    predicted_gain,
    recovery,
    samples_needed,
)

TINY = 1e-9
X = np.random.default_rng(0).normal(size=(9, 6))
LABELS = np.array([0, 0, 1, 1, 2, 2])
DURATIONS, EVENTS, GROUPS = np.arange(1.0, 7), np.array([1, 0, 1, 1, 0, 1]), [0, 1, 0, 1, 0, 1]
TWO_CLUSTERS = {"sizes": [9, 9], "separation": 1.0, "noise": 1.0}
ONE_CLUSTER_EACH = {"separation": 1.0, "noise": 1.0}


def _alternating(**options: Any) -> object:
    return AlternatingInformedClustering(random_state=0, **options).fit(X)


def _diffusion(**options: Any) -> object:
    return DiffusionMap(**({"n_components": 1, "epsilon": 50.0} | options)).fit(X)


def _alternating_once(**options: Any) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _alternating(**options)


def _gradient(**options: Any) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return gradient_directions(X, LABELS, 2, **options)


def _two_types(name: str) -> Callable[..., Any]:
    toy = make_two_types(3, random_state=0)
    return lambda n_components: getattr(toy, name)(n_components)


def _global(samples: Any = None, **options: Any) -> Callable[..., Any]:
    if samples is None:
        samples = np.random.default_rng(1).normal(size=(20, 6))
    return lambda **more: InformedMahalanobis(random_state=0, **options, **more).fit(samples)


def _local(**options: Any) -> LocalInformedMahalanobis:
    return LocalInformedMahalanobis(**{"random_state": 0, "n_init": 1} | options).fit(X)


def _local_fitted(name: str, **options: Any) -> Callable[..., Any]:
    return lambda **more: getattr(_local(n_components=2, n_clusters=3, **options), name)(**more)


def check_search_trees(**options: Any) -> object:
    return _local(search=RandomTrees(**options))


def _rejection_rate(**options: Any) -> object:
    null = grouping_null(DURATIONS, EVENTS, [GROUPS], n_permutations=9, random_state=0)
    return null.rejection_rate(np.min, **options)


SURVIVAL = {"durations": DURATIONS, "events": EVENTS}
FLOOR = {"strength": 2.0, "noise": 1.0}
SIX = {"n_samples": 9, "n_features": 6, "strengths": [3.0]}
KMEANS = {"n_samples": 9, "sizes": [9, 9], "n_components": 1}
ROLES = {"strength": 2.0, "direction_aspect": 0.5, "variance_aspect": 0.5}
MOMENTS = {
    "directions": np.eye(3)[:, :2],
    "variances": np.ones(2),
    "loadings": np.eye(3)[:, :1],
    "difference": np.ones((1, 1)),
}

# Function, its other arguments, the argument in question, the last good value, the first bad one.
LIMITS: list[tuple[Callable[..., Any], dict[str, Any], str, Any, Any]] = [
    (make_hidden_square, {"n_features": 9}, "n_samples", 2, 1),
    (make_hidden_square, {"n_samples": 5}, "n_features", 3, 2),
    (make_hidden_square, {"n_samples": 5, "n_features": 9}, "spread", 0.0, -TINY),
    (make_hidden_square, {"n_samples": 5, "n_features": 9}, "noise", 0.0, -TINY),
    (make_curved_manifold, {"n_features": 9}, "n_samples", 2, 1),
    (make_curved_manifold, {"n_samples": 5, "n_features": 9}, "n_clusters", 3, 2),
    (make_curved_manifold, {"n_samples": 5, "n_clusters": 4}, "n_features", 4, 3),
    (make_curved_manifold, {"n_samples": 5, "n_features": 9}, "curvature", 0.0, -TINY),
    (make_curved_manifold, {"n_samples": 5, "n_features": 9}, "spread", 0.0, -TINY),
    (make_curved_manifold, {"n_samples": 5, "n_features": 9}, "noise", 0.0, -TINY),
    (make_risk_cohort, {"n_features": 9}, "n_samples", 2, 1),
    (make_risk_cohort, {"n_samples": 5}, "n_features", 7, 6),
    (make_risk_cohort, {"n_samples": 5, "n_features": 9}, "n_deaths", 1, 0),
    (make_risk_cohort, {"n_samples": 5, "n_features": 9}, "n_deaths", 5, 6),
    (make_risk_cohort, {"n_samples": 5, "n_features": 9}, "effect", 0.0, -TINY),
    (make_risk_cohort, {"n_samples": 5, "n_features": 9}, "noise", 0.0, -TINY),
    (make_two_types, {}, "n_samples", 2, 1),
    (make_two_types, {"n_samples": 3, "rho": 0.0}, "sigma2", TINY, 0.0),
    (make_two_types, {"n_samples": 3}, "rho", 0.0, -TINY),
    (make_two_types, {"n_samples": 3}, "loading_sd", 0.0, -TINY),
    (make_block_data, {"family": "checkerboard", "signal": 1.0}, "n_clusters", 2, 1),
    (make_block_data, {"family": "checkerboard", "signal": 1.0}, "n_clusters", 30, 31),
    (make_block_data, {"family": "checkerboard"}, "signal", 0.0, -TINY),
    (blurred_toy, {"blur": 0.5}, "n_samples", 2, 1),
    (blurred_toy, {"n_samples": 5}, "blur", 0.0, -TINY),
    (top_variance, {"data": X, "n_features": 1}, "skip", 5, 6),
    (top_variance, {"data": X, "skip": 2}, "n_features", 4, 5),
    (gap_statistic, {"X": X, "n_references": 2}, "n_clusters", 1, 0),
    (gap_statistic, {"X": X, "n_references": 2}, "n_clusters", 8, 9),
    (gap_statistic, {"X": X, "n_clusters": 2}, "n_references", 2, 1),
    (gap_statistic, {"X": X, "n_clusters": 2, "n_references": 2}, "n_init", 1, 0),
    (neighborhood_gap, {"X": X, "n_clusters": 2}, "sizes", [2, 9], [1, 9]),
    (neighborhood_gap, {"X": X, "n_clusters": 2}, "sizes", [8, 9], [9, 10]),
    (neighborhood_gap, {"X": X, "sizes": [8]}, "n_clusters", 5, 6),
    (neighborhood_gap, {"X": X, "sizes": [8]}, "n_clusters", 1, 0),
    (neighborhood_gap, {"X": X, "sizes": [8], "n_clusters": 2}, "n_neighborhoods", 2, 1),
    (neighborhood_gap, {"X": X, "sizes": [8], "n_clusters": 2}, "n_neighborhoods", 9, 10),
    (neighborhood_gap, {"X": X, "sizes": [8], "n_clusters": 2}, "n_references", 1, 0),
    (neighborhood_gap, {"X": X, "sizes": [8], "n_clusters": 2}, "n_init", 1, 0),
    (_alternating, {}, "n_init", 1, 0),
    (_alternating, {}, "n_row_clusters", 9, 10),
    (_alternating, {}, "n_column_clusters", 6, 7),
    (_alternating, {}, "n_components", 1, 0),
    (_diffusion, {}, "n_components", 8, 9),
    (_diffusion, {}, "n_components", 1, 0),
    (_diffusion, {}, "alpha", 0.0, -TINY),
    (_diffusion, {"epsilon": "median"}, "scale", 1.0, 0.0),
    (_diffusion, {}, "epsilon", 5.0, 0.0),
    (gradient_directions, {"X": X, "labels": LABELS}, "n_components", 3, 4),
    (penalized_directions, {"X": X, "labels": LABELS, "n_components": 1}, "penalty", 0.0, -TINY),
    (penalty_path, {"X": X, "labels": LABELS}, "n_components", 3, 4),
    (penalty_path, {"X": X, "labels": LABELS}, "n_components", 1, 0),
    (penalty_path, {"X": X, "labels": LABELS, "n_components": 1}, "n_folds", 2, 1),
    (penalty_path, {"X": X, "labels": LABELS, "n_components": 1}, "penalties", [0, 1], [1, 1]),
    (
        permutation_p_value,
        {"durations": DURATIONS, "events": EVENTS, "groups": GROUPS},
        "n_permutations",
        1,
        0,
    ),
    (
        compare_survival,
        {"durations": DURATIONS, "events": EVENTS, "groups": GROUPS},
        "confidence",
        1 - 1e-9,
        1.0,
    ),
    (
        compare_survival,
        {"durations": DURATIONS, "events": EVENTS, "groups": GROUPS},
        "confidence",
        TINY,
        0.0,
    ),
    (misclassification_rate, ONE_CLUSTER_EACH, "n_samples", 1 + TINY, 1.0),
    (misclassification_rate, ONE_CLUSTER_EACH | {"n_samples": 9}, "n_clusters", 2, 1),
    (misclassification_rate, ONE_CLUSTER_EACH | {"n_samples": 9}, "cluster_size", 1.0, 1 - TINY),
    (linkage_failure, ONE_CLUSTER_EACH | {"n_features": 9}, "n_samples", 2, 1),
    (linkage_failure, ONE_CLUSTER_EACH | {"n_samples": 9}, "n_features", 2, 1),
    (linkage_samples, ONE_CLUSTER_EACH, "n_features", 2, 1),
    (linkage_samples, ONE_CLUSTER_EACH | {"n_features": 9}, "failure", TINY, 0.0),
    (kmeans_mistakes, TWO_CLUSTERS | {"n_components": 1}, "n_samples", 2, 1),
    (kmeans_mistakes, TWO_CLUSTERS | {"n_samples": 9}, "n_components", 1, 0),
    (kmeans_mistakes, TWO_CLUSTERS | {"n_samples": 9, "n_components": 1}, "failure", TINY, 0.0),
    (recovery, {"loadings": np.eye(3), "sizes": [5] * 3, "noise": 1.0}, "n_samples", 2, 1),
    (
        recovery,
        {"loadings": np.eye(3), "n_samples": 9, "noise": 1.0},
        "sizes",
        [1] * 3,
        [1, 1, 0.9],
    ),
    (samples_needed, {"strength": 2.0, "noise": 1.0}, "dimension", 1, 0),
    (samples_needed, {"dimension": 9, "noise": 1.0}, "strength", TINY, 0.0),
    (samples_needed, {"dimension": 9, "strength": 2.0}, "noise", 0.0, -TINY),
    (samples_needed, {"dimension": 9, "strength": 2.0, "noise": 1.0}, "error", 1.0, 1 + TINY),
    (samples_needed, {"dimension": 9, "strength": 2.0, "noise": 1.0}, "error", TINY, 0.0),
    (expected_errors, {"dimension": 9, "strengths": [3.0, 2.0], "noise": 1.0}, "n_samples", 5, 4),
    (expected_errors, {"n_samples": 9, "strengths": [3.0, 2.0], "noise": 1.0}, "dimension", 2, 1),
    (error_bound, {"n_samples": 9, "dimension": 9, "noise": 1.0}, "strengths", [TINY], [0.0]),
    (
        predicted_gain,
        {"n_samples": 9, "n_clusters": 2, "strengths": [3.0], "noise": 1.0},
        "n_features",
        2,
        1,
    ),
    (
        predicted_gain,
        {"n_samples": 9, "n_features": 9, "strengths": [3.0], "noise": 1.0},
        "n_clusters",
        2,
        1,
    ),
    (
        predicted_gain,
        {"n_samples": 9, "n_features": 9, "strengths": [3.0] * 4, "noise": 1.0},
        "n_clusters",
        4,
        3,
    ),
    (
        predicted_gain,
        {"n_samples": 9, "n_features": 9, "n_clusters": 3, "strengths": [3.0]},
        "noise",
        TINY,
        0.0,
    ),
    (
        predicted_gain,
        {"n_samples": 9, "n_features": 9, "n_clusters": 3, "strengths": [3.0], "noise": 1.0},
        "misfit",
        1.0,
        1 + TINY,
    ),
    (estimate_spectrum, {"X": X}, "n_components", 1, 0),
    (kurtosis_samples, {"kurtosis": 1.0}, "n_components", 1, 0),
    (kurtosis_samples, {"n_components": 5}, "kurtosis", 1.0, 1 - TINY),
    (kurtosis_samples, {"n_components": 5}, "kurtosis", 3 - TINY, 3.0),
    (predicted_agreement, {"n_components": 5, "kurtosis": 1.0}, "n_samples", 2, 1),
    (error_floor, FLOOR | {"n_samples": 9}, "dimension", 2, 1),
    (error_floor, FLOOR | {"dimension": 9}, "n_samples", 1, 0),
    (error_floor, FLOOR | {"n_samples": 9, "dimension": 9}, "n_components", 1, 0),
    (error_floor, FLOOR | {"n_samples": 9, "dimension": 9}, "n_components", 8, 9),
    (error_floor, {"n_samples": 9, "dimension": 9, "noise": 1.0}, "strength", TINY, 0.0),
    (error_floor, {"n_samples": 9, "dimension": 9, "strength": 1.0}, "noise", 0.0, -TINY),
    (expected_errors, {"n_samples": 9, "strengths": [3.0], "dimension": 5}, "noise", 0.0, -TINY),
    (error_bound, {"n_samples": 9, "strengths": [3.0], "noise": 1.0}, "dimension", 1, 0),
    (distance_moments, MOMENTS, "noise", 0.0, -TINY),
    (axis_roles, ROLES, "noise", TINY, 0.0),
    (predicted_gain, SIX | {"n_clusters": 2, "noise": 1.0}, "separation", TINY, 0.0),
    *(
        (function, others | {name: 1.0}, other, TINY, 0.0)
        for name, other in [("separation", "noise"), ("noise", "separation")]
        for function, others in [
            (misclassification_rate, {"n_samples": 9}),
            (linkage_failure, {"n_samples": 9, "n_features": 9}),
        ]
    ),
    (linkage_samples, {"n_features": 9, "noise": 1.0}, "separation", 1.0, 0.0),
    (linkage_samples, {"n_features": 9, "separation": 1.0}, "noise", 1.0, 0.0),
    (kmeans_mistakes, KMEANS | {"noise": 1.0}, "separation", TINY, 0.0),
    (kmeans_mistakes, KMEANS | {"separation": 1.0}, "noise", TINY, 0.0),
    (_alternating, {}, "n_row_clusters", 2, 1),
    (_alternating, {}, "n_column_clusters", 2, 1),
    (_alternating_once, {}, "max_iter", 1, 0),
    (choose_block_numbers, {"X": X, "random_state": 0}, "max_clusters", 2, 1),
    (mixed_toy, {"blur": 0.5}, "n_samples", 2, 1),
    (mixed_toy, {"n_samples": 5}, "blur", 0.0, -TINY),
    (blurred_toy, {"blur": np.inf}, "n_samples", 2, 1),
    (_two_types("eigenvalues"), {}, "n_components", 900, 901),
    (_two_types("eigenvalues"), {}, "n_components", 1, 0),
    (_two_types("eigenvectors"), {}, "n_components", 18, 19),
    (_two_types("eigenvectors"), {}, "n_components", 1, 0),
    (cluster_features, {"X": X, "random_state": 0}, "n_clusters", 6, 7),
    (cluster_features, {"X": X, "random_state": 0}, "n_clusters", 1, 0),
    (cluster_features, {"X": X, "n_clusters": 2}, "n_init", 1, 0),
    (_gradient, {}, "max_iter", 1, 0),
    (_gradient, {"max_iter": 3}, "tol", 0.0, -TINY),
    (spiked_covariance, {"X": X}, "n_components", 5, 6),
    (spiked_covariance, {"X": X}, "n_components", 1, 0),
    (_global(n_clusters=3), {"variances": "auto"}, "n_components", 1, 0),
    # Of eleven samples the smaller ones of three training folds have seven.
    (_global(np.eye(11)[:, :9], n_clusters="auto"), {}, "n_components", 5, 6),
    (_global(n_clusters="auto", n_components=2), {}, "n_init", 1, 0),
    (_local, {"n_components": 1}, "n_neighbors", 2, 1),
    (_local, {}, "n_neighbors", 9, 10),
    (_local, {}, "n_components", 1, 0),
    (_local, {"n_components": 1}, "n_clusters", 1, 0),
    (_local, {"n_components": 3}, "n_clusters", 3, 2),
    (_local, {}, "n_clusters", 6, 7),
    (_local, {"feature_labels": LABELS}, "n_components", 3, 4),
    (_local_fitted("kneighbors"), {}, "n_neighbors", 8, 9),
    (_local_fitted("kneighbors"), {}, "n_neighbors", 1, 0),
    (_local_fitted("kneighbors"), {"X": X + 0.1}, "n_neighbors", 9, 10),
    (_local_fitted("kneighbors_graph"), {}, "n_neighbors", 8, 9),
    (_local_fitted("kneighbors_graph"), {}, "n_neighbors", 1, 0),
    (_local_fitted("kneighbors"), {"n_neighbors": 3}, "n_candidates", 3, 2),
    (_local_fitted("kneighbors"), {"n_neighbors": 3}, "n_candidates", 8, 9),
    (_local_fitted("kneighbors"), {"n_neighbors": 3, "X": X + 0.1}, "n_candidates", 9, 10),
    (_local_fitted("penalty_path", directions="penalized"), {}, "sample", 8, 9),
    (_local_fitted("penalty_path", directions="penalized"), {}, "sample", 0, -1),
    (check_search_trees, {}, "n_trees", 1, 0),
    (check_search_trees, {}, "leaf_size", 2, 1),
    (cox_coefficients, SURVIVAL | {"covariates": X[:6, :1]}, "penalty", 0.0, -TINY),
    (truncate_follow_up, SURVIVAL, "horizon", TINY, 0.0),
    (drop_late_deaths, SURVIVAL, "horizon", TINY, 0.0),
    (restricted_mean, SURVIVAL, "horizon", TINY, 0.0),
    (compare_survival, SURVIVAL | {"groups": GROUPS}, "horizon", TINY, 0.0),
    (grouping_null, SURVIVAL | {"groupings": [GROUPS]}, "n_permutations", 1, 0),
    (_rejection_rate, {}, "alpha", TINY, 0.0),
]


@pytest.mark.parametrize(
    ("function", "others", "name", "good", "bad"),
    LIMITS,
    ids=[f"{row[0].__name__}-{row[2]}-{row[4]}" for row in LIMITS],
)
def test_the_limit_itself_is_allowed_and_no_more(
    function: Callable[..., Any], others: dict[str, Any], name: str, good: Any, bad: Any
) -> None:
    function(**others, **{name: good})
    with pytest.raises(ValueError, match=name):
        function(**others, **{name: bad})
