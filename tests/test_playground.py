"""The playground: tables as people have them, the library's numbers; nothing leaves the page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from informed import DiffusionMap, InformedMahalanobis
from informed.datasets import make_risk_cohort
from informed.groups import bipartition
from informed.survival import compare_survival
from informed.teaching.explorer.in_browser import playground_block

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("playground") / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>playground</title>'
        f'<link rel="icon" href="data:,"></head><body>{playground_block()}</body></html>',
        encoding="utf-8",
    )
    return path.as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The playground from its file; afterwards nothing was asked of anybody, and nothing failed."""
    context = browser.new_context(viewport={"width": 800, "height": 900}, accept_downloads=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda m: m.type == "error" and faults.append(m.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    context.on(
        "request",
        lambda r: r.url.startswith((address, "data:", "blob:")) or faults.append(f"asked {r.url}"),
    )
    page.goto(address)
    yield page
    context.close()
    assert faults == []


def give(page: Page, name: str, content: bytes) -> None:
    page.locator("#playground-file").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    page.wait_for_function(
        "document.querySelector('.notes li') || document.querySelector('.message').textContent"
    )


def notes(page: Page) -> str:
    return " ".join(page.locator(".informed-playground > .notes li").all_inner_texts())


def message(page: Page) -> str:
    return page.locator(".informed-playground > .message").inner_text()


def compute(page: Page, **options: Any) -> dict[str, Any]:
    for name, value in options.items():
        field = page.locator(f"#playground-{name}")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(str(value))
    page.get_by_role("button", name="Compute").click()
    page.wait_for_selector(".results:not([hidden])")
    return dict(page.evaluate("document.querySelector('.informed-playground').playground.result"))


def test_the_picture_follows_the_width_of_the_window(page: Page) -> None:
    page.get_by_role("button", name="Use an example").click()
    compute(page)
    for width in (390, 700):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(
            "document.querySelector('.results svg').getBoundingClientRect().width"
            " === Math.max(280, document.querySelector('.informed-playground').clientWidth)"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def taken_along(page: Page, name: str) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    return list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text("utf-8"))))


def run_lines(page: Page, folder: Path, name: str, content: bytes) -> dict[str, Any]:
    """Run the lines of Python that the page shows, beside the file."""
    (folder / name).write_bytes(content)
    lines = page.locator(".python").inner_text()
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(lines, found)
    return found


def assert_same(page: Page, result: dict[str, Any], found: dict[str, Any]) -> None:
    """The page's numbers are those of its lines of Python."""
    metric, X = found["metric"], found["X"]
    wanted = metric.pairwise_distances(X)
    scale = wanted.max()
    assert np.array(result["distances"]) == pytest.approx(wanted, rel=1e-6, abs=1e-7 * scale)
    assert np.array(result["coordinates"]) == pytest.approx(metric.transform(X), rel=1e-9, abs=1e-9)
    assert np.array(result["embedding"]) == pytest.approx(found["embedding"], abs=1e-6)
    assert result["groups"] == bipartition(found["embedding"]).tolist()
    samples = taken_along(page, "samples.csv")
    assert [row[0] for row in samples[1:]] == [str(name) for name in X.index]
    assert [int(row[1]) for row in samples[1:]] == result["groups"]
    features = taken_along(page, "features.csv")
    assert [row[0] for row in features[1:]] == [str(name) for name in X.columns]
    table = np.array(taken_along(page, "distances.csv"))
    assert table[1:, 1:].astype(float) == pytest.approx(wanted, rel=1e-6, abs=1e-7 * scale)


# ------------------------------------------------------------------------------------ three tables


