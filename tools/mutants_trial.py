"""Plant one small error and run tests, in a process of its own, until one of them notices.

Two ways. Most errors are inside of a function: all tests are collected once, and for each error the
process forks, and the child gives the function its wrong code (`Planter`). So a trial costs no more
than its tests. What lies outside of functions, or is read or run by another process, is planted in
a copy of the package that comes first on the path (`Copy`). The package itself is never changed.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from mutants_choice import CHECKS, ROOT, WORK, digest, file_of
from mutants_process import (
    BUDGET,
    TOO_SLOW,
    computed_by_children,
    enter_child,
    prepare,
    wait,
)
from mutations import Mutant

# So many cases of a test come before the other tests that are as near; so many tests run in a copy.
AT_FIRST = 3
MOST = 25
TRUSTED = WORK / "trusted.json"
# Exit codes of pytest.
PASSED, FAILED, BROKEN = 0, 1, 3
# Without what others have installed: plugins for notebooks, browsers and more only cost time.
PLUGINS = ("-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider")
OPTIONS = (
    "-q",
    "--no-header",
    "--tb=native",
    "--hypothesis-seed=0",
    "-c",
    f"{ROOT}/pyproject.toml",
)


COMMAND = [sys.executable, "-m", "pytest", *PLUGINS, *OPTIONS]


@dataclass(frozen=True)
class Trial:
    """A mutant, and the tests that may notice it, near ones first, with their distances."""

    mutant: Mutant
    tests: list[tuple[int, str]]


@dataclass(frozen=True)
class Ending:
    """How a trial ended: by which test it was noticed, if at all, and how much it computed."""

    noticed_by: str | None
    tried: list[str]
    seconds: float


Done = Callable[[Trial, Ending | None], None]


# What a child does.


class TooSlow(BaseException):
    """A test computes for too long: it is stuck, or too slow to be run on mutants.

    No Exception: Hypothesis would look for a smaller example that is as slow.
    """


class Watch:
    """A plugin for pytest: tells what is tried and what failed, and stops when the budget is spent.

    Time of this process, not of the clock, which goes on while others use the machine.
    """

    def __init__(self) -> None:
        self.failed = False

    @property
    def spent(self) -> bool:
        """Whether nothing more is to be tried."""
        return self.failed or time.process_time() - self._begin > BUDGET

    def start(self) -> None:
        """Begin to count."""
        self._begin = time.process_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Say that a test begins, and give it its time."""
        os.write(1, f"\nTRIED {item.nodeid}\n".encode())
        signal.signal(signal.SIGVTALRM, _stop_slow_test)
        signal.setitimer(signal.ITIMER_VIRTUAL, TOO_SLOW)
        result = yield
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        if self.spent:
            item.session.shouldstop = "enough"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say that a test failed."""
        if report.failed:
            os.write(1, f"\nFAILED {report.nodeid}\n".encode())
            self.failed = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Say that a file of tests cannot even be imported."""
        if report.failed:
            os.write(1, f"\nFAILED {report.nodeid}\n".encode())
            self.failed = True


def _stop_slow_test(number: int, frame: object) -> None:
    raise TooSlow(f"more than {TOO_SLOW} s")


def read_log(log: Path) -> tuple[list[str], bool]:
    """Return the tests that a child tried, the last one last, and whether that one failed."""
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    tried = [line.removeprefix("TRIED ") for line in lines if line.startswith("TRIED ")]
    return tried, any(line.startswith("FAILED ") for line in lines)


# Tests that can be trusted.


class Trusted:
    """Which tests pass on right code, and in time: only these can notice anything.

    Asked only about a test that seems to have noticed something. The answers are kept, until the
    file of the test changes.
    """

    def __init__(self, run_alone: Callable[[str], bool]) -> None:
        self._run_alone = run_alone

    def __call__(self, test: str) -> bool:
        """Whether a test is trusted; if that is not known, try."""
        known = self._known()
        key = f"{test} {digest([ROOT / file_of(test)])}"
        if key not in known:
            known[key] = self._run_alone(test)
            TRUSTED.write_text(json.dumps(known, indent=0), encoding="utf-8")
        return known[key]

    def refuses(self, test: str) -> bool:
        """Whether a test is known not to be trusted."""
        key = f"{test} {digest([ROOT / file_of(test)])}"
        return not self._known().get(key, True)

    @staticmethod
    def _known() -> dict[str, bool]:
        if not TRUSTED.exists():
            return {}
        known: dict[str, bool] = json.loads(TRUSTED.read_text(encoding="utf-8"))
        return known


def try_until_sure(
    attempt: Callable[[list[str]], tuple[list[str], bool]], tests: list[str], trusted: Trusted
) -> tuple[str | None, list[str]]:
    """Attempt tests until one fails that does not fail on right code; return it, and all tried."""
    left = [test for test in tests if not trusted.refuses(test)]
    tried: list[str] = []
    begin = computed_by_children()
    while left and computed_by_children() - begin < 2 * BUDGET:
        begun, failed = attempt(left)
        tried += begun
        if not failed:
            break
        if not begun:
            return "import", tried
        if trusted(begun[-1]):
            return begun[-1], tried
        done = {*begun, begun[-1].partition("[")[0]}
        left = [test for test in left if test not in done]
    return None, tried


# In one session, by forks.


