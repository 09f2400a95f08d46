"""One function per experiment of the paper; each returns a frozen result that prints a table."""

from informed.experiments.alternation import (
    ALTERNATION_FAMILIES,
    AlternationStudy,
    BlockData,
    alternation_study,
    make_block_data,
)
from informed.experiments.cohorts import (
    CohortSensitivity,
    CohortStudy,
    cohort_sensitivity,
    cohorts,
)
from informed.experiments.hidden import HiddenSpace, canonical_correlations, hidden_space
from informed.experiments.locality import LocalityTradeoff, locality_tradeoff
from informed.experiments.nulls import GroupingNull, LateDeaths, grouping_null, late_deaths
from informed.experiments.penalty import (
    LocalPenaltyStudy,
    PenaltyStudy,
    blurred_toy,
    local_penalty_study,
    penalty_study,
)
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
from informed.experiments.uses import (
    ClassificationStudy,
    CovarianceStudy,
    SpikedCovariance,
    classification_study,
    covariance_study,
    spiked_covariance,
)

__all__ = [
    "ALTERNATION_FAMILIES",
    "PAPER_SIZES",
    "AlternationStudy",
    "BlockData",
    "ClassificationStudy",
    "CohortSensitivity",
    "CohortStudy",
    "CovarianceStairs",
    "CovarianceStudy",
    "DirectionError",
    "GroupingNull",
    "HiddenSpace",
    "LateDeaths",
    "LocalPenaltyStudy",
    "LocalityTradeoff",
    "NeighborhoodSweep",
    "PenaltyStudy",
    "Result",
    "RiskGroups",
    "SpikedCovariance",
    "Table",
    "TypeEmbedding",
    "alternation_study",
    "blurred_toy",
    "canonical_correlations",
    "classification_study",
    "cluster_count_error",
    "cohort_sensitivity",
    "cohorts",
    "covariance_stairs",
    "covariance_study",
    "direction_error",
    "grouping_null",
    "hidden_space",
    "late_deaths",
    "load_result",
    "local_penalty_study",
    "locality_tradeoff",
    "make_block_data",
    "neighborhood_sweep",
    "penalty_study",
    "risk_groups",
    "spiked_covariance",
    "type_embedding",
]