def test_a_cohort_with_survival(page: Page, tmp_path: Path) -> None:
    cohort = make_risk_cohort(60, 40, random_state=0)
    table = pd.DataFrame(cohort.X.round(4), columns=[f"gene{j}" for j in range(40)])
    table.insert(0, "patient", [f"P{i:03d}" for i in range(60)])
    table["months"], table["event"] = cohort.durations.round(2), cohort.events.astype(int)
    content = table.to_csv(index=False).encode()
    give(page, "cohort.csv", content)
    assert "60 samples with 40 features" in notes(page)
    assert "“patient” holds a different text in each row" in notes(page)
    assert "survival will be compared" in notes(page)
    result = compute(page, count=3, clusters=7)
    found = run_lines(page, tmp_path, "cohort.csv", content)
    assert len(page.locator(".python").inner_text().splitlines()) == 5
    assert_same(page, result, found)
    assert result["survival"]["p"] == pytest.approx(found["p"], rel=1e-6)
    again = compare_survival(cohort.durations.round(2), cohort.events, result["groups"])
    assert result["survival"]["p"] == pytest.approx(again.p_value, rel=1e-9)
    assert page.locator(".results svg").is_visible()
    assert len(page.locator(".heat canvas").all()) == 2


@pytest.mark.parametrize(
    ("kind", "variances"),
    [("averaged", "own"), ("penalized", "pca"), ("pca", "pca"), ("exact", "own")],
)
def test_a_european_table_with_gaps(page: Page, tmp_path: Path, kind: str, variances: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 4))[:, np.arange(12) % 4] + 0.3 * rng.normal(size=(25, 12))
    table = pd.DataFrame(X.round(3), columns=[f"größe {j}" for j in range(12)])
    table.insert(0, "id", rng.permutation(np.arange(1000, 1025)))
    table["bemerkung"] = ["gut", "schlecht"] * 12 + ["gut"]
    table.iloc[[3, 7], 5] = np.nan
    content = table.to_csv(index=False, sep=";", decimal=",").encode("latin-1")
    give(page, "tabelle.csv", content)
    assert "separated by semicolons, with a decimal comma" in notes(page)
    assert "not UTF-8" in notes(page)
    assert "“id” holds a different whole number in each row" in notes(page)
    assert "“bemerkung” is left out" in notes(page)
    assert "2 values are missing, the first in “größe 4”, row 4" in message(page)
    assert page.get_by_role("button", name="Compute").is_disabled()
    page.locator("#playground-missing").select_option("columns")
    assert "25 samples with 11 features" in notes(page)
    page.locator("#playground-missing").select_option("rows")
    assert "23 samples with 12 features" in notes(page)
    assert message(page) == ""
    result = compute(page, count=2, clusters=4, kind=kind, variances=variances, weight=0.7)
    assert_same(page, result, run_lines(page, tmp_path, "tabelle.csv", content))


def test_a_hostile_table(page: Page, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    names = [
        '<img src=x onerror="alert(1)">',
        "a,b",
        'c "quoted"',
        "line\nbreak",
        "=1+1",
        "'); drop",
        "é",
        "same",
    ]
    X = pd.DataFrame(rng.normal(size=(15, 8)) + 1e6, columns=names)
    X["constant"] = 0.1
    X["line\nbreak"] = X["a,b"]
    # The index of a data frame, as to_csv writes it: the first column has no name.
    content = ("\ufeff" + X.to_csv(lineterminator="\r\n")).encode("utf-8")
    give(page, 'bad "name".csv', content)
    assert "15 samples with 9 features" in notes(page)
    assert "The first column has no name" in notes(page)
    assert "1 constant feature (“constant”)" in notes(page)
    assert page.locator(".informed-playground img").count() == 0
    result = compute(page, count=2, clusters=5)
    with pytest.warns(UserWarning, match="1 constant feature"):
        found = run_lines(page, tmp_path, 'bad "name".csv', content)
    assert found["X"].shape == (15, 9)
    assert_same(page, result, found)
    assert "<img" in page.locator(".results").inner_text()
    assert page.locator(".results img").count() == 0


def test_two_hundred_samples_of_two_thousand_features_in_a_worker(page: Page) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 7))[:, np.arange(2000) % 7] + rng.normal(size=(200, 2000))
    content = pd.DataFrame(X.round(3)).add_prefix("f").to_csv(index=False).encode()
    give(page, "large.csv", content)
    result = compute(page, count=3, clusters=7)
    labels = np.array(result["labels"])
    assert len(np.unique(labels)) == 7
    metric = InformedMahalanobis(3, feature_labels=labels).fit(X.round(3))
    wanted = metric.pairwise_distances(X.round(3))
    assert np.array(result["distances"]) == pytest.approx(wanted, rel=1e-7, abs=1e-6)
    embedding = DiffusionMap(2, metric="precomputed").fit_transform(wanted)
    assert np.array(result["embedding"]) == pytest.approx(embedding, abs=1e-6)


