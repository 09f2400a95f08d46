"""What the reader of tables makes of every file of ``test_tables``, read in several ways.

Those tests say what must be read or refused, and why. This one only notices that an answer changed:
another note, another guess, a refusal in other words. The answers stand in
``written_tables.json``. If a change is meant, ``python tests/test_tables_written.py`` writes the
file anew, and its difference is to be read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fingerprints import read as read_written
from fingerprints import same, sums, write
from test_tables import BAD, GOOD, read

WRITTEN = Path(__file__).with_name("written_tables.json")
FILES = {**{f"read: {k}": v for k, v in GOOD.items()}, **{f"not: {k}": v for k, v in BAD.items()}}
WAYS: dict[str, dict[str, Any]] = {
    "no header": {"header": False},
    "no row names": {"index_col": "none"},
    "rows named": {"index_col": "1"},
    "decimal point": {"decimal": "."},
    "decimal comma": {"decimal": ","},
    "semicolons": {"sep": ";"},
    "turned": {"transpose": True},
}


def answer(folder: Path, content: str | bytes, **options: Any) -> list[Any]:
    """Return what is read and said of a file, or the words of the refusal."""
    try:
        table = read(folder, content, **options)
    except ValueError as error:
        return [str(error).replace(f"{folder}/", "")[:110]]
    names = " ".join(["rows", *table.rows[:5], "columns", *table.columns[:6]])
    return [sums(table.values), names, *table.notes, *(["named"] if table.named else [])]


def answers(folder: Path, name: str) -> dict[str, list[Any]]:
    """Return the answer to a file, and to its content in other ways, where that is another one."""
    content, options, *_ = FILES[name]
    found = {"with its options": answer(folder, content, **options)}
    found["as it is"] = answer(folder, content)
    for way, others in WAYS.items():
        other = answer(folder, content, **others)
        if other != found["as it is"]:
            found[way] = other
    if found["as it is"] == found["with its options"]:
        del found["as it is"]
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_answer_to_a_file_is_what_is_written_down(name: str, tmp_path: Path) -> None:
    expected, found = read_written(WRITTEN)[name], answers(tmp_path, name)
    different = [key for key in expected if not same(found.get(key), expected[key])]
    assert different == [], {key: (found.get(key), expected[key]) for key in different}
    assert found.keys() == expected.keys()


def test_every_file_is_written_down() -> None:
    assert read_written(WRITTEN).keys() == FILES.keys()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    with TemporaryDirectory() as folder:
        write(WRITTEN, {name: answers(Path(folder), name) for name in FILES})
