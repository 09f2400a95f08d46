"""The grader's own side, in this process: accidents, orders, notes that are kept, words.

No student's process is started here: a scripted one stands in its place, so that each accident
happens when it is wanted. `test_grading.py` has the real ones.
"""

from __future__ import annotations

import csv
import json
import sys
from concurrent.futures import Future
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from informed.studies.cli import main
from informed.teaching.grading import command, runner
from informed.teaching.grading.command import Order, Store, grade_class
from informed.teaching.grading.runner import Limits, Lost, Mark, Marked
from informed.teaching.grading.slices import Cell
from informed.teaching.grading.wire import Described, pack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="marking needs fork")

TRIANGLE, GRAM = "ex-triangle", "ex-gram"
TWO_CELLS = [Cell(1, f'check("{TRIANGLE}", 1)'), Cell(2, f'check("{GRAM}", f)')]


def notebook(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = [{"cell_type": "code", "source": cell} for cell in cells]
    path.write_text(json.dumps({"cells": found}))
    return path


# ----------------------------------------------------------------------------- a scripted process


class Scripted:
    """A process that has run these cells as the script of a test says."""

    started: list[list[int]]

    def __init__(self, cells: list[Cell], *_: Any) -> None:
        self.names = [name for cell in cells for name in cell.exercises]
        self.numbers = [cell.number for cell in cells]
        self.lost: Lost | None = None
        self.busy = False
        self.ended = False
        type(self).started.append(self.numbers)

    def start(self) -> dict[str, Any]:
        return {"given": self.names, "errors": {}, "walls": ["a wall"]}

    def value(self, name: str) -> Any:
        return [2, 2, 2] if name == TRIANGLE else 0

    def lose(self, words: str) -> Lost:
        self.busy = False
        self.lost = Lost(words)
        return self.lost

    def end(self) -> None:
        self.ended = True


def marking(monkeypatch: pytest.MonkeyPatch, kind: type[Scripted], *names: str) -> Marked:
    kind.started = []
    monkeypatch.setattr(runner, "Process", kind)
    wanted = list(names) or [TRIANGLE, GRAM]
    return runner._Marking(list(TWO_CELLS), wanted, 3, Limits(), False, []).run()


def test_all_are_judged_together_if_nothing_happens(monkeypatch) -> None:
    marked = marking(monkeypatch, Scripted)
    assert marked.marks[TRIANGLE].right
    assert not marked.marks[GRAM].right
    assert Scripted.started == [[1, 2]]
    assert marked.walls == ["a wall"]


def test_if_all_are_lost_together_each_is_tried_alone(monkeypatch) -> None:
    class Fragile(Scripted):
        def start(self) -> dict[str, Any]:
            if GRAM in self.names:
                raise self.lose("the process died while it ran its cells")
            return super().start()

    marked = marking(monkeypatch, Fragile)
    assert marked.marks[TRIANGLE].right
    assert marked.marks[GRAM] == Mark(False, "Wrong: the process died while it ran its cells.")
    assert Fragile.started == [[1, 2], [1], [2]]


def test_a_notebook_that_wastes_its_time_is_not_tried_for_ever(monkeypatch) -> None:
    """It loses `seconds` each time; without an end, a class of such would take hours."""
    clock = [0.0]

    class Sleeping(Scripted):
        def start(self) -> dict[str, Any]:
            clock[0] += Limits().seconds
            raise self.lose("its cells took longer than 60 s")

    cells = [Cell(number, f'check("ex-{number}", 1)') for number in range(1, 9)]
    names = [f"ex-{number}" for number in range(1, 9)]
    monkeypatch.setattr(runner.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(runner, "Process", Sleeping)
    Sleeping.started = []
    marked = runner._Marking(cells, names, 3, Limits(), False, []).run()
    assert len(Sleeping.started) == runner.PATIENCE
    assert clock[0] == runner.PATIENCE * Limits().seconds
    assert set(marked.marks) == set(names)
    assert not any(given.right for given in marked.marks.values())
    words = {given.words for given in marked.marks.values()}
    assert words == {
        "Wrong: its cells took longer than 60 s.",
        "Wrong: the notebook took 180 s without an answer.",
    }


@pytest.mark.parametrize("when", ["value", "judge", "late"])
def test_an_answer_that_kills_its_process_costs_itself_only(monkeypatch, when: str) -> None:
    class Dying(Scripted):
        def value(self, name: str) -> Any:
            if name == GRAM:
                return super().value(name)
            if when == "value":
                raise self.lose("the process sent nonsense")
            if when == "judge":
                self.lose("a call of your function took longer than 3 s")
            self.busy = when == "late"
            return [2, 2, 2]

    marked = marking(monkeypatch, Dying)
    words = {"value": "nonsense", "judge": "longer than 3 s", "late": "longer than 60 s"}[when]
    assert not marked.marks[TRIANGLE].right
    assert words in marked.marks[TRIANGLE].words
    # The other one is tried in a new process.
    assert len(Dying.started) == 2
    assert "sent" not in marked.marks[GRAM].words


def test_a_missing_name_makes_everything_run(monkeypatch) -> None:
    class Forgetful(Scripted):
        def start(self) -> dict[str, Any]:
            told = super().start()
            if len(type(self).started) == 1:
                told["errors"] = {TRIANGLE: "cell 1 stopped with NameError: x"}
            return told

    marked = marking(monkeypatch, Forgetful, TRIANGLE)
    assert Forgetful.started == [[1], [1, 2]]
    assert marked.marks[TRIANGLE].right


def test_what_a_cell_stumbled_over_is_told(monkeypatch) -> None:
    class Stumbling(Scripted):
        def start(self) -> dict[str, Any]:
            errors = {
                TRIANGLE: "cell 1 stopped with ValueError",
                GRAM: "cell 2 stopped with KeyError",
            }
            return {"given": [GRAM], "errors": errors, "walls": []}

    marked = marking(monkeypatch, Stumbling)
    assert marked.marks[TRIANGLE].words == "Wrong: cell 1 stopped with ValueError."
    assert marked.marks[GRAM].words.endswith("Besides, cell 2 stopped with KeyError.")

    class Silent(Scripted):
        def start(self) -> dict[str, Any]:
            return {"given": [], "errors": {}, "walls": []}

    marked = marking(monkeypatch, Silent, TRIANGLE)
    assert marked.marks[TRIANGLE].words == "Not yet: no answer reached `check`."


def test_a_judge_that_stumbles_costs_one_exercise(monkeypatch) -> None:
    def judge(name: str, *rest: Any) -> Mark:
        if name == TRIANGLE:
            raise ZeroDivisionError
        return Mark(True, "Right")

    monkeypatch.setattr(runner, "judge", judge)
    marked = marking(monkeypatch, Scripted)
    assert "cannot be judged (ZeroDivisionError)" in marked.marks[TRIANGLE].words
    assert marked.marks[GRAM].right


def test_a_function_over_there_is_called_with_its_own_name_and_changes(monkeypatch) -> None:
    class Calling(Scripted):
        def value(self, name: str) -> Any:
            return Described("distances", (("X", "POSITIONAL_OR_KEYWORD", False),))

        def ask(self, what: str, name: str, arguments: Any, measured: bool) -> dict[str, Any]:
            changed = [arguments[0] + 1] if isinstance(arguments[0], np.ndarray) else [[7, 8]]
            return {"value": 5, "changed": changed, "peak": 100 if measured else 0}

    seen: list[Any] = []
    monkeypatch.setattr(
        runner, "judge", lambda _, answer, *__: seen.append(answer) or Mark(True, "Right")
    )
    marking(monkeypatch, Calling, GRAM)
    (remote,) = seen
    assert remote.__name__ == "distances"
    own, listed, fixed = np.zeros(3), [1, 2], (1,)
    assert remote(own) == 5
    assert np.array_equal(own, np.ones(3))
    assert remote.with_peak(listed) == (5, 100)
    assert listed == [7, 8]
    assert remote(fixed) == 5
    unknown = runner.Remote(remote.process, GRAM, Described("", (), known=False))
    assert unknown.__name__ == "<lambda>"
    assert not hasattr(unknown, "__signature__")


# --------------------------------------------------------------------------- the pipe to a process


class Gone:
    """What is left of a process that has ended."""

    pid = None

    def join(self, _: float) -> None:
        """Return at once."""


@pytest.fixture
def talking() -> Any:
    """A process from outside, and the other end of its pipe."""
    process = object.__new__(runner.Process)
    process.limits = Limits(seconds=0.05, call_seconds=0.05)
    process.lost, process.busy, process.process = None, False, Gone()
    process.connection, theirs = Pipe()
    yield process, theirs
    process.connection.close()
    theirs.close()


def test_a_reply_is_read_and_a_start_too(talking) -> None:
    process, theirs = talking
    theirs.send_bytes(pack({"value": [1, 2]}))
    assert process.value(TRIANGLE) == [1, 2]
    assert theirs.recv() == ("value", TRIANGLE)
    theirs.send_bytes(pack({"given": []}))
    assert process.start() == {"given": []}
    theirs.send_bytes(pack("no dictionary"))
    assert process.start() == {}


@pytest.mark.parametrize(
    ("told", "kind", "words"),
    [
        (["ValueError", "bad"], ValueError, "bad"),
        (["SystemExit", "3"], RuntimeError, "SystemExit 3"),
        (["UnicodeDecodeError", "x"], RuntimeError, "UnicodeDecodeError x"),
        (["eval", "x"], RuntimeError, "eval x"),
        (["NoSuchError", "x"], Exception, "x"),
    ],
)
def test_errors_over_there_are_raised_here_as_plain_ones(talking, told, kind, words) -> None:
    process, theirs = talking
    theirs.send_bytes(pack({"error": told}))
    with pytest.raises(kind, match=words):
        process.ask("call", GRAM, (), False)
    assert process.lost is None


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (None, "a call of your function took longer than 0.15 s"),
        (b"{}", "a call of your function sent nonsense"),
        (pack({"neither": 1}), "the process sent nonsense"),
        (pack([1]), "the process sent nonsense"),
        (b"x" * 100, "returned more than 0 MB"),
        (EOFError, "the process died while it ran a call of your function"),
    ],
)
def test_what_is_no_reply_loses_the_process(monkeypatch, talking, sent, words) -> None:
    process, theirs = talking
    if sent is EOFError:
        monkeypatch.setattr(process.connection, "send", lambda _: None)
        theirs.close()
    elif sent is not None:
        monkeypatch.setattr(runner, "MESSAGE_SIZE", 50)
        theirs.send_bytes(sent)
    with pytest.raises(Lost, match=words):
        process.ask("call", GRAM, (), False)
    assert not process.busy
    # From now on it says the same, without asking.
    with pytest.raises(Lost, match=words):
        process.ask("call", GRAM, (), False)


