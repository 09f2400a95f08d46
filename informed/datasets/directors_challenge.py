"""The Director's Challenge: 442 lung adenocarcinomas of four hospitals, 500 genes.

The study (Shedden et al. 2008) is the source of the paper's cohort: CAN/DF is its Dana-Farber part.
Two public tables are joined here. One holds the expression of the 500 genes of highest variance
with a few clinical columns, but neither the patient's name nor the hospital. The other, the study's
own clinical table, holds these. What both have in common (months, death, sex, age) gives each row
its hospital; the hospitals stand in blocks; and where two patients of a hospital agree in all four,
the tumour's grade tells them apart. Every step is checked, and the stage, which both tables give
and which the join does not use, must agree in the end.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from informed.datasets._candf_subjects import is_missing, read_number, read_status, require_unique
from informed.datasets._download import cache_folder, download
from informed.datasets.cohort import Cohort
from informed.validation import Array, check_choice

__all__ = ["DirectorsChallenge", "find_directors_challenge", "load_directors_challenge"]

FOLDER_VARIABLE = "INFORMED_DIRECTORS_CHALLENGE"
_BESIDE = Path("shared", "data", "directors-challenge")

_SURVIVAL = ("Pat_Overall_Survival_Months", "Pat_Died")
_PATIENT = ("Pat_Gender", "Pat_Age", "Pat_Stage", "Pat_Grade")
_MONTHS = "MONTHS_TO_LAST_CONTACT_OR_DEATH"
_CLINICAL = (
    *("MICROARRAY", "SITE", "IN_DC_STUDY", "GENDER", "AGE_AT_DIAGNOSIS", "VITAL_STATUS", _MONTHS),
    *("PATHOLOGIC_N_STAGE", "PATHOLOGIC_T_STAGE", "Histologic grade"),
)
_GRADES = {"well": 1, "moderate": 2, "poorly": 3}


class _File(NamedTuple):
    """A file of the study: its name, where it is published, and its checksum."""

    name: str
    url: str
    sha256: str


class _Study(NamedTuple):
    """What the study must hold; another one in the tests."""

    sites: dict[str, tuple[int, int]]  # subjects and deaths, in the order of the blocks
    n_genes: int


class _Subject(NamedTuple):
    """A row of the expression table."""

    key: tuple[int, bool, str, int]
    stage: str
    grade: int
    values: list[float]


_STUDY = _Study({"DFCI": (82, 35), "HLM": (79, 60), "MI": (177, 102), "MSKCC": (104, 39)}, 500)
_RAW = "https://raw.githubusercontent.com"
_EXPRESSION = _File(
    "lung_cancer_data.csv",
    f"{_RAW}/AlejandroRomanVasquez/DTLDCKe/1ba7cb252450189cca0cc36974fabb0c262021b7/"
    "Application/lung%20cancer%20data.csv",
    "457b3addf7f758e42a9f54b994eac7a999ebd58a9b52b8924487afdc45d25735",
)
_CLINIC = _File(
    "DCLungStudy_Clinical_Covariates_with_Hgrade.csv",
    f"{_RAW}/fahimhoq96/Survival-Analysis/103f2943dbd72f3a59b6bb61f5a062051081fdbd/"
    "DCLungStudy_Clinical_Covariates_with_Hgrade.csv",
    "98932966c5c41983a842f93c7f228ee9b0aa543a4d2b0174089f9c10cc6f41a9",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DirectorsChallenge(Cohort):
    """Lung adenocarcinomas of several hospitals, with what is known about each patient.

    Attributes
    ----------
    sites : str array of shape (n_samples,)
        Hospital: "DFCI" (Dana-Farber, the paper's CAN/DF), "HLM" (Moffitt), "MI" (Michigan) or
        "MSKCC" (Memorial Sloan Kettering).
    age : array of shape (n_samples,)
        Age at diagnosis, in years.
    sex : str array of shape (n_samples,)
        "F" or "M".
    stage : str array of shape (n_samples,)
        Stage as the expression table has it, "I_II" or "III".
    tnm_stage : str array of shape (n_samples,)
        "I", "II" or "III", from size (T) and nodes (N) of the clinical table.
    grade : int array of shape (n_samples,)
        1 (well differentiated) to 3 (poorly), as the expression table has it.

    Notes
    -----
    The other attributes are those of :class:`Cohort`; the names of the features are Entrez gene
    ids, those of the samples are the study's names of the arrays.
    """

    sites: NDArray[np.str_]
    age: NDArray[np.float64]
    sex: NDArray[np.str_]
    stage: NDArray[np.str_]
    tnm_stage: NDArray[np.str_]
    grade: NDArray[np.intp]

    def at(self, site: str) -> Self:
        """Return the subjects of one hospital.

        Parameters
        ----------
        site : str
            One of ``sites``.
        """
        check_choice("site", site, sorted(set(self.sites.tolist())))
        return self.select_samples(np.flatnonzero(self.sites == site))

    def select_samples(self, indices: Array) -> Self:
        """Return the cohort with the given subjects only, in the given order."""
        return replace(
            self,
            X=self.X[indices],
            durations=self.durations[indices],
            events=self.events[indices],
            sample_names=tuple(self.sample_names[index] for index in indices),
            sites=self.sites[indices],
            age=self.age[indices],
            sex=self.sex[indices],
            stage=self.stage[indices],
            tnm_stage=self.tnm_stage[indices],
            grade=self.grade[indices],
        )


def find_directors_challenge(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder that holds both files of the study, without a download.

    Parameters
    ----------
    folder : path, optional
        Where to look. By default, in the folder that the environment variable
        ``INFORMED_DIRECTORS_CHALLENGE`` names; else in ``shared/data/directors-challenge`` of the
        working directory or of one above it; else in the user's cache of downloads.

    Returns
    -------
    Path or None
        None if the files are in none of these.

    Examples
    --------
    >>> find_directors_challenge("nowhere") is None
    True
    """
    given = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    if given:
        candidates = [Path(given)]
    else:
        here = Path.cwd()
        candidates = [above / _BESIDE for above in (here, *here.parents)]
        with suppress(ImportError):  # Without pooch there is no cache to look into.
            candidates.append(cache_folder())
    return next((path for path in candidates if not _missing_files(path)), None)


def load_directors_challenge(folder: str | os.PathLike[str] | None = None) -> DirectorsChallenge:
    """Load the Director's Challenge lung study: 442 subjects of four hospitals, 236 deaths.

    Parameters
    ----------
    folder : path, optional
        Folder with ``lung_cancer_data.csv`` and
        ``DCLungStudy_Clinical_Covariates_with_Hgrade.csv``. By default
        :func:`find_directors_challenge` looks for them; where it finds none, they are downloaded
        into the user's cache.

    Returns
    -------
    DirectorsChallenge
        Expression on a log-like scale of the 500 genes of highest variance over all subjects, in
        falling order; survival in months (from the clinical table, which does not round them);
        hospital, age, sex, stage and grade.

    Raises
    ------
    ValueError
        If the two tables do not fit together, or differ from those that were looked through when
        this loader was written: the message says where.
    OSError
        If a file cannot be found or downloaded.
    ImportError
        If pooch, which downloads need, is not installed.

    Notes
    -----
    The tables may not be shipped: no licence is stated. They are checked against their checksums,
    and against each other: every row of one is matched with exactly one row of the other.

    The paper's authors used 22,283 probes of the same arrays, processed by dChip. The
    patients here are the same, the numbers are not.

    Examples
    --------
    >>> load_directors_challenge("nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileNotFoundError: folder='nowhere' lacks lung_cancer_data.csv, ...
    """
    given = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    if given:
        lacking = _missing_files(Path(given))
        if lacking:
            named = f"folder={str(folder)!r}" if folder else f"{FOLDER_VARIABLE}={given!r}"
            raise FileNotFoundError(f"{named} lacks {', '.join(lacking)}")
    found = find_directors_challenge(folder)
    if found is not None:
        expression, clinical = found / _EXPRESSION.name, found / _CLINIC.name
    else:
        expression, clinical = (
            download(file.url, file.name, None, sha256=file.sha256)
            for file in (_EXPRESSION, _CLINIC)
        )
    # What is wrong inside a file says more than its checksum: so the checksums come last.
    cohort = read_study(expression, clinical)
    for path, file in ((expression, _EXPRESSION), (clinical, _CLINIC)):
        _check_bytes(path, file.sha256)
    return cohort


def read_study(expression: Path, clinical: Path, study: _Study = _STUDY) -> DirectorsChallenge:
    """Read both tables and join them; everything is checked but the checksums."""
    genes, subjects = _read_expression(expression, study)
    patients = _read_patients(clinical, study)
    names, sites, months, tnm_stages = [], [], [], []
    row = 0
    for site, (n_subjects, _) in study.sites.items():
        block = subjects[row : row + n_subjects]
        matched = _match(block, [p for p in patients if p["SITE"] == site], site, row, expression)
        for offset, (subject, patient) in enumerate(zip(block, matched, strict=True)):
            names.append(patient["MICROARRAY"])
            sites.append(site)
            months.append(float(patient[_MONTHS]))
            tnm_stages.append(_tnm_stage(patient, subject.stage, f"row {row + offset + 1}"))
        row += n_subjects
    return DirectorsChallenge(
        X=np.array([subject.values for subject in subjects]),
        durations=np.array(months),
        events=np.array([subject.key[1] for subject in subjects], dtype=np.intp),
        feature_names=tuple(genes),
        sample_names=tuple(names),
        name="Director's Challenge",
        disease="lung adenocarcinoma",
        endpoint="death",
        time_unit="months",
        source=(
            "500 genes of highest variance of the Lung Cancer Explorer's version of the study, "
            "joined with the study's clinical table"
        ),
        citation=(
            "Shedden et al. (2008), Gene expression-based survival prediction in lung "
            "adenocarcinoma: a multi-site, blinded validation study, Nature Medicine 14, 822-827"
        ),
        notes="Genes, not probes; not the dChip values that the paper's authors used.",
        sites=np.array(sites),
        age=np.array([subject.key[3] for subject in subjects], dtype=float),
        sex=np.array([subject.key[2] for subject in subjects]),
        stage=np.array([subject.stage for subject in subjects]),
        tnm_stage=np.array(tnm_stages),
        grade=np.array([subject.grade for subject in subjects], dtype=np.intp),
    )


# ---------------------------------------------------------------------------------------- the files


def _missing_files(folder: Path) -> list[str]:
    return [file.name for file in (_EXPRESSION, _CLINIC) if not (folder / file.name).is_file()]


def _check_bytes(path: Path, expected: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} is not the file that informed knows: its sha256 is {found}, expected "
            f"{expected}. It was changed or saved again"
        )


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        # The clinical table starts with a mark of its encoding, which "-sig" takes off.
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header, *rows = list(csv.reader(lines, strict=True)) or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no table of comma-separated values: {error}") from error
    require_unique(header, f"{path}: the header")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ValueError(
                f"{path}: row {number} has {len(row)} cells, the header has {len(header)}"
            )
    return header, rows


