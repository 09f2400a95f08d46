"""What the tests reach is added up over processes, and too little fails a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = """
def sign(x):
    if x < 0:
        return -1
    return 1
"""
FIRST = "from informed import sign\ndef test_one(): assert sign(2) == 1\n"
SECOND = "from informed import sign\ndef test_two(): assert sign(-2) == -1\n"


@pytest.mark.parametrize(("tests", "code"), [([FIRST], 1), ([FIRST, SECOND], 0)])
def test_too_little_reached_fails_a_run(tests: list[str], code: int, tmp_path: Path) -> None:
    for name, text in {
        "tools/cover.py": (ROOT / "tools" / "cover.py").read_text(encoding="utf-8"),
        "informed/__init__.py": LIBRARY,
        "pytest.ini": "[pytest]\n",
        **{f"tests/test_{number}.py": text for number, text in enumerate(tests)},
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tools.cover"),
            *("-p", "xdist.plugin", "-n", "2", "--dist", "loadscope", "tests"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == code, run.stdout + run.stderr
    percent = float(run.stdout.split("reached ")[1].split()[0])
    assert percent == 100 if code == 0 else 40 < percent < 90
    missed = (tmp_path / "_build" / "coverage" / "missed.txt").read_text(encoding="utf-8")
    assert ("informed/__init__.py" in missed) == (code == 1)
