"""Survival comparison against R, lifelines, scipy and loops written from the definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lifelines import CoxPHFitter
from lifelines.statistics import multivariate_logrank_test
from scipy import stats
from scipy.optimize import minimize_scalar

from informed.survival import (
    compare_survival,
    drop_late_deaths,
    hazard_ratio,
    log_rank_p_value,
    permutation_p_value,
    truncate_follow_up,
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


def log_rank_by_loops(durations: Any, events: Any, groups: Any) -> tuple[float, dict[Any, float]]:
    """Statistic and expected events, event time by event time, straight from the definition."""
    names = sorted(set(groups))
    k = len(names)
    expected, difference, variance = np.zeros(k), np.zeros(k), np.zeros((k, k))
    subjects = list(zip(durations, events, groups, strict=True))
    for time in sorted({t for t, e, _ in subjects if e}):
        at_risk = [g for t, _, g in subjects if t >= time]
        died = [g for t, e, g in subjects if e and t == time]
        n, d = len(at_risk), len(died)
        for a, one in enumerate(names):
            share = at_risk.count(one) / n
            expected[a] += d * share
            difference[a] += died.count(one) - d * share
            for b, other in enumerate(names):
                if n > 1:
                    rest = (a == b) - at_risk.count(other) / n
                    variance[a, b] += d * (n - d) / (n - 1) * share * rest
    statistic = difference @ np.linalg.pinv(variance, rcond=1e-9) @ difference
    return float(statistic), dict(zip(names, expected, strict=True))


def product_limit(durations: np.ndarray, events: np.ndarray, time: float) -> float:
    survival = 1.0
    for t in sorted(set(durations[events])):
        if t <= time:
            survival *= 1 - (durations[events] == t).sum() / (durations >= t).sum()
    return survival


def cohort(seed: int, n: int = 60, n_groups: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Subjects whose group says nothing about their survival or censoring."""
    rng = np.random.default_rng(seed)
    death, end = rng.exponential(30, n), rng.uniform(5, 60, n)
    return np.minimum(death, end), death <= end, rng.permutation(np.arange(n) % n_groups)


horizons = st.sampled_from([0.5, 1, 3, 4.5, 6, 9])  # at and between the durations
# lifelines takes some tens of milliseconds per call.
quick = settings(deadline=None, max_examples=30)


@st.composite
def cohorts(draw: st.DrawFn, max_groups: int = 4) -> tuple[list[int], list[int], list[int]]:
    """Small cohorts with many ties; at least two groups and one event."""
    n = draw(st.integers(2, 25))
    durations = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    events = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(any))
    labels = st.lists(st.integers(0, max_groups - 1), min_size=n, max_size=n)
    groups = draw(labels.filter(lambda values: len(set(values)) > 1))
    return durations, events, groups


# --- published values ---


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


# --- independent ways ---


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


# --- properties ---


@quick
@given(cohorts(), st.randoms(use_true_random=False))
def test_names_order_and_clock_do_not_matter(
    data: tuple[list[int], list[int], list[int]], random: Any
) -> None:
    durations, events, groups = data
    names = dict(zip(range(4), random.sample(["p", "q", "r", "s"], 4), strict=True))
    order = random.sample(range(len(groups)), len(groups))
    plain = compare_survival(durations, events, groups)
    changed = compare_survival(
        # The log-rank test sees only the order of the times.
        [durations[i] ** 2 + 0.5 for i in order],
        [events[i] == 1 for i in order],
        [names[groups[i]] for i in order],
    )
    assert changed.statistic == pytest.approx(plain.statistic, abs=1e-8)
    assert changed.p_value == pytest.approx(plain.p_value, abs=1e-8)
    expected = {curve.group: e for curve, e in zip(changed.curves, changed.expected, strict=True)}
    for curve, e in zip(plain.curves, plain.expected, strict=True):
        assert expected[names[curve.group]] == pytest.approx(e, abs=1e-9)
    assert sum(plain.expected) == pytest.approx(sum(events))


def test_p_value_is_uniform_when_groups_say_nothing() -> None:
    p_values = [log_rank_p_value(*cohort(seed, n=100)) for seed in range(400)]
    assert stats.kstest(p_values, "uniform").pvalue > 0.05


def test_p_value_is_small_when_hazards_differ() -> None:
    p_values = []
    for seed in range(10):
        durations, events, groups = cohort(seed, n=200)
        p_values.append(
            log_rank_p_value(np.where(groups, durations / 3, durations), events, groups)
        )
    assert max(p_values) < 1e-3


def test_curve_that_never_reaches_one_half() -> None:
    result = compare_survival([1, 2, 3, 4], [1, 1, 0, 0], list("aabb"))
    assert result.curves[1].median == np.inf
    np.testing.assert_array_equal(result.curves[1].survival, 1)
    assert result.summary.loc["b", "observed"] == 0


