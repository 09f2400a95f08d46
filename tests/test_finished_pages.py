"""What is done to the finished pages: they get lighter and better, and lose nothing they show."""

from __future__ import annotations

import base64
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT / "tools"))
from accessible import RULES, mend_page
from cards import label_cells
from descriptions import LONGEST, add_description
from lighten import (
    MATHJAX_PARTS,
    TAB_STOPS,
    drop_old_frames,
    drop_replaced_pictures,
    lighten_page,
    names_in,
    with_lazy_tab_stops,
    without_unused_rules,
)
from typography import set_type

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


@pytest.mark.parametrize(
    ("head", "size"), [('width="70" height="50"', 'width="70" height="50"'), ("", "")]
)
def test_a_drawing_has_the_size_that_it_says(head: str, size: str, tmp_path: Path) -> None:
    (tmp_path / "drawn.svg").write_text(f'<svg {head}><rect width="9" height="9"/></svg>')
    lighter = lighten_page('<img src="drawn.svg">', tmp_path / "page.html", tmp_path)
    assert (size in lighter) if size else ("width" not in lighter)


def test_a_figure_is_shown_at_the_inches_it_was_drawn_at(tmp_path: Path) -> None:
    Image.new("RGB", (320, 160)).save(tmp_path / "drawn.png", dpi=(160, 160))
    lighter = lighten_page('<figure>\n<img src="drawn.png">', tmp_path / "page.html", tmp_path)
    assert 'width="192" height="96"' in lighter
    assert 'style="--drawn: 192px"' in lighter
    assert '<div class="wide"><img' in lighter


def test_scripts_wait_in_their_order_and_options_are_at_hand(tmp_path: Path) -> None:
    (tmp_path / "documentation_options.js").write_text("const DOCUMENTATION_OPTIONS = {};")
    page = (
        '<script src="documentation_options.js?v=1"></script><script src="a.js"></script>'
        '<script>DOCUMENTATION_OPTIONS.pagename = "x"</script><script src="b.js?v=2"></script>'
    )
    lighter = lighten_page(page, tmp_path / "page.html", tmp_path)
    assert lighter == (
        "<script>const DOCUMENTATION_OPTIONS = {};</script>"
        '<script defer src="a.js"></script>'
        '<script>DOCUMENTATION_OPTIONS.pagename = "x"</script>'
        '<script defer src="b.js?v=2"></script>'
    )
    # On the page of the search ours waits for the others, which must not.
    there = lighten_page(page, tmp_path / "search.html", tmp_path)
    assert "defer" not in there


def test_the_first_picture_of_the_landing_page_does_not_wait(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20)).save(tmp_path / "one.png")
    page = '<img src="one.png"><img src="one.png">'
    landing = lighten_page(page, tmp_path / "index.html", tmp_path)
    assert landing.count('fetchpriority="high"') == landing.count('loading="lazy"') == 1
    assert landing.index("fetchpriority") < landing.index("lazy")
    assert lighten_page(page, tmp_path / "page.html", tmp_path).count('loading="lazy"') == 2


def test_a_narrow_page_gets_the_narrow_picture(tmp_path: Path) -> None:
    (tmp_path / "_static").mkdir()
    for name in ("wide.png", "_static/wide-phone.png", "other.png"):
        Image.new("RGB", (30, 20)).save(tmp_path / name)
    page = '<img src="wide.png"><img src="other.png">'
    lighter = lighten_page(page, tmp_path / "page.html", tmp_path)
    assert lighter.count("<picture>") == 1
    assert 'srcset="_static/wide-phone.webp"><img' in lighter


