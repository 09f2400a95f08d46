"""The cell that installs the library in Colab: there it does, elsewhere it does nothing at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import colab


def run_cell(address: str, home: Path) -> dict[str, Any]:
    source = colab.install_cell(address).source
    assert source.count('"/content/informed-students"') == 1
    names: dict[str, Any] = {}
    exec(source.replace("/content/informed-students", home.as_posix()), names)
    return names


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str | None]]:
    """What the cell runs; git runs indeed, pip does not."""
    made: list[tuple[list[str], str | None]] = []
    run = subprocess.run

    def record(command: list[str], cwd: str | None = None, check: bool = False) -> Any:
        made.append((command, cwd))
        return run(command, check=check) if command[0] == "git" else None

    monkeypatch.setattr(subprocess, "run", record)
    return made


@pytest.fixture
def in_colab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.ModuleType:
    google, module = types.ModuleType("google"), types.ModuleType("google.colab")
    google.colab = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", google)
    monkeypatch.setitem(sys.modules, "google.colab", module)
    monkeypatch.chdir(tmp_path)
    return module


@pytest.mark.parametrize("address", ["https://example.org/book", ""])
def test_elsewhere_nothing_happens(
    address: str, tmp_path: Path, calls: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_cell(address, tmp_path / "students")
    assert calls == []
    assert set(names) == {"__builtins__", "sys"}
    assert Path.cwd() == tmp_path
    assert not (tmp_path / "students").exists()


def test_with_an_address_the_branch_of_students_is_fetched_once(
    tmp_path: Path, calls: list[tuple[list[str], str | None]], in_colab: types.ModuleType
) -> None:
    origin, home = tmp_path / "origin", tmp_path / "students"
    git = ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    origin.mkdir()
    for command in (["init", "-q", "-b", colab.BRANCH], ["add", "."], ["commit", "-q", "-m", "a"]):
        (origin / "results").mkdir(exist_ok=True)
        (origin / "results" / "table.json").write_text("{}")
        subprocess.run([*git, *command], check=True)
    calls.clear()
    run_cell(origin.as_uri(), home)
    assert [command[0] for command, _ in calls] == ["git", sys.executable]
    install, folder = calls[1]
    assert install[1:4] == ["-m", "pip", "install"]
    assert install[-1] == colab.LIBRARY
    assert folder == home.as_posix()
    # The tables that a chapter loads lie beside it.
    assert Path("results/table.json").is_file()
    os.chdir(tmp_path)
    run_cell(origin.as_uri(), home)
    assert len(calls) == 2
    assert Path.cwd() == home


def test_without_an_address_it_asks_for_the_students_file(
    tmp_path: Path,
    calls: list[tuple[list[str], str | None]],
    in_colab: types.ModuleType,
    capsys: pytest.CaptureFixture[str],
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("informed-students/results/table.json", "{}")
    upload = types.SimpleNamespace(upload=lambda: {"informed-students (1).zip": packed.getvalue()})
    in_colab.files = upload  # type: ignore[attr-defined]
    run_cell("", tmp_path / "informed-students")
    assert colab.STUDENTS_ZIP in capsys.readouterr().out
    assert [command[0] for command, _ in calls] == [sys.executable]
    assert Path("results/table.json").is_file()


def test_the_address_is_that_of_the_published_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMED_REPOSITORY", "https://example.org/somebody/book")
    assert '"https://example.org/somebody/book"' in colab.install_cell().source
    monkeypatch.delenv("INFORMED_REPOSITORY")
    assert "files.upload" in colab.install_cell().source
