"""One letter for each thing: the notation page covers the symbols of every numbered statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

BOOK = ROOT / "book"
CHAPTERS = sorted(BOOK.glob("*.ipynb"))
ACCENTS = "hat|tilde|bar|dot|mathcal|mathbf"
GREEK = re.findall(
    r"\w+",
    "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
    "varrho sigma tau upsilon phi varphi vartheta chi psi omega Gamma Delta Theta Lambda Xi Pi "
    "Sigma Phi Psi Omega ell",
)
SYMBOL = re.compile(
    rf"\\(?P<accent>{ACCENTS})(?![a-z])\s*\{{?\s*(?P<under>\\?[A-Za-z]+|1)"
    rf"|\\(?P<greek>{'|'.join(sorted(GREEK, key=len, reverse=True))})(?![A-Za-z])"
    r"|(?<![\\A-Za-z])(?P<letter>[A-Za-z])(?![A-Za-z])"
)
NOT_SYMBOLS = re.compile(
    r"\\(?:text|operatorname|mathrm|mathbb|label|begin|end|tag|quad|qquad)\*?\s*\{[^{}]*\}"
    r"|\\mathbb\s*[A-Z]|\\mathrm\s*[A-Z]|\\(?:big|bigl|bigr|Big|Bigl|Bigr|left|right)\b"
)
STATEMENTS = re.compile(
    r"```\{prf:(?:theorem|proposition|lemma|corollary|definition|algorithm)\}.*?```", re.S
)
LABELED = re.compile(r"\$\$(?:(?!\$\$).)+\$\$ \(eq-[\w-]+\)", re.S)
MATH = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.S)
COUNTERS = set("ijkl")
# Standard letters that need no table: differentials and e to a power, Landau's symbols, indices.
STANDARD = {"e", "d", "O", "o", "F", "L", "I", "mathbf 1"}


def symbols(mathematics: str) -> set[str]:
    """The symbols of a formula: letters with their accents, without subscripts' own accents."""
    found = set()
    for match in SYMBOL.finditer(NOT_SYMBOLS.sub(" ", mathematics)):
        if match["accent"]:
            under = match["under"].lstrip("\\")
            if under in GREEK or len(under) == 1:
                found.add(f"{match['accent']} {under}")
        else:
            found.add(match["greek"] or match["letter"])
    return found


def of_text(text: str) -> set[str]:
    return {s for pair in MATH.findall(text) for part in pair if part for s in symbols(part)}


def prose(path: Path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def rows(name: str) -> Iterator[list[str]]:
    """The rows of a list table of the notation page, its header left out."""
    page = (BOOK / "notation.md").read_text(encoding="utf-8")
    table = re.search(rf":name: {name}\n(.*?)\n```", page, re.S)
    assert table is not None, f"the notation page has no table {name}"
    for row in table[1].split("\n* - ")[2:]:
        yield [cell.strip() for cell in row.split("\n  - ")]


def whole_book() -> dict[str, str]:
    """Symbol to meaning, for the letters that mean the same everywhere."""
    found: dict[str, str] = {}
    for letters, meaning in rows("letters-table"):
        for symbol in of_text(letters):
            found.setdefault(symbol, meaning)
    return found


def of_chapters() -> dict[str, set[str]]:
    """Chapter to the symbols that it defines for itself."""
    return {
        re.sub(r"\{doc\}|`", "", chapter): of_text(letters)
        for chapter, letters in rows("chapter-letters-table")
    }


def allowed(chapter: str) -> set[str]:
    return set(whole_book()) | of_chapters().get(chapter, set()) | STANDARD | COUNTERS


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_notation_page_covers_each_numbered_statement(path: Path) -> None:
    text = prose(path)
    numbered = STATEMENTS.findall(text) + LABELED.findall(text)
    missing = set().union(*map(of_text, numbered)) - allowed(path.stem) if numbered else set()
    assert not missing, f"{path.stem}: {sorted(missing)} stand in no table of the notation page"


def entries(cell: str) -> set[str]:
    """What stands between dollar signs, as it is written."""
    return {re.sub(r"\s+", "", found) for found in re.findall(r"\$([^$]+)\$", cell)}


def test_no_chapter_gives_a_letter_of_the_whole_book_another_meaning() -> None:
    everywhere = set().union(*(entries(letters) for letters, _ in rows("letters-table")))
    for chapter, letters in rows("chapter-letters-table"):
        own = re.sub(r"survival:[^;]*", "", letters)  # its own alphabet, as the page says
        assert not entries(own) & everywhere, chapter


def test_each_row_belongs_to_a_chapter() -> None:
    assert set(of_chapters()) <= {path.stem for path in CHAPTERS}


SECOND_MEANINGS = {
    "the number of clusters is K": r"K \+ 1\$? clusters|\{K ?\+ ?1\}\$? clusters",
    "the number of directions is d": r"U_K ?\\Lambda_K|rank \$K\$",
    "a penalty has the weight η": r"\\lambda ?(?:\\, ?)?(?:HH|\\bigl\\\|\(I - HH)|\\sqrt\\lambda",
    "eigenvalues of a diffusion map are ξ": r"\\lambda_[012k] ?(?:\\,)?\\(?:var)?phi",
    "the sample covariance has a hat": (
        r"(?<!hat)\\Sigma *&?= *(?:\\t?frac\{?1\}?\{n ?- ?1\} *)?X_c"
    ),
    "S is the covariance of cluster means": r"P ?S ?[UVQ]\^|S\^\{-1\} ?W",
    "p is the number of features": r"\$m \\times m\$",
    "the cost of k-means is Φ": r"cost \$J",
}


def sources() -> list[Path]:
    found = [*BOOK.glob("*.md"), *CHAPTERS, *(ROOT / "course" / "slides").glob("*.md")]
    found += [*(ROOT / "informed").rglob("*.py"), *(ROOT / "informed").rglob("quiz.toml")]
    found += (ROOT / "course" / "items").glob("*.py")
    # These two pages quote the paper's letters beside ours.
    return [path for path in found if path.name not in {"errata.md", "notation.md"}]


@pytest.mark.parametrize("rule", SECOND_MEANINGS)
def test_a_letter_keeps_its_meaning(rule: str) -> None:
    pattern = re.compile(SECOND_MEANINGS[rule])
    faults = []
    for path in sources():
        text = prose(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        for paragraph in text.split("\n\n"):
            if pattern.search(paragraph) and "The paper calls" not in paragraph:
                faults.append(f"{path.name}: {paragraph.strip()[:120]}")
    assert not faults, f"{rule}; but\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("mathematics", "expected"),
    [
        (r"\hat\Sigma_d = U_d \Lambda_d U_d^\top", {"hat Sigma", "d", "U", "Lambda"}),
        (r"s_1 \ge \dots \ge s_K", {"s", "K"}),
        (r"\operatorname{tr}(M) \text{ if } \mathbb R^p", {"M", "p"}),
        (r"\tilde u_k \in \mathcal S_H", {"tilde u", "k", "mathcal S", "H"}),
    ],
)
def test_symbols_are_read_with_their_accents(mathematics: str, expected: set[str]) -> None:
    assert symbols(mathematics) == expected
