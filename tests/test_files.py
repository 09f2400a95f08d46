"""Files of the sources: one subject each, short enough to be read in one go, one look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

LONGEST = 500
FOLDERS = ("informed", "tests", "tools", "benchmarks")
SOURCES = sorted(
    path
    for folder in FOLDERS
    for ending in ("py", "js")
    for path in (ROOT / folder).rglob(f"*.{ending}")
    if "__pycache__" not in path.parts
)


def first_paragraph(text: str) -> str:
    """What stands before the first blank line: the start of the docstring, or of the comment."""
    return text.split("\n\n", 1)[0]


def too_long(text: str) -> bool:
    """Whether a file has more lines than are read in one go, and does not say why."""
    return text.count("\n") > LONGEST and f"{LONGEST} lines" not in first_paragraph(text)


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 300
    assert {path.suffix for path in SOURCES} == {".py", ".js"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_long_file_says_why(path: Path) -> None:
    assert not too_long(path.read_text("utf-8")), "part it by subject"


def test_what_counts_as_a_reason() -> None:
    line = "one = 1\n"
    assert not too_long('"""Names."""\n\n' + 498 * line)
    assert too_long('"""Names."""\n\n' + 499 * line)
    assert too_long('"""Names."""\n\n# More than 500 lines, said too late.\n' + 499 * line)
    reason = '"""Names: more than 500 lines, because they are one table."""\n\n'
    assert not too_long(reason + 600 * line)


# A title to the right of its line, as above this: the line shows where, the title what.
SECTION = re.compile(r"# -+ \S.*[^-\s]")


def test_titles_of_sections_have_one_look() -> None:
    for path in SOURCES:
        if path.suffix == ".py":
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if re.match(r"# ?([-=#*~])\1\1", line):
                    assert SECTION.fullmatch(line), f"{path.relative_to(ROOT)}:{number}: {line}"
