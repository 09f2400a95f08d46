"""One function per figure, each taking the result of an experiment."""

from informed.plots.local import locality_tradeoff, manifold_neighborhoods
from informed.plots.risk import (
    expression_heat_maps,
    kaplan_meier,
    neighborhood_sweep,
    risk_embeddings,
)
from informed.plots.square import distance_recovery, square_embeddings
from informed.plots.style import look, styled
from informed.plots.toy import covariance_stairs, data_matrix, direction_error, type_embedding

__all__ = [
    "covariance_stairs",
    "data_matrix",
    "direction_error",
    "distance_recovery",
    "expression_heat_maps",
    "kaplan_meier",
    "locality_tradeoff",
    "look",
    "manifold_neighborhoods",
    "neighborhood_sweep",
    "risk_embeddings",
    "square_embeddings",
    "styled",
    "type_embedding",
]
