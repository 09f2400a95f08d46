"""The Director's Challenge: the join on small files of the same format, downloads, real files."""

from __future__ import annotations

import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from directors_study import SMALL, small_study, take_for_real, write
from sklearn.metrics import roc_auc_score

from informed.datasets import (
    directors_challenge,
    find_directors_challenge,
    load_candf,
    load_directors_challenge,
)
from informed.datasets._download import download
from informed.datasets.directors_challenge import (
    _CLINIC,
    _EXPRESSION,
    FOLDER_VARIABLE,
    _clinical_grade,
    read_study,
)

REAL = find_directors_challenge()
needs_files = pytest.mark.skipif(
    REAL is None, reason="the files of the Director's Challenge are not on this machine"
)
SITES = {"DFCI": (82, 35), "HLM": (79, 60), "MI": (177, 102), "MSKCC": (104, 39)}


# ------------------------------------------------------------------------------------ A small study


def test_small_study_is_joined_by_key_site_and_grade(tmp_path):
    expression, clinical = small_study()
    cohort = read_study(*write(tmp_path, expression, clinical), SMALL)
    assert cohort.sample_names == tuple(f"array{number}" for number in range(7))
    assert cohort.sites.tolist() == ["A"] * 3 + ["B"] * 4
    assert cohort.durations.tolist() == [50.4, 12.0, 33.0, 50.0, 20.0, 20.2, 7.7]
    assert cohort.events.tolist() == [1, 0, 0, 1, 0, 0, 1]
    assert cohort.age.tolist() == [61, 70, 55, 61, 44, 44, 81]
    assert cohort.sex.tolist() == ["F", "M", "M", "F", "F", "F", "M"]
    assert cohort.stage.tolist() == ["I_II", "III", "I_II", "I_II", "I_II", "I_II", "III"]
    assert cohort.tnm_stage.tolist() == ["I", "III", "II", "II", "I", "II", "III"]
    assert cohort.grade.tolist() == [1, 3, 2, 2, 2, 3, 2]
    assert cohort.feature_names == ("11", "22", "33", "44", "55")
    np.testing.assert_array_equal(cohort.X[2], [float(cell) for cell in expression[3][6:]])


def test_one_site_is_a_cohort_of_its_own(tmp_path):
    cohort = read_study(*write(tmp_path, *small_study()), SMALL)
    part = cohort.at("B")
    assert part.sample_names == ("array3", "array4", "array5", "array6")
    for name in ("X", "durations", "events", "age", "sex", "stage", "tnm_stage", "grade"):
        np.testing.assert_array_equal(getattr(part, name), getattr(cohort, name)[3:])
    with pytest.raises(ValueError, match=r"site='C'.*'A', 'B'"):
        cohort.at("C")


def swap(rows, one, other):
    rows[one], rows[other] = rows[other], rows[one]


def drop_column(rows, name):
    column = rows[0].index(name)
    for row in rows:
        del row[column]


def change(rows, row, name, value):
    rows[row][rows[0].index(name)] = value


