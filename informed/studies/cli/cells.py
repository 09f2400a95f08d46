"""Cells of a table: what is a number, a code, a missing value, and which sign is the decimal one.

A plain table never comes here: :mod:`informed.studies.cli.tables` reads it at once, and asks for a
second look, cell by cell, at what is not plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "--", "."}
INFINITE = {"inf", "-inf", "+inf", "infinity", "-infinity"}
TRUTH = {"true": "1", "false": "0"}
NO_NAMES = MISSING | INFINITE | set(TRUTH)
POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
NUMBER = re.compile(f"{POINT.pattern}|{COMMA.pattern}")
WHOLE = re.compile(r"[+-]?\d+")
LETTER = re.compile(r"[^\W\d_]")
# A number to which a unit, a sign of percent or another program's exponent is glued.
WITH_UNIT = re.compile(rf"0[xX][0-9a-fA-F]+|[<>]?({NUMBER.pattern})\s*(?P<unit>[^\d\s.,]+)[+-]?\d*")
# 007 is a code: a number would have lost its zeros. In many cells, each on a line of its own.
CODE = re.compile(r"^[ \t]*[+-]?0\d+[ \t]*$", flags=re.MULTILINE)
OTHER_SIGN = {".": ",", ",": "."}
# How a number is written, by its decimal sign, without and with signs between thousands.
WRITTEN = {".": POINT, ",": re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")}
GROUPED = {
    sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(other)}\d{{3}})+({re.escape(sign)}\d+)?")
    for sign, other in OTHER_SIGN.items()
}
# Names that say that a column tells rows apart and measures nothing.
IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|ids|index|idx|key|name|names|row|rowname|rownames|sample|samples|subject|patient"
    r"|barcode|accession|mrn|unnamed: ?0|number|nr|no|date|dob|timestamp|zip|zipcode|postcode)"
    r"([\W_].*)?|.*[a-z]ID",
    flags=re.IGNORECASE,
)
# Names of a last row that sums up those above it.
SUMMARY = re.compile(
    r"(grand )?totals?|sum|mean|average|avg|median|std|sd|min|max|count", flags=re.IGNORECASE
)
# What programs write where nothing was measured.
STAND_INS = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0)

Refuse = Callable[[str], ValueError]


def are_names(cells: Sequence[str]) -> bool:
    """Whether all cells are names: with a letter, no missing value, and no number in any dress."""
    if not all(LETTER.search(cell) and cell.lower() not in NO_NAMES for cell in cells):
        return False
    if any(NUMBER.fullmatch(cell) for cell in cells):
        return False
    dressed = [WITH_UNIT.fullmatch(cell) for cell in cells]
    return not (all(dressed) and len({match["unit"] for match in dressed if match}) == 1)


def may_be_thousands(cells: Iterable[str], sign: str) -> str | None:
    """Return a number whose ``sign`` may mark thousands, if it may do so in all numbers."""
    grouped = GROUPED[OTHER_SIGN[sign]]
    found = None
    for cell in cells:
        if sign in cell and NUMBER.fullmatch(cell):
            if not grouped.fullmatch(cell):
                return None
            found = cell
    return found


def decimal_sign(cells: Sequence[str], separator: str, refuse: Refuse) -> str:
    """Return the decimal sign that the cells show beyond doubt."""
    commas = any(COMMA.fullmatch(cell) for cell in cells)
    points = any("." in cell and POINT.fullmatch(cell) for cell in cells)
    if commas and points:
        raise refuse(
            "some numbers have a comma and others a point: give --decimal; the other sign is then "
            "one between thousands, or refused"
        )
    # Where commas separate, a point is a decimal sign. Elsewhere whole numbers beside 1.234 are
    # what thousands look like; semicolons are written where a comma is the decimal sign.
    doubtful = commas or (
        separator == ";" or (separator != "," and any(WHOLE.fullmatch(cell) for cell in cells))
    )
    sign = "," if commas else "."
    found = may_be_thousands(cells, sign) if doubtful else None
    if found is not None:
        raise refuse(
            f"{found!r} and all others like it may have a decimal sign or one between thousands: "
            "give --decimal . or --decimal ,"
        )
    return sign


def read_cells(
    names: list[str],
    body: list[list[str]],
    rows: list[str] | None,
    decimal: str | None,
    separator: str,
    sure: Sequence[str],
    refuse: Refuse,
) -> tuple[NDArray[np.float64], list[str]]:
    """Read numbers of all kinds, and say how, or say which cell holds none."""
    notes = []
    cells = [[cell.strip() for cell in line] for line in body]
    if any(cell.lower() in TRUTH for line in cells for cell in line):
        cells = [[TRUTH.get(cell.lower(), cell) for cell in line] for line in cells]
        notes.append("true is read as 1, false as 0")
    grouped = None if decimal is None else GROUPED[decimal]
    if decimal is None:
        decimal = decimal_sign([cell for line in cells for cell in line], separator, refuse)
    if decimal == ",":
        notes.append("the decimal sign is a comma")
    written = WRITTEN[decimal]
    if grouped is not None and any(grouped.fullmatch(cell) for line in cells for cell in line):
        other = OTHER_SIGN[decimal]
        cells = [
            [cell.replace(other, "") if grouped.fullmatch(cell) else cell for cell in line]
            for line in cells
        ]
        notes.append(f"a {'comma' if other == ',' else 'point'} marks thousands")
    texts = [
        name
        for place, name in enumerate(names)
        if any(
            not written.fullmatch(line[place]) and line[place].lower() not in MISSING | INFINITE
            for line in cells
        )
    ]
    if texts:
        place = names.index(texts[0])
        example = next(
            line[place]
            for line in cells
            if not written.fullmatch(line[place]) and line[place].lower() not in MISSING | INFINITE
        )
        raise refuse(
            f"column(s) {texts[:5]} hold text, such as {example!r}: every column must hold "
            "numbers; leave others out with --drop, or name the rows with --index-col"
        )
    for place, name in enumerate(names):
        code = next((line[place] for line in cells if CODE.fullmatch(line[place])), None)
        if code is not None and name not in sure:
            raise refuse(
                f"column {name!r} holds codes with leading zeros, such as {code!r}: give "
                f"--index-col {name!r} if it names the rows, --drop {name!r} to leave it out, or "
                f"--keep {name!r} if it is a feature"
            )
    gaps = [
        (place, name)
        for place, name in enumerate(names)
        if any(line[place].lower() in MISSING for line in cells)
    ]
    if gaps:
        place, name = gaps[0]
        row = next(k for k, line in enumerate(cells) if line[place].lower() in MISSING)
        where = rows[row] if rows is not None else str(row + 1)
        raise refuse(
            f"column {name!r} has no value in row {where!r} ({len(gaps)} column(s) have "
            "missing values): fill them in, or leave the columns out with --drop"
        )
    values = np.array([[float(cell.replace(",", ".")) for cell in line] for line in cells])
    if not np.isfinite(values).all():
        row, place = np.argwhere(~np.isfinite(values))[0]
        raise refuse(f"column {names[place]!r} is infinite in row {row + 1}")
    return values, notes


def are_dates(column: NDArray[np.float64]) -> bool:
    """Whether whole numbers are all dates such as 20240131."""
    month, day = column // 100 % 100, column % 100
    possible = (column >= 18_000_101) & (column <= 22_001_231)
    possible &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool(possible.all())


def stand_ins(names: Sequence[str], values: NDArray[np.float64]) -> list[str]:
    """Say which numbers stand far from all others in their column, as codes of a gap do."""
    notes = []
    for code in STAND_INS:
        found = values == code
        hit = found.any(axis=0)
        if not hit.any():
            continue
        others = np.abs(np.where(found, 0.0, values))[:, hit].max(axis=0)
        far = np.flatnonzero(hit)[
            (others < abs(code) / 5) & (found[:, hit].sum(axis=0) < len(values))
        ]
        if len(far):
            notes.append(
                f"{code:g} in column {names[far[0]]!r} ({len(far)} column(s)) is far from all "
                "else and is read as a number: if it means that a value is missing, fill it in"
            )
    return notes
