"""The browser of this machine: found, never downloaded."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

# The first is the same browser without windows: it opens a page for a third of the work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = f"no browser on this machine: install one of {', '.join(NAMES)}"


def find_browser() -> str | None:
    """Return the path of the first browser that is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def find_for_site(site: Path, first: str) -> str | None:
    """Return the browser, if there is one and the site is built; else say what is missing."""
    browser = find_browser()
    if not (site / f"{first}.html").is_file():
        print("no built site: run make book first", file=sys.stderr)
        return None
    if browser is None:
        print(MISSING, file=sys.stderr)
    return browser