def copy_row(rows, source, target):
    rows[target] = list(rows[source])


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda e, c: swap(e, 1, 7), r"row 1 stands in the block of A, where 0 patients"),
        (lambda e, c: e.append(list(e[2])), r"rows 2 and 8 hold the same expression"),
        (lambda e, c: copy_row(e, 2, 5), r"rows 2 and 5 hold the same expression"),
        (lambda e, c: e.pop(), r"has 6 subjects, 7 are expected"),
        (lambda e, c: drop_column(e, "Pat_Age"), r"lacks the columns \['Pat_Age'\]"),
        (lambda e, c: drop_column(e, "33"), r"4 columns of expression, 5 are expected"),
        (lambda e, c: change(e, 0, "33", "AFFX"), r"\['AFFX'\] are no Entrez gene ids"),
        (lambda e, c: change(e, 0, "33", "22"), r"the header holds '22' more than once"),
        (lambda e, c: change(e, 4, "22", "NA"), r"gene 22 of row 4 is 'NA'"),
        (lambda e, c: change(e, 4, "22", "inf"), r"gene 22 of row 4 is 'inf'"),
        (lambda e, c: change(e, 4, "Pat_Died", "2"), r"Pat_Died of row 4 is '2'"),
        (lambda e, c: change(e, 4, "Pat_Gender", "x"), r"Pat_Gender of row 4 is 'x'"),
        (lambda e, c: change(e, 2, "Pat_Age", "71"), r"row 2 stands in the block of A"),
        (lambda e, c: change(e, 5, "Pat_Grade", "3"), r"row 6 .* where 0 patients"),
        (lambda e, c: change(e, 3, "Pat_Stage", "III"), r"row 3 .*but T3 and N0.*not one patient"),
        (lambda e, c: change(e, 7, "Pat_Stage", "I_II"), r"row 7 .* neither T nor N"),
        (lambda e, c: e[3].pop(), r"row 3 has 10 cells, the header has 11"),
        (lambda e, c: drop_column(c, "SITE"), r"lacks the columns \['SITE'\]"),
        (lambda e, c: c.pop(), r"by SITE are \{'A': \(2, 0\)"),
        (lambda e, c: c.append(list(c[-1])), r"MICROARRAY holds 'array0' more than once"),
        (lambda e, c: change(c, -1, "SITE", "B"), r"by SITE are \{'A': \(2, 0\), 'B': \(5, 3\)"),
        (lambda e, c: change(c, -1, "VITAL_STATUS", "Lost"), r"array0 has the vital status 'Lost'"),
        (lambda e, c: change(c, -1, "AGE_AT_DIAGNOSIS", "old"), r"AGE_AT_DIAGNOSIS of array0"),
    ],
)
def test_tables_that_do_not_fit_are_refused_with_the_place(tmp_path, damage, match):
    expression, clinical = small_study()
    damage(expression, clinical)
    with pytest.raises(ValueError, match=match):
        read_study(*write(tmp_path, expression, clinical), SMALL)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00rubbish", b"", b'"open quote\n'])
def test_what_is_no_table_is_refused(tmp_path, content):
    paths = write(tmp_path, *small_study())
    paths[0].write_bytes(content)
    with pytest.raises(ValueError, match=r"lung_cancer_data.csv"):
        read_study(*paths, SMALL)


# ------------------------------------------------------------------- Where the files are looked for


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with the small study, which now counts as the real one; nothing else is found."""
    return take_for_real(monkeypatch, tmp_path, SMALL, *small_study())


def test_the_folder_beside_is_the_one_that_is_documented():
    assert directors_challenge._BESIDE.as_posix() == "shared/data/directors-challenge"
    assert f"``{directors_challenge._BESIDE.as_posix()}``" in find_directors_challenge.__doc__


def test_files_are_found_by_argument_variable_neighbour_and_cache(small, tmp_path, monkeypatch):
    assert find_directors_challenge() is None
    assert find_directors_challenge(small) == small
    cache = tmp_path / "cache" / "informed"
    shutil.copytree(small, cache)
    assert find_directors_challenge() == cache
    beside = tmp_path / directors_challenge._BESIDE
    shutil.copytree(small, beside)
    below = tmp_path / "project" / "book"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_directors_challenge() == beside
    monkeypatch.setenv(FOLDER_VARIABLE, str(small))
    assert find_directors_challenge() == small
    assert load_directors_challenge().X.shape == (7, 5)


def test_a_folder_that_was_named_is_not_replaced_by_another(small, tmp_path, monkeypatch):
    shutil.copytree(small, tmp_path / directors_challenge._BESIDE)
    (small / _CLINIC.name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"folder=.* lacks {_CLINIC.name}"):
        load_directors_challenge(small)
    monkeypatch.setenv(FOLDER_VARIABLE, str(small))
    with pytest.raises(FileNotFoundError, match=rf"{FOLDER_VARIABLE}=.* lacks {_CLINIC.name}"):
        load_directors_challenge()


@pytest.mark.parametrize("file", [_EXPRESSION, _CLINIC])
def test_a_changed_byte_is_refused(small, file):
    path = small / file.name
    content = path.read_bytes()
    # A digit deep in a number, or a name that the join does not use: no other check can see it.
    old, new = (b"array6", b"array8") if file is _CLINIC else (content[-4:-3], b"x")
    if file is _EXPRESSION:
        new = b"1" if old != b"1" else b"2"
        content = content[:-4] + new + content[-3:]
    else:
        content = content.replace(old, new)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{file.name} is not the file that informed knows"):
        load_directors_challenge(small)


# --------------------------------------------------------- Downloads, from a server on this machine


@contextmanager
def serving(pages):
    """Serve some bytes under some paths; a page may promise more bytes than it sends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path not in pages:
                self.send_error(404)
                return
            content, promised = pages[self.path]
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(promised))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            """Keep the output free of requests."""

    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def point_to(monkeypatch, address):
    for name in ("_EXPRESSION", "_CLINIC"):
        file = getattr(directors_challenge, name)
        monkeypatch.setattr(directors_challenge, name, file._replace(url=f"{address}/{file.name}"))


