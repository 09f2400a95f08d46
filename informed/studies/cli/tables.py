"""Read a table of numbers from a text file, and refuse to guess.

A row index that is read as a feature, a first sample that is read as a header, a decimal comma that
is read as a separator: each gives distances that look right and are wrong. So the reader settles
what a file shows beyond doubt, and says so (:attr:`Table.notes`); where two readings are possible,
it stops and names the option that decides.

- *Encoding*: UTF-8, or UTF-16 with its byte-order mark. Anything else must be named.
- *Separator*: the one of comma, semicolon and tab that cuts all lines into equally many fields.
- *Decimal sign*: a comma, if fields have one and none has a point.
- *Header*: the first line, if it holds a name that is no number.
- *Row names*: a first column without a name, of text, or named like an identifier.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from informed.studies.cli.cells import (
    CODE,
    IDENTIFIER,
    MISSING,
    NO_NAMES,
    NUMBER,
    SEPARATORS,
    STAND_INS,
    SUMMARY,
    TRUTH,
    WHOLE,
    are_dates,
    are_names,
    may_be_thousands,
    read_cells,
    stand_ins,
)
from informed.studies.cli.doubts import (
    OTHER_FILES,
    look_for_measurements,
    look_for_swallowed,
    uneven,
)

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """A table of numbers, and how it was read.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        The numbers.
    rows : tuple of str
        A name for each row: from the file, or counted from 1.
    columns : tuple of str
        A name for each column: from the header, or counted from 1.
    notes : tuple of str
        What was settled while reading, one sentence each.
    named : bool
        Whether the names of the rows are the file's own.
    target : tuple of str
        What stood in the column that is to be predicted, one text for each row.
    """

    values: NDArray[np.float64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    named: bool
    target: tuple[str, ...] = ()

    def take(self, name: str, option: str) -> NDArray[np.float64]:
        """Return a column by name; ``option`` is named if there is no such column."""
        if name not in self.columns:
            raise ValueError(
                f"{option}={name!r} is no column of the table; its first columns are "
                f"{list(self.columns[:8])}"
            )
        column: NDArray[np.float64] = self.values[:, self.columns.index(name)]
        return column

    def without(self, names: Sequence[str]) -> Table:
        """Return the table without some columns."""
        kept = [place for place, name in enumerate(self.columns) if name not in names]
        return Table(
            self.values[:, kept],
            self.rows,
            tuple(self.columns[place] for place in kept),
            self.notes,
            self.named,
        )


def read_table(
    path: Path | str,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    index_col: str | None = None,
    header: bool = True,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    target: str | None = None,
    transpose: bool = False,
) -> Table:
    """Read a table of numbers with one row for each sample.

    Parameters
    ----------
    path : path
        A text file.
    sep : str or None
        Sign between two fields; None finds out.
    decimal : {".", ","} or None
        Decimal sign; None finds out.
    encoding : str or None
        Encoding of the text; None allows UTF-8, and UTF-16 with a byte-order mark.
    index_col : str or None
        Name of the column that names the rows, or its number from 1; ``"none"`` if there is no such
        column; None finds out.
    header : bool
        Whether the first line holds the names of the columns.
    drop : sequence of str
        Columns to leave out, before their content is looked at.
    keep : sequence of str
        Columns that are features, whatever they look like.
    target : str or None
        Name of a column that may hold text and is no feature.
    transpose : bool
        Whether each line holds a feature: rows and columns are exchanged before all else.

    Returns
    -------
    table : Table

    Raises
    ------
    ValueError
        If the file is not a table of numbers, or can be read in two ways. The message names the
        file, the place and the option that decides.
    """
    reader = _Reader(Path(path))
    fields = reader.split(reader.decoded(encoding), sep)
    if transpose:
        fields = reader.turned(fields, header)
    names, body = reader.headed(fields, header)
    aside: tuple[str, ...] = ()
    if target is not None:
        names, body, aside = reader.set_aside(names, body, target)
    names, rows, body = reader.indexed(names, body, index_col)
    if drop:
        names, body = reader.dropped(names, body, drop)
    if not set(keep) <= set(names):
        unknown = sorted(set(keep) - set(names))
        raise reader.refuse(f"--keep names {unknown}, which are no columns of the table")
    sure = names if index_col is not None and index_col.lower() == "none" else keep
    values = reader.numbers(names, body, rows, decimal, sure)
    if sure is not names:
        reader.look_for_identifiers(names, values, sure)
    if np.isin(values, STAND_INS).any():
        reader.notes += stand_ins(names, values)
    return Table(
        values,
        tuple(rows) if rows is not None else tuple(map(str, range(1, len(body) + 1))),
        tuple(names),
        tuple(reader.notes),
        rows is not None,
        aside,
    )


@dataclass
class _Reader:
    """One file on its way from bytes to numbers; a step that settles something adds a note."""

    path: Path
    notes: list[str] = field(default_factory=list)
    separator: str = ","

    def set_aside(
        self, names: list[str], body: list[list[str]], target: str
    ) -> tuple[list[str], list[list[str]], tuple[str, ...]]:
        """Take the column out that is to be predicted, before rows and numbers are looked for."""
        if target not in names:
            raise self.refuse(f"--target={target!r} is no column; the first ones are {names[:8]}")
        place = names.index(target)
        texts = tuple(line[place].strip() for line in body)
        empty = [row for row, text in enumerate(texts, 1) if text.lower() in MISSING]
        if empty:
            raise self.refuse(
                f"--target={target!r} has no value in row {empty[0]} ({len(empty)} in all): leave "
                "such rows out"
            )
        if len(names) == 1:
            raise self.refuse(f"there is no column besides --target={target!r}")
        kept = [line[:place] + line[place + 1 :] for line in body]
        return names[:place] + names[place + 1 :], kept, texts

    def refuse(self, why: str) -> ValueError:
        return ValueError(f"{self.path}: {why}")

    def decoded(self, encoding: str | None) -> str:
        data = self.path.read_bytes()
        if not data.strip():
            raise self.refuse("the file is empty")
        for start, what in OTHER_FILES.items():
            if data.startswith(start):
                raise self.refuse(f"this is {what}, not a text table: save it as CSV first")
        if encoding is None:
            marks = (b"\xff\xfe", b"\xfe\xff")
            encoding = "utf-16" if data.startswith(marks) else "utf-8-sig"
            if encoding == "utf-16":
                self.notes.append("the text is UTF-16")
            elif b"\x00" in data[:1000]:
                raise self.refuse(
                    "the text is not UTF-8: name its encoding, e.g. --encoding utf-16"
                )
        try:
            return data.decode(encoding)
        except LookupError:
            raise self.refuse(f"--encoding={encoding!r} is unknown") from None
        except UnicodeError:
            wanted = "UTF-8" if encoding == "utf-8-sig" else encoding
            raise self.refuse(
                f"the text is not {wanted}: name its encoding, e.g. --encoding latin-1"
            ) from None

    def split(self, text: str, sep: str | None) -> list[list[str]]:
        if sep is not None:
            sep = {"\\t": "\t", "tab": "\t"}.get(sep, sep)
            if len(sep) != 1:
                raise ValueError(f"--sep={sep!r} must be a single sign, or tab")
        told = re.match(r'"?sep=(.)"?\r?\n', text, flags=re.IGNORECASE)
        if told:
            # Excel's own first line.
            text, sep = text[told.end() :], sep or told[1]
            self.notes.append(f"line 1 names the separator, {SEPARATORS.get(sep, sep)}")
        signs = [sign for sign in SEPARATORS if sign in text] if sep is None else [sep]
        cuts, regular = {}, {}
        for sign in signs:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
            try:
                cut = list(lines)
            except csv.Error:
                raise self.refuse(
                    f"line {lines.line_num}: a field does not end; is a quotation "
                    "mark missing before it?"
                ) from None
            if len(cut) < lines.line_num:
                look_for_swallowed(cut, sign, self.refuse)
            # A blank line is no sample; a line of separators only is one without values.
            cut = cuts[sign] = [line for line in cut if len(line) > 1 or any(map(str.strip, line))]
            # All lines have equally many fields, more than one; a header may lack the first.
            width = len(cut[-1]) if cut else 0
            if (
                width > 1
                and len(cut[0]) in (width, width - 1)
                and all(len(line) == width for line in cut[1:])
            ):
                regular[sign] = cut
        if not regular:
            raise self.refuse(uneven(cuts, sep))
        winners = list(regular)
        if len(winners) > 1:
            shares = {sign: _share_of_numbers(cut) for sign, cut in regular.items()}
            winners = [sign for sign in shares if shares[sign] == max(shares.values())]
        if len(winners) > 1:
            raise self.refuse(
                f"{' and '.join(SEPARATORS[sign] for sign in winners)} both cut all lines into "
                "equally many fields: give --sep"
            )
        if sep is None and winners[0] != ",":
            found = SEPARATORS[winners[0]]
            if any("," in name for name in regular[winners[0]][0]):
                raise self.refuse(
                    f"a {found} separates, and a comma stands among the names: is it a decimal "
                    "sign or a separator? Give --sep and --decimal"
                )
            self.notes.append(f"the separator is a {found}")
        self.separator, cut = winners[0], regular[winners[0]]
        filled = len(cut)
        while filled and not any(map(str.strip, cut[filled - 1])):
            filled -= 1
        if not filled:
            raise self.refuse("the file holds separators and nothing else: it is empty")
        if filled < len(cut):
            self.notes.append(f"{len(cut) - filled} line(s) at the end hold no value: left out")
        return cut[:filled]

    def turned(self, fields: list[list[str]], header: bool) -> list[list[str]]:
        """Exchange rows and columns; what stood in the corner named the features."""
        width = len(fields[-1])
        if len(fields[0]) == width - 1:
            fields = [["", *fields[0]], *fields[1:]]
        elif header:
            fields = [["", *fields[0][1:]], *fields[1:]]
        self.notes.append("rows and columns are exchanged")
        return [list(line) for line in zip(*fields, strict=True)]

    def headed(self, fields: list[list[str]], header: bool) -> tuple[list[str], list[list[str]]]:
        width = len(fields[-1])
        if not header:
            self.notes.append("there is no header: all lines are samples")
            if len(fields[0]) != width:
                raise self.refuse("line 1 is shorter than the others: it looks like a header")
            return [str(number) for number in range(1, width + 1)], fields
        names = [name.strip() for name in fields[0]]
        if len(names) == width - 1:
            # R's write.table gives the row names no header.
            names.insert(0, "")
        if len(fields) == 1:
            if all(map(NUMBER.fullmatch, names)):
                raise self.refuse("there is one line only")
            raise self.refuse("there is a header and no sample below it")
        body = fields[1:]
        if not any(line[-1].strip() for line in body):
            if len(fields[0]) < width:
                raise self.refuse(
                    "all lines below the header end with a separator: take it away, or give the "
                    "last column a name"
                )
            if not names[-1]:
                self.notes.append("all lines end with a separator: the empty column is left out")
                names, body = names[:-1], [line[:-1] for line in body]
        named = [name for name in names if name]
        counted = [str(number) for number in range(len(named))]
        # What no column is called: numbers and words that stand for one. Salt (Na) alone may be.
        numbers = [name for name in named if NUMBER.fullmatch(name)]
        values = [name in numbers or name.lower() in NO_NAMES for name in named]
        some = bool(numbers) or any(name.lower() in TRUTH for name in named)
        fraction = not all(map(WHOLE.fullmatch, numbers))
        identifier = bool(names[0]) and IDENTIFIER.fullmatch(names[0])
        if named == counted and len(named) > 1:
            self.notes.append(f"the first line, 0 to {len(named) - 1}, is taken as a header")
        elif names[0] and len(named) > 2 and named[1:] == counted[:-1]:
            self.notes.append(f"the first line, with 0 to {len(named) - 2}, is taken as a header")
        elif some and all(values[1:]) and identifier and not values[0]:
            self.notes.append(
                f"the first line is taken as a header, by its first name, {names[0]!r}"
            )
        elif some and (all(values[1:]) or fraction) and not identifier:
            held = "numbers only" if all(values) else "numbers"
            raise self.refuse(
                f"the first line holds {held}: is it a sample? Then give --no-header; if it "
                "is a header, give the columns names that are no numbers"
            )
        mangled = [name for name in named if re.fullmatch(r"X\.?\d+(\.\d+)?", name)]
        if len(mangled) == len(named) and any("." in name[2:] for name in mangled):
            self.notes.append(
                f"names such as {mangled[0]!r} are what R makes of numbers: if line 1 was a "
                "sample, it is lost; write the file anew"
            )
        twice = [name for name, count in Counter(named).items() if count > 1]
        if twice:
            raise self.refuse(f"the column name {twice[0]!r} occurs more than once")
        empty = [place for place, name in enumerate(names) if not name and place > 0]
        if empty:
            raise self.refuse(f"column {empty[0] + 1} has no name")
        return names, body

    def indexed(
        self, names: list[str], body: list[list[str]], index_col: str | None
    ) -> tuple[list[str], list[str] | None, list[list[str]]]:
        place: int | None = None
        if index_col is not None:
            place = self.index_place(names, index_col)
        else:
            first = [line[0].strip() for line in body]
            if not names[0]:
                why = "which has no name"
            elif IDENTIFIER.fullmatch(names[0]):
                why = "by its name"
            elif not NUMBER.fullmatch(first[0]) and are_names(first):
                why = "which holds text"
            elif any(map(CODE.fullmatch, first)) and all(map(WHOLE.fullmatch, first)):
                why = "which holds codes with leading zeros"
            else:
                why = ""
            if why:
                look_for_measurements(names[0], first, self.refuse)
                place = 0
                shown = f" ({names[0]!r})" if names[0] else ""
                self.notes.append(f"row names are taken from the first column{shown}, {why}")
        if place is None:
            if "" in names:
                names = [name or "column 1" for name in names]
            return names, None, body
        rows = [line[place].strip() for line in body]
        twice = [name for name, count in Counter(rows).items() if count > 1]
        if twice:
            raise self.refuse(
                f"column {names[place] or '1'!r} names the rows, and {twice[0]!r} occurs "
                f"{Counter(rows)[twice[0]]} times in it: row names must differ (--index-col none "
                "if it is no index)"
            )
        names = names[:place] + names[place + 1 :]
        if not names:
            raise self.refuse("there is no column besides the row names")
        if index_col is None and len(rows) > 2 and SUMMARY.fullmatch(rows[-1]):
            raise self.refuse(
                f"the last row, {rows[-1]!r}, seems to sum up the others: take it away, or name "
                "the rows with --index-col if it is a sample"
            )
        return names, rows, [line[:place] + line[place + 1 :] for line in body]

    def index_place(self, names: list[str], index_col: str) -> int | None:
        """Return the place of the column that was named as naming the rows."""
        if index_col in names:
            return names.index(index_col)
        if index_col.lower() == "none":
            return None
        if WHOLE.fullmatch(index_col) and 1 <= int(index_col) <= len(names):
            return int(index_col) - 1
        raise self.refuse(f"--index-col={index_col!r} is no column; the first ones are {names[:8]}")

    def dropped(
        self, names: list[str], body: list[list[str]], drop: Sequence[str]
    ) -> tuple[list[str], list[list[str]]]:
        unknown = [name for name in drop if name not in names]
        if unknown:
            raise self.refuse(f"--drop names {unknown}, which are no columns of the table")
        kept = [place for place, name in enumerate(names) if name not in drop]
        if not kept:
            raise self.refuse("--drop leaves no column")
        return [names[k] for k in kept], [[line[k] for k in kept] for line in body]

    def numbers(
        self,
        names: list[str],
        body: list[list[str]],
        rows: list[str] | None,
        decimal: str | None,
        sure: Sequence[str],
    ) -> NDArray[np.float64]:
        if decimal not in (None, ".", ","):
            raise ValueError(f"--decimal={decimal!r} must be '.' or ','")
        if decimal != ",":
            # Plain finite numbers are read at once; anything else is looked at cell by cell.
            flat = "\n".join(map("\n".join, body))
            try:
                values = np.array(body).astype(np.float64)
            except ValueError:
                values = np.array(np.nan)
            # NumPy reads 1_000, which no table means, and 007, which is no number.
            plain = np.isfinite(values).all() and "_" not in flat and not CODE.search(flat)
            if plain and decimal is None and self.separator != ",":
                plain = may_be_thousands(flat.split("\n"), ".") is None
            if plain:
                return values
        values, notes = read_cells(names, body, rows, decimal, self.separator, sure, self.refuse)
        self.notes += notes
        return values

    def look_for_identifiers(
        self, names: list[str], values: NDArray[np.float64], sure: Sequence[str]
    ) -> None:
        """Stop at a column that seems to count or to name the rows."""
        for place, name in enumerate(names):
            column = values[:, place]
            if name in sure or not np.all(column == np.round(column)):
                continue
            rising = np.unique(column)
            distinct = len(rising) == len(column) and len(column) > 2
            counts = distinct and bool(np.all(np.diff(column) == 1))
            # In the first column also in any order, or by steps of ten.
            counts |= distinct and place == 0 and len(np.unique(np.diff(rising))) == 1
            long = distinct and place == 0 and bool(column.min() >= 10_000)
            dates = bool(column.min() > 18_000_000) and are_dates(column)
            if counts or long or dates or IDENTIFIER.fullmatch(name):
                what = "holds dates" if dates else "looks like an identifier"
                what = "counts the rows" if counts else what
                raise self.refuse(
                    f"column {name!r} {what}: is it a measurement? Give --index-col {name!r} if it "
                    f"names the rows, --drop {name!r} to leave it out, or --keep {name!r} if "
                    "it is a feature"
                )


def _share_of_numbers(fields: list[list[str]]) -> float:
    """Share of numbers among the fields of some lines, without header and first column."""
    cells = [cell.strip() for line in fields[1:50] for cell in line[1:]]
    return sum(map(bool, map(NUMBER.fullmatch, cells))) / max(len(cells), 1)
