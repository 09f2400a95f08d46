"""Open pages of the built site, watch what they do, and move what can be moved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from conftest import ROOT
from playwright.sync_api import Browser, Locator, Page
from sphinx_external_toc.parsing import parse_toc_yaml

sys.path.insert(0, str(ROOT / "tools"))
import notebooks

TOC = parse_toc_yaml(ROOT / "_toc.yml")
PAGES = [f"{name}.html" for name in TOC]
CHAPTERS = [f"book/{path.stem}" for path in notebooks.find_chapters()]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


# Formulas are set when a reader comes near; a test wants all of them at once.
SET_ALL_MATHEMATICS = """async () => {
    if (!window.MathJax) return;
    // On a busy machine the network can rest while MathJax is still starting.
    while (!window.MathJax?.startup?.document) await new Promise(go => setTimeout(go, 50));
    await MathJax.startup.promise;
    await MathJax.startup.document.lazyTypesetAll?.();  // slides set all at once
}"""


@dataclass
class Visit:
    """A page, and what went on while it was open."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    """Open a page, wait until it is quiet and its mathematics is set, and close it afterwards."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    page = context.new_page()
    this = Visit(page)
    page.on("console", lambda message: message.type == "error" and this.errors.append(message.text))
    page.on("pageerror", lambda error: this.errors.append(str(error)))
    page.on("requestfailed", lambda request: this.errors.append(f"failed: {request.url}"))
    page.on(
        "response",
        lambda reply: reply.status >= 400 and this.errors.append(f"{reply.status}: {reply.url}"),
    )
    page.on("request", lambda request: this.requests.append(request.url))
    page.goto(address, wait_until="networkidle")
    page.evaluate(SET_ALL_MATHEMATICS)
    yield this
    context.close()


def foreign(visit: Visit, home: str) -> list[str]:
    """Return the requests that left the site."""
    return [url for url in visit.requests if not url.startswith((home, "data:", "blob:"))]


def drag(slider: Locator, position: int) -> None:
    """Take the thumb of a slider with the mouse and put it down at a position."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    last = int(slider.get_attribute("max") or 0)
    thumb = 16  # Chromium's, in CSS pixels

    def at(step: int) -> float:
        return box["x"] + thumb / 2 + (box["width"] - thumb) * step / last

    mouse = slider.page.mouse
    height = box["y"] + box["height"] / 2
    mouse.move(at(int(slider.input_value())), height)
    mouse.down()
    mouse.move(at(position), height, steps=4)
    mouse.up()