class Planter:
    """A plugin for pytest that, in the place of running the tests, tries mutants on them."""

    def __init__(self, trials: list[Trial], log: Path, done: Done, watch: Watch) -> None:
        self._trials, self._log, self._done, self._watch = trials, log, done, watch

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each mutant in a fork of the process that has collected the tests."""
        items = {item.nodeid: item for item in session.items}
        functions = functions_of_the_library()
        gc.freeze()
        trusted = Trusted(lambda test: not self._fork([items[test]], lambda: True)[1])
        for trial in self._trials:
            if not target_of(trial.mutant, functions):
                self._done(trial, None)
                continue
            begin = computed_by_children()
            by, tried = try_until_sure(
                lambda tests, mutant=trial.mutant: self._fork(  # type: ignore[misc]
                    [items[test] for test in tests], lambda: plant(mutant, functions)
                ),
                in_order(trial.tests, list(items)),
                trusted,
            )
            seconds = round(computed_by_children() - begin, 1)
            # Some functions cannot get other code: without super() a method needs no closure.
            planted = by != "import"
            self._done(trial, Ending(by, tried, seconds) if planted else None)
        return True

    def _fork(
        self, items: list[pytest.Item], prepare_child: Callable[[], bool]
    ) -> tuple[list[str], bool]:
        """Run tests in a child; return those that were begun, and whether the last one failed."""
        process = os.fork()
        if not process:
            code = BROKEN
            try:
                enter_child(self._log)
                if not prepare_child():
                    raise LookupError("no such function")
                self._watch.start()
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if self._watch.spent:
                        break
                code = FAILED if self._watch.failed else PASSED
            except BaseException as error:  # such as SystemExit, raised by a mutant
                os.write(1, f"{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(code)
        code_or_none = wait(process)
        tried, _ = read_log(self._log)
        return tried, code_or_none != PASSED


def in_order(chosen: list[tuple[int, str]], nodes: list[str]) -> list[str]:
    """Return the collected tests of those that were chosen, near ones first.

    Of a test with many cases, some at first and the others after the other tests that are as near.

    >>> in_order([(0, "f::a"), (0, "f::b")], ["f::a[1]", "f::a[2]", "f::a[3]", "f::a[4]", "f::b"])
    ['f::a[1]', 'f::a[2]', 'f::a[3]', 'f::b', 'f::a[4]']
    """
    cases: dict[str, list[str]] = {}
    for node in nodes:
        test, _, case = node.partition("[")
        cases.setdefault(test, []).append(node)
        if case:
            cases.setdefault(node, []).append(node)
        if case.startswith("ex-"):
            # By label, which may be the beginning of a longer name of a case.
            for label in {case.strip("]"), case.strip("]").rpartition("-")[0]}:
                cases.setdefault(f"{CHECKS}[{label}]", []).append(node)
    found = [
        (distance, number >= AT_FIRST, node)
        for distance, test in chosen
        for number, node in enumerate(cases.get(test, []))
    ]
    return list(dict.fromkeys(node for *_, node in sorted(found, key=lambda each: each[:2])))


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


def target_of(mutant: Mutant, functions: Functions) -> list[FunctionType]:
    """Return the function that is to get the wrong code, as often as it is there."""
    name, line = mutant.outermost
    return functions.get((str(ROOT / mutant.file), name, line), [])


def plant(mutant: Mutant, functions: Functions) -> bool:
    """Give a function its wrong code; return False if there is no such function."""
    path = ROOT / mutant.file
    name, line = mutant.outermost
    targets = target_of(mutant, functions)
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
    prepare(ROOT)
    files = sorted({file_of(test) for trial in trials for _, test in trial.tests})
    watch = Watch()
    # Without capturing: a child writes to its log. Fixtures that capture still do.
    code = pytest.main(
        ["-s", *PLUGINS, *OPTIONS, *files], plugins=[Planter(trials, log, done, watch), watch]
    )
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
        begin = computed_by_children()
        right = (ROOT / trial.mutant.file).read_bytes()
        wrong = trial.mutant.planted_in(right)

        def run_alone(test: str) -> bool:
            self._write(trial.mutant.file, right)
            passed = not self._fork([test])[1]
            self._write(trial.mutant.file, wrong)
            return passed

        self._write(trial.mutant.file, wrong)
        try:
            tests = [test for _, test in trial.tests]
            by, tried = try_until_sure(self._fork, tests, Trusted(run_alone))
        finally:
            self._write(trial.mutant.file, right)
        return Ending(by, tried, round(computed_by_children() - begin, 1))

    def _write(self, file: str, source: bytes) -> None:
        path = self.folder / file
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()
        path.write_bytes(source)

    def _fork(self, tests: list[str]) -> tuple[list[str], bool]:
        """Run tests against the copy; return those begun, and whether the last one failed."""
        log = self.folder / "log"
        process = os.fork()
        if not process:
            code = BROKEN
            try:
                enter_child(log)
                prepare(self.folder)
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
                watch = Watch()
                watch.start()
                # Some are enough to begin with: each file of tests costs its imports.
                ended = pytest.main(["-s", *PLUGINS, *OPTIONS, *tests[:MOST]], plugins=[watch])
                code = FAILED if watch.failed or ended not in (PASSED, 2, 5) else PASSED
            finally:
                os._exit(code)
        code_or_none = wait(process)
        return read_log(log)[0], code_or_none != PASSED


def warm_up() -> None:
    """Import what every test needs, so that a child has it at once. Not the library itself."""
    import hypothesis
    import joblib  # noqa: F401
    import pandas  # noqa: F401
    import scipy.optimize
    import scipy.sparse.linalg
    import scipy.stats  # noqa: F401
    import sklearn.cluster
    import sklearn.covariance
    import sklearn.decomposition
    import sklearn.manifold
    import sklearn.neighbors  # noqa: F401

    # A failure is enough; the smallest one is not asked for.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")
    assert "informed" not in sys.modules
