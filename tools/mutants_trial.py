"""Plant one small error and run tests, in a process of its own, until one of them notices.

Two ways. Most errors are inside of a function: all tests are collected once, and for each error the
process forks, and the child gives the function its wrong code (`Planter`). So a trial costs no more
than its tests. What lies outside of functions, or is read or run by another process, is planted in
a copy of the package that comes first on the path (`Copy`). The package itself is never changed.
"""

from __future__ import annotations

import ast
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from mutants_baseline import ROOT, WORK, environment
from mutations import Mutant

MEMORY = 6 * 2**30
# Exit codes of pytest, and one of ours.
PASSED, FAILED, BROKEN, NOT_HERE = 0, 1, 3, 77
# Without what others have installed: plugins for notebooks, browsers and more only cost time.
PLUGINS = ("-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider")
SETTINGS = ("-q", "--no-header", "--hypothesis-seed=0", "-c", str(ROOT / "pyproject.toml"))


@dataclass(frozen=True)
class Trial:
    """A mutant, the tests that may notice it, and the seconds that these take on right code."""

    mutant: Mutant
    tests: list[str]
    seconds: float


@dataclass(frozen=True)
class Ending:
    """How a trial ended: an exit code (None if time was up), and what the tests wrote."""

    code: int | None
    log: str
    seconds: float


Done = Callable[[Trial, Ending], None]


# In one session, by forks.


class Planter:
    """A plugin for pytest that, in the place of running the tests, tries mutants on them."""

    def __init__(self, trials: list[Trial], log: Path, done: Done) -> None:
        self._trials, self._log, self._done = trials, log, done
        self._failed = False

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try each mutant in a fork of the process that has collected the tests."""
        items = {item.nodeid: item for item in session.items}
        functions = functions_of_the_library()
        gc.freeze()
        for trial in self._trials:
            chosen = [items[test] for test in trial.tests if test in items]
            begin = time.monotonic()
            process = os.fork()
            if not process:
                self._in_child(trial, chosen, functions)
            code = wait(process, 60 + 20 * trial.seconds)
            text = self._log.read_text(encoding="utf-8", errors="replace")
            self._done(trial, Ending(code, text, round(time.monotonic() - begin, 1)))
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember that a test failed."""
        if report.failed:
            os.write(1, f"\nFAILED {report.nodeid}\n".encode())
            self._failed = True

    def _in_child(self, trial: Trial, items: list[Any], functions: Functions) -> None:
        code = BROKEN
        try:
            enter_child(self._log, 10 + 4 * trial.seconds)
            if plant(trial.mutant, functions):
                code = PASSED
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if self._failed:
                        code = FAILED
                        break
            else:
                code = NOT_HERE
        except BaseException as error:  # such as SystemExit, raised by a mutant
            os.write(1, f"{type(error).__name__}: {error}\n".encode())
            code = FAILED if self._failed else BROKEN
        finally:
            os._exit(code)


Functions = dict[tuple[str, str, int], list[FunctionType]]


def functions_of_the_library() -> Functions:
    """Return all functions and methods of the package, by file, name and first line."""
    found: Functions = {}
    package = str(ROOT / "informed") + os.sep
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(package):
            code = each.__code__
            key = (code.co_filename, code.co_qualname, code.co_firstlineno)
            found.setdefault(key, []).append(each)
    return found


