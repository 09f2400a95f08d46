"""The tools around the tests: what runs them all, what makes the environment."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import run_tests
import try_versions
from api_pages import names_used


@pytest.mark.parametrize("module", [run_tests, try_versions], ids=lambda module: module.__name__)
def test_examples_of_the_tools(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def say(words, code=0):
    return [sys.executable, "-c", f"print({words!r}); raise SystemExit({code})"]


def run_chains(monkeypatch, chains):
    monkeypatch.setattr(run_tests, "CHAINS", chains)
    return run_tests.main()


def test_passing_jobs_say_one_line_each_and_the_last_line_tells_what_was_skipped(
    monkeypatch, capsys
):
    skipped = "noise\nSKIPPED [3] tests/test_site.py:5: no browser\n2 passed, 3 skipped in 0.1s"
    chains = [
        [run_tests.Job("a", [say("noise")]), run_tests.Job("b", [say(skipped)])],
        [run_tests.Job("c", [say("more noise"), say("and more")])],
    ]
    assert run_chains(monkeypatch, chains) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split(":")[0] for line in lines[:3]) == ["a", "b", "c"]
    assert any(line.endswith("(2 passed, 3 skipped)") for line in lines[:3])
    assert lines[3].startswith("all passed")
    assert lines[4:] == ["skipped: 3 tests: no browser (3)"]


def test_a_failing_job_is_shown_and_ends_its_chain_only(monkeypatch, capsys):
    chains = [
        [run_tests.Job("bad", [say("why it failed", 1)]), run_tests.Job("then", [say("no")])],
        [run_tests.Job("good", [say("noise")])],
    ]
    assert run_chains(monkeypatch, chains) == 1
    out = capsys.readouterr().out
    assert "why it failed" in out
    assert "bad: FAILED" in out
    assert "good: passed" in out
    assert "then" not in out
    assert "failed: bad" in out


def test_a_job_that_hangs_is_ended_with_all_that_it_started(monkeypatch, capsys):
    monkeypatch.setattr(run_tests, "LIMIT_SECONDS", 1)
    # The child keeps the pipe open: were it left alive, nobody would read the end of the output.
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    job = run_tests.Job("hang", [[sys.executable, "-c", child]])
    assert run_chains(monkeypatch, [[job]]) == 1
    assert "ended after 1 s" in capsys.readouterr().out


def test_no_test_file_is_left_out_or_run_twice():
    unit, site = (
        next(job for chain in run_tests.CHAINS for job in chain if job.name == name).commands[0]
        for name in ("unit tests", "site")
    )
    ignored = {word.removeprefix("--ignore=") for word in unit if word.startswith("--ignore=")}
    assert ignored == {word for word in site if word.startswith("tests/")}
    assert "tests/test_site.py" in ignored
    assert "tests/test_clusters.py" not in ignored


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_an_edit_of_pyproject_installs_the_library_but_no_packages(tmp_path):
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()

    def plan(edited: str | None) -> str:
        # Sources and stamps have the times that a first run leaves, but for what was edited.
        names = ("requirements.txt", "pyproject.toml", ".venv/.packages", ".venv/.ready")
        for when, name in enumerate(names):
            Path(tmp_path, name).touch()
            os.utime(tmp_path / name, (when, when))
        if edited:
            os.utime(tmp_path / edited, (100, 100))
        done = subprocess.run(
            ["make", "-n", "lab"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert "pip" not in plan(None)
    assert "--clear" not in plan("pyproject.toml")
    assert "--editable" in plan("pyproject.toml")
    assert "--clear" in plan("requirements.txt")


def test_every_target_is_explained():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    [phony] = [line for line in lines if line.startswith(".PHONY:")]
    for target in phony.split()[1:]:
        assert any(line.startswith(f"{target}:") and "## " in line for line in lines), target


def test_a_test_that_hangs_fails_with_a_stack(tmp_path):
    (tmp_path / "test_hang.py").write_text(
        "import threading\n\ndef test_hang():\n    threading.Event().wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path,
         "-p", "no:cacheprovider", "--timeout", "1", tmp_path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Timeout" in done.stdout
    assert "threading.Event().wait()" in done.stdout


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("names = 1\nprint('names', data.names)", set()),
        ("from informed.quiz import names as known", {"names", "known"}),
        ("import informed\ninformed.gap.gap_statistic(X)", {"informed", "gap", "gap_statistic"}),
        ("from informed import experiments as e\ne.toy()", {"experiments", "e", "toy"}),
        ("load_result('results/penalty_study')", {"penalty_study"}),
    ],
)
def test_a_chapter_uses_what_it_imports_and_looks_up(code, names):
    assert names_used(code) == names
