"""Two things that the book asks of Sphinx: alt text on each image, pages that open from a file.

Loaded by ``_config.yml`` as a local extension.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# A browser refuses a cross-origin preload of a file:// address and logs an error for it. The style
# sheet loads the same fonts without it.
FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')


def require_alt_text(app: Sphinx, doctree: nodes.document) -> None:
    """Warn about each image without alt text; the strict build makes that an error."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("image without alt text: %s", image["uri"], location=image, type="site")


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
    app.connect("doctree-read", require_alt_text)
    app.connect("build-finished", drop_font_preloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