@pytest.mark.parametrize("version", ["", "?v=4ba68244"])
def test_mathjax_is_loaded_where_there_are_formulas_only(version: str, tmp_path: Path) -> None:
    scripts = (
        "<script>window.MathJax = {}</script>\n"
        f'<script defer="defer" src="_static/mathjax/startup.js{version}"></script>\n'
    )
    page = tmp_path / "page.html"
    assert "athJax" not in lighten_page(scripts + "<p>words</p>", page, tmp_path)
    assert "mathjax" not in lighten_page(scripts + "<p>words</p>", page, tmp_path)
    for formula in ('<span class="math">x</span>', r"<p>\(x\)</p>"):
        lighter = lighten_page(scripts + formula, page, tmp_path)
        # Ours comes first: MathJax asks it what to do when the page is ready.
        ours = '<script defer src="_static/formulas.js"></script>\n'
        assert lighter.replace(ours, "").startswith(scripts)
        assert 0 < lighter.index(ours) < lighter.index("mathjax/startup.js")


def test_a_drawing_is_offered_in_half_the_bytes_with_the_same_dots(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    dots = np.repeat(np.repeat(rng.integers(0, 255, (12, 9, 3), np.uint8), 8, 0), 8, 1)
    Image.fromarray(dots).save(tmp_path / "drawn.png", dpi=(192, 192), compress_level=1)
    lighter = lighten_page('<img src="drawn.png" alt="x">', tmp_path / "page.html", tmp_path)
    assert 'src="drawn.webp"' in lighter
    assert 'width="36" height="48"' in lighter
    with Image.open(tmp_path / "drawn.webp") as offered:
        assert np.array_equal(np.asarray(offered.convert("RGB")), dots)
    # A link to the file, as a preview of the page has one, keeps the form that all know.
    link = '<meta property="og:image" content="drawn.png"><a href="drawn.png">x</a>'
    assert lighten_page(link, tmp_path / "page.html", tmp_path) == link


def test_the_theme_no_longer_measures_all_boxes_at_once() -> None:
    spec = find_spec("pydata_sphinx_theme")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.rglob("static/scripts/pydata-sphinx-theme.js")
    theme = path.read_text(encoding="utf-8")
    assert len(TAB_STOPS.findall(theme)) == 1
    mended = with_lazy_tab_stops(theme, "ours(\\1);\n")
    assert "ours(\\1);" in mended
    assert not TAB_STOPS.search(mended)


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
    '(<a class="reference internal" href="#x"><code class="docutils literal notranslate">'
    '<span class="pre">fit</span></code></a> does)',
    'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";',
    "<td><p>✅</p></td>",
    "<em>default=”pca”</em>",
    '<a href="#x">x</a> · <a href="#y">y</a>',
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


def test_the_th_of_a_number_stays_beside_it() -> None:
    formula = '<span class="math notranslate nohighlight">\\(i\\)</span>'
    assert mend_page(f"the {formula}-th row") == f'the <span class="kept">{formula}-th</span> row'
    assert mend_page(f"the {formula}-thing") == f"the {formula}-thing"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("informed.directions.registry.SOLVERS", "informed.|directions.|registry.|SOLVERS"),
        ("tests/test_site_pages.py", "tests/|test_|site_|pages.|py"),
        ("x[1:20] &lt;= first_name(a)", "x[1:20] &lt;= first_|name(|a)"),
        ("informed.clusters", "informed.clusters"),
        ("..................................", ".................................."),
    ],
)
def test_a_long_name_may_break_between_its_parts(name: str, parts: str) -> None:
    page = f'<code class="docutils literal notranslate"><span class="pre">{name}</span></code>'
    mended = mend_page(page)
    assert mended == page.replace(name, parts.replace("|", "<wbr>"))
    assert mend_page(mended) == mended


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("<p>the paper's p-value</p>", "<p>the paper’s <b>p-value</b></p>"),
        ("<p>It isn&#x27;t K-means++.</p>", "<p>It isn’t <b>K-means</b>++.</p>"),
        ("<p>'s' and the 'right' one, link-means</p>", None),
        ("<pre><span>x's</span> k-means</pre><title>k-means</title>", None),
        ("<script>'k-means' + a's</script><p title=\"Ward's k-means\">a</p>", None),
        (r'<span class="math">\(\text{k-means}, f\'s\)</span>', None),
        ("<!-- Ward's <p> k-means --><p>a</p>", None),
    ],
)
def test_prose_is_set_and_nothing_else(page: str, wanted: str | None) -> None:
    wanted = (wanted or page).replace("<b>", '<span class="kept">').replace("</b>", "</span>")
    assert set_type(page) == wanted
    assert set_type(wanted) == wanted


