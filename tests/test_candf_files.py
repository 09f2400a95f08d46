"""CAN/DF: which files are read, and downloads."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest
import requests
from candf_study import N_DEATHS, check_geo, check_subjects, geo, study, write_matrix  # noqa: F401

from informed.datasets import candf, load_candf

# -------------------------------------------------------------------------------------- Which files


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


# ---------------------------------------------------------------------------------------- Downloads


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
    # Not the bytes: a time stamp in them would name the test anew in each process.
    ids=["html", "no table", "truncated", "empty"],
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
