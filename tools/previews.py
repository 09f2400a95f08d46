"""Previews of what a reference leads to: theorem, equation, entry of the bibliography or glossary.

A page opened from a file cannot fetch another one. So the build collects, for each page, the text
behind its references into a small script beside it, which the page loads when the first of them is
pointed at.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

LINK = re.compile(r'<a class="(?:term )?reference internal" href="([^"#]*)#([^"]+)"')
# What is worth a preview: the first words of the element that has the id.
WORTH = re.compile(
    r'<div class="(proof (?!proof)|math |exercise )|<div class="citation|<li|<dt|<p|<span id="id'
)
LONGEST = 6000


def write_previews(site: Path) -> None:
    """Write the previews of all pages below ``site``, and tell the pages where they are."""
    folder = site / "_static" / "previews"
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted((site / "book").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        found = previews_of(text, page)
        # The first page that a visitor opens stays without the script.
        if not found or page.stem == "index":
            continue
        content = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        name = f"{page.stem}.js"
        (folder / name).write_text(f"informed.addPreviewsOfPage({content});\n", encoding="utf-8")
        page.write_text(linked(text, f"../_static/previews/{name}"), encoding="utf-8")
    _read.cache_clear()


def linked(text: str, address: str) -> str:
    """Return the page with the address of its previews, and with the script that shows them."""
    text = text.replace("<body", f'<body data-previews="{address}"', 1)
    if "_static/informed.js" not in text:
        links = (
            '<link rel="stylesheet" href="../_static/informed.css">\n'
            '<script defer src="../_static/informed.js"></script>\n'
        )
        text = text.replace("</head>", f"{links}</head>", 1)
    return text


def previews_of(text: str, page: Path) -> dict[str, str]:
    """Return what stands behind each reference of a page, by its address."""
    found = {}
    for target, anchor in dict.fromkeys(LINK.findall(text)):
        file = page.parent / target if target else page
        if file.is_file() and (preview := element(_read(file), anchor)):
            found[f"{target}#{anchor}"] = cleaned(preview, target or page.name)
    return found


def element(text: str, anchor: str) -> str | None:
    """Return the element with an id as HTML, if it is worth a preview; of a term, the entry.

    Examples
    --------
    >>> element('<dl><dt id="t">a</dt><dd>b</dd></dl>', "t")
    '<dt id="t">a</dt><dd>b</dd>'
    >>> element('<div class="math x" id="e"><div>1</div></div><p>', "e")
    '<div class="math x" id="e"><div>1</div></div>'
    """
    start = re.search(rf'<(\w+)[^>]*\bid="{re.escape(anchor)}"[^>]*>', text)
    if start is None or not WORTH.match(start[0]):
        return None
    end = _end(text, start.start(), start[1])
    if start[1] == "dt":
        entry = text.find("<dd", end)
        end = _end(text, entry, "dd") if entry >= 0 else end
    return text[start.start() : end] if end - start.start() <= LONGEST else None


def cleaned(preview: str, home: str) -> str:
    """Return HTML that can stand on another page: no ids, links that still lead somewhere."""
    preview = re.sub(r'<a class="headerlink".*?</a>', "", preview, flags=re.DOTALL)
    preview = re.sub(r'<span class="backrefs">.*?</span>', "", preview, flags=re.DOTALL)
    preview = re.sub(r'\s(?:id|role|tabindex|aria-\w+)="[^"]*"', "", preview)
    return re.sub(r'href="#', f'href="{home}#', preview)


def _end(text: str, start: int, tag: str) -> int:
    """Return where the element that starts here is closed."""
    depth = 0
    for found in re.compile(rf"<(/?){tag}\b").finditer(text, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return text.index(">", found.start()) + 1
    return len(text)


@cache
def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")