LONG = "A distance that says <em>nothing</em> &amp; costs much. " * 9


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<p>Words that say what this whole page is about, at length.</p>", "Words that say"),
        (
            "<p>Short.</p><p>The second paragraph is long enough to be quoted here.</p>",
            "The second",
        ),
        ('<p>A formula <span class="math">x</span> cannot be shown in a preview of it.</p>', None),
        (
            '<div class="admonition tip"><p>What you will learn in this chapter.</p></div>',
            None,
        ),
        (f"<p>{LONG}</p>", "A distance that says nothing &amp; costs much."),
        ("", None),
    ],
)
def test_a_page_is_described_by_its_first_words(body: str, said: str | None) -> None:
    page = f'<head><title>Name — Book</title></head><article class="bd-article">{body}</article>'
    described = add_description(page)
    found = re.findall(r'<meta (?:name="|property="og:)description" content="([^"]*)"', described)
    if said is None:
        assert described == page
    else:
        assert len(found) == 2
        assert all(words.startswith(said) and len(words) <= LONGEST + 10 for words in found)
        assert '"og:title" content="Name"' in described
    assert add_description(described) == described


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(?![`#\s])(.+)\n  \S", text.partition("{glossary}")[2], re.MULTILINE)
    keys = [re.sub(r"[^\w ]", "", re.sub(r"[-–]", " ", term.lower())) for term in terms]
    assert len(keys) > 30
    assert keys == sorted(keys)


def test_cells_of_cards_say_their_column() -> None:
    table = (
        '<table class="cards table">\n<thead><tr><th class="head"><p>Item</p></th>\n'
        '<th class="head"><p>Test <em>it</em></p></th></tr></thead>\n'
        '<tr class="row-even"><td><p>T1</p></td>\n<td><p>x</p></td></tr>\n'
        '<tr class="row-odd"><td><p>T2</p></td>\n<td><p>y</p></td></tr></table>'
    )
    labelled = label_cells(table)
    columns = re.findall(r'<td data-column="([^"]*)"><p>(\w+)</p>', labelled)
    assert columns == [("Item", "T1"), ("Test it", "x"), ("Item", "T2"), ("Test it", "y")]
    named = table.replace('">', '" id="tab-x">', 1)
    assert 'id="tab-x"' in named
    assert label_cells(named) == labelled.replace('">', '" id="tab-x">', 1)
    other = table.replace("cards ", "")
    assert label_cells(other) == other
    gap = label_cells(table.replace("<p>x</p>", "<p></p>"))
    assert "<td></td>" in gap
    assert re.findall(r'data-column="([^"]*)"', gap) == ["Item", "Item", "Test it"]


def test_frames_of_an_earlier_build_are_dropped(tmp_path: Path) -> None:
    frames = tmp_path / "_static" / "frames"
    frames.mkdir(parents=True)
    for name in ("old.webp", "shown.webp", "listed.webp"):
        (frames / name).touch()
    page = tmp_path / "page.html"
    page.write_text(
        '<img src="_static/frames/shown.webp">["../_static/frames/listed.webp"]', "utf-8"
    )
    drop_old_frames(tmp_path, [page])
    assert sorted(path.name for path in frames.iterdir()) == ["listed.webp", "shown.webp"]


def test_a_drawing_that_webp_replaces_is_dropped_unless_a_page_names_it(tmp_path: Path) -> None:
    images = tmp_path / "_images"
    images.mkdir()
    for name in ("replaced.png", "replaced.webp", "named.png", "named.webp", "alone.png"):
        (images / name).touch()
    page = tmp_path / "page.html"
    page.write_text('<img src="_images/replaced.webp"><a href="_images/named.png">', "utf-8")
    drop_replaced_pictures(tmp_path, [page])
    left = sorted(path.name for path in images.iterdir())
    assert left == ["alone.png", "named.png", "named.webp", "replaced.webp"]