def _read_expression(path: Path, study: _Study) -> tuple[list[str], list[_Subject]]:
    header, rows = _read_rows(path)
    lacking = [name for name in (*_SURVIVAL, *_PATIENT) if name not in header]
    if lacking:
        raise ValueError(f"{path} lacks the columns {lacking}")
    genes = [name for name in header if name not in (*_SURVIVAL, *_PATIENT)]
    odd = [name for name in genes if not name.isdecimal()]
    if odd or len(genes) != study.n_genes:
        raise ValueError(
            f"{path} has {len(genes)} columns of expression, {study.n_genes} are expected"
            + (f"; {odd[:3]} are no Entrez gene ids" if odd else "")
        )
    subjects = []
    first_with: dict[tuple[float, ...], int] = {}
    for number, cells in enumerate(rows, start=1):
        row = dict(zip(header, cells, strict=True))
        subject = _read_subject(row, genes, f"row {number}", path)
        # Two tumours never agree in all genes: a copy would count one patient twice.
        twin = first_with.setdefault(tuple(subject.values), number)
        if twin != number:
            raise ValueError(f"{path}: rows {twin} and {number} hold the same expression")
        subjects.append(subject)
    expected = sum(count for count, _ in study.sites.values())
    if len(subjects) != expected:
        raise ValueError(f"{path} has {len(subjects)} subjects, {expected} are expected")
    return genes, subjects


