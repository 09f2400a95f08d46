"""The built site in a real browser: it opens, it is complete in itself, it can be read and used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from browsing import (
    CHAPTERS,
    DESKTOP,
    PAGES,
    PHONE,
    Visit,
    foreign,
    is_chapter,
    opened,  # noqa: F401
    show_in,
    visit,
)
from playwright.sync_api import Browser, Page


def check_mathematics(page: Page) -> None:
    left, shown, wrong = page.evaluate(
        r"""() => {
            const math = [...document.querySelectorAll('.math')];
            return [
                math.filter(m => !m.querySelector('mjx-container')).map(m => m.textContent),
                math.length,
                [...document.querySelectorAll('mjx-merror')].map(m => m.textContent),
            ];
        }"""
    )
    assert left == []
    assert wrong == []
    text = page.inner_text("article")
    assert "\\(" not in text
    assert "\\[" not in text
    assert shown == page.locator(".math mjx-container").count()


def test_page_opens_from_a_server(opened: Visit, site_url: str) -> None:
    assert opened.errors == []
    assert foreign(opened, site_url) == []
    assert opened.page.title().strip()
    assert opened.page.locator("article h1").count() == 1
    check_mathematics(opened.page)


def test_chapters_show_mathematics_and_figures_and_download(opened: Visit) -> None:
    """The list of chapters is not empty, and each of them is a page: see the next test."""
    if not is_chapter(opened):
        return
    page = opened.page
    assert page.locator("mjx-container").count() > 10
    # Pictures are loaded when a reader comes near; here all of them at once.
    widths = page.eval_on_selector_all(
        "article figure img",
        """images => Promise.all(images.map(async image => {
            image.loading = 'eager';
            await image.decode();
            return image.naturalWidth;
        }))""",
    )
    assert widths
    assert min(widths) > 0
    link = page.locator('a[href$=".ipynb"]').first.get_attribute("href")
    assert link is not None
    reply = page.request.get(f"{page.url}/../{link}")
    assert reply.ok
    assert json.loads(reply.body())["nbformat"] == 4
    assert urlsplit(reply.url).path.endswith(urlsplit(page.url).path.replace(".html", ".ipynb"))


def test_every_chapter_is_a_page() -> None:
    assert len(CHAPTERS) >= 19
    assert {f"{name}.html" for name in CHAPTERS} <= set(PAGES)


def test_no_icon_is_a_letter_of_a_font_that_is_not_there(opened: Visit) -> None:
    letters = opened.page.evaluate(
        r"""() => [...document.querySelectorAll('body *')].flatMap(element =>
            ['::before', '::after']
                .filter(part => /[\uE000-\uF8FF]/.test(getComputedStyle(element, part).content))
                // Tall brackets are pieces of letters, of a font that comes with the formulas.
                .filter(() => !element.closest('mjx-container') && element.getClientRects().length)
                .map(part => element.className + part))"""
    )
    assert letters == []


def test_no_icon_lies_on_the_title_of_a_box(opened: Visit) -> None:
    covered = opened.page.evaluate(
        """() => [...document.querySelectorAll('.admonition-title')].filter(title => {
            const room = parseFloat(getComputedStyle(title).paddingLeft);
            return ['::before', '::after'].some(part => {
                const icon = getComputedStyle(title, part);
                if (icon.content === 'none' || icon.maskImage === 'none') return false;
                return parseFloat(icon.left) + parseFloat(icon.width) > room;
            });
        }).map(title => title.textContent)"""
    )
    assert covered == []


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_from_a_file(name: str, browser: Browser, site: Path) -> None:
    with visit(browser, (site / name).as_uri()) as this:
        assert this.errors == []
        assert foreign(this, site.as_uri()) == []
        check_mathematics(this.page)


def test_root_leads_to_the_landing_page(browser: Browser, site_url: str) -> None:
    with visit(browser, f"{site_url}/") as this:
        this.page.wait_for_url(f"{site_url}/{PAGES[0]}")
        assert "Mahalanobis" in this.page.title()


def test_search_finds_a_page(browser: Browser, site_url: str) -> None:
    with visit(browser, f"{site_url}/search.html?q=pseudo-inverse") as this:
        results = this.page.locator("#search-results ul.search li a")
        results.first.wait_for()
        assert any("Why the usual distance fails" in text for text in results.all_inner_texts())
        assert this.errors == []
        assert foreign(this, site_url) == []
    with visit(browser, f"{site_url}/search.html?q=xyzzyplugh") as this:
        this.page.get_by_text("did not match any documents").wait_for()


def found_by(browser: Browser, site_url: str, query: str) -> dict[str, str]:
    """Return the pages that a search finds, with the excerpt that is shown for each."""
    with visit(browser, f"{site_url}/search.html?q={query}") as this:
        this.page.wait_for_selector("#search-results ul.search li")
        this.page.wait_for_function(
            "document.querySelector('.search-summary')?.textContent.includes('found')"
        )
        rows = this.page.locator("#search-results ul.search li").all()
        return {
            urlsplit(row.locator("a").first.get_attribute("href") or "").path.rpartition("/")[2]: (
                row.inner_text()
            )
            for row in rows
        }


def test_search_takes_words_as_they_are_written(browser: Browser, site_url: str) -> None:
    found = found_by(browser, site_url, "log-rank")
    assert {"risk-groups.html", "critical-reading.html"} <= set(found)
    # These speak of the rank of a matrix, and of a logarithm.
    assert not {"pseudo-inverse.html", "hidden-variables.html"} & set(found)
    assert "local-metrics.html" in found_by(browser, site_url, "neighbourhoods")
    for excerpt in found.values():
        assert "import " not in excerpt
        assert "\\top" not in excerpt


def test_phone_shows_all_of_a_page(opened: Visit) -> None:
    opened.page.set_viewport_size(PHONE)
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    # What sticks out must lie in a box that scrolls, or a reader can never see it.
    hidden = opened.page.evaluate(
        """width => [...document.querySelectorAll(
            'article :is(p, li, td, pre, img, mjx-container, figcaption, h1, h2)')]
            .filter(element => element.offsetParent !== null)
            .filter(element => element.getBoundingClientRect().right > width + 1)
            .filter(element => {
                for (let box = element.parentElement; box; box = box.parentElement) {
                    if (box.tagName === 'ARTICLE') return true;
                    const flow = getComputedStyle(box).overflowX;
                    if (flow === 'auto' || flow === 'scroll') return false;
                }
            })
            .map(element => element.outerHTML.slice(0, 100))""",
        PHONE["width"],
    )
    opened.page.set_viewport_size(DESKTOP)
    assert width <= PHONE["width"]
    assert hidden == []


SHOWN = """() => [...document.querySelectorAll('article figure .wide img')]
    .filter(image => image.offsetParent && !image.closest('picture'))
    .map(image => image.getBoundingClientRect().width
        / parseFloat(image.style.getPropertyValue('--drawn')))"""


def test_figures_are_shown_at_the_width_they_were_drawn_at(opened: Visit) -> None:
    """Their letters have nine pixels there at least (test_figures.py); on a phone, a sixth less."""
    desktop = opened.page.evaluate(SHOWN)
    opened.page.set_viewport_size(PHONE)
    phone = opened.page.evaluate(SHOWN)
    opened.page.set_viewport_size(DESKTOP)
    assert all(share > 0.97 for share in desktop)
    assert all(share > 0.83 for share in phone)


CONTRAST = """() => {
    const parse = colour => {
        const [r, g, b, a = 1] = colour.match(/[0-9.]+/g).map(Number);
        return {rgb: [r, g, b], a};
    };
    const luminance = rgb => rgb
        .map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const over = (top, a, below) => top.map((c, i) => a * c + (1 - a) * below[i]);
    const background = element => {
        if (!element) return [255, 255, 255];
        const {rgb, a} = parse(getComputedStyle(element).backgroundColor);
        return a === 1 ? rgb : over(rgb, a, background(element.parentElement));
    };
    const poor = [];
    const walker = document.createTreeWalker(
        document.querySelector('article'), NodeFilter.SHOW_TEXT);
    let count = 0;
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!(element instanceof HTMLElement) || element.offsetParent === null) continue;
        if (!walker.currentNode.data.trim()) continue;
        if (element.matches('.headerlink')) continue;  // a sign that shows only under the mouse
        count += 1;
        const below = background(element);
        const {rgb, a} = parse(getComputedStyle(element).color);
        const [low, high] = [luminance(over(rgb, a, below)), luminance(below)]
            .sort((x, y) => x - y);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < 4.5) poor.push([contrast.toFixed(2), walker.currentNode.data.trim()]);
    }
    return [count, poor, luminance(background(document.querySelector('article')))];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_modes(opened: Visit, scheme: Literal["light", "dark"]) -> None:
    show_in(opened, scheme)
    count, poor, paper = opened.page.evaluate(CONTRAST)
    assert count
    assert poor == []
    assert (paper < 0.1) is (scheme == "dark")


@pytest.mark.parametrize("name", CHAPTERS)
def test_folded_parts_open(name: str, browser: Browser, site_url: str) -> None:
    with visit(browser, f"{site_url}/{name}.html", mathematics=False) as this:
        solutions = this.page.locator("article .solution.dropdown").all()
        assert solutions, f"{name} has no folded solution"
        hints = this.page.locator("article .admonition.dropdown:not(.solution)").all()
        for box in solutions + hints:
            body = box.locator(":scope > :not(.admonition-title):not(button)").first
            assert not body.is_visible()
            box.locator("button.toggle-button").first.click()
            assert body.is_visible()
        for code in this.page.locator("article details:not(.informed-seen)").all():
            source = code.locator("pre").first
            assert not source.is_visible()
            code.locator("summary").first.click()
            assert source.is_visible()
