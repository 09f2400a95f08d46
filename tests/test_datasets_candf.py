"""The CAN/DF loader on small files of the same formats: good ones, broken ones, downloads."""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest
import requests
import xlwt

from informed.datasets import candf, load_candf

PROBES = ["1007_s_at", "1053_at", "117_at", "AFFX-BioB-5_at"]
N_SUBJECTS, N_DEATHS = 82, 35


# --- A made-up study --------------------------------------------------------------------------


def make_patients(site="DFCI"):
    """Return clinical rows: 82 of the cohort among others that some rule leaves out."""
    patients = []
    for number in range(N_SUBJECTS):
        patients.append(
            {
                # Rows are not in the order of their arrays' names.
                "MICROARRAY": f"CL20041110{37 * number % N_SUBJECTS:02d}AA",
                "SITE": site,
                "IN_DC_STUDY": 1.0,
                "VITAL_STATUS": "Dead" if number < N_DEATHS else "Alive",
                "MONTHS_TO_LAST_CONTACT_OR_DEATH": 3.5 + number,
            }
        )
    template = patients[0]
    patients.insert(3, template | {"MICROARRAY": "Moff_1", "SITE": "HLM"})
    patients.insert(9, template | {"MICROARRAY": "CL_out", "IN_DC_STUDY": 0.0})
    patients.append(template | {"MICROARRAY": "CL_na", "VITAL_STATUS": "na"})
    patients.append(template | {"MICROARRAY": "CL_blank", "VITAL_STATUS": ""})
    return patients


def make_values(names):
    """Return an expression value for each probe and array, all different and positive."""
    return {
        (probe, name): 100.0 * (row + 1) + column / 4
        for row, probe in enumerate(PROBES)
        for column, name in enumerate(names)
    }


def cohort_names(patients):
    return [
        patient["MICROARRAY"] for patient in patients if patient["MICROARRAY"].startswith("CL2004")
    ]


# --- Workbooks --------------------------------------------------------------------------------


def write_clinical(path, patients, columns=None, header_sheet=0):
    book = xlwt.Workbook()
    for index in range(header_sheet):
        book.add_sheet(f"empty{index}")
    sheet = book.add_sheet("clinical")
    columns = columns or ["PATIENT_ID", *patients[0]]
    for column, name in enumerate(columns):
        sheet.write(0, column, name)
        for row, patient in enumerate(patients, start=1):
            sheet.write(row, column, patient.get(name, row))
    book.save(str(path))
    return path


def write_workbook(path, names, values, *, title_rows=0, n_sheets=4, probes=PROBES):
    book = xlwt.Workbook()
    for index in range(n_sheets - 1):
        book.add_sheet(f"site{index}").write(0, 0, "other arrays")
    sheet = book.add_sheet("expression")
    for row in range(title_rows):
        sheet.write(row, 0, f"title {row}")
    sheet.write(title_rows, 0, "probe set")
    # As in the real workbook, some columns are empty.
    columns = [column + 1 + (column >= 5) + (column >= 40) for column in range(len(names))]
    for name, column in zip(names, columns, strict=True):
        sheet.write(title_rows, column, name)
    for row, probe in enumerate(probes, start=title_rows + 1):
        sheet.write(row, 0, probe)
        for name, column in zip(names, columns, strict=True):
            cell = values[probe, name]
            if cell == "#N/A":
                sheet.row(row).set_cell_error(column, 0x2A)
            elif cell is not None:
                sheet.write(row, column, cell)
    book.save(str(path))
    return path


@pytest.fixture
def study(tmp_path):
    """Write a good pair of workbooks; return their paths and what is in them."""
    patients = make_patients()
    # The workbook has arrays that the cohort does not use, and its own order.
    names = [*reversed(cohort_names(patients)), "CL_out"]
    values = make_values(names)
    return {
        "patients": patients,
        "names": names,
        "values": values,
        "clinical": write_clinical(tmp_path / "clinical.xls", patients),
        "workbook": write_workbook(tmp_path / "dchip.xls", names, values),
    }


