"""Mark one notebook: run it in a closed process, judge its answers in this one.

The judge is the self-check of the book, with other random inputs (a hidden seed). A student's
function stays in the student's process; here it is a stand-in (`Remote`) that sends arguments over
a pipe and hands back what comes. So the references and the verdicts never exist where a student's
code runs, and patched modules cannot forge a point.
"""

from __future__ import annotations

import builtins
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from informed.teaching.exercises import engine, registry
from informed.teaching.grading import student
from informed.teaching.grading.slices import Cell, exercises_in, needed, read_cells
from informed.teaching.grading.wire import Described, unpack

__all__ = ["Limits", "Mark", "Marked", "mark"]

MESSAGE_SIZE = 64 << 20
PATIENCE = 3
# Loaded once, before the first notebook: a process for a student is then a copy of one that has
# them, which takes hundredths of a second. Nothing here knows an answer.
PRELOADED = (
    "numpy", "scipy.linalg", "scipy.spatial.distance", "scipy.stats", "sklearn.cluster",
    "sklearn.decomposition", "sklearn.neighbors", "pandas", "matplotlib.pyplot",
    "informed.clusters", "informed.directions", "informed.metrics", "informed.datasets",
    "informed.survival", "informed.teaching.grading.student",
)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What a notebook may use.

    Attributes
    ----------
    memory : float
        Gigabytes beyond the bare process.
    seconds : float
        For all the cells of a notebook together, by the clock. What is lost may be tried again,
        alone, as long as no more than `PATIENCE` times that was lost in all.
    cell_seconds : float
        For one cell, of processor time: a busy machine takes nothing from a student.
    call_seconds : float
        For one call of a student's function, of processor time; three times that by the clock.
    file_size : float
        Megabytes that a notebook file may have.
    """

    memory: float = 2.0
    seconds: float = 60.0
    cell_seconds: float = 20.0
    call_seconds: float = 10.0
    file_size: float = 20.0


@dataclass(frozen=True)
class Mark:
    """The verdict on one exercise, and why."""

    right: bool
    words: str


@dataclass
class Marked:
    """A marked notebook.

    Attributes
    ----------
    marks : dict from str to Mark
        By exercise.
    remarks : list of str
        What the teacher should know besides.
    walls : list of str
        What the process was enclosed by.
    """

    marks: dict[str, Mark] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    walls: list[str] = field(default_factory=list)


class Lost(Exception):
    """The student's process is gone, or does not answer; says why in words."""


def judge(name: str, answer: Any, seed: int, seconds: float) -> Mark:
    """Judge an answer by the book's self-check: the one place where marking meets the engine."""
    verdict = engine.judge(name, answer, seed, seconds=seconds)
    return Mark(verdict.status == "Right", f"{verdict.status}: {verdict.message}")


def known_exercises() -> list[str]:
    """Return the labels of all exercises with a self-check."""
    return sorted(registry.names())


def mark(
    path: Path,
    *,
    seed: int,
    exercises: Sequence[str] | None = None,
    limits: Limits | None = None,
    whole: bool = False,
    hidden: Sequence[Path] = (),
) -> Marked:
    """Mark a notebook.

    Parameters
    ----------
    path : Path
        The submitted file.
    seed : int
        Seed of the hidden inputs.
    exercises : sequence of str or None
        Labels to mark; all that the notebook answers if None.
    limits : Limits or None
        What it may use.
    whole : bool
        Whether to run all cells, not only those that the answers need.
    hidden : sequence of Path
        Folders that the notebook may not read, besides the references.

    Returns
    -------
    marked : Marked
        The verdicts. A notebook that cannot be read or run has remarks, and raises nothing.
    """
    limits = limits or Limits()
    try:
        cells = read_notebook(path, limits)
    except (ValueError, OSError) as error:
        return Marked(remarks=[str(error)])
    found = [name for name in exercises_in(cells) if name in known_exercises()]
    wanted = [name for name in found if exercises is None or name in exercises]
    if not wanted:
        return Marked(remarks=["no exercise is answered in it"])
    return _Marking(cells, wanted, seed, limits, whole, [*hidden, *secret_folders()]).run()