def _read_subject(row: dict[str, str], genes: Sequence[str], who: str, path: Path) -> _Subject:
    months, died = (row[name] for name in _SURVIVAL)
    sex, age, stage, grade = (row[name] for name in _PATIENT)
    for name, value, allowed in (
        ("Pat_Died", died, ("0", "1")),
        ("Pat_Gender", sex, ("F", "M")),
        ("Pat_Stage", stage, ("I_II", "III")),
        ("Pat_Grade", grade, ("1", "2", "3")),
    ):
        if value not in allowed:
            raise ValueError(f"{path}: {name} of {who} is {value!r}: it must be one of {allowed}")
    key = (
        _rounded(read_number(months, f"{path}: {_SURVIVAL[0]}", who)),
        died == "1",
        sex,
        _rounded(read_number(age, f"{path}: Pat_Age", who)),
    )
    values = [read_number(row[gene], f"{path}: gene {gene}", who) for gene in genes]
    return _Subject(key, stage, int(grade), values)


def _read_patients(path: Path, study: _Study) -> list[dict[str, str]]:
    """Return the clinical rows of the study's subjects whose outcome is known."""
    header, rows = _read_rows(path)
    lacking = [name for name in _CLINICAL if name not in header]
    if lacking:
        raise ValueError(f"{path} lacks the columns {lacking}")
    patients = [
        patient
        for patient in (dict(zip(header, cells, strict=True)) for cells in rows)
        if patient["IN_DC_STUDY"] == "1"
        and not is_missing(patient["VITAL_STATUS"])
        and not is_missing(patient[_MONTHS])
    ]
    require_unique((p["MICROARRAY"] for p in patients), f"{path}: MICROARRAY")
    subjects = Counter(p["SITE"] for p in patients)
    deaths = Counter(p["SITE"] for p in patients if read_status(p["VITAL_STATUS"], p["MICROARRAY"]))
    found = {site: (subjects[site], deaths[site]) for site in sorted(subjects)}
    if found != study.sites:
        raise ValueError(
            f"{path}: the study's subjects and deaths by SITE are {found}, expected {study.sites}"
        )
    return patients


