"""One function per figure, each taking the result of an experiment."""

from informed.studies.plots import _needs_matplotlib as _needs_matplotlib
from informed.studies.plots.alternation import alternation_study, block_study, draw_sorted_table
from informed.studies.plots.cohorts import cohort_comparison, cohort_forest, cohort_sensitivity
from informed.studies.plots.comparison import choice_study, comparison, rival_study
from informed.studies.plots.hidden_space import distance_recovery, square_embeddings
from informed.studies.plots.local import locality_tradeoff, manifold_neighborhoods
from informed.studies.plots.own_patients import own_patients, own_variations, site_transfer
from informed.studies.plots.penalty import local_penalty_study, penalty_study
from informed.studies.plots.phases import phase_diagram, phase_point, prediction_check
from informed.studies.plots.risk import (
    expression_heat_maps,
    kaplan_meier,
    neighborhood_sweep,
    risk_embeddings,
)
from informed.studies.plots.style import look, styled
from informed.studies.plots.toy import (
    covariance_stairs,
    data_matrix,
    direction_error,
    type_embedding,
)
from informed.studies.plots.uses import classification_study, covariance_study

__all__ = [
    "alternation_study",
    "block_study",
    "choice_study",
    "classification_study",
    "cohort_comparison",
    "cohort_forest",
    "cohort_sensitivity",
    "comparison",
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
    "own_patients",
    "own_variations",
    "penalty_study",
    "phase_diagram",
    "phase_point",
    "prediction_check",
    "risk_embeddings",
    "rival_study",
    "site_transfer",
    "square_embeddings",
    "styled",
    "type_embedding",
]
