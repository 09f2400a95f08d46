"""Self-checks as such: what they say to which answer, and that nothing makes them raise."""

from __future__ import annotations

import importlib.util
import itertools
import math
import pkgutil
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import informed.teaching.chapters
from informed.exercises import Verdict, check
from informed.teaching.exercises import limits, registry
from informed.teaching.exercises.checking import (
    Thrift,
    function_check,
    judged_check,
    number_check,
)
from informed.teaching.exercises.engine import judge
from informed.teaching.exercises.forms import is_rounded
from informed.teaching.exercises.registry import find


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Checks that a test registers are gone after it, and no test depends on a quick machine."""
    monkeypatch.setattr(limits, "SECONDS", 300.0)
    registry.load()
    before = dict(registry._ATTEMPTS)
    with registry.registering():
        yield
    registry._ATTEMPTS.clear()
    registry._ATTEMPTS.update(before)


def table(rng: np.random.Generator) -> tuple[Any, int]:
    return rng.normal(size=(5, 3)), 2


def means() -> None:
    """Register an exercise: the means of the columns, times a number."""

    @function_check(
        "ex-means",
        inputs=table,
        mistakes={"you forgot the factor.": lambda X, factor: X.mean(axis=0)},
    )
    def reference(X: Any, factor: int) -> Any:
        return factor * X.sum(axis=0) / len(X)


def right(X, factor):
    return factor * X.mean(axis=0)


def changes_input(X, factor):
    X *= factor
    return X.mean(axis=0)


def changes_input_and_is_wrong(X, factor):
    X *= 7
    return X[:3, 0] ** 3


def raises_inside(X, factor):
    wrong = X + np.zeros(4)
    return wrong.mean(axis=0)


def not_written(X, factor):
    raise NotImplementedError


def by_luck(X, factor):
    return right(X, factor) * (1 if X[0, 0] < 0.5 else np.array([1, 2, 3]))


class Callable:
    def __call__(self, X, factor):
        return right(X, factor)


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (right, "Right", "`right` agrees with an independent computation on 5 inputs."),
        (lambda X, factor: right(X, factor), "Right", "your function agrees"),
        (lambda X, factor: right(X, factor).tolist(), "Right", "agrees"),
        (lambda *arguments: right(*arguments), "Right", "agrees"),
        (Callable(), "Right", "agrees"),
        (None, "Not yet", 'pass your function: `check("ex-means", your_function)`'),
        (..., "Not yet", "pass your function"),
        (lambda X, factor: None, "Not yet", "returns nothing"),
        (lambda X, factor: ..., "Not yet", "write the body of your function"),
        (lambda X, factor: (..., 0), "Not yet", "write the body of your function"),
        (not_written, "Not yet", "`not_written` returns nothing"),
        (3.0, "Wrong", "pass the function itself"),
        ([[1], [1, 2]], "Wrong", "pass the function itself"),
        (lambda X: X, "Wrong", "must take 2 arguments, by position: `X`, `factor`."),
        (lambda: 1, "Wrong", "must take 2 arguments"),
        (
            raises_inside,
            "Wrong",
            "`X` of shape (5, 3), `factor` = 2 your function stopped with Val",
        ),
        (raises_inside, "Wrong", "`wrong = X + np.zeros(4)`)."),
        (math.hypot, "Wrong", "stopped with TypeError"),
        (lambda X, factor: "three", "Wrong", "returns a str; an array of shape (3,) of real"),
        (lambda X, factor: X.mean(axis=0) + 1j, "Wrong", "returns complex numbers; an array"),
        (lambda X, factor: [[1], [2, 3]], "Wrong", "rows of different lengths"),
        (lambda X, factor: {"a": 1}, "Wrong", "returns a dict"),
        (lambda X, factor: X.mean(), "Wrong", "returns a single number; an array of shape (3,)"),
        (
            lambda X, factor: X.mean(axis=1),
            "Wrong",
            "an array of shape (5,); an array of shape (3,)",
        ),
        (lambda X, factor: right(X, factor) * np.nan, "Wrong", "NaN or infinity in 3 of 3 entries"),
        (lambda X, factor: np.sqrt(right(X, factor)), "Wrong", "NaN or infinity in"),
        (lambda X, factor: X.mean(axis=0), "Wrong", "you forgot the factor."),
        (lambda X, factor: -right(X, factor), "Wrong", "opposite sign"),
        (lambda X, factor: right(X, factor) ** 2, "Wrong", "the squares of what is asked"),
        (lambda X, factor: X.sum(axis=0), "Wrong", "constant factor, the same for all inputs"),
        (
            lambda X, factor: X[0, 0] * right(X, factor),
            "Wrong",
            "factor, which depends on the input",
        ),
        (lambda X, factor: np.full(3, 0.1), "Wrong", "0 of 3 values are right. Try a case"),
        (lambda X, factor: right(X, factor) * [1, 2, 1], "Wrong", "2 of 3 values are right."),
        (lambda X, factor: 0 * right(X, factor), "Wrong", "0 of 3 values are right."),
        (by_luck, "Wrong", "(It is right on "),
        (changes_input, "Wrong", "the values are right, but it changes its argument `X` in place"),
        (changes_input_and_is_wrong, "Wrong", "Besides, it changes its argument `X`"),
    ],
)
def test_what_is_said_to_a_function(answer: Any, status: str, words: str) -> None:
    means()
    verdict = check("ex-means", answer)
    assert verdict.status == status, verdict
    assert words in verdict.message
    assert bool(verdict) is (status == "Right")


def test_an_inner_failure_is_told_with_the_students_own_line() -> None:
    means()

    def helper(X):
        return X["column"]

    def wrapper(X, factor):
        return helper(X)

    message = check("ex-means", wrapper).message
    assert '`return X["column"]`' in message
    assert f"line {helper.__code__.co_firstlineno + 1}:" in message

    def inside_numpy(X, factor):
        return np.linalg.inv(X)

    assert "`return np.linalg.inv(X)`" in check("ex-means", inside_numpy).message


def test_inputs_reach_the_student_untouched_by_the_check() -> None:
    seen = []

    @function_check("ex-doc", inputs=lambda rng: (rng.normal(size=3),))
    def reference(x: Any) -> Any:
        x *= 0
        return 2.0

    def student(x):
        seen.append(x.copy())
        return 2.0

    assert check("ex-doc", student)
    assert all(np.any(x) for x in seen)
    assert len(seen) == 5
    check("ex-doc", student)
    np.testing.assert_array_equal(seen[:5], seen[5:])


@pytest.mark.parametrize(
    ("reference", "answer", "words"),
    [
        (lambda x: (x, 2.0), lambda x: (x, 2.0), None),
        (lambda x: (x, 2.0), lambda x: [x, 2], None),
        (lambda x: (x, 2.0), lambda x: x, "must return 2 values"),
        (lambda x: (x, 2.0), lambda x: (x, [2.0]), "as its return value number 2."),
        (lambda x: (x, 2.0), lambda x: (x, 3.0), "the result is not right"),
        (lambda x: "blue", lambda x: "blue", None),
        (lambda x: "blue", lambda x: "red", "the result is not right"),
        (lambda x: "blue", lambda x: 1, "returns an int, not a string"),
        (lambda x: True, lambda x: np.bool_(True), None),
        (lambda x: True, lambda x: 1, "not True or False"),
        (lambda x: True, lambda x: False, "not right"),
        (lambda x: x > 0, lambda x: (x > 0).astype(int), None),
        (lambda x: np.outer(x, x**2), lambda x: np.outer(x**2, x), "transpose of what is asked"),
        (lambda x: np.ones((2, 3)), lambda x: np.ones((3, 2)), "Rows and columns are exchanged"),
        (lambda x: x**2 + 1, lambda x: np.sqrt(x**2 + 1), "square roots of what is asked"),
        (lambda x: x.sum() + 9, lambda x: 2 * x.sum() + 18, "constant factor, the same"),
        (lambda x: x.sum() + 9, lambda x: x.max(), "the result is not right"),
        (lambda x: np.array([np.nan, 1]), lambda x: np.array([np.nan, 1]), None),
    ],
)
def test_results_of_all_kinds(reference: Any, answer: Any, words: str | None) -> None:
    function_check("ex-kinds", inputs=lambda rng: (rng.normal(size=4),))(reference)
    verdict = check("ex-kinds", answer)
    assert bool(verdict) is (words is None), verdict
    assert words is None or words in verdict.message


def test_a_view_says_what_counts() -> None:
    function_check(
        "ex-view",
        inputs=lambda rng: (rng.normal(size=(4, 2)),),
        view=lambda U: np.linalg.inv(U.T @ U),
    )(lambda X: X)
    assert check("ex-view", lambda X: -X)
    assert check("ex-view", lambda X: X[::-1])
    assert not check("ex-view", lambda X: 2 * X)
    assert not check("ex-view", lambda X: 0 * X)  # the view itself fails on this one


def test_views_of_different_shapes_are_different() -> None:
    function_check("ex-kept", inputs=lambda rng: (rng,), view=lambda x: x[x > 0])(
        lambda rng: np.array([5.0, -1.0, -1.0])
    )
    assert check("ex-kept", lambda rng: np.array([-2.0, 5.0, -3.0]))
    assert not check("ex-kept", lambda rng: np.array([5.0, 5.0, 5.0]))


def test_arguments_of_all_kinds() -> None:
    function_check("ex-objects", inputs=lambda rng: (rng, [1, "two"], "way", 0.123456789))(
        lambda rng, mixed, word, real: len(mixed)
    )
    assert check("ex-objects", lambda rng, mixed, word, real: 2)
    verdict = check("ex-objects", lambda rng, mixed, word, real: mixed.append(1) or 2)
    assert "changes its argument `mixed` in place" in verdict.message
    assert "with `mixed` = [1, 'two'], `word` = way, `real` = 0.123457 your" in repr(
        check("ex-objects", lambda rng, mixed, word, real: [1])
    )
    function_check("ex-nothing", inputs=lambda rng: (rng,))(lambda rng: 1.0)
    assert "on one of the inputs your" in repr(check("ex-nothing", lambda rng: "x"))


def test_warnings_of_the_student_do_no_harm() -> None:
    means()
    assert "NaN or infinity" in check("ex-means", lambda X, factor: np.ones(3) / 0).message
    assert "NaN or infinity" in check("ex-means", lambda X, factor: np.log(-np.ones(3))).message


# --------------------------------------------------------------------------------------- numbers

NUMBERS = {"a": "1/3", "b": math.sqrt(2), "c": -4, "d": 0}


def numbers() -> None:
    number_check(
        "ex-numbers",
        NUMBERS,
        mistakes={"b is the other root.": [None, -math.sqrt(2), None, None]},
    )


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
        (1.0, "Wrong", "you give 1 numbers"),
        ("1/3", "Wrong", "you give 1 numbers"),
        (np.array(1.0), "Wrong", "you give 1 numbers"),
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


# ------------------------------------------------------------------------------------ judged, names


def test_a_judge_speaks() -> None:
    @judged_check("ex-singular")
    def singular(matrix: Any) -> str | None:
        if np.shape(matrix) != (2, 2):
            return "give a 2 × 2 matrix."
        return None if abs(np.linalg.det(matrix)) < 1e-9 else "it has an inverse."

    assert (
        check("ex-singular", [[1, 2], [2, 4]]).message == "your answer has all that is asked for."
    )
    assert check("ex-singular", np.eye(2)).message == "it has an inverse."
    assert check("ex-singular", [1]).message == "give a 2 × 2 matrix."
    assert check("ex-singular", None).status == "Not yet"
    assert "cannot be tried (ValueError" in check("ex-singular", [[1], [2, 3]]).message


def test_a_judge_of_functions() -> None:
    @judged_check("ex-odd", function=True)
    def odd(f: Any) -> str | None:
        return None if f(2.0) == -f(-2.0) else "it is not odd."

    assert check("ex-odd", lambda x: x**3)
    assert check("ex-odd", abs).message == "it is not odd."
    assert check("ex-odd", lambda x: None).status == "Not yet"
    assert check("ex-odd", None).status == "Not yet"
    assert "pass the function itself" in check("ex-odd", 3).message
    failing = check("ex-odd", lambda x: x.missing)
    assert (
        "an input with `argument 1` = 2 your function stopped with AttributeErr" in failing.message
    )


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"name='ex-triangel'.*did you mean 'ex-triangle'"):
        check("ex-triangel", 1)
    with pytest.raises(ValueError, match="no exercise with a self-check has this label"):
        find("zzz")
    with pytest.raises(TypeError, match="the label of the exercise comes first"):
        check(right, "ex-means")  # type: ignore[arg-type]


def test_registration_refuses_what_cannot_work() -> None:
    number_check("ex-new", 1)
    with pytest.raises(ValueError, match=r"name='ex-new'.*already"):
        number_check("ex-new", 2)
    with pytest.raises(ValueError, match="two thirds"):
        number_check("ex-words", "two thirds")
    with pytest.raises(ValueError, match="has 1 numbers, the answer 2"):
        number_check("ex-other", [1, 2], mistakes={"no.": [1]})


def test_html_is_escaped_and_marks_code() -> None:
    verdict = Verdict("ex", "Wrong", "`a < b` & <script>")
    html = verdict._repr_html_()
    assert "<code>a &lt; b</code> &amp; &lt;script&gt;" in html
    assert "<strong>Wrong:</strong>" in html
    assert 'role="status"' in html
    assert repr(verdict) == "Wrong: `a < b` & <script>"


def test_a_starter_that_nobody_touched_does_not_read_as_an_error() -> None:
    numbers()
    means()
    for verdict in (check("ex-numbers"), check("ex-means", lambda X, factor: ...)):
        assert verdict.status == "Not yet"
        assert repr(verdict).startswith("Not tried yet: ")
        assert "<strong>Not tried yet:</strong>" in verdict._repr_html_()


# ----------------------------------------------------------------------------------------- limits


def endless(X, factor):
    while True:
        X = X + 1


def stubborn(X, factor):
    k = 0
    while k < 5:
        try:
            while True:
                pass
        except BaseException:
            k += 1
    while True:
        pass


class NoEnd:
    def __iter__(self) -> Iterator[int]:
        while True:
            pass
        yield 0


@pytest.mark.parametrize("answer", [endless, stubborn])
def test_an_endless_loop_is_stopped_and_told(answer: Any) -> None:
    means()
    verdict = judge("ex-means", answer, seconds=0.2)
    assert verdict.status == "Wrong"
    assert "on an input with `X` of shape (5, 3), `factor` = 2 your function had" in verdict.message
    assert "not come to an end after 0.2 seconds" in verdict.message
    assert not [thread for thread in threading.enumerate() if thread.name == "answer"]


def test_an_answer_that_cannot_be_read_to_its_end() -> None:
    numbers()
    verdict = judge("ex-numbers", NoEnd(), seconds=0.2)
    assert "your answer had not come to an end" in verdict.message
    assert "you give 10000 numbers" in check("ex-numbers", itertools.count()).message


def test_a_call_that_cannot_be_stopped_is_left_behind() -> None:
    means()
    release = threading.Event()
    verdict = judge("ex-means", lambda X, factor: release.wait() and X.mean(axis=0), seconds=0.1)
    assert "not come to an end" in verdict.message
    release.set()


def test_checks_work_in_other_threads() -> None:
    means()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(check, "ex-means", right).result()
        assert not pool.submit(judge, "ex-means", endless, seconds=0.1).result()


def test_the_one_who_waits_may_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    means()

    def interrupted() -> float:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(limits.time, "process_time", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check("ex-means", endless)
    assert not [thread for thread in threading.enumerate() if thread.name == "answer"]


def test_without_threads_a_check_has_no_limit_but_works(monkeypatch: pytest.MonkeyPatch) -> None:
    means()

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert check("ex-means", right)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError])
def test_nothing_that_an_answer_raises_escapes(error: type[BaseException]) -> None:
    means()
    numbers()

    def raises(X, factor):
        raise error

    class Hostile:
        def __float__(self) -> float:
            raise error

        def __repr__(self) -> str:
            raise ValueError

    assert f"stopped with {error.__name__}" in check("ex-means", raises).message
    assert not check("ex-numbers", [Hostile(), 1, 2, 3])
    assert not check("ex-means", lambda X, factor: [Hostile()] * 3)


def test_the_callers_warnings_stay_as_they_were() -> None:
    means()
    release = threading.Event()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        judge("ex-means", lambda X, factor: release.wait(), seconds=0.05)
        assert list(warnings.filters) == before
    release.set()


def thrifty() -> None:
    """Register an exercise: the squared length of each row, without all pairs of rows."""
    function_check(
        "ex-thrift",
        inputs=lambda rng: (rng.normal(size=(5, 3)),),
        thrift=[
            Thrift(
                lambda rng: (rng.normal(size=(1000, 3)),),
                lambda X: len(X) ** 2 // 2,
                "do not form a matrix of all pairs.",
            )
        ],
    )(lambda X: np.array([row @ row for row in X]))


def test_waste_of_memory_is_told() -> None:
    thrifty()
    verdict = check("ex-thrift", lambda X: np.diag(X @ X.T).copy())
    assert verdict.status == "Wrong"
    assert "7.6 megabytes at once, where 0.5 are plenty: do not form" in verdict.message
    assert "`X` of shape (1000, 3)" in verdict.message
    assert check("ex-thrift", lambda X: np.sum(X**2, axis=1))
    assert (
        "0 of 5 values" in check("ex-thrift", lambda X: np.diag(X @ X.T) + np.arange(1, 6)).message
    )


def test_memory_is_measured_while_somebody_else_measures() -> None:
    thrifty()
    tracemalloc.start()
    try:
        waste = np.ones(10**6)
        assert check("ex-thrift", lambda X: np.sum(X**2, axis=1))
        assert not check("ex-thrift", lambda X: np.diag(X @ X.T).copy())
        assert tracemalloc.is_tracing()
        assert waste.size
    finally:
        tracemalloc.stop()


def test_a_function_elsewhere_measures_its_own_memory() -> None:
    class Elsewhere:
        peak = 100

        def __call__(self, X):
            return np.sum(X**2, axis=1)

        def with_peak(self, X):
            return self(X), self.peak

    thrifty()
    remote = Elsewhere()
    assert check("ex-thrift", remote)
    remote.peak = 10**9
    assert "953.7 megabytes" in check("ex-thrift", remote).message


# ------------------------------------------------------------------------------------ edges, seeds


def test_edge_cases_count_as_inputs() -> None:
    function_check(
        "ex-edge",
        inputs=lambda rng: (rng.uniform(1, 2, size=4),),
        edges={
            "all zero": lambda rng: (np.zeros(3),),
            "one negative number": lambda rng: (np.array([-1.0]),),
        },
    )(lambda x: np.abs(x))
    assert "on 7 inputs" in check("ex-edge", abs).message
    message = check("ex-edge", lambda x: x).message
    assert "It is right on 6 of 7 inputs.) This input is special: one negative number." in message
    assert "special" not in check("ex-edge", lambda x: x**3 + 1).message


def test_a_mistake_need_not_be_possible_on_each_edge() -> None:
    function_check(
        "ex-edge",
        inputs=lambda rng: (rng.uniform(1, 2, size=4),),
        edges={"empty": lambda rng: (np.zeros(0),)},
        mistakes={"no.": lambda x: x / max(x)},
    )(lambda x: 2 * x)
    assert "right up to a constant factor" in check("ex-edge", lambda x: 3 * x).message


def test_a_seed_draws_other_inputs() -> None:
    seen: list[Any] = []

    def noted(X, factor):
        seen.append(X.sum())
        return right(X, factor)

    means()
    for seed in (None, 1, 1, 2):
        assert judge("ex-means", noted, seed)
    assert seen[5:10] == seen[10:15]
    assert len(set(seen)) == 15


def test_what_else_must_hold() -> None:
    function_check(
        "ex-also",
        inputs=lambda rng: (float(rng.uniform(1, 9)),),
        view=lambda result: result[0],
        also=lambda result, x: "count the steps." if result[1] < 1 else None,
    )(lambda x: (x**0.5, 1))
    assert check("ex-also", lambda x: (np.sqrt(x), 5))
    assert check("ex-also", lambda x: (np.sqrt(x), 0)).message == "count the steps."
    assert check("ex-also", lambda x: (x, 0)).message == "these are the squares of what is asked."


# --------------------------------------------------------------------------- nothing is handed out


def test_a_check_shows_nothing_of_what_it_compares_with() -> None:
    for name in registry.names():
        attempt = find(name)
        public = [each for each in dir(attempt) if not each.startswith("__")]
        assert public == []
        for attribute in ("reference", "answers", "mistakes", "judgement"):
            assert not hasattr(attempt, attribute)
        assert not vars(attempt)


def test_references_cannot_be_imported() -> None:
    folder = informed.teaching.chapters
    names = [
        f"{folder.__name__}.{each.name}.exercises" for each in pkgutil.iter_modules(folder.__path__)
    ]
    modules = [name for name in names if importlib.util.find_spec(name)]
    assert len(modules) >= 17
    for module in modules:
        assert module not in sys.modules
    script = f"""
import importlib
for name in {modules}:
    try:
        importlib.import_module(name)
    except ImportError as error:
        assert "not to be imported" in str(error), error
    else:
        raise SystemExit(name)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
