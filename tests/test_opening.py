"""What makes a page open fast: one style sheet, and room for formulas that are not set yet."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

sys.path.insert(0, str(ROOT / "tools"))
from formula_room import SCALE, height, keep_room, width
from style_bundle import join_style_sheets

FORMULAS = [
    "n",
    r"HH^\top",
    r"U = HT",
    r"\hat\Sigma_d = U \Lambda U^\top",
    r"1/m_k",
    r"\lambda_1, \ldots, \lambda_d",
    r"d^2(x_i, x_j) = (x_i - x_j)^\top \Sigma^{-1} (x_i - x_j)",
    r"n \geq p + 1",
    r"\frac{\sigma^2}{n - 1}",
    r"\log_{10} \lambda \in [0, 1]",
    r"\|U\|_F^2 + 2 \times 10^{-9}",
    r"\tilde u - v = -(I - P) v",
    r"S(t) = \exp(-\alpha t)",
    r"\mathrm{tr}(A B) \leq K",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_estimated_widths_are_those_of_computer_modern(formula: str) -> None:
    """Matplotlib sets the same fonts by their metrics, which the estimate does not know."""
    font = FontProperties(size=100, math_fontfamily="cm")
    true = MathTextParser("path").parse(f"${formula}$", 72, font).width / 100
    assert width(formula) / SCALE == pytest.approx(true, rel=0.15, abs=0.15)


def test_a_display_is_as_high_as_its_rows() -> None:
    one, fraction = height("a = b"), height(r"a = \frac bc")
    two = height(r"\begin{aligned} a &= b \\ c &= d \end{aligned}")
    matrix = height(r"A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{pmatrix}")
    assert one < fraction < two < matrix
    assert height(r"a \\[1ex] b \\ c") == pytest.approx(matrix)


def test_each_formula_says_its_room_and_keeps_its_source() -> None:
    page = (
        r'<p>If <span class="math notranslate nohighlight">\(n &gt; p\)</span>, then</p>'
        '<div class="math notranslate nohighlight" id="equation-x">\n'
        r'<span class="eqno">(1.1)<a href="#equation-x">#</a></span>\[x = \frac12\]</div>'
        r"<p>Code says <code>\(n\)</code>.</p>"
    )
    roomy = keep_room(page)
    rooms = [float(room) for room in re.findall(r'style="--room:([\d.]+)em"', roomy)]
    assert rooms == [round(width("n > p"), 1), round(height(r"x = \frac12"), 1)]
    assert re.sub(r' ?style="--room:[\d.]+em"', "", roomy).replace("<span  ", "<span ") == page


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name, text in {
        "_static/styles/theme.css": '@import "../basic.css";\n',
        "_static/basic.css": "p{background:url(file.png)}\n",
        "_static/styles/last.css": "a{background:url('data:image/svg+xml,x')}p{top:0}\n",
        "book/page.html": (
            '<head>\n<link href="../_static/styles/theme.css?v=1" rel="stylesheet" />\n'
            '<link rel="icon" href="x.svg"/>\n</head><body>\n'
            '<link rel="stylesheet" href="../_static/styles/last.css">\n<p>words</p>'
        ),
        "top.html": (
            '<link href="_static/styles/theme.css?v=1" rel="stylesheet" />\n'
            '<link rel="stylesheet" href="_static/styles/last.css">\n'
        ),
        "bare.html": "<p>words</p>",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_pages_share_one_style_sheet_with_all_rules_in_their_order(site: Path) -> None:
    join_style_sheets(site)
    (joined,) = (site / "_static" / "styles").glob("all-*.css")
    style = joined.read_text(encoding="utf-8")
    assert "@import" not in style
    assert style.index('url("../file.png")') < style.index("data:image/svg+xml,x") < len(style)
    page = (site / "book" / "page.html").read_text(encoding="utf-8")
    assert re.findall(r'<link[^>]*href="([^"]*)"', page) == [
        f"../_static/styles/{joined.name}",
        "x.svg",
    ]
    assert "<p>words</p>" in page
    assert f'"_static/styles/{joined.name}"' in (site / "top.html").read_text(encoding="utf-8")
    assert (site / "bare.html").read_text(encoding="utf-8") == "<p>words</p>"
