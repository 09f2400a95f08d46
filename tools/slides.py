"""Make the slides: one HTML file a deck, which opens in any browser without network.

A deck is a Markdown file in ``course/slides``. Slides are divided by lines of three dashes. Text
after a line ``Notes (3 min):`` is for the speaker. A code block that starts with ``figure`` and
words in quotes, ```` ```python figure "what it shows" ````, is run, and the figure that its
last line gives is shown in its place; all figures of a deck share their variables. Mathematics
stands between dollars. ``::: two`` and ``:::`` put what is between them side by side, divided by a
line ``|||``.

Run as ``python tools/slides.py``; writes ``_build/slides``.
"""

from __future__ import annotations

import ast
import base64
import html
import importlib.util
import io
import re
import sys
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from mdit_py_plugins.dollarmath import dollarmath_plugin

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "course" / "slides"
OUT = ROOT / "_build" / "slides"

FIGURE = re.compile(r'^```python figure "(?P<alt>[^"]+)"\n(?P<code>.*?)^```$', re.M | re.S)
NOTES = re.compile(r"^Notes \((?P<minutes>\d+) min\):", re.M)
TWO = re.compile(r"^::: two\n(?P<left>.*?)^\|\|\|\n(?P<right>.*?)^:::$", re.M | re.S)
TITLE = re.compile(r"^# (.+)$", re.M)

MATHJAX_SETTINGS = """
window.MathJax = {
  tex: {inlineMath: [["\\\\(", "\\\\)"]], displayMath: [["\\\\[", "\\\\]"]]},
  options: {enableMenu: false},
  svg: {fontCache: "local"},
};
"""


def mathjax() -> str:
    """Return MathJax as one script, which draws with paths and loads no fonts."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    assert spec is not None
    assert spec.origin is not None
    script = next(Path(spec.origin).parent.rglob("tex-svg.js"))
    return script.read_text(encoding="utf-8")


def writer() -> MarkdownIt:
    """Return a Markdown writer that leaves mathematics to MathJax."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")

    def math(content: str, options: dict[str, Any]) -> str:
        opening, closing = ("\\[", "\\]") if options["display_mode"] else ("\\(", "\\)")
        return f"{opening}{html.escape(content)}{closing}"

    return markdown.use(dollarmath_plugin, renderer=math, double_inline=True)


def run_figure(code: str, names: dict[str, Any]) -> Figure:
    """Run the code of a figure, and return what its last line gives."""
    tree = ast.parse(code)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        raise TypeError(f"the last line of a figure must give the figure:\n{code}")
    exec(compile(ast.Module(tree.body[:-1], []), "<slide>", "exec"), names)
    figure = eval(compile(ast.Expression(last.value), "<slide>", "eval"), names)
    if not isinstance(figure, Figure):
        raise TypeError(f"the last line gave {figure!r}, not a figure:\n{code}")
    return figure


def as_image(figure: Figure, alt: str) -> str:
    """Write a figure as an image that carries its data."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<figure><img alt="{html.escape(alt)}" src="data:image/png;base64,{data}"></figure>\n'


def write_slide(source: str, names: dict[str, Any], markdown: MarkdownIt) -> tuple[str, int]:
    """Write one slide, and say how many minutes its notes ask for."""
    found = NOTES.search(source)
    text, notes = (source[: found.start()], source[found.end() :]) if found else (source, "")
    minutes = int(found["minutes"]) if found else 0
    pictures: list[str] = []

    def keep(match: re.Match[str]) -> str:
        pictures.append(as_image(run_figure(match["code"], names), match["alt"]))
        return f"\n<p>picture-{len(pictures) - 1}</p>\n\n"

    text = FIGURE.sub(keep, text)
    text = TWO.sub(
        lambda match: (
            f'<div class="two"><div>\n\n{match["left"]}\n\n</div><div>\n\n{match["right"]}\n\n'
            "</div></div>\n"
        ),
        text,
    )
    body = markdown.render(text)
    for number, picture in enumerate(pictures):
        body = body.replace(f"<p>picture-{number}</p>", picture)
    aside = f"<p><b>{minutes} min.</b></p>{markdown.render(notes)}" if found else ""
    return f"{body}<aside>{aside}</aside>", minutes


def write_deck(source: str) -> str:
    """Write a deck as one page of HTML."""
    markdown = writer()
    title = TITLE.search(source)
    assert title is not None, "a deck starts with its title"
    names: dict[str, Any] = {}
    slides = [write_slide(part, names, markdown) for part in re.split(r"^---$", source, flags=re.M)]
    total = sum(minutes for _, minutes in slides)
    passed = 0
    sections = []
    for number, (body, minutes) in enumerate(slides, start=1):
        passed += minutes
        sections.append(
            f'<section aria-label="Slide {number}">\n{body}'
            f"<footer><span>{html.escape(title[1])}</span>"
            f"<span>{number} / {len(slides)} · {passed} of {total} min</span></footer></section>\n"
        )
    tools = Path(__file__).resolve().parent
    style = (tools / "slides.css").read_text(encoding="utf-8")
    script = (tools / "slides.js").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<link rel="icon" href="data:,"><title>{html.escape(title[1])}</title>\n'
        f"<style>{style}</style>\n<script>{MATHJAX_SETTINGS}</script>\n"
        f"<script>{mathjax()}</script></head>\n"
        f'<body><main id="stage">\n{"".join(sections)}</main>\n<div id="notes"></div>\n'
        f"<script>{script}</script></body></html>\n"
    )


def main() -> int:
    """Write all decks."""
    OUT.mkdir(parents=True, exist_ok=True)
    for path in sorted(SOURCES.glob("*.md")):
        target = OUT / f"{path.stem}.html"
        target.write_text(write_deck(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
