"""The way of the data through the package: short, and without detours."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import informed
from informed import InformedMahalanobis
from informed.studies.cli import main

PAGE = ROOT / "book" / "architecture.md"
PACKAGE = str(Path(informed.__file__).parent) + os.sep
# What House asked for, on the command line and in a cell of a notebook alike.
FEWER_CALLS, FEWER_CHANGES = 40, 12


def walk(go: Callable[[], object]) -> list[tuple[str, str]]:
    """Module and name of every function of the package that is called on the way, in order."""
    calls = []

    def note(frame, event, _):
        code = frame.f_code
        # Comprehensions and generators are steps of a function, not calls of another.
        named = not code.co_name.startswith("<")
        if event == "call" and named and code.co_filename.startswith(PACKAGE):
            calls.append((code.co_filename.removeprefix(PACKAGE), code.co_name))

    go()  # The first time modules are imported on the way.
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        go()
    finally:
        sys.setprofile(before)
    return calls


def changes_of(calls: list[tuple[str, str]]) -> int:
    """How often the next call is in another file."""
    return len(files_of(calls)) - 1


def files_of(calls: list[tuple[str, str]]) -> list[str]:
    """The files in the order in which they are entered, each once for calls in a row."""
    return [module for module, _ in groupby(module for module, _ in calls)]


METRIC = [
    "metrics/global_metric.py",
    "validation.py",
    "metrics/model.py",
    "centering.py",
    "clusters/clusterers.py",
    "clusters/features.py",
    "metrics/model.py",
    "directions/solvers.py",
]


@pytest.mark.parametrize("n_features", [6, 60])
def test_distances_walk_a_straight_corridor(n_features, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, n_features))
    header = ",".join(f"x{i}" for i in range(n_features))
    table = tmp_path / "data.csv"
    np.savetxt(table, X, delimiter=",", header=header, comments="")
    words = ["distances", str(table), "--out", str(tmp_path / "d.npy")]
    codes = []
    calls = walk(lambda: codes.append(main(words)))
    assert codes == [0, 0]
    modules = [module for module, _ in calls]
    assert len(calls) < FEWER_CALLS
    assert changes_of(calls) < FEWER_CHANGES
    told = f"takes {len(calls)} calls of functions and {changes_of(calls)} changes of file"
    assert told in PAGE.read_text("utf-8")
    assert not [module for module in modules if "experiments" in module or "survival" in module]
    # First the command line reads, then the metric works, then the file is written: no way back.
    reading = ["commands.py", "own_data.py", "tables.py"]
    assert files_of(calls) == [
        *(f"studies/cli/{name}" for name in reading),
        *METRIC,
        "studies/files.py",
    ]


@pytest.mark.parametrize("n_features", [6, 60])
def test_a_cell_of_a_notebook_walks_the_same_way(n_features):
    X = np.random.default_rng(0).normal(size=(20, n_features))
    calls = walk(lambda: InformedMahalanobis(2, random_state=0).fit(X).pairwise_distances(X))
    assert len(calls) < FEWER_CALLS
    assert changes_of(calls) < FEWER_CHANGES
    told = f"asks for distances {len(calls)} calls and {changes_of(calls)} changes"
    assert told in PAGE.read_text("utf-8")
    assert files_of(calls) == [
        *METRIC,
        "metrics/global_metric.py",
        "validation.py",
        "centering.py",
    ]


def test_a_detour_would_be_seen():
    """A second model, and what it is compared by, are on the way when they are asked for."""
    X = np.random.default_rng(0).normal(size=(20, 60))
    short = walk(lambda: InformedMahalanobis(2, random_state=0).fit(X))
    long = walk(lambda: InformedMahalanobis(2, random_state=0).fit(X).stability_)
    assert long[: len(short)] == short
    assert ("metrics/stability.py", "coordinate_agreement") in long
    assert len(long) > len(short) + 5
