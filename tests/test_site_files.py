"""Each page of the site, opened once from a file, as whoever unpacks a copy of the book does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import PAGES, Visit, check_mathematics, foreign, is_chapter, set_mathematics, visit
from moved_explorers import explorers
from playwright.sync_api import Browser

ALIVE = (
    ".informed-computed, form.informed-answer, .informed-quiz, .informed-proof, .informed-progress"
)


@pytest.fixture(scope="module", params=PAGES)
def opened(request: pytest.FixtureRequest, browser: Browser, site: Path) -> Iterator[Visit]:
    """Each page of the book in turn."""
    with visit(browser, (site / request.param).as_uri(), mathematics=False) as this:
        yield this


def test_all_that_moves_starts(opened: Visit) -> None:
    asleep = f"[...document.querySelectorAll('{ALIVE}')].filter(e => !('moving' in e.dataset))"
    opened.page.wait_for_function(f"{asleep}.length === 0")
    for figure in opened.page.locator(".informed-computed[data-explorer]").all():
        assert figure.locator("[data-name]").count()
        assert figure.locator("> .words").text_content()
    if is_chapter(opened):
        assert opened.page.locator(ALIVE).count()


def test_explorers_of_frames_move(opened: Visit) -> None:
    for explorer in explorers(opened):
        for number, kind in enumerate(explorer.kinds):
            explorer.press(number, "Space" if kind == "checkbox" else "End")
            explorer.check()


def test_formulas_are_set_and_nothing_else_is_asked_for(opened: Visit, site: Path) -> None:
    """The last test of a page: it sees what went wrong in the others, too."""
    set_mathematics(opened)
    check_mathematics(opened.page)
    assert opened.errors == []
    assert foreign(opened, site.as_uri()) == []
