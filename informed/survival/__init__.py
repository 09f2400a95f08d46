"""Whether groups of subjects survive equally long, and by how much they differ.

A subject is observed until an event (a death, a relapse) or until observation ends without one,
which is called censoring. The Kaplan–Meier curve estimates the share of a group that is still free
of the event; the log-rank test asks whether the curves of several groups can come from one law.

The log-rank statistic compares, for every group, the observed number of events with the number
expected if all groups shared one hazard. It is compared with a chi-squared law
(:func:`compare_survival`) or with its own values for relabelled subjects
(:func:`permutation_p_value`).

How large a difference is can be said by a hazard ratio (:func:`hazard_ratio`), if the ratio is the
same at all times (:func:`proportional_hazards_p_value`), and by the time lived up to a horizon
(:func:`restricted_mean_difference`), whether or not it is.

Tables and curves need the extra ``survival`` (lifelines, pandas); they are loaded when first used.
"""

from informed.survival.adjusted import adjusted_hazard_ratio
from informed.survival.comparison import SurvivalComparison, SurvivalCurve, compare_survival
from informed.survival.concordance import concordance_index
from informed.survival.cox import cox_coefficients
from informed.survival.follow_up import drop_late_deaths, truncate_follow_up
from informed.survival.hazard import HazardRatio, hazard_ratio
from informed.survival.log_rank import log_rank_p_value, permutation_p_value
from informed.survival.pooling import RandomEffects, random_effects
from informed.survival.proportional import proportional_hazards_p_value
from informed.survival.restricted import (
    MeanDifference,
    RestrictedMean,
    restricted_mean,
    restricted_mean_difference,
)

__all__ = [
    "HazardRatio",
    "MeanDifference",
    "RandomEffects",
    "RestrictedMean",
    "SurvivalComparison",
    "SurvivalCurve",
    "adjusted_hazard_ratio",
    "compare_survival",
    "concordance_index",
    "cox_coefficients",
    "drop_late_deaths",
    "hazard_ratio",
    "log_rank_p_value",
    "permutation_p_value",
    "proportional_hazards_p_value",
    "random_effects",
    "restricted_mean",
    "restricted_mean_difference",
    "truncate_follow_up",
]
