"""P-values under the null: each against an independent way, and both rules for late deaths."""

from __future__ import annotations

import dataclasses
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from lifelines import KaplanMeierFitter
from numpy.testing import assert_allclose, assert_array_equal

from informed.experiments import GroupingNull, grouping_null, late_deaths, load_result
from informed.survival import log_rank_p_value, permutation_p_value

SMALL_DURATIONS = np.array([3.0, 1.0, 6.0, 4.0, 9.0, 2.0])
SMALL_EVENTS = np.array([1, 1, 0, 1, 0, 1])
SMALL_GROUPINGS = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 0, 0, 0, 1, 0]])


def cohort(seed, n_subjects=40, n_groupings=5):
    rng = np.random.default_rng(seed)
    durations = rng.exponential(10, n_subjects).round(1)
    events = rng.random(n_subjects) < 0.6
    # Groupings that resemble each other, as those of neighbouring settings do.
    common = rng.standard_normal(n_subjects)
    groupings = common + 0.5 * rng.standard_normal((n_groupings, n_subjects)) > 0
    return durations, events, groupings.astype(int)


# --- many groupings, one survival


def test_observed_p_values_are_those_of_the_log_rank_test():
    durations, events, groupings = cohort(0)
    null = grouping_null(durations, events, groupings, n_permutations=3, random_state=0)
    expected = [log_rank_p_value(durations, events, row) for row in groupings]
    assert_array_equal(null.p_values, expected)
    assert null.null_p_values.shape == (3, 5)


def test_every_deal_is_one_deal_of_survival_for_all_groupings():
    """Each row of null p-values is that of one of the 720 orders, the same for all groupings."""
    possible = np.array(
        [
            [log_rank_p_value(SMALL_DURATIONS[p], SMALL_EVENTS[p], g) for g in SMALL_GROUPINGS]
            for p in map(list, permutations(range(6)))
        ]
    )
    null = grouping_null(
        SMALL_DURATIONS, SMALL_EVENTS, SMALL_GROUPINGS, n_permutations=200, random_state=1
    )
    nearest = np.abs(null.null_p_values[:, None] - possible).max(axis=2).min(axis=1)
    assert nearest.max() < 1e-9
    assert len(np.unique(null.null_p_values.round(9), axis=0)) > 20


def test_rates_approach_those_over_all_orders():
    exact = [
        min(
            log_rank_p_value(SMALL_DURATIONS[p], SMALL_EVENTS[p], SMALL_GROUPINGS[0]),
            log_rank_p_value(SMALL_DURATIONS[p], SMALL_EVENTS[p], SMALL_GROUPINGS[1]),
        )
        for p in map(list, permutations(range(6)))
    ]
    null = grouping_null(
        SMALL_DURATIONS, SMALL_EVENTS, SMALL_GROUPINGS[:2], n_permutations=20_000, random_state=0
    )
    for alpha in (0.05, 0.1, 0.3):
        rate = np.mean(np.array(exact) <= alpha)
        assert null.rejection_rate(np.min, alpha) == pytest.approx(rate, abs=0.015)


@pytest.mark.parametrize("seed", range(3))
def test_one_grouping_gives_the_permutation_p_value(seed):
    durations, events, groupings = cohort(seed)
    null = grouping_null(durations, events, groupings[:1], n_permutations=4000, random_state=0)
    other = permutation_p_value(
        durations, events, groupings[0], n_permutations=4000, random_state=9
    )
    assert null.p_value(np.min) == pytest.approx(other, abs=0.04)


def test_p_value_counts_the_observed_deal():
    durations, events = np.arange(1.0, 13.0), np.ones(12)
    groupings = [[0] * 6 + [1] * 6, [1] * 6 + [0] * 6]
    null = grouping_null(durations, events, groupings, n_permutations=9, random_state=0)
    # The best of all groupings: no deal can pass it, few reach it, and p is never zero.
    assert null.p_value(np.min) >= 0.1
    reached = (null.null_p_values.min(axis=1) <= null.p_values.min() * (1 + 1e-9)).sum()
    assert null.p_value(np.min) == (reached + 1) / 10


