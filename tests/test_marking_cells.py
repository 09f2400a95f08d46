"""Which cells of a notebook are run for marking, and what crosses the wire to a process."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from informed.teaching.grading import slices
from informed.teaching.grading.slices import Cell, needed, read_cells
from informed.teaching.grading.wire import pack, unpack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="marking needs fork")


def test_what_may_change_anything_is_never_left_out() -> None:
    sources = [
        "class Box:\n    size = 3",
        "box = Box()\nrng = 1",
        "box.size = 4",
        "del box.size",
        "def set_it():\n    global box\n    box = 5",
        "from math import *",
        'exec("box = 6")',
        "rng.shuffle(box)",
        "try:\n    one = 1\nexcept KeyError as error:\n    one = error",
        "async def wait(seconds=one):\n    return box",
        "unused = 1",
        'check("ex-a", wait)',
    ]
    cells = [Cell(number, source) for number, source in enumerate(sources)]
    assert [cell.number for cell in needed(cells, ["ex-a"])] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]


def test_cells_of_other_languages_are_empty_and_timed_ones_are_not() -> None:
    sources = ["%%bash\nrm -rf /", "%%time\nx = 1", ["y = ", "2"], "   "]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    found = [cell.source for cell in read_cells(json.dumps({"cells": cells}))]
    assert found == ["pass", "\nx = 1", "y = 2"]
    assert slices.exercises_in([Cell(1, "def f(:")]) == []


class Sparse:
    """Something with `toarray`, as a sparse matrix has."""

    def toarray(self) -> Any:
        return np.eye(2)


class Table:
    """Something that makes an array of itself, as a table does."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones(2)


def test_values_of_every_kind_cross_the_wire() -> None:
    assert unpack(pack({1, 2})) == {1, 2}
    assert unpack(pack(range(2))) == [0, 1]
    assert unpack(pack(1 + 2j)) == 1 + 2j
    assert np.isnan(unpack(pack(float("nan"))))
    assert unpack(pack(np.float32(2))) == 2
    assert np.array_equal(unpack(pack(Sparse())), np.eye(2))
    assert np.array_equal(unpack(pack(Table())), np.ones(2))
    assert unpack(pack(dict.fromkeys)).name == "fromkeys"
    assert type(unpack(pack(10**5000))).__name__ == "huge int"
    assert type(unpack(pack(np.array([{}], dtype=object)))).__name__ == "array of objects"
    assert type(unpack(pack(np.array(["2020"], dtype="M8[D]")))).__name__ == "datetime64[D]"
    assert unpack(pack(iter)).signature() is None
    nested: list[Any] = []
    for _ in range(30):
        nested = [nested]
    found = unpack(pack(nested))
    for _ in range(21):
        (found,) = found
    assert type(found).__name__ == "deeply nested value"


@pytest.mark.parametrize(
    "message",
    [
        {"no such form": 1},
        {"array": ["O", [1], ""]},
        {"array": ["f8", [7], "AAAA"]},
        {"function": ["f", [["x", "NO_KIND", False]]]},
        {"float": 1},
        [],
        {},
    ],
    ids=str,
)
def test_messages_of_no_known_form_are_refused(message: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpack(json.dumps(message).encode())
