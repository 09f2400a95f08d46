"""Self-checks of numbers: forms and roundings, and what is said to which answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_checks import means, numbers, own_checks

from informed.exercises import check
from informed.teaching.exercises import registry
from informed.teaching.exercises.checking import (
    judged_check,
    number_check,
)
from informed.teaching.exercises.forms import is_rounded


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_checks(monkeypatch):
        yield


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (["1/3", 1.414, -4, 0], "Right", "all the numbers are right."),
        ([Fraction(1, 3), Decimal("1.4142"), np.float64(-4), 0j], "Right", "all"),
        (np.array([[1 / 3, math.sqrt(2)], [-4, 0]]), "Right", "all"),
        ({"a": "1/3", "b": 1.414, "c": -4, "d": 0}, "Right", "all"),
        ([0.333, 1.41, -4.001, 0.0001], "Right", "all"),
        (["1/3", "√2", "-2^2", "0/7"], "Right", "all"),
        (["1/3", "sqrt(2)", "−4", "1 - 1"], "Right", "all"),
        ({"D": 0, "c": -4, "(b)": 1.414, "a": "1/3"}, "Right", "all"),
        ({1: "1/3", 2: 1.414, 3: -4, 4: 0}, "Right", "all"),
        (pd.Series([0, -4, 1.414, 1 / 3], index=["d", "c", "b", "a"]), "Right", "all"),
        (pd.Series([1 / 3, 1.414, -4, 0]), "Right", "all"),
        (pd.DataFrame([[1 / 3, 1.414], [-4, 0]]), "Right", "all"),
        ((x for x in [0.333, 1.41, -4, 0]), "Right", "all"),
        ([np.array(1 / 3), np.array([math.sqrt(2)]), [[-4]], 0], "Right", "all"),
        (["1/3", 1.414, -4, False], "Wrong", "d: False is not a number."),
        ({"a": 1, "b": 2, "c": 3, "e": 4}, "Wrong", "name your numbers a, b, c, d"),
        ({1, 2, 3, 4}, "Wrong", "a set has no order"),
        (["0,333", 1.41, -4, 0], "Wrong", "Write a point for the decimal comma"),
        (["9**9**9**9", 1, 2, 3], "Wrong", "is not a number"),
        (["__import__('os')", 1, 2, 3], "Wrong", "is not a number"),
        (["1" * 200, 1, 2, 3], "Wrong", "a: a str is not a number"),
        (None, "Not yet", "put your 4 numbers in the place of None in this order: a, b, c, d."),
        ([None, 1, 2, 3], "Not yet", "a number is still missing"),
        (..., "Not yet", "put your 4 numbers"),
        (lambda x: x, "Wrong", "this exercise wants 4 numbers, not a function"),
        ([1, 2], "Wrong", "you give 2 numbers; 4 asked for in this order: a, b, c, d."),
        (1.0, "Wrong", "you give 1 number;"),
        ("1/3", "Wrong", "you give 1 number;"),
        (np.array(1.0), "Wrong", "you give 1 number;"),
        ([[1], [1, 2]], "Wrong", "you give 3 numbers"),
        (["1/0", 1, 2, 3], "Wrong", "a: '1/0' is not a number."),
        (["root two", 1, 2, 3], "Wrong", "a: 'root two' is not a number."),
        ([1j, 1, 2, 3], "Wrong", "a: 1j is not a number."),
        ([1e200, 1, 2, 3], "Wrong", "a, b, c, d: not this number."),
        ([10**400, 1, 2, 3], "Wrong", "is not a number."),
        ([math.nan, 1, 2, 3], "Wrong", "a: nan is not finite."),
        ([0.35, 1.414, -4, 0], "Wrong", "a: not this number."),
        ([0.33, 1.414, -4, 0], "Wrong", "a: close, but not right to three digits"),
        ([0.34, 1.4, -4, 1], "Wrong", "a, b, d: not this number."),
        (["1/3", -1.4142, -4, 0], "Wrong", "b is the other root."),
        (["1/3", 1.4142, 4, 0], "Wrong", "c: look at the sign."),
        (["1/3", 2, -4, 0], "Wrong", "b: this is the square of what is asked."),
        (["1/3", 2**0.25, -4, 0], "Wrong", "b: this is the square root of what is asked."),
    ],
)
def test_what_is_said_to_numbers(answer: Any, status: str, words: str) -> None:
    numbers()
    verdict = check("ex-numbers", answer)
    assert verdict.status == status, verdict
    assert words in verdict.message


def test_one_number_and_a_list_without_names() -> None:
    number_check("ex-one", 7)
    assert check("ex-one", 7).message == "that is the number."
    assert check("ex-one", [7])
    assert check("ex-one", 8).message == "not this number."
    assert check("ex-one", "seven").message == "your number: 'seven' is not a number."
    assert "put your number in the place of None. Three" in check("ex-one", None).message
    number_check("ex-list", [1, Fraction(4, 2)])
    assert check("ex-list", [1, 3]).message == "number 2: not this number."
    assert "2 asked for." in check("ex-list", 1).message


def test_names_with_a_comma_are_told_apart() -> None:
    number_check("ex-commas", {"d = 2, outer pair": 1, "d = 2, inner pair": 2})
    said = check("ex-commas", None).message
    assert "in this order: d = 2, outer pair; d = 2, inner pair. Three" in said


@settings(deadline=None, max_examples=300)
@given(st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6), st.integers(3, 12))
def test_three_digits_are_enough_and_fewer_are_not(value: float, digits: int) -> None:
    assert is_rounded(float(f"{value:.{digits - 1}e}"), value)
    assert is_rounded(value, value)
    third = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    for off in (-1.01, -0.51, 0.51, 1.01, 10.0):
        by_decimals = abs(value) >= 0.01 and math.isclose(value + off * third, round(value, 3))
        assert is_rounded(value + off * third, value) is by_decimals


@pytest.mark.parametrize(
    ("found", "value", "right"),
    [
        (1.33, 4 / 3, True),
        (1.34, 4 / 3, False),
        (130, 130.4, True),
        (131, 130.4, False),
        (0.038, 1 / 26, True),
        (0.0385, 1 / 26, True),
        (0.039, 1 / 26, False),
        (0.04, 1 / 26, False),
        (0.001, 0.00123, False),
        (999.6, 1000, True),
        (999, 1000, False),
        (1000, 999.7, True),
        (1000, 999.4, False),
        (0, 0.004, False),
        (1.0, 1.0, True),
        (1.005, 1.0, True),
        (3e-8, 0, True),
        (0.001, 0, False),
        (math.inf, 1.0, False),
    ],
)
def test_roundings(found: float, value: float, right: bool) -> None:
    assert is_rounded(found, value) is right
    assert is_rounded(-found, -value) is right


def test_numbers_that_may_change_places() -> None:
    number_check("ex-pair", {"a": 1, "x": 2, "y": 3}, any_order=["x", "y"])
    assert check("ex-pair", [1, 3, 2])
    assert check("ex-pair", 1, 2, 3)
    assert check("ex-pair", [3, 1, 2]).message == "a, y: not this number."
    assert check("ex-pair", [1, 3, 7]).message == "x: not this number."


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
        lambda inner: st.one_of(
            st.lists(inner), st.tuples(inner), st.dictionaries(st.text(), inner)
        ),
        max_leaves=8,
    )
)
def test_no_answer_makes_a_check_raise(answer: Any) -> None:
    for name in ("ex-numbers", "ex-means", "ex-judged"):
        registry._ATTEMPTS.pop(name, None)
    numbers()
    means()
    judged_check("ex-judged")(lambda matrix: None if np.linalg.det(matrix) == 0 else "no.")
    for name, given_answer in [
        ("ex-numbers", answer),
        ("ex-means", answer),
        ("ex-means", lambda X, factor: answer),
        ("ex-judged", answer),
    ]:
        verdict = check(name, given_answer)
        # ([0],) is a singular matrix; nothing else that is drawn is right.
        assert verdict.status in ("Not yet", "Wrong") or name == "ex-judged"
        assert verdict._repr_html_()


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.1, 2, -3, 100])
def test_the_answer_is_never_in_the_words(factor: float) -> None:
    number_check("ex-secret", {"x": 0.8317, "y": 52.93})
    for answer in [[0.8317 * factor, 52.93], [0.8317, 52.93 * factor], [52.93, 0.8317], [1], None]:
        verdict = check("ex-secret", answer)
        assert not verdict
        assert not any(part in repr(verdict) for part in (".83", "52.9", "53"))


@pytest.mark.parametrize(("angle", "right"), [(0.0, True), (0.002, True), (0.003, False)])
def test_columns_may_be_as_oblique_as_rounding_to_three_digits_makes_them(
    angle: float, right: bool
) -> None:
    one, other = np.array([1, -1, 0, 0]) / 2**0.5, np.array([1, 1, -1, -1]) / 2
    Q = np.column_stack([one, np.cos(angle) * other + np.sin(angle) * one])
    verdict = check("ex-km-contrasts", Q)
    assert bool(verdict) is right
    assert right or "not orthogonal" in verdict.message
