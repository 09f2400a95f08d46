"""A description of each page for search engines and previews of links, from its first words.

A page that says itself what it is about (``html_meta``) keeps that. No address of the site is known
when it is built, so there is no picture: a preview wants its full address.
"""

from __future__ import annotations

import re
from html import escape, unescape

MAIN = re.compile(r'<article class="bd-article".*?</article>', re.DOTALL)
# Boxes, tables and lists say how to read a chapter, not what it is about.
ASIDE = re.compile(
    r'<div class="[^"]*admonition.*?</div>|<table.*?</table>|<li>.*?</li>|<details.*?</details>',
    re.DOTALL,
)
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
SHORTEST, LONGEST = 50, 160


def describe(page: str) -> str:
    """Return the first words of a page that make a sentence without formulas, or nothing."""
    main = MAIN.search(page)
    for paragraph in PARAGRAPH.findall(ASIDE.sub(" ", main.group()) if main else ""):
        if "math" in paragraph:
            continue
        words = " ".join(unescape(re.sub(r"<[^>]+>", "", paragraph)).split())
        if len(words) < SHORTEST:
            continue
        if len(words) <= LONGEST:
            return words
        sentence = re.match(rf".{{{SHORTEST},{LONGEST}}}[.?!](?= )", words)
        return sentence.group() if sentence else words[:LONGEST].rpartition(" ")[0] + " …"
    return ""


def add_description(page: str) -> str:
    """Put a description into the head of a page that has none."""
    if 'name="description"' in page or 'property="og:description"' in page:
        return page
    words = describe(page)
    title = TITLE.search(page)
    if not words or title is None:
        return page
    said = escape(words)
    name = escape(unescape(title.group(1)).split(" — ")[0].strip())
    tags = (
        f'<meta name="description" content="{said}" />\n'
        f'<meta property="og:title" content="{name}" />\n'
        f'<meta property="og:description" content="{said}" />\n'
        '<meta property="og:type" content="article" />\n'
    )
    return page.replace("</title>", f"</title>\n{tags}", 1)
