"""What the book asks of Sphinx: alt text, links, launch buttons, shared scripts, pages from a file.

Loaded by ``_config.yml`` as a local extension.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import api_pages
import architecture
import slides
from accessible import mend_page
from cards import label_cells
from colab import BRANCH
from descriptions import add_description
from docutils import nodes
from downloads import write_downloads
from folded_answers import fold_answers
from formula_room import keep_room_on_pages
from glossary_links import link_glossary_terms
from lighten import lighten
from page_scripts import (
    Computed,
    add_answer_forms,
    fill_progress,
    share_scripts,
    write_shared_scripts,
)
from previews import write_previews
from search_words import BookSearch
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from style_bundle import join_style_sheets
from typography import set_type

import course
from informed.teaching.explorer.page import overweight

logger = logging.getLogger(__name__)


def add_launch_buttons(app: Sphinx, config: Config) -> None:
    """Offer to run a page elsewhere, if the address of the repository is known.

    It is known where the site is published, and given there as INFORMED_REPOSITORY; anywhere else a
    button would lead nowhere. What opens is the students' notebook, from the branch that the
    workflow fills with their folder.
    """
    address = os.environ.get("INFORMED_REPOSITORY", "")
    if address:
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": BRANCH,
            "path_to_docs": "",
            "use_repository_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        }


def open_students_notebooks(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Make the launch buttons of a chapter lead to its notebook in the students' folder."""
    target = {path.stem: course.notebook_name(path) for path in course.chapters()}.get(
        name.removeprefix("book/")
    )
    for group in list(context.get("header_buttons", [])):
        buttons = [button for button in group.get("buttons", []) if "url" in button]
        launch = [button for button in buttons if button["text"] in ("Binder", "Colab")]
        if launch and target is None:
            context["header_buttons"].remove(group)
        for button in launch if target else ():
            button["url"] = button["url"].replace(f"{name}.ipynb", target)


def require_alt_text(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about each image without alt text; the strict build makes that an error."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("image without alt text: %s", image["uri"], location=image, type="site")


def weigh_explorers(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about a page whose explorers are too heavy together; the strict build makes it fail."""
    fault = overweight(raw.rawsource or raw.astext() for raw in doctree.findall(nodes.raw))
    if fault is not None:
        logger.warning("%s", fault, location=app.env.docname, type="site")


def link_library_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make the name of a documented function or class, written as code, a link to its entry."""
    entries = app.env.get_domain("py").get_objects()
    targets: dict[str, tuple[str, str]] = {}
    ambiguous = set()
    for full, _, kind, page, anchor, _ in entries:
        if kind not in ("class", "function", "method", "module"):
            continue
        targets[full] = (page, anchor)
        # `InformedMahalanobis` and `InformedMahalanobis.fit`, but not a bare `fit`; a module by
        # its full name only: a bare `directions` is an option.
        parts = {"method": -2, "module": 0}.get(kind, -1)
        short = ".".join(full.split(".")[parts:])
        if targets.setdefault(short, (page, anchor)) != (page, anchor):
            ambiguous.add(short)
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()")
        if name not in targets or name in ambiguous or targets[name][0] == docname:
            continue
        if any(isinstance(parent, (nodes.reference, nodes.title)) for parent in _parents(literal)):
            continue
        page, anchor = targets[name]
        address = app.builder.get_relative_uri(docname, page)
        link = nodes.reference("", "", internal=True, refuri=f"{address}#{anchor}")
        literal.replace_self(link)
        link += literal


def _parents(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def add_search_excerpts(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """On the page of search results, show excerpts of prose."""
    if name == "search":
        app.add_js_file("search-excerpts.js", loading_method="defer")


def finish_pages(app: Sphinx, exception: Exception | None) -> None:
    """Mend the finished pages, and take out of them what they do not show."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        mended = label_cells(add_description(mend_page(page.read_text(encoding="utf-8"))))
        page.write_text(set_type(mended), encoding="utf-8")
    lighten(Path(app.outdir))
    write_previews(Path(app.outdir))
    write_downloads(Path(app.outdir))
    join_style_sheets(Path(app.outdir))
    keep_room_on_pages(Path(app.outdir))


def offer_course(app: Sphinx, exception: Exception | None) -> None:
    """Put the course beside the pages; decks that have not changed are not drawn again."""
    if exception is None and app.builder.format == "html" and (slides.ROOT / "course").is_dir():
        slides.main()
        course.publish(Path(app.outdir) / "course")


def draw_architecture(app: Sphinx) -> None:
    """Draw the rooms of the package from its imports, before the page that shows them is read."""
    architecture.write_picture()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the handlers."""
    app.add_search_language(BookSearch)
    app.add_directive("computed", Computed)
    api_pages.setup(app)
    app.connect("config-inited", add_launch_buttons)
    app.connect("builder-inited", draw_architecture)
    app.connect("html-page-context", add_search_excerpts)
    # After the theme, which puts the buttons there.
    app.connect("html-page-context", open_students_notebooks, priority=900)
    app.connect("doctree-read", require_alt_text)
    app.connect("doctree-read", weigh_explorers)
    app.connect("doctree-resolved", link_library_names)
    for handler in (
        link_glossary_terms,
        add_answer_forms,
        fill_progress,
        share_scripts,
        fold_answers,
    ):
        app.connect("doctree-resolved", handler)
    app.connect("build-finished", write_shared_scripts)
    # After the theme, which writes the colours of code last.
    app.connect("build-finished", finish_pages, priority=900)
    app.connect("build-finished", offer_course, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
