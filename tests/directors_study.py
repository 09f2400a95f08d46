"""Made-up studies in the form in which the Director's Challenge comes."""

from __future__ import annotations

import csv
import hashlib
import uuid
from pathlib import Path

import numpy as np

from informed.datasets import directors_challenge, make_risk_cohort
from informed.datasets.directors_challenge import (
    _CLINIC,
    _EXPRESSION,
    FOLDER_VARIABLE,
    _Study,
    read_study,
)

GRADES = {"1": "WELL DIFFERENTIATED", "2": "Moderate Differentiation", "3": "POORLY DIFFERENTIATED"}
SMALL = _Study({"A": (3, 1), "B": (4, 2)}, 5)


def small_study():
    """Return header and rows of both tables. Two patients of B agree in all but the grade."""
    # site, months, dead, sex, age, stage, grade, T, N; the first of B resembles one of A.
    patients = [
        ("A", 50.4, 1, "F", 61, "I_II", "1", "T1", "N0"),
        ("A", 12.0, 0, "M", 70, "III", "3", "T2", "N2"),
        ("A", 33.0, 0, "M", 55, "I_II", "2", "T3", "N0"),
        ("B", 50.0, 1, "F", 61, "I_II", "2", "T2", "N1"),
        ("B", 20.0, 0, "F", 44, "I_II", "2", "T2", "N0"),
        ("B", 20.2, 0, "F", 44, "I_II", "3", "T1", "N1"),
        ("B", 7.7, 1, "M", 81, "III", "2", "", ""),
    ]
    values = np.random.default_rng(0).normal(size=(7, 5))
    expression, clinical = tables_of(patients, values, ["11", "22", "33", "44", "55"])
    # In another order, with rows that some rule leaves out.
    clinical[1:] = clinical[:0:-1]
    clinical.insert(2, ["90", "out", "A", "0", *clinical[1][4:]])
    clinical.insert(3, ["91", "unknown", "A", "1", "", "", "", "", "", "", ""])
    return expression, clinical


def tables_of(patients, values, genes):
    """Return header and rows of both tables, the patients in the order of the hospitals."""
    expression = [
        [
            *("Pat_Overall_Survival_Months", "Pat_Died", "Pat_Gender", "Pat_Age"),
            *("Pat_Stage", "Pat_Grade", *genes),
        ]
    ]
    clinical = [
        [
            *("PATIENT_ID", "MICROARRAY", "SITE", "IN_DC_STUDY", "GENDER", "AGE_AT_DIAGNOSIS"),
            *("VITAL_STATUS", "MONTHS_TO_LAST_CONTACT_OR_DEATH", "PATHOLOGIC_N_STAGE"),
            *("PATHOLOGIC_T_STAGE", "Histologic grade"),
        ]
    ]
    for number, (site, months, dead, sex, age, stage, grade, size, nodes) in enumerate(patients):
        cells = [f"{value:.6f}" for value in values[number]]
        expression.append([str(round(months)), str(dead), sex, str(age), stage, grade, *cells])
        gender, status = {"F": "Female", "M": "Male"}[sex], ("Alive", "Dead")[dead]
        staging = [f"{nodes}, ACCORDING" if nodes else "", f"{size}, ACCORDING" if size else ""]
        clinical.append(
            [
                *(str(number), f"array{number}", site, "1", gender, str(age), status, str(months)),
                *(*staging, GRADES[grade]),
            ]
        )
    return expression, clinical


def two_hospitals(n_home=40, n_away=24, n_genes=210):
    """Return what a study of two hospitals must hold, and its tables: enough genes to run it.

    No two patients have the same age, so that nothing is left to the grade.
    """
    made = make_risk_cohort(n_home + n_away, n_genes, effect=3.0, random_state=4)
    months = 90 * made.durations / made.durations.max()
    died = made.events.astype(int)
    sites = ["DFCI"] * n_home + ["HLM"] * n_away
    patients = [
        (site, float(months[i]), int(died[i]), "FM"[i % 2], 20 + i, "I_II", "2", "T1", "N0")
        for i, site in enumerate(sites)
    ]
    by_site = {
        site: (sites.count(site), sum(row[2] for row in patients if row[0] == site))
        for site in ("DFCI", "HLM")
    }
    genes = [str(100 + number) for number in range(n_genes)]
    return _Study(by_site, n_genes), *tables_of(patients, made.X, genes)


def take_for_real(monkeypatch, tmp_path, study, expression, clinical):
    """Write the tables to a folder, which now counts as the real one; nothing else is found.

    Real files may lie above the temporary folder: another name is looked for beside the working
    directory and above it.
    """
    folder = tmp_path / "files"
    folder.mkdir()
    checksums = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in write(folder, expression, clinical)
    ]
    monkeypatch.setattr(
        directors_challenge, "_EXPRESSION", _EXPRESSION._replace(sha256=checksums[0])
    )
    monkeypatch.setattr(directors_challenge, "_CLINIC", _CLINIC._replace(sha256=checksums[1]))
    monkeypatch.setattr(directors_challenge, "_BESIDE", Path("shared", f"data-{uuid.uuid4().hex}"))
    monkeypatch.setattr(read_study, "__defaults__", (study,))
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


def write(folder, expression, clinical):
    paths = folder / _EXPRESSION.name, folder / _CLINIC.name
    for path, rows, mark in zip(paths, (expression, clinical), ("utf-8", "utf-8-sig"), strict=True):
        with path.open("w", encoding=mark, newline="") as file:
            csv.writer(file).writerows(rows)
    return paths
