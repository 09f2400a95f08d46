"""The package as a whole: order of imports, weight of ``import informed``, names, examples."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from architecture import LEFT, NAMES, ORDER, TOP, imported, modules, part_of, picture

import informed
from informed.teaching.exercises import registry

PACKAGE = Path(informed.__file__).parent

# Where a dependency that not everybody needs may be named.
HOMES = {
    "matplotlib": {"studies.plots", "teaching.explorer", "studies.cli"},
    "ipywidgets": {"teaching.explorer"},
    "lifelines": {"survival"},
}

HEAVY = ("matplotlib", "pandas", "ipywidgets", "lifelines")


def wrong_ways(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """Imports from the right of a module's own place."""
    allowed = ORDER[: ORDER.index(part_of(module)) + 1]
    return [
        name
        for name in imported(source, module, is_package=is_package)
        if name.split(".")[0] == "informed" and part_of(name) not in allowed
    ]


MODULES = modules()
INNER = [name for name in MODULES if name != "informed"]
# The modules of checks refuse to be imported: tests/test_checking.py holds that.
CHECKS = [
    name for name in INNER if re.fullmatch(r"informed\.teaching\.chapters\.\w+\.exercises", name)
]
IMPORTABLE = [name for name in INNER if name not in {"informed.__main__", *CHECKS}]


def test_the_picture_of_the_book_is_drawn_from_these_sources():
    drawn = picture()
    dots = re.findall(r'<circle cx="(\d+)" cy="(\d+)"', drawn)
    assert len(dots) > 50
    # A row below the diagonal is a part that knows only what is above it.
    assert all(int(x) - LEFT < int(y) - TOP for x, y in dots)
    assert all(f">informed.{part}</text>" in drawn for part in ORDER)
    assert "1 module(s) of experiments import studies.experiments" in drawn


def test_names_that_the_package_hands_out_have_one_home():
    assert informed._HOMES == NAMES


def test_every_module_has_its_place():
    assert {part_of(name) for name in INNER} == set(ORDER)


@pytest.mark.parametrize("module", INNER)
def test_imports_point_to_the_left(module):
    path = MODULES[module]
    is_package = path.name == "__init__.py"
    assert wrong_ways(path.read_text("utf-8"), module, is_package=is_package) == []


@pytest.mark.parametrize(
    ("source", "module", "is_package", "expected"),
    [
        ("import informed.plots", "informed.groups", False, ["informed.plots"]),
        ("def f():\n    import informed.quiz as q", "informed.gap", False, ["informed.quiz"]),
        ("from informed.gap import x", "informed.metrics.local_metric", False, ["informed.gap"]),
        ("from informed import groups", "informed.diffusion", False, ["informed.groups"]),
        ("from informed import DiffusionMap", "informed.metrics", True, ["informed.diffusion"]),
        ("from ..gap import x", "informed.metrics.local_metric", False, ["informed.gap"]),
        ("from .. import gap", "informed.metrics", True, ["informed.gap"]),
        ("from ..gap import x", "informed.metrics.deep", True, []),
        ("from . import model", "informed.metrics", True, []),
        ("from informed.metrics import model", "informed.metrics.local_metric", False, []),
        ("import numpy\nfrom informed.clusters import x", "informed.directions", False, []),
    ],
)
def test_wrong_ways_are_seen(source, module, is_package, expected):
    assert wrong_ways(source, module, is_package=is_package) == expected


@pytest.mark.parametrize("module", INNER)
def test_special_dependencies_stay_at_home(module):
    path = MODULES[module]
    names = imported(path.read_text("utf-8"), module, is_package=path.name == "__init__.py")
    roots = {name.split(".")[0] for name in names}
    assert [d for d, homes in HOMES.items() if d in roots and part_of(module) not in homes] == []


# ------------------------------------------------------------------------------------------ weight


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)


def test_import_informed_is_light():
    shown = run("-X", "importtime", "-c", "import informed").stderr
    names = {line.rpartition("|")[2].strip() for line in shown.splitlines()}
    assert "informed" in names
    assert not {name for name in names if name.split(".")[0] in HEAVY}
    # Names of the package are found without loading what they stand for.
    script = "import informed, sys; dir(informed); print(*sys.modules)"
    loaded = set(run("-c", script).stdout.split())
    assert "informed" in loaded
    assert not {name for name in loaded if name.split(".")[0] in (*HEAVY, "sklearn", "scipy")}


def test_the_metrics_need_no_figures_widgets_or_survival():
    script = """
        import sys
        from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis
        from informed import clusters, datasets, directions, groups
        InformedMahalanobis(1).fit([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
        print(*sys.modules)
    """
    loaded = set(run("-c", textwrap.dedent(script)).stdout.split())
    assert "informed.metrics" in loaded
    assert not {
        name for name in loaded if name.split(".")[0] in ("matplotlib", "ipywidgets", "lifelines")
    }


# ------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", informed.__all__)
def test_public_names_resolve(name):
    value = getattr(informed, name)
    assert name in dir(informed)
    assert name in (value.__name__, value.__name__.rpartition(".")[2])


def test_star_import_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from informed import *", names)
    assert set(informed.__all__) <= set(names)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'informed' has no attribute 'nothing'"):
        informed.nothing  # noqa: B018
    assert all(hasattr(informed, name) for name in dir(informed))


@pytest.mark.parametrize("module", IMPORTABLE)
def test_names_in_all_exist_and_are_documented(module):
    loaded = importlib.import_module(module)
    for name in getattr(loaded, "__all__", []):
        value = getattr(loaded, name)
        assert value.__doc__, name


def test_version_is_that_of_the_project():
    settings = PACKAGE.parent / "pyproject.toml"
    project = tomllib.loads(settings.read_text("utf-8"))["project"]
    assert project["version"] == informed.__version__


# ---------------------------------------------------------------------------------------- examples


def test_no_module_is_left_out():
    walked = {found.name for found in pkgutil.walk_packages(informed.__path__, "informed.")}
    assert walked == set(INNER)


@pytest.mark.parametrize("module", IMPORTABLE)
def test_examples_in_docstrings(module, monkeypatch):
    # An example may register a check of its own, which no other test must meet. Those of the
    # chapters are loaded before: in a copy, they would be lost for the tests that follow.
    registry.names()
    for known in ("_ATTEMPTS", "_SEALS"):
        monkeypatch.setattr(registry, known, dict(getattr(registry, known)))
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", ["InformedMahalanobis", "LocalInformedMahalanobis", "DiffusionMap"]
)
def test_estimators_have_examples(name):
    examples = doctest.DocTestFinder(recurse=False).find(getattr(informed, name))
    assert sum(len(test.examples) for test in examples) >= 2


def test_the_example_of_the_readme_runs_when_pasted(capsys: pytest.CaptureFixture[str]) -> None:
    text = (PACKAGE.parent / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    label, _, value = capsys.readouterr().out.strip().rpartition(" ")
    assert label == "correlation with the hidden distance:"
    assert float(value) > 0.98
