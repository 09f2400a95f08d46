"""Fold what the reader should have seen in an explorer until the explorer has been moved.

A paragraph that begins with "What you should have seen", set apart, becomes a fold; a script opens
it at the first move (``learning/unfold.js``), and a click or Enter does at any time. Paragraphs
after it belong to the answer if they too begin with words set apart that end with a full stop.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

LEAD = "What you should have seen"
OPEN = f'<details class="informed-seen">\n<summary>{LEAD}</summary>\n'
SET_APART = (nodes.emphasis, nodes.strong)
CLOSE = "</details>\n"


def fold_answers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each such paragraph between the tags of a fold, and its lead into the summary."""
    if app.builder.format != "html":
        return
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if _lead(paragraph).rstrip(".:") != LEAD:
            continue
        words = _words(paragraph)
        paragraph.remove(words[0])
        if len(words) > 1 and isinstance(words[1], nodes.Text):
            paragraph.replace(words[1], nodes.Text(words[1].astext().lstrip(" .:")))
        place = paragraph.parent
        first = end = place.index(paragraph)
        while end + 1 < len(place) and _lead(place[end + 1]).endswith("."):
            end += 1
        place.insert(end + 1, nodes.raw("", CLOSE, format="html"))
        place.insert(first, nodes.raw("", OPEN, format="html"))


def _words(paragraph: nodes.Node) -> list[nodes.Node]:
    """Return what stands in a paragraph; the parser of Markdown puts an empty text before it."""
    return [child for child in paragraph.children if child.astext()]


def _lead(node: nodes.Node) -> str:
    """Return the words that are set apart at the start of a paragraph, or nothing."""
    words = _words(node) if isinstance(node, nodes.paragraph) else []
    return words[0].astext() if words and isinstance(words[0], SET_APART) else ""
