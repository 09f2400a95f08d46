"""What a reader loads before scrolling: the weight of every page of the built book.

Run as ``python tools/weights.py`` after ``make book``, or as a part of ``make bench``: prints the
kilobytes of each page as they are stored and as a server sends them, and the number of requests.
"""

from __future__ import annotations

import functools
import gzip
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from browser import ARGUMENTS, find_for_site
from playwright.sync_api import Browser, Page, Response, sync_playwright
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
SCREEN = {"width": 1280, "height": 900}
KB = 1000
# What a page may weigh as it is sent, in kilobytes; the landing page comes first.
LANDING, PAGE = 500, 1200
# Formulas in view are set, so that all their parts have been asked for; there may be none in view.
READY = """() => [...document.querySelectorAll('.math')].every(formula => {
    const box = formula.getBoundingClientRect();
    const inView = formula.checkVisibility({contentVisibilityAuto: true})
        && box.width && box.bottom > 0 && box.top < innerHeight;
    return !inView || formula.querySelector('mjx-container');
})"""


class Weighed(NamedTuple):
    """Bytes as stored, bytes as a server sends them, and requests."""

    plain: int
    packed: int
    requests: int


def weigh(browser: Browser, address: str) -> Weighed:
    """Open a page, and weigh all that it asks for until it is quiet."""
    context = browser.new_context(viewport=SCREEN)
    page = context.new_page()
    replies: list[Response] = []
    page.on("response", lambda reply: replies.append(reply))
    page.goto(address, wait_until="load")
    weighed = weigh_open(page, replies)
    context.close()
    return weighed


def weigh_open(page: Page, replies: list[Response]) -> Weighed:
    """Weigh all that an open page was sent, when it has come to rest."""
    page.wait_for_function(READY)
    page.wait_for_load_state("networkidle")
    bodies = [reply.body() for reply in replies]
    packed = sum(min(len(body), len(gzip.compress(body))) for body in bodies)
    return Weighed(sum(map(len, bodies)), packed, len(bodies))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of each request."""


def main() -> int:
    """Print the weights of all pages; nothing fails where nothing can be weighed."""
    names = list(parse_toc_yaml(ROOT / "_toc.yml"))
    browser_path = find_for_site(SITE, names[0])
    if browser_path is None:
        print("weights: not measured")
        return 0
    handler = functools.partial(_Quiet, directory=str(SITE))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{'before scrolling':40s}{'stored kB':>10s}{'sent kB':>9s}{'requests':>10s}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        for name in names:
            found = weigh(browser, f"http://127.0.0.1:{server.server_port}/{name}.html")
            plain, packed, requests = found
            budget = LANDING if name == names[0] else PAGE
            held = "" if packed <= budget * KB else f"   over {budget} kB"
            print(f"{name:40s}{plain / KB:10.0f}{packed / KB:9.0f}{requests:10d}{held}")
        browser.close()
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
