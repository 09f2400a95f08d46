"""Make the slides: one HTML file a deck, with reveal.js in it, which opens without network.

``tools/decks.py`` says how a deck is written. A code block that starts with ``figure``, its size
and words in quotes, ```` ```python figure 1160x420 "what it shows" ````, is run, and the figure
that its last line gives is shown in its place; all figures of a deck share their variables, and
``RESULTS`` is the folder of stored tables. Mathematics stands between dollars. ``::: two`` and
``:::`` put what is between them side by side, divided by a line ``|||``. A link to
``explorers/NAME.html`` leads to an explorer that computes, on a page of its own beside the deck.

Run as ``python tools/slides.py [FOLDER [SOURCES]]``; writes ``_build/slides``. A deck is made anew
when something that it shows has changed.
"""

from __future__ import annotations

import hashlib
import html
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import decks
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from slide_figures import as_image, run_figure

from informed.teaching.explorer.in_browser import block

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(__file__).resolve().parent
OUT = ROOT / "_build" / "slides"
# Beside the chapters in the repository; beside the instructors' notebooks in the packed course.
RESULTS = next(filter(Path.is_dir, (ROOT / "book" / "results", ROOT / "results")), ROOT / "results")

FIGURE = re.compile(
    r'^```python figure (?P<width>\d+)x(?P<height>\d+) "(?P<alt>[^"]+)"\n(?P<code>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
TWO = re.compile(r"^::: two\n(?P<left>.*?)^\|\|\|\n(?P<right>.*?)^:::$", re.MULTILINE | re.DOTALL)
EXPLORER = re.compile(r"\(explorers/(?P<name>[\w-]+)\.html\)")
PAUSE = ". . ."
STAMP = re.compile(r'<meta name="made-from" content="(\w+)">')

PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="made-from" content="{stamp}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>{title}</title>
<style>{style}</style>
<script>{settings}</script>
<script>{mathjax}</script>
<script>{reveal}</script>
<script>{notes}</script></head>
<body><div class="reveal"><div class="slides">
{sections}</div></div>
<script>{script}</script></body></html>
"""
MATHJAX_SETTINGS = """
window.MathJax = {
  tex: {inlineMath: [["\\\\(", "\\\\)"]], displayMath: [["\\\\[", "\\\\]"]]},
  options: {enableMenu: false},
  startup: {typeset: false},
  svg: {fontCache: "local"},
};
"""
EXPLORER_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>{title}</title>
<style>body {{ font: 18px/1.5 sans-serif; max-width: 60rem; margin: 1rem auto; }}</style>
</head><body><main>
{block}
</main></body></html>
"""


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"slides need the package {name}: run make slides")
    return Path(spec.origin).parent


def mathjax() -> str:
    """Return MathJax as one script, which draws with paths and loads no fonts."""
    script = next(package_folder("sphinx-mathjax-offline").rglob("tex-svg.js"))
    return script.read_text(encoding="utf-8")


def reveal(path: str) -> str:
    """Return a file of reveal.js, which the package sphinx-revealjs carries."""
    folder = package_folder("sphinx_revealjs") / "_static" / "revealjs"
    text = (folder / path).read_text(encoding="utf-8")
    # In a script of the page this would end it.
    return text.replace("</script", "<\\/script") if path.endswith(".js") else text


def math(content: str, options: dict[str, Any]) -> str:
    """Leave mathematics to MathJax."""
    opening, closing = ("\\[", "\\]") if options["display_mode"] else ("\\(", "\\)")
    return f"{opening}{html.escape(content)}{closing}"


MARKDOWN = (
    MarkdownIt("commonmark", {"html": True})
    .enable("table")
    .use(dollarmath_plugin, renderer=math, double_inline=True)
)


def stepwise(tokens: list[Token]) -> Iterator[Token]:
    """Mark what comes step by step: items of a list with ``+``, and what follows a pause."""
    paused = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "paragraph_open" and tokens[at + 1].content.strip() == PAUSE:
            if paused:
                yield Token("html_block", "", 0, content="</div>")
            yield Token("html_block", "", 0, content='<div class="fragment">')
            paused = True
            at += 3
            continue
        if token.type == "list_item_open" and token.markup == "+":
            token.attrJoin("class", "fragment")
        yield token
        at += 1
    if paused:
        yield Token("html_block", "", 0, content="</div>")


def write_markdown(text: str) -> str:
    """Write Markdown as HTML, with its steps."""
    tokens = list(stepwise(MARKDOWN.parse(text)))
    return str(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))


