"""One function per experiment of the paper; each returns a frozen result that prints a table."""

from informed.datasets import BLOCK_FAMILIES as ALTERNATION_FAMILIES
from informed.datasets import BlockData, blurred_toy, make_block_data
from informed.metrics import SpikedCovariance, spiked_covariance
from informed.studies.experiments.alternation import AlternationStudy, alternation_study
from informed.studies.experiments.blocks import BlockStudy, block_study
from informed.studies.experiments.choosing import CHOICE_DATA, ChoiceStudy, choice_study
from informed.studies.experiments.cohort_comparison import CohortComparison, cohort_comparison
from informed.studies.experiments.cohort_sensitivity import CohortSensitivity, cohort_sensitivity
from informed.studies.experiments.cohorts import CohortStudy, cohorts
from informed.studies.experiments.comparison import Comparison, compare
from informed.studies.experiments.hidden_space import (
    HiddenSpace,
    canonical_correlations,
    hidden_space,
)
from informed.studies.experiments.levels import ProfileStudy, profile_study
from informed.studies.experiments.locality import LocalityTradeoff, locality_tradeoff
from informed.studies.experiments.nulls import GroupingNull, LateDeaths, grouping_null, late_deaths
from informed.studies.experiments.own_patients import OwnPatients, own_patients
from informed.studies.experiments.penalty import (
    LocalPenaltyStudy,
    PenaltyStudy,
    local_penalty_study,
    penalty_study,
)
from informed.studies.experiments.phases import (
    ClusterRing,
    PhaseDiagram,
    cluster_ring,
    phase_diagram,
)
from informed.studies.experiments.results import Result, Table, load_result
from informed.studies.experiments.risk import (
    NeighborhoodSweep,
    RiskGroups,
    neighborhood_sweep,
    risk_groups,
)
from informed.studies.experiments.rivals import RivalStudy, rival_study
from informed.studies.experiments.site_transfer import SiteTransfer, site_transfer
from informed.studies.experiments.supervised import SupervisedTransfer, supervised_transfer
from informed.studies.experiments.toy import (
    PAPER_SIZES,
    CovarianceStairs,
    DirectionError,
    TypeEmbedding,
    cluster_count_error,
    covariance_stairs,
    direction_error,
    type_embedding,
)
from informed.studies.experiments.uses import (
    ClassificationStudy,
    CovarianceStudy,
    classification_study,
    covariance_study,
)

__all__ = [
    "ALTERNATION_FAMILIES",
    "CHOICE_DATA",
    "PAPER_SIZES",
    "AlternationStudy",
    "BlockData",
    "BlockStudy",
    "ChoiceStudy",
    "ClassificationStudy",
    "ClusterRing",
    "CohortComparison",
    "CohortSensitivity",
    "CohortStudy",
    "Comparison",
    "CovarianceStairs",
    "CovarianceStudy",
    "DirectionError",
    "GroupingNull",
    "HiddenSpace",
    "LateDeaths",
    "LocalPenaltyStudy",
    "LocalityTradeoff",
    "NeighborhoodSweep",
    "OwnPatients",
    "PenaltyStudy",
    "PhaseDiagram",
    "ProfileStudy",
    "Result",
    "RiskGroups",
    "RivalStudy",
    "SiteTransfer",
    "SpikedCovariance",
    "SupervisedTransfer",
    "Table",
    "TypeEmbedding",
    "alternation_study",
    "block_study",
    "blurred_toy",
    "canonical_correlations",
    "choice_study",
    "classification_study",
    "cluster_count_error",
    "cluster_ring",
    "cohort_comparison",
    "cohort_sensitivity",
    "cohorts",
    "compare",
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
    "own_patients",
    "penalty_study",
    "phase_diagram",
    "profile_study",
    "risk_groups",
    "rival_study",
    "site_transfer",
    "spiked_covariance",
    "supervised_transfer",
    "type_embedding",
]
