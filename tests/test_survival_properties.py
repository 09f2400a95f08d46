"""What must hold of any comparison of survival; the permutation test."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from follow_ups import cohort, cohorts, log_rank_by_loops, quick
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from informed.survival import (
    compare_survival,
    hazard_ratio,
    log_rank_p_value,
    permutation_p_value,
)

# --------------------------------------------------------------------------------------- properties


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
        "restricted mean",
        "standard error",
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


# --------------------------------------------------------------------------------- permutation test


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
    monkeypatch.setattr("informed.survival.log_rank._BLOCK_ENTRIES", 7 * 60)
    assert permutation_p_value(*data, n_permutations=500, random_state=0) == whole
