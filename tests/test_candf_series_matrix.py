"""CAN/DF from GEO's series matrix: a made-up study in the same form."""

from __future__ import annotations

import pytest
from candf_study import check_geo, cohort_names, geo, make_samples, write_matrix  # noqa: F401

from informed.datasets import load_candf


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
