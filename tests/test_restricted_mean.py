"""Restricted mean survival and the test of proportional hazards, against independent ways."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from follow_ups import cohort, cohorts, product_limit, quick
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from lifelines.utils import restricted_mean_survival_time
from scipy import stats
from test_survival import AML, REMISSION, read

from informed.survival import (
    compare_survival,
    hazard_ratio,
    proportional_hazards_p_value,
    restricted_mean,
    restricted_mean_difference,
    truncate_follow_up,
)

# --------------------------------------------------------------------------------- restricted means


def known_up_to(durations: np.ndarray, events: np.ndarray) -> float:
    last = durations.max()
    return np.inf if events[durations == last].all() else last


@quick
@given(cohorts(max_groups=2), st.floats(0.1, 12))
def test_mean_is_the_area_under_the_curve_by_brute_force(
    data: tuple[list[int], list[int], list[int]], horizon: float
) -> None:
    durations, events = np.array(data[0]), np.array(data[1]) == 1
    horizon = min(horizon, known_up_to(durations, events))
    if horizon == 0:
        return
    # The curve is constant between whole numbers: its area is a sum over the pieces.
    knots = sorted({0.0, horizon, *(t for t in range(13) if t < horizon)})
    area = sum((b - a) * product_limit(durations, events, a) for a, b in pairwise(knots))
    found = restricted_mean(durations, events, horizon)
    assert found.mean == pytest.approx(area, abs=1e-12)
    assert 0 <= found.mean <= horizon + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_lifelines(seed: int) -> None:
    durations, events, _ = cohort(seed, 80)
    fitted = KaplanMeierFitter().fit(durations, events)
    for horizon in (10.0, 25.5, 40.0):
        wanted = restricted_mean_survival_time(fitted, t=horizon)
        assert restricted_mean(durations, events, horizon).mean == pytest.approx(wanted, rel=1e-10)


def test_matches_r() -> None:
    # R: print(survfit(Surv(time, status) ~ x, aml), print.rmean = TRUE), upper limit 161.
    durations, events, groups = read(AML)
    result = compare_survival(durations, events, groups, horizon=161)
    assert [f"{m.mean:.1f} {m.standard_error:.2f}" for m in result.restricted_means] == [
        "52.6 19.83",
        "22.7 4.18",
    ]
    assert result.horizon == compare_survival(durations, events, groups).horizon == 161
    assert result.summary["restricted mean"].tolist() == [m.mean for m in result.restricted_means]


@quick
@given(cohorts(max_groups=2), st.floats(0.5, 8))
def test_standard_error_is_the_published_formula(
    data: tuple[list[int], list[int], list[int]], horizon: float
) -> None:
    durations, events = np.array(data[0]), np.array(data[1]) == 1
    horizon = min(horizon, known_up_to(durations, events))
    if horizon == 0:
        return
    total = 0.0
    for time in sorted({t for t in durations[events] if t <= horizon}):
        n, d = (durations >= time).sum(), (durations[events] == time).sum()
        knots = sorted({time, horizon, *(t for t in range(9) if time < t < horizon)})
        left = sum((b - a) * product_limit(durations, events, a) for a, b in pairwise(knots))
        if n > d:
            total += left**2 * d / (n * (n - d))
    found = restricted_mean(durations, events, horizon)
    assert found.standard_error == pytest.approx(total**0.5, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_without_censoring_it_is_a_mean_and_its_error(seed: int) -> None:
    durations = np.random.default_rng(seed).exponential(20, 50).round(1)
    found = restricted_mean(durations, np.ones(50), 30)
    kept = np.minimum(durations, 30)
    assert found.mean == pytest.approx(kept.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(kept.std() / 50**0.5, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_standard_error_is_that_of_the_bootstrap(seed: int) -> None:
    durations, events, _ = cohort(seed, 200)
    rng = np.random.default_rng(seed)
    horizon = 25.0
    draws = []
    for _ in range(600):
        again = rng.integers(0, 200, 200)
        draws.append(restricted_mean(durations[again], events[again], horizon).mean)
    found = restricted_mean(durations, events, horizon)
    # 600 draws give a standard deviation to 3 %; the formula differs from it in the next order.
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.12)


def test_the_interval_covers_the_truth() -> None:
    # Exponential lifetimes of mean 30: the area up to 20 is 30 (1 − e^(−2/3)).
    truth = 30 * (1 - np.exp(-20 / 30))
    scores = []
    for seed in range(400):
        durations, events, _ = cohort(seed, 100)
        mean, error = restricted_mean(durations, events, 20)
        scores.append((mean - truth) / error)
    assert np.mean(np.abs(scores) < stats.norm.isf(0.025)) == pytest.approx(0.95, abs=0.035)
    assert np.mean(scores) == pytest.approx(0, abs=0.15)


def test_difference_of_two_groups() -> None:
    durations, events, groups = read(REMISSION)
    result = restricted_mean_difference(durations, events, groups, 23, confidence=0.9)
    parts = [restricted_mean(durations[groups == g], events[groups == g], 23) for g in result_names]
    assert (result.reference, result.group) == result_names
    assert result.means == tuple(parts)
    assert result.difference == pytest.approx(parts[1].mean - parts[0].mean)
    error = (parts[0].standard_error ** 2 + parts[1].standard_error ** 2) ** 0.5
    assert result.standard_error == pytest.approx(error)
    z = stats.norm.ppf(0.95)
    assert (result.lower, result.upper) == pytest.approx(
        (result.difference - z * error, result.difference + z * error)
    )
    assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(result.difference) / error))
    assert "mean up to 23 of 'placebo' minus '6-MP': -" in str(result)


result_names = ("6-MP", "placebo")


def test_difference_turns_with_the_labels_and_scales_with_the_clock() -> None:
    durations, events, groups = cohort(3, 90)
    forward = restricted_mean_difference(durations, events, groups, 30)
    turned = restricted_mean_difference(durations, events, 1 - groups, 30)
    weeks = restricted_mean_difference(durations * 52, events, groups, 30 * 52)
    assert turned.difference == pytest.approx(-forward.difference)
    assert (turned.lower, turned.p_value) == pytest.approx((-forward.upper, forward.p_value))
    assert (weeks.difference, weeks.standard_error) == pytest.approx(
        (52 * forward.difference, 52 * forward.standard_error)
    )


def test_what_happens_after_the_horizon_does_not_count() -> None:
    durations, events, groups = cohort(1, 90)
    cut, cut_events = truncate_follow_up(durations, events, 20)
    whole = restricted_mean_difference(durations, events, groups, 20)
    short = restricted_mean_difference(cut, cut_events, groups, 20)
    assert whole == short


def test_longest_horizon_that_all_groups_allow() -> None:
    # a is watched to 9, b has died out at 4: its curve is zero, and known, ever after.
    durations, events = [3, 9, 2, 4], [1, 0, 1, 1]
    assert restricted_mean_difference(durations, events, list("aabb")).horizon == 9
    assert restricted_mean_difference(durations, [1, 1, 1, 1], list("aabb")).horizon == 9
    assert restricted_mean_difference(durations, [1, 0, 1, 0], list("aabb")).horizon == 4


def test_a_difference_without_error_has_no_p_value() -> None:
    result = restricted_mean_difference([1, 1, 5, 5], [1, 1, 0, 0], list("aabb"))
    assert (result.difference, result.standard_error) == (4.0, 0.0)
    assert np.isnan(result.p_value)


@pytest.mark.parametrize("horizon", [0, -1.0, np.nan, np.inf])
def test_horizon_must_be_positive_and_finite(horizon: float) -> None:
    with pytest.raises(ValueError, match="horizon"):
        restricted_mean([1, 2], [1, 1], horizon)
    with pytest.raises(ValueError, match="horizon"):
        compare_survival([1, 2], [1, 1], [0, 1], horizon=horizon)


def test_horizon_beyond_what_is_known_is_refused() -> None:
    assert restricted_mean([1, 2], [0, 1], 5).mean == 2  # everybody has died: zero is known
    with pytest.raises(ValueError, match=r"horizon=5 lies beyond 2, when the last subject was"):
        restricted_mean([1, 2], [1, 0], 5)
    with pytest.raises(ValueError, match=r"beyond 4, when the last subject of group 'b' was seen"):
        restricted_mean_difference([1, 9, 2, 4], [1, 0, 1, 0], list("aabb"), 5)
    with pytest.raises(TypeError, match="horizon"):
        restricted_mean([1, 2], [1, 1], "60")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exactly two groups, got 3"):
        restricted_mean_difference([1, 2, 3], [1, 1, 1], list("abc"))


# ----------------------------------------------------------------------------- proportional hazards


def grambsch_therneau(durations: np.ndarray, events: np.ndarray, groups: np.ndarray) -> float:
    """P-value from the formula of the paper of 1994, for distinct times."""
    beta = np.log(hazard_ratio(durations, events, groups).ratio)
    residuals, variances = [], []
    for time in np.sort(durations[events]):
        ones = np.exp(beta) * ((durations >= time) & (groups == 1)).sum()
        share = ones / (ones + ((durations >= time) & (groups == 0)).sum())
        residuals.append(float(groups[durations == time][0] - share))
        variances.append(share * (1 - share))
    slope = np.arange(len(residuals)) - (len(residuals) - 1) / 2
    mean_variance = np.mean(variances)
    statistic = (slope @ residuals) ** 2 / (mean_variance * (slope @ slope))
    return float(stats.chi2.sf(statistic, 1))


@pytest.mark.parametrize("seed", range(5))
def test_proportional_hazards_by_the_formula(seed: int) -> None:
    durations, events, groups = cohort(seed, 120)
    # lifelines stops its iterations early, and ranks all events.
    assert proportional_hazards_p_value(durations, events, groups) == pytest.approx(
        grambsch_therneau(durations, events, groups), abs=2e-3
    )


def test_proportional_hazards_are_accepted_and_others_are_not() -> None:
    accepted, refused = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        groups = np.arange(150) % 2
        flat = rng.exponential(np.where(groups == 1, 10, 25))
        # Weibull laws of different shape: the ratio of the hazards falls with time.
        bent = np.where(groups == 1, 10 * rng.weibull(0.6, 150), 20 * rng.weibull(2.0, 150))
        accepted.append(proportional_hazards_p_value(flat, np.ones(150), groups))
        refused.append(proportional_hazards_p_value(bent, np.ones(150), groups))
    assert stats.kstest(accepted, "uniform").pvalue > 0.01
    assert np.median(refused) < 1e-4


def test_proportional_hazards_need_a_finite_ratio() -> None:
    with pytest.raises(ValueError, match="no finite estimate"):
        proportional_hazards_p_value([1, 2, 3, 4], [1, 1, 0, 0], list("aabb"))
    with pytest.raises(ValueError, match="exactly two"):
        proportional_hazards_p_value([1, 2, 3], [1, 1, 1], list("abc"))
