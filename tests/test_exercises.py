"""The exercises of all chapters: complete, and with self-checks that tell right from wrong."""

from __future__ import annotations

import ast
import copy
import dis
import importlib.util
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbformat import NotebookNode

from informed.exercises import check, load
from informed.exercises.checking import REGISTRY, FunctionCheck, NumberCheck, Verdict

sys.path.insert(0, str(ROOT / "tools"))
import notebooks

STARTER = "exercise-starter"
WRONG_ANSWERS = ROOT / "tests" / "wrong_answers"
CHAPTERS = {path.stem: path for path in notebooks.find_chapters()}

EXERCISE = re.compile(r"^(`{3,})\{exercise\} *(.*)\n:label: (\S+)\n(.*?)^\1$", re.M | re.S)
HINT = re.compile(r"^(`{3,}|:{3,})\{admonition\} Hint\n:class: tip dropdown\n", re.M)
SOLUTION = re.compile(r"^`{3,}\{solution(-start)?\} (\S+)\n:class: dropdown$", re.M)

load()


@dataclass
class Exercise:
    """What a notebook says about one exercise."""

    label: str
    title: str
    body: str
    hint: bool = False
    solved: bool = False
    starter: int | None = None
    solution: list[int] = field(default_factory=list)  # its code cells


@cache
def cells(chapter: str) -> list[NotebookNode]:
    return nbformat.read(CHAPTERS[chapter], as_version=4).cells


def read(chapter: str) -> tuple[dict[str, Exercise], list[str]]:
    """Return the exercises of a chapter, and what is out of order among its cells."""
    found: dict[str, Exercise] = {}
    faults: list[str] = []
    current: Exercise | None = None
    solving = False
    for number, cell in enumerate(cells(chapter)):
        if cell.cell_type == "code":
            if STARTER not in cell.metadata.get("tags", []):
                if solving and current:
                    current.solution.append(number)
            elif current is None or solving:
                faults.append(f"starter cell {cell.id} does not follow an exercise")
            elif current.starter is not None:
                faults.append(f"{current.label} has two starter cells")
            else:
                current.starter = number
            continue
        for piece in pieces(cell.source):
            if match := EXERCISE.match(piece):
                _, title, label, body = match.groups()
                current = found[label] = Exercise(label, title, body)
            elif HINT.match(piece) and current:
                if current.solved:
                    faults.append(f"{current.label} has its hint after its solution")
                current.hint = True
            elif match := SOLUTION.match(piece):
                if current is None or match[2] != current.label:
                    faults.append(f"{match[2]} is solved before it is set, or after another")
                    continue
                current.solved, solving = True, match[1] is not None
            elif "{solution-end}" in piece:
                solving = False
    return found, faults


@cache
def exercises(chapter: str) -> dict[str, Exercise]:
    return read(chapter)[0]


def pieces(source: str) -> Iterator[str]:
    """Cut Markdown before each directive."""
    starts = [match.start() for match in re.finditer(r"^(?:`{3,}|:{3,})\{", source, re.M)]
    for start, end in itertools.pairwise([*starts, len(source)]):
        yield source[start:end]


ALL = [(chapter, label) for chapter in CHAPTERS for label in exercises(chapter)]
CHECKED = [(c, label) for c, label in ALL if exercises(c)[label].starter is not None]


def name_of(value: object) -> str:
    return str(value)


# ------------------------------------------------------------------------------- running a solution


def last_call(source: str) -> ast.Call | None:
    """Return the ``check(...)`` that a cell ends with."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and isinstance(call := last.value, ast.Call):
        return call if isinstance(call.func, ast.Name) and call.func.id == "check" else None
    return None


def label_of(call: ast.Call) -> str:
    assert isinstance(call.args[0], ast.Constant)
    return str(call.args[0].value)


def names_in(code: CodeType, *operations: str, deep: bool) -> set[str]:
    """Return the global names that some operations of compiled code speak of."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in operations}
    if deep:
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                found |= names_in(inner, *operations, deep=True)
    return found


def compiled(node: ast.stmt | ast.expr) -> CodeType:
    if isinstance(node, ast.stmt):
        return compile(ast.Module([node], []), "notebook", "exec")
    return compile(ast.Expression(node), "notebook", "eval")


def bound(statement: ast.stmt) -> set[str]:
    return names_in(compiled(statement), "STORE_NAME", deep=False)


def used(node: ast.stmt | ast.expr) -> set[str]:
    return names_in(compiled(node), "LOAD_NAME", "LOAD_GLOBAL", deep=True)


