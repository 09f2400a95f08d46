"""What the book asks of Sphinx: alt text, links, launch buttons, pages that open from a file.

Loaded by ``_config.yml`` as a local extension.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

logger = logging.getLogger(__name__)

# A browser refuses a cross-origin preload of a file:// address and logs an error for it. The style
# sheet loads the same fonts without it.
FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')


def add_launch_buttons(app: Sphinx, config: Config) -> None:
    """Offer to run a page elsewhere, if the address of the repository is known.

    It is known where the site is published, and given there as INFORMED_REPOSITORY; anywhere else a
    button would lead nowhere.
    """
    address = os.environ.get("INFORMED_REPOSITORY", "")
    if address:
        config.html_theme_options |= {
            "repository_url": address,
            "repository_branch": "main",
            "path_to_docs": "",
            "use_repository_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        }


def require_alt_text(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about each image without alt text; the strict build makes that an error."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("image without alt text: %s", image["uri"], location=image, type="site")


def link_library_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make the name of a documented function or class, written as code, a link to its entry."""
    entries = app.env.get_domain("py").get_objects()
    targets: dict[str, tuple[str, str]] = {}
    ambiguous = set()
    for full, _, kind, page, anchor, _ in entries:
        if kind not in ("class", "function", "method", "module"):
            continue
        targets[full] = (page, anchor)
        # `InformedMahalanobis` and `InformedMahalanobis.fit`, but not a bare `fit`.
        short = ".".join(full.split(".")[-2 if kind == "method" else -1 :])
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


def drop_font_preloads(app: Sphinx, exception: Exception | None) -> None:
    """Take the theme's font preloads out of the finished pages."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if FONT_PRELOAD.search(text):
            page.write_text(FONT_PRELOAD.sub("", text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the handlers."""
    app.connect("config-inited", add_launch_buttons)
    app.connect("doctree-read", require_alt_text)
    app.connect("doctree-resolved", link_library_names)
    app.connect("build-finished", drop_font_preloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
