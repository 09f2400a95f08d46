"""CAN/DF from workbooks as the authors read them: a made-up study in the same form."""

from __future__ import annotations

import sys

import pytest
from candf_study import (  # noqa: F401
    N_DEATHS,
    N_SUBJECTS,
    PROBES,
    check_subjects,
    cohort_names,
    make_patients,
    study,
    write_clinical,
    write_workbook,
)

from informed.datasets import load_candf


def test_workbooks_give_the_82_subjects(study):
    cohort = load_candf(study["workbook"], study["clinical"])
    check_subjects(cohort, study["patients"], study["values"], lambda x: x)
    assert cohort.sample_names == tuple(cohort_names(study["patients"]))
    assert "dChip" in cohort.source
    assert "Shedden" in cohort.citation


def test_paths_may_be_strings(study):
    assert load_candf(str(study["workbook"]), str(study["clinical"])).X.shape[0] == N_SUBJECTS


def test_layout_may_vary(study, tmp_path):
    """Titles above the header, .CEL in names, columns in another order, a later sheet."""
    names = [f"{name.lower()}.CEL" for name in study["names"]]
    values = {
        (probe, f"{name.lower()}.CEL"): value for (probe, name), value in study["values"].items()
    }
    workbook = write_workbook(tmp_path / "titled.xls", names, values, title_rows=3)
    columns = ["Vital Status", "SITE", "extra", *reversed(list(study["patients"][0]))]
    patients = [patient | {"Vital Status": "unused"} for patient in study["patients"]]
    del columns[0]
    clinical = write_clinical(tmp_path / "later.xls", patients, columns, header_sheet=2)
    cohort = load_candf(workbook, clinical)
    check_subjects(cohort, study["patients"], study["values"], lambda x: x)


@pytest.mark.parametrize("spelling", ["CAN/DF", "can-df", "Dana-Farber Cancer Institute", "dfci "])
def test_site_may_be_spelled_in_the_usual_ways(study, tmp_path, spelling):
    clinical = write_clinical(tmp_path / "spelled.xls", make_patients(spelling))
    assert load_candf(study["workbook"], clinical).events.sum() == N_DEATHS


def test_unknown_site_shows_the_spellings_found(study, tmp_path):
    clinical = write_clinical(tmp_path / "boston.xls", make_patients("Boston"))
    with pytest.raises(
        ValueError, match=r"expected 82 subjects with 35 deaths, found 0 .*'Boston' × 85.*'HLM' × 1"
    ):
        load_candf(study["workbook"], clinical)


def change_clinical(study, path, number, **changes):
    """Write the clinical table with one cohort member changed."""
    patients = [dict(patient) for patient in study["patients"]]
    wanted = cohort_names(patients)[number]
    for patient in patients:
        if patient["MICROARRAY"] == wanted:
            patient.update(changes)
    return write_clinical(path, patients)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"VITAL_STATUS": "Alive"}, "found 82 with 34"),
        ({"VITAL_STATUS": "--"}, "found 81 with 34"),
        ({"VITAL_STATUS": " NA "}, "found 81 with 34"),
        ({"IN_DC_STUDY": 0.0}, "found 81 with 34"),
        ({"MONTHS_TO_LAST_CONTACT_OR_DEATH": ""}, "MONTHS.*CL2004111000AA is ''"),
        ({"MONTHS_TO_LAST_CONTACT_OR_DEATH": "na"}, "MONTHS.*CL2004111000AA is 'na'"),
        ({"MONTHS_TO_LAST_CONTACT_OR_DEATH": -1.0}, "durations holds -1"),
        ({"MICROARRAY": "CL2004111001aa.CEL"}, "MICROARRAY holds 'cl2004111001aa' more than once"),
        ({"MICROARRAY": "CL_lost"}, "lacks 1 of the 82 arrays, such as 'cl_lost'"),
        ({"MICROARRAY": "na"}, "1 of the 82 subjects have no MICROARRAY"),
        ({"MICROARRAY": ""}, "1 of the 82 subjects have no MICROARRAY"),
    ],
)
def test_clinical_rows_that_do_not_fit_stop_the_loader(study, tmp_path, changes, match):
    clinical = change_clinical(study, tmp_path / "changed.xls", 0, **changes)
    with pytest.raises(ValueError, match=match):
        load_candf(study["workbook"], clinical)


def test_unknown_vital_status_is_named(study, tmp_path):
    clinical = change_clinical(study, tmp_path / "lost.xls", 40, VITAL_STATUS="Lost")
    with pytest.raises(ValueError, match=r"CL2004111004AA has the vital status 'Lost'"):
        load_candf(study["workbook"], clinical)


