"""All self-checks at once: every form of a right answer passes, every small change of it fails.

The right answers are the published solutions. The wrong ones are made from them, one change at a
time (see `mutants`). A change that a check does not notice must be listed here with the reason why
the answer is still right; otherwise the inputs of the check are too kind.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from behind_checks import FUNCTION_CHECKS, NUMBER_CHECKS
from mutants import mutants
from published import CHECKED, names_behind, solution_cell

from informed.exercises import check
from informed.teaching.exercises import limits
from informed.teaching.exercises.engine import judge

CHAPTER_OF = {label: chapter for chapter, label in CHECKED}

# What each change would leave right, and why.
SIGN = "the sign of a direction is free"
ANY_LIMIT = "any limit will do that is far from both signal and rounding"
ENOUGH = "any number of steps will do that is never reached"
SYMMETRIC = "the statistic is the same for both groups: U changes its sign only"
CONTINUOUS = "the limit is continuous at the threshold: both branches give zero"
EQUIVALENT: dict[str, dict[str, str]] = {
    "ex-gram": {
        "eigenvalues > 1e-10 * eigenvalues.max() -> eigenvalues >= 1e-10 * eigenvalues.max()": (
            ANY_LIMIT
        ),
        "1e-10 -> 2e-10": ANY_LIMIT,
    },
    "ex-directions": {
        "len(X) - 1 -> len(X)": "directions beyond those in `ks` are not looked at",
        "1 -> 0": "directions beyond those in `ks` are not looked at",
    },
    "ex-common": {"C -> C.T": "a covariance is symmetric"},
    "ex-hs-large": {
        "D -> D.T": "distances are symmetric",
        "D -> D.T (2)": "distances are symmetric",
        "D -> D.T (3)": "distances are symmetric",
    },
    "ex-km-read": {"Y -> Y.T": "a matrix and its transpose have the same singular values"},
    "ex-km-bounds": {"X -> X.T": "centring twice treats rows and columns alike"},
    "ex-pi-newton": {
        "A -> A.T (2)": "a matrix and its transpose have the same norm",
        "1e-10 -> 2e-10": "the error is squared at each step and passes both at once",
        "200 -> 201": ENOUGH,
        "200 -> 199": ENOUGH,
        "max_steps + 1 -> max_steps - 1": ENOUGH,
        "1 -> 2 (2)": ENOUGH,
        "1 -> 0 (2)": ENOUGH,
        "penrose_residuals(A, G).max() < tolerance -> penrose_residuals(A, G).max() <= tolerance": (
            "the error is never exactly 1e-10"
        ),
        "penrose_residuals(A, G) -> penrose_residuals(G, A)": (
            "the four conditions are the same for both"
        ),
    },
    "ex-pca-threshold": {
        "strengths > np.sqrt(gamma) -> strengths >= np.sqrt(gamma)": CONTINUOUS,
    },
    "ex-sklearn-pca": {
        "return H @ PCA(d).fit(X @ H).components_.T -> "
        "return -(H @ PCA(d).fit(X @ H).components_.T)": SIGN,
    },
    "ex-power": {
        "return np.linalg.qr(average_over_clusters(SU, labels))[0] -> "
        "return -np.linalg.qr(average_over_clusters(SU, labels))[0]": SIGN,
    },
    "ex-cr-partial": {
        "return left[:, :d] * singular[:d] * variances ** (-s / 2) -> "
        "return -(left[:, :d] * singular[:d] * variances ** (-s / 2))": SIGN,
    },
    "ex-soft-stack": {
        "return np.linalg.svd(rows, full_matrices=False)[2][:d].T -> "
        "return -np.linalg.svd(rows, full_matrices=False)[2][:d].T": SIGN,
    },
    "ex-rc-turn": {
        "return C @ np.linalg.svd(B)[2][:d].T -> return -(C @ np.linalg.svd(B)[2][:d].T)": SIGN,
    },
    "ex-tp-fewer": {
        "return np.linalg.qr(average_over_clusters(U, labels))[0] -> "
        "return -np.linalg.qr(average_over_clusters(U, labels))[0]": SIGN,
    },
    "ex-tp-predict": {"ell > np.sqrt(gamma) -> ell >= np.sqrt(gamma)": CONTINUOUS},
    "ex-rg-greenwood": {
        "(events == 1) & (durations <= t) -> durations <= t": (
            "a time at which nobody dies adds nothing"
        ),
    },
    "ex-rc-null": {"1 -> 2 (2)": "the last round changes nothing: it has settled"},
    "ex-op-pool": {
        "1.959964 -> 3.919928": "the quantile cancels: one divides widths by it, then multiplies",
    },
    "ex-wch-moved": {"1 -> 2": "a row that belongs to no cluster is not looked at"},
    "ex-rc-strata": {
        "groups[inside] == 1 -> groups[inside] != 1": SYMMETRIC,
        "1 -> 0 (2)": SYMMETRIC,
    },
}

# Arguments whose length or value is part of the exercise, not of the input.
FIXED = {
    "ex-pi-truncate": {"x, axis 1", "seen, axis 1"},  # two coordinates
}


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on how quick the machine is."""
    monkeypatch.setattr(limits, "SECONDS", 300.0)


