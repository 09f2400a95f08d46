"""Which unit test runs which line of the library, and how long it takes: measured, with coverage.

For `mutate.py`, which runs only the tests that can notice a change. What was measured is kept in
``_build/mutants/baseline`` until the tests, or the modules that they run, change.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from functools import cache
from pathlib import Path

import pytest
from mutations import Mutant

# Another project may be named, with a package and tests of the same names; its own tests do so.
ROOT = Path(os.environ.get("MUTANTS_ROOT", Path(__file__).resolve().parent.parent))
WORK = ROOT / "_build" / "mutants"
BASELINE = WORK / "baseline"
# Not tests of the library: of the book, the site, a browser, an installed package, of other tests;
# and test_dask, which starts a cluster for each test.
NOT_UNIT = (
    "test_book",
    "test_site*",
    "test_*browser*",
    "test_computed*",
    "test_playground",
    "test_course",
    "test_slides",
    "test_assignments",
    "test_previews",
    "test_finished_pages",
    "test_notation",
    "test_plots",
    "test_explorer*",
    "test_package",
    "test_planted_errors",
    "test_mutate",
    "test_tools",
    "test_wheel",
    "test_core_only",
    "test_walk",
    "test_dask",
)
# Examples in docstrings need no measuring: they are those of the module.
EXAMPLES = "tests/test_package.py"
# And defaults are seen from outside.
SIGNATURES = "test_defaults"
# Seconds of tests, by the baseline, that one mutant may cost; the quick tests come first.
BUDGET = 10.0


def environment(first: Path) -> dict[str, str]:
    """Return an environment in which the package of a folder is found first."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))
    }
    return kept | {
        "PYTHONPATH": str(first),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(WORK / "hypothesis"),
        "INFORMED_PROGRESS": "off",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
    }


class Times:
    """A plugin for pytest that notes how long each test computed, and which did not pass.

    Time of this process, not of the clock, which goes on while others use the machine.
    """

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self.not_passed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note how long setting up, running and tearing down took."""
        begin = time.process_time()
        result = yield
        self.times[item.nodeid] = round(time.process_time() - begin, 4)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what did not pass on right code: it can notice nothing."""
        if report.outcome != "passed":
            self.not_passed.add(report.nodeid)


