"""Every explorer of the built book, moved as a reader does: the picture is that of the values."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsing import CHAPTERS, foreign, visit
from bs4 import BeautifulSoup
from moved_explorers import Moved, explorers
from PIL import Image
from playwright.sync_api import Browser, Locator

MB = 1_000_000


@pytest.fixture(scope="module", params=CHAPTERS)
def chapter(
    request: pytest.FixtureRequest, browser: Browser, site_url: str
) -> Iterator[list[Moved]]:
    """The explorers of each chapter in turn, on a page that stays open for all tests."""
    with visit(browser, f"{site_url}/{request.param}.html", mathematics=False) as this:
        yield explorers(this)
        assert this.errors == []
        assert foreign(this, site_url) == []


def test_the_book_has_an_explorer_for_each_experiment_and_main_theorem(site: Path) -> None:
    found = [
        root["aria-label"]
        for name in CHAPTERS
        for root in BeautifulSoup(
            (site / f"{name}.html").read_text(encoding="utf-8"), "html.parser"
        ).select(".informed-explorer")
    ]
    assert len(found) >= 11
    assert len(set(found)) == len(found), "two explorers with one title"


def test_each_control_by_keyboard(chapter: list[Moved]) -> None:
    for explorer in chapter:
        explorer.check()
        for number in range(len(explorer.controls)):
            explorer.walk(number)


def test_each_control_by_mouse(chapter: list[Moved]) -> None:
    for explorer in chapter:
        for number in range(len(explorer.controls)):
            explorer.mouse(number)


def test_explorers_of_a_page_leave_each_other_alone(chapter: list[Moved]) -> None:
    for explorer in chapter:
        for key in ["Space"] if explorer.kinds[0] == "checkbox" else ["Home", "End"]:
            explorer.press(0, key)
            for each in chapter:
                each.check()


def content_of(picture: Locator) -> Image.Image:
    """Return what the screen shows of a picture, without the edge that the theme gives it."""
    edge, width, height = picture.evaluate(
        "image => { const style = getComputedStyle(image);"
        " return [parseFloat(style.paddingLeft) + parseFloat(style.borderLeftWidth),"
        " image.offsetWidth, image.offsetHeight]; }"
    )
    page = picture.page
    # It may still be on its way; and what comes near is laid out and set, which pushes it away.
    picture.evaluate("image => { image.loading = 'eager'; return image.decode(); }")
    for _ in range(50):
        picture.evaluate(
            "image => { image.scrollIntoView({block: 'center', behavior: 'instant'}); }"
        )
        before = picture.bounding_box()
        shot = page.screenshot(clip=before)
        if picture.bounding_box() == before:
            break
    image = Image.open(io.BytesIO(shot))
    return image.crop((edge, edge, width - edge, height - edge)).convert("RGB")


def stored_file(site: Path, source: str) -> Path:
    """Return the file of a frame; all pages with explorers stand in one folder."""
    file = (site / "book" / source).resolve()
    assert file.is_relative_to(site)
    return file


def test_frames_are_files_that_are_loaded_when_they_are_needed(site: Path) -> None:
    for name in CHAPTERS:
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "data:image/webp" not in page
        for root in BeautifulSoup(page, "html.parser").select(".informed-explorer.frames"):
            payload = json.loads(root.select_one("script[type='application/json']").text)
            assert all(stored_file(site, each).is_file() for each in payload["frames"] if each)


def test_what_is_seen_is_the_frame(chapter: list[Moved], site: Path) -> None:
    """Look at the screen: a style could still hide or distort the right picture."""
    for explorer in chapter:
        seen = content_of(explorer.root.locator("img:visible"))

        def distance(source: str, seen: Image.Image = seen) -> float:
            stored = Image.open(stored_file(site, source))
            # Two ways to scale a picture differ from pixel to pixel, not in the mean of an area,
            # which is a share of the picture: pages show it at half its own size or at all of it.
            small = (seen.width // 12, seen.height // 12)
            both = [
                each.convert("RGB").resize(small, Image.Resampling.BOX) for each in (stored, seen)
            ]
            one, other = (np.asarray(each, float) for each in both)
            return float(np.abs(one - other).mean())

        own = explorer.frame()
        assert distance(own) < 4
        others = [source for source in explorer.payload["frames"] if source != own]
        assert distance(own) < min(map(distance, others))


def test_print_shows_the_default(chapter: list[Moved]) -> None:
    for explorer in chapter:
        page = explorer.root.page
        page.emulate_media(media="print")
        default = explorer.root.locator(".still img").get_attribute("src")
        assert explorer.root.locator("img:visible").get_attribute("src") == default
        assert explorer.root.locator(":is(input, select, button):visible").count() == 0
        page.emulate_media(media="screen")
        explorer.check()


def is_mathjax(path: Path) -> bool:
    return any("mathjax" in part.lower() for part in path.parts)


def test_the_site_is_light(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file() and not is_mathjax(path)]
    assert sum(path.stat().st_size for path in files) < 40 * MB
