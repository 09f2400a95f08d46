"""Join the style sheets of a page into one file.

A page of the theme asks for a dozen style sheets before it shows a word, and a phone on a slow
network waits for each request. Pages with the same sheets share one file, named by its content, in
the folder of the theme's styles. Runs after unused rules are gone (``lighten.py``).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

SHEET = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^":]+)"[^>]*>\n?')
URL = re.compile(r"""url\((?!["']?(?:data:|#|/|\w+:))["']?([^"')]+)["']?\)""")
IMPORT = re.compile(r"""@import\s+(?:url\()?["']([^"']+)["']\)?\s*;""")
FOLDER = Path("_static") / "styles"


def join_style_sheets(site: Path) -> None:
    """Give every page below ``site`` one style sheet in the place of its first."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        joined = joined_page(text, page, site)
        if joined != text:
            page.write_text(joined, encoding="utf-8")


def joined_page(text: str, page: Path, site: Path) -> str:
    """Return the page with one style sheet; the file is written if it is not there."""
    files = dict.fromkeys(
        (page.parent / address.partition("?")[0]).resolve() for address in SHEET.findall(text)
    )
    if len(files) < 2 or not all(file.is_file() for file in files):
        return text
    folder = (site / FOLDER).resolve()
    style = "\n".join(moved(file, folder) for file in files)
    name = f"all-{hashlib.sha256(style.encode()).hexdigest()[:12]}.css"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(style, encoding="utf-8")
    home = "../" * len(page.relative_to(site).parent.parts)
    link = f'<link rel="stylesheet" href="{home}{FOLDER.as_posix()}/{name}" />\n'
    first = SHEET.search(text)
    assert first is not None
    head = text[: first.start()] + link
    return head + SHEET.sub("", text[first.start() :])


def moved(file: Path, folder: Path) -> str:
    """Return a style sheet as it must read in another folder."""
    source = file.read_text(encoding="utf-8")

    def address(found: re.Match[str]) -> str:
        target = (file.parent / found.group(1)).resolve()
        return f'url("{_relative(target, folder)}")'

    def inside(found: re.Match[str]) -> str:
        return moved((file.parent / found.group(1).partition("?")[0]).resolve(), folder)

    # What a sheet imports moves into it: that would be one more request, after this one.
    return IMPORT.sub(inside, URL.sub(address, source))


def _relative(target: Path, folder: Path) -> str:
    up = 0
    while not target.is_relative_to(folder):
        folder, up = folder.parent, up + 1
    return "../" * up + target.relative_to(folder).as_posix()
