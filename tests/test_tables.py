"""The reader of tables: what a file shows beyond doubt is read and said, all else is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from informed.studies.cli.tables import Table, read_table

VALUES = np.array([[1.5, 20.25, 3.0], [4.5, 0.125, -6.0], [7.5, 8.0, 9.5], [0.5, 2.5, 1e-3]])
NAMES = ("alpha", "beta", "gamma")


def lines(
    names: tuple[str, ...] | None = NAMES,
    first: tuple[object, ...] | None = None,
    title: str | None = "",
    sep: str = ",",
    decimal: str = ".",
) -> str:
    """Write VALUES as a program might: with or without header and row names."""
    rows = [[f"{value:.6g}".replace(".", decimal) for value in row] for row in VALUES]
    if first is not None:
        rows = [[str(name), *row] for name, row in zip(first, rows, strict=True)]
    if names is not None:
        rows.insert(0, [*([title] if first is not None and title is not None else []), *names])
    return "\n".join(sep.join(row) for row in rows) + "\n"


def read(folder: Path, content: str | bytes, **options: Any) -> Table:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, **options)


PATIENTS = ("p1", "p2", "p3", "p4")

# file, options, row names (None: counted), words of the notes
GOOD: dict[str, tuple[str | bytes, dict[str, Any], tuple[str, ...] | None, list[str]]] = {
    "plain": (lines(), {}, None, []),
    "pandas index": (lines(first=(0, 1, 2, 3)), {}, ("0", "1", "2", "3"), ["has no name"]),
    "pandas index and counted columns": (
        lines(names=("0", "1", "2"), first=(0, 1, 2, 3)),
        {},
        ("0", "1", "2", "3"),
        ["0 to 2, is taken as a header", "has no name"],
    ),
    "patient id": (
        lines(first=(101, 17, 350, 4), title="patient_id"),
        {},
        ("101", "17", "350", "4"),
        ["by its name"],
    ),
    "camel case id": (
        lines(first=(101, 17, 350, 4), title="subjectID"),
        {},
        ("101", "17", "350", "4"),
        ["by its name"],
    ),
    "text names": (lines(first=PATIENTS, title="who"), {}, PATIENTS, ["holds text"]),
    "R's write.table": (lines(first=PATIENTS, title=None), {}, PATIENTS, ["has no name"]),
    "R's write.csv": (
        '"","alpha","beta","gamma"\n"p1",1.5,20.25,3\n"p2",4.5,.125,-6\n"p3",7.5,8,9.5\n'
        '"p4",0.5,2.5,1e-3\n',
        {},
        PATIENTS,
        ["has no name"],
    ),
    "semicolon": (lines(sep=";"), {}, None, ["semicolon"]),
    "tab": (lines(sep="\t"), {}, None, ["tab"]),
    "European": (lines(sep=";", decimal=","), {}, None, ["semicolon", "decimal sign is a comma"]),
    "European with names": (
        lines(sep=";", decimal=",", first=PATIENTS),
        {},
        PATIENTS,
        ["semicolon", "comma", "has no name"],
    ),
    "separator given": (lines(sep="|"), {"sep": "|"}, None, []),
    "tab given by name": (lines(sep="\t"), {"sep": "tab"}, None, []),
    "no header, said so": (lines(names=None), {"header": False}, None, ["all lines are samples"]),
    "byte-order mark": (b"\xef\xbb\xbf" + lines().encode(), {}, None, []),
    "UTF-16": (lines().encode("utf-16"), {}, None, ["UTF-16"]),
    "Latin-1, said so": (
        lines(first=("Zoë", "p2", "p3", "p4")).encode("latin-1"),
        {"encoding": "latin-1"},
        ("Zoë", "p2", "p3", "p4"),
        ["has no name"],
    ),
    "Windows line ends": (lines().replace("\n", "\r\n"), {}, None, []),
    "blank lines at the end": (lines() + "\n\n", {}, None, []),
    "spaces around numbers": (lines().replace(",", " , "), {}, None, []),
    "index by name": (
        lines(first=(3, 4, 5, 6), title="x"), {"index_col": "x"}, ("3", "4", "5", "6"), []
    ),
    "index by number": (
        lines(first=(0, 1, 2, 3), title="x"), {"index_col": "1"}, ("0", "1", "2", "3"), []
    ),
    "exponents": (
        "alpha,beta,gamma\n1.5e0,2.025e+01,3e0\n4.5e0,1.25e-1,-6e0\n7.5e0,8e0,9.5e0\n5e-1,2.5e0,1e-3\n",
        {}, None, [],
    ),
    "counter left out": (lines(first=(1, 2, 3, 4), title="x"), {"drop": ["x"]}, None, []),
    "text column left out": (
        lines(first=(2.5, 1.5, 1.5, 9.5), title="x").replace("20.25", "20.25"),
        {"drop": ["x"]},
        None,
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_what_is_beyond_doubt_is_read_and_said(name: str, tmp_path: Path) -> None:
    content, options, rows, notes = GOOD[name]
    table = read(tmp_path, content, **options)
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.rows == (rows or ("1", "2", "3", "4"))
    assert table.named is (rows is not None)
    assert len(table.columns) == 3
    assert len(table.notes) == len(notes)
    for words in notes:
        assert any(words in note for note in table.notes), table.notes


# file, options, what the message must name
BAD: dict[str, tuple[str | bytes, dict[str, Any], list[str]]] = {
    "empty": (b"", {}, ["empty"]),
    "blank": ("\n \n", {}, ["empty"]),
    "header only": ("alpha,beta\n", {}, ["no sample"]),
    "no header": (lines(names=None), {}, ["numbers only", "--no-header"]),
    "counts from 1": (lines(first=(1, 2, 3, 4), title="x"), {}, ["'x'", "--index-col", "--drop"]),
    "counts from 0": (lines(first=(0, 1, 2, 3), title="x"), {}, ["'x'", "--index-col"]),
    "long numbers": (
        lines(first=(2004111, 2004118, 2005001, 2003999), title="x"),
        {},
        ["'x'", "identifier", "--index-col"],
    ),
    "id further right": (
        "alpha,sample_id\n1.5,3\n2.5,7\n3.5,5\n",
        {},
        ["sample_id", "identifier"],
    ),
    "repeated ids": (
        lines(first=(7, 7, 8, 9), title="patient"), {}, ["'patient'", "'7'", "2 times"]
    ),
    "repeated row names": (lines(first=("a", "a", "b", "c")), {}, ["'a'", "2 times"]),
    "one column": ("alpha\n1\n2\n", {}, ["one column", "--sep"]),
    "wrong separator": (lines(), {"sep": ";"}, ["one column"]),
    "long separator": (lines(), {"sep": "::"}, ["--sep", "single sign"]),
    "ragged": ("alpha,beta\n1,2\n3,4,5\n6,7\n", {}, ["line 3", "3 field"]),
    "two separators": ("a;x,b;y\n1;2,3;4\n5;6,7;8\n", {}, ["semicolon", "--sep", "--decimal"]),
    "both decimal signs": ("a;b\n1,5;2.5\n2,5;3.5\n", {}, ["--decimal"]),
    "decimal sign unknown": (lines(), {"decimal": "'"}, ["--decimal"]),
    "thousands": ("a;b\n1.234,5;2\n2.000,5;3\n", {}, ["'1.234,5'", "text"]),
    "text": ("alpha,stage\n1,II\n2,III\n", {}, ["stage", "'II'", "--drop"]),
    "missing": ("alpha,beta\n1,2\n3,NA\n", {}, ["beta", "row '2'", "missing"]),
    "missing in a named row": (",alpha,beta\np1,1,2\np2,,4\n", {}, ["alpha", "'p2'"]),
    "infinite": ("alpha,beta\n1,2\n3,inf\n", {}, ["beta", "infinite"]),
    "name twice": ("alpha,alpha\n1,2\n", {}, ["'alpha'", "more than once"]),
    "name missing": ("alpha,,gamma\n1,2,3\n", {}, ["column 2"]),
    "index unknown": (lines(), {"index_col": "who"}, ["--index-col", "who"]),
    "drop unknown": (lines(), {"drop": ["who"]}, ["--drop", "who"]),
    "drop all": (lines(), {"drop": list(NAMES)}, ["leaves no column"]),
    "only row names": ("name\nx\ny\n", {"sep": ","}, ["one column"]),
    "Latin-1": (lines(first=("Zoë", "b", "c", "d")).encode("latin-1"), {}, ["UTF-8", "--encoding"]),
    "UTF-16 without mark": (lines().encode("utf-16-le"), {}, ["--encoding utf-16"]),
    "encoding unknown": (lines(), {"encoding": "klingon"}, ["klingon"]),
    "encoding wrong": (b"a,b\n\xff\xfe,1\n", {"encoding": "ascii"}, ["ascii"]),
    "gzip": (gzip.compress(lines().encode()), {}, ["gzip"]),
    "spreadsheet": (b"PK\x03\x04" + bytes(50), {}, ["xlsx"]),
    "npy": (b"\x93NUMPY" + bytes(50), {}, ["npy"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_can_be_read_in_two_ways_or_in_none_is_refused(name: str, tmp_path: Path) -> None:
    content, options, words = BAD[name]
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read(tmp_path, content, **options)
    message = str(refused.value)
    assert all(word in message for word in words), message
    assert "table.csv" in message or "--" in message
    assert "\n" not in message


def test_told_that_it_is_a_feature_a_counter_is_one(tmp_path: Path) -> None:
    table = read(tmp_path, lines(first=(1, 2, 3, 4), title="dose"), index_col="none")
    assert table.columns == ("dose", *NAMES)
    np.testing.assert_array_equal(table.values[:, 0], [1, 2, 3, 4])


def test_columns_are_taken_by_name_or_the_option_is_named(tmp_path: Path) -> None:
    table = read(tmp_path, lines())
    np.testing.assert_array_equal(table.take("beta", "--time"), VALUES[:, 1])
    assert table.without(["beta"]).columns == ("alpha", "gamma")
    with pytest.raises(ValueError, match="--time='months' is no column"):
        table.take("months", "--time")


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(
        st.lists(
            st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: float(f"{x + 0.001:.6g}")),
            min_size=3,
            max_size=3,
        ),
        min_size=2,
        max_size=6,
    ),
    sep=st.sampled_from([",", ";", "\t"]),
    comma=st.booleans(),
    named=st.booleans(),
)
def test_what_is_written_comes_back_or_is_refused(
    values: list[list[float]],
    sep: str,
    comma: bool,
    named: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    decimal = "," if comma and sep != "," else "."
    text = io.StringIO()
    text.write(sep.join([*(["who"] if named else []), "f1", "f2", "f3"]) + "\n")
    for number, row in enumerate(values):
        cells = [repr(value).replace(".", decimal) for value in row]
        text.write(sep.join([*([f"s{number}"] if named else []), *cells]) + "\n")
    try:
        table = read(tmp_path_factory.mktemp("t"), text.getvalue())
    except ValueError as error:
        # Whole numbers may count; a decimal comma cannot be seen where no number has a fraction.
        refused = str(error)
    else:
        np.testing.assert_array_equal(table.values, values)
        assert table.named is named
        return
    assert "--" in refused