def write_text(text: str, names: dict[str, Any]) -> str:
    """Write the text of a slide, its figures drawn."""
    pictures: list[str] = []

    def keep(match: re.Match[str]) -> str:
        figure = run_figure(match["code"], names)
        size = int(match["width"]), int(match["height"])
        pictures.append(as_image(figure, match["alt"], *size))
        return f"\n<p>picture-{len(pictures) - 1}</p>\n\n"

    def side_by_side(match: re.Match[str]) -> str:
        left, right = write_markdown(match["left"]), write_markdown(match["right"])
        columns = f'<div class="two"><div>{left}</div><div>{right}</div></div>'
        return re.sub(r"\n\s*\n", "\n", columns) + "\n"

    body = write_markdown(TWO.sub(side_by_side, FIGURE.sub(keep, text)))
    for number, picture in enumerate(pictures):
        body = body.replace(f"<p>picture-{number}</p>", picture)
    button = '<a class="explorer" target="_blank" href="explorers/'
    return body.replace('<a href="explorers/', button)


def write_sections(slides: tuple[decks.Slide, ...]) -> Iterator[str]:
    """Write the slides of a deck."""
    total, passed = sum(slide.minutes for slide in slides), 0
    # An included slide finds the variables of the deck that it comes from.
    names: dict[str, dict[str, Any]] = {}
    for number, slide in enumerate(slides, start=1):
        passed += slide.minutes
        body = write_text(slide.text, names.setdefault(slide.deck, {"RESULTS": RESULTS}))
        head, rest = re.split(r"(?<=</h[12]>)", body, maxsplit=1)
        kind = "title" if head.startswith("<h1") else "plain"
        yield (
            f'<section class="{kind}" aria-label="Slide {number}" '
            f'data-timing="{60 * slide.minutes}">\n{head}\n'
            f'<div class="content">{rest}</div>\n'
            f"<footer><span>{html.escape(slides[0].title)}</span>"
            f"<span>{number} / {len(slides)} · {passed} of {total} min</span></footer>\n"
            f'<aside class="notes"><p><b>{slide.minutes} min.</b></p>'
            f"{write_markdown(slide.notes)}</aside>\n</section>\n"
        )


def write_deck(slides: tuple[decks.Slide, ...], stamp: str = "") -> str:
    """Write a deck as one page of HTML."""
    style = "\n".join(
        [reveal("dist/reset.css"), reveal("dist/reveal.css"), (TOOLS / "slides.css").read_text()]
    )
    return PAGE.format(
        stamp=stamp,
        title=html.escape(slides[0].title),
        style=style,
        settings=MATHJAX_SETTINGS,
        mathjax=mathjax(),
        reveal=reveal("dist/reveal.js"),
        notes=reveal("plugin/notes/notes.js"),
        sections="".join(write_sections(slides)),
        script=(TOOLS / "slides.js").read_text(encoding="utf-8"),
    )


def stamp(slides: tuple[decks.Slide, ...]) -> str:
    """Return a digest of all that a deck is made from."""
    digest = hashlib.sha256(repr(slides).encode())
    used = [*TOOLS.glob("slide*"), TOOLS / "picture.py"]
    if any("```python figure" in slide.text for slide in slides):
        used += [*(ROOT / "informed").rglob("*.py"), *RESULTS.glob("*.npz")]
    for path in sorted(used):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def explorers(slides: tuple[decks.Slide, ...]) -> set[str]:
    """Return the names of the explorers to which a deck leads."""
    return {found["name"] for slide in slides for found in EXPLORER.finditer(slide.text)}


def main(folder: str = str(OUT), sources: str = str(decks.SOURCES)) -> int:
    """Write all decks, and the explorers that they lead to."""
    out = Path(folder)
    (out / "explorers").mkdir(parents=True, exist_ok=True)
    wanted: set[str] = set()
    for name in decks.names(Path(sources)):
        slides = decks.read(name, Path(sources))
        target, now = out / f"{name}.html", stamp(slides)
        wanted |= explorers(slides)
        before = STAMP.search(target.read_text(encoding="utf-8")) if target.is_file() else None
        if before is not None and before[1] == now:
            continue
        target.write_text(write_deck(slides, now), encoding="utf-8")
        print(f"{target.name}: {len(slides)} slides, {sum(s.minutes for s in slides)} minutes")
    for name in sorted(wanted):
        page = EXPLORER_PAGE.format(title=f"Explorer: {name}", block=block(name))
        (out / "explorers" / f"{name}.html").write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