def test_a_process_that_ended_before_it_is_asked_is_lost(talking) -> None:
    process, theirs = talking
    theirs.close()
    with pytest.raises(Lost, match="ended while the answer was tried"):
        process.ask("value", TRIANGLE)


def test_a_server_of_processes_that_is_gone_is_asked_again(monkeypatch, tmp_path) -> None:
    tried: list[int] = []

    class Unlucky(Gone):
        def __init__(self, **_: Any) -> None: ...

        def start(self) -> None:
            tried.append(1)
            if len(tried) == 1:
                raise OSError

    class Context:
        Process = Unlucky

        @staticmethod
        def Pipe() -> Any:
            return Pipe()

    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda _: Context)
    monkeypatch.setattr(runner.time, "sleep", lambda _: None)
    process = runner.Process([], tmp_path, Limits(), [])
    assert len(tried) == 2
    process.end()


# ------------------------------------------------------------------------------- files and folders


def test_a_file_that_is_too_large_is_told(tmp_path) -> None:
    path = notebook(tmp_path / "x.ipynb", "1")
    with pytest.raises(ValueError, match="its outputs should be cleared"):
        runner.read_notebook(path, Limits(file_size=1e-6))


def test_references_are_secret_with_and_without_a_checkout(monkeypatch, tmp_path) -> None:
    names = {folder.name for folder in runner.secret_folders()}
    assert {"chapters", "book", "course", "tests"} <= names
    installed = tmp_path / "site" / "informed"
    (installed / "teaching" / "chapters").mkdir(parents=True)
    monkeypatch.setattr(runner, "__file__", str(installed / "teaching" / "grading" / "runner.py"))
    assert runner.secret_folders() == [installed / "teaching" / "chapters"]


