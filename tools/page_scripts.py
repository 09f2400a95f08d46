"""What moves on the built pages: one script for all of them, fields for numbers, the reader's list.

Explorers, playground and proofs carry their script along, so that they work in a notebook. In the
book all of them share one file, and pages with a quiz or an exercise with numbers use it too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import notebooks
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from informed.teaching import proofs, quiz
from informed.teaching.exercises import registry, sealed
from informed.teaching.explorer import in_browser, pack

SCRIPT_NAME, STYLE_NAME = "informed.js", "informed.css"
# The first page that a visitor opens, and the script of its one figure.
FIRST_PAGE, FIRST_SCRIPT_NAME = "book/index", "informed-first.js"
STARTER = "tag_exercise-starter"
CHECK = re.compile(r'check\("([\w-]+)"')
NEEDS_SCRIPT = re.compile(r'class="informed-(computed|answer|quiz|proof|progress|playground)')


class Computed(SphinxDirective):
    """``{computed} usual`` shows an explorer that computes, on a page that is no notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write its block; the scripts are taken out again, see `share_scripts`."""
        return [nodes.raw("", in_browser.block(self.arguments[0]), format="html")]


def add_answer_forms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put fields below each exercise with numbers, to be checked where nothing runs."""
    if app.builder.format != "html":
        return
    for cell in list(doctree.findall(nodes.container)):
        found = CHECK.search(cell.astext()) if STARTER in cell.get("classes", []) else None
        content = registry.sealed(found[1]) if found else None
        if content:
            cell += nodes.raw("", sealed.form(content), format="html")


def fill_progress(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Tell the page "My progress" what there is to do, chapter by chapter."""
    for raw in doctree.findall(nodes.raw):
        if 'class="informed-progress"' in raw.astext():
            content = json.dumps(chapters(app, docname)).replace("<", "\\u003c")
            _write(
                raw,
                '<div class="informed-progress">\n'
                f'<script type="application/json">{content}</script>\n</div>\n',
            )


def chapters(app: Sphinx, docname: str) -> list[dict[str, Any]]:
    """List the chapters with their questions, exercises with numbers and proofs."""
    quizzes, numbers = quiz.names(), set(registry.sealable())
    listed = []
    for path in notebooks.find_chapters():
        page = f"book/{path.stem}"
        if page not in app.env.all_docs:
            continue
        starters = CHECK.findall(path.read_text(encoding="utf-8").replace('\\"', '"'))
        listed.append(
            {
                "name": path.stem,
                "title": app.env.titles[page].astext(),
                "page": app.builder.get_relative_uri(docname, page),
                "questions": len(quiz.quiz(path.stem).questions) if path.stem in quizzes else 0,
                "exercises": [name for name in dict.fromkeys(starters) if name in numbers],
                "proofs": proofs.names(path.stem),
            }
        )
    return listed


def share_scripts(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the script once, on pages that need it, and take out what was carried along."""
    if app.builder.format != "html":
        return
    needed = False
    for raw in doctree.findall(nodes.raw):
        text = raw.astext()
        needed = needed or bool(NEEDS_SCRIPT.search(text))
        if in_browser.SCRIPT.search(text):
            _write(raw, in_browser.SCRIPT.sub("", in_browser.STYLE.sub("", text)))
    if needed and doctree.children:
        home = app.builder.get_relative_uri(docname, "_static/x").rpartition("/")[0]
        script = FIRST_SCRIPT_NAME if docname == FIRST_PAGE else SCRIPT_NAME
        links = (
            f'<link rel="stylesheet" href="{home}/{STYLE_NAME}">\n'
            f'<script defer src="{home}/{script}"></script>\n'
        )
        section = next(doctree.findall(nodes.section), doctree)
        # After the title, which some readers of the tree expect first.
        section.insert(min(1, len(section.children)), nodes.raw("", links, format="html"))


def write_shared_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Put the files to which `share_scripts` links beside the theme's own."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static"
    folder.mkdir(exist_ok=True)
    (folder / SCRIPT_NAME).write_text(pack.packed_script(), encoding="utf-8")
    (folder / FIRST_SCRIPT_NAME).write_text(pack.packed_script(pack.FIRST), encoding="utf-8")
    (folder / STYLE_NAME).write_text(pack.page_style(), encoding="utf-8")


def _write(raw: nodes.raw, text: str) -> None:
    raw.children = [nodes.Text(text)]
    raw.rawsource = text
