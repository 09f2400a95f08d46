"""What makes a text file no table, or a first column no row names: recognised, and said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from informed.studies.cli.cells import NUMBER, SEPARATORS, WHOLE, Refuse

# How other files begin.
OTHER_FILES = {
    b"PK\x03\x04": "a zip archive or a spreadsheet (.xlsx)",
    b"\x1f\x8b": "a gzip archive",
    b"\xfd7zXZ": "an xz archive",
    b"BZh": "a bzip2 archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls)",
    b"\x93NUMPY": "an array of NumPy (.npy)",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04\x95": "a pickle of Python",
    b"version https://git-lfs": "a pointer to a file that Git LFS keeps elsewhere",
}
# Names of a first column below which features stand, as in most files of gene expression.
FEATURES = re.compile(
    r"(hugo[\W_]?)?(gene|probe|probeset|feature|transcript|protein|metabolite|symbol|ensembl|entrez"
    r"|hgnc|refseq|id_ref|cpg|locus)s?([\W_]?(id|ids|name|names|symbol|symbols|set))*",
    flags=re.IGNORECASE,
)


def uneven(cuts: dict[str, list[list[str]]], sep: str | None) -> str:
    """Say which line is out of step."""
    if all(len(line) < 2 for cut in cuts.values() for line in cut):
        if sep is None:
            return (
                "there is one column only, or the separator is none of comma, semicolon and tab: "
                "give --sep"
            )
        return f"--sep={sep!r} does not occur: there is one column only"
    # The separator that occurs most is the one whose lines are out of step.
    sign = max(cuts, key=lambda each: sum(len(line) for line in cuts[each]))
    usual = Counter(len(line) for line in cuts[sign][1:]).most_common(1)[0][0]
    number, line = next(
        (number, line) for number, line in enumerate(cuts[sign], 1) if len(line) != usual
    )
    return (
        f"line {number} has {len(line)} field(s), where most have {usual} "
        f"(separator: {SEPARATORS.get(sign, sign)})"
    )


def look_for_swallowed(cut: list[list[str]], sign: str, refuse: Refuse) -> None:
    """Stop where a quotation mark that is never closed has made one field of whole lines."""
    for number, line in enumerate(cut, 1):
        for cell in line:
            if "\n" in cell and len(line) > 1 and cell.count(sign) >= len(line) - 1:
                lines = cell.count("\n") + 1
                raise refuse(
                    f"a field of row {number} runs over {lines} lines and starts with "
                    f"{cell[:20]!r}: is a quotation mark missing or too many?"
                )


def is_measured(cell: str) -> bool:
    """Whether a cell holds a number with a fraction or an exponent: no name of a row."""
    return bool(NUMBER.fullmatch(cell)) and not WHOLE.fullmatch(cell)


def look_for_measurements(name: str, first: Sequence[str], refuse: Refuse) -> None:
    """Stop if the first column, taken for names of samples, names features or measures."""
    option = repr(name) if name else "1"
    if FEATURES.fullmatch(name):
        raise refuse(
            f"the first column, {name!r}, seems to name features, and each row must be a sample: "
            f"give --transpose, or --index-col {option} if the rows are samples"
        )
    measured = next(filter(is_measured, first), None)
    if measured is not None:
        raise refuse(
            f"the first column, {name or 'which has no name'!r}, seems to name the rows and holds "
            f"{measured!r}: give --index-col {option} if it names them, or --index-col none if it "
            "is a feature"
        )