def measure(names: list[str]) -> None:
    """Run files of tests under coverage (in this process), and keep what the choice needs."""
    database = BASELINE / "coverage"
    times = Times()
    os.environ["COVERAGE_FILE"] = str(database)
    pytest.main(
        [
            "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0",
            "--cov=informed", "--cov-context=test", "--cov-report=",
            *(f"tests/{name}.py" for name in names),
        ],
        plugins=[times],
    )  # fmt: skip
    lines = lines_run(database)
    for name in names:
        own = f"tests/{name}.py::"
        found = {
            "times": {test: t for test, t in times.times.items() if test.startswith(own)},
            "left": sorted(test for test in times.not_passed if test.startswith(own)),
            "lines": lines.get(f"tests/{name}.py", {}),
        }
        files = [ROOT / "tests" / f"{name}.py", *(ROOT / file for file in found["lines"])]
        found["digest"] = digest(files)
        (BASELINE / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def lines_run(database: Path) -> dict[str, dict[str, dict[int, list[str]]]]:
    """Return, for each file of tests, which of them run which line of which module."""
    from coverage import CoverageData

    data = CoverageData(str(database))
    data.read()
    found: dict[str, dict[str, dict[int, list[str]]]] = {}
    for path in data.measured_files():
        file = Path(path).relative_to(ROOT).as_posix()
        for line, contexts in data.contexts_by_lineno(path).items():
            for context in sorted(set(contexts) - {""}):
                lines = found.setdefault(context.partition("::")[0], {}).setdefault(file, {})
                lines.setdefault(line, []).append(context)
    return found


def digest(paths: Iterable[Path]) -> str:
    """Return a number that changes with the contents of the files."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes() if path.exists() else b"")
    return total.hexdigest()[:16]


class Baseline:
    """Which tests run a line, quick ones first."""

    def __init__(self, names: list[str]) -> None:
        stale = [name for name in names if not is_current(name)]
        BASELINE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(Path(__file__).with_name("mutate.py")), "--measure"]
        # Some at a time, so that not all is lost if it is stopped.
        for some in (stale[i : i + 8] for i in range(0, len(stale), 8)):
            print(f"measuring which test runs which line: {', '.join(some)}", flush=True)
            with (BASELINE / "log").open("wb") as log:
                subprocess.run(
                    [*command, *some],
                    cwd=ROOT, env=environment(ROOT), stdout=log, stderr=log, check=True,
                )  # fmt: skip
        self.times: dict[str, dict[str, float]] = {}
        self._lines: dict[str, dict[str, dict[int, list[str]]]] = {}
        for name in names:
            found = json.loads((BASELINE / f"{name}.json").read_text(encoding="utf-8"))
            left = set(found["left"])
            self.times[name] = {k: v for k, v in found["times"].items() if k not in left}
            self._lines[name] = {
                file: {int(line): tests for line, tests in lines.items()}
                for file, lines in found["lines"].items()
            }

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that may notice a change, file by file, within the budget."""
        chosen: list[tuple[float, list[str]]] = []
        for name, files in self._lines.items():
            lines = files.get(mutant.file, {})
            if mutant.function:
                lines = {n: t for n, t in lines.items() if mutant.line <= n <= mutant.last_line}
            contexts = {context for tests in lines.values() for context in tests}
            if not contexts:
                continue
            times = self.times[name]
            hit = {context.rpartition("|")[0] for context in contexts}
            if any(c.endswith("setup") for c in contexts) or shares_results(name):
                # What was computed once is looked at by the other tests of the file.
                hit = set(times)
            tests = [test for test in times if test in hit]
            if tests:
                chosen.append((sum(times[test] for test in tests), tests))
        chosen.sort()
        every = {test: took for times in self.times.values() for test, took in times.items()}
        kept = within_budget(chosen, every)
        # These run no line of the function: they look at its signature.
        kept += [test for test in self.times.get(SIGNATURES, {}) if test not in kept]
        return [*kept, *examples_of(mutant.file)]

    def seconds(self, tests: list[str]) -> float:
        """Return how long tests took."""
        return sum(times.get(test, 0.0) for times in self.times.values() for test in tests)


def is_current(name: str) -> bool:
    """Whether neither the tests of a file nor the modules that they run have changed since."""
    path = BASELINE / f"{name}.json"
    if not path.exists():
        return False
    found = json.loads(path.read_text(encoding="utf-8"))
    files = [ROOT / "tests" / f"{name}.py", *(ROOT / file for file in found["lines"])]
    return bool(found["digest"] == digest(files))


def within_budget(chosen: list[tuple[float, list[str]]], times: dict[str, float]) -> list[str]:
    """Return the tests of the files in their order, without the slowest if they cost too much."""
    tests = [test for _, group in chosen for test in group]
    spent = 0.0
    kept = set()
    for test in sorted(tests, key=lambda test: times[test]):
        spent += times[test]
        if spent > BUDGET and kept:
            break
        kept.add(test)
    return [test for test in tests if test in kept]


def examples_of(file: str) -> list[str]:
    """Return the test of the examples in a module's docstrings, if it has any."""
    source = ROOT / file
    if not (ROOT / EXAMPLES).is_file() or ">>> " not in source.read_text(encoding="utf-8"):
        return []
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return [f"{EXAMPLES}::test_examples_in_docstrings[{module}]"]


@cache
def shares_results(name: str) -> bool:
    """Whether tests of a file keep results for each other: coverage names the first only."""
    text = (ROOT / "tests" / f"{name}.py").read_text(encoding="utf-8")
    return "@cache" in text or "lru_cache" in text


def unit_tests() -> list[str]:
    """Return the names of the files whose tests count."""
    names = sorted(path.stem for path in (ROOT / "tests").glob("test_*.py"))
    return [name for name in names if not any(fnmatch.fnmatch(name, no) for no in NOT_UNIT)]
