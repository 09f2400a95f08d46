"""Explorers of frames on an open page: where they stand, and the picture that belongs to it."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from browsing import Visit, drag
from playwright.sync_api import Locator


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
