"""One function per figure, each taking the result of an experiment."""

from informed.plots.alternation import alternation_study, draw_sorted_table
from informed.plots.cohorts import cohort_forest, cohort_sensitivity
from informed.plots.local import locality_tradeoff, manifold_neighborhoods
from informed.plots.penalty import local_penalty_study, penalty_study
from informed.plots.risk import (
    expression_heat_maps,
    kaplan_meier,
    neighborhood_sweep,
    risk_embeddings,
)
from informed.plots.square import distance_recovery, square_embeddings
from informed.plots.style import look, styled
from informed.plots.toy import covariance_stairs, data_matrix, direction_error, type_embedding
from informed.plots.uses import classification_study, covariance_study

__all__ = [
    "alternation_study",
    "classification_study",
    "cohort_forest",
    "cohort_sensitivity",
    "covariance_stairs",
    "covariance_study",
    "data_matrix",
    "direction_error",
    "distance_recovery",
    "draw_sorted_table",
    "expression_heat_maps",
    "kaplan_meier",
    "local_penalty_study",
    "locality_tradeoff",
    "look",
    "manifold_neighborhoods",
    "neighborhood_sweep",
    "penalty_study",
    "risk_embeddings",
    "square_embeddings",
    "styled",
    "type_embedding",
]
