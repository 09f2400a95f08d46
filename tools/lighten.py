"""Make the finished pages light: what a page does not show, it does not load.

Runs when Sphinx has written the site (see ``sphinx_site.py``), on the files, because most of the
weight comes from the theme: a script that draws icons, style sheets of which a page uses a tenth,
all of MathJax on pages without a formula. Pictures of explorers leave the page and become files
that are loaded when the reader comes near. All of it works from a server and from a file.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import tinycss2
from PIL import Image

# A browser refuses a cross-origin preload of a file:// address and logs an error for it.
FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>\s*')
ICON_SCRIPT = re.compile(r'<script src="[^"]*fontawesome[^"]*"></script>\s*')
ICON_STYLE = re.compile(r'<link href="[^"]*fontawesome[^"]*" rel="stylesheet" ?/>\s*')
MATHJAX = re.compile(
    r"<script>window\.MathJax = .*?</script>\s*|<script[^>]*mathjax[^>]*></script>\s*"
)
PICTURE = re.compile(r"data:image/(webp|png);base64,([A-Za-z0-9+/=]{400,})")
# Scripts that stop the page until they are read; all but the first wait for its end just as well.
BLOCKING = re.compile(r'<script src="([^"]+)"></script>')
OPTIONS = "documentation_options.js"
IMAGE = re.compile(r"<img\b[^>]*>")
# A picture that is all of a figure above its caption, in the text or in an explorer.
FIGURE = re.compile(r"(<figure\b[^>]*>\s*)((?:<a\b[^>]*>\s*)?<img\b[^>]*>(?:\s*</a>)?)")
# Where an image, or its narrow form, has its file.
DRAWN = re.compile(r'(<(?:img|source)\b[^>]*?\bsrc(?:set)?=")([^":]+\.png)"')
# What CSS counts to an inch.
CSS_DPI = 96

# What the book's formulas need of MathJax, in the order in which it is loaded.
MATHJAX_PARTS = [
    "startup.js",
    "core.js",
    "input/tex-base.js",
    "input/tex/extensions/ams.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "a11y/assistive-mml.js",
]
MATHJAX_FONTS = "output/chtml/fonts/woff-v2"
# Style sheets of packages, of which the pages use a part.
THEME_STYLES = [
    "bootstrap.css",
    "pydata-sphinx-theme.css",
    "sphinx-book-theme.css",
    "sphinx-design.min.css",
    "basic.css",
    "pygments.css",
    "togglebutton.css",
    "copybutton.css",
    "proof.css",
    "exercise.css",
    "mystnb.*.css",
]
# Where the theme begins to measure every box of code, to make tab stops of those that scroll.
TAB_STOPS = re.compile(
    r'"complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)'
)
# Sets the formulas that are near; must come before MathJax, which asks it what to do.
FORMULAS = re.compile(r'(<script[^>]*src="([^"]*)mathjax/startup\.js(?:\?[^"]*)?"[^>]*></script>)')
PICTURES = (".png", ".webp", ".jpg", ".svg")


def lighten(site: Path) -> None:
    """Rewrite the pages and style sheets below ``site``."""
    copy_mathjax(site / "_static" / "mathjax")
    shutil.rmtree(site / "_static" / "vendor" / "fontawesome", ignore_errors=True)
    for unused in (site / "_static").rglob("*.map"):
        unused.unlink()
    for script in (site / "_static").rglob("pydata-sphinx-theme.js"):
        source = script.read_text(encoding="utf-8")
        ours = (site / "_static" / "tab-stops.js").read_text(encoding="utf-8")
        script.write_text(with_lazy_tab_stops(source, ours), encoding="utf-8")
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        lighter = lighten_page(text, page, site)
        if lighter != text:
            page.write_text(lighter, encoding="utf-8")
    drop_replaced_pictures(site, pages)
    drop_old_frames(site, pages)
    used = names_in(
        path.read_text(encoding="utf-8", errors="replace")
        for path in [*pages, *(site / "_static").rglob("*.js")]
        if "mathjax" not in path.parts
    )
    for name in THEME_STYLES:
        for sheet in (site / "_static").rglob(name):
            source = sheet.read_text(encoding="utf-8")
            sheet.write_text(without_unused_rules(source, used), encoding="utf-8")


def lighten_page(text: str, page: Path, site: Path) -> str:
    """Return the page without what it does not need."""
    for pattern in (FONT_PRELOAD, ICON_SCRIPT, ICON_STYLE):
        text = pattern.sub("", text)
    if 'class="math' not in text and "\\(" not in text:
        text = MATHJAX.sub("", text)
    text = FORMULAS.sub(r'<script defer src="\2formulas.js"></script>\n\1', text)
    home = "../" * len(page.relative_to(site).parent.parts)
    text = PICTURE.sub(lambda found: move_picture(found, site, home), text)
    if page.stem != "search":  # there a script of ours waits for those of the search
        text = BLOCKING.sub(lambda found: deferred(found, page), text)
    text = IMAGE.sub(lambda found: sized(found.group(), page), text)
    if page.stem == "index":
        # The first picture of the landing page is what a visitor waits for.
        text = text.replace(' loading="lazy" decoding="async"', ' fetchpriority="high"', 1)
    text = FIGURE.sub(r'\1<div class="wide">\2</div>', text)
    text = IMAGE.sub(lambda found: with_narrow_form(found.group(), site, home), text)
    return DRAWN.sub(lambda found: smaller(found, page), text)


def with_lazy_tab_stops(theme: str, ours: str) -> str:
    """Return the theme's script with our way to make tab stops, when the page is loaded."""
    run = f"window.addEventListener('load', () => {{\n{ours}}})"
    return TAB_STOPS.sub(lambda _: run, theme)