def test_equal_summaries_count_as_reached():
    null = grouping_null([1, 2, 3, 4], [1, 1, 1, 1], [[0, 0, 1, 1]], n_permutations=2000)
    largest = dataclasses.replace(null, p_values=null.null_p_values.max(axis=0))
    assert largest.p_value(np.min) == 1.0


def test_the_best_of_many_rejects_too_often_and_the_correction_does_not():
    rejected, corrected = [], []
    for seed in range(150):
        durations, events, groupings = cohort(seed)
        null = grouping_null(durations, events, groupings, n_permutations=99, random_state=seed)
        rejected.append(null.p_values.min() <= 0.1)
        corrected.append(null.p_value(np.min) <= 0.1)
    assert np.mean(rejected) > 0.15
    assert np.mean(corrected) < 0.16


@settings(max_examples=50, deadline=None)
@given(
    values=arrays(float, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=st.floats(0, 1)),
    alpha=st.floats(0.01, 1.0),
)
def test_rates_and_p_values_count_rows(values, alpha):
    null = GroupingNull(values[0], values[1:])
    for summary, one in ((np.min, min), (np.mean, lambda row: sum(row) / len(row))):
        by_row = [one(list(row)) for row in values]
        # Rows whose sums are rounded to either side of the level are nobody's fault.
        low = sum(value <= alpha - 1e-9 for value in by_row[1:]) / len(by_row[1:])
        high = sum(value <= alpha + 1e-9 for value in by_row[1:]) / len(by_row[1:])
        assert low <= null.rejection_rate(summary, alpha) <= high
        low = sum(value < by_row[0] * (1 - 1e-8) for value in by_row[1:])
        high = sum(value <= by_row[0] * (1 + 1e-8) for value in by_row[1:])
        assert (low + 1) / len(by_row) <= null.p_value(summary) <= (high + 1) / len(by_row)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"groupings": [0, 1, 0, 1, 0, 1]}, ValueError, "groupings has shape"),
        ({"groupings": np.zeros((0, 6))}, ValueError, "groupings has shape"),
        ({"groupings": [[0, 1, 2, 0, 1, 2]]}, ValueError, "0 and 1 only"),
        ({"groupings": [[0, 0, 0, 0, 0, 0]]}, ValueError, "at least two groups"),
        ({"groupings": [[0, 1, 0, 1]]}, ValueError, "same length"),
        ({"durations": -SMALL_DURATIONS}, ValueError, "durations"),
        ({"n_permutations": 0}, ValueError, "n_permutations=0"),
        ({"n_permutations": 1.5}, TypeError, "n_permutations"),
    ],
)
def test_bad_groupings_are_refused(change, error, message):
    arguments = {
        "durations": SMALL_DURATIONS,
        "events": SMALL_EVENTS,
        "groupings": SMALL_GROUPINGS,
        **change,
    }
    with pytest.raises(error, match=message):
        grouping_null(**arguments)


def test_the_level_must_be_positive():
    null = grouping_null(SMALL_DURATIONS, SMALL_EVENTS, SMALL_GROUPINGS, n_permutations=5)
    with pytest.raises(ValueError, match="alpha"):
        null.rejection_rate(np.min, 0.0)


# --- late deaths


@pytest.fixture(scope="module")
def differ_late():
    return late_deaths(late=(0.04, 0.001), n_repeats=300)


def test_censoring_at_the_horizon_is_unbiased_and_dropping_is_not(differ_late):
    assert_allclose(differ_late.true_survival, np.exp(-0.48))
    censored, dropped = differ_late.survival
    assert_allclose(censored.mean(axis=0), differ_late.true_survival, atol=0.015)
    assert np.all(dropped <= censored + 1e-12)
    # Group 0 has most of the late deaths, so it loses most.
    fall = (censored - dropped).mean(axis=0)
    assert fall[0] > 5 * fall[1] > 0