def answer_of(chapter: str, last_cell: int) -> Any:
    """Compute the answer that the last line of a cell passes to `check`.

    Only those statements of the notebook up to there are run that the answer rests on.
    """
    statements = [
        statement
        for cell in cells(chapter)[: last_cell + 1]
        if cell.cell_type == "code"
        for statement in ast.parse(cell.source).body
    ]
    call = statements[-1].value  # type: ignore[attr-defined]
    needed, kept = used(call.args[1]), []
    for statement in reversed(statements[:-1]):
        names = bound(statement) & needed
        if not names:
            continue
        kept.append(statement)
        # What adds to a name or may skip it leaves open what it was before.
        if isinstance(
            statement, ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
        ):
            needed -= names
        needed |= used(statement)
    module = ast.Module([*reversed(kept)], [])
    names_here: dict[str, Any] = {}
    exec(compile(module, f"{chapter}.ipynb", "exec"), names_here)
    return eval(compile(ast.Expression(call.args[1]), chapter, "eval"), names_here)


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
    assert set(REGISTRY) == set(starters)
    for label, chapter in starters.items():
        check = REGISTRY[label]
        source = check.judgement if hasattr(check, "judgement") else None
        if isinstance(check, FunctionCheck):
            source = check.reference
        if source is not None:
            assert source.__module__.rpartition(".")[2] == chapter.replace("-", "_")


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
    exercise = exercises(chapter)[label]
    checking = [n for n in exercise.solution if last_call(cells(chapter)[n].source)]
    if not checking:
        registered = REGISTRY[label]
        assert isinstance(registered, NumberCheck), "the solution does not end with check(...)"
        assert check(label, registered.answers)
        return
    (number,) = checking
    cell = cells(chapter)[number]
    call = last_call(cell.source)
    assert call is not None
    assert label_of(call) == label
    assert notebooks.is_checked(cell)
    assert cell.outputs, "the notebook has not been refreshed"
    assert cell.outputs[-1].data["text/plain"].startswith("Right:")
    verdict = check(label, answer_of(chapter, number))
    assert verdict, verdict


@cache
def wrong_answers(chapter: str) -> ModuleType:
    path = WRONG_ANSWERS / f"{chapter.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(f"wrong_answers_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    for path in WRONG_ANSWERS.glob("*.py"):
        assert path.stem.replace("_", "-") in CHAPTERS
        assert set(wrong_answers(path.stem.replace("_", "-")).WRONG) <= labels


FUNCTION_CHECKS = [check for check in REGISTRY.values() if isinstance(check, FunctionCheck)]


@pytest.mark.parametrize("registered", FUNCTION_CHECKS, ids=lambda check: check.name)
def test_reference_passes_and_mistakes_are_recognised(registered: FunctionCheck) -> None:
    assert registered.judge(registered.reference), "the reference must pass its own check"
    for hint, mistake in registered.mistakes.items():
        verdict = registered.judge(with_the_same_parameters(mistake, registered))
        assert verdict.status == "Wrong"
        assert verdict.message == hint
        assert_well_written(verdict)


def with_the_same_parameters(mistake: Any, registered: FunctionCheck) -> Any:
    return lambda *arguments: mistake(*copy.deepcopy(arguments))


@pytest.mark.parametrize("registered", FUNCTION_CHECKS, ids=lambda check: check.name)
def test_inputs_differ_and_come_again(registered: FunctionCheck) -> None:
    first, again = registered.made_inputs(), registered.made_inputs()
    assert len(first) == registered.trials >= 2
    assert repr(first) == repr(again)
    assert len({repr(each) for each in first}) > 1, "all inputs are the same"
    assert all(isinstance(each, tuple) for each in first)


NUMBER_CHECKS = [check for check in REGISTRY.values() if isinstance(check, NumberCheck)]


@pytest.mark.parametrize("registered", NUMBER_CHECKS, ids=lambda check: check.name)
def test_number_checks_recognise_their_mistakes(registered: NumberCheck) -> None:
    assert registered.judge(registered.answers)
    for hint, numbers in registered.mistakes.items():
        given = [
            value if n is None else n for n, value in zip(numbers, registered.answers, strict=True)
        ]
        verdict = registered.judge(given)
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
    monkeypatch.setitem(globals(), "cells", lambda chapter: here)
    assert answer_of("any", 4)(1) == pytest.approx(4 * 3.14159265)


def test_faults_in_a_notebook_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.v4 import new_code_cell, new_markdown_cell

    text = "```{exercise} ★ One\n:label: ex-one\n\n*Objective: you can.*\n\nDo.\n```\n"
    hint = "\n```{admonition} Hint\n:class: tip dropdown\n\nThink.\n```\n"
    solution = "\n```{solution} ex-one\n:class: dropdown\n\nSo.\n```\n"
    starter = new_code_cell("check('ex-one', None)", metadata={"tags": [STARTER]})

    def faults(*here: NotebookNode) -> list[str]:
        monkeypatch.setitem(globals(), "cells", lambda chapter: list(here))
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