@cache
def published(label: str) -> tuple[ast.FunctionDef, dict[str, Any]]:
    """Return the published function of an exercise, and the names that it needs."""
    chapter = CHAPTER_OF[label]
    cell = solution_cell(chapter, label)
    assert cell is not None
    names, answer, kept = names_behind(chapter, cell)
    assert isinstance(answer, ast.Name)
    (function,) = (
        each for each in kept if isinstance(each, ast.FunctionDef) and each.name == answer.id
    )
    return function, names


def solution(label: str) -> Callable[..., Any]:
    function, names = published(label)
    found: Callable[..., Any] = names[function.name]
    return found


def wrong_variants(label: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    function, names = published(label)
    first = FUNCTION_CHECKS[label].made_inputs()[0]
    parameters = [argument.arg for argument in function.args.args]
    for name, variant in mutants(function, dict(zip(parameters, first, strict=False))):
        here = dict(names)
        exec(compile(ast.Module([variant], []), "variant", "exec"), here)
        yield name, here[function.name]


# -------------------------------------------------------------------------------- wrong functions


@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_every_small_change_of_a_solution_is_refused(label: str) -> None:
    accepted, tried = set(), 0
    for name, variant in wrong_variants(label):
        tried += 1
        verdict = judge(label, variant, seconds=60)
        if verdict:
            accepted.add(name)
        assert verdict.message[-1] in ".?"
    assert tried >= 1
    right = EQUIVALENT.get(label, {})
    assert accepted - set(right) == set(), "wrong, but accepted"
    assert set(right) - accepted == set(), "listed as right, but refused"


def test_what_is_listed_as_right_belongs_to_a_check() -> None:
    assert set(EQUIVALENT) <= set(FUNCTION_CHECKS)
    assert all(reason for listed in EQUIVALENT.values() for reason in listed.values())


# -------------------------------------------------------------------------------- right functions


def nested(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def tuples(value: Any) -> Any:
    value = nested(value)
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def fractions(value: Any) -> Any:
    if isinstance(value, list):
        return [fractions(each) for each in value]
    exact = isinstance(value, float | np.floating) and math.isfinite(value)
    return Fraction(float(value)) if exact else value


def pandas(value: Any) -> Any:
    if np.ndim(value) == 1:
        return pd.Series(value)
    return pd.DataFrame(np.asarray(value)) if np.ndim(value) == 2 else value


FORMS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda value: value,
    "array": np.asarray,
    "columns first": lambda value: np.asarray(value, order="F"),
    "matrix": lambda value: np.asarray(value).view(np.matrix) if np.ndim(value) == 2 else value,
    "lists": nested,
    "tuples": tuples,
    "fractions": lambda value: fractions(nested(np.asarray(value))),
    "pandas": pandas,
    "objects": lambda value: np.asarray(value).astype(object),
    "single precision": lambda value: np.asarray(value, dtype=np.float32),
    "complex without imaginary part": lambda value: np.asarray(value).astype(complex),
    "iterator": lambda value: iter(value) if np.ndim(value) else value,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_every_form_of_a_right_result_is_accepted(label: str, form: str) -> None:
    function, change = solution(label), FORMS[form]

    def answer(*arguments: Any) -> Any:
        result = function(*arguments)
        if max(map(np.size, arguments)) > 1000:
            return result  # where memory is measured, its form is not the point
        if isinstance(result, tuple):
            parts = [change(part) for part in result]
            return parts if form == "lists" else tuple(parts)
        return change(result)

    verdict = check(label, answer)
    assert verdict, verdict


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_a_right_function_is_right_on_hidden_inputs(label: str, seed: int) -> None:
    verdict = judge(label, solution(label), 1000 + seed)
    assert verdict, verdict


# ------------------------------------------------------------------------------------ the inputs


@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_every_length_and_every_number_varies(label: str) -> None:
    registered = FUNCTION_CHECKS[label]
    names = list(inspect.signature(registered.reference).parameters)
    seen: dict[str, set[Any]] = {}
    for arguments in registered.made_inputs():
        for name, value in zip(names, arguments, strict=True):
            if np.ndim(value):
                for axis, length in enumerate(np.shape(value)):
                    seen.setdefault(f"{name}, axis {axis}", set()).add(length)
            elif isinstance(value, int | float | np.number):
                seen.setdefault(name, set()).add(value)
    alike = {name for name, values in seen.items() if len(values) < 2}
    assert alike == FIXED.get(label, set())


@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_inputs_come_again_and_differ_by_seed(label: str) -> None:
    registered = FUNCTION_CHECKS[label]
    first, again, other = (registered.made_inputs(seed) for seed in (None, None, 7))
    assert repr(first) == repr(again) != repr(other)
    assert len(first) == registered.trials + len(registered.edges)
    assert registered.trials + len(registered.edges) >= 4
    assert all(isinstance(each, tuple) for each in first)


# --------------------------------------------------------------------------------------- numbers


def number_forms(label: str) -> Iterator[tuple[str, Any]]:
    registered = NUMBER_CHECKS[label]
    answers, names = registered.answers, registered.names
    for digits in (3, 4, 6, 12):
        yield f"{digits} digits", [float(f"{value:.{digits - 1}e}") for value in answers]
    yield "tuple", tuple(answers)
    yield "array", np.array(answers)
    yield "column", np.array(answers)[:, None]
    yield "text", [repr(value) for value in answers]
    yield "fractions", [Fraction(value).limit_denominator(10**6) for value in answers]
    yield "series", pd.Series(answers)
    yield "table", pd.DataFrame({"number": answers})
    yield "iterator", iter(answers)
    yield "single precision", np.array(answers, dtype=np.float32)
    if names:
        pairs = list(zip(names, answers, strict=True))
        yield "dictionary", dict(pairs)
        yield "dictionary, other order", dict(reversed(pairs))
        yield "series with names", pd.Series(dict(reversed(pairs)))
    if len(answers) == 1:
        yield "one number", answers[0]


@pytest.mark.parametrize("label", NUMBER_CHECKS)
def test_every_form_of_right_numbers_is_accepted(label: str) -> None:
    for name, answer in number_forms(label):
        verdict = check(label, answer)
        assert verdict, f"{name}: {verdict}"
    answers = NUMBER_CHECKS[label].answers
    assert check(label, *answers)


def wrong_numbers(value: float) -> Iterator[float]:
    third = 10.0 ** (math.floor(math.log10(abs(value))) - 2) if value else 0.001
    yield from (value + third, value - third, value + 10 * third, value + 1, value - 1)
    yield from (2 * value + 0.1, -value - 0.1, value / 2 + 0.1, value**2 + 0.1, 10 * value + 1)


@pytest.mark.parametrize("label", NUMBER_CHECKS)
def test_every_wrong_number_is_refused(label: str) -> None:
    registered = NUMBER_CHECKS[label]
    for place, value in enumerate(registered.answers):
        for wrong in wrong_numbers(value):
            if abs(wrong - value) <= registered.rtol * abs(value) * (1 + 1e-9):
                continue  # a number that is measured
            if abs(value) >= 0.01 and math.isclose(wrong, round(value, 3)):
                continue  # the same, to three decimals
            if float(f"{wrong:.2e}") == float(f"{value:.2e}"):
                continue  # the same, to three digits: 1001 for 1000
            given = list(registered.answers)
            given[place] = wrong
            verdict = check(label, given)
            assert verdict.status == "Wrong", f"{wrong} for {value}"


@pytest.mark.parametrize("label", NUMBER_CHECKS)
def test_order_and_kind_of_numbers_matter(label: str) -> None:
    registered = NUMBER_CHECKS[label]
    answers = registered.answers
    for other in ([True] * len(answers), answers[:-1], [*answers, 1.0], [math.nan] * len(answers)):
        assert not check(label, other)
    for i in range(len(answers)):
        for j in range(i):
            given = list(answers)
            given[i], given[j] = given[j], given[i]
            free = {i, j} <= set(registered.any_order)
            same = math.isclose(answers[i], answers[j], rel_tol=6e-3, abs_tol=6e-4)
            assert bool(check(label, given)) is (free or same)
