"""Fixtures shared by the tests of the book and of the built site."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from browser import ARGUMENTS, MISSING, find_browser

ROOT = Path(__file__).resolve().parent.parent
# Answers that tests try are nobody's progress.
os.environ["INFORMED_PROGRESS"] = "off"
PATIENCE_MS = 300_000


def unavailable(what: str) -> NoReturn:
    """Skip when run by hand; fail under CI, where a skipped test would go unnoticed."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    folder = Path(os.environ.get("INFORMED_SITE", ROOT / "_build" / "html")).resolve()
    if not (folder / "index.html").is_file():
        unavailable(f"no built site in {folder}: run make book first")
    return folder


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output free of one line per request."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def site_url(site: Path) -> Iterator[str]:
    """The address of a local server that serves the built site."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium that was found on this machine; none is ever downloaded."""
    path = find_browser()
    if path is None:
        unavailable(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        # A busy machine is slow, not wrong: only the limit of a whole test ends a wait.
        for name in ("new_context", "new_page"):
            setattr(browser, name, _patient(getattr(browser, name)))
        yield browser
        browser.close()


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a way to make contexts and pages that wait far longer than Playwright's 30 s."""

    def made(**options: Any) -> Any:
        context = make(**options)
        context.set_default_timeout(PATIENCE_MS)
        return context

    return made
