"""Which unit tests may notice a small error: those that name what runs the changed function.

For `mutate.py`. A test that names the changed function itself is near, then come tests that name a
function that names it, and so on (`Names`). Names are compared, no types, so some are told that
never run the line; which tests run it is measured (`mutants_ran.py`).
"""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from mutations import Mutant

# Another project may be named, with a package and tests of the same names; its own tests do so.
ROOT = Path(os.environ.get("MUTANTS_ROOT", Path(__file__).resolve().parent.parent))
WORK = ROOT / "_build" / "mutants"
# Not tests of the library: of the book, the site, a browser, an installed package, of other tests;
# and what starts a cluster or a kernel for each test.
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
    "test_answers_tried",
    "test_colab",
    "test_downloads",
    "test_epub",
    "test_figures",
    "test_folded_answers",
    "test_plans",
    "test_typed",
)
# Examples in docstrings: those of the module.
EXAMPLES = "tests/test_package.py::test_examples_in_docstrings"
# Self-checks are tried by their label, in all tests that have it as a case; these come first.
CHECKS = "tests/test_checks_written.py::"
# Small runs of experiments, by the name of the experiment; and what they gave.
RUNS = "tests/test_small_runs.py::test_a_small_run_gives_what_it_gave"
GAVE = ROOT / "tests" / "small_runs.json"
# Defaults and fixed numbers are seen from outside.
SETTINGS = "tests/test_defaults.py::test_defaults_and_settings_are_those_that_are_written_down"
# So many steps from the changed function to a name in a test.
FAR = 5
# Names that say nothing about what is run.
COMMON = {"fit", "transform", "fit_transform", "table", "summary", "__init__", "__repr__", "main"}


def environment(first: Path) -> dict[str, str]:
    """Return an environment in which the package of a folder is found first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | {
        "PYTHONPATH": str(first),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(WORK / "hypothesis"),
        "INFORMED_PROGRESS": "off",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
    }


def digest(paths: Iterable[Path]) -> str:
    """Return a number that changes with the contents of the files."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes() if path.exists() else b"")
    return total.hexdigest()[:16]


def unit_tests() -> list[str]:
    """Return the names of the files whose tests count."""
    names = sorted(path.stem for path in (ROOT / "tests").glob("test_*.py"))
    return [name for name in names if not any(fnmatch.fnmatch(name, no) for no in NOT_UNIT)]


class Names:
    """Who names whom: functions of the library, and tests."""

    def __init__(self, names: list[str]) -> None:
        # For each name that the library mentions, the functions that mention it.
        self._mentioned_in: dict[str, set[str]] = {}
        for path in (ROOT / "informed").rglob("*.py"):
            for function, mentioned in functions_in(path):
                own = own_names(function) | labels_in(mentioned)
                for name in mentioned:
                    self._mentioned_in.setdefault(name, set()).update(own - {name})
        self._tests = {
            f"tests/{name}.py::{test}": mentioned
            for name in names
            for test, mentioned in tests_in(ROOT / "tests" / f"{name}.py")
        }

        gave = json.loads(GAVE.read_text(encoding="utf-8")) if GAVE.exists() else {}
        self._runs = set(gave)

    def tests_for(self, mutant: Mutant) -> list[tuple[int, str]]:
        """Return the tests that may notice a change, near ones first, each with its distance."""
        module = module_of(mutant.file)
        about = {module, module.rpartition(".")[0]} - {"informed"}
        near = own_names(mutant.function) - COMMON if mutant.function else set()
        if not near:
            # Outside of functions: what the changed statement names, or all that the module has.
            near = names_assigned_at(mutant) or set(dict(functions_in(ROOT / mutant.file)))
        near |= labels_in(dict(functions_in(ROOT / mutant.file)).get(mutant.function, set()))
        seen = set(near)
        found: dict[str, int] = {}
        runs: dict[str, int] = {}
        for distance in range(FAR):
            runs |= {name: 2 * distance for name in sorted(self._runs & near)}
            for test, mentioned in self._tests.items():
                if test not in found and mentioned & near:
                    # A file of tests that names the module is nearer than one that does not.
                    found[test] = 2 * distance + (not about & self.modules_of(test))
            near = {each for name in near for each in self._mentioned_in.get(name, ())}
            near -= seen | COMMON
            seen |= near
        ordered = [(found[test], test) for test in sorted(found, key=self._order(found))]
        if mutant.file.startswith("informed/studies/"):
            ordered += [(distance, f"{RUNS}[{name}]") for name, distance in runs.items()]
        ordered += [(1, f"{CHECKS}[{label}]") for label in sorted(labels_in(seen))]
        ordered.sort(key=lambda each: each[0])
        if ">>> " in (ROOT / mutant.file).read_text(encoding="utf-8"):
            ordered.insert(0, (0, f"{EXAMPLES}[{module}]"))
        if not mutant.outermost[0] or mutant.last_line - mutant.line > 5:
            # A setting, or a default: its range is the whole function.
            ordered.insert(0, (0, f"{SETTINGS}[{module}]"))
        return [each for each in ordered if (ROOT / file_of(each[1])).is_file()]

    def _order(self, found: dict[str, int]) -> Callable[[str], tuple[int, float, str]]:
        """Return by what tests are sorted: near first, then files that are about little else."""
        near = Counter(file_of(test) for test, distance in found.items() if distance < 2)
        every = Counter(map(file_of, self._tests))
        return lambda test: (
            found[test],
            -near[file_of(test)] / every[file_of(test)],
            file_of(test),
        )

    @staticmethod
    @cache
    def modules_of(test: str) -> frozenset[str]:
        """Return the modules of the library that a file of tests imports."""
        tree = ast.parse((ROOT / file_of(test)).read_text(encoding="utf-8"))
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            elif isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
        return frozenset(found)