def deferred(found: re.Match[str], page: Path) -> str:
    """Let a script wait until the page is read; scripts that wait keep their order.

    The options of the book are a few words that scripts within the page ask for: they move into it.
    """
    source = found.group(1)
    file = (page.parent / source.partition("?")[0]).resolve()
    if file.name == OPTIONS and file.is_file():
        return f"<script>{file.read_text(encoding='utf-8')}</script>"
    return f'<script defer src="{source}"></script>'


def move_picture(found: re.Match[str], site: Path, home: str) -> str:
    """Write an embedded picture to a file named by its content; return its address."""
    data = base64.b64decode(found.group(2))
    name = f"{hashlib.sha256(data).hexdigest()[:16]}.{found.group(1)}"
    folder = site / "_static" / "frames"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return f"{home}_static/frames/{name}"


def sized(tag: str, page: Path) -> str:
    """Give an image its size, so that the page does not jump, and load it when it comes near.

    A picture that knows its dots per inch is shown at the width at which it was drawn, on a screen
    of any density; then its labels are as large as its author set them.
    """
    source = re.search(r'src="([^"]+)"', tag)
    if source is None or source.group(1).startswith("data:"):
        return tag
    if " loading=" not in tag:
        tag = tag.replace("<img", '<img loading="lazy" decoding="async"', 1)
    file = (page.parent / source.group(1)).resolve()
    if " width=" not in tag and file.suffix in PICTURES and file.is_file():
        width, height = size_of(file)
        if width:
            tag = tag.replace("<img", f'<img width="{width}" height="{height}"', 1)
    drawn = re.search(r' width="(\d+)"', tag)
    if drawn and " style=" not in tag:
        # For the style sheet, which cannot read the width of an image from its attribute.
        tag = tag.replace("<img", f'<img style="--drawn: {drawn.group(1)}px"', 1)
    return tag


def with_narrow_form(tag: str, site: Path, home: str) -> str:
    """Offer the picture ``name-phone.png`` in place of ``name.png`` where a page is narrow."""
    source = re.search(r'src="[^"]*?([\w-]+)\.png"', tag)
    name = f"_static/{source.group(1)}-phone.png" if source else ""
    if not name or not (site / name).is_file():
        return tag
    narrow = f'<source media="(max-width: 576px)" srcset="{home}{name}">'
    return f"<picture>{narrow}{tag}</picture>"


