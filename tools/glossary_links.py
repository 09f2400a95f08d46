"""The first mention of a term on a chapter's page leads to its entry in the glossary."""

from __future__ import annotations

import re

import notebooks
from docutils import nodes
from sphinx.application import Sphinx

# Shorter terms are letters and abbreviations, which mean other things elsewhere.
SHORTEST = 6

# Terms that a chapter uses in another sense: the window of a kernel, the neighbourhood of a point.
OTHER_SENSE = {"book/hidden-square": {"window"}, "book/optimal-directions": {"neighbourhood"}}


def link_glossary_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link each term of the glossary once, in running text, where a chapter uses it first."""
    chapters = {f"book/{path.stem}" for path in notebooks.find_chapters()}
    if app.builder.format != "html" or docname not in chapters:
        return
    terms = {
        name.lower(): (page, anchor)
        for name, _, kind, page, anchor, _ in app.env.get_domain("std").get_objects()
        if kind == "term" and len(name) >= SHORTEST
    }
    if not terms:
        return
    # The longest first: "diffusion map" before "diffusion".
    words = "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))
    pattern = re.compile(rf"\b({words})\b", re.IGNORECASE)
    linked: set[str] = set(OTHER_SENSE.get(docname, ()))
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.paragraph):
            continue
        found = next((f for f in pattern.finditer(text) if f[0].lower() not in linked), None)
        if found is None:
            continue
        linked.add(found[0].lower())
        page, anchor = terms[found[0].lower()]
        address = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
        link = nodes.reference("", found[0], internal=True, refuri=address, classes=["term"])
        parts = [nodes.Text(text[: found.start()]), link, nodes.Text(text[found.end() :])]
        text.parent.replace(text, [part for part in parts if part.astext()])