def pages_of(folder):
    files = [folder / _EXPRESSION.name, folder / _CLINIC.name]
    return {f"/{file.name}": (file.read_bytes(), file.stat().st_size) for file in files}


def test_files_are_downloaded_once_into_the_cache(small, tmp_path, monkeypatch):
    with serving(pages_of(small)) as (address, asked):
        point_to(monkeypatch, address)
        first = load_directors_challenge()
        again = load_directors_challenge()
    assert sorted(asked) == sorted(pages_of(small))
    np.testing.assert_array_equal(first.X, again.X)
    cache = tmp_path / "cache" / "informed"
    assert sorted(path.name for path in cache.iterdir()) == sorted([_EXPRESSION.name, _CLINIC.name])


@pytest.mark.parametrize("promised", ["whole", "sent"])
def test_half_a_file_never_enters_the_cache(small, tmp_path, monkeypatch, promised):
    pages = pages_of(small)
    content, size = pages[f"/{_EXPRESSION.name}"]
    half = content[: size // 2]
    pages[f"/{_EXPRESSION.name}"] = (half, size if promised == "whole" else len(half))
    with serving(pages) as (address, _):
        point_to(monkeypatch, address)
        with pytest.raises((OSError, ValueError), match=r"could not download|hash"):
            load_directors_challenge()
    assert list((tmp_path / "cache" / "informed").iterdir()) == []


def test_a_missing_page_says_what_to_do(small, tmp_path):
    with serving({}) as (address, _), pytest.raises(OSError, match=r"404.*pass its path"):
        download(f"{address}/nothing.csv", "nothing.csv", tmp_path / "cache")


def test_addresses_are_https_at_a_fixed_commit():
    for file in (_EXPRESSION, _CLINIC):
        address = file.url.split("/")
        assert address[:3] == ["https:", "", "raw.githubusercontent.com"]
        assert len(address[5]) == 40
        assert " " not in file.url


def test_missing_pooch_names_the_extra(small, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    assert find_directors_challenge() is None
    with pytest.raises(ImportError, match=r'needs the package pooch: pip install "informed\['):
        load_directors_challenge()


# ----------------------------------------------------------------------- The third source of CAN/DF


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"source": "attic"}, r"source='attic'"),
        ({"source": "geo", "clinical": "c.xls"}, r"clinical goes with source='dchip'"),
        ({"source": "dchip", "expression": "e.xls"}, r"clinical=None"),
        ({"source": "directors-challenge", "expression": "e.xls"}, r"reads its two tables"),
        ({"folder": "here"}, r"folder='here' goes with source='directors-challenge'"),
    ],
)
def test_sources_of_candf_do_not_mix(arguments, match):
    with pytest.raises(ValueError, match=match):
        load_candf(**arguments)


