"""The CAN/DF cohort, the paper's 82 lung adenocarcinomas, from files on disk or downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import numpy as np

from informed.datasets._candf_dchip import read_workbooks
from informed.datasets._candf_geo import check_complete, read_series_matrix
from informed.datasets._download import download
from informed.datasets.cohort import Cohort
from informed.datasets.directors_challenge import load_directors_challenge
from informed.validation import check_choice

__all__ = ["load_candf"]

_GEO_URL = (
    "https://ftp.ncbi.nlm.nih.gov/geo/series/GSE68nnn/GSE68465/matrix/GSE68465_series_matrix.txt.gz"
)
_WORKBOOK_SHA256 = "86cd9627602bb4593f35d4a8ed3a77aaa4167774f8159d22dcef4c3b6774ee98"
_CLINICAL_SHA256 = "fb738fa7e1a2857d275f1960589551f0514c79168d1d4338c803b9eda2090a8f"
_SOURCES = ("geo", "dchip", "directors-challenge")
_WORKBOOK_MAGIC = b"\xd0\xcf\x11\xe0"


def load_candf(
    expression: str | os.PathLike[str] | None = None,
    clinical: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Cohort:
    """Load the CAN/DF cohort: 82 patients with lung adenocarcinoma, 35 of whom died.

    There are three sources of the same patients, each processed in its own way, so that results
    differ. The paper's authors used the study's workbook of values processed by dChip, with the
    study's clinical table: pass both. GEO's series matrix GSE68465 has the clinical data inside:
    pass it alone, or pass nothing and have it downloaded. The third source has 500 genes instead
    of 22,283 probes and is the Dana-Farber part of :func:`load_directors_challenge`: pass
    ``source="directors-challenge"``.

    Parameters
    ----------
    expression : path or https address, optional
        The dChip workbook ``DCLungStudy_dChip-Processed_microarray_data.xls`` if ``clinical`` is
        given, else GEO's series matrix (text, gzipped or not). By default, the series matrix is
        downloaded from GEO.
    clinical : path or https address, optional
        The clinical table ``DCLungStudy_Clinical_Covariates_with_Hgrade.xls`` that goes with the
        workbook.
    source : {"dchip", "geo", "directors-challenge"}, optional
        Which source to read. By default "dchip" if ``clinical`` is given, else "geo".
    folder : path, optional
        Folder with the two tables of "directors-challenge"; by default they are looked for, and
        downloaded where they are not found (see :func:`load_directors_challenge`).
    cache_dir : path, optional
        Where downloads are kept; the user's cache directory by default. A file that is there
        already is not downloaded again.

    Returns
    -------
    Cohort
        Expression of all probes (of 500 genes from the third source) with survival in months.
        Values from the workbook are as stored; values from GEO are log2(x + 1) of the stored ones;
        those of the third source are on a log-like scale.

    Raises
    ------
    ValueError
        If the files do not hold exactly 82 subjects with 35 deaths, or are incomplete, or have a
        missing value where one is needed: the message says what was found. Nothing is filled in.
    ImportError
        If xlrd, which the workbooks need, is not installed; it comes with the extra ``data``.
    OSError
        If a file cannot be found or downloaded.

    Notes
    -----
    Downloads are checked before they enter the cache: the workbook and the clinical table against
    their checksums, the series matrix, whose checksum may change at GEO, for being whole.

    Examples
    --------
    >>> load_candf("workbook.xls", "http://example.org/clinical.xls")
    Traceback (most recent call last):
        ...
    ValueError: clinical='http://example.org/clinical.xls' cannot be used: only https addresses are
    """
    if source is None:
        source = "geo" if clinical is None else "dchip"
    check_choice("source", source, _SOURCES)
    if source == "directors-challenge":
        if expression is not None or clinical is not None:
            raise ValueError(
                "expression and clinical go with other sources: source='directors-challenge' reads "
                "its two tables from folder"
            )
        return replace(load_directors_challenge(folder).at("DFCI"), name="CAN/DF")
    if folder is not None:
        raise ValueError(f"folder={str(folder)!r} goes with source='directors-challenge' only")
    if source == "geo":
        if clinical is not None:
            raise ValueError("clinical goes with source='dchip': leave it out, or the source")
        given = _GEO_URL if expression is None else expression
        path = _local_path("expression", given, cache_dir, check=check_complete)
        if _is_workbook(path):
            raise ValueError(
                f"expression={str(path)!r} is an Excel workbook: pass the clinical table that goes "
                "with it as clinical"
            )
        subjects = read_series_matrix(path)
        origin = "GEO series GSE68465, series matrix"
        processing = "Values are log2(x + 1) of MAS5 signals."
    else:
        if expression is None:
            raise ValueError("expression=None: clinical goes with a dChip workbook, pass that too")
        if clinical is None:
            raise ValueError("clinical=None: source='dchip' needs the study's clinical table too")
        table = _local_path("clinical", clinical, cache_dir, sha256=_CLINICAL_SHA256)
        path = _local_path("expression", expression, cache_dir, sha256=_WORKBOOK_SHA256)
        if not _is_workbook(path):
            raise ValueError(
                f"expression={str(path)!r} is not an .xls workbook; GEO's series matrix brings its "
                "clinical data along: leave clinical out"
            )
        subjects = read_workbooks(path, table)
        origin = "workbook of the Director's Challenge lung study, processed by dChip"
        processing = "Values are as stored in the workbook."
    return Cohort(
        X=subjects.expression,
        durations=np.array(subjects.months),
        events=np.array(subjects.dead, dtype=np.intp),
        feature_names=tuple(subjects.probes),
        sample_names=tuple(subjects.names),
        name="CAN/DF",
        disease="lung adenocarcinoma",
        endpoint="death",
        time_unit="months",
        source=origin,
        citation=(
            "Shedden et al. (2008), Gene expression-based survival prediction in lung "
            "adenocarcinoma: a multi-site, blinded validation study, Nature Medicine 14, 822-827"
        ),
        notes=f"{processing} Probes of the array's control sequences (AFFX) are included.",
    )


def _is_workbook(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_WORKBOOK_MAGIC)) == _WORKBOOK_MAGIC


def _local_path(
    argument: str,
    given: str | os.PathLike[str],
    cache_dir: str | os.PathLike[str] | None,
    *,
    sha256: str | None = None,
    check: Callable[[Path], None] | None = None,
) -> Path:
    """Return the path of a file that exists, after a download if an address was given."""
    text = os.fspath(given)
    if "://" not in text:
        path = Path(text)
        if not path.is_file():
            raise FileNotFoundError(f"{argument}={text!r} is not a file")
        return path
    address = urlsplit(text)
    name = PurePosixPath(address.path).name
    if address.scheme.lower() != "https":
        raise ValueError(f"{argument}={text!r} cannot be used: only https addresses are")
    if not name:
        raise ValueError(f"{argument}={text!r} cannot be used: the address names no file")
    return download(text, name, cache_dir, sha256=sha256, check=check)
