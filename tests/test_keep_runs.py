"""One run of a notebook serves nbval and the page, and only a run that passed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import execute
import nbformat
import pytest
from jupyter_cache import get_cache

ROOT = Path(__file__).resolve().parent.parent


def write_notebook(path: Path, *sources: str, expected: str = "3\n") -> None:
    """A notebook whose last cell has an output to be compared."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[-1].execution_count = len(cells)
    cells[-1].metadata["tags"] = ["nbval-check-output"]
    cells[-1].outputs = [nbformat.v4.new_output("stream", name="stdout", text=expected)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with tools of its own, so that its runs are kept there."""
    tmp_path = tmp_path_factory.mktemp("project")
    for name in ("architecture.py", "execute.py", "keep_runs.py"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text((ROOT / "tools" / name).read_text(encoding="utf-8"))
    (tmp_path / "requirements.txt").write_text("numpy\n")
    (tmp_path / "book").mkdir()
    write_notebook(tmp_path / "book" / "good.ipynb", "a = 1", "", "print(a + 2)")
    write_notebook(tmp_path / "book" / "raises.ipynb", "1 / 0", "print(3)")
    write_notebook(tmp_path / "book" / "differs.ipynb", "print(4)")
    write_notebook(tmp_path / "book" / "skipped.ipynb", "# NBVAL_SKIP\na = 1", "print(3)")
    result = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "keep_runs", "-p", "no:cacheprovider"),
            *("--rootdir", str(tmp_path), "-c", os.devnull),
            *("--nbval-lax", "--nbval-current-env", str(tmp_path / "book")),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed" in result.stdout, result.stdout + result.stderr
    return tmp_path


@pytest.fixture
def book(run_once: Path, tmp_path: Path) -> Path:
    """The project after the run, for one test to change."""
    return Path(shutil.copytree(run_once, tmp_path / "project"))


def test_only_a_run_that_passed_is_kept_with_its_outputs(book: Path) -> None:
    runs = book / "_build" / "runs"
    assert [path.name for path in runs.iterdir()] == ["good.ipynb"]
    kept = nbformat.read(runs / "good.ipynb", as_version=4)
    nbformat.validate(kept)
    assert [cell.execution_count for cell in kept.cells] == [1, 2, 3]
    assert [len(cell.outputs) for cell in kept.cells] == [0, 0, 1]
    assert kept.cells[2].outputs[0].text == "3\n"


@pytest.mark.parametrize("changed", [None, "code", "packages"])
def test_a_run_is_taken_over_unless_something_changed(
    book: Path, changed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "ROOT", book)
    monkeypatch.setattr(execute, "RUNS", book / "_build" / "runs")
    path = book / "book" / "good.ipynb"
    if changed == "code":
        path.write_text(path.read_text().replace("a + 2", "a + 1 + 1"))
    elif changed == "packages":
        (book / "requirements.txt").write_text("numpy==2\n")
    results = get_cache(book / "cache")
    execute.take_runs(results, [path, book / "book" / "raises.ipynb"])
    assert not list((book / "_build" / "runs").iterdir())  # taken or stale: nothing stays behind
    if changed is not None:
        assert results.list_cache_records() == []
        return
    record = results.match_cache_notebook(nbformat.read(path, as_version=4))
    shown = results.get_cache_bundle(record.pk).nb.cells[2].outputs
    assert shown[0].text == "3\n"
    assert 0 < json.loads(json.dumps(record.data))["execution_seconds"] < 600
