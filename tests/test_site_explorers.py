"""Every explorer of the built book, moved as a reader does: the picture is that of the values."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np
import pytest
from browsing import CHAPTERS, PAGES, PHONE, Visit, drag, foreign, visit
from bs4 import BeautifulSoup
from PIL import Image
from playwright.sync_api import Browser, Locator
from weights import weigh

MB = 1_000_000


@dataclass
class Moved:
    """An explorer on an open page, and where its controls stand as far as the test moved them."""

    root: Locator
    controls: list[Locator]
    kinds: list[str]
    counts: list[int]
    positions: list[int]
    payload: dict[str, Any]

    @classmethod
    def find(cls, root: Locator) -> Moved:
        controls = root.locator("[data-values]").all()
        payload = json.loads(root.locator("script[type='application/json']").text_content() or "")
        default = root.locator(".still img").get_attribute("src")
        payload["frames"] = [frame or default for frame in payload["frames"]]
        return cls(
            root,
            controls,
            [control.evaluate("c => c.type") for control in controls],
            [int(control.get_attribute("data-values") or 0) for control in controls],
            [int(control.get_attribute("data-start") or 0) for control in controls],
            payload,
        )

    @property
    def combination(self) -> int:
        """The number of the combination, the last control counting fastest."""
        places = itertools.product(*map(range, self.counts))
        return list(places).index(tuple(self.positions))

    def frame(self) -> str:
        """The picture that belongs to the positions, as the page has stored it."""
        source = self.payload["frames"][self.payload["shown"][self.combination]]
        assert isinstance(source, str)
        return source

    def check(self) -> None:
        """Fail unless the reader sees the picture and the words that belong to the positions."""
        picture = self.root.locator("img:visible")
        assert picture.count() == 1
        # The browser has decoded it, so it is a picture and not just an address.
        shown, alt, width = picture.evaluate(
            "async image => {"
            " await image.decode(); return [image.src, image.alt, image.naturalWidth]; }"
        )
        assert shown == urljoin(self.root.page.url, self.frame())
        assert alt == self.payload["words"][self.combination]
        assert width > 100
        for control, kind, position, texts in zip(
            self.controls, self.kinds, self.positions, self.payload["texts"], strict=True
        ):
            if kind == "range":
                assert control.get_attribute("aria-valuetext") == texts[position]
            elif kind == "select-one":
                assert control.locator("option:checked").text_content() == texts[position]

    def press(self, number: int, key: str) -> None:
        """Press a key on a control, and note where that must put it."""
        self.controls[number].press(key)
        last = self.counts[number] - 1
        at = self.positions[number]
        self.positions[number] = {
            "Home": 0,
            "End": last,
            "ArrowRight": min(at + 1, last),
            "ArrowDown": min(at + 1, last),
            "Space": 1 - at,
        }[key]

    def walk(self, number: int) -> None:
        """Go through all values of a control by keyboard, with a look at each."""
        if self.kinds[number] == "checkbox":
            keys = ["Space", "Space"]
        else:
            forward = "ArrowRight" if self.kinds[number] == "range" else "ArrowDown"
            keys = ["Home", *[forward] * (self.counts[number] - 1), "Home", "End"]
        for key in keys:
            self.press(number, key)
            self.check()

    def mouse(self, number: int) -> None:
        """Move a control by mouse, with a look at each place."""
        control, last = self.controls[number], self.counts[number] - 1
        if self.kinds[number] == "range":
            for position in (0, last, last // 2):
                drag(control, position)
                self.positions[number] = position
                self.check()
        elif self.kinds[number] == "checkbox":
            for _ in range(2):
                control.click()
                self.positions[number] = 1 - self.positions[number]
                self.check()
        else:
            # The open list belongs to the system: a click opens it, keys choose from it.
            for key, position in [("Home", 0), ("End", last)]:
                control.click()
                control.page.keyboard.press(key)
                control.page.keyboard.press("Enter")
                self.positions[number] = position
                self.check()


def explorers(page: Visit) -> list[Moved]:
    page.page.wait_for_function(
        "[...document.querySelectorAll('.informed-explorer')].every(e => 'moving' in e.dataset)"
    )
    return [Moved.find(root) for root in page.page.locator(".informed-explorer").all()]


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
    shot = Image.open(io.BytesIO(picture.screenshot()))
    return shot.crop((edge, edge, width - edge, height - edge)).convert("RGB")


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


@pytest.mark.parametrize("name", CHAPTERS)
def test_explorers_move_from_a_file(name: str, browser: Browser, site: Path) -> None:
    with visit(browser, (site / f"{name}.html").as_uri(), mathematics=False) as this:
        for explorer in explorers(this):
            for number, kind in enumerate(explorer.kinds):
                explorer.press(number, "Space" if kind == "checkbox" else "End")
                explorer.check()
        assert this.errors == []
        assert foreign(this, site.as_uri()) == []


def is_mathjax(path: Path) -> bool:
    return any("mathjax" in part.lower() for part in path.parts)


def test_the_site_is_light(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file() and not is_mathjax(path)]
    assert sum(path.stat().st_size for path in files) < 40 * MB


def test_the_landing_page_is_light(browser: Browser, site_url: str) -> None:
    weight = weigh(browser, f"{site_url}/book/index.html")
    assert weight.plain <= 0.5 * MB, weight
    assert weight.requests <= 20, weight


@pytest.mark.parametrize("page", PAGES)
def test_each_page_is_light(page: str, browser: Browser, site_url: str) -> None:
    weight = weigh(browser, f"{site_url}/{page}")
    # As a server sends it. Plain, a third of the bytes are MathJax, the same files for all pages.
    assert weight.packed <= 1.2 * MB, weight
    assert weight.plain <= 2 * MB, weight


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_text_stays_where_it_is_while_a_chapter_opens(
    name: str, browser: Browser, site_url: str
) -> None:
    """The measure of layout shifts is good below 0.1; formulas alone would give twice that."""
    with visit(browser, f"{site_url}/{name}.html", viewport=PHONE) as this:
        shifts = this.page.evaluate(
            """() => new Promise(go => new PerformanceObserver(list =>
                go(list.getEntries().map(entry => entry.value))
            ).observe({type: 'layout-shift', buffered: true}) || setTimeout(() => go([]), 500))"""
        )
        assert sum(shifts) < 0.1
