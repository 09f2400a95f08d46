"""Statements of the experiments that were once too strong: each test fails on the earlier wording.

As in ``test_statements``: the last lines after a blank one show what was claimed, and that it does
not hold.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from informed import DiffusionMap
from informed.datasets import load_cohort, top_variance
from informed.experiments import load_result, risk_groups
from informed.groups import bipartition
from informed.studies.experiments.toy import direction_error
from informed.survival import (
    drop_late_deaths,
    hazard_ratio,
    log_rank_p_value,
    proportional_hazards_p_value,
    restricted_mean_difference,
    truncate_follow_up,
)

RESULTS = Path(__file__).parent.parent / "book" / "results"


@pytest.fixture(scope="module")
def dbcd() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cohort = load_cohort("DBCD")
    groups = bipartition(DiffusionMap(2, scale=2.0).fit_transform(top_variance(cohort.X, 200)))
    if hazard_ratio(cohort.durations, cohort.events, groups).ratio < 1:
        groups = 1 - groups
    return cohort.durations, cohort.events, groups


def test_a_hazard_ratio_need_not_hold_at_all_times(dbcd) -> None:
    durations, events, groups = dbcd
    early = hazard_ratio(*truncate_follow_up(durations, events, 5), groups)
    later = durations > 5
    late = hazard_ratio(durations[later], events[later], groups[later])
    assert (early.ratio, early.lower, early.upper) == pytest.approx((4.2, 2.3, 7.5), abs=0.06)
    assert (late.ratio, late.lower, late.upper) == pytest.approx((1.15, 0.54, 2.45), abs=0.006)
    assert proportional_hazards_p_value(durations, events, groups) == pytest.approx(0.001, abs=3e-4)

    # "how many times higher the risk is, at any time": the one ratio is above all of the interval
    # of the later years.
    assert late.upper < hazard_ratio(durations, events, groups).ratio < early.ratio


def test_restricted_means_of_dbcd_need_no_such_assumption(dbcd) -> None:
    durations, events, groups = dbcd
    lost = restricted_mean_difference(durations, events, 1 - groups, 5)
    assert (lost.difference, lost.lower, lost.upper) == pytest.approx((0.6, 0.33, 0.86), abs=0.006)


def rejections(drop: bool, ends: tuple[tuple[int, int], tuple[int, int]]) -> float:
    """Share of p-values below 5 % of two groups with the same survival, cut at 60."""
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 60)
    found = []
    for _ in range(150):
        lifetime = 100 * rng.weibull(1.3, 120)
        end = np.concatenate([rng.uniform(*span, 60) for span in ends])
        follow_up = np.minimum(lifetime, end), lifetime <= end
        if drop:
            *cut, kept = drop_late_deaths(*follow_up, 60)
            found.append(log_rank_p_value(*cut, group[kept]))
        else:
            found.append(log_rank_p_value(*truncate_follow_up(*follow_up, 60), group))
    return float(np.mean(np.array(found) <= 0.05))


def test_dropping_keeps_the_level_only_if_groups_are_followed_alike() -> None:
    alike, unlike = ((60, 240), (60, 240)), ((20, 90), (60, 240))
    assert rejections(True, alike) < 0.1
    assert rejections(False, unlike) < 0.1

    # "Dropping does not create differences out of nothing."
    assert rejections(True, unlike) > 0.25


def test_informed_groups_are_the_euclidean_ones_for_exact_directions_only() -> None:
    chop = load_cohort("chop")

    def moved(directions: str) -> float:
        groups = risk_groups(chop, directions=directions, n_repeats=1).groups
        differ = np.mean(groups["informed"][0] != groups["euclidean"][0])
        return float(min(differ, 1 - differ))

    assert moved("exact") < 0.05

    # "In all cohorts the informed groups are nearly the Euclidean ones."
    assert moved("averaged") > 0.3


def test_with_found_clusters_the_error_does_not_go_to_zero() -> None:
    stored = load_result(RESULTS / "direction_error")
    assert stored.e_fro.shape[2] == 50
    found = stored.e_fro[stored.methods.index("exact, k-means")]
    many = stored.values >= 60
    # A draw is perfect, or k-means with ten starts has missed a cluster.
    assert np.all((found[many] < 1e-6) | (found[many] > 1.3))
    assert np.all((found[many] > 1.3).mean(axis=1) > 0.05)
    pca = (stored.e_fro[0] ** 2).mean(axis=1) * stored.values / 18
    np.testing.assert_allclose(pca[1:], 25, rtol=0.05)  # e_F² is proportional to d/n

    # "PCA above k-means" in both norms, at all sizes.
    two = stored.e_two.mean(axis=2)
    assert two[stored.methods.index("exact, k-means"), -1] > two[0, -1]


def test_stored_errors_are_what_the_command_gives() -> None:
    stored = load_result(RESULTS / "direction_error")
    again = direction_error(sizes=(20,), methods=("averaged", "gradient", "exact"), n_repeats=2)
    assert again.methods == stored.methods
    np.testing.assert_allclose(again.e_fro[:, 0], stored.e_fro[:, 0, :2], atol=1e-8)
    np.testing.assert_allclose(again.e_two[:, 0], stored.e_two[:, 0, :2], atol=1e-8)