def test_the_fall_is_that_of_the_closed_form():
    """Everybody is followed from 100 to 100.1: nobody is censored before the horizon."""
    result = late_deaths(
        early=(0.01, 0.005), late=(0.02, 0.01), follow_up=(100, 100.1), n_samples=600, n_repeats=60
    )
    at_horizon = np.exp(-60 * np.array([0.01, 0.005]))
    at_end = at_horizon * np.exp(-40 * np.array([0.02, 0.01]))
    delta = at_horizon - at_end
    expected = (at_horizon - delta) / (1 - delta)
    assert_allclose(result.survival[1].mean(axis=0), expected, atol=0.01)
    assert_allclose(result.late.mean(axis=0), 300 * delta, rtol=0.03)


def test_groups_alike_until_the_horizon_are_told_apart_by_dropping_only(differ_late):
    censored, dropped = np.mean(differ_late.p_values <= 0.05, axis=1)
    assert censored < 0.09
    assert dropped > 2 * censored


def test_with_no_difference_at_all_dropping_keeps_its_level():
    p = late_deaths(n_repeats=400, random_state=1).p_values
    assert np.all(np.mean(p <= 0.05, axis=1) < 0.085)


def test_survival_at_the_horizon_is_kaplan_meier():
    """The first simulated cohort again, step by step, with lifelines."""
    result = late_deaths(early=(0.012, 0.006), n_samples=30, n_repeats=1, random_state=5)
    rng = np.random.RandomState(5)
    cumulated, groups = rng.exponential(size=30), np.arange(30) % 2
    hazard = np.array([0.012, 0.006])[groups]
    left = cumulated - 60 * hazard
    times = np.where(left <= 0, cumulated / hazard, 60 + left / 0.008)
    ends = rng.uniform(40, 120, 30)
    seen = times <= ends
    durations = np.minimum(times, ends)
    late = seen & (durations > 60)
    for g in (0, 1):
        mine = groups == g
        for rule, kept in enumerate((mine, mine & ~late)):
            fitter = KaplanMeierFitter().fit(
                np.minimum(durations, 60)[kept], (seen & (durations <= 60))[kept]
            )
            assert result.survival[rule, 0, g] == pytest.approx(fitter.predict(60.0))
        assert result.late[0, g] == (late & mine).sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"early": (0.01,)}, "early="),
        ({"late": (0.01, 0.0)}, "late=0.0"),
        ({"horizon": 0}, "horizon"),
        ({"follow_up": (40, 60)}, "follow_up=60"),
        ({"follow_up": (80, 70)}, "follow_up=70"),
        ({"n_samples": 3}, "n_samples=3"),
        ({"n_repeats": 0}, "n_repeats=0"),
    ],
)
def test_bad_simulations_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        late_deaths(**change)


# --- both results print and survive saving


def test_results_print_and_survive_saving(tmp_path, differ_late):
    null = grouping_null(
        SMALL_DURATIONS, SMALL_EVENTS, SMALL_GROUPINGS, n_permutations=50, random_state=0
    )
    assert [row["3 groupings"] for row in null.table.as_dicts()] == ["smallest", "median", "mean"]
    assert [row["late deaths"] for row in differ_late.table.as_dicts()] == [
        "truth",
        "censor",
        "drop",
    ]
    for result in (null, differ_late):
        result.save(tmp_path / result.name)
        loaded = load_result(tmp_path / result.name)
        assert str(loaded) == str(result)
        for field in dataclasses.fields(result):
            assert_array_equal(getattr(loaded, field.name), getattr(result, field.name))


def test_seeds_decide():
    def draw(seed):
        return late_deaths(n_repeats=3, random_state=seed).p_values

    assert_array_equal(draw(3), draw(3))
    assert (draw(3) != draw(4)).any()
