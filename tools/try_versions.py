"""Run core tests with the oldest or the newest packages that pyproject.toml allows.

Oldest: the first release series of each package (``numpy>=2.0`` becomes ``numpy==2.0.*``); newest:
whatever the ranges let in today, not what requirements.txt pins. Each has an environment of its
own, made anew: ``.venv-oldest``, ``.venv-newest``.

Run as ``python tools/try_versions.py oldest [TEST…]``; exits as pytest does. Without tests named it
runs those of core_tests.txt: the mathematics, which needs few packages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = (ROOT / "tools" / "core_tests.txt").read_text(encoding="utf-8").split()
# The extras that the core tests touch.
EXTRAS = ("survival", "plots", "notebook")
# What the tests themselves need, whatever its version.
TOOLS = ["pytest>=9", "pytest-timeout", "hypothesis", "psutil", "setuptools>=77"]


def oldest(requirement: str) -> str:
    """Return the requirement of the first series that a range allows.

    >>> oldest("numpy>=2.0,<3")
    'numpy==2.0.*'
    """
    name, lowest = re.fullmatch(r"([\w.-]+)>=([\w.]+)(?:,.*)?", requirement).groups()
    return f"{name}=={lowest}.*"


def main(which: str, tests: list[str]) -> int:
    """Make the environment and run the tests in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    wanted = [one for one in wanted if not one.startswith("informed[")]
    if which == "oldest":
        wanted = [oldest(requirement) for requirement in wanted]
    folder = ROOT / f".venv-{which}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    subprocess.run([*pip, *wanted, *TOOLS], check=True)
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--editable", "."], cwd=ROOT, check=True
    )
    subprocess.run([str(python), "-m", "pip", "list"], check=True)
    # The oldest scikit-learn gives its checks to pytest in a way that the newest pytest minds.
    calm = ["-W", "ignore:Passing a non-Collection iterable to parametrize"]
    command = [str(python), "-m", "pytest", "-q", *calm, *tests]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("oldest", "newest"):
        sys.exit("usage: try_versions.py oldest|newest [TEST...]")
    sys.exit(main(sys.argv[1], sys.argv[2:] or CORE))
