"""One function per experiment of the paper; each returns a frozen result that prints a table."""

from informed.experiments.hidden import HiddenSpace, canonical_correlations, hidden_space
from informed.experiments.locality import LocalityTradeoff, locality_tradeoff
from informed.experiments.results import Result, Table, load_result
from informed.experiments.risk import (
    NeighborhoodSweep,
    RiskGroups,
    neighborhood_sweep,
    risk_groups,
)
from informed.experiments.toy import (
    PAPER_SIZES,
    CovarianceStairs,
    DirectionError,
    TypeEmbedding,
    cluster_count_error,
    covariance_stairs,
    direction_error,
    type_embedding,
)

__all__ = [
    "PAPER_SIZES",
    "CovarianceStairs",
    "DirectionError",
    "HiddenSpace",
    "LocalityTradeoff",
    "NeighborhoodSweep",
    "Result",
    "RiskGroups",
    "Table",
    "TypeEmbedding",
    "canonical_correlations",
    "cluster_count_error",
    "covariance_stairs",
    "direction_error",
    "hidden_space",
    "load_result",
    "locality_tradeoff",
    "neighborhood_sweep",
    "risk_groups",
    "type_embedding",
]