def test_group_that_left_before_the_first_event_is_no_degree_of_freedom() -> None:
    durations, events = [5, 6, 7, 8, 1, 2], [1, 1, 1, 0, 0, 0]
    three = compare_survival(durations, events, list("aabbcc"))
    two = compare_survival(durations[:4], events[:4], list("aabb"))
    assert three.degrees_of_freedom == 1
    assert three.p_value == pytest.approx(two.p_value)
    assert np.isnan(three.summary.loc["c", "observed/expected"])
    nothing = compare_survival(durations, events, list("aaaacc"))
    assert (nothing.statistic, nothing.degrees_of_freedom, nothing.p_value) == (0, 0, 1)
    assert log_rank_p_value(durations, events, list("aaaacc")) == 1
    assert permutation_p_value(durations, events, list("aaaacc")) == 1


def test_result_explains_itself() -> None:
    result = compare_survival([1, 2, 3, 4], [1, 1, 1, 1], ["<b>", "<b>", "x", "x"])
    assert list(result.summary.columns) == [
        "n",
        "observed",
        "expected",
        "observed/expected",
        "median",
    ]
    np.testing.assert_allclose(
        result.summary["observed/expected"], result.summary["observed"] / result.expected
    )
    text = str(result)
    assert text.startswith(
        "log-rank test: chi-squared = 2.882 on 1 degree of freedom, p = 0.0896\n"
    )
    assert all(name in text for name in ("<b>", "x", "expected", "median"))
    page = result._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "p = 0.0896" in page
    three = compare_survival([1, 2, 3], [1, 1, 1], list("abc"))
    assert "on 2 degrees of freedom" in str(three)
    ratio = hazard_ratio([2, 3, 5, 1, 4, 6], [1] * 6, list("aaabbb"), confidence=0.9)
    assert str(ratio).startswith("hazard of 'b' over 'a': ")
    assert "90 % interval" in str(ratio)


# --- permutation test ---


