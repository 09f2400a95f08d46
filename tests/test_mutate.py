"""The tool behind ``make mutants``: what it changes, where it plants it, and what it reports."""

from __future__ import annotations

import ast
import doctest
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT

from informed.groups import bipartition

if os.name != "posix":
    pytest.skip("planting errors needs fork", allow_module_level=True)

import mutants_choice
import mutants_ran
import mutants_trial
import mutate
import mutations
from mutations import mutants_of

all_mutants = cache(mutate.all_mutants)  # it takes some seconds


@pytest.mark.parametrize("module", [mutants_choice, mutants_ran, mutants_trial, mutate, mutations])
def test_examples_of_the_tool(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("a + b", {"a - b"}),
        ("a - b", {"a + b", "a"}),
        ("a / b", {"a * b", "a"}),
        ("a < b", {"a <= b", "a >= b"}),
        ("a < b <= c", {"a <= b <= c", "a >= b <= c", "a < b < c", "a < b > c"}),
        ("a and b", {"a or b"}),
        ("-a", {"a"}),
        ("not a", {"a"}),
        ("a if b else c", {"not b"}),
        ("f(True)", {"False"}),
        ("f(0)", {"1"}),
        ("f(7)", {"8"}),
        ("f(2.5)", {"5.0"}),
        ("f(1e-09)", {"0.01"}),
        ("np.sqrt(a)", {"a"}),
        ("a.min()", {"a.max()"}),
        ("a.T", {"a"}),
        ("f(a, random_state=seed)", {"f(a, random_state=0)"}),
        ("'a' + b", set()),
        ("f'{a + 1}'", set()),
        ("isinstance(a, int | float)", set()),
        ("warn(a, stacklevel=2)", set()),
    ],
)
def test_what_may_be_wrong_with_an_expression(right: str, wrong: set[str]) -> None:
    found = mutants_of("a.py", f"x = {right}\n")
    assert {mutant.change.partition(" → ")[2] for mutant in found} == wrong
    for mutant in found:
        ast.parse(mutant.planted_in(f"x = {right}\n".encode()))


def test_statements_defaults_and_places() -> None:
    source = (
        "class A:\n    @property\n    def f(self, n=3, *, k=4) -> 'B[1]':\n"
        "        n -= 1\n        g(n)\n"
    )
    found = mutants_of("é.py", source)
    changes = [mutant.change for mutant in found]
    assert changes == ["3 → 4", "4 → 5", "n -= 1 → pass", "n -= 1 → n += 1", "1 → 0", "g(n) → pass"]
    assert {mutant.function for mutant in found} == {"A.f"}
    assert {mutant.outermost for mutant in found} == {("A.f", 2)}
    assert [(mutant.line, mutant.last_line) for mutant in found[::2]] == [(3, 5), (4, 4), (4, 4)]


def test_every_mutant_of_the_library_compiles_and_has_a_name_of_its_own() -> None:
    mutants = all_mutants()
    assert max(Counter(mutant.key for mutant in mutants).values()) == 1
    assert {mutate.room(mutant.file) for mutant in mutants} == set(mutate.ROOMS)
    for mutant in mutate.sample(mutants, 300, seed=1):
        source = (ROOT / mutant.file).read_bytes()
        wrong = mutant.planted_in(source)
        assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(source)), mutant


def test_the_sample_is_that_of_its_seed_and_every_room_has_its_share() -> None:
    mutants = all_mutants()
    drawn = mutate.sample(mutants, 100, seed=3)
    assert drawn == mutate.sample(mutants, 100, seed=3)
    assert drawn != mutate.sample(mutants, 100, seed=4)
    rooms = Counter(mutate.room(mutant.file) for mutant in drawn)
    assert rooms == {name: round(100 * share) for name, share in mutate.ROOMS.items()}
    assert not any("plots" in mutant.file for mutant in mutants)


def test_a_function_gets_its_wrong_code_and_the_file_stays_as_it_is() -> None:
    embedding = np.array([[-2.0], [-1.0], [1.0], [2.5]])
    right = bipartition(embedding)
    path = ROOT / "informed" / "groups.py"
    before = path.read_bytes()
    [mutant] = [m for m in mutants_of("informed/groups.py", before.decode()) if ">" in m.change][:1]
    code, defaults = bipartition.__code__, bipartition.__defaults__
    try:
        assert mutants_trial.plant(mutant, mutants_trial.functions_of_the_library())
        assert bipartition.__code__ != code
    finally:
        bipartition.__code__, bipartition.__defaults__ = code, defaults
    np.testing.assert_array_equal(bipartition(embedding), right)
    assert path.read_bytes() == before


def test_a_test_that_names_the_function_comes_before_one_that_names_its_caller() -> None:
    names = mutants_choice.Names(["test_gap", "test_kmeans", "test_defaults"])
    [mutant] = [m for m in all_mutants() if m.file == "informed/clusters/kmeans.py"][:1]
    chosen = names.tests_for(mutant)
    assert chosen == sorted(chosen, key=lambda each: each[0])
    files = list(dict.fromkeys(test.partition("::")[0] for _, test in chosen))
    assert files.index("tests/test_kmeans.py") < files.index("tests/test_gap.py")


