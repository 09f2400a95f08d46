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
        # The parser of Markdown puts an empty text before the first word.
        words = [child for child in paragraph.children if child.astext()]
        if not words or not isinstance(words[0], (nodes.emphasis, nodes.strong)):
            continue
        if words[0].astext().rstrip(".:") != LEAD:
            continue
        paragraph.remove(words[0])
        if len(words) > 1 and isinstance(words[1], nodes.Text):
            paragraph.replace(words[1], nodes.Text(words[1].astext().lstrip(" .:")))
        at = paragraph.parent.index(paragraph)
        paragraph.parent.insert(at + 1, nodes.raw("", CLOSE, format="html"))
        paragraph.parent.insert(at, nodes.raw("", OPEN, format="html"))
