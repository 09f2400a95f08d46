"""Which lines and branches of the library the tests reach, without a tracer.

A plugin for pytest: ``python -m pytest -p tools.cover`` from the top of the repository. A tracer
follows every line of every loop, and takes up to half as long as the tests themselves; SlipCover
writes marks into the code instead, and takes them out again once they are reached. Each process of
pytest leaves what it saw in ``_build/coverage``; the first one joins these, writes what was missed
to ``missed.txt`` beside them, and fails the run if too little was reached. What runs in other
processes only (workers, a student's closed notebook) is not seen.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover, merge_coverage, print_coverage

LIBRARY = str(Path(__file__).resolve().parent.parent / "informed")
# Percent of lines and branches.
ENOUGH = 95
NEVER_RUN = ["raise AssertionError", "@overload", r"\.\.\.$"]
IN_WORKER = "PYTEST_XDIST_WORKER" in os.environ

marks = Slipcover(branch=True, source=[LIBRARY], exclude_also=NEVER_RUN)
# Here, at the start, since only what is imported later gets its marks.
ImportManager(marks, FileMatcher(sources=[LIBRARY])).__enter__()


def pytest_configure(config: pytest.Config) -> None:
    """Forget the last run."""
    if not IN_WORKER:
        shutil.rmtree(kept(config), ignore_errors=True)
        kept(config).mkdir(parents=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what this process saw; the first one, which ends last, adds all up."""
    folder = kept(session.config)
    name = os.environ.get("PYTEST_XDIST_WORKER", "first")
    (folder / f"{name}.json").write_text(json.dumps(marks.get_coverage()), encoding="utf-8")
    if IN_WORKER:
        return
    total, *others = (json.loads(path.read_text("utf-8")) for path in folder.glob("*.json"))
    for other in others:
        merge_coverage(total, other)
    with (folder / "missed.txt").open("w", encoding="utf-8") as file:
        print_coverage(total, outfile=file, skip_covered=True)
    percent = total["summary"]["percent_covered"]
    print(f"\nreached {percent:.1f} % of lines and branches of the library, {ENOUGH} are asked")
    if percent < ENOUGH and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def kept(config: pytest.Config) -> Path:
    """Return where the processes of a run leave what they saw."""
    return config.rootpath / "_build" / "coverage"
