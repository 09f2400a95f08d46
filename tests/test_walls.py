"""The two files that run in a student's process, called in this one.

What the kernel does with the walls is seen from outside, by the hostile notebooks of
`test_grading.py`. Here it is asked what is built: a made-up kernel notes each call and answers as
kernels of different ages do.
"""

from __future__ import annotations

import _tracemalloc
import os
import signal
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from informed.teaching.grading.slices import Cell
from informed.teaching.grading.wire import unpack

if sys.platform == "win32":
    pytest.skip("marking needs fork", allow_module_level=True)

import resource

from informed.teaching.grading import sandbox, student

GB = 2**30


# -------------------------------------------------------------------------------- a made-up kernel


class Kernel:
    """Answers the calls of `sandbox` to the C library, and notes them."""

    proc = True

    def __init__(self, *, landlock: int, users: bool = True, refuses: tuple[int, ...] = ()) -> None:
        self.landlock, self.users, self.refuses = landlock, users, refuses
        self.mounted: dict[str, bytes] = {}
        self.allowed: dict[str, int] = {}
        self.ruleset: tuple[int, int, int, int] | None = None
        self.called: list[str] = []

    def unshare(self, flags: int) -> int:
        self.called.append("unshare")
        self.flags = flags
        return 0 if self.users else -1

    def mount(self, _: Any, place: bytes, kind: Any, flags: int, options: Any) -> int:
        self.called.append("mount")
        if kind == b"proc":
            return 0 if self.proc else -1
        if kind == b"tmpfs":
            self.mounted[os.fsdecode(place)] = options
        return 0

    def prctl(self, *words: int) -> int:
        self.called.append(f"prctl {words[0]}")
        return 0

    def syscall(self, number: int, *words: Any) -> int:
        if number == sandbox.LANDLOCK_CREATE and words[0] is None:
            return self.landlock
        if number in self.refuses:
            return -1
        if number == sandbox.LANDLOCK_CREATE:
            asked = words[0]._obj
            self.ruleset = (asked.files, asked.ports, asked.scopes, words[1])
            return os.open(os.devnull, os.O_RDONLY)
        if number == sandbox.LANDLOCK_ADD:
            rule = words[2]._obj
            self.allowed[os.readlink(f"/proc/self/fd/{rule.folder}")] = rule.allowed
            return 0
        self.called.append("restrict")
        return 0


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "setrlimit", found.__setitem__)
    return found


def with_kernel(monkeypatch: pytest.MonkeyPatch, kernel: Kernel, pid: int = 0) -> dict[str, str]:
    """Put a made-up kernel below `sandbox`; return what is written to files of the process."""
    written: dict[str, str] = {}
    monkeypatch.setattr(sandbox.ctypes, "CDLL", lambda *_, **__: kernel)
    monkeypatch.setattr(sandbox.os, "fork", lambda: pid)
    monkeypatch.setattr(Path, "write_text", lambda self, text: written.update({str(self): text}))
    return written


linux = pytest.mark.skipif(sys.platform != "linux", reason="these walls are Linux's")


# ---------------------------------------------------------------------------------------- the walls


@linux
def test_all_walls_are_built_in_their_order(monkeypatch, tmp_path, limits) -> None:
    hidden = tmp_path / "references"
    hidden.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    kernel, hooks = Kernel(landlock=6), []
    written = with_kernel(monkeypatch, kernel)
    monkeypatch.setattr(sandbox.sys, "addaudithook", hooks.append)
    monkeypatch.chdir(tmp_path)
    walls = sandbox.enclose(folder, memory=GB, seconds=30, hidden=[hidden, tmp_path / "nowhere"])
    assert Path.cwd() == folder
    assert [words.rsplit("(", 1)[1] for words in walls] == [
        "resource limits)", "namespace)", "namespace)", "namespace)",
        "Landlock)", "Landlock)", "seccomp)", "audit hook)",
    ]  # fmt: skip
    # A process without a network is made before anything is mounted, and the rules come last.
    assert kernel.called == [
        "unshare", "mount", "mount", "mount", "prctl 1", "mount",
        "prctl 38", "restrict", "prctl 38", "prctl 22",
    ]  # fmt: skip
    assert kernel.flags == 0x70020000
    assert written["/proc/self/uid_map"] == f"{os.getuid()} {os.getuid()} 1"
    assert list(kernel.mounted) == [str(folder), str(hidden)]
    assert b"mode=555" in kernel.mounted[str(hidden)]
    assert len(hooks) == 1


