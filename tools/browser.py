"""The browser of this machine: found, never downloaded."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
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