def smaller(found: re.Match[str], page: Path) -> str:
    """Offer a drawing as lossless WebP, which shows the same dots in half the bytes."""
    file = (page.parent / found.group(2)).resolve()
    if not file.is_file() or (as_webp(file).stat().st_size >= file.stat().st_size):
        return found.group()
    return found.group().removesuffix('.png"') + '.webp"'


def drop_old_frames(site: Path, pages: list[Path]) -> None:
    """Remove the frames of earlier builds, which no page names any more."""
    named = set[str]()
    for page in pages:
        named.update(re.findall(r"_static/frames/(\w+\.\w+)", page.read_text(encoding="utf-8")))
    for frame in (site / "_static" / "frames").glob("*"):
        if frame.name not in named:
            frame.unlink()


def drop_replaced_pictures(site: Path, pages: list[Path]) -> None:
    """Remove the drawings that WebP has replaced on all pages: nobody would ever load them."""
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    for picture in (site / "_images").glob("*.png"):
        if picture.with_suffix(".webp").is_file() and picture.name not in text:
            picture.unlink()


@cache
def as_webp(file: Path) -> Path:
    """Write a picture as WebP beside its file, and return where."""
    target = file.with_suffix(".webp")
    with Image.open(file) as picture:
        picture.save(target, "WEBP", lossless=True, quality=50, method=4, exact=True)
    return target


@cache
def size_of(file: Path) -> tuple[int, int]:
    """Return width and height of a picture in the pixels of CSS; zeros for a drawing without."""
    if file.suffix == ".svg":
        head = file.read_text(encoding="utf-8").partition(">")[0]
        sizes = [re.search(rf' {side}="(\d+)"', head) for side in ("width", "height")]
        width, height = (int(size.group(1)) if size else 0 for size in sizes)
        return width, height
    with Image.open(file) as picture:
        scale = CSS_DPI / float(picture.info.get("dpi", (CSS_DPI,))[0] or CSS_DPI)
        return round(picture.width * scale), round(picture.height * scale)


def copy_mathjax(folder: Path) -> None:
    """Copy the parts of MathJax that the pages load, and no others."""
    spec = find_spec("sphinx-mathjax-offline")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent / "static" / "mathjax"
    shutil.rmtree(folder, ignore_errors=True)
    fonts = [path.relative_to(home) for path in (home / MATHJAX_FONTS).iterdir()]
    for part in [*map(Path, MATHJAX_PARTS), *fonts]:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home / part, folder / part)


# ------------------------------------------------------------------------------- style sheets


def names_in(texts: Iterable[str]) -> set[str]:
    """Return every word that could be the name of a class or an id in some page or script."""
    names: set[str] = set()
    for text in texts:
        names.update(re.findall(r"[A-Za-z_][\w-]*", text))
    return names


def without_unused_rules(source: str, used: set[str]) -> str:
    """Drop the rules that no page can match: those that ask for a class that occurs nowhere."""
    return "".join(_kept(tinycss2.parse_stylesheet(source, skip_comments=False), used))


def _kept(rules: Iterable[tinycss2.ast.Node], used: set[str]) -> Iterable[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [
                part for part in _split(tinycss2.serialize(rule.prelude)) if _names(part) <= used
            ]
            if selectors:
                yield f"{','.join(selectors)}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = "".join(
                _kept(tinycss2.parse_rule_list(rule.content or [], skip_whitespace=True), used)
            )
            if inner:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}"
        elif rule.type == "comment":
            # A comment that must stay, such as a licence, begins with an exclamation mark.
            if rule.value.startswith("!"):
                yield rule.serialize()
        else:
            yield rule.serialize()


def _names(selector: str) -> set[str]:
    """Classes and ids that an element must have; those inside ``:not(…)`` are no condition."""
    outside = re.sub(r":not\([^()]*\)", "", selector)
    return set(re.findall(r"(?<=[.#])-?[A-Za-z_][\w-]*", outside))


def _split(selectors: str) -> list[str]:
    """Cut a list of selectors at its commas, but not at those inside brackets."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(selectors):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append(selectors[start:place])
            start = place + 1
    return [*parts, selectors[start:]]