def check_subjects(cohort, patients, values, transform):
    names = cohort_names(patients)
    by_name = {patient["MICROARRAY"]: patient for patient in patients}
    assert cohort.X.shape == (N_SUBJECTS, len(PROBES))
    assert cohort.events.sum() == N_DEATHS
    assert cohort.feature_names == tuple(PROBES)
    assert (cohort.name, cohort.time_unit, cohort.endpoint) == ("CAN/DF", "months", "death")
    for row, name in enumerate(names):
        patient = by_name[name]
        assert cohort.events[row] == (patient["VITAL_STATUS"] == "Dead")
        assert cohort.durations[row] == patient["MONTHS_TO_LAST_CONTACT_OR_DEATH"]
        expected = [transform(values[probe, name]) for probe in PROBES]
        np.testing.assert_allclose(cohort.X[row], expected, rtol=1e-15)


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
    with pytest.raises(ImportError, match=r"xlrd: pip install \"informed\[cohorts\]\""):
        load_candf(study["workbook"], study["clinical"])


# --- Series matrix ----------------------------------------------------------------------------


def make_samples(patients, site_key="site", site_of=lambda patient: patient["SITE"]):
    """Return GEO samples: for each array its characteristics in order."""
    samples = {}
    for number, patient in enumerate(patients):
        cells = [
            ("disease_state", "Lung Adenocarcinoma"),
            ("Sex", "Male" if number % 2 else "Female"),
            ("vital_status", patient["VITAL_STATUS"]),
            (
                "months_to_last_contact_or_death",
                f"{patient['MONTHS_TO_LAST_CONTACT_OR_DEATH']:g}",
            ),
        ]
        if site_key is not None:
            cells.insert(2, (site_key, site_of(patient)))
        samples[f"GSM{1000 + number}"] = [f"{key}: {value}" for key, value in cells]
    samples["GSM9001"] = ["disease_state: Normal", "site: DFCI", "vital_status: Alive"]
    return samples


def write_matrix(path, samples, values, *, extra_lines=(), end=True, rows=None, header=None):
    """Write a series matrix. ``values`` maps (probe, array) to numbers or text."""
    arrays = list(samples)
    depth = max(map(len, samples.values()))
    lines = ['!Series_title\t"Lung"', "", "!Sample_geo_accession\t" + quoted(arrays)]
    lines += [f"{label}\t{quoted(cells)}" for label, cells in extra_lines]
    for line in range(depth):
        cells = [cells[line] if line < len(cells) else "" for cells in samples.values()]
        lines.append("!Sample_characteristics_ch1\t" + quoted(cells))
    lines += ["!series_matrix_table_begin", '"ID_REF"\t' + quoted(header or arrays)]
    for probe in PROBES if rows is None else rows:
        cells = [str(values.get((probe, array), 1.0)) for array in arrays]
        lines.append(f'"{probe}"\t' + "\t".join(cells))
    lines += ["!series_matrix_table_end"] if end else []
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def quoted(cells):
    return "\t".join(f'"{cell}"' for cell in cells)


@pytest.fixture
def geo():
    """Return a good study as GEO would hold it: patients, samples and values by array."""
    patients = [patient for patient in make_patients() if patient["MICROARRAY"] != "CL_out"]
    samples = make_samples(patients)
    arrays = dict(zip((patient["MICROARRAY"] for patient in patients), samples, strict=False))
    by_name = make_values(list(arrays))
    return {
        "patients": patients,
        "samples": samples,
        "arrays": arrays,
        "values": {(probe, arrays[name]): value for (probe, name), value in by_name.items()},
        "by_name": by_name,
    }


