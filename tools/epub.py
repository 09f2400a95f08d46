"""Bind the built book as an EPUB, with formulas in MathML.

Each page of the site is opened in the browser of this machine, which sets its formulas and writes
the article as XHTML; what needs a script (quizzes, fields, controls) is left out, and a figure to
be dragged becomes a picture of its start. Run as ``python tools/epub.py`` after ``make book``;
writes ``_build/informed.epub``.
"""

from __future__ import annotations

import hashlib
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser import ARGUMENTS, find_for_site
from playwright.sync_api import Browser, Page, sync_playwright
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
EPUB = ROOT / "_build" / "informed.epub"
TITLE = "Mahalanobis Distance Informed by Clustering: a book that runs"
AUTHOR = "The informed authors"
IDENTIFIER = "urn:uuid:6f1c0f0e-6f2c-5a53-9c7b-1f0a5a3f6d11"
# A fixed time makes two builds of the same pages the same in every byte.
TIME = (2026, 1, 1, 0, 0, 0)
MODIFIED = "2026-01-01T00:00:00Z"
MEDIA_TYPES = {
    ".png": "image/png",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
}

STYLE = """\
body { font-family: serif; line-height: 1.45; }
h1, h2, h3 { font-family: sans-serif; line-height: 1.2; }
pre, code { font-family: monospace; font-size: 0.85em; }
pre { white-space: pre-wrap; background: #f4f4f4; color: #111; padding: 0.5em; }
img { max-width: 100%; height: auto; background: #fff; }
figure { margin: 1em 0; }
figcaption { font-size: 0.9em; }
table { border-collapse: collapse; }
td, th { border: 1px solid #999; padding: 0.2em 0.4em; text-align: left; vertical-align: top; }
.admonition { border-left: 3px solid #1f6fb2; padding-left: 0.8em; margin: 1em 0; }
.admonition-title { font-weight: bold; font-family: sans-serif; }
div.math { text-align: center; margin: 0.8em 0; overflow-x: auto; }
"""

# What a page of paper cannot do, or what stands on the page only for the mouse.
LEFT_OUT = (
    "script, style, link, noscript, source, button, form, input, select, label, nav,"
    " .headerlink, .copybtn, .toggle-button, details.hide, .cell_input.above-output-prompt,"
    " .informed-quiz, .informed-proof, .informed-progress, .informed-answer,"
    " .informed-playground, .controls, .moving, .unseen, .prev-next-footer, mjx-container"
)
# Attributes that a reader of books knows what to do with; others go.
KEPT = "id class href src alt colspan rowspan start lang width height open"