def test_a_run_can_be_cancelled_and_started_again(page: Page) -> None:
    rng = np.random.default_rng(4)
    content = (
        pd.DataFrame(rng.normal(size=(300, 1500)).round(3)).add_prefix("f").to_csv(index=False)
    )
    give(page, "slow.csv", content.encode())
    page.get_by_role("button", name="Compute").click()
    page.wait_for_selector("progress")
    # The page answers while the worker is busy.
    assert page.evaluate("1 + 1") == 2
    page.get_by_role("button", name="Cancel").click()
    assert not page.locator(".progress").is_visible()
    assert page.locator("[role=status]").inner_text() == "Cancelled."
    assert not page.locator(".results").is_visible()
    page.get_by_role("button", name="Use an example").click()
    assert len(compute(page)["groups"]) == 60


def test_the_same_seed_gives_the_same_clusters_and_the_settings_are_checked(page: Page) -> None:
    page.get_by_role("button", name="Use an example").click()
    first = compute(page, seed=1)["labels"]
    assert compute(page, seed=1)["labels"] == first
    run = page.get_by_role("button", name="Compute")
    objection = page.locator(".settings .message")
    for values, words in [
        ({"count": 99}, "d must be a whole number from 1 to 24"),
        ({"count": 2, "clusters": 1}, "K must be a whole number from d = 2 to 24"),
        ({"clusters": 3, "kind": "penalized", "weight": ""}, "weight must be a number"),
    ]:
        for name, value in values.items():
            field = page.locator(f"#playground-{name}")
            if name == "kind":
                field.select_option(str(value))
            else:
                field.fill(str(value))
        assert words in objection.inner_text()
        assert run.is_disabled()
    page.locator("#playground-weight").fill("2")
    assert objection.inner_text() == ""
    assert run.is_enabled()


# ------------------------------------------------------------------- tables that need a word or two

