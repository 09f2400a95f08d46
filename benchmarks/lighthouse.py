"""Lighthouse scores of the built site, on a local server that compresses as a host does.

Lighthouse comes from npm and is no part of the environment: where it cannot be had, this says so
and measures nothing. Run as ``python benchmarks/lighthouse.py`` after ``make book``. Each page is
measured a few times, and the best run counts, since whatever else the machine does only lowers a
score.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from browser import ARGUMENTS, find_browser  # noqa: E402

SITE = ROOT / "_build" / "html"
PAGES = ("book/index", "book/why-the-usual-distance-fails", "book/averaging")
TARGETS = {"desktop": 90, "mobile": 75}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}
LIMIT_SECONDS = 300


@cache
def packed(path: Path) -> bytes:
    """Return a file as gzip sends it."""
    return gzip.compress(path.read_bytes(), 6)


class CompressingHandler(SimpleHTTPRequestHandler):
    """A server of files as a host of static pages is: with compression, and files may be kept."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of each request."""

    def do_GET(self) -> None:
        """Send a file, compressed if it is text."""
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            super().do_GET()
            return
        data = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def end_headers(self) -> None:
        """Allow files to be kept."""
        self.send_header("Cache-Control", "public, max-age=31536000")
        super().end_headers()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and yield its address."""
    handler = partial(CompressingHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def find_lighthouse() -> str | None:
    """Return the program, from LIGHTHOUSE or from the path, or None."""
    return os.environ.get("LIGHTHOUSE") or shutil.which("lighthouse")


def measure(program: str, browser: str, address: str, device: str) -> dict[str, int]:
    """Run Lighthouse once, and return the scores of its categories."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            program,
            address,
            "--quiet",
            "--output=json",
            f"--output-path={report}",
            f"--only-categories={','.join(CATEGORIES)}",
            f"--chrome-flags=--headless=new {' '.join(ARGUMENTS)}",
        ]
        if device == "desktop":
            command.append("--preset=desktop")
        environment = {**os.environ, "CHROME_PATH": browser}
        subprocess.run(
            command, env=environment, check=True, timeout=LIMIT_SECONDS, capture_output=True
        )
        found = json.loads(report.read_text(encoding="utf-8"))
    keep = os.environ.get("LIGHTHOUSE_REPORT")
    if keep:
        Path(keep).write_text(json.dumps(found), encoding="utf-8")
    return {name: round(100 * found["categories"][name]["score"]) for name in CATEGORIES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the scores of some pages; nothing fails where nothing can be measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, default=SITE, help="folder of the built site")
    parser.add_argument("--runs", type=int, default=3, help="runs a page, of which the best counts")
    parser.add_argument("pages", nargs="*", default=PAGES, help="pages, without their ending")
    options = parser.parse_args(arguments)
    program, browser = find_lighthouse(), find_browser()
    missing = [
        name
        for name, there in (
            ("Lighthouse (npm install -g lighthouse)", program),
            ("a browser", browser),
            ("a built site (make book)", (options.site / "index.html").is_file() or None),
        )
        if there is None
    ]
    if program is None or browser is None or missing:
        print(f"Lighthouse: not measured, for want of {' and '.join(missing)}")
        return 0
    print(f"Lighthouse, best of {options.runs}, compressed local server")
    print(f"{'page':44s}{'device':9s}" + "".join(f"{name:>16s}" for name in CATEGORIES))
    with served(options.site) as home:
        for page in options.pages:
            for device, target in TARGETS.items():
                runs = [
                    measure(program, browser, f"{home}/{page}.html", device)
                    for _ in range(options.runs)
                ]
                best = max(runs, key=lambda run: run["performance"])
                scores = "".join(f"{best[name]:16d}" for name in CATEGORIES)
                reached = "reached" if best["performance"] >= target else "not reached"
                print(f"{page:44s}{device:9s}{scores}   performance >= {target}: {reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