def read_notebook(path: Path, limits: Limits) -> list[Cell]:
    """Read the cells of a submitted file; a ValueError says in words why that is not possible."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("it is not a regular file")
    size = path.stat().st_size
    if size > limits.file_size * 2**20:
        raise ValueError(
            f"the file has {size / 2**20:.0f} MB, more than {limits.file_size:g}: its outputs "
            "should be cleared"
        )
    return read_cells(path.read_bytes().decode("utf-8", errors="replace"))


def secret_folders() -> list[Path]:
    """Return the folders with references, and in a checkout also those with solutions."""
    package = Path(__file__).resolve().parents[2]
    found = [package / "teaching" / "chapters"]
    if (package.parent / "pyproject.toml").is_file():
        found += [package.parent / name for name in ("book", "course", "tests", "_build")]
    return [folder for folder in found if folder.is_dir()]


class _Marking:
    """One notebook on its way; restarts the student's process as often as it is lost."""

    def __init__(
        self,
        cells: list[Cell],
        wanted: list[str],
        seed: int,
        limits: Limits,
        whole: bool,
        hidden: Sequence[Path],
    ) -> None:
        self.cells, self.seed, self.limits, self.hidden = cells, seed, limits, hidden
        self.left, self.whole = wanted, whole
        self.marked = Marked()
        self.wasted = 0.0

    def run(self) -> Marked:
        """Mark all exercises together; after an accident the rest, then each alone."""
        together = self.left
        while self.left:
            lost_before = len(self.left)
            self._batch(together)
            if len(self.left) == lost_before:
                # Nothing came of them together, so each gets a process of its own.
                for name in list(self.left):
                    if self._has_time():
                        self._batch([name])
                break
            together = self.left
            if not self._has_time():
                break
        words = (
            "it could not be run"
            if self._has_time()
            else f"Wrong: the notebook took {self.wasted:.0f} s without an answer."
        )
        for name in self.left:
            self.marked.marks.setdefault(name, Mark(False, words))
        return self.marked

    def _has_time(self) -> bool:
        return self.wasted < PATIENCE * self.limits.seconds

    def _batch(self, names: Sequence[str]) -> None:
        cells = self.cells if self.whole else needed(self.cells, names)
        with tempfile.TemporaryDirectory(prefix="informed-grade-") as folder:
            process = Process(cells, Path(folder), self.limits, self.hidden)
            started = time.monotonic()
            try:
                told = process.start()
                errors = told.get("errors", {})
                if not self.whole and any("NameError" in words for words in errors.values()):
                    # The names that a cell uses were misjudged: then nothing is left out.
                    self.whole = True
                    return self._batch(names)
                self.marked.walls = told.get("walls", [])
                for name in list(names):
                    self._one(process, name, name in told["given"], errors.get(name))
            except Lost as lost:
                self.wasted += time.monotonic() - started
                if len(names) == 1:
                    self._settle(names[0], Mark(False, f"Wrong: {lost}."))
            finally:
                process.end()

    def _one(self, process: Process, name: str, given: bool, error: str | None) -> None:
        if error is not None and not given:
            return self._settle(name, Mark(False, f"Wrong: {error}."))
        if not given:
            return self._settle(name, Mark(False, "Not yet: no answer reached `check`."))
        try:
            answer = process.value(name)
            if isinstance(answer, Described):
                answer = Remote(process, name, answer)
            verdict = judge(name, answer, self.seed, 6 * self.limits.call_seconds)
        except Lost as lost:
            self._settle(name, Mark(False, f"Wrong: {lost}."))
            raise
        except Exception as failure:  # a judge that stumbles costs one exercise, not the run
            verdict = Mark(False, f"Wrong: it cannot be judged ({type(failure).__name__}).")
        if process.busy:
            process.lose(f"it took longer than {6 * self.limits.call_seconds:g} s")
        if process.lost is not None:
            # The engine has told the student's part; the process has to be made again.
            self._settle(name, Mark(False, f"Wrong: {process.lost}."))
            raise process.lost
        if error is not None and not verdict.right:
            verdict = Mark(False, f"{verdict.words} Besides, {error}.")
        self._settle(name, verdict)

    def _settle(self, name: str, verdict: Mark) -> None:
        self.marked.marks[name] = verdict
        self.left = [other for other in self.left if other != name]