def check_geo(cohort, geo):
    check_subjects(cohort, geo["patients"], geo["by_name"], lambda x: np.log2(x + 1))
    assert cohort.sample_names == tuple(
        geo["arrays"][name] for name in cohort_names(geo["patients"])
    )
    assert "GSE68465" in cohort.source


@pytest.mark.parametrize("name", ["matrix.txt", "matrix.txt.gz"])
def test_series_matrix_gives_the_82_subjects_logged(geo, tmp_path, name):
    check_geo(load_candf(write_matrix(tmp_path / name, geo["samples"], geo["values"])), geo)


def test_compression_is_told_by_content_not_by_name(geo, tmp_path):
    packed = write_matrix(tmp_path / "matrix.txt.gz", geo["samples"], geo["values"])
    check_geo(load_candf(packed.rename(tmp_path / "matrix.txt")), geo)


def test_characteristics_are_matched_by_key_not_by_line(geo, tmp_path):
    samples = {
        array: cells[shift % len(cells) :] + cells[: shift % len(cells)]
        for shift, (array, cells) in enumerate(geo["samples"].items())
    }
    check_geo(load_candf(write_matrix(tmp_path / "mixed.txt", samples, geo["values"])), geo)


def test_keys_may_be_spaced_and_capitalised(geo, tmp_path):
    samples = {
        array: [cell.replace("vital_status: ", " Vital_Status :  ") for cell in cells]
        for array, cells in geo["samples"].items()
    }
    check_geo(load_candf(write_matrix(tmp_path / "spaced.txt", samples, geo["values"])), geo)


@pytest.mark.parametrize(
    "label", ["!Sample_title", "!Sample_source_name_ch1", "!Sample_description"]
)
def test_institution_may_stand_in_another_line(geo, tmp_path, label):
    samples = make_samples(geo["patients"], site_key=None)
    sites = [f"tumour from {patient['SITE']}, frozen" for patient in geo["patients"]] + ["DFCI"]
    # A second line of the same kind must not hide the first.
    lines = [(label, sites), (label, ["total RNA"] * len(samples))]
    path = write_matrix(tmp_path / "line.txt", samples, geo["values"], extra_lines=lines)
    check_geo(load_candf(path), geo)


def test_institution_may_stand_without_a_key(geo, tmp_path):
    samples = {
        array: [cell.removeprefix("site: ") for cell in cells]
        for array, cells in geo["samples"].items()
    }
    check_geo(load_candf(write_matrix(tmp_path / "bare.txt", samples, geo["values"])), geo)


def test_a_line_that_names_the_institution_for_everybody_does_no_harm(geo, tmp_path):
    lines = [("!Sample_description", ["arrays run at CAN/DF"] * len(geo["samples"]))]
    path = write_matrix(tmp_path / "all.txt", geo["samples"], geo["values"], extra_lines=lines)
    check_geo(load_candf(path), geo)


def test_unknown_institution_shows_the_spellings_found(geo, tmp_path):
    samples = make_samples(
        geo["patients"],
        "contributing_site",
        lambda patient: patient["SITE"].replace("DFCI", "DF-1"),
    )
    path = write_matrix(tmp_path / "unknown.txt", samples, geo["values"])
    with pytest.raises(
        ValueError,
        match=r"82 subjects with 35 deaths.*Found: no such name.*"
        r"'contributing_site' holds 'DF-1' × 82, 'HLM' × 1",
    ):
        load_candf(path)


def test_wrong_count_says_what_was_found(geo, tmp_path):
    del geo["samples"][geo["arrays"][cohort_names(geo["patients"])[2]]]
    path = write_matrix(tmp_path / "count.txt", geo["samples"], geo["values"])
    with pytest.raises(
        ValueError, match=r"'site' names it for 81 subjects, 34 of them dead.*'DFCI' × 81"
    ):
        load_candf(path)