# Runs in the page: replaces formulas by MathML, moves links, cleans, and returns XHTML.
AS_XHTML = (Path(__file__).parent / "epub.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Chapter:
    """A page of the book: the name of its file, its title, its body in XHTML."""

    name: str
    title: str
    body: str

    def ids(self) -> set[str]:
        """Return what a link can lead to."""
        return set(re.findall(r'\sid="([^"]+)"', self.body))


@dataclass
class Binding:
    """All that goes into the file."""

    chapters: list[Chapter] = field(default_factory=list)
    images: dict[str, bytes] = field(default_factory=dict)


def as_document(title: str, body: str, *, language: str = "en") -> str:
    """Wrap a body into a document of XHTML."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml" lang="{language}" xml:lang="{language}">\n'
        f'<head><title>{escape(title)}</title><link rel="stylesheet" href="../style.css"/></head>\n'
        f"<body>{body}</body>\n</html>\n"
    )


def without_dead_links(chapters: Sequence[Chapter]) -> list[Chapter]:
    """Drop the part behind ``#`` of links that lead to no place, and ids that occur twice."""
    ids = {f"{chapter.name}.xhtml": chapter.ids() for chapter in chapters}

    def lead(found: re.Match[str]) -> str:
        page, mark = found.group(1), found.group(2)
        if page not in ids:
            return ""
        return f' href="{page}#{mark}"' if mark in ids[page] else f' href="{page}"'

    mended = []
    for chapter in chapters:
        seen: set[str] = set()

        def once(found: re.Match[str], seen: set[str] = seen) -> str:
            first = found.group(1) not in seen
            seen.add(found.group(1))
            return found.group() if first else ""

        body = re.sub(r' href="([\w.-]+\.xhtml)#([^"]*)"', lead, chapter.body)
        mended.append(Chapter(chapter.name, chapter.title, re.sub(r' id="([^"]+)"', once, body)))
    return mended


def contents(binding: Binding) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the EPUB but the first, with its path."""
    chapters = without_dead_links(binding.chapters)
    yield (
        "META-INF/container.xml",
        b'<?xml version="1.0" encoding="utf-8"?>\n'
        b'<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        b'<rootfiles><rootfile full-path="content.opf" '
        b'media-type="application/oebps-package+xml"/></rootfiles></container>\n',
    )
    yield "content.opf", package(chapters, binding.images).encode()
    entries = "".join(
        f'<li><a href="text/{each.name}.xhtml">{escape(each.title)}</a></li>' for each in chapters
    )
    toc = f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{entries}</ol></nav>'
    yield (
        "nav.xhtml",
        as_document("Contents", toc)
        .replace("../style.css", "style.css")
        .replace("<html ", '<html xmlns:epub="http://www.idpf.org/2007/ops" ')
        .encode(),
    )
    yield "style.css", STYLE.encode()
    for chapter in chapters:
        yield f"text/{chapter.name}.xhtml", as_document(chapter.title, chapter.body).encode()
    for name, data in sorted(binding.images.items()):
        yield f"images/{name}", data


def package(chapters: Sequence[Chapter], images: Mapping[str, bytes]) -> str:
    """Write the list of all files, and what is to be known about the book."""
    items = [
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="style" href="style.css" media-type="text/css"/>',
    ]
    for chapter in chapters:
        kinds = [
            kind for kind, sign in (("mathml", "<math"), ("svg", "<svg")) if sign in chapter.body
        ]
        properties = f' properties="{" ".join(kinds)}"' if kinds else ""
        items.append(
            f'<item id="{chapter.name}" href="text/{chapter.name}.xhtml" '
            f'media-type="application/xhtml+xml"{properties}/>'
        )
    for number, name in enumerate(sorted(images)):
        media_type = MEDIA_TYPES[Path(name).suffix]
        items.append(f'<item id="image-{number}" href="images/{name}" media-type="{media_type}"/>')
    spine = "".join(f'<itemref idref="{chapter.name}"/>' for chapter in chapters)
    access = "".join(
        f'<meta property="schema:{name}">{value}</meta>'
        for name, value in (
            ("accessMode", "textual"),
            ("accessMode", "visual"),
            ("accessModeSufficient", "textual"),
            ("accessibilityFeature", "MathML"),
            ("accessibilityFeature", "alternativeText"),
            ("accessibilityFeature", "structuralNavigation"),
            ("accessibilityHazard", "none"),
        )
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" '
        'xml:lang="en">\n<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{IDENTIFIER}</dc:identifier><dc:title>{escape(TITLE)}</dc:title>'
        f"<dc:creator>{escape(AUTHOR)}</dc:creator><dc:language>en</dc:language>"
        f'<meta property="dcterms:modified">{MODIFIED}</meta>{access}</metadata>\n'
        f"<manifest>\n{chr(10).join(items)}\n</manifest>\n<spine>{spine}</spine>\n</package>\n"
    )


def write(binding: Binding, path: Path) -> None:
    """Write the file; the format wants its first entry uncompressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            zipfile.ZipInfo("mimetype", TIME), b"application/epub+zip", zipfile.ZIP_STORED
        )
        for name, data in contents(binding):
            archive.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)


def picture_explorers(page: Page, binding: Binding) -> None:
    """Take a picture of each figure that computes, and name it on the page."""
    for root in page.locator(".informed-computed[data-explorer]").all():
        figure = root.locator(".drawing").first
        figure.scroll_into_view_if_needed()
        data = figure.screenshot()
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.png"
        binding.images[name] = data
        root.evaluate("(root, name) => root.dataset.still = `still:${name}`", name)


def bind(browser: Browser, site: Path, names: Sequence[str]) -> Binding:
    """Open the pages one after the other and take over what they hold."""
    binding = Binding()
    page = browser.new_page(color_scheme="light", viewport={"width": 900, "height": 1000})
    page.set_default_timeout(300_000)
    for name in names:
        page.goto((site / f"{name}.html").as_uri(), wait_until="load")
        page.evaluate(
            """async () => {
                if (!window.MathJax) return;
                // The page may be there before MathJax has started.
                while (!window.MathJax?.startup?.document) {
                    await new Promise(go => setTimeout(go, 50));
                }
                await MathJax.startup.promise;
                await MathJax.startup.document.lazyTypesetAll();
            }"""
        )
        picture_explorers(page, binding)
        found = page.evaluate(
            AS_XHTML,
            {"leftOut": LEFT_OUT, "kept": KEPT, "names": list(names), "site": site.as_uri()},
        )
        body = found["body"]
        for address in found["images"]:
            source = urlsplit(address)
            if source.scheme == "still":
                target = source.path
            else:
                file = Path(unquote(source.path))
                target = f"{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}{file.suffix}"
                binding.images[target] = file.read_bytes()
            body = body.replace(f'src="{escape(address)}"', f'src="../images/{target}"')
        binding.chapters.append(Chapter(name.replace("/", "-"), found["title"], body))
    page.close()
    return binding


def main() -> int:
    """Bind the book; the exit status is 1 if there is no site or no browser."""
    names = list(parse_toc_yaml(ROOT / "_toc.yml"))
    browser_path = find_for_site(SITE, names[0])
    if browser_path is None:
        return 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        write(bind(browser, SITE, names), EPUB)
        browser.close()
    print(f"The book is in {EPUB.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
