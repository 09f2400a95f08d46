"""The exercises of all chapters: complete, and with self-checks that tell right from wrong."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from types import ModuleType

import notebooks
import published
import pytest
from behind_checks import FUNCTION_CHECKS, NUMBER_CHECKS
from conftest import ROOT
from nbformat import NotebookNode
from published import (
    ALL,
    CHAPTERS,
    CHECKED,
    STARTER,
    Exercise,
    answer_of,
    cells,
    exercises,
    label_of,
    last_call,
    name_of,
    read,
    solution_cell,
)

from informed.exercises import Verdict, check
from informed.teaching.exercises import limits, registry

MATERIAL = ROOT / "informed" / "teaching" / "chapters"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on how quick the machine is."""
    monkeypatch.setattr(limits, "SECONDS", 300.0)


# ------------------------------------------------------------------------------ what stands there


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_exercises_of_each_kind(chapter: str) -> None:
    here = exercises(chapter).values()
    assert read(chapter)[1] == []
    assert len(here) >= 3
    assert {stars(exercise) for exercise in here} >= {1, 2, 3}
    coding = [e for e in here if e.starter is not None and writes_a_function(chapter, e)]
    assert coding, "no exercise asks for a function"


def stars(exercise: Exercise) -> int:
    return len(exercise.title) - len(exercise.title.lstrip("★"))


def writes_a_function(chapter: str, exercise: Exercise) -> bool:
    assert exercise.starter is not None
    body = ast.parse(cells(chapter)[exercise.starter].source).body
    return any(isinstance(statement, ast.FunctionDef) for statement in body)


@pytest.mark.parametrize(("chapter", "label"), ALL, ids=name_of)
def test_exercise_is_complete(chapter: str, label: str) -> None:
    exercise = exercises(chapter)[label]
    assert label.startswith("ex-")
    assert re.match(r"★{1,3} \S", exercise.title), "the title begins with one to three stars"
    first = exercise.body.strip().split("\n")[0]
    assert re.fullmatch(r"\*Objective: [^*]+\.\*", first), "the first line is the objective"
    assert exercise.hint, "no folded hint"
    assert exercise.solved, "no folded solution"


def test_the_book_has_enough_of_them() -> None:
    assert len(ALL) >= 40
    coding = [label for c, label in CHECKED if writes_a_function(c, exercises(c)[label])]
    assert len(coding) >= 20
    assert len(set(label for _, label in ALL)) == len(ALL), "a label is used twice"


def test_each_check_has_its_exercise_and_its_module() -> None:
    starters = {label: chapter for chapter, label in CHECKED}
    assert set(registry.names()) == set(starters)
    for label, registered in FUNCTION_CHECKS.items():
        folder = starters[label].replace("-", "_")
        assert registered.reference.__module__.split(".")[-2] == folder


# ------------------------------------------------------------------------- right, not yet and wrong


@pytest.mark.parametrize(("chapter", "label"), CHECKED, ids=name_of)
def test_starter_is_not_yet_right(chapter: str, label: str) -> None:
    number = exercises(chapter)[label].starter
    assert number is not None
    call = last_call(cells(chapter)[number].source)
    assert call is not None, "a starter cell ends with check(...)"
    assert label_of(call) == label
    verdict = check(label, answer_of(chapter, number))
    assert verdict.status == "Not yet", verdict


@pytest.mark.parametrize(("chapter", "label"), CHECKED, ids=name_of)
def test_published_solution_is_right(chapter: str, label: str) -> None:
    number = solution_cell(chapter, label)
    if number is None:
        assert label in NUMBER_CHECKS, "the solution does not end with check(...)"
        assert check(label, NUMBER_CHECKS[label].answers)
        return
    cell = cells(chapter)[number]
    call = last_call(cell.source)
    assert call is not None
    assert label_of(call) == label
    assert notebooks.is_checked(cell)
    assert cell.outputs, "the notebook has not been refreshed"
    verdict = check(label, answer_of(chapter, number))
    assert verdict, verdict
    assert cell.outputs[-1].data["text/plain"] == repr(verdict), "refresh the notebook"


@cache
def wrong_answers(chapter: str) -> ModuleType:
    folder = chapter.replace("-", "_")
    return importlib.import_module(f"informed.teaching.chapters.{folder}.wrong_answers")


