"""Keep what nbval's run of a notebook gave, for the pages of the book: one run serves both.

A plugin for pytest: ``pytest -p keep_runs --nbval-lax book`` with this folder on the path. When all
cells of a notebook have passed, the notebook is written with the outputs of that very run to a
folder in the build, with a digest of all that it depended on when it started. ``tools/execute.py``
takes it from there, if the digest is still the same, and does not run it again. A cell that fails,
or is skipped, leaves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from execute import RUNS, fingerprint
from nbformat import NotebookNode


@dataclass
class Run:
    """One notebook on its way: what it started from, and the cells that have passed."""

    made_with: str
    start: float = field(default_factory=time.monotonic)
    passed: dict[int, list[NotebookNode]] = field(default_factory=dict)


runs: dict[Path, Run] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Note the digest before the first cell of a notebook, and write it after the last one."""
    path = item.path
    if hasattr(item, "cell_num") and path not in runs:
        runs[path] = Run(fingerprint(path))
    result = yield
    if path in runs and (nextitem is None or nextitem.path != path):
        write(path, runs.pop(path))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Remember the outputs of a cell that has passed."""
    report = yield
    if report.when == "call" and report.passed and item.path in runs:
        runs[item.path].passed[item.cell_num] = item.test_outputs
    return report


def write(path: Path, run: Run) -> bool:
    """Write a notebook with the outputs of a run; tell whether all its cells have passed."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if sorted(run.passed) != list(range(len(code))):
        return False
    for number, cell in enumerate(code):
        cell.execution_count = number + 1
        cell.outputs = [nbformat.from_dict(output) for output in run.passed[number]]
    notebook.metadata["made_with"] = run.made_with
    notebook.metadata["seconds"] = time.monotonic() - run.start
    RUNS.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, RUNS / path.name)
    return True