@pytest.mark.parametrize(
    ("groups", "n_relabelings"), [("aaabbb", 20), ("aabbcc", 90), ("abbbbb", 6)]
)
def test_exact_permutation_by_brute_force(groups: str, n_relabelings: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        durations, events = rng.integers(1, 6, 6), rng.random(6) < 0.8
        events[0] = True
        relabeled = set(itertools.permutations(groups))
        assert len(relabeled) == n_relabelings
        own, _ = log_rank_by_loops(durations, events, groups)
        reached = [log_rank_by_loops(durations, events, g)[0] >= own - 1e-9 for g in relabeled]
        p_value = permutation_p_value(durations, events, list(groups), n_permutations=n_relabelings)
        assert p_value == pytest.approx(np.mean(reached), abs=1e-12)


def test_exact_permutation_test_keeps_its_level() -> None:
    # Over all equally likely labelings, P(p <= alpha) <= alpha at each alpha it can take.
    durations, events = [1, 2, 2, 3, 5, 5, 6, 9], [1, 1, 0, 0, 1, 1, 1, 1]
    p_values = np.array(
        [
            permutation_p_value(durations, events, [i in chosen for i in range(8)])
            for chosen in itertools.combinations(range(8), 4)
        ]
    )
    assert len(np.unique(p_values)) > 10
    for alpha in np.unique(p_values):
        assert (p_values <= alpha).mean() <= alpha + 1e-12


@pytest.mark.parametrize("groups", ["aaaaabbbbb", "aaabbbbccc"])
def test_random_permutations_approach_the_exact_value(groups: str) -> None:
    rng = np.random.default_rng(3)
    durations, events = rng.integers(1, 9, 10), rng.random(10) < 0.8
    exact = permutation_p_value(durations, events, list(groups))
    n_permutations = 200  # fewer than there are relabelings (252 and 4200)
    drawn = [
        permutation_p_value(
            durations, events, list(groups), n_permutations=n_permutations, random_state=seed
        )
        for seed in range(50)
    ]
    reached = np.array(drawn) * (n_permutations + 1) - 1
    np.testing.assert_allclose(reached, np.round(reached), atol=1e-9)
    noise = np.sqrt(exact * (1 - exact) / n_permutations / 50)
    assert reached.mean() / n_permutations == pytest.approx(exact, abs=4 * noise)


@pytest.mark.parametrize("seed", range(4))
def test_permutation_approaches_chi_squared_for_many_subjects(seed: int) -> None:
    durations, events, groups = cohort(seed, n=400, n_groups=2 + seed % 2)
    by_permutation = permutation_p_value(durations, events, groups, random_state=seed)
    assert by_permutation == pytest.approx(log_rank_p_value(durations, events, groups), abs=0.025)


def test_permutation_p_value_is_never_zero_and_repeatable() -> None:
    durations = np.arange(40.0)
    groups = durations < 20
    p_value = permutation_p_value(durations, np.ones(40), groups, n_permutations=99)
    assert p_value == 1 / 100
    data = cohort(1)
    again = [permutation_p_value(*data, n_permutations=500, random_state=7) for _ in range(2)]
    assert again[0] == again[1]
    state = np.random.RandomState(7)
    assert permutation_p_value(*data, n_permutations=500, random_state=state) == again[0]


def test_permutations_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cohort(2, n_groups=3)
    whole = permutation_p_value(*data, n_permutations=500, random_state=0)
    monkeypatch.setattr("informed.survival._BLOCK_ENTRIES", 7 * 60)
    assert permutation_p_value(*data, n_permutations=500, random_state=0) == whole


# --- follow-up ---


@quick
@given(cohorts(), horizons)
def test_truncation_sees_only_what_happened_before(
    data: tuple[list[int], list[int], list[int]], months: float
) -> None:
    durations, events = np.array(data[0]), np.array(data[1]) == 1
    cut, seen = truncate_follow_up(durations, events, months)
    assert len(cut) == len(durations)
    for t, e, t_cut, e_cut in zip(durations, events, cut, seen, strict=True):
        assert (t_cut, e_cut) == ((t, e) if t <= months else (months, False))
    # Up to the horizon the product-limit estimate is unchanged.
    for time in [*durations[durations <= months], months]:
        assert product_limit(cut, seen, time) == pytest.approx(
            product_limit(durations, events, time)
        )
    np.testing.assert_array_equal(truncate_follow_up(cut, seen, months), (cut, seen))


@quick
@given(cohorts(), horizons)
def test_dropping_late_deaths_lowers_survival(
    data: tuple[list[int], list[int], list[int]], months: float
) -> None:
    durations, events = np.array(data[0]), np.array(data[1]) == 1
    cut, seen, kept = drop_late_deaths(durations, events, months)
    np.testing.assert_array_equal(
        kept, [not (e and t > months) for t, e, _ in zip(*data, strict=True)]
    )
    assume(kept.any())
    right_cut, right_seen = truncate_follow_up(durations, events, months)
    np.testing.assert_array_equal(cut, right_cut[kept])
    np.testing.assert_array_equal(seen, right_seen[kept])
    biased = product_limit(cut, seen, months)
    honest = product_limit(right_cut, right_seen, months)
    assert biased <= honest + 1e-12
    if not kept.all() and seen.any() and honest > 0:
        assert biased < honest


def test_dropping_late_deaths_makes_a_difference_out_of_none() -> None:
    # Up to month 60 both groups do the same; group b's survivors die soon after.
    durations = np.r_[np.arange(1, 31) * 2.0, np.full(30, 100.0)]
    durations = np.r_[durations, durations]
    groups = np.repeat(["a", "b"], 60)
    events = np.r_[np.ones(30), np.zeros(30), np.ones(60)]
    honest = log_rank_p_value(*truncate_follow_up(durations, events, 60), groups)
    cut, seen, kept = drop_late_deaths(durations, events, 60)
    assert honest == pytest.approx(1)
    assert log_rank_p_value(cut, seen, groups[kept]) < 1e-4


# --- refusals ---

GOOD: dict[str, Any] = {
    "durations": [1.0, 2.0, 3.0, 4.0],
    "events": [1, 0, 1, 1],
    "groups": ["a", "a", "b", "b"],
}
BAD_FOLLOW_UP = [
    ({"durations": [1, -2, 3, 4]}, ValueError, r"durations\[1\] is -2: .*>= 0"),
    ({"durations": [1, 2, np.nan, 4]}, ValueError, r"durations\[2\] is nan: .*finite"),
    ({"durations": [np.inf, 2, 3, 4]}, ValueError, r"durations\[0\] is inf: .*finite"),
    ({"durations": pd.Series([1, None, 3, 4], dtype=object)}, ValueError, r"durations\[1\] is nan"),
    ({"durations": [1, 2, 3]}, ValueError, "durations and events .* got 3 and 4"),
    ({"durations": [], "events": []}, ValueError, "durations is empty"),
    ({"durations": [[1, 2, 3, 4]]}, ValueError, r"durations has shape \(1, 4\)"),
    ({"durations": [[1], [2, 3]]}, ValueError, "durations is ragged"),
    ({"durations": 3.0}, ValueError, r"durations has shape \(\)"),
    ({"durations": ["1", "2", "3", "4"]}, TypeError, "durations must hold .*dtype <U1"),
    ({"durations": [True, False, True, True]}, TypeError, "durations must hold .*dtype bool"),
    ({"durations": [1j, 2, 3, 4]}, TypeError, "durations must hold .*complex"),
    ({"events": [1, 0, 2, 1]}, ValueError, r"events\[2\] is 2: events must be 0 .* or 1 "),
    ({"events": [1, np.nan, 0, 1]}, ValueError, r"events\[1\] is nan"),
    ({"events": [5.5, 3.2, 1.0, 8.0]}, ValueError, r"events\[0\] is 5.5: .*\(event\)$"),
    ({"durations": [1, 0, 1, 1], "events": [5, 3, 1, 8]}, ValueError, "are the two swapped"),
    ({"events": ["Dead", "Alive", "Dead", "Dead"]}, TypeError, "events must hold 0 "),
]
BAD_GROUPS = [
    ({"groups": ["a", "a", "b"]}, ValueError, "durations and groups .* got 4 and 3"),
    ({"groups": ["a", "a", np.nan, "b"]}, ValueError, r"groups\[2\] is missing"),
    ({"groups": [0, None, 1, 1]}, ValueError, r"groups\[1\] is missing"),
    ({"groups": [0.0, 1.0, np.nan, 1.0]}, ValueError, r"groups\[2\] is missing"),
    ({"groups": [0.0, 1.0, 0.25, 1.0]}, ValueError, r"groups\[2\] is 0.25: .*integers"),
    ({"groups": ["a"] * 4}, ValueError, "at least two groups, got only 'a'"),
    ({"groups": [["a"], ["a"], ["b"], ["b"]]}, ValueError, r"groups has shape \(4, 1\)"),
    ({"groups": [["a"], ["b", "c"], ["b"], ["b"]]}, ValueError, "groups is ragged"),
    ({"groups": "aabb"}, ValueError, r"groups has shape \(\)"),
    (
        {"groups": pd.Categorical(list("aabb"), categories=list("abc"))},
        ValueError,
        "group 'c' is empty",
    ),
    ({"events": [0, 0, 0, 0]}, ValueError, "events: all 4 subjects are censored"),
]


@pytest.mark.parametrize("function", [compare_survival, permutation_p_value, log_rank_p_value])
@pytest.mark.parametrize(("change", "error", "message"), BAD_FOLLOW_UP + BAD_GROUPS)
def test_refuses(function: Any, change: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        function(**(GOOD | change))


@pytest.mark.parametrize("function", [truncate_follow_up, drop_late_deaths])
@pytest.mark.parametrize(("change", "error", "message"), BAD_FOLLOW_UP)
def test_follow_up_refuses(
    function: Any, change: dict[str, Any], error: type, message: str
) -> None:
    arguments = GOOD | change
    with pytest.raises(error, match=message):
        function(arguments["durations"], arguments["events"], 2)


@pytest.mark.parametrize("months", [0, -1, np.nan, np.inf])
@pytest.mark.parametrize("function", [truncate_follow_up, drop_late_deaths])
def test_follow_up_refuses_horizon(function: Any, months: float) -> None:
    with pytest.raises(ValueError, match="months="):
        function([1, 2], [1, 0], months)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, np.nan])
