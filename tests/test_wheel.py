"""The wheel that an analyst installs: what it asks for, and what is in it."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from conftest import ROOT

from informed.extras import EXTRAS

CORE = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"}
SOURCES = ["pyproject.toml", "README.md", "LICENSE", "informed"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built without network from a copy, so that the checkout stays clean."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, folder]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("informed-*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def requirements(metadata: Message, extra: str | None) -> set[str]:
    """Names that are asked for by an extra, or always."""
    found = set()
    for line in metadata.get_all("Requires-Dist") or []:
        wanted, _, condition = line.partition(";")
        for_extra = re.search(r"extra == ['\"](\w+)['\"]", condition)
        if (for_extra[1] if for_extra else None) == extra:
            found.add(re.match(r"[\w.-]+(\[[\w,]+\])?", wanted)[0])
    return found


def test_only_the_core_is_asked_for_always(metadata: Message) -> None:
    assert requirements(metadata, None) == CORE


def test_extras_are_those_that_the_hints_name(metadata: Message) -> None:
    offered = set(metadata.get_all("Provides-Extra") or [])
    assert offered >= {"all", "book", "cohorts", "dask", "data", "notebook", "plots", "survival"}
    assert "test" in offered
    for package, extra in EXTRAS.items():
        distribution = {"PIL": "pillow"}.get(package, package)
        assert distribution in requirements(metadata, extra)


def test_pandas_is_capped_only_where_lifelines_needs_it(metadata: Message) -> None:
    capped = [line for line in metadata.get_all("Requires-Dist") or [] if "pandas" in line]
    assert capped
    assert all("survival" in line or line.startswith("pandas-stubs") for line in capped)


def test_everything_of_the_package_is_in_it_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tracked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "informed").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == tracked


def test_it_has_the_command(wheel: zipfile.ZipFile) -> None:
    (name,) = [n for n in wheel.namelist() if n.endswith("entry_points.txt")]
    (words,) = re.findall(r"^informed = ([\w.]+):(\w+)$", wheel.read(name).decode(), re.M)
    assert callable(getattr(importlib.import_module(words[0]), words[1]))


def test_all_pulls_in_every_extra_that_the_library_can_use() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything)) - {"informed"} == set(EXTRAS.values())


def test_sources_are_small(wheel: zipfile.ZipFile) -> None:
    # What weighs on an analyst are dependencies, not our files.
    assert sum(file.compress_size for file in wheel.infolist()) < 1_000_000
    assert Path(wheel.filename or "").suffix == ".whl"
