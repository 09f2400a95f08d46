"""Self-checks as such: what they say to which answer, and that nothing makes them raise."""

from __future__ import annotations

import importlib.util
import math
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from small_checks import means, numbers, own_checks, right

import informed.teaching.chapters
from informed.exercises import Verdict, check
from informed.teaching.exercises import registry
from informed.teaching.exercises.checking import (
    function_check,
    judged_check,
    number_check,
)
from informed.teaching.exercises.engine import judge
from informed.teaching.exercises.functions import _first_changed
from informed.teaching.exercises.registry import find
from informed.teaching.exercises.student import Student


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_checks(monkeypatch):
        yield


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1] * 13, 2), f"an input with `a` = [{'1, ' * 12}1], `b` = 2"),
        # One letter more, and it is too long to be shown.
        (([10] + [1] * 12, 2), "an input with `a` of shape (13,), `b` = 2"),
        (((1, "two"), [3.0, 4.0]), "an input with `a` = (1, 'two'), `b` = [3.0, 4.0]"),
        ((np.ones((2, 3)), True), "an input with `a` of shape (2, 3), `b` = True"),
        ((np.float64(2 / 3), np.int64(7)), "an input with `a` = 0.666667, `b` = 7"),
        (({"a": 1}, "way"), "an input with `b` = way"),
        (({"a": 1}, None), "one of the inputs"),
    ],
)
def test_an_input_is_described(arguments: tuple[Any, ...], words: str) -> None:
    assert Student(lambda a, b: 0, "ex-any", [], ["a", "b"]).describe(arguments) == words


@pytest.mark.parametrize("off", [1e-12, 0.01, 0.5])
def test_even_a_small_change_of_an_argument_is_told(off: float) -> None:
    means()

    def nudges(X, factor):
        result = right(X, factor)
        X[0, 0] += off
        return result

    assert "but it changes its argument `X` in place" in check("ex-means", nudges).message
    x, y = np.zeros(3), [0.25, 0.5]
    assert _first_changed(["x", "y"], (x, y), (x + off, y)) == "x"
    assert _first_changed(["x", "y"], (x, y), (x, [0.25, 0.5 + off])) == "y"
    assert _first_changed(["x", "y"], (x, y), (x.copy(), y.copy())) == ""


def test_warnings_of_the_student_do_no_harm() -> None:
    means()
    assert "NaN or infinity" in check("ex-means", lambda X, factor: np.ones(3) / 0).message
    assert "NaN or infinity" in check("ex-means", lambda X, factor: np.log(-np.ones(3))).message


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
