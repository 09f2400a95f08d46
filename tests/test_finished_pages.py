"""What is done to the finished pages: they get lighter and better, and lose nothing they show."""

from __future__ import annotations

import base64
import io
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT / "tools"))
from accessible import RULES, mend_page
from lighten import MATHJAX_PARTS, lighten_page, names_in, without_unused_rules

USED = {"card", "open", "theme"}


@pytest.mark.parametrize(
    ("sheet", "kept"),
    [
        (".card{color:red}", ".card{color:red}"),
        (".gone{color:red}", ""),
        (".card,.gone{top:0}", ".card{top:0}"),
        (".card .gone{top:0}", ""),
        (".card:not(.gone){top:0}", ".card:not(.gone){top:0}"),
        ("#gone p{top:0}", ""),
        ("p,h1>a{top:0}", "p,h1>a{top:0}"),
        ("a:is(.card,.open){top:0}", "a:is(.card,.open){top:0}"),
        ("@media print{.gone{top:0}.open{top:1px}}", "@media print{.open{top:1px}}"),
        ("@media print{.gone{top:0}}", ""),
        ("@font-face{font-family:x}", "@font-face{font-family:x}"),
        ("/* words */.card{top:0}", ".card{top:0}"),
        ("/*! licence */.gone{top:0}", "/*! licence */"),
    ],
)
def test_only_rules_that_nothing_can_match_go(sheet: str, kept: str) -> None:
    assert without_unused_rules(sheet, USED) == kept


def test_names_are_those_of_pages_and_scripts() -> None:
    page, script = '<p class="card open-now" id="theme">', 'e.classList.add("is-wide")'
    assert {"card", "open-now", "theme", "is-wide"} <= names_in([page, script])


def a_picture() -> tuple[bytes, str]:
    data = io.BytesIO()
    Image.effect_noise((60, 40), 90).save(data, "PNG")
    return data.getvalue(), f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"


def test_embedded_pictures_become_files_with_the_same_bytes(tmp_path: Path) -> None:
    data, source = a_picture()
    page = tmp_path / "book" / "page.html"
    lighter = lighten_page(
        f'<img src="{source}" alt="x"> {{"frames":["{source}"]}}', page, tmp_path
    )
    addresses = set(re.findall(r"\.\./_static/frames/\w+\.png", lighter))
    assert len(addresses) == 1
    assert (page.parent / addresses.pop()).resolve().read_bytes() == data
    assert "base64" not in lighter
    assert 'loading="lazy"' in lighter
    assert 'alt="x"' in lighter


def test_images_get_their_size(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(a_picture()[0])
    lighter = lighten_page('<img src="picture.png">', tmp_path / "page.html", tmp_path)
    assert 'width="60" height="40"' in lighter


def test_mathjax_is_loaded_where_there_are_formulas_only(tmp_path: Path) -> None:
    scripts = (
        "<script>window.MathJax = {}</script>\n"
        '<script defer="defer" src="_static/mathjax/startup.js"></script>\n'
    )
    page = tmp_path / "page.html"
    assert "athJax" not in lighten_page(scripts + "<p>words</p>", page, tmp_path)
    assert "mathjax" not in lighten_page(scripts + "<p>words</p>", page, tmp_path)
    for formula in ('<span class="math">x</span>', r"<p>\(x\)</p>"):
        assert lighten_page(scripts + formula, page, tmp_path).startswith(scripts)


def test_the_settings_load_the_parts_that_are_copied() -> None:
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    (load,) = re.findall(r"load: \[(core.*?)\]\n", settings)
    asked = {
        part.strip().strip('"').replace("[tex]", "input/tex/extensions") for part in load.split(",")
    }
    copied = {part.removesuffix(".js") for part in MATHJAX_PARTS}
    assert asked <= copied
    assert copied - asked == {"startup", "output/chtml/fonts/tex"}


FAULTS = [
    '<summary aria-label="Toggle hidden content">',
    '<summary><span class="toctree-toggle" role="presentation"></span></summary>',
    '<button class="btn search-button-field x" aria-label="Search">',
    '<div class="bd-sidebar-primary bd-sidebar">',
    '<div class="citation" role="doc-biblioentry">',
    '<div role="list" class="citation-list">',
    '<div class="proof admonition" id="proof">',
    '<p class="admonition-title">Solution to<a class="reference internal" href="#x"> Ex 1</a></p>',
    '<a title="Print to PDF">\n<span class="btn__text-container">.pdf</span>',
    '(see <span class="math notranslate nohighlight">\\(x\\)</span>).',
    '<th class="head"><p></p></th>',
]


@pytest.mark.parametrize("number", range(len(RULES)))
def test_each_rule_mends_its_fault_once_and_for_all(number: int) -> None:
    fault = FAULTS[number]
    what, pattern, _ = RULES[number]
    assert re.search(pattern, fault, flags=re.DOTALL), what
    mended = mend_page(fault)
    assert mended != fault
    assert mend_page(mended) == mended