def test_no_institution_at_all_lists_the_keys(geo, tmp_path):
    samples = make_samples(geo["patients"], site_key=None)
    del samples["GSM9001"]
    path = write_matrix(tmp_path / "none.txt", samples, geo["values"])
    with pytest.raises(ValueError, match=r"The keys are \['disease_state', 'months_to_last"):
        load_candf(path)


def replace_cell(geo, number, key, value):
    array = geo["arrays"][cohort_names(geo["patients"])[number]]
    geo["samples"][array] = [
        f"{key}: {value}" if cell.startswith(f"{key}:") else cell for cell in geo["samples"][array]
    ]


@pytest.mark.parametrize("key", ["vital_status", "months_to_last_contact_or_death"])
@pytest.mark.parametrize("missing", ["", "na", "NA", "--"])
def test_subjects_without_outcome_do_not_count(geo, tmp_path, key, missing):
    replace_cell(geo, 0, key, missing)
    path = write_matrix(tmp_path / "na.txt", geo["samples"], geo["values"])
    with pytest.raises(ValueError, match="for 81 subjects, 34 of them dead"):
        load_candf(path)


@pytest.mark.parametrize(
    ("number", "key", "value", "match"),
    [
        (50, "vital_status", "Unknown", "GSM1051 has the vital status 'Unknown'"),
        (50, "months_to_last_contact_or_death", "long", "months_.* of GSM1051 is 'long'"),
        (0, "disease_state", "Normal", "for 81 subjects, 34 of them dead"),
    ],
)
def test_odd_characteristics_stop_the_loader(geo, tmp_path, number, key, value, match):
    replace_cell(geo, number, key, value)
    path = write_matrix(tmp_path / "odd.txt", geo["samples"], geo["values"])
    with pytest.raises(ValueError, match=match):
        load_candf(path)


@pytest.mark.parametrize("key", ["vital_status", "months_to_last_contact_or_death"])
def test_missing_key_lists_the_keys_found(geo, tmp_path, key):
    samples = {
        array: [cell for cell in cells if not cell.startswith(key)]
        for array, cells in geo["samples"].items()
    }
    path = write_matrix(tmp_path / "key.txt", samples, geo["values"])
    with pytest.raises(ValueError, match=rf"no sample has '{key}'; the keys are .*'disease_state'"):
        load_candf(path)


def test_contradiction_is_named(geo, tmp_path):
    geo["samples"]["GSM1002"].append("vital_status: Alive")
    path = write_matrix(tmp_path / "both.txt", geo["samples"], geo["values"])
    with pytest.raises(ValueError, match=r"GSM1002 has two values for 'vital_status'"):
        load_candf(path)


def cut_row(text):
    lines = text.splitlines()
    lines[-3] = lines[-3].rsplit("\t", 5)[0]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda text: text[: text.index("!series_matrix_table_end")], "truncated: it ends without"),
        (lambda text: text[: text.index('"117_at"') + 40], "probe '117_at' has .* values for"),
        (cut_row, r"probe '117_at' has \d+ values for \d+ samples"),
        (
            lambda text: text[: text.index("!series_matrix_table_begin")],
            "it has no '!series_matrix",
        ),
        (lambda text: text[: text.index('"ID_REF"')], "columns are not the samples"),
        (lambda text: "<html>not found</html>", "it has no '!series_matrix_table_begin'"),
        (lambda text: text.replace('"117_at"', '"1053_at"'), "'1053_at' more than once"),
        (lambda text: text.replace("GSM1001", "GSM1002"), "'GSM1002' more than once"),
        (lambda text: text.replace('"site: HLM"\t', ""), "cells for 86 samples"),
    ],
)
def test_damaged_matrices_are_refused(geo, tmp_path, damage, match):
    path = write_matrix(tmp_path / "damaged.txt", geo["samples"], geo["values"])
    path.write_text(damage(path.read_text()))
    with pytest.raises(ValueError, match=match):
        load_candf(path)


