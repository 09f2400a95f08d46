"""Open pages of the built site, watch what they do, and move what can be moved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from conftest import ROOT
from playwright.sync_api import Browser, Locator, Page, Request, Response
from sphinx_external_toc.parsing import parse_toc_yaml

sys.path.insert(0, str(ROOT / "tools"))
import notebooks
from weights import Weighed

TOC = parse_toc_yaml(ROOT / "_toc.yml")
PAGES = [f"{name}.html" for name in TOC]
CHAPTERS = [f"book/{path.stem}" for path in notebooks.find_chapters()]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


# Formulas are set when a reader comes near; a test wants all of them at once.
SET_ALL_MATHEMATICS = """async () => {
    if (!window.MathJax && !document.querySelector('script[src*="mathjax" i]')) return;
    // The script may still be on its way, from a file all the more.
    while (!window.MathJax?.startup?.promise) await new Promise(go => setTimeout(go, 20));
    await MathJax.startup.promise;
    await MathJax.startup.document.lazyTypesetAll?.();  // slides set all at once
}"""


@dataclass
class Visit:
    """A page, and what went on while it was open."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    replies: list[Response] = field(default_factory=list)
    weight: Weighed | None = None


def _failure(request: Request) -> list[str]:
    """What went wrong with a request; a picture that gave way to the next one did not fail."""
    if request.resource_type == "image" and request.failure == "net::ERR_ABORTED":
        return []
    return [f"failed: {request.url} ({request.failure})"]


@contextmanager
def visit(
    browser: Browser, address: str, *, mathematics: bool = True, **options: Any
) -> Iterator[Visit]:
    """Open a page, wait until it is quiet, and close it afterwards.

    All its mathematics is set, which takes longest, unless the test looks at other things.
    """
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    page = context.new_page()
    this = Visit(page)
    page.on("console", lambda message: message.type == "error" and this.errors.append(message.text))
    page.on("pageerror", lambda error: this.errors.append(str(error)))
    page.on("requestfailed", lambda request: this.errors.extend(_failure(request)))
    page.on("response", lambda reply: this.replies.append(reply))
    page.on(
        "response",
        lambda reply: reply.status >= 400 and this.errors.append(f"{reply.status}: {reply.url}"),
    )
    page.on("request", lambda request: this.requests.append(request.url))
    page.goto(address, wait_until="networkidle")
    if mathematics:
        set_mathematics(this)
    yield this
    context.close()


def set_mathematics(visit: Visit) -> None:
    """Set all formulas of a page, also those that are far from the reader."""
    visit.page.evaluate(SET_ALL_MATHEMATICS)


def check_mathematics(page: Page) -> None:
    left, shown, wrong = page.evaluate(
        r"""() => {
            const math = [...document.querySelectorAll('.math')];
            return [
                math.filter(m => !m.querySelector('mjx-container')).map(m => m.textContent),
                math.length,
                [...document.querySelectorAll('mjx-merror')].map(m => m.textContent),
            ];
        }"""
    )
    assert left == []
    assert wrong == []
    text = page.inner_text("article")
    assert "\\(" not in text
    assert "\\[" not in text
    assert shown == page.locator(".math mjx-container").count()


def is_chapter(visit: Visit) -> bool:
    """Tell whether a page is one of the chapters."""
    return visit.page.url.rpartition("book/")[2] in {Path(name).name + ".html" for name in CHAPTERS}


def show_in(visit: Visit, scheme: Literal["light", "dark"]) -> None:
    """Let a page appear as it does for readers whose system is light or dark.

    At rest: colours would else change gradually, and one on its way is that of neither scheme. No
    wait for the end of such changes, which never comes where the browser has not laid out a part.
    """
    visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    visit.page.wait_for_selector(f"html[data-theme={scheme}]")


def foreign(visit: Visit, home: str) -> list[str]:
    """Return the requests that left the site."""
    return [url for url in visit.requests if not url.startswith((home, "data:", "blob:"))]


def drag(slider: Locator, position: int) -> None:
    """Take the thumb of a slider with the mouse and put it down at a position.

    Formulas are set when they come near, and may push the slider away between the look at its
    place and the hand's arrival, even for a moment: then the hand reaches out once more.
    """
    slider.scroll_into_view_if_needed()
    last = int(slider.get_attribute("max") or 0)
    thumb = 16  # Chromium's, in CSS pixels
    mouse = slider.page.mouse
    for _ in range(5):
        box = slider.bounding_box()
        assert box is not None
        left, room = box["x"] + thumb / 2, box["width"] - thumb
        height = box["y"] + box["height"] / 2
        mouse.move(left + room * int(slider.input_value()) / last, height)
        mouse.down()
        mouse.move(left + room * position / last, height, steps=4)
        mouse.up()
        if int(slider.input_value()) == position:
            return
    raise AssertionError(f"the slider stands at {slider.input_value()}, not at {position}")