@linux
def test_the_limits_are_above_what_the_process_holds(monkeypatch, limits) -> None:
    words = sandbox._limit(GB // 2, 12.5)
    assert "0.5 GB" in words
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = limits[resource.RLIMIT_AS]
    assert soft == hard
    assert abs(soft - held - GB // 2) < GB // 4
    assert limits[resource.RLIMIT_CPU] == (13, 13)
    assert limits[resource.RLIMIT_CORE] == (0, 0)
    assert limits[resource.RLIMIT_FSIZE] == (64 << 20, 64 << 20)


def test_a_limit_that_the_system_does_not_know_is_passed_over(monkeypatch) -> None:
    tried = []

    def refuse(what: int, _: object) -> None:
        tried.append(what)
        raise ValueError

    monkeypatch.setattr(resource, "setrlimit", refuse)
    sandbox._limit(GB, 1)
    assert len(tried) == 5


@linux
def test_where_users_may_make_no_namespace_nothing_is_claimed(monkeypatch, tmp_path) -> None:
    kernel = Kernel(landlock=0, users=False)
    with_kernel(monkeypatch, kernel)
    assert sandbox._namespaces(tmp_path, []) == []
    assert sandbox._landlock(tmp_path) == []
    assert kernel.called == ["unshare"]


@linux
@pytest.mark.parametrize("hides", [True, False])
def test_processes_are_out_of_sight_only_if_their_list_is(monkeypatch, tmp_path, hides) -> None:
    kernel = Kernel(landlock=0)
    kernel.proc = hides
    with_kernel(monkeypatch, kernel)
    assert any("no sight" in wall for wall in sandbox._namespaces(tmp_path, [])) is hides


@linux
def test_the_first_process_of_a_namespace_ends_as_the_second_does(monkeypatch, tmp_path) -> None:
    with_kernel(monkeypatch, Kernel(landlock=0), pid=4321)
    waited, left = [], []

    def waitpid(pid: int, _: int) -> tuple[int, int]:
        waited.append(pid)
        return pid, 7 << 8

    def leave(status: int) -> None:
        left.append(status)
        raise SystemExit(status)

    monkeypatch.setattr(sandbox.os, "waitpid", waitpid)
    monkeypatch.setattr(sandbox.os, "_exit", leave)
    with pytest.raises(SystemExit):
        sandbox._namespaces(tmp_path, [])
    assert waited == [4321]
    assert left == [7]


@linux
@pytest.mark.parametrize("version", range(1, 9))
def test_landlock_is_asked_for_what_its_version_knows(monkeypatch, tmp_path, version) -> None:
    """The kernel refuses a rule of which it does not know a bit, so old ones get fewer."""
    kernel = Kernel(landlock=version)
    with_kernel(monkeypatch, kernel)
    words = sandbox._landlock(tmp_path)
    files, ports, scopes, size = kernel.ruleset
    # The number of rights on files after each version, from the kernel's documentation.
    assert files == 2 ** {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16) - 1
    assert size == 8 * (1 + (version >= 4) + (version >= 6))
    assert (bool(ports), bool(scopes)) == (version >= 4, version >= 6)
    assert len(words) == 1 + (version >= 4)
    # Only its own folder can be written; no rule goes beyond what is handled.
    assert kernel.allowed.pop(str(tmp_path)) == files
    assert kernel.allowed.pop(os.devnull) == 0b110
    assert set(kernel.allowed.values()) == {0b1101}
    package = Path(sandbox.__file__).resolve().parents[2]
    assert str(package) in kernel.allowed
    assert str(package.parent) not in kernel.allowed
    assert kernel.called[-1] == "restrict"


@linux
@pytest.mark.parametrize("refused", [sandbox.LANDLOCK_CREATE, sandbox.LANDLOCK_RESTRICT])
def test_a_wall_that_the_kernel_refuses_is_not_claimed(monkeypatch, tmp_path, refused) -> None:
    with_kernel(monkeypatch, Kernel(landlock=6, refuses=(refused,)))
    assert sandbox._landlock(tmp_path) == []


def test_the_guard_refuses_what_changes_something_outside(tmp_path) -> None:
    inside, secret, outside = (tmp_path / name for name in ("inside", "secret", "outside"))
    for place in (inside, secret, outside):
        place.mkdir()
    (inside / "way-out").symlink_to(outside)
    guard = sandbox._guard(inside, [secret])
    write = os.O_WRONLY | os.O_CREAT
    refused = [
        ("os.system", ("ls",)),
        ("socket.connect", (None, ("127.0.0.1", 9))),
        ("open", (str(outside / "x"), "w", write)),
        ("open", (os.fsencode(inside / ".." / "x"), "w", write)),
        ("open", (str(inside / "way-out" / "x"), "w", write)),
        ("open", (str(tmp_path / "inside-not"), "w", write)),
        ("open", (str(secret / "exercises.py"), "r", os.O_RDONLY)),
        ("os.remove", (str(outside / "x"), -1)),
        ("os.rename", (str(inside / "x"), str(outside / "x"))),
        ("os.link", (str(outside / "x"), str(inside / "x"))),
        ("shutil.rmtree", (str(tmp_path),)),
    ]
    for event, arguments in refused:
        with pytest.raises(PermissionError):
            guard(event, arguments)
    for event, arguments in [
        ("open", (str(inside / "x"), "w", write)),
        ("open", (os.devnull, "w", write)),
        ("open", (str(outside / "x"), "r", os.O_RDONLY)),
        ("open", (str(outside / "x"), "r", None)),
        ("open", (3, "w", write)),
        ("open", (None, None, 0)),
        ("os.remove", (str(inside / "x"), -1)),
        ("os.rename", (str(inside / "x"), str(inside / "y"))),
        ("os.truncate", (3, 0)),
        ("import", ("math",)),
    ]:
        guard(event, arguments)


# ------------------------------------------------------------------------------- cells and answers


@pytest.fixture
def process() -> Iterator[None]:
    """Put back what a student's process closes for ever."""
    modules, finders = dict(sys.modules), list(sys.meta_path)
    handler = signal.getsignal(signal.SIGPROF)
    reset = tracemalloc.reset_peak
    yield
    tracemalloc.reset_peak = _tracemalloc.reset_peak = reset
    sys.modules.clear()
    sys.modules.update(modules)
    sys.meta_path[:] = finders
    signal.signal(signal.SIGPROF, handler)


def run(*sources: str, limit: float = 30.0) -> tuple[dict[str, Any], dict[str, str]]:
    answers: dict[str, Any] = {}
    cells = [Cell(number, source) for number, source in enumerate(sources, start=1)]
    return answers, student._run(cells, answers, limit)


@pytest.mark.usefixtures("process")
def test_what_is_given_to_check_is_noted_whatever_check_is() -> None:
    answers, errors = run(
        "from informed.exercises import check, passed, progress\nprogress()\nassert passed('x')",
        'check = print\ncheck("ex-one", 3)',
        'check("ex-two", 1, 2)\ncheck("ex-none")',
        "import warnings\nwarnings.warn('no error')\ndisplay(1)",
    )
    assert errors == {}
    assert answers == {"ex-one": 3, "ex-two": [1, 2], "ex-none": None}


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    "name", ["informed.teaching.exercises.engine", "informed.teaching.chapters", "informed.quiz"]
)
def test_no_module_that_knows_answers_can_be_imported(name: str) -> None:
    _, errors = run(f"import {name}", "from informed.exercises import find")
    assert ("cell 1" in errors) == (name != "informed.quiz")
    assert "ImportError" in errors["cell 2"]


@pytest.mark.usefixtures("process")
def test_a_cell_that_fails_is_told_and_the_next_runs() -> None:
    answers, errors = run(
        "def f(x):\n    return 1 / x\n\nf(0)",
        'def g(:\ncheck("ex-b", g)',
        'raise SystemExit\ncheck("ex-c", 1)',
        "while True:\n    pass",
        'check("ex-d", 4)',
        limit=0.2,
    )
    assert answers == {"ex-d": 4}
    assert errors["cell 1"] == (
        "cell 1 stopped with ZeroDivisionError: division by zero (line 2: `return 1 / x`)"
    )
    assert errors["ex-b"].startswith("cell 2 is not Python")
    assert errors["ex-c"].startswith("cell 3 stopped with SystemExit (line 1")
    assert errors["cell 4"] == "cell 4 ran longer than 0.2 s"


class Untold(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError


class Odd(ZeroDivisionError):
    """A student's own error."""


def ask(answer: Any, *arguments: Any, limit: float = 30.0, measured: bool = False) -> Any:
    old = signal.signal(signal.SIGPROF, student._stop)
    try:
        return unpack(student._reply({"ex": answer}, limit, "call", "ex", arguments, measured))
    finally:
        signal.signal(signal.SIGPROF, old)


def test_calls_are_answered_by_values_and_changes() -> None:
    def spoil(X: Any) -> Any:
        X += 1
        return X.sum()

    assert ask(lambda x: x + 1, 2) == {"value": 3, "changed": None, "peak": 0}
    told = ask(spoil, np.zeros(3))
    assert told["value"] == 3
    assert np.array_equal(told["changed"][0], np.ones(3))


def test_memory_is_measured_on_demand() -> None:
    told = ask(lambda n: float(np.zeros(n).sum()), 10**6, measured=True)
    assert told["value"] == 0
    assert 8e6 <= told["peak"] < 9e6


def test_memory_that_is_hidden_is_found_or_told(monkeypatch) -> None:
    def held(n: int) -> None:
        np.zeros(n).sum()

    def switched_off(n: int) -> None:
        held(n)
        tracemalloc.stop()
        tracemalloc.start()

    def cleared(n: int) -> None:
        held(n)
        tracemalloc.clear_traces()

    for hiding in (switched_off, cleared):
        error = ask(hiding, 10**6, measured=True)["error"]
        assert error == ["RuntimeError", "the measurement of memory was switched off"]
    monkeypatch.setattr(tracemalloc, "get_traced_memory", lambda: (0, 0))
    assert ask(held, 10**6, measured=True)["peak"] >= 8e6


@pytest.mark.usefixtures("process")
def test_a_cell_cannot_put_the_peak_back_nor_reach_the_marking() -> None:
    _, errors = run(
        "import tracemalloc\ntracemalloc.reset_peak()",
        "from _tracemalloc import reset_peak",
        "import informed.teaching.grading.student",
    )
    assert "AttributeError" in errors["cell 1"]
    assert "ImportError" in errors["cell 2"]
    assert "closed while marking" in errors["cell 3"]


def test_errors_of_a_students_function_come_over_by_name_and_text() -> None:
    def raising(error: BaseException) -> Any:
        def f() -> None:
            raise error

        return f

    assert ask(raising(Odd("own words")))["error"] == ["ZeroDivisionError", "own words"]
    assert ask(raising(Untold()))["error"] == ["Exception", ""]
    assert ask(raising(SystemExit(3)))["error"][0] == "SystemExit"
    assert ask(17)["error"][0] == "TypeError"

    def endless() -> None:
        while True:
            with suppress(Exception):
                pass

    assert ask(endless, limit=0.2)["error"] == ["TimeoutError", "it ran longer than 0.2 s"]


# ------------------------------------------------------------------------------- the whole process


@pytest.mark.usefixtures("process")
def test_a_process_lives_until_it_is_told_to_stop(monkeypatch, tmp_path) -> None:
    """All but the acts without return: those are noted in their place."""
    acts: list[str] = []
    closed: list[tuple[int, int]] = []
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("MPLCONFIGDIR", "")
    for name in ("setsid", "dup2"):
        monkeypatch.setattr(student.os, name, lambda *_, name=name: acts.append(name))
    monkeypatch.setattr(student.os, "closerange", lambda *ends: closed.append(ends))

    def enclosed(folder: Path, **_: object) -> list[str]:
        acts.append("enclose")
        return [f"writes only to {folder.name}"]

    def leave(status: int) -> None:
        acts.append(f"exit {status}")
        raise SystemExit(status)

    monkeypatch.setattr(student, "enclose", enclosed)
    monkeypatch.setattr(student.os, "_exit", leave)
    ours, theirs = Pipe()
    told: list[Any] = []

    def grader() -> None:
        told.append(unpack(ours.recv_bytes()))
        for request in (("value", "ex-a"), ("call", "ex-b", (2,)), ("value", "ex-no"), ("stop",)):
            ours.send(request)
            if request[0] != "stop":
                told.append(unpack(ours.recv_bytes()))

    asking = threading.Thread(target=grader)
    asking.start()
    cells = [
        Cell(1, 'check("ex-a", 5)'),
        Cell(2, 'check("ex-b", lambda x: x**3)'),
        Cell(3, "1 / 0"),
    ]
    with pytest.raises(SystemExit):
        student.live(
            theirs, cells, tmp_path, memory=GB, seconds=9, cell_seconds=9, call_seconds=9, hidden=[]
        )
    asking.join()
    started, value, called, missing = told
    assert started["given"] == ["ex-a", "ex-b"]
    assert started["walls"] == [f"writes only to {tmp_path.name}"]
    assert list(started["errors"]) == ["cell 3"]
    assert value == {"value": 5}
    assert called["value"] == 8
    assert missing["error"][0] == "KeyError"
    assert acts == ["setsid", "dup2", "dup2", "dup2", "enclose", "exit 0"]
    assert os.environ["HOME"] == str(tmp_path)
    # Every other handle of the grader is closed before a cell runs.
    assert closed == [(3, theirs.fileno()), (theirs.fileno() + 1, 1024)]


def test_a_process_that_cannot_be_enclosed_runs_no_cell(monkeypatch, tmp_path) -> None:
    def leave(status: int) -> None:
        raise SystemExit(status)

    def no_walls(*_: object, **__: object) -> list[str]:
        raise OSError("no walls here")

    for name in ("setsid", "dup2", "closerange"):
        monkeypatch.setattr(student.os, name, lambda *_: None)
    monkeypatch.setattr(student, "enclose", no_walls)
    monkeypatch.setattr(student.os, "_exit", leave)
    monkeypatch.setattr(student, "_run", lambda *_: pytest.fail("a cell ran"))
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("MPLCONFIGDIR", "")
    ours, theirs = Pipe()
    with pytest.raises(SystemExit) as left:
        student.live(
            theirs, [], tmp_path, memory=GB, seconds=9, cell_seconds=9, call_seconds=9, hidden=[]
        )
    assert left.value.code == 1
    ours.close()
