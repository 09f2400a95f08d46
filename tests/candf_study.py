"""A made-up study in the forms in which CAN/DF comes."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import xlwt

PROBES = ["1007_s_at", "1053_at", "117_at", "AFFX-BioB-5_at"]


N_SUBJECTS, N_DEATHS = 82, 35


# ---------------------------------------------------------------------------------- A made-up study


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


# ---------------------------------------------------------------------------------------- Workbooks


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


# ------------------------------------------------------------------------------------ Series matrix


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
