"""Pages with explorers that compute, for tests: opened from a file, with state and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from informed.teaching.explorer import computed
from informed.teaching.explorer.in_browser import names

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


NAMES = names()
PRESSED = {"patients", "staircases"}  # these have things to press, the others things to drag
Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page for each explorer, and one with all of them."""
    folder = tmp_path_factory.mktemp("computed")
    for name, blocks in {**{name: [name] for name in NAMES}, "all": NAMES}.items():
        body = "".join(f'<div class="text_html">{computed(block).html}</div>' for block in blocks)
        (folder / f"{name}.html").write_text(
            '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width"><title>explorers</title>'
            f'<link rel="icon" href="data:,"></head><body><main>{body}</main></body></html>',
            encoding="utf-8",
        )
    return folder


@pytest.fixture
def open_page(browser: Browser, folder: Path) -> Iterator[Open]:
    """Open a page from its file; fail afterwards if it logged an error or asked for anything."""
    contexts, faults = [], []

    def open_(name: str, fragment: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 720, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        address = (folder / f"{name}.html").as_uri()
        page.on("console", lambda m: m.type == "error" and faults.append(m.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda r: r.url.startswith((address, "data:")) or faults.append(f"asked for {r.url}"),
        )
        page.goto(address + fragment)
        page.wait_for_selector(".informed-computed [data-name]")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def state_of(page: Page, name: str) -> dict[str, Any]:
    return dict(
        page.evaluate("id => ({...document.getElementById(id).explorer.state})", f"computed-{name}")
    )


def model_of(page: Page, name: str) -> dict[str, Any]:
    """The numbers behind the picture, matrices as lists of rows."""
    return dict(
        page.evaluate(
            """id => {
                const plain = value => {
                    if (value instanceof informed.core.Matrix) return value.toLines();
                    if (ArrayBuffer.isView(value)) return Array.from(value);
                    if (value === null || typeof value !== "object") return value;
                    if (Array.isArray(value)) return value.map(plain);
                    return Object.fromEntries(
                        Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
                };
                return plain(document.getElementById(id).explorer.model);
            }""",
            f"computed-{name}",
        )
    )


def drawn(page: Page) -> None:
    """Wait for the next frame."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def middle(piece: Locator) -> tuple[float, float]:
    piece.scroll_into_view_if_needed()
    box = piece.locator(".reach").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pieces(page: Page) -> list[Locator]:
    return page.locator(".informed-computed [data-name]").all()


def words(page: Page) -> str:
    return page.locator(".informed-computed > .words").first.inner_text()
