"""The way of the data through the package: short, and without detours."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import informed
from informed.studies.cli import main

PACKAGE = str(Path(informed.__file__).parent) + os.sep


def walk(words: list[str]) -> list[tuple[str, str]]:
    """Module and name of every function of the package that the command line calls, in order."""
    calls = []

    def note(frame, event, _):
        code = frame.f_code
        # Comprehensions and generators are steps of a function, not calls of another.
        named = not code.co_name.startswith("<")
        if event == "call" and named and code.co_filename.startswith(PACKAGE):
            calls.append((code.co_filename.removeprefix(PACKAGE), code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert main(words) == 0
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("n_features", [6, 60])
def test_distances_walk_a_straight_corridor(n_features, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, n_features))
    header = ",".join(f"x{i}" for i in range(n_features))
    table = tmp_path / "data.csv"
    np.savetxt(table, X, delimiter=",", header=header, comments="")
    words = ["distances", str(table), "--out", str(tmp_path / "d.npy")]
    walk(words)  # The first time modules are imported on the way.
    calls = walk(words)
    modules = [module for module, _ in calls]
    # The reader that refuses to guess takes a dozen of them, the checks of the parameters another,
    # and what another seed would have said (`stability_`) a second model.
    assert len(calls) <= 86
    assert sum(a != b for a, b in pairwise(modules)) <= 36
    assert not [module for module in modules if "experiments" in module or "survival" in module]
    # First the command line reads, then the metric works, then the file is written: no way back.
    metric = [number for number, module in enumerate(modules) if not module.startswith("studies")]
    corridor = modules[metric[0] : metric[-1] + 1]
    assert not [module for module in corridor if module.startswith("studies")]
    assert len(corridor) <= 65
