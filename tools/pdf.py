"""Print the built book as one PDF, with the browser of this machine.

The articles of all pages are put on one page, in the order of the contents, and the links between
them made links within it. Run as ``python tools/pdf.py`` after ``make book``; writes
``_build/informed.pdf``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

from browser import ARGUMENTS, find_for_site
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import sync_playwright
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PDF = ROOT / "_build" / "informed.pdf"
REFERRING = ("aria-labelledby", "aria-describedby", "for", "name")

# Paper has no sidebar and nothing to click; a chapter starts on a new sheet, solutions are open.
STYLE = """
.copybtn, .headerlink, .toggle-button { display: none !important; }
.toggle-hidden > *, .toggle.toggle-hidden { visibility: visible !important; height: auto !important;
  opacity: 1 !important; position: static !important; }
article { break-before: page; }
article:first-of-type { break-before: auto; }
figure, table, img { break-inside: avoid-page; }
h1, h2, h3, h4 { break-after: avoid-page; }
pre { white-space: pre-wrap; }
body { font-size: 10.5pt; }
"""
FOOTER = """
<div style="width: 100%; font: 8px sans-serif; text-align: center">
<span class="pageNumber"></span></div>
"""


def join_pages(names: list[str]) -> str:
    """Return one page of HTML with the articles of all pages."""
    texts = [(SITE / f"{name}.html").read_text(encoding="utf-8") for name in names]
    # The head is that of a page with formulas; the landing page loads nothing that sets them.
    head = next((text for text in texts if "mathjax/startup.js" in text), texts[0])
    first = BeautifulSoup(head, "html.parser")
    body = first.new_tag("body")
    for name, text in zip(names, texts, strict=True):
        page = BeautifulSoup(text, "html.parser")
        article = page.find("article")
        assert isinstance(article, Tag)
        for folded in article.select("details.hide"):
            folded.decompose()  # code that only draws a figure
        for answer in article.select("details.informed-seen"):
            answer["open"] = ""
        move_links(article, name, set(names))
        body.append(article)
    assert isinstance(first.body, Tag)
    first.body.replace_with(body)
    # Nothing moves on paper: of all scripts only those of the mathematics are needed.
    for script in first.find_all("script"):
        if not re.search(r"mathjax|formulas\.js", str(script), re.IGNORECASE):
            script.decompose()
    opening = BeautifulSoup(texts[0], "html.parser").title
    if first.title is not None and opening is not None:
        first.title.replace_with(opening)
    style = first.new_tag("style")
    style.string = STYLE
    assert isinstance(first.head, Tag)
    first.head.append(style)
    return str(first)


def move_links(article: Tag, name: str, names: set[str]) -> None:
    """Make the anchors of an article unique in the book, and the links to other articles inner."""
    article["id"] = name
    for tag in article.find_all(True):
        if tag.get("id") and tag is not article:
            tag["id"] = f"{name}:{tag['id']}"
        for key in REFERRING:
            if tag.get(key):
                tag[key] = f"{name}:{tag[key]}"
        if tag.name != "a" or not tag.get("href"):
            continue
        address = urlsplit(tag["href"])
        if address.scheme:
            continue
        folder = (SITE / name).parent
        target = name
        if address.path:
            path = (folder / address.path).resolve().with_suffix("")
            target = path.relative_to(SITE).as_posix() if path.is_relative_to(SITE) else ""
        if target in names:
            tag["href"] = f"#{target}:{address.fragment}" if address.fragment else f"#{target}"
        else:
            # A file to download: it is on the site, not on paper.
            del tag["href"]


def print_page(browser_path: str, page_path: Path) -> None:
    """Print a page of HTML once its mathematics is set."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(600_000)
        page.goto(page_path.as_uri(), wait_until="load")
        page.evaluate(
            "MathJax.startup.promise.then(() => MathJax.startup.document.lazyTypesetAll())"
        )
        page.emulate_media(media="print", color_scheme="light")
        page.pdf(
            path=PDF,
            format="A4",
            outline=True,
            tagged=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
        )
        browser.close()


def main() -> int:
    """Join and print; the exit status is 1 if there is no site or no browser."""
    names = list(parse_toc_yaml(ROOT / "_toc.yml"))
    browser_path = find_for_site(SITE, names[0])
    if browser_path is None:
        return 1
    joined = SITE / "book" / "all-pages.html"
    joined.write_text(join_pages(names), encoding="utf-8")
    try:
        print_page(browser_path, joined)
    finally:
        joined.unlink()
    print(f"The book is in {PDF.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