def file_of(test: str) -> str:
    """Return the file of a test.

    >>> file_of("tests/test_gap.py::test_a[1]")
    'tests/test_gap.py'
    """
    return test.partition("::")[0]


def module_of(file: str) -> str:
    """Return the name of a module by its file.

    >>> module_of("informed/metrics/model.py"), module_of("informed/theory/__init__.py")
    ('informed.metrics.model', 'informed.theory')
    """
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def own_names(function: str) -> set[str]:
    """Return the names by which a function may be mentioned: its own, and that of its class.

    >>> sorted(own_names("DiffusionMap.fit.inner")), own_names("_kernel")
    (['DiffusionMap', 'fit', 'inner'], {'_kernel'})
    """
    return set(function.split("."))


def labels_in(names: set[str]) -> set[str]:
    """Return those names that are labels of exercises.

    >>> labels_in({"ex-gram", "gram"})
    {'ex-gram'}
    """
    return {name for name in names if name.startswith("ex-") and " " not in name}


def names_in(node: ast.AST) -> set[str]:
    """Return all names, attributes and texts that are names in a part of a program."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.add(each.value)
    return found


def functions_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield functions, methods, and classes and constants of a file, with the names in them."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, names_in(node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                name = getattr(inner, "name", "")
                yield f"{node.name}.{name}" if name else node.name, names_in(inner)
            yield node.name, {name for base in node.bases for name in names_in(base)}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, names_in(node.value)


def names_assigned_at(mutant: Mutant) -> set[str]:
    """Return the constants, or the class, that a changed statement outside of functions makes."""
    found: set[str] = set()
    for node in ast.parse((ROOT / mutant.file).read_text(encoding="utf-8")).body:
        if node.lineno <= mutant.line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {name for target in targets for name in names_in(target)}
    return found


def tests_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the tests of a file with all names in them, and in what they use of the same file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts: dict[str, set[str]] = {}
    always: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
            parts[node.name] = names_in(node) | arguments
            if "autouse" in ast.dump(node):
                always |= parts[node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in {name for target in targets for name in names_in(target)}:
                parts[name] = parts.get(name, set()) | names_in(node.value)
    for test in parts:
        if test.startswith("test_"):
            reached, found = {test}, parts[test] | always
            while new := (found & parts.keys()) - reached:
                reached |= new
                found = found.union(*(parts[name] for name in new))
            yield test, found
