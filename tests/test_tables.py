"""The reader of tables: what a file shows beyond doubt is read and said, all else is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from informed.studies.cli.cells import are_names
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
    "semicolons and many numbers in the names": (
        lines(first=tuple(f"{who};1;2;3;4;x" for who in PATIENTS), title="a;b;c;d;e;f"),
        {},
        tuple(f"{who};1;2;3;4;x" for who in PATIENTS),
        ["holds text"],
    ),
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
    "quoted numbers below a byte-order mark": (
        b'\xef\xbb\xbf"alpha";"beta";"gamma"\r\n"1,5";"20,25";"3"\r\n"4,5";"0,125";"-6"\r\n'
        b'"7,5";"8";"9,5"\r\n"0,5";"2,5";"0,001"\r\n',
        {}, None, ["semicolon", "decimal sign is a comma"],
    ),
    "tabs and spaces": (lines(sep=" \t "), {}, None, ["tab"]),
    "old Macintosh": (lines().replace("\n", "\r"), {}, None, []),
    "all lines end with a separator": (
        lines().replace("\n", ",\n"), {}, None, ["empty column is left out"]
    ),
    "lines of separators at the end": (lines() + ",,\n,,\n", {}, None, ["2 line(s) at the end"]),
    "Excel's first line": ("sep=;\r\n" + lines(sep=";"), {}, None, ["line 1 names the separator"]),
    "codes with leading zeros": (
        lines(first=("0137", "0291", "0100", "1204"), title="code"),
        {},
        ("0137", "0291", "0100", "1204"),
        ["leading zeros"],
    ),
    "dates as names": (
        lines(first=("2024-01-31", "2024-02-01", "2024-02-09", "2024-03-01"), title="date"),
        {},
        ("2024-01-31", "2024-02-01", "2024-02-09", "2024-03-01"),
        ["by its name"],
    ),
    "numbers as names of genes": (
        lines(names=("7157", "672", "675"), first=PATIENTS, title="sample"),
        {},
        PATIENTS,
        ["by its first name, 'sample'", "by its name"],
    ),
    "named index and counted columns": (
        lines(names=("0", "1", "2"), first=PATIENTS, title="who"),
        {},
        PATIENTS,
        ["with 0 to 2, is taken as a header", "holds text"],
    ),
    "genes as rows, said so": (
        "gene,p1,p2,p3,p4\nalpha,1.5,4.5,7.5,0.5\nbeta,20.25,.125,8,2.5\ngamma,3,-6,9.5,1e-3\n",
        {"transpose": True}, PATIENTS, ["exchanged", "has no name"],
    ),
    "genes as rows, by R": (
        "p1 p2 p3 p4\nalpha 1.5 4.5 7.5 0.5\nbeta 20.25 .125 8 2.5\ngamma 3 -6 9.5 1e-3\n",
        {"transpose": True, "sep": " "}, PATIENTS, ["exchanged", "has no name"],
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
    "separators only": (",,\n,,\n", {}, ["empty"]),
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
    "xz": (lzma.compress(lines().encode()), {}, ["xz"]),
    "bzip2": (bz2.compress(lines().encode()), {}, ["bzip2"]),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(50), {}, ["zstd"]),
    "Parquet": (b"PAR1" + bytes(50), {}, ["Parquet"]),
    "pointer": ("version https://git-lfs.github.com/spec/v1\noid x,y\n", {}, ["Git LFS"]),
    # A first sample that is lost.
    "no header, row names": (
        lines(names=None, first=PATIENTS), {}, ["first line holds numbers", "--no-header"]
    ),
    "no header, a gap": ("1.5,NA,2\n2,2.5,3\n3,4,4\n", {}, ["numbers only", "--no-header"]),
    "no header, infinite": ("1.5,inf,2\n2,2.5,3\n3,4,4\n", {}, ["--no-header"]),
    "no header, truth": ("True,False,1.5\nFalse,True,2.5\n", {}, ["--no-header"]),
    "no header, text inside": ("p1,II,1.5,2\np2,I,2.5,3\n", {}, ["--no-header"]),
    # A sample that is lost among others.
    "unclosed quotation mark": (
        'name,a,b\nx,1.5,2\n"y,2.5,3\nz,3.5,4\nw",5.5,6\n', {},
        ["row 3 runs over 3 lines", "quotation mark"],
    ),
    "mark that never ends": ('name,a\n"x,1\n' + 30_000 * "y,2.5\n", {}, ["quotation mark"]),
    "a sample without values": ("a,b\n1.5,2\n,\n2.5,3\n", {}, ["'a'", "row '2'"]),
    "summary below": (lines(first=("p1", "p2", "p3", "Total")), {}, ["'Total'", "--index-col"]),
    # Columns that are no measurements.
    "code further right": ("a,plz\n1.5,01371\n2.5,80331\n", {}, ["'plz'", "'01371'", "--keep"]),
    "one column that is called 0": (
        ",0\na,1.5\nb,2.5\n", {}, ["numbers only", "--no-header"]
    ),
    "no header, first line shorter": (
        "1.5,2\n1,2.5,3\n2,3.5,4\n", {"header": False}, ["line 1 is shorter", "header"]
    ),
    "dates further right": ("a,seen\n1.5,20240131\n2.5,20240131\n", {}, ["'seen'", "dates"]),
    "date by its name": ("a,exam_date\n1.5,31\n2.5,17\n", {}, ["exam_date"]),
    "counts from 100": (lines(first=(100, 101, 102, 103), title="x"), {}, ["'x'", "counts"]),
    "counts downwards": (lines(first=(4, 3, 2, 1), title="x"), {}, ["'x'", "counts"]),
    "counts in disorder": (lines(first=(3, 1, 4, 2), title="x"), {}, ["'x'", "counts"]),
    "counts by tens": (lines(first=(10, 20, 30, 40), title="x"), {}, ["'x'", "counts"]),
    "counter at the end": ("a,x\n1.5,1001\n2.5,1002\n0.5,1003\n", {}, ["'x'", "counts"]),
    "second id beside a given one": (
        "who,visit_id,a\np1,3,1.5\np2,9,2.5\n", {"index_col": "who"}, ["visit_id", "--keep"]
    ),
    # Measurements that are no names.
    "header one name short": (
        "a,b\n1.5,2,3\n4.5,5,6.5\n", {}, ["no name", "'1.5'", "--index-col 1"]
    ),
    "nitric oxide": ("NO,b\n0.5,2\n0.7,6.5\n", {}, ["'NO'", "'0.5'", "--index-col none"]),
    "units": ("mass,b\n12kg,2\n15kg,6.5\n", {}, ["'mass'", "'12kg'"]),
    "hexadecimal": ("a,b\n0x10,2\n0x1f,6.5\n", {}, ["'a'", "'0x10'"]),
    "Fortran's exponents": ("a,b\n1.5D0,2\n2.5D0,6.5\n", {}, ["'a'", "'1.5D0'"]),
    "genes as rows": ("gene,p1,p2\nTP53,1.5,2\nBRCA1,4,6.5\n", {}, ["'gene'", "--transpose"]),
    "separator below the header": (lines().replace("\n", ";\n").replace(",", ";")[:-1].replace(
        "gamma;", "gamma") + "\n", {}, ["end with a separator"]),
    # A sign that is decimal, or marks thousands.
    "thousands in quotes": ('a,b\n"1,234",2\n"12,345",3\n', {}, ["'12,345'", "--decimal"]),
    "thousands between tabs": ("a\tb\n1,234\t2\n12,345\t3\n", {}, ["'12,345'", "--decimal"]),
    "thousands with points": ("a;b\n1.234;2\n12.345;3\n", {}, ["'12.345'", "--decimal"]),
    "points between tabs": ("a\tb\n1.234\t2\n12.345\t3\n", {}, ["'12.345'", "--decimal"]),
    "thousands and fractions": ("a;b;c\n1.234;2,5;1\n12.345;3,5;2\n", {}, ["--decimal"]),
    "point, where a comma is decimal": (
        "a;b;c\n1.2;2,5;1\n1.3;3,5;2\n", {"decimal": ","}, ["'a'", "'1.2'"]
    ),
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


@pytest.mark.parametrize(
    ("text", "decimal", "values", "note"),
    [
        ("a;b\n1.234;2\n12.345;3\n", ".", [[1.234, 2], [12.345, 3]], None),
        ("a;b\n1.234;2\n12.345;3\n", ",", [[1234, 2], [12345, 3]], "a point marks thousands"),
        ("a\tb\n1,234\t2\n12,345\t3\n", ",", [[1.234, 2], [12.345, 3]], None),
        ("a\tb\n1,234\t2\n12,345\t3\n", ".", [[1234, 2], [12345, 3]], "a comma marks thousands"),
        ("a;b\n1.234,5;2,5\n-1.200.000;1\n", ",", [[1234.5, 2.5], [-1.2e6, 1]], "a point"),
        ("a\tb\n0,125\t2\n1,234\t3\n", None, [[0.125, 2], [1.234, 3]], None),
        ("a;b\n0.125;2\n1.234;3\n", None, [[0.125, 2], [1.234, 3]], None),
        ("a,b\n1.234,2\n12.345,3\n", None, [[1.234, 2], [12.345, 3]], None),
        ("a\tb\n1.234\t2.345\n12.345\t3.456\n", None, [[1.234, 2.345], [12.345, 3.456]], None),
    ],
)  # fmt: skip
def test_the_decimal_sign_decides_what_marks_thousands(text, decimal, values, note, tmp_path):
    table = read(tmp_path, text, decimal=decimal)
    np.testing.assert_array_equal(table.values, values)
    assert any("thousands" in said for said in table.notes) is (note is not None)
    assert note is None or any(note in said for said in table.notes)


def test_what_is_kept_is_a_feature_whatever_it_looks_like(tmp_path):
    text = "who,visit_id,plz,a\np1,1,01371,1.5\np2,2,80331,2.5\np3,3,00001,1\n"
    table = read(tmp_path, text, keep=["visit_id", "plz"])
    assert table.columns == ("visit_id", "plz", "a")
    np.testing.assert_array_equal(table.values[:, :2], [[1, 1371], [2, 80331], [3, 1]])
    with pytest.raises(ValueError, match="'plz' holds codes"):
        read(tmp_path, text, keep=["visit_id"])
    with pytest.raises(ValueError, match=r"visit_id.*counts"):
        read(tmp_path, text, keep=["plz"])
    with pytest.raises(ValueError, match=r"--keep names \['town'\]"):
        read(tmp_path, text, keep=["town"])


def test_what_may_stand_for_a_gap_is_said(tmp_path):
    table = read(tmp_path, "a,b,c\n1.5,2,900.5\n-999,3,999\n2.5,1,870\n")
    (note,) = table.notes
    assert "-999 in column 'a' (1 column(s))" in note
    assert read(tmp_path, "a,b\ntrue,2\nfalse,3\ntrue,1\n").notes == (
        "true is read as 1, false as 0",
    )


def test_a_first_sample_that_r_took_for_names_is_said(tmp_path):
    (note,) = read(tmp_path, "X1.5,X2,X3\n4,5,6.5\n7,8,9.9\n").notes
    assert "R makes of numbers" in note
    assert read(tmp_path, "X1,X2,X3\n4,5,6.5\n7,8,9.9\n").notes == ()


def test_amounts_in_one_unit_are_no_names() -> None:
    assert not are_names(["5 mg", "7 mg"])
    assert are_names(["5 mg", "7 kg"])
    assert are_names(["5 mg", "placebo"])


@pytest.mark.parametrize("number", [18000101, 20240101, 20241231, 20241031, 22001231])
def test_a_column_of_days_is_refused(number: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'seen'.*dates"):
        read(tmp_path, f"a,seen\n1.5,{number}\n2.5,20240131\n")


@pytest.mark.parametrize("number", [17991231, 22010101, 20240001, 20241301, 20240100, 20240132])
def test_what_is_no_day_of_any_month_is_no_date(number: int, tmp_path: Path) -> None:
    table = read(tmp_path, f"a,count\n1.5,{number}\n2.5,20240131\n")
    assert table.columns == ("a", "count")
    assert table.values[0, 1] == number


def test_salt_is_a_name(tmp_path):
    assert read(tmp_path, "Na,K\n4,5.5\n7,8\n").columns == ("Na", "K")


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
