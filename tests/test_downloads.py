"""The notebooks behind the download buttons: plain Markdown, and a cell for Colab only."""

from __future__ import annotations

import json
import re
from pathlib import Path

import colab
import downloads
import nbformat
import notebooks
import pytest

# What another program than the book's would show as it is.
MARKUP = re.compile(
    r"\{[\w:-]+\}`|^ *(`{3,}|:{3,})\{|^ *:(label|class|name|header-rows):"
    r"|[)$] *\(eq-|^\([\w-]+\)=$",
    re.MULTILINE,
)
PATHS = sorted(notebooks.BOOK.glob("*.ipynb"))


def test_markup_is_seen() -> None:
    for text in (
        "see {doc}`averaging`",
        "```{exercise} One\n:label: ex",
        "(x2)=\n## A",
        ":::{note}",
        "$$\nx\n$$ (eq-one)",
    ):
        assert MARKUP.search(text), text


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_download_has_no_directive_and_no_role(path: Path) -> None:
    notebook = downloads.plain_notebook(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = MARKUP.search(cell.source)
            assert found is None, cell.source[max(0, found.start() - 80) : found.end() + 80]
    original = nbformat.read(path, as_version=4)
    code = [cell.source for cell in original.cells if cell.cell_type == "code"]
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"][1:] == code


def test_buttons_lead_to_the_plain_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INFORMED_REPOSITORY", raising=False)
    page = tmp_path / "book" / "averaging.html"
    page.parent.mkdir()
    page.write_text(
        '<a href="../_sources/book/averaging.ipynb">.ipynb</a>'
        '<a href="../_sources/book/unknown.ipynb">.ipynb</a>'
    )
    downloads.write_downloads(tmp_path)
    links = re.findall(r'href="([^"]+)"', page.read_text())
    assert links == ["../notebooks/book/averaging.ipynb", "../_sources/book/unknown.ipynb"]
    read = json.loads((page.parent / links[0]).read_text(encoding="utf-8"))
    assert read["cells"][1]["id"] == colab.CELL_ID
