"""Follow-up that ends at a horizon, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from follow_ups import cohorts, product_limit, quick
from hypothesis import assume, given
from hypothesis import strategies as st

from informed.survival import (
    compare_survival,
    drop_late_deaths,
    hazard_ratio,
    log_rank_p_value,
    permutation_p_value,
    truncate_follow_up,
)

horizons = st.sampled_from([0.5, 1, 3, 4.5, 6, 9])  # at and between the durations


# ---------------------------------------------------------------------------------------- follow-up


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


# ----------------------------------------------------------------------------------------- refusals

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
    with pytest.raises(ValueError, match="horizon="):
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
