"""Mend what the theme and the extensions write so that it serves every reader.

Each rule names the fault, as an accessibility checker or a person with a keyboard meets it. They
work on the finished page, because none of the packages offers a setting for it.
"""

from __future__ import annotations

import re

# A name in code that fits on a phone's line, with the link around it if there is one.
NAME = (
    r'(?:<a class="reference internal"[^>]*>)?'
    r'<code class="(?:xref py py-\w+ )?docutils literal notranslate">'
    r'<span class="pre">[^<]{1,28}</span></code>'
    r"(?:</a>)?+"
)

RULES: list[tuple[str, str, str]] = [
    (
        "the name of a fold is what it says, not 'Toggle hidden content'",
        r'<summary aria-label="Toggle hidden content">',
        "<summary>",
    ),
    (
        "the sign in the sidebar that opens a list of pages says so",
        r'<summary>(<span class="toctree-toggle")',
        r'<summary aria-label="Pages below">\1',
    ),
    (
        "the name of the search field is what it says, keys included",
        r'(<button class="[^"]*search-button-field[^"]*"[^>]*?) aria-label="Search"',
        r"\1",
    ),
    (
        "the sidebar is a landmark, so that nothing lies outside of all",
        r'<div class="bd-sidebar-primary bd-sidebar([^"]*)">',
        r'<div class="bd-sidebar-primary bd-sidebar\1" role="complementary" aria-label="Book">',
    ),
    (
        "a bibliography is a list of works; the roles that Sphinx gives it are withdrawn",
        r' role="doc-biblioentry"',
        "",
    ),
    (
        "the same, for the list itself",
        r'<div role="list" class="citation-list">',
        '<div class="citation-list">',
    ),
    (
        "an id occurs once on a page: these stand on every proof, exercise and solution",
        r'<(div|section)([^>]*?) id="(proof|exercise|solution)(-content)?"',
        r'<\1\2 data-part="\3\4"',
    ),
    (
        "a click on the title of a solution opens it; a link in it would lead away",
        r'(<p class="admonition-title">Solution to)<a class="reference internal"[^>]*>(.*?)</a>',
        r"\1\2",
    ),
    (
        "this button opens the printer's dialogue; there is no file behind it",
        r'title="Print to PDF"(.*?)<span class="btn__text-container">\.pdf</span>',
        r'title="Print this page"\1<span class="btn__text-container">Print</span>',
    ),
    (
        "a comma or a full stop stays on the line of the formula before it",
        r'([(“]?<span class="math notranslate nohighlight">[^<]{1,200}</span>'
        r"(?:-th\b[.,;:!?)”’]*+|[.,;:!?)”’]++))(?!</span>)",
        r'<span class="kept">\1</span>',
    ),
    (
        "the same after a short name in code, and the bracket before it",
        rf"(\({NAME}[.,;:!?)”’]*+|{NAME}[.,;:!?)”’]++)(?!</span>)",
        r'<span class="kept">\1</span>',
    ),
    (
        "a page has its colours from the start: 'auto' has none until the theme's script has run",
        r'(dataset\.theme = )(localStorage\.getItem\("theme"\)) \|\| "auto";',
        r'\1(document.documentElement.dataset.mode === "auto" ? "" : \2)'
        r' || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");',
    ),
    (
        "how a notebook ran is said in a word: a picture is an empty box without its font",
        r"<p>✅</p>",
        "<p>done</p>",
    ),
    (
        "a quotation mark after an equals sign opens; the one that closes is curled the other way",
        r"(?<=\w=)”",
        "“",
    ),
    (
        "a dot between two links stays on the line of the first",
        r"</a> · (?=<a )",
        "</a>&#160;· ",
    ),
    (
        "an empty heading of a table is a cell",
        r'<th class="head">\s*(<p>\s*</p>)?\s*</th>',
        "<td></td>",
    ),
]


# A name in code that is longer than this may break between its parts where a line is too short.
LONG_NAME = re.compile(r'(?<=<span class="pre">)[^<]{20,}(?=</span>)')
PARTS = re.compile(r"(?<=[\w)\]])([._/(,=]+)(?=\w)")


def mend_page(text: str) -> str:
    """Return the page with each fault mended."""
    for _, fault, mended in RULES:
        text = re.sub(fault, mended, text, flags=re.DOTALL)
    return LONG_NAME.sub(lambda name: PARTS.sub(r"\1<wbr>", name.group()), text)
