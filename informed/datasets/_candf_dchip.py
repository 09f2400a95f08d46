"""The CAN/DF cohort from the dChip workbook and the clinical table of the study.

Both are Excel workbooks of the old binary format. The fourth sheet of the dChip workbook holds the
cohort's arrays in columns, with some columns empty; the clinical table has one row for each
patient and names the patient's array.
"""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from informed.datasets._candf_subjects import (
    N_DEATHS,
    N_SUBJECTS,
    Subjects,
    is_missing,
    names_the_site,
    read_number,
    read_status,
    require_unique,
)
from informed.extras import import_extra

_EXPRESSION_SHEET = 3
_HEADER_ROWS = 10  # The names of the arrays stand in one of these.
_COLUMNS = ("MICROARRAY", "SITE", "IN_DC_STUDY", "VITAL_STATUS", "MONTHS_TO_LAST_CONTACT_OR_DEATH")


def read_workbooks(expression: Path, clinical: Path) -> Subjects:
    """Read the cohort's 82 subjects; their expression as the workbook holds it."""
    patients = _read_patients(clinical)
    names = [patient["MICROARRAY"] for patient in patients]
    probes, columns = _read_expression(expression, names)
    return Subjects(
        names=names,
        probes=probes,
        expression=np.array(columns),
        months=[
            read_number(patient[_COLUMNS[-1]], f"{clinical}: {_COLUMNS[-1]}", patient["MICROARRAY"])
            for patient in patients
        ],
        dead=[read_status(patient["VITAL_STATUS"], patient["MICROARRAY"]) for patient in patients],
    )


def _open_workbook(path: Path) -> Any:
    xlrd = import_extra("xlrd", "load_candf from .xls files")
    try:
        # The log would go to standard output.
        return xlrd.open_workbook(path, on_demand=True, logfile=io.StringIO())
    except Exception as error:  # A broken file makes xlrd fail in many ways, few of them its own.
        raise ValueError(f"{path} is not a whole .xls workbook: {error!r}") from error


def _row(sheet: Any, index: int) -> list[str]:
    """Return the cells of a row as text; numbers without a fraction lose their point."""
    cells = []
    for cell in sheet.row(index):
        if cell.ctype == 5:  # An error such as #N/A; its value is a code, not a number.
            cells.append("")
        elif isinstance(cell.value, float) and cell.value.is_integer():
            cells.append(str(int(cell.value)))
        else:
            cells.append(str(cell.value).strip())
    return cells


def _read_patients(path: Path) -> list[dict[str, str]]:
    """Return the clinical rows of the cohort's subjects."""
    book = _open_workbook(path)
    header: list[str] = []
    for sheet in book.sheets():
        header = [name.upper().replace(" ", "_") for name in _row(sheet, 0)] if sheet.nrows else []
        if set(_COLUMNS) <= set(header):
            break
    else:
        missing = [name for name in _COLUMNS if name not in header]
        raise ValueError(
            f"{path}: no sheet has all the columns {list(_COLUMNS)}; the last one lacks {missing} "
            f"and has {header}"
        )
    rows = [dict(zip(header, _row(sheet, index), strict=True)) for index in range(1, sheet.nrows)]
    patients = [
        row
        for row in rows
        if names_the_site(row["SITE"])
        and row["IN_DC_STUDY"] == "1"
        and not is_missing(row["VITAL_STATUS"])
    ]
    n_deaths = sum(row["VITAL_STATUS"].casefold() == "dead" for row in patients)
    if (len(patients), n_deaths) != (N_SUBJECTS, N_DEATHS):
        sites = Counter(row["SITE"] for row in rows)
        raise ValueError(
            f"{path}: expected {N_SUBJECTS} subjects with {N_DEATHS} deaths, found {len(patients)} "
            f"with {n_deaths} whose SITE is DFCI, CAN/DF or Dana-Farber, whose IN_DC_STUDY is 1 "
            f"and whose VITAL_STATUS is known. SITE holds "
            + ", ".join(f"{site!r} × {count}" for site, count in sites.most_common(12))
        )
    n_unknown = sum(is_missing(row["MICROARRAY"]) for row in patients)
    if n_unknown:
        raise ValueError(f"{path}: {n_unknown} of the {N_SUBJECTS} subjects have no MICROARRAY")
    require_unique((_array_key(row["MICROARRAY"]) for row in patients), f"{path}: MICROARRAY")
    return patients


def _array_key(name: str) -> str:
    """Return what two spellings of an array's name have in common."""
    return name.strip().casefold().removesuffix(".cel")


def _read_expression(path: Path, names: list[str]) -> tuple[list[str], list[list[float]]]:
    """Return the probes and, for each named array, its values."""
    book = _open_workbook(path)
    if book.nsheets <= _EXPRESSION_SHEET:
        raise ValueError(f"{path} has {book.nsheets} sheets: expression is expected in the fourth")
    sheet = book.sheet_by_index(_EXPRESSION_SHEET)
    header_row, columns = _find_columns(sheet, names, path)
    probes: list[str] = []
    values: list[list[float]] = []
    for index in range(header_row + 1, sheet.nrows):
        probe, *cells = _row(sheet, index)
        if not probe and not any(cells):
            continue
        probes.append(probe)
        what = f"{path}: probe {probe!r}"
        values.append(
            [
                read_number(cells[column - 1], what, name)
                for name, column in zip(names, columns, strict=True)
            ]
        )
    if not probes:
        raise ValueError(f"{path}: the fourth sheet holds no probe below its header")
    require_unique(probes, f"{path}: the first column of the fourth sheet")
    return probes, [list(column) for column in zip(*values, strict=True)]


def _find_columns(sheet: Any, names: list[str], path: Path) -> tuple[int, list[int]]:
    """Return the row that holds the arrays' names, and the column of each wanted array."""
    wanted = {_array_key(name) for name in names}
    missing = sorted(wanted)
    for index in range(min(_HEADER_ROWS, sheet.nrows)):
        header = [_array_key(name) for name in _row(sheet, index)]
        lacking = sorted(wanted - set(header))
        if not lacking:
            require_unique((name for name in header if name in wanted), f"{path}: the fourth sheet")
            return index, [header.index(_array_key(name)) for name in names]
        if len(lacking) < len(missing):
            missing = lacking
    raise ValueError(
        f"{path}: the fourth sheet lacks {len(missing)} of the {len(names)} arrays, such as "
        f"{missing[0]!r}"
    )
