"""What the reader should have seen is folded until the explorer above it has been moved."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from browsing import drag
from conftest import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from folded_answers import CLOSE, LEAD, OPEN, fold_answers
from matplotlib.figure import Figure
from test_learning import open_page

from informed.teaching.explorer import computed, explore

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from sphinx.application import Sphinx


def folded(text: str, format: str = "html") -> list[str]:
    """The pieces of a document after the fold: raw HTML as it is, other pieces as text."""
    doctree = publish_doctree(text)
    for paragraph in doctree.findall(nodes.paragraph):
        paragraph.insert(0, nodes.Text(""))  # as the parser of the book's Markdown does
    app = cast("Sphinx", SimpleNamespace(builder=SimpleNamespace(format=format)))
    fold_answers(app, doctree, "page")
    return [piece.astext() for piece in doctree.children]


@pytest.mark.parametrize("lead", [f"**{LEAD}.**", f"*{LEAD}.*", f"**{LEAD}**:"])
def test_the_paragraph_lies_between_the_tags_and_has_lost_its_lead(lead: str) -> None:
    pieces = folded(f"Before.\n\n{lead} The ``curve`` falls.\n\nAfter.")
    assert pieces == ["Before.", OPEN, "The curve falls.", CLOSE, "After."]


def test_paragraphs_with_words_set_apart_belong_to_the_answer() -> None:
    pieces = folded(
        f"*{LEAD}.* It falls.\n\n*With errors.* It rises.\n\n*Last.* It rests.\n\n"
        "*Then* more.\n\nText."
    )
    assert pieces == [
        OPEN,
        "It falls.",
        "With errors. It rises.",
        "Last. It rests.",
        CLOSE,
        "Then more.",
        "Text.",
    ]


def test_other_paragraphs_and_other_builders_are_left_alone() -> None:
    for text in (f"{LEAD}. Plain.", "**What you need.** Nothing.", "Plain."):
        assert folded(text) == [publish_doctree(text).astext()]
    assert len(folded(f"**{LEAD}.** Text.", format="latex")) == 1


def test_every_explorer_of_the_book_has_its_answer_in_this_form() -> None:
    """Else the answer would stand open before the reader has moved anything."""
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        assert text.count(LEAD) == text.count(f"*{LEAD}.*"), path.name


def draw(level: int) -> Figure:
    figure = Figure(figsize=(3, 2))
    figure.add_axes((0.2, 0.2, 0.7, 0.7)).bar([0], [level])
    return figure


@pytest.fixture
def page(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("INFORMED_EXPLORER", "static")
    frames = explore(draw, level=[1, 2, 3]).html
    answers = [f"{OPEN}<p>{word}</p>{CLOSE}" for word in ("first", "second")]
    body = frames + answers[0] + computed("turning").html + answers[1]
    opened = open_page(browser, tmp_path, body)
    yield opened
    opened.context.close()


def test_a_move_opens_the_answer_below_it_and_no_other(page: Any) -> None:
    first, second = page.locator("details.informed-seen").all()
    assert not first.locator("p").is_visible()
    drag(page.locator(".informed-explorer input[type=range]"), 2)
    assert first.locator("p").is_visible()
    assert not second.locator("p").is_visible()
    page.locator(".informed-computed [role=slider]").first.focus()
    page.keyboard.press("ArrowRight")
    second.locator("p").wait_for(state="visible")


def test_an_answer_opens_by_hand_too(page: Any) -> None:
    second = page.locator("details.informed-seen").nth(1)
    second.locator("summary").focus()
    page.keyboard.press("Enter")
    assert second.locator("p").is_visible()
