"""The quizzes of the built site, clicked through in a browser as a reader would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bs4 import BeautifulSoup
from conftest import unavailable

from informed.quiz import names

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


def page_of(site: Path, name: str) -> Path:
    path = site / "book" / f"{name}.html"
    if not path.is_file():
        unavailable(f"no page {name} in the built site: run make book first")
    return path


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    yield page
    page.close()


def shown(block: Locator) -> list[str]:
    """Return the explanations that can be seen."""
    return [e.inner_text() for e in block.locator(".explanation").all() if e.is_visible()]


def test_by_keyboard_alone(site: Path, site_url: str, page: Page) -> None:
    name = next(name for name in names() if (site / "book" / f"{name}.html").is_file())
    page.goto(f"{site_url}/book/{name}.html")
    first = page.locator(f"#quiz-{name} fieldset").first
    inputs = first.locator("input").all()
    inputs[0].focus()
    page.keyboard.press("Space")
    assert inputs[0].is_checked()
    for number in range(1, len(inputs)):
        page.keyboard.press("ArrowDown")
        assert inputs[number].is_checked()
        assert len(shown(first)) == 1
        assert first.locator(".explanation").nth(number).is_visible()
        assert inputs[number].evaluate("e => getComputedStyle(e).outlineStyle") != "none"
    second = page.locator(f"#quiz-{name} fieldset").nth(1)
    for _ in range(30):  # formulas take the focus too
        page.keyboard.press("Tab")
        if second.locator("input").first.evaluate("e => e === document.activeElement"):
            break
    page.keyboard.press("Space")
    assert len(shown(second)) == 1
    assert len(shown(first)) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible(browser: Browser, site: Path, site_url: str, scheme: str) -> None:
    name = next(name for name in names() if (site / "book" / f"{name}.html").is_file())
    page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(f"{site_url}/book/{name}.html")
    assert page.locator("html").get_attribute("data-theme") == scheme
    page.locator(f"#quiz-{name} label").first.click(position={"x": 4, "y": 8})
    explanation = page.locator(f"#quiz-{name} .explanation").first
    contrast = explanation.evaluate(
        """element => {
            const numbers = text => text.match(/[\\d.]+/g).map(Number);
            let ground = [0, 0, 0, 0];
            for (let e = element; e && !ground[3]; e = e.parentElement) {
                const found = numbers(getComputedStyle(e).backgroundColor);
                ground = found.length === 3 ? [...found, 1] : found;
            }
            const light = colour => {
                const [r, g, b] = colour.slice(0, 3).map(c => c / 255)
                    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const pair = [light(numbers(getComputedStyle(element).color)), light(ground)].sort();
            return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        }"""
    )
    assert contrast > 7
    page.close()


def test_nothing_is_given_away_in_print(site: Path, site_url: str, page: Page) -> None:
    name = next(name for name in names() if (site / "book" / f"{name}.html").is_file())
    page.goto(f"{site_url}/book/{name}.html")
    block = page.locator(f"#quiz-{name}")
    block.locator("label").first.click(position={"x": 4, "y": 8})
    assert len(shown(block)) == 1
    page.emulate_media(media="print")
    assert shown(block) == []
    assert block.locator("legend").first.is_visible()


def test_it_works_without_scripts_and_on_a_phone(browser: Browser, site: Path) -> None:
    name = next(name for name in names() if (site / "book" / f"{name}.html").is_file())
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 700})
    page = context.new_page()
    page.goto((site / "book" / f"{name}.html").as_uri())
    block = page.locator(f"#quiz-{name}")
    block.locator("label").nth(1).click(position={"x": 4, "y": 8})
    assert len(shown(block)) == 1
    box = block.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    context.close()


def test_each_starter_cell_shows_its_verdict(site: Path) -> None:
    seen = 0
    for path in sorted((site / "book").glob("*.html")):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for cell in page.select(".tag_exercise-starter"):
            verdict = cell.select_one(".informed-check strong")
            assert verdict is not None, f"{path.name}: a starter cell without a verdict"
            assert verdict.text == "Not tried yet:"
            seen += 1
    assert seen