def plant(mutant: Mutant, functions: Functions) -> bool:
    """Give a function its wrong code; return False if there is no such function."""
    path = ROOT / mutant.file
    name, line = mutant.outermost
    targets = functions.get((str(path), name, line), [])
    if not targets:
        return False
    source = path.read_bytes()
    wrong = mutant.planted_in(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong program may look odd to the compiler
        code = _code_at(compile(wrong, str(path), "exec", dont_inherit=True), name, line)
    arguments = _arguments_at(wrong, line)
    other_defaults = ast.dump(arguments) != ast.dump(_arguments_at(source, line))
    for target in targets:
        target.__code__ = code
        if other_defaults:
            names = target.__globals__
            target.__defaults__ = tuple(_value(each, names) for each in arguments.defaults)
            target.__kwdefaults__ = {
                argument.arg: _value(default, names)
                for argument, default in zip(
                    arguments.kwonlyargs, arguments.kw_defaults, strict=True
                )
                if default is not None
            }
    return True


def _code_at(code: CodeType, name: str, line: int) -> CodeType:
    """Return the code of a function within the code of its module."""
    for each in _all_codes(code):
        if each.co_qualname == name and each.co_firstlineno == line:
            return each
    raise LookupError(f"no function {name} in line {line}")


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _all_codes(each)


def _arguments_at(source: bytes, line: int) -> ast.arguments:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == line:
                return node.args
    raise LookupError(f"no function in line {line}")


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "default", "eval"), names)


def try_in_session(trials: list[Trial], log: Path, done: Done) -> None:
    """Collect the tests of all trials once, and try each mutant on its own."""
    import pytest

    prepare(ROOT)
    files = sorted({test.partition("::")[0] for trial in trials for test in trial.tests})
    # Without capturing: a child writes to its log. Fixtures that capture still do.
    code = pytest.main(["-s", *PLUGINS, *SETTINGS, *files], plugins=[Planter(trials, log, done)])
    if code not in (PASSED, 5):
        raise RuntimeError(f"the tests cannot be collected: pytest ended with {code}")


# In a copy.


class Copy:
    """A copy of the package, in which one file at a time is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "informed", folder / "informed", ignore=ignored)
        # Compiled once; a file that is changed has no compiled form, and gets none.
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)

    def run(self, trial: Trial) -> Ending:
        """Plant a mutant in its file, run the tests, and put the right file back."""
        begin = time.monotonic()
        mutant = trial.mutant
        path = self.folder / mutant.file
        right = (ROOT / mutant.file).read_bytes()
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_bytes(mutant.planted_in(right))
        try:
            process = self._start(trial.tests, 15 + 4 * trial.seconds)
            code = wait(process, 120 + 20 * trial.seconds)
        finally:
            path.write_bytes(right)
        log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return Ending(code, log, round(time.monotonic() - begin, 1))

    def _start(self, tests: list[str], seconds: float) -> int:
        """Start a child that runs tests against the copy."""
        process = os.fork()
        if process:
            return process
        code = BROKEN
        try:
            enter_child(self.folder / "log", seconds)
            prepare(self.folder)
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            import pytest

            code = int(pytest.main(["-x", *PLUGINS, *SETTINGS, *tests]))
            sys.stdout.flush()
        finally:
            os._exit(code)


def warm_up() -> None:
    """Import what every test needs, so that a child has it at once. Not the library itself."""
    import joblib  # noqa: F401
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.sparse.linalg
    import scipy.stats  # noqa: F401
    import sklearn.cluster
    import sklearn.covariance
    import sklearn.decomposition
    import sklearn.manifold
    import sklearn.neighbors  # noqa: F401

    assert "informed" not in sys.modules


# Processes.


def prepare(first: Path) -> None:
    """Make this process, and what it starts, find the package of a folder first."""
    os.environ.clear()
    os.environ.update(environment(first) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    os.chdir(ROOT)
    sys.path[:] = [str(first), *(p for p in sys.path if p not in ("", str(ROOT)))]


def enter_child(log: Path, seconds: float) -> None:
    """Begin a child: a session of its own, a log, and an end to its time and memory."""
    os.setsid()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.dont_write_bytecode = True
    # Time of its own, not of the clock: another program may take the machine meanwhile.
    resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def wait(process: int, seconds: float) -> int | None:
    """Return how a child ended, or None if it had to be ended; nothing that it started stays."""
    end = time.monotonic() + seconds
    code = None
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if code is None:
        os.waitpid(process, 0)
    return code


def folder_of(worker: int) -> Path:
    """Return where a worker has its copy and its log."""
    folder = WORK / f"worker{worker}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