CSV = "a,b,c\n1,2,3\n4,5,7\n2,2,9\n8,1,1\n"
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "The file is empty"),
    "blank": (b"\n \n", "The file is empty"),
    "names only": (b"a,b,c\n", "nothing below it"),
    "one column": (b"a\n1\n2\n3\n", "Only one column was found"),
    "ragged": (b"a,b,c\n1,2,3\n1,2\n4,5,6\n", "Line 3 has 2 fields, the first line has 3"),
    "open quote": (b'a,b\n1,"2\n3,4\n', "quotation mark that opens on line 2 is never closed"),
    "spreadsheet": (b"PK\x03\x04\x14\x00", "Save the table as CSV"),
    "binary": (b"a,b\n\x00\x01\x02", "not text"),
    "twins": (b"a,a,b\n1,2,3\n2,3,4\n3,4,9\n", "Two columns are called “a”"),
    "few rows": (b"a,b\n1,2\n3,4\n", "at least 3 samples are needed"),
    "one feature": (b"name,a\nx,2\ny,4\nz,5\n", "1 feature is left"),
    "missing": (b"a,b,c\n1,,3\n4,5,7\n2,2,9\n", "1 value is missing, the first in “b”, row 1"),
    "negative time": (
        b"a,b,time,event\n1,2,-3,1\n4,5,7,0\n2,2,9,1\n",
        "“time” is -3 in row 1: a time cannot be negative",
    ),
    "event of 2": (
        b"a,b,time,event\n1,2,3,2\n4,5,7,0\n2,2,9,1\n",
        "“event” is 2 in row 1: it must be 1",
    ),
    "swapped": (b"a,b,event,time\n1,2,3,1\n4,5,7,0\n2,2,9,1\n", "are the two swapped?"),
    "no event": (b"a,b,time,event\n1,2,3,0\n4,5,7,0\n2,2,9,0\n", "needs an event"),
}
READ: dict[str, tuple[bytes, str]] = {
    "plain": (CSV.encode(), "4 samples with 3 features"),
    "tabs": (CSV.replace(",", "\t").encode(), "separated by tabs"),
    "bars": (CSV.replace(",", "|").encode(), "separated by bars"),
    "utf-16": (CSV.encode("utf-16"), "read as utf-16"),
    "windows line ends": (CSV.replace("\n", "\r\n").encode(), "4 samples with 3 features"),
    "no last line end": (CSV.strip().encode(), "4 samples with 3 features"),
    "no names": (b"1,2,3\n4,5,7\n2,2,9\n", "3 samples with 3 features"),
    "no names said": (b"1,2,3\n4,5,7\n2,2,9\n", "The first line holds only numbers"),
    "decimal comma": (b"a;b\n1,5;2\n3;4,25\n2;2\n", "semicolons, with a decimal comma"),
    "row index": (pd.read_csv(io.StringIO(CSV)).to_csv().encode(), "The first column has no name"),
    "counter": (b"nr,a,b\n1,4,5\n2,2,1\n3,0,9\n", "“nr” counts the rows"),
    "id": (b"sample_id,a,b\n77,4,5\n12,2,1\n93,0,9\n", "“sample_id” holds a different whole"),
    "id inside": (b"a,patient_id,b\n4,71,5\n2,12,1\n0,93,9\n", "“patient_id” is left out"),
    "text": (b"a,sex,b\n4,m,5\n2,f,1\n0,m,9\n", "“sex” is left out"),
    "infinite": (b"a,b,c\n4,inf,5\n2,1,1\n0,2,9\n", "“b” is left out, since it is not all numbers"),
    "quoted": (b'"a, b","c"\n"1",2\n3,4\n7,1\n', "from “a, b” to “c”"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_in_words(page: Page, name: str) -> None:
    content, words = BAD[name]
    give(page, "bad.csv", content)
    assert words in message(page)
    run = page.get_by_role("button", name="Compute")
    assert run.count() == 0 or run.is_disabled() or not run.is_visible()


@pytest.mark.parametrize("name", READ)
def test_what_was_read_is_said(page: Page, tmp_path: Path, name: str) -> None:
    content, words = READ[name]
    give(page, "table.csv", content)
    assert message(page) == ""
    assert words in notes(page)
    result = compute(page, count=1, clusters=2)
    found = run_lines(page, tmp_path, "table.csv", content)
    (n, p) = map(int, re.findall(r"(\d+) samples with (\d+) features", notes(page))[0])
    assert found["X"].shape == (n, p)
    wanted = found["metric"].pairwise_distances(found["X"])
    assert np.array(result["distances"]) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_the_reader_can_overrule_what_was_found(page: Page) -> None:
    give(page, "years.csv", b"2001,2002,2003\n1,2,3\n4,5,7\n2,2,9\n")
    assert "4 samples" in notes(page)
    page.locator("#playground-header").select_option("yes")
    assert "3 samples with 3 features, from “2001”" in notes(page)
    page.locator("#playground-out").select_option(["0"])
    assert "2 features, from “2002”" in notes(page)
    page.locator("#playground-time").select_option("1")
    assert "Time and event go together" in message(page)
