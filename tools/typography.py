"""Set the words of a finished page as a printer would: apostrophes, and compounds in one piece.

Sphinx curls the apostrophes of running text, but not those of titles of boxes and of what the book
writes as HTML itself, such as quizzes. A line may end after any hyphen, also after that of k-means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TAG = re.compile(r"(<!--.*?-->|<[^>]*>)", re.DOTALL)
# What is not prose: programs, and words that stand for themselves.
APART = ("script", "style", "title", "pre", "code", "textarea", "option", "svg")
APOSTROPHE = re.compile(r"(?<=[A-Za-z])(?:'|&#x27;|&#39;)(?=(?:s|t|d|re|ve|ll)\b)")
COMPOUND = re.compile(r"(?<![\w-])([kKlpt]-(?:means|values?|SNE|dimensional))(?!\w)")
KEPT = '<span class="kept">'


def set_type(text: str) -> str:
    """Return the page with its prose set.

    Examples
    --------
    >>> set_type("<p>Ward's k-means</p><code>k-means</code>")
    '<p>Ward’s <span class="kept">k-means</span></p><code>k-means</code>'
    """
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    apart, before = "", ""
    for piece in TAG.split(text):
        if piece.startswith("<"):
            name = re.match(r"</?(\w+)", piece)
            if name and not apart and piece[1] != "/" and name[1] in APART:
                apart = name[1]
            elif apart and piece == f"</{apart}>":
                apart = ""
            before = piece
            yield piece
        # Formulas wait for their script as TeX.
        elif apart or "\\" in piece:
            yield piece
        else:
            piece = APOSTROPHE.sub("’", piece)
            yield piece if before == KEPT else COMPOUND.sub(rf"{KEPT}\1</span>", piece)