def test_table_in_another_order_is_refused(geo, tmp_path):
    header = sorted(geo["samples"], reverse=True)
    path = write_matrix(tmp_path / "order.txt", geo["samples"], geo["values"], header=header)
    with pytest.raises(ValueError, match="columns are not the samples"):
        load_candf(path)


def test_table_without_probes_is_refused(geo, tmp_path):
    path = write_matrix(tmp_path / "empty.txt", geo["samples"], geo["values"], rows=[])
    with pytest.raises(ValueError, match="holds no probe"):
        load_candf(path)


@pytest.mark.parametrize(
    ("cell", "match"),
    [
        ("", r"'117_at' of GSM1001 is ''"),
        ("na", r"'117_at' of GSM1001 is 'na'"),
        ("inf", r"'117_at' of GSM1001 is 'inf'"),
        (-3.5, r"expression holds -3.5"),
    ],
)
def test_bad_expression_is_located(geo, tmp_path, cell, match):
    geo["values"]["117_at", "GSM1001"] = cell
    path = write_matrix(tmp_path / "bad.txt", geo["samples"], geo["values"])
    with pytest.raises(ValueError, match=match):
        load_candf(path)


def test_truncated_gzip_is_refused(geo, tmp_path):
    path = write_matrix(tmp_path / "matrix.txt.gz", geo["samples"], geo["values"])
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"matrix\.txt\.gz is damaged or truncated"):
        load_candf(path)


def test_binary_rubbish_is_refused(tmp_path):
    path = tmp_path / "rubbish.txt"
    path.write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(ValueError, match=r"rubbish\.txt is damaged"):
        load_candf(path)


# --- Which files ------------------------------------------------------------------------------


def test_files_of_the_wrong_kind_are_told_apart(study, geo, tmp_path):
    matrix = write_matrix(tmp_path / "matrix.txt", geo["samples"], geo["values"])
    with pytest.raises(ValueError, match=r"is an Excel workbook: pass the clinical table"):
        load_candf(study["workbook"])
    with pytest.raises(ValueError, match=r"is not an .xls workbook.*leave clinical out"):
        load_candf(matrix, study["clinical"])
    with pytest.raises(ValueError, match=r"expression=None.*pass that too"):
        load_candf(clinical=study["clinical"])


def test_missing_files_are_named(study, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"expression='.*nowhere.txt' is not a file"):
        load_candf(tmp_path / "nowhere.txt")
    with pytest.raises(FileNotFoundError, match=r"expression='' is not a file"):
        load_candf("")
    with pytest.raises(FileNotFoundError, match=r"clinical='.*nowhere.xls' is not a file"):
        load_candf(study["workbook"], tmp_path / "nowhere.xls")


# --- Downloads --------------------------------------------------------------------------------


class FakeNetwork:
    """Stands where pooch asks for its downloader; serves files and keeps the requests."""

    def __init__(self):
        self.pages = {}
        self.asked = []
        self.options = []

    def __call__(self, **options):
        self.options.append(options)
        return self.fetch

    def fetch(self, url, target, _):
        self.asked.append(url)
        page = self.pages[url]
        if isinstance(page, Exception):
            Path(target).write_bytes(b"the first half")
            raise page
        Path(target).write_bytes(page)


@pytest.fixture
def network(monkeypatch):
    fake = FakeNetwork()
    monkeypatch.setattr("pooch.HTTPDownloader", fake)
    return fake


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def matrix_bytes(geo, tmp_path):
    return write_matrix(tmp_path / "served.txt.gz", geo["samples"], geo["values"]).read_bytes()


def test_geo_is_downloaded_once_by_default(geo, tmp_path, network, cache):
    network.pages[candf._GEO_URL] = matrix_bytes(geo, tmp_path)
    check_geo(load_candf(cache_dir=cache), geo)
    check_geo(load_candf(cache_dir=cache), geo)
    assert network.asked == [candf._GEO_URL]
    assert candf._GEO_URL.startswith("https://")
    assert [path.name for path in cache.iterdir()] == ["GSE68465_series_matrix.txt.gz"]
    # Without a checksum, the answer must come from the address itself.
    assert network.options[0]["allow_redirects"] is False


