"""What a call without options means: defaults and fixed settings, written down a second time.

A default is part of what a function promises: the book, the stored tables and other people's code
call without options. Numbers that are the paper's are marked so. Whoever changes a default changes
it here, too, and in whatever repeats it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import informed
from informed import datasets, diffusion, directions, experiments, gap, spiked, survival, theory
from informed.alternating import AlternatingInformedClustering
from informed.clusters import cluster_features

PAPER_LOCAL = {"n_components": 6, "n_clusters": 7}  # and N = 20, of 200 genes
ONE_SEED = {"random_state": 0, "verbose": False}
TOY = {"rho": 0.6, "loading_sd": 0.0, "n_init": 10} | ONE_SEED
RING = {"n_features": 300, "n_clusters": 6, "strong": 150.0, "weak": 6.0}
KMEANS = {"n_init": 10, "random_state": None}
GENES = {"n_genes": 200, "skip": 0, "directions": "exact", "variances": "pca", "scale": 2.0}

DEFAULTS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    # The metric.
    (
        informed.InformedMahalanobis,
        {"n_components": 2, "n_clusters": None, "directions": "exact", "variances": "pca",
         "penalty": "cv", "clustering": "kmeans", "profiles": "centered", "feature_labels": None}
        | KMEANS,
    ),
    (
        informed.LocalInformedMahalanobis,
        # None: the paper's 20, 6 and 7, as far as the data allow (tests/test_local_graph.py).
        {"n_neighbors": None, "n_components": None, "n_clusters": None, "directions": "exact",
         "variances": "pca", "penalty": "cv", "search": "exact", "n_candidates": None,
         "n_jobs": None, "verbose": False} | KMEANS,
    ),
    (informed.InformedMahalanobis.pairwise_distances, {"Y": None, "squared": False}),
    (informed.LocalInformedMahalanobis.pairwise_distances, {"Y": None, "squared": False}),
    (informed.LocalInformedMahalanobis.pairwise_distances_chunked, {"squared": False}),
    (informed.LocalInformedMahalanobis.kneighbors_graph, {"mode": "distance"}),
    (
        diffusion.DiffusionMap,
        {"n_components": 2, "epsilon": "median", "scale": 1.0, "alpha": 0.0, "metric": "euclidean"},
    ),
    (
        AlternatingInformedClustering,
        {"n_row_clusters": 2, "n_column_clusters": 2, "max_iter": 100} | KMEANS,
    ),
    (cluster_features, KMEANS),
    (directions.exact_directions, {"pca_variances": True, "check_input": True}),
    (
        directions.gradient_directions,
        {"step": "constant", "max_iter": 50_000, "tol": 1e-10, "check_input": True},
    ),
    (directions.penalized_directions, {"n_folds": 5, "random_state": None, "check_input": True}),
    (directions.penalty_path, {"penalties": None, "n_folds": 5, "random_state": None}),
    (directions.subspace_error, {"norm": "fro"}),
    (gap.gap_statistic, {"n_references": 20} | KMEANS),
    (
        gap.neighborhood_gap,
        {"n_clusters": 7, "n_neighborhoods": None, "n_references": 5, "n_init": 3,
         "verbose": False},
    ),
    (survival.compare_survival, {"confidence": 0.95}),
    (survival.hazard_ratio, {"confidence": 0.95}),
    (survival.adjusted_hazard_ratio, {"confidence": 0.95}),
    (survival.permutation_p_value, {"n_permutations": 9999}),
    (spiked.detection_threshold, {"noise_variance": 1.0}),
    (spiked.inflated_variance, {"noise_variance": 1.0}),
    (spiked.limiting_cosine, {"noise_variance": 1.0}),
    (spiked.strength_from_variance, {"noise_variance": 1.0}),
    (theory.linkage_samples, {"failure": 0.05}),
    (theory.misclassification_rate, {"n_clusters": 2, "cluster_size": np.inf}),
    (theory.predicted_gain, {"misfit": 0.0}),
    (theory.samples_needed, {"error": 0.5}),
    # Data sets.
    (
        datasets.make_hidden_square,
        {"n_samples": 500, "n_features": 1200, "spread": 0.1, "noise": 0.0},  # paper: 500, 1200
    ),
    (
        datasets.make_two_types,
        {"n_samples": 100, "rho": 0.6, "sigma2": 1.0, "loading_sd": 0.0, "shuffle": True,
         # paper: 18 clusters of 900 features
         "borders": (0, 50, 120, 190, 220, 285, 320, 355, 400, 470, 500, 545, 603, 642, 700, 735,
                     800, 850, 900)},
    ),
    (
        datasets.make_curved_manifold,
        {"n_samples": 400, "n_features": 600, "n_clusters": 3, "curvature": 4.0, "spread": 0.1,
         "noise": 0.2},
    ),
    (
        datasets.make_risk_cohort,  # paper: 82 patients, 200 genes, 35 deaths
        {"n_samples": 82, "n_features": 200, "n_deaths": None, "effect": 1.5, "noise": 1.6},
    ),
    (datasets.top_variance, {"n_features": 200, "skip": 0}),
    # Experiments.
    (
        experiments.hidden_space,  # paper: 500, 1200 and 50
        {"n_samples": 500, "n_features": 1200, "n_fit": 50, "scale": 0.25, "n_repeats": 1}
        | ONE_SEED,
    ),
    (experiments.covariance_stairs, {"n_samples": 100, "rho": 0.6, "zoom": (750, 900),
                                     "section": 899, "random_state": 0}),
    (
        experiments.direction_error,
        {"sizes": (20, 60, 100, 200), "n_clusters": 18, "n_repeats": 50,
         "methods": ("averaged", "gradient", "exact", "penalized")} | TOY,
    ),
    (
        experiments.cluster_count_error,
        {"counts": (10, 15, 20, 25, 30, 35, 40), "n_samples": 100, "n_repeats": 20,
         "methods": ("averaged", "gradient", "exact", "penalized")} | TOY,
    ),
    (
        experiments.type_embedding,
        {"n_samples": 100, "n_components": 17, "rho": 0.6, "n_repeats": 10} | ONE_SEED,
    ),
    (
        experiments.risk_groups,
        {"n_neighbors": 20, "late_deaths": "censor", "n_repeats": 20} | GENES | PAPER_LOCAL
        | ONE_SEED,
    ),
    (
        experiments.neighborhood_sweep,
        {"sizes": tuple(range(10, 61, 5)), "late_deaths": "censor", "n_repeats": 20} | GENES
        | PAPER_LOCAL | ONE_SEED,
    ),
    (experiments.grouping_null, {"n_permutations": 999}),
    (experiments.GroupingNull.rejection_rate, {"alpha": 0.05}),
    (
        experiments.late_deaths,
        {"early": (0.008, 0.008), "late": (0.008, 0.008), "horizon": 60.0,
         "follow_up": (40.0, 120.0), "n_samples": 82, "n_repeats": 400, "random_state": 0},
    ),
    (
        experiments.locality_tradeoff,
        {"sizes": (6, 8, 12, 16, 24, 32, 48, 64, 96, 128), "n_samples": 300, "n_features": 300,
         "curvature": 4.0, "noise": 0.2, "reach": 0.25, "n_repeats": 5} | ONE_SEED,
    ),
    (
        experiments.penalty_study,
        {"designs": ("toy", "mixed", "steps"), "blurs": (0.0, 0.4, 0.8, np.inf),
         "sizes": (20, 40, 80), "counts": (12,), "n_init": 3, "n_repeats": 20} | ONE_SEED,
    ),
    (
        experiments.local_penalty_study,
        {"spreads": (0.1, 0.5, 1.0), "sizes": (8, 16, 32), "n_samples": 150, "n_features": 120,
         "noise": 0.3, "reach": 0.25, "n_repeats": 3} | ONE_SEED,
    ),
    (
        experiments.alternation_study,
        {"signals": (1.0, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25), "n_clusters": 4, "n_repeats": 20}
        | ONE_SEED,
    ),
    (
        experiments.cohorts,
        {"names": ("vdv", "NSBCD", "DBCD", "MCLcleaned", "AML_Bull", "DLBCL", "chop"),
         "n_genes": 200, "sizes": (10, 20, 40, 60), "scale": 2.0, "leave_out": ("vdv",),
         "n_permutations": 9999, "n_repeats": 10} | PAPER_LOCAL | ONE_SEED,
    ),
    (
        experiments.cohort_sensitivity,
        {"genes": (50, 100, 200, 400), "sizes": (10, 20, 40, 60), "components": (2, 4, 6, 8),
         "clusters": (4, 7, 10, 15), "n_genes": 200, "n_neighbors": 20, "scale": 2.0}
        | PAPER_LOCAL | ONE_SEED,
    ),
    (
        experiments.own_patients,
        {"sizes": tuple(range(10, 61, 5)), "n_repeats": 20, "n_permutations": 9999} | ONE_SEED,
    ),
    (
        experiments.site_transfer,
        {"n_genes": 200, "skip": 1, "n_neighbors": 20, "scale": 2.0, "horizon": 60.0,
         "n_repeats": 10, "n_draws": 1000} | PAPER_LOCAL | ONE_SEED,
    ),
    (
        experiments.phase_diagram,
        {"noises": (0.7, 1.0, 1.4, 2.0, 2.8), "sizes": (16, 32, 64, 128, 256, 512), "n_init": 40,
         "n_repeats": 24, "n_known": 600} | RING | ONE_SEED,
    ),
    (experiments.cluster_ring, RING),
    (experiments.PhaseDiagram.first_found, {"predicted": False}),
    (experiments.PhaseDiagram.phases, {"predicted": False}),
    (
        experiments.classification_study,
        {"train_sizes": (50, 100, 200, 400), "n_splits": 20} | ONE_SEED,
    ),
    (
        experiments.covariance_study,
        {"data_names": ("toy", "NSBCD", "DBCD"), "train_sizes": (30, 60), "n_splits": 10}
        | ONE_SEED,
    ),
    (experiments.SiteTransfer.pair_table, {"preparation": "centred", "adjusted": True}),
    (experiments.SiteTransfer.summary, {"preparation": "centred"}),
]  # fmt: skip

# Settings that no caller can change, and on which stored tables rest.
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("datasets.blurred", {"CLUSTER_SIZES": (20,) * 6 + (4,) * 6, "N_DIRECTIONS": 7, "RHO": 0.4}),
    ("studies.experiments.alternation", {"MAX_ROUNDS": 20}),
    (
        "studies.experiments.cohorts",
        {"_GAP_NEIGHBORHOODS": 40, "_GAP_REFERENCES": 3, "_GAP_INIT": 2,
         "_PENALTY_NEIGHBORHOODS": 7},
    ),
    (
        "studies.experiments.own_patients",
        {"_N_COMPONENTS": 6, "_N_CLUSTERS": 7, "_HORIZON": 60.0, "_N_STARTS": 10,
         "_GRADIENT_STEPS": 200, "_EMBEDDING": 5, "_N_VARIED": 10,
         "_LAST": {"scale": 2.0, "split": "sign", "late": "drop"}},
    ),
    ("studies.experiments.phases", {"FOUND": 0.5}),
    (
        "studies.experiments.toy",
        {"RANK": 18, "AUTHORS_OPTIONS": {"gradient": {"step": "paper", "max_iter": 200}},
         "PAPER_SIZES": (*range(20, 201, 20), *range(250, 701, 50), *range(800, 2001, 100))},
    ),
    (
        "studies.experiments.uses",
        {"N_INNER_FOLDS": 3, "N_TEST_DIGITS": 500, "SPIKES": (1, 2, 3, 5, 8, 12, 18),
         "CLUSTER_COUNTS": (10, 20, 40)},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "expected"), DEFAULTS, ids=lambda each: getattr(each, "__qualname__", "")
)
def test_defaults(function: Callable[..., Any], expected: dict[str, Any]) -> None:
    parameters = inspect.signature(function).parameters
    found = {name: parameters[name].default for name in expected}
    assert found == expected


@pytest.mark.parametrize(("module", "expected"), SETTINGS)
def test_settings(module: str, expected: dict[str, Any]) -> None:
    found = vars(importlib.import_module(f"informed.{module}"))
    assert {name: found[name] for name in expected} == expected