# ------------------------------------------------------------------------------------------ orders


class Here:
    """An executor that runs at once, in this process."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def submit(self, function: Any, *words: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*words, **named))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, **_: Any) -> None: ...


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let notebooks be marked here, by what is in them; returns the seeds that were used."""
    seeds: list[int] = []

    def mark(path: Path, *, seed: int, exercises: list[str], **_: Any) -> Marked:
        seeds.append(seed)
        text = path.read_text()
        if "accident" in text:
            raise RuntimeError("an accident")
        if "death" in text:
            raise command.BrokenProcessPool
        marks = {name: Mark(f"right {name}" in text, "Wrong: no") for name in exercises}
        return Marked(marks, walls=["a wall"])

    monkeypatch.setattr(command, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(command, "mark", mark)
    return seeds


def a_class(folder: Path) -> None:
    both = f'check("{TRIANGLE}", 1)\ncheck("{GRAM}", 2)\n'
    notebook(folder / "ada" / "a.ipynb", f"{both}# right {TRIANGLE}, right {GRAM}")
    notebook(folder / "bob" / "a.ipynb", f"{both}# right {TRIANGLE}")
    notebook(folder / "eve" / "a.ipynb", f"{both}# accident")
    notebook(folder / "mal" / "a.ipynb", f"{both}# death")
    (folder / "nil").mkdir()
    (folder / "odd").mkdir()
    (folder / "odd" / "a.ipynb").write_text("no notebook")


def test_a_class_is_marked_by_the_command(tmp_path, here, capsys) -> None:
    a_class(tmp_path / "in")
    out = tmp_path / "grades.csv"
    words = ["grade", str(tmp_path / "in"), "--out", str(out), "--exercises"]
    assert main([*words, f"{TRIANGLE},{GRAM}=2"]) == 0
    told = capsys.readouterr().out
    assert "6 students, 5 notebooks, 2 exercises" in told
    assert "each notebook had: a wall" in told
    assert "of 3 points, median 0, from 0 to 3" in told
    rows = {row["Student"]: row for row in csv.DictReader(out.read_text().splitlines())}
    assert {name: row["Total"] for name, row in rows.items()} == {
        "ada": "3", "bob": "1", "eve": "0", "mal": "0", "nil": "0", "odd": "0",
    }  # fmt: skip
    assert "the grader itself failed on it (RuntimeError: an accident)" in rows["eve"]["Feedback"]
    assert "the grader itself failed on it" in rows["mal"]["Feedback"]
    # The seed is drawn, kept, and the same in the next run, which marks again what failed only.
    drawn = (tmp_path / "grades.marks" / "seed").read_text()
    assert len(drawn) == 32
    before = len(here)
    assert main([*words, f"{TRIANGLE},{GRAM}=2"]) == 0
    assert "3 notebooks are as they were marked before" in capsys.readouterr().out
    # Those of eve and mal together; mal's death costs the batch, so then mal alone, and eve too
    # if the death was heard of first.
    assert len(here) - before in (3, 4)
    assert (tmp_path / "grades.marks" / "seed").read_text() == drawn


def test_what_most_students_answer_counts(tmp_path, here) -> None:
    a_class(tmp_path / "in")
    order = Order(tmp_path / "in", tmp_path / "g.csv", seed="s", quiet=True)
    grades = {grade.student: grade.total for grade in grade_class(order)}
    assert grades["ada"] == 2
    assert set(here) == {Store(order, []).seed}
    for path in (tmp_path / "in").rglob("*.ipynb"):
        path.write_text("{}")
    with pytest.raises(ValueError, match="more than half of the students"):
        grade_class(order)


def test_orders_that_cannot_be_carried_out_are_refused(tmp_path, monkeypatch) -> None:
    a_class(tmp_path / "in")
    order = Order(tmp_path / "in", tmp_path / "g.csv", worth={"ex-no-such": 1.0}, quiet=True)
    with pytest.raises(ValueError, match="'ex-no-such', which has no self-check"):
        grade_class(order)
    monkeypatch.setattr(command.sys, "platform", "win32")
    with pytest.raises(ValueError, match="under WSL"):
        grade_class(order)
