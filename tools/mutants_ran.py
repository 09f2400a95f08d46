"""Which unit tests run which functions of the library: measured once, for `mutate.py`.

Names tell which tests are about a function (`mutants_choice.py`), not whether they run it. Here
each file of tests is run once under the profiler of the standard library, and what every test ran
is kept in ``_build/mutants/ran``, until the file changes. A fixture that several tests share is run
for the first of them only, but counts for all: a child that tries one of them sets it up anew. What
runs in other threads and processes is not seen.

The first part is a plugin for pytest, and imports nothing of the tool.
"""

from __future__ import annotations

import cProfile
import json
import os
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# Where the plugin writes, a file for each file of tests, and the package whose functions count.
FOLDER, PACKAGE = "MUTANTS_RAN_FOLDER", "MUTANTS_RAN_PACKAGE"


# The plugin.


@dataclass
class Spent:
    """What some code ran, and how long it computed."""

    seconds: float = 0.0
    ran: set[str] = field(default_factory=set)

    def add(self, other: Spent) -> None:
        """Add what other code did."""
        self.seconds += other.seconds
        self.ran |= other.ran


class Recorder:
    """A plugin for pytest: writes down which functions of the package each test ran."""

    def __init__(self, package: str, folder: Path) -> None:
        self._package, self._folder = package, folder
        self._profile: cProfile.Profile | None = None
        self._tests: dict[str, Spent] = {}
        self._fixtures: dict[tuple[str, str], Spent] = {}
        self._needed: dict[str, list[str]] = {}

    @contextmanager
    def _watched(self) -> Iterator[Spent]:
        """Watch what is run inside of the block, but for what an inner one watches."""
        outer, mine, spent = self._profile, cProfile.Profile(builtins=False), Spent()
        if outer:
            outer.disable()
        begin = time.process_time()
        self._profile = mine
        mine.enable()
        try:
            yield spent
        finally:
            mine.disable()
            spent.add(Spent(time.process_time() - begin, set(self._functions_in(mine))))
            self._profile = outer
            if outer:
                outer.enable()

    def _functions_in(self, profile: cProfile.Profile) -> Iterator[str]:
        for entry in profile.getstats():
            code: Any = entry.code
            if not isinstance(code, str) and code.co_filename.startswith(self._package):
                file = Path(code.co_filename).relative_to(Path(self._package).parent)
                yield f"{file.as_posix()}::{code.co_qualname}"

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Watch a fixture, which is another test's, too."""
        with self._watched() as spent:
            result = yield
        self._fixtures.setdefault((fixturedef.baseid, fixturedef.argname), Spent()).add(spent)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch a test."""
        with self._watched() as spent:
            result = yield
        self._tests[item.nodeid] = spent
        self._needed[item.nodeid] = list(getattr(item, "fixturenames", []))
        return result

    def pytest_sessionfinish(self) -> None:
        """Write what each test ran, with its fixtures."""
        for test, spent in self._tests.items():
            for (base, name), fixture in self._fixtures.items():
                if name in self._needed[test] and test.startswith(base):
                    spent.add(fixture)
        told: dict[str, dict[str, Any]] = {}
        for test, spent in self._tests.items():
            of_file = told.setdefault(Path(test.partition("::")[0]).stem, {})
            of_file[test] = [round(spent.seconds, 3), sorted(spent.ran)]
        for name, tests in told.items():
            text = json.dumps(tests)
            (self._folder / f"{name}.json").write_text(text, encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record, if this run is to be recorded."""
    if FOLDER in os.environ:
        recorder = Recorder(os.environ[PACKAGE] + os.sep, Path(os.environ[FOLDER]))
        config.pluginmanager.register(recorder)


# The reader.


class Ran:
    """Which tests ran a function, and how long they took."""

    def __init__(self, folder: Path) -> None:
        self._tests_of: dict[str, dict[str, float]] = {}
        for path in sorted(folder.glob("*.json")):
            for test, (seconds, functions) in json.loads(path.read_text("utf-8")).items():
                for function in functions:
                    self._tests_of.setdefault(function, {})[test] = seconds

    def tests_of(self, file: str, function: str) -> dict[str, float]:
        """Return the tests that ran a function, or a function inside of it, with their seconds."""
        inner = f"{file}::{function}.<locals>."
        found = dict(self._tests_of.get(f"{file}::{function}", {}))
        for name, tests in self._tests_of.items():
            if name.startswith(inner):
                found |= tests
        return found


def order(
    named: list[tuple[int, str]], ran: dict[str, float], too_slow: float
) -> list[tuple[int, str]]:
    """Return tests in the order in which they are tried, each with its place.

    First the one case of a test that is about the changed place, then what ran the function, near
    ones before far ones and quick ones before slow ones; last what names it and was not seen to run
    it.

    >>> named = [(0, "f::all"), (0, "f::examples[m]"), (1, "f::near"), (4, "f::far")]
    >>> order(named, {"f::far": 0.1, "f::near[2]": 0.2, "f::near[1]": 0.3, "f::odd": 9.0}, 5.0)
    [(0, 'f::examples[m]'), (1, 'f::near[2]'), (2, 'f::near[1]'), (3, 'f::far'), (4, 'f::all')]
    """
    distances = {test: distance for distance, test in reversed(named)}
    far = 1 + max(distances.values(), default=0)
    about = [test for distance, test in named if distance < 2 and test.endswith("]")]

    def place(test: str) -> tuple[int, float]:
        return distances.get(test.partition("[")[0], far) // 2, ran[test]

    seen = sorted((test for test in ran if ran[test] <= too_slow), key=place)
    functions = {test.partition("[")[0] for test in ran}
    unseen = [test for _, test in named if test not in functions]
    return list(enumerate(dict.fromkeys([*about, *seen, *unseen])))


def measure(
    root: Path,
    folder: Path,
    names: list[str],
    command: list[str],
    environment: dict[str, str],
    jobs: int,
) -> Ran:
    """Run the files of tests that have changed since they were measured; return what ran what."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [root / "tests" / f"{name}.py" for name in names]
    new = [each for each in files if _is_new(each, folder / f"{each.stem}.json")]
    environment = environment | {
        "PYTHONPATH": os.pathsep.join([str(root), str(Path(__file__).parent)]),
        FOLDER: str(folder),
        PACKAGE: str(root / "informed"),
    }
    runs = [
        subprocess.Popen(
            [*command, "-p", "mutants_ran", *map(str, part)],
            cwd=root,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        for part in (new[k::jobs] for k in range(jobs))
        if part
    ]
    if runs:
        print(f"looking what the tests of {len(new)} files run", flush=True)
    for run in runs:
        run.wait()
    return Ran(folder)


def _is_new(test: Path, kept: Path) -> bool:
    return not kept.exists() or kept.stat().st_mtime < test.stat().st_mtime