@pytest.mark.parametrize(("chapter", "label"), CHECKED, ids=name_of)
def test_wrong_answers_are_told_why(chapter: str, label: str) -> None:
    wrong = wrong_answers(chapter).WRONG[label]
    assert len(wrong) >= 2
    messages = []
    for answer, words in wrong:
        verdict = check(label, answer)
        assert verdict.status == "Wrong", f"{answer}: {verdict}"
        assert words in verdict.message, f"{answer}: {verdict}"
        assert_well_written(verdict)
        messages.append(verdict.message)
    assert len(set(messages)) > 1, "all wrong answers are told the same"


def assert_well_written(verdict: Verdict) -> None:
    assert verdict.message[-1] in ".?", verdict
    assert verdict.message.count("`") % 2 == 0, verdict
    assert "$" not in verdict.message, verdict


def test_no_wrong_answer_is_left_over() -> None:
    labels = {label for _, label in CHECKED}
    for path in MATERIAL.glob("*/wrong_answers.py"):
        chapter = path.parent.name.replace("_", "-")
        assert chapter in CHAPTERS
        assert set(wrong_answers(chapter).WRONG) <= labels


@pytest.mark.parametrize("label", FUNCTION_CHECKS)
def test_reference_passes_and_mistakes_are_recognised(label: str) -> None:
    registered = FUNCTION_CHECKS[label]
    verdict = check(label, registered.reference)
    # A reference may be wasteful: it is another way than the one that is asked for.
    assert verdict or "the values are right, but" in verdict.message
    for hint, mistake in registered.mistakes.items():
        verdict = check(label, lambda *arguments, mistake=mistake: mistake(*arguments))
        assert verdict.status == "Wrong"
        assert verdict.message == hint
        assert_well_written(verdict)


@pytest.mark.parametrize("label", NUMBER_CHECKS)
def test_number_checks_recognise_their_mistakes(label: str) -> None:
    answers = NUMBER_CHECKS[label].answers
    assert check(label, answers)
    for hint, numbers in NUMBER_CHECKS[label].mistakes.items():
        given = [value if n is None else n for n, value in zip(numbers, answers, strict=True)]
        verdict = check(label, given)
        assert verdict.message == hint
        assert_well_written(verdict)


# ----------------------------------------------------------------------- the walk itself is sound


def test_only_what_the_answer_rests_on_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    here = [
        new_code_cell("import math\nraise_error = 1 / 0 if False else 2\nscale = 2.0"),
        new_code_cell("slow = [1 / 0]\nscale = 3.0\nr = [1 / 0]\nk = 1 / 0"),
        new_markdown_cell("text"),
        new_code_cell(
            "scale += 1\n\n\ndef area(r):\n    return sum(scale * math.pi * r**2 for k in [1])\n"
        ),
        new_code_cell('area(3) / 0\ncheck("ex-x", area)'),
        new_code_cell("scale = 100"),
    ]
    monkeypatch.setattr(published, "cells", lambda chapter: here)
    assert answer_of("any", 4)(1) == pytest.approx(4 * 3.14159265)


def test_faults_in_a_notebook_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    text = "```{exercise} ★ One\n:label: ex-one\n\n*Objective: you can.*\n\nDo.\n```\n"
    hint = "\n```{admonition} Hint\n:class: tip dropdown\n\nThink.\n```\n"
    solution = "\n```{solution} ex-one\n:class: dropdown\n\nSo.\n```\n"
    starter = new_code_cell("check('ex-one', None)", metadata={"tags": [STARTER]})

    def faults(*here: NotebookNode) -> list[str]:
        monkeypatch.setattr(published, "cells", lambda chapter: list(here))
        return read("any")[1]

    assert faults(new_markdown_cell(text + hint), starter, new_markdown_cell(solution)) == []
    complete = read("any")[0]["ex-one"]
    assert (complete.hint, complete.solved, complete.starter) == (True, True, 1)
    assert (stars(complete), complete.title) == (1, "★ One")
    assert faults(new_markdown_cell(text)) == []
    bare = read("any")[0]["ex-one"]
    assert (bare.hint, bare.solved, bare.starter) == (False, False, None)
    assert "does not follow" in faults(starter, new_markdown_cell(text))[0]
    assert "two starter cells" in faults(new_markdown_cell(text), starter, starter)[0]
    other = solution.replace("ex-one", "ex-two")
    assert "ex-two is solved before" in faults(new_markdown_cell(text + other))[0]
    assert "hint after" in faults(new_markdown_cell(text + solution + hint))[0]