# ----------------------------------------------------------------------------------------- the join


def _rounded(number: float) -> int:
    # To even, as the expression table's compilers did.
    return round(number)


def _patient_key(patient: dict[str, str]) -> tuple[int, bool, str, int]:
    name = patient["MICROARRAY"]
    return (
        _rounded(read_number(patient[_MONTHS], _MONTHS, name)),
        read_status(patient["VITAL_STATUS"], name),
        patient["GENDER"][:1].upper(),
        _rounded(read_number(patient["AGE_AT_DIAGNOSIS"], "AGE_AT_DIAGNOSIS", name)),
    )


def _match(
    block: Sequence[_Subject],
    patients: Sequence[dict[str, str]],
    site: str,
    first: int,
    path: Path,
) -> list[dict[str, str]]:
    """Return the clinical row of each subject of a block: each row once."""
    waiting: dict[tuple[int, bool, str, int], list[dict[str, str]]] = defaultdict(list)
    for patient in patients:
        waiting[_patient_key(patient)].append(patient)
    tied = {key for key, several in waiting.items() if len(several) > 1}
    matched = []
    for number, subject in enumerate(block, start=first + 1):
        fitting = waiting[subject.key]
        if subject.key in tied:
            fitting = [patient for patient in fitting if _clinical_grade(patient) == subject.grade]
        if len(fitting) != 1:
            months, died, sex, age = subject.key
            raise ValueError(
                f"{path}: row {number} stands in the block of {site}, where {len(fitting)} "
                f"patients of the clinical table are left over that fit it (months {months}, "
                f"{'dead' if died else 'alive'}, {sex}, age {age}, grade {subject.grade}), not "
                "one: the rows must stand in the order of the hospitals, each patient once"
            )
        (patient,) = fitting
        waiting[subject.key].remove(patient)
        matched.append(patient)
    return matched


def _clinical_grade(patient: dict[str, str]) -> int:
    word = patient["Histologic grade"].split(" ")[0].casefold()
    return _GRADES.get(word, 0)


def _tnm_stage(patient: dict[str, str], stage: str, who: str) -> str:
    """Return I, II or III from T and N, which must agree with the stage of the other table."""
    size, nodes = patient["PATHOLOGIC_T_STAGE"][:2], patient["PATHOLOGIC_N_STAGE"][:2]
    if size not in ("T1", "T2", "T3", "T4") or nodes not in ("N0", "N1", "N2", "N3"):
        if stage == "III":
            return stage
        raise ValueError(f"{who} has stage {stage}, but neither T nor N to tell I from II")
    if nodes in ("N2", "N3") or size == "T4" or (size, nodes) == ("T3", "N1"):
        found = "III"
    else:
        found = "II" if nodes == "N1" or size == "T3" else "I"
    if (found == "III") != (stage == "III"):
        raise ValueError(
            f"{who} has stage {stage} in the expression table, but {size} and {nodes} in the "
            "clinical one: the two rows are not one patient"
        )
    return found
