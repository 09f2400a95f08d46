"""The slides: made from their sources, they open from a file, and every slide fits the screen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from browsing import foreign, visit
from conftest import ROOT
from playwright.sync_api import Browser

sys.path.insert(0, str(ROOT / "tools"))
import slides

DECKS = sorted((ROOT / "course" / "slides").glob("*.md"))
SCREEN = {"width": 1280, "height": 720}


@pytest.fixture(scope="module", params=DECKS, ids=lambda path: path.stem)
def deck(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("slides") / f"{request.param.stem}.html"
    source = request.param.read_text(encoding="utf-8")
    path.write_text(slides.write_deck(source), encoding="utf-8")
    return path


def test_there_is_a_deck_for_each_part() -> None:
    names = [path.stem.split("-", 1)[1] for path in DECKS]
    assert names == [
        "start",
        "foundations",
        "informed-metric",
        "experiments",
        "critical-reading",
        "beyond-the-paper",
    ]


def test_each_slide_has_notes_with_a_time() -> None:
    for path in DECKS:
        for number, part in enumerate(path.read_text(encoding="utf-8").split("\n---\n"), start=1):
            assert slides.NOTES.search(part), f"{path.name}: slide {number} has no notes"
            assert part.split("min):", 1)[1].strip(), f"{path.name}: slide {number}: empty notes"


def test_slides_fit_move_and_stay_at_home(deck: Path, browser: Browser) -> None:
    with visit(browser, deck.as_uri(), viewport=SCREEN) as this:
        assert this.errors == []
        assert foreign(this, deck.parent.as_uri()) == []
        page = this.page
        count = page.locator("section").count()
        assert count >= 5
        assert page.locator("mjx-merror").count() == 0
        assert page.locator("section img:not([alt])").count() == 0
        for number in range(1, count + 1):
            shown = page.locator("section.shown")
            assert shown.count() == 1
            assert shown.get_attribute("aria-label") == f"Slide {number}"
            assert "\\(" not in shown.inner_text()
            # What does not fit is cut off, or lies under the footer.
            over = shown.evaluate(
                """section => {
                    const box = section.getBoundingClientRect();
                    const foot = section.querySelector('footer').getBoundingClientRect().top;
                    return [...section.querySelectorAll(
                        ':is(h1, h2, h3, p, li, pre, img, table, mjx-container, blockquote)')]
                        .filter(e => !e.closest('aside, footer'))
                        .filter(e => {
                            const own = e.getBoundingClientRect();
                            return own.width && (own.bottom > foot || own.right > box.right
                                || own.top < box.top || own.left < box.left
                                || (e.tagName === 'PRE' && e.scrollWidth > e.clientWidth));
                        })
                        .map(e => e.outerHTML.slice(0, 80));
                }"""
            )
            assert over == [], f"slide {number} does not fit"
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Home")
        assert page.locator("section.shown").get_attribute("aria-label") == "Slide 1"
        page.keyboard.press("n")
        assert "min." in page.locator("#notes").inner_text()


def test_a_figure_that_draws_nothing_is_refused() -> None:
    broken = '# Deck\n\n```python figure "nothing"\nx = 1\n```\n\nNotes (1 min):\nx\n'
    with pytest.raises(TypeError, match="must give the figure"):
        slides.write_deck(broken)
    with pytest.raises(TypeError, match="not a figure"):
        slides.write_deck(broken.replace("x = 1", "1"))
