"""Where what is allowed ends: the last value that is accepted, and the next one, which is not.

A limit that is off by one, or that counts its own value to the wrong side, refuses somebody's data
or lets nonsense through, and shows at no other value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from informed import DiffusionMap
from informed.alternating import AlternatingInformedClustering
from informed.datasets import (
    make_curved_manifold,
    make_hidden_square,
    make_risk_cohort,
    make_two_types,
    top_variance,
)
from informed.datasets.block_data import make_block_data
from informed.datasets.blurred import blurred_toy
from informed.directions import gradient_directions, penalized_directions, penalty_path
from informed.gap import gap_statistic, neighborhood_gap
from informed.survival import compare_survival, permutation_p_value
from informed.theory import (
    error_bound,
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
