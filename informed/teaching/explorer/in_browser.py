"""Explorers that compute in the browser: what is dragged is computed anew, on a static page too.

They are written in JavaScript, in ``browser/explorers``, on a numerical core that is compared with
the library (`informed.teaching.explorer.pack` says how it reaches a page). Python only names one.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from html import escape
from importlib.resources import files

from informed.teaching.explorer.pack import packed_script, page_style

# In the built book these two are replaced by links to files that all pages share.
SCRIPT = re.compile(r"<script data-informed-pack>.*?</script>", re.DOTALL)
STYLE = re.compile(r"<style data-informed-pack>.*?</style>", re.DOTALL)
WORDS = re.compile(r'^  (title|help):\s*"((?:[^"\\]|\\.)*)",', re.MULTILINE)


def names() -> list[str]:
    """Return the names of the explorers that compute, sorted."""
    folder = files(__package__) / "browser" / "explorers"
    return sorted(
        entry.name.removesuffix(".js") for entry in folder.iterdir() if entry.name.endswith(".js")
    )


def block(name: str) -> str:
    """Write an explorer as one block of HTML that needs nothing else.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    html : str
        Title, help, and the scripts that draw and move it.
    """
    known = names()
    if name not in known:
        close = get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {known}"
        raise ValueError(f"name={name!r}: no explorer that computes has this name; {hint}")
    words = _words(name)
    return with_pack(
        f'<div class="informed-computed" id="computed-{name}" data-explorer="{name}" '
        f'role="group" aria-label="{escape(words["title"])}">\n'
        f'<p class="title">{escape(words["title"])}</p>\n'
        f'<p class="help">{escape(words["help"])}</p>\n'
        "<noscript><p>This figure computes in your browser, and needs JavaScript.</p></noscript>\n"
        "</div>\n"
    )


def with_pack(html: str) -> str:
    """Add the style and the script that bring a block to life, for a notebook.

    In the built book they are replaced by links to files that all pages share.
    """
    return (
        f"{html}<style data-informed-pack>\n{page_style()}</style>\n"
        f"<script data-informed-pack>\n{packed_script()}</script>\n"
        "<script>globalThis.informed?.start();</script>\n"
    )


def playground_block() -> str:
    """Write the playground as one block of HTML that needs nothing else.

    Returns
    -------
    html : str
        What the page ``book/playground.md`` shows.
    """
    return with_pack(
        '<div class="informed-computed informed-playground">\n'
        "<noscript><p>The playground computes in your browser, and needs JavaScript.</p></noscript>"
        "\n</div>\n"
    )


@cache
def _words(name: str) -> dict[str, str]:
    """Read title and help from the definition, so that they stand in one place only."""
    source = (files(__package__) / "browser" / "explorers" / f"{name}.js").read_text("utf-8")
    return {key: re.sub(r"\\(.)", r"\1", text) for key, text in WORDS.findall(source)}
