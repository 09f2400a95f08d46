"""Fold what the reader should have seen in an explorer until the explorer has been moved.

A paragraph that begins with "What you should have seen", set apart, becomes a fold; a script opens
it at the first move (``learning/unfold.js``), and a click or Enter does at any time.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

LEAD = "What you should have seen"
OPEN = f'<details class="informed-seen">\n<summary>{LEAD}</summary>\n'
CLOSE = "</details>\n"


def fold_answers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each such paragraph between the tags of a fold, and its lead into the summary."""
    if app.builder.format != "html":
        return
    for paragraph in list(doctree.findall(nodes.paragraph)):
        first = paragraph.children[0] if paragraph.children else None
        if not isinstance(first, (nodes.emphasis, nodes.strong)):
            continue
        if first.astext().rstrip(".:") != LEAD:
            continue
        paragraph.remove(first)
        if paragraph.children and isinstance(paragraph.children[0], nodes.Text):
            rest = paragraph.children[0].astext().lstrip(" .:")
            paragraph.replace(paragraph.children[0], nodes.Text(rest))
        at = paragraph.parent.index(paragraph)
        paragraph.parent.insert(at + 1, nodes.raw("", CLOSE, format="html"))
        paragraph.parent.insert(at, nodes.raw("", OPEN, format="html"))
