"""Controls of an explorer: what they may be, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from explorers import bar, static_page  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

import informed.teaching.explorer as explorer_module
from informed.teaching.explorer import Control, explore
from informed.teaching.explorer.controls import as_dial

pytestmark = pytest.mark.usefixtures("static_page")


# Controls


def test_numbers_make_a_slider_in_their_order() -> None:
    dial = as_dial("n_rows", [80, 20, np.int64(40)])
    assert (dial.kind, dial.values, dial.start) == ("slider", (80, 20, 40), 0)
    assert all(type(value) is int for value in dial.values)
    assert dial.label == "n rows"


@pytest.mark.parametrize("values", [range(1, 4), np.array([1, 2, 3])])
def test_sequences_of_numbers_count_as_lists(values: Any) -> None:
    assert as_dial("n", values).values == (1, 2, 3)


def test_strings_make_a_dropdown() -> None:
    dial = as_dial("variances", Control(["pca", "own"], default="own"))
    assert (dial.kind, dial.texts, dial.start) == ("dropdown", ("pca", "own"), 1)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_truth_value_makes_a_checkbox_that_starts_with_it(value: Any) -> None:
    dial = as_dial("noisy", value)
    assert (dial.kind, dial.values, dial.start) == ("checkbox", (False, True), int(value))


def test_a_range_has_clean_numbers() -> None:
    assert as_dial("rho", (0.1, 0.9, 9)).values == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert as_dial("rho", (1, 0, 3)).values == (1.0, 0.5, 0.0)


def test_a_range_between_integers_stays_integer_only_if_every_step_is() -> None:
    integers = as_dial("n", (10, 50, 5)).values
    assert integers == (10, 20, 30, 40, 50)
    assert all(type(value) is int for value in integers)
    assert all(type(value) is float for value in as_dial("n", (10.0, 50.0, 5)).values)
    assert all(type(value) is float for value in as_dial("n", (0, 1, 3)).values)


def test_texts_carry_the_unit_and_a_true_minus() -> None:
    dial = as_dial("t", Control([-1.5, 2.0], unit="°C"))
    assert dial.texts == ("−1.5\u00a0°C", "2\u00a0°C")


def test_texts_use_more_digits_where_four_do_not_tell_values_apart() -> None:
    assert as_dial("t", [1.00001, 1.00002]).texts == ("1.00001", "1.00002")
    assert as_dial("t", [1 / 3, 1.0]).texts == ("0.3333", "1")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_different_numbers_always_have_different_texts(values: list[float]) -> None:
    texts = as_dial("x", values).texts
    assert len(set(texts)) == len(values)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6).filter(bool), st.integers(2, 80))
def test_a_range_runs_from_start_to_stop(start: int, width: int, count: int) -> None:
    values = as_dial("x", (start, start + width, count)).values
    assert (values[0], values[-1], len(set(values))) == (start, start + width, count)
    np.testing.assert_allclose(values, np.linspace(start, start + width, count), rtol=1e-11)


@pytest.mark.parametrize(
    ("given_control", "error", "message"),
    [
        ([], ValueError, "control n is empty"),
        (np.array([]), ValueError, "control n is empty"),
        ([1, 2, 1], ValueError, "control n holds 1 twice"),
        ([1, 1.0], ValueError, "control n holds 1.0 twice"),
        (["a", "a"], ValueError, "control n holds 'a' twice"),
        ([1, "a"], TypeError, "either numbers or strings"),
        ([True, False], TypeError, "for a checkbox give True or False"),
        ([1.0, float("nan")], ValueError, "control n holds nan"),
        ([1.0, float("inf")], ValueError, "control n holds inf"),
        ([1j], TypeError, "either numbers or strings"),
        ((0, float("inf"), 3), ValueError, "control n holds inf"),
        ((0, float("nan"), 3), ValueError, "control n holds nan"),
        ((0, 1), TypeError, r"\(start, stop, count\)"),
        ((0, 1, "3"), TypeError, r"\(start, stop, count\)"),
        (("a", "b", "c"), TypeError, "for listed values use a list"),
        ((0, 1, 2.5), TypeError, "control n: count must be an integer >= 2"),
        ((0, 1, 1), ValueError, "control n: count=1"),
        ((1, 1, 3), ValueError, "start and stop are both 1"),
        ("abc", TypeError, "control n must be a list of numbers"),
        (3, TypeError, "control n must be a list of numbers"),
        (None, TypeError, "got None"),
        ({1: 2}, TypeError, "control n must be a list of numbers"),
        (Control([1, 2], default=3), ValueError, r"default=3 is not among its values \[1, 2\]"),
        (Control(True, default=False), ValueError, "a checkbox starts with its value, here True"),
        (Control([1], label=3), TypeError, "label must be a string, got 3"),
        (Control([1], unit=None), TypeError, "unit must be a string, got None"),
        (Control([1], help=b""), TypeError, "help must be a string"),
    ],
)
def test_a_control_that_cannot_be_used(
    given_control: object, error: type[Exception], message: str
) -> None:
    calls: list[object] = []
    with pytest.raises(error, match=message):
        explore(lambda n: calls.append(n), n=given_control)
    assert not calls


# Arguments of explore


def test_at_least_one_control() -> None:
    with pytest.raises(ValueError, match="at least one control"):
        explore(bar)


def test_draw_must_be_callable() -> None:
    with pytest.raises(TypeError, match="draw must be callable, got 3"):
        explore(3, n=[1])  # type: ignore[arg-type]


def test_draw_must_take_the_controls() -> None:
    with pytest.raises(TypeError, match=r"draw cannot be called with the controls n, m: .*'m'"):
        explore(lambda n: bar(n), n=[1], m=[2])
    with pytest.raises(TypeError, match=r"draw cannot be called with the controls n: .*'level'"):
        explore(lambda n, level: bar(n), n=[1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"title": 3}, TypeError, "title must be a string or None, got 3"),
        ({"describe": "words"}, TypeError, "describe must be callable or None"),
        ({"dpi": 0}, ValueError, "dpi=0"),
        ({"dpi": "high"}, TypeError, "dpi must be"),
    ],
)
def test_other_arguments(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explore(bar, level=[1], **options)


def test_ten_thousand_combinations_are_refused_before_the_first_is_drawn() -> None:
    calls: list[object] = []
    message = r"controls a, b have 100 × 100 = 10000 combinations.* room for 80: give fewer"
    with pytest.raises(ValueError, match=message):
        explore(lambda a, b: calls.append(a), a=range(100), b=range(100))
    assert not calls


def test_eighty_frames_pass_and_eighty_one_do_not() -> None:
    assert len(explorer_module._read_controls(bar, {"level": range(80)})[0].values) == 80
    with pytest.raises(ValueError, match="81 = 81 combinations"):
        explorer_module._read_controls(bar, {"level": range(81)})
