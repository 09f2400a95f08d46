"""Data to learn and to measure on: models whose truth is known, and real cohorts.

The generators ``make_*`` return their data together with everything that made them, so that an
estimate can be held against the truth. The loaders ``load_*`` return gene expression with survival.
"""

from __future__ import annotations

from informed.datasets.block_data import BLOCK_FAMILIES, BlockData, make_block_data
from informed.datasets.blurred import blurred_toy
from informed.datasets.candf import load_candf
from informed.datasets.cohort import Cohort, top_variance, variance_order
from informed.datasets.curved_manifold import CurvedManifold, make_curved_manifold
from informed.datasets.directors_challenge import (
    DirectorsChallenge,
    find_directors_challenge,
    load_directors_challenge,
)
from informed.datasets.hidden_square import HiddenSquare, make_hidden_square
from informed.datasets.mixed import mixed_toy
from informed.datasets.risk_cohort import RiskCohort, make_risk_cohort
from informed.datasets.survset import COHORT_NAMES, load_cohort
from informed.datasets.two_types import TwoTypes, make_two_types

__all__ = [
    "BLOCK_FAMILIES",
    "COHORT_NAMES",
    "BlockData",
    "Cohort",
    "CurvedManifold",
    "DirectorsChallenge",
    "HiddenSquare",
    "RiskCohort",
    "TwoTypes",
    "blurred_toy",
    "find_directors_challenge",
    "load_candf",
    "load_cohort",
    "load_directors_challenge",
    "make_block_data",
    "make_curved_manifold",
    "make_hidden_square",
    "make_risk_cohort",
    "make_two_types",
    "mixed_toy",
    "top_variance",
    "variance_order",
]