@needs_files
def test_candf_is_the_dana_farber_part():
    cohort = load_candf(source="directors-challenge", folder=REAL)
    assert cohort.name == "CAN/DF"
    assert (*cohort.X.shape, cohort.events.sum()) == (82, 500, 35)
    assert np.sum((cohort.events == 1) & (cohort.durations > 60)) == 7
    assert set(cohort.sites) == {"DFCI"}


# ----------------------------------------------------------------------------------- The real files


@pytest.fixture(scope="module")
def study():
    return load_directors_challenge(REAL)


@needs_files
def test_real_files_give_442_subjects_of_four_sites(study):
    assert study.X.shape == (442, 500)
    found = {
        site: (int(np.sum(study.sites == site)), int(study.events[study.sites == site].sum()))
        for site in SITES
    }
    assert found == SITES
    assert list(dict.fromkeys(study.sites)) == list(SITES)
    assert len(set(study.sample_names)) == 442
    # Arrays of Dana-Farber rise in the table: an order that the join does not use.
    names = study.at("DFCI").sample_names
    assert list(names) == sorted(names)


@needs_files
def test_join_is_confirmed_by_a_gene_of_the_y_chromosome(study):
    gene = study.X[:, study.feature_names.index("6192")]  # RPS4Y1
    assert roc_auc_score(study.sex == "M", gene) > 0.97
    assert roc_auc_score(study.at("DFCI").sex == "M", gene[study.sites == "DFCI"]) > 0.94


@needs_files
def test_stage_by_size_and_nodes_refines_that_of_the_table(study):
    np.testing.assert_array_equal(study.tnm_stage == "III", study.stage == "III")
    assert {site: np.unique(study.at(site).tnm_stage).tolist() for site in SITES} == {
        "DFCI": ["I", "II"],
        "HLM": ["I", "II", "III"],
        "MI": ["I", "II", "III"],
        "MSKCC": ["I", "II", "III"],
    }


def real_copy(tmp_path, change):
    """Write the real files with changed lines of the expression table."""
    shutil.copy(REAL / _CLINIC.name, tmp_path)
    lines = (REAL / _EXPRESSION.name).read_text().splitlines(keepends=True)
    (tmp_path / _EXPRESSION.name).write_text("".join(change(lines)))
    return tmp_path


@needs_files
@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: [*t[:-1], t[-1].replace("1", "2", 1)], r"row 442|not the file"),
        (lambda t: [t[0], *t[83:162], *t[1:83], *t[162:]], r"stands in the block of DFCI"),
        (lambda t: [t[0], *t[82:0:-1], *t[83:]], r"not the file that informed knows"),
        (lambda t: [line.split(",", 1)[1] for line in t], r"lacks the columns \['Pat_Overall"),
        (lambda t: [line.rsplit(",", 1)[0] + "\n" for line in t], r"499 columns of expression"),
        (lambda t: [*t, t[5]], r"rows 5 and 443 hold the same expression"),
        (lambda t: [*t[:9], t[5], *t[10:]], r"rows 5 and 9 hold the same expression"),
    ],
    ids=["byte", "blocks", "order", "column", "gene", "doubled", "copied"],
)
def test_real_files_that_were_changed_are_refused(tmp_path, change, match):
    with pytest.raises(ValueError, match=match):
        load_directors_challenge(real_copy(tmp_path, change))


@pytest.mark.parametrize(
    ("words", "grade"),
    [
        ("WELL DIFFERENTIATED", 1),
        ("Moderate Differentiation", 2),
        ("POORLY DIFFERENTIATED", 3),
        ("not determined", 0),
        ("", 0),
    ],
)
def test_a_grade_that_is_not_told_is_no_grade(words, grade):
    assert _clinical_grade({"Histologic grade": words}) == grade