def test_default_cache_is_the_users(geo, tmp_path, network, monkeypatch, cache):
    monkeypatch.setattr("pooch.os_cache", lambda project: cache / project)
    network.pages[candf._GEO_URL] = matrix_bytes(geo, tmp_path)
    load_candf()
    assert (cache / "informed" / "GSE68465_series_matrix.txt.gz").is_file()


@pytest.mark.parametrize(
    "page",
    [
        b"<html>moved</html>",
        gzip.compress(b"!Sample_title\n!series_matrix_table_begin\n"),
        gzip.compress(b"!series_matrix_table_begin\n!series_matrix_table_end\n" * 100)[:-30],
        b"",
    ],
)
def test_incomplete_download_never_enters_the_cache(network, cache, page):
    network.pages[candf._GEO_URL] = page
    with pytest.raises(ValueError, match=r"not a whole GEO series matrix|truncated"):
        load_candf(cache_dir=cache)
    assert list(cache.iterdir()) == []


def test_broken_connection_leaves_nothing_and_says_what_to_do(network, cache):
    network.pages[candf._GEO_URL] = requests.exceptions.ConnectionError("cable cut")
    with pytest.raises(OSError, match=r"could not download https://.*cable cut.*pass its path"):
        load_candf(cache_dir=cache)
    assert list(cache.iterdir()) == []


def serve_workbooks(study, network, monkeypatch):
    addresses = {}
    for which, constant in (("workbook", "_WORKBOOK_SHA256"), ("clinical", "_CLINICAL_SHA256")):
        content = study[which].read_bytes()
        addresses[which] = f"https://example.org/files/{which}.xls?version=2"
        network.pages[addresses[which]] = content
        monkeypatch.setattr(candf, constant, hashlib.sha256(content).hexdigest())
    return addresses


def test_workbooks_are_downloaded_and_checked(study, network, cache, monkeypatch):
    addresses = serve_workbooks(study, network, monkeypatch)
    cohort = load_candf(addresses["workbook"], addresses["clinical"], cache_dir=cache)
    check_subjects(cohort, study["patients"], study["values"], lambda x: x)
    assert sorted(path.name for path in cache.iterdir()) == ["clinical.xls", "workbook.xls"]
    assert all(options["allow_redirects"] for options in network.options)


@pytest.mark.parametrize("which", ["workbook", "clinical"])
def test_wrong_checksum_never_enters_the_cache(study, network, cache, monkeypatch, which):
    addresses = serve_workbooks(study, network, monkeypatch)
    network.pages[addresses[which]] += b"x"
    with pytest.raises(ValueError, match=rf"(?s)hash.*{which}.xls"):
        load_candf(addresses["workbook"], addresses["clinical"], cache_dir=cache)
    assert f"{which}.xls" not in {path.name for path in cache.iterdir()}


def test_damaged_cache_is_downloaded_again(study, network, cache, monkeypatch):
    addresses = serve_workbooks(study, network, monkeypatch)
    cache.mkdir()
    (cache / "clinical.xls").write_bytes(b"damaged")
    cohort = load_candf(addresses["workbook"], addresses["clinical"], cache_dir=cache)
    assert cohort.events.sum() == N_DEATHS


@pytest.mark.parametrize(
    ("address", "match"),
    [
        ("http://example.org/matrix.txt", "expression='http://.*only https"),
        ("ftp://example.org/matrix.txt", "only https"),
        ("file:///etc/hosts", "only https"),
        ("https://example.org", "names no file"),
        ("https://example.org/", "names no file"),
    ],
)
def test_only_https_addresses_of_files_are_taken(network, address, match):
    with pytest.raises(ValueError, match=match):
        load_candf(address)
    assert network.asked == []