class Remote:
    """The stand-in of a student's function.

    Parameters
    ----------
    process : Process
        Where the function is.
    exercise : str
        Label of the exercise that it answers.
    described : Described
        What is known of it.
    """

    def __init__(self, process: Process, exercise: str, described: Described) -> None:
        self.process, self.exercise = process, exercise
        self.__name__ = described.name or "<lambda>"
        signature = described.signature()
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *arguments: Any) -> Any:
        """Let the function answer over there."""
        return self._ask(arguments, measured=False)["value"]

    def with_peak(self, *arguments: Any) -> tuple[Any, int]:
        """Let it answer, and return also how many bytes it held at once."""
        reply = self._ask(arguments, measured=True)
        return reply["value"], int(reply["peak"])

    def _ask(self, arguments: tuple[Any, ...], *, measured: bool) -> dict[str, Any]:
        reply = self.process.ask("call", self.exercise, arguments, measured)
        for own, after in zip(arguments, reply.get("changed") or [], strict=False):
            _follow(own, after)
        return reply


def _follow(own: Any, after: Any) -> None:
    """Change an argument as the student's function changed its copy."""
    if isinstance(own, np.ndarray) and isinstance(after, np.ndarray) and own.shape == after.shape:
        own[...] = after
    elif isinstance(own, list) and isinstance(after, list):
        own[:] = after


class Process:
    """A student's process, from outside."""

    def __init__(
        self, cells: Sequence[Cell], folder: Path, limits: Limits, hidden: Sequence[Path]
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        self.limits = limits
        self.lost: Lost | None = None
        self.busy = False
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=student.live,
            args=(theirs, list(cells), folder),
            kwargs={
                "memory": int(limits.memory * 2**30),
                # Cells and calls together; the wall clock is watched from here.
                "seconds": 10 * limits.seconds,
                "cell_seconds": limits.cell_seconds,
                "call_seconds": limits.call_seconds,
                "hidden": list(hidden),
            },
            daemon=True,
        )
        try:
            self.process.start()
        except OSError:
            # The server that copies processes is gone; the next try makes a new one.
            time.sleep(0.5)
            self.process.start()
        theirs.close()

    def start(self) -> dict[str, Any]:
        """Wait until the cells have run; return what the process tells about it."""
        told = self._receive(self.limits.seconds, "its cells")
        return told if isinstance(told, dict) else {}

    def value(self, name: str) -> Any:
        """Ask for an answer that is no function."""
        return self.ask("value", name)["value"]

    def ask(self, *request: Any) -> dict[str, Any]:
        """Ask the process; raise as the student's function did."""
        if self.lost is not None:
            raise self.lost
        try:
            self.connection.send(request)
        except OSError:
            raise self.lose("the process ended while the answer was tried") from None
        reply = self._receive(3 * self.limits.call_seconds, "a call of your function")
        if not isinstance(reply, dict) or not {"value", "error"} & set(reply):
            raise self.lose("the process sent nonsense")
        if "error" in reply:
            name, text = (str(part) for part in reply["error"])
            kind = getattr(builtins, name, Exception)
            is_plain = isinstance(kind, type) and issubclass(kind, Exception)
            try:
                raise (kind if is_plain else RuntimeError)(text if is_plain else f"{name} {text}")
            except TypeError:  # some, as UnicodeDecodeError, want more than a text
                raise RuntimeError(f"{name} {text}") from None
        return reply

    def _receive(self, seconds: float, what: str) -> Any:
        self.busy = True
        try:
            if not self.connection.poll(seconds):
                raise self.lose(f"{what} took longer than {seconds:g} s")
            reply = unpack(self.connection.recv_bytes(MESSAGE_SIZE))
            self.busy = False
            return reply
        except EOFError:
            raise self.lose(f"the process died while it ran {what}") from None
        except OSError:
            raise self.lose(f"{what} returned more than {MESSAGE_SIZE >> 20} MB") from None
        except ValueError:
            raise self.lose(f"{what} sent nonsense") from None

    def lose(self, words: str) -> Lost:
        """Give the process up; return why, to be raised."""
        self.busy = False
        self.lost = Lost(words)
        self.end()
        return self.lost

    def end(self) -> None:
        """Kill the process and all that it started."""
        if self.process.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(5)
        with suppress(OSError):
            self.connection.close()


def prepare() -> None:
    """Load what notebooks need into the process from which the students' are copied."""
    os.environ.update(
        MPLBACKEND="agg", INFORMED_EXPLORER="live", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"
    )
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(PRELOADED))
    known_exercises()
