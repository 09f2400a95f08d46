"""A book of one small notebook, a way to run Python in a process of its own, a page as read."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup
from conftest import ROOT
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

sys.path.insert(0, str(ROOT / "tools"))
import notebooks


def small_notebook() -> NotebookNode:
    """A sound notebook: one plain cell, one checked cell, prose that quotes the checked number."""
    plain = new_code_cell("half = 1 / 2", id="plain")
    checked = new_code_cell(
        "print(half)",
        id="checked",
        execution_count=2,
        outputs=[new_output("stream", name="stdout", text="0.5\n")],
        metadata={"tags": [notebooks.CHECKED]},
    )
    prose = new_markdown_cell("The half of one is 0.5, and $\\pi = 3.14$ roughly.", id="prose")
    return new_notebook(cells=[plain, checked, prose], metadata=notebooks.NOTEBOOK_METADATA)


def run_python(
    *arguments: str | Path, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    # The session's own settings of pytest must not reach the run inside.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@cache
def read_page(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