def test_defaults_and_settings_are_looked_at_first() -> None:
    names = mutants_choice.Names(["test_gap", "test_defaults"])
    for mutant in all_mutants("informed/gap.py"):
        if mutant.function == "gap_statistic" and mutant.change == "20 → 21":
            assert names.tests_for(mutant)[0][1].startswith("tests/test_defaults.py::")
            break
    else:
        pytest.fail("the default is not among the mutants")


def test_a_test_that_fails_on_right_code_notices_nothing(tmp_path: Path) -> None:
    mutants_trial.TRUSTED, kept = tmp_path / "trusted.json", mutants_trial.TRUSTED
    asked: list[str] = []

    def run_alone(test: str) -> bool:
        asked.append(test)
        return test != "a::bad"

    def attempt(tests: list[str]) -> tuple[list[str], bool]:
        for place, test in enumerate(tests):
            if test in ("a::bad", "a::notices"):
                return tests[: place + 1], True
        return tests, False

    try:
        for _ in range(2):
            trusted = mutants_trial.Trusted(run_alone)
            tests = ["a::first", "a::bad", "a::other", "a::notices", "a::last"]
            by, tried = mutants_trial.try_until_sure(attempt, tests, trusted)
            assert by == "a::notices"
            assert "a::last" not in tried
            assert mutants_trial.try_until_sure(attempt, tests[:3], trusted)[0] is None
        assert asked == ["a::bad", "a::notices"]
    finally:
        mutants_trial.TRUSTED = kept


def test_every_equivalent_mutant_has_a_reason() -> None:
    for key, reason in mutate.equivalents().items():
        file, _, rest = key.partition("::")
        assert (ROOT / file).is_file(), key
        assert " → " in rest
        assert len(reason) > 10, key


MODULE = """\
LIMIT = 10


def clip(x):
    if x > LIMIT:
        return LIMIT
    return x * 2
"""
TESTS = """\
from informed.thing import clip


def test_clip():
    assert clip(3) == 6
    assert clip(11) == 10
"""


FIXTURES = """\
import pytest

from informed.thing import clip, twice


@pytest.fixture(scope="module")
def clipped():
    return clip(20)


@pytest.fixture
def calm():
    return None


def test_twice():
    assert twice(2) == 4


def test_first(clipped):
    assert clipped == 10


def test_second(clipped, calm):
    assert clipped < 11
"""


def test_what_a_fixture_runs_counts_for_every_test_that_has_it(tmp_path: Path) -> None:
    for name, text in {
        "informed/__init__.py": "",
        "informed/thing.py": f"{MODULE}\n\ndef twice(x):\n    return (lambda: 2 * x)()\n",
        "tests/test_thing.py": FIXTURES,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]

    def measured() -> mutants_ran.Ran:
        names, kept = ["test_thing"], mutants_choice.environment(tmp_path)
        return mutants_ran.measure(tmp_path, tmp_path / "ran", names, command, kept, 1)

    ran = measured()
    of_clip = ran.tests_of("informed/thing.py", "clip")
    assert [test.partition("::")[2] for test in of_clip] == ["test_first", "test_second"]
    [of_twice] = ran.tests_of("informed/thing.py", "twice")
    assert of_twice.endswith("::test_twice")
    before = (tmp_path / "ran" / "test_thing.json").stat().st_mtime_ns
    measured()
    assert (tmp_path / "ran" / "test_thing.json").stat().st_mtime_ns == before


def test_from_the_sample_to_the_table(tmp_path: Path) -> None:
    """On a project of two functions: what its one test misses is told, and stays told."""
    for name, text in {
        "informed/__init__.py": "",
        "informed/thing.py": MODULE,
        "tests/test_thing.py": TESTS,
        "tools/mutants_equivalent.toml": "",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def run() -> tuple[int, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV"))}
        done = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "mutate.py"), "--number", "20"],
            env=kept | {"MUTANTS_ROOT": str(tmp_path), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, text = run()
    assert code == 1, text
    assert "6 small errors were planted. 0 of them change no result; of the other 6" in text
    assert "noticed 5 (83.3%)" in text
    assert "| informed/thing.py:5 | `x > LIMIT → x >= LIMIT` | **not noticed**" in text
    assert (tmp_path / "informed/thing.py").read_text(encoding="utf-8") == MODULE

    (tmp_path / "tools/mutants_equivalent.toml").write_text(
        '["informed/thing.py::clip"]\n"x > LIMIT → x >= LIMIT" = "only for this test"\n'
        '"gone → away" = "was once there"\n',
        encoding="utf-8",
    )
    code, text = run()
    assert code == 0, text
    assert "1 of them change no result; of the other 5 the unit tests noticed 5" in text
    assert "survived" not in text.partition("small errors")[0]  # nothing is tried twice
    assert "names what is no longer there: informed/thing.py::clip: gone → away" in text