def test_missing_clinical_columns_are_listed(study, tmp_path):
    columns = [name for name in study["patients"][0] if name not in ("SITE", "VITAL_STATUS")]
    clinical = write_clinical(tmp_path / "columns.xls", study["patients"], columns)
    with pytest.raises(
        ValueError, match=r"lacks \['SITE', 'VITAL_STATUS'\] and has \['MICROARRAY'"
    ):
        load_candf(study["workbook"], clinical)


def test_number_typed_as_text_is_read(study, tmp_path):
    patients = [
        patient
        | {
            "IN_DC_STUDY": str(int(patient["IN_DC_STUDY"])),
            "MONTHS_TO_LAST_CONTACT_OR_DEATH": str(patient["MONTHS_TO_LAST_CONTACT_OR_DEATH"]),
        }
        for patient in study["patients"]
    ]
    clinical = write_clinical(tmp_path / "text.xls", patients)
    check_subjects(
        load_candf(study["workbook"], clinical), study["patients"], study["values"], lambda x: x
    )


@pytest.mark.parametrize(
    ("cell", "shown"), [(None, "''"), ("na", "'na'"), ("--", "'--'"), ("#N/A", "''")]
)
def test_missing_expression_is_located(study, tmp_path, cell, shown):
    values = study["values"] | {("117_at", "CL2004111007AA"): cell}
    workbook = write_workbook(tmp_path / "hole.xls", study["names"], values)
    with pytest.raises(ValueError, match=rf"'117_at' of CL2004111007AA is {shown}"):
        load_candf(workbook, study["clinical"])


def test_holes_in_arrays_outside_the_cohort_do_not_matter(study, tmp_path):
    values = study["values"] | {("117_at", "CL_out"): None}
    workbook = write_workbook(tmp_path / "hole.xls", study["names"], values)
    cohort = load_candf(workbook, study["clinical"])
    check_subjects(cohort, study["patients"], study["values"], lambda x: x)


def test_duplicated_arrays_in_the_workbook_are_refused(study, tmp_path):
    names = [*study["names"][:-1], study["names"][0]]
    workbook = write_workbook(tmp_path / "twice.xls", names, study["values"])
    with pytest.raises(ValueError, match=f"'{names[0].lower()}' more than once"):
        load_candf(workbook, study["clinical"])


def test_duplicated_probes_are_refused(study, tmp_path):
    workbook = write_workbook(
        tmp_path / "twice.xls", study["names"], study["values"], probes=[*PROBES, PROBES[1]]
    )
    with pytest.raises(ValueError, match="'1053_at' more than once"):
        load_candf(workbook, study["clinical"])


def test_blank_rows_are_skipped_but_unnamed_values_are_not(study, tmp_path):
    values = study["values"] | {("", name): None for name in study["names"]}
    workbook = write_workbook(
        tmp_path / "blank.xls", study["names"], values, probes=[*PROBES[:2], "", *PROBES[2:]]
    )
    cohort = load_candf(workbook, study["clinical"])
    check_subjects(cohort, study["patients"], study["values"], lambda x: x)
    values |= {("", "CL_out"): 1.0}
    workbook = write_workbook(
        tmp_path / "unnamed.xls", study["names"], values, probes=["", "117_at"]
    )
    with pytest.raises(ValueError, match="probe ''"):
        load_candf(workbook, study["clinical"])


def test_workbook_without_probes_or_with_too_few_sheets_is_refused(study, tmp_path):
    empty = write_workbook(tmp_path / "empty.xls", study["names"], study["values"], probes=[])
    with pytest.raises(ValueError, match="no probe below its header"):
        load_candf(empty, study["clinical"])
    short = write_workbook(tmp_path / "short.xls", study["names"], study["values"], n_sheets=3)
    with pytest.raises(ValueError, match=r"short\.xls has 3 sheets.*fourth"):
        load_candf(short, study["clinical"])


@pytest.mark.parametrize("which", ["workbook", "clinical"])
@pytest.mark.parametrize("kept", [0.02, 0.3, 0.7])
def test_truncated_workbooks_are_refused(study, which, kept):
    path = study[which]
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ValueError, match=rf"{path.name}.*not a whole .xls workbook"):
        load_candf(study["workbook"], study["clinical"])


def test_missing_xlrd_names_the_extra(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlrd", None)
    with pytest.raises(ImportError, match=r"xlrd: pip install \"informed\[data\]\""):
        load_candf(study["workbook"], study["clinical"])