@pytest.mark.parametrize("function", [compare_survival, hazard_ratio])
def test_refuses_confidence(function: Any, confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence="):
        function(**GOOD, confidence=confidence)


def test_refuses_other_arguments() -> None:
    with pytest.raises(ValueError, match="n_permutations=0"):
        permutation_p_value(**GOOD, n_permutations=0)
    with pytest.raises(ValueError, match="exactly two groups, got 3"):
        hazard_ratio([1, 2, 3], [1, 1, 1], list("abc"))
    with pytest.raises(ValueError, match="group 'b' has no event while anybody of group 'a'"):
        hazard_ratio([1, 2, 3, 4], [1, 1, 0, 0], list("aabb"))
    with pytest.raises(ValueError, match="group 'b' has no event while anybody of group 'a'"):
        hazard_ratio([1, 2, 3, 4], [1, 1, 1, 1], list("aabb"))


@pytest.mark.parametrize(
    "groups",
    [
        [0, 0, 1, 1],
        [False, False, True, True],
        [0.0, 0.0, 1.0, 1.0],
        np.array(["x", "x", "y", "y"]),
        np.array(["x", "x", "y", "y"], dtype=object),
        pd.Series(["x", "x", "y", "y"], index=[9, 8, 7, 6]),
        pd.Categorical(["x", "x", "y", "y"]),
        ["x", "x", 1, 1],
    ],
)
def test_accepts_labels_of_many_kinds(groups: Any) -> None:
    result = compare_survival(GOOD["durations"], GOOD["events"], groups)
    assert result.p_value == pytest.approx(compare_survival(**GOOD).p_value)
    assert {curve.group for curve in result.curves} == set(groups)


def test_accepts_columns_of_a_table() -> None:
    frame = pd.DataFrame(GOOD).astype({"durations": "Float64", "events": "Int64"})
    by_frame = compare_survival(frame["durations"], frame["events"], frame["groups"])
    assert str(by_frame) == str(compare_survival(**GOOD))
