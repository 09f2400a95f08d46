"""What the book once said and should not say again, wherever it repeats itself.

The numbers that refute the sentences are in ``test_refuted.py`` and beside the theorems. Here
the texts are read: chapters, pages, quizzes, slides, items and docstrings, which all state the same
things, and of which one is easily forgotten when another is mended.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

BOOK = ROOT / "book"

# Each is a part of the sentence as it stood, in small letters, without signs of mathematics.
REFUTED = {
    "directions are shrunk, too": "of p errors, k are left. this is the whole gain",
    "only sums of leading variances": "too large on average, always",
    "units matter below the rank": "for k < p the distance depends on the units",
    "averaged directions may be orthogonal": "are not orthogonal, unless",
    "which centring is printed": "the paper centres features over samples",
    "equal noise is enough, not needed": "now we know its conditions",
    "one table of many": "every single feature into the right",
    "one data set of many": "too many directions do more harm than too many clusters",
    "the largest trace is proved": "no weight may be lost",
    "zero is a maximum": "t = 0 is a saddle",
    "surfaces lead to a saddle": "ends on the ridge only if it starts there",
    "constant length, nearby": "comes to rest if and only if g > s_1/5",
    "among quadratic forms of the covariance": "mahalanobis distance and up to a factor no other",
    "it depends on the shapes": "is false for most pairs",
    "two errata touch the idea": "none of these slips touches",
    "three global directions do better": "no estimate can be expected to do better",
    "speed may make them too short": "a change of speed makes them too long",
    "best rule, not every partition": "within a quarter in all cells",
    "both mistakes cost nearly the same": "too many directions, compared with too many clusters",
    "scaled columns may be orthogonal": "have unit length and are not orthogonal",
    "the limits are proved": "we quote this without proof",
    "which steps a cited theorem asks for": "steps whose size is found by a search",
}
PROGRAM = re.compile(r"authors'\s+(?:own\s+)?(?:MATLAB\s+)?(?:program|code)s?\b")
REPOSITORY = "informedMetricCode"


def plain(text: str) -> str:
    """Small letters, one blank between words, no signs of mathematics and emphasis."""
    return re.sub(r"\s+", " ", re.sub(r"[$*\\`{}]|\b(?:tilde|hat|top)\b", "", text)).lower()


@cache
def passages() -> tuple[tuple[str, str], ...]:
    """Name and text: the cells of notebooks, the rest file by file."""
    texts = []
    for path in sorted(BOOK.glob("*.ipynb")):
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            texts.append((f"{path.name}, cell {number}", cell.source))
    found: list[Path] = [*BOOK.glob("*.md"), *(ROOT / "course").rglob("*.md")]
    found += [*(ROOT / "informed").rglob("*.py"), *(ROOT / "informed").rglob("*.toml")]
    found += (ROOT / "course").rglob("*.py")
    for path in sorted(found):
        texts.append((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
    return tuple(texts)


@pytest.mark.parametrize("why", REFUTED)
def test_refuted_sentences_do_not_come_back(why: str) -> None:
    sentence = REFUTED[why]
    assert sentence == plain(sentence)  # or it could never be found
    faults = [name for name, text in passages() if sentence in plain(text)]
    assert not faults, f"{why}: {sentence!r} stands in {faults}"


def test_a_sentence_is_found_whatever_its_signs() -> None:
    said = "They\n*are not orthogonal*, unless $T = 0$ is a saddle of $\\tilde{R}$"
    assert REFUTED["averaged directions may be orthogonal"] in plain(said)
    assert REFUTED["zero is a maximum"] in plain(said)


def test_facts_from_the_authors_program_name_its_repository() -> None:
    named = [(name, text) for name, text in passages() if PROGRAM.search(text)]
    assert len(named) > 10
    faults = [name for name, text in named if REPOSITORY not in text]
    assert not faults, f"no {REPOSITORY} in {faults}"
