"""How the book's search reads words: as they are written.

Sphinx cuts words at hyphens and reduces them to stems, so that "log-rank" found every page on the
rank of a matrix, and "diffusion" every page with "diffuse". Here a word with hyphens is a word of
its own (and its parts can be found, too), and only a plural is reduced to its singular.
"""

from __future__ import annotations

import re

from sphinx.search.en import SearchEnglish

WORD = re.compile(r"\w+(?:-\w+)*")

# The same rule twice: for the index, which Python writes, and for the query, which the page reads.
PLURAL = "^(.{2,}[^aisu])s$"
STEMMER = f"""
var Stemmer = function () {{
  this.stemWord = (word) => word.replace(/{PLURAL}/, "$1");
}};
"""
SPLITTER = r"""
var splitQuery = (query) => query.match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*/gu) || [];
"""


def singular(word: str) -> str:
    """Drop the s of a plural, but not that of *bias*, *class*, *analysis* or *radius*.

    Examples
    --------
    >>> [singular(word) for word in ("clusters", "bias", "class", "analysis", "radius", "gas")]
    ['cluster', 'bias', 'class', 'analysis', 'radius', 'gas']
    """
    return re.sub(PLURAL, r"\1", word)


class BookSearch(SearchEnglish):
    """English, word for word."""

    lang = "en"
    language_name = "English"
    js_stemmer_rawcode = ""
    js_stemmer_code = STEMMER
    js_splitter_code = SPLITTER

    def init(self, options: dict[str, str]) -> None:
        """Set up nothing: there is no stemmer."""

    def split(self, input: str) -> list[str]:
        """Return the words, and the parts of those with hyphens."""
        words = WORD.findall(input)
        return words + [part for word in words if "-" in word for part in word.split("-")]

    def stem(self, word: str) -> str:
        """Return the singular, in small letters."""
        return singular(word.lower())
