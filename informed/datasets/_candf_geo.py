"""The CAN/DF cohort from GEO's series matrix.

The file is text: lines ``!Sample_…`` describe the samples, one tab-separated cell for each, and a
table of probes follows. A line ``!Sample_characteristics_ch1`` holds cells ``key: value``. Where a
sample lacks a key, its later cells move up a line, so that a line may mix keys: cells are read by
their key, never by their place.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

import numpy as np
from numpy.typing import NDArray

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

_STATUS, _MONTHS = "vital_status", "months_to_last_contact_or_death"
_TABLE_BEGIN, _TABLE_END = "!series_matrix_table_begin", "!series_matrix_table_end"
_FREE_TEXT = ("!Sample_title", "!Sample_source_name_ch1", "!Sample_description")
_NO_KEY = "(no key)"
_INSTITUTION_KEY = re.compile(r"site|instit|cent(er|re)|source|hospital|contribut", re.IGNORECASE)

# Field name -> one value for each sample, blank where the sample has none.
_Fields = dict[str, list[str]]


def read_series_matrix(path: Path) -> Subjects:
    """Read the cohort's 82 subjects; their expression as log2(x + 1)."""
    with _open_text(path) as lines:
        arrays, fields = _read_annotations(lines, path)
        chosen = _choose_subjects(fields, path)
        probes, values = _read_table(lines, arrays, chosen, path)
    names = [arrays[index] for index in chosen]
    if (values < 0).any():
        raise ValueError(
            f"{path}: expression holds {values.min()}; unlogged values are not negative"
        )
    return Subjects(
        names=names,
        probes=probes,
        expression=np.log2(values + 1),
        months=[
            read_number(fields[_MONTHS][index], f"{path}: {_MONTHS}", arrays[index])
            for index in chosen
        ],
        dead=[read_status(fields[_STATUS][index], arrays[index]) for index in chosen],
    )


def check_complete(path: Path) -> None:
    """Refuse a file that is no series matrix, or that ends before its table does."""
    last = ""
    with _open_text(path) as lines:
        for line in lines:
            last = line if line.strip() else last
    if last.strip() != _TABLE_END:
        raise ValueError(
            f"{path} is not a whole GEO series matrix: its last line is {last.strip()[:60]!r}, not "
            f"{_TABLE_END!r}"
        )


@contextmanager
def _open_text(path: Path) -> Iterator[TextIO]:
    """Open text that may be compressed, and say so if it is damaged."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    opener = gzip.open if compressed else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            yield cast(TextIO, lines)
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged or truncated: {error}") from error


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in line.rstrip("\r\n").split("\t")]


def _read_annotations(lines: TextIO, path: Path) -> tuple[list[str], _Fields]:
    """Read up to the table: the names of the arrays, and what is said about each."""
    arrays: list[str] = []
    described: list[tuple[str, list[str]]] = []
    for line in lines:
        label, *cells = _cells(line)
        if label == _TABLE_BEGIN:
            break
        if label == "!Sample_geo_accession":
            arrays = cells
        elif label == "!Sample_characteristics_ch1" or label in _FREE_TEXT:
            described.append((label, cells))
    else:
        raise ValueError(f"{path} is not a whole GEO series matrix: it has no {_TABLE_BEGIN!r}")
    require_unique(arrays, f"{path}: !Sample_geo_accession")
    fields: _Fields = {}
    for label, cells in described:
        if len(cells) != len(arrays):
            raise ValueError(
                f"{path}: a line {label} has {len(cells)} cells for {len(arrays)} samples"
            )
        for index, cell in enumerate(cells):
            key, value = (label, cell) if label in _FREE_TEXT else _key_and_value(cell)
            column = fields.setdefault(key, [""] * len(arrays))
            if key in (*_FREE_TEXT, _NO_KEY):
                value = f"{column[index]} {value}".strip()
            elif column[index] not in ("", value):
                raise ValueError(
                    f"{path}: {arrays[index]} has two values for {key!r}: {column[index]!r} and "
                    f"{value!r}"
                )
            column[index] = value
    return arrays, fields


def _key_and_value(cell: str) -> tuple[str, str]:
    key, colon, value = cell.partition(":")
    return (key.strip().casefold(), value.strip()) if colon else (_NO_KEY, cell)


def _choose_subjects(fields: _Fields, path: Path) -> list[int]:
    """Return the indices of the 82 subjects, by whichever field names their institution."""
    for key in (_STATUS, _MONTHS):
        if key not in fields:
            raise ValueError(f"{path}: no sample has {key!r}; the keys are {sorted(fields)}")
    n_samples = len(fields[_STATUS])
    states = fields.get("disease_state", [""] * n_samples)
    patients = [
        index
        for index in range(n_samples)
        if not states[index].casefold().startswith("normal")
        and not is_missing(fields[_STATUS][index])
        and not is_missing(fields[_MONTHS][index])
    ]
    found = []
    for key, values in fields.items():
        subjects = [index for index in patients if names_the_site(values[index])]
        n_deaths = sum(fields[_STATUS][index].casefold() == "dead" for index in subjects)
        if (len(subjects), n_deaths) == (N_SUBJECTS, N_DEATHS):
            return subjects
        if subjects:
            found.append(f"{key!r} names it for {len(subjects)} subjects, {n_deaths} of them dead")
    raise ValueError(
        f"{path}: no field names CAN/DF, DFCI or Dana-Farber for {N_SUBJECTS} subjects with "
        f"{N_DEATHS} deaths, among {len(patients)} patients whose outcome is known. "
        f"Found: {'; '.join(found) or 'no such name'}. {_spellings(fields, patients)}"
    )


def _spellings(fields: _Fields, patients: list[int]) -> str:
    """Describe the fields that may name an institution, for the reader to see how they spell it."""
    described = []
    for key, values in fields.items():
        counts = Counter(values[index] for index in patients)
        if _INSTITUTION_KEY.search(key) or any(map(names_the_site, counts)):
            common = ", ".join(f"{value!r} × {count}" for value, count in counts.most_common(12))
            described.append(f"{key!r} holds {common}")
    return "; ".join(described) or f"The keys are {sorted(fields)}"


def _read_table(
    lines: TextIO, arrays: list[str], chosen: list[int], path: Path
) -> tuple[list[str], NDArray[np.float64]]:
    """Read the chosen columns of the table, samples in rows."""
    header = _cells(next(lines, ""))[1:]
    if header != arrays:
        raise ValueError(
            f"{path}: the table's columns are not the samples of !Sample_geo_accession"
        )
    probes: list[str] = []
    rows: list[list[float]] = []
    for line in lines:
        # Numbers are not quoted: only the name needs cleaning, which matters for ten million cells.
        cells = line.rstrip("\r\n").split("\t")
        probe = cells[0].strip('"')
        if probe == _TABLE_END:
            break
        if len(cells) != len(arrays) + 1:
            raise ValueError(
                f"{path}: the row of probe {probe!r} has {len(cells) - 1} values for {len(arrays)} "
                "samples"
            )
        what = f"{path}: probe {probe!r}"
        probes.append(probe)
        rows.append([read_number(cells[index + 1], what, arrays[index]) for index in chosen])
    else:
        raise ValueError(f"{path} is truncated: it ends without {_TABLE_END!r}")
    if not probes:
        raise ValueError(f"{path}: the table holds no probe")
    require_unique(probes, f"{path}: the table")
    return probes, np.array(rows).T
