"""Comparison of survival against published values and independent ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from follow_ups import cohort, cohorts, log_rank_by_loops, product_limit, quick
from hypothesis import given
from hypothesis import strategies as st
from lifelines import CoxPHFitter
from lifelines.statistics import multivariate_logrank_test
from scipy import stats
from scipy.optimize import minimize_scalar

from informed.survival import (
    compare_survival,
    hazard_ratio,
    log_rank_p_value,
)

# Acute myelogenous leukemia, weeks to relapse (Miller 1981; `survival::aml` in R); + is censored.
AML = {
    "maintained": "9 13 13+ 18 23 28+ 31 34 45+ 48 161+",
    "nonmaintained": "5 5 8 8 12 16+ 23 27 30 33 43 45",
}


# Remission under 6-mercaptopurine, weeks (Freireich et al. 1963).
REMISSION = {
    "6-MP": "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+",
    "placebo": "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23",
}


def read(data: dict[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cells = [(group, cell) for group, text in data.items() for cell in text.split()]
    durations = np.array([float(cell.rstrip("+")) for _, cell in cells])
    events = np.array([not cell.endswith("+") for _, cell in cells])
    return durations, events, np.array([group for group, _ in cells])


# --------------------------------------------------------------------------------- published values


def test_aml_matches_r() -> None:
    # R: survdiff(Surv(time, status) ~ x, aml); survfit gives the medians.
    result = compare_survival(*read(AML))
    assert result.statistic == pytest.approx(3.396, abs=5e-4)
    assert result.p_value == pytest.approx(0.0653, abs=5e-5)
    assert result.degrees_of_freedom == 1
    assert [curve.group for curve in result.curves] == ["maintained", "nonmaintained"]
    assert [curve.n for curve in result.curves] == [11, 12]
    assert [curve.n_events for curve in result.curves] == [7, 11]
    assert result.expected == pytest.approx((10.69, 7.31), abs=5e-3)
    assert [curve.median for curve in result.curves] == [31, 23]


def test_aml_curve_matches_r() -> None:
    # R: summary(survfit(Surv(time, status) ~ x, aml)), group Maintained.
    curve = compare_survival(*read(AML)).curves[0]
    times = [9, 13, 18, 23, 31, 34, 48]
    survival = np.array([0.909, 0.818, 0.716, 0.614, 0.491, 0.368, 0.184])
    standard_error = np.array([0.0867, 0.1163, 0.1397, 0.1526, 0.1642, 0.1627, 0.1535])
    at = np.searchsorted(curve.times, times)
    np.testing.assert_array_equal(curve.times[at], times)
    np.testing.assert_array_equal(curve.at_risk[at], [11, 10, 8, 7, 5, 4, 2])
    np.testing.assert_allclose(curve.survival[at], survival, atol=5e-4)
    # Band on the log(-log) scale from R's standard error, by the delta method.
    width = stats.norm.ppf(0.975) * standard_error / (survival * np.log(survival))
    np.testing.assert_allclose(curve.lower[at], survival ** np.exp(-width), atol=2e-3)
    np.testing.assert_allclose(curve.upper[at], survival ** np.exp(width), atol=2e-3)
    np.testing.assert_array_equal(curve.times[curve.censored > 0], [13, 28, 45, 161])


def test_remission_matches_r() -> None:
    # R: survdiff gives chisq 16.8 on 1 df, observed 9 and 21, expected 19.25 and 10.75.
    result = compare_survival(*read(REMISSION))
    assert result.statistic == pytest.approx(16.793, abs=5e-4)
    assert result.p_value == pytest.approx(4.17e-5, abs=5e-8)
    assert [curve.n_events for curve in result.curves] == [9, 21]
    assert result.expected == pytest.approx((19.25, 10.75), abs=5e-3)
    assert [curve.median for curve in result.curves] == [23, 8]


def test_hazard_ratio_matches_r() -> None:
    # R: coxph with Efron's ties, summary(...).
    aml = hazard_ratio(*read(AML))
    assert (aml.ratio, aml.lower, aml.upper) == pytest.approx((2.498, 0.9159, 6.8135), rel=5e-4)
    assert aml.p_value == pytest.approx(0.0737, abs=5e-5)
    assert (aml.group, aml.reference) == ("nonmaintained", "maintained")
    remission = hazard_ratio(*read(REMISSION))
    assert (remission.ratio, remission.lower, remission.upper) == pytest.approx(
        (4.8169, 2.1468, 10.808), rel=5e-4
    )


@pytest.mark.parametrize("data", [AML, REMISSION])
def test_classic_data_by_loops(data: dict[str, str]) -> None:
    # The typed-in numbers and the published results hold each other.
    durations, events, groups = read(data)
    result = compare_survival(durations, events, groups)
    statistic, expected = log_rank_by_loops(durations, events, groups)
    assert result.statistic == pytest.approx(statistic, rel=1e-10)
    assert result.expected == pytest.approx(tuple(expected.values()), rel=1e-10)


# --------------------------------------------------------------------------------- independent ways


@quick
@given(cohorts(max_groups=2))
def test_two_groups_agree_with_scipy(data: tuple[list[int], list[int], list[int]]) -> None:
    durations, events, groups = map(np.array, data)
    sides = [
        stats.CensoredData.right_censored(durations[groups == g], events[groups == g] == 0)
        for g in (0, 1)
    ]
    by_loops, _ = log_rank_by_loops(*data)
    result = compare_survival(durations, events, groups)
    assert result.statistic == pytest.approx(by_loops, abs=1e-9)
    if result.degrees_of_freedom and by_loops > 0:  # scipy divides by the variance
        scipy = stats.logrank(*sides)
        assert result.statistic == pytest.approx(scipy.statistic**2, rel=1e-8)
        assert result.p_value == pytest.approx(scipy.pvalue, rel=1e-8)


@quick
@given(cohorts())
def test_any_number_of_groups_by_loops(data: tuple[list[int], list[int], list[int]]) -> None:
    durations, events, groups = map(np.array, data)
    result = compare_survival(durations, events, groups)
    statistic, expected = log_rank_by_loops(*data)
    assert result.statistic == pytest.approx(statistic, abs=1e-8)
    assert result.expected == pytest.approx(tuple(expected.values()), abs=1e-9)
    informative = sum(value > 0 for value in expected.values())
    assert result.degrees_of_freedom == informative - 1
    tail = stats.chi2.sf(statistic, informative - 1) if informative > 1 else 1.0
    assert result.p_value == pytest.approx(tail, rel=1e-6)
    assert log_rank_p_value(durations, events, groups) == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_agrees_with_lifelines(seed: int, n_groups: int) -> None:
    durations, events, groups = cohort(seed, 90, n_groups)
    result = compare_survival(durations, events, groups)
    reference = multivariate_logrank_test(durations, groups, events)
    assert result.statistic == pytest.approx(reference.test_statistic, rel=1e-10)
    assert result.p_value == pytest.approx(reference.p_value, rel=1e-10)
    p_value = log_rank_p_value(durations, events, groups)
    assert p_value == pytest.approx(reference.p_value, rel=1e-8)


@quick
@given(cohorts(max_groups=2), st.sampled_from([0.5, 0.95, 0.999]))
def test_curves_by_product_limit(
    data: tuple[list[int], list[int], list[int]], confidence: float
) -> None:
    durations, events, groups = np.array(data[0]), np.array(data[1]) == 1, np.array(data[2])
    for curve in compare_survival(durations, events, groups, confidence=confidence).curves:
        mine = groups == curve.group
        d, e = durations[mine], events[mine]
        np.testing.assert_array_equal(curve.times, sorted({0, *d}))
        np.testing.assert_allclose(
            curve.survival, [product_limit(d, e, t) for t in curve.times], atol=1e-12
        )
        np.testing.assert_array_equal(curve.at_risk, [(d >= t).sum() for t in curve.times])
        np.testing.assert_array_equal(curve.censored, [(d[~e] == t).sum() for t in curve.times])
        assert (curve.n, curve.n_events) == (mine.sum(), e.sum())
        below = curve.times[curve.survival <= 0.5 + 1e-12]
        assert curve.median == (below[0] if len(below) else np.inf)
        # Greenwood's formula on the log(-log) scale.
        for time, s, low, high in zip(
            curve.times, curve.survival, curve.lower, curve.upper, strict=True
        ):
            if 0 < s < 1:
                terms = [((d[e] == t).sum(), (d >= t).sum()) for t in set(d[e]) if t <= time]
                spread = sum(x / (n * (n - x)) for x, n in terms) ** 0.5 / np.log(s)
                z = stats.norm.ppf(0.5 + confidence / 2)
                assert low == pytest.approx(s ** np.exp(-z * spread), abs=1e-9)
                assert high == pytest.approx(s ** np.exp(z * spread), abs=1e-9)


@quick
@given(cohorts(max_groups=2))
def test_hazard_ratio_maximises_the_partial_likelihood(
    data: tuple[list[int], list[int], list[int]],
) -> None:
    durations, events, groups = map(np.array, data)

    def minus_log_likelihood(beta: float) -> float:
        risk = np.exp(beta * groups)
        total = 0.0
        for t in set(durations[events == 1]):
            dead = (durations == t) & (events == 1)
            for tied in range(dead.sum()):
                pool = risk[durations >= t].sum() - tied / dead.sum() * risk[dead].sum()
                total += np.log(pool)
            total -= beta * groups[dead].sum()
        return float(total)

    best = minimize_scalar(minus_log_likelihood, bounds=(-30, 30), options={"xatol": 1e-9})
    if min(minus_log_likelihood(-30), minus_log_likelihood(30)) < best.fun + 1e-6:
        # The likelihood is flat or keeps growing.
        with pytest.raises(ValueError, match="no finite estimate"):
            hazard_ratio(durations, events, groups)
        return
    result = hazard_ratio(durations, events, groups, confidence=0.9)
    assert np.log(result.ratio) == pytest.approx(best.x, abs=1e-5)
    # Wald interval from the curvature, which here is a second difference.
    h = 1e-3
    curvature = (
        minus_log_likelihood(best.x + h)
        - 2 * minus_log_likelihood(best.x)
        + minus_log_likelihood(best.x - h)
    ) / h**2
    half_width = stats.norm.ppf(0.95) / np.sqrt(curvature)
    assert np.log(result.upper) - np.log(result.ratio) == pytest.approx(half_width, rel=1e-3)
    assert np.log(result.ratio) - np.log(result.lower) == pytest.approx(half_width, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_hazard_ratio_agrees_with_lifelines(seed: int) -> None:
    durations, events, groups = cohort(seed, 80)
    durations = np.ceil(durations / 5)  # ties
    durations = np.where(groups == 1, durations, durations + seed)
    frame = pd.DataFrame({"time": durations, "event": events, "group": groups})
    reference = CoxPHFitter(alpha=0.2).fit(frame, "time", "event").summary.loc["group"]
    result = hazard_ratio(durations, events, groups, confidence=0.8)
    assert (result.ratio, result.lower, result.upper, result.p_value) == pytest.approx(
        (
            reference["exp(coef)"],
            reference["exp(coef) lower 80%"],
            reference["exp(coef) upper 80%"],
            reference["p"],
        ),
        rel=1e-3,  # lifelines stops its iterations early
    )


@pytest.mark.parametrize(
    ("durations", "events", "groups"),
    [
        # The only event of b that counts is at the last time at which a is at risk.
        ([1, 2, 2, 3], [1, 0, 1, 0], "aabb"),
        # Only a has censored subjects.
        ([1, 3, 5, 7, 2, 4], [1, 1, 0, 0, 1, 1], "aaaabb"),
        # Times and groups almost tell each other.
        ([1] * 400 + [2] * 400 + [1], [1] * 801, "a" * 400 + "b" * 401),
        # One against many, which sends Newton steps from zero far out.
        ([1] * 5000, [1, 1] + [0] * 4998, "b" + "a" * 4999),
    ],
)
def test_hazard_ratio_that_is_extreme_but_finite(
    durations: list[int], events: list[int], groups: str
) -> None:
    forward = hazard_ratio(durations, events, list(groups))
    swapped = hazard_ratio(durations, events, [{"a": 1, "b": 0}[g] for g in groups])
    assert 0 < forward.lower < forward.ratio < forward.upper < np.inf
    assert forward.ratio * swapped.ratio == pytest.approx(1, rel=1e-9)
    assert forward.upper * swapped.lower == pytest.approx(1, rel=1e-9)
    assert forward.p_value == pytest.approx(swapped.p_value, rel=1e-9)
