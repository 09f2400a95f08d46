"""Each page of the built site, opened once: complete in itself, legible, usable by everybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import pytest
from accessibility import (
    CODE_ONCE,
    COLOR_KINDS,
    FORMULAS_ONCE,
    SEEN_ONLY,
    TAKE_ALIKE_AWAY,
    VISIBLE,
    faults,
    faults_of_color,
    nameless,
    prepare,
)
from browsing import (
    DESKTOP,
    PAGES,
    PHONE,
    Visit,
    check_mathematics,
    foreign,
    is_chapter,
    set_mathematics,
    show_in,
    visit,
)
from playwright.sync_api import Browser
from weights import weigh_open

MB = 1_000_000


@pytest.fixture(scope="module", params=PAGES)
def opened(request: pytest.FixtureRequest, browser: Browser, site_url: str) -> Iterator[Visit]:
    """Each page of the book in turn, opened once from a server for all tests of this file.

    Weighed as it is before the reader does anything; then all its formulas are set.
    """
    address = f"{site_url}/{request.param}"
    with visit(browser, address, mathematics=False, color_scheme="light") as this:
        this.weight = weigh_open(this.page, this.replies)
        set_mathematics(this)
        yield this


def test_page_is_light(opened: Visit) -> None:
    weight = opened.weight
    assert weight is not None
    # As a server sends it. Plain, a third of the bytes are MathJax, the same files for all pages.
    assert weight.packed <= 1.2 * MB, weight
    assert weight.plain <= 2 * MB, weight
    if opened.page.url.endswith(PAGES[0]):
        assert weight.plain <= 0.5 * MB, weight
        assert weight.requests <= 20, weight


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


@dataclass(frozen=True)
class OnPhone:
    """What is measured on a page as wide as a phone's, which takes two layouts of all of it."""

    width: int
    sticking_out: list[str]
    faded: list[str]
    figures: list[float]
    figures_before: list[float]


# What sticks out must lie in a box that scrolls, or a reader can never see it.
STICKING_OUT = """width => [...document.querySelectorAll(
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
    .map(element => element.outerHTML.slice(0, 100))"""
# The page hears of its new width in time of its own, and looks again when it has come to rest.
FADED = """async () => {
    const faded = () => [...document.querySelectorAll('article mjx-container:not([display])')]
        .filter(box => box.offsetParent && getComputedStyle(box).maskImage !== 'none')
        .filter(box => box.querySelector('mjx-math').getBoundingClientRect().width
            <= box.getBoundingClientRect().width + 1)
        .map(box => box.textContent);
    const wide = () => document.documentElement.scrollWidth > innerWidth;
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    for (let tries = 0; tries < 100 && (faded().length || wide()); tries++) {
        await new Promise(go => setTimeout(go, 100));
    }
    return faded();
}"""
SHOWN = """async () => {
    const images = [...document.querySelectorAll('article figure .wide img')]
        .filter(image => image.offsetParent && !image.closest('picture'));
    for (const image of images) image.loading = 'eager';
    await Promise.all(images.map(image => image.decode()));
    return images.map(image => image.getBoundingClientRect().width
        / parseFloat(image.style.getPropertyValue('--drawn')));
}"""


@pytest.fixture(scope="module")
def on_phone(opened: Visit) -> OnPhone:
    page = opened.page
    before = page.evaluate(SHOWN)
    page.set_viewport_size(PHONE)
    faded = page.evaluate(FADED)
    found = OnPhone(
        page.evaluate("document.documentElement.scrollWidth"),
        page.evaluate(STICKING_OUT, PHONE["width"]),
        faded,
        page.evaluate(SHOWN),
        before,
    )
    page.set_viewport_size(DESKTOP)
    return found


def test_phone_shows_all_of_a_page(on_phone: OnPhone) -> None:
    assert on_phone.width <= PHONE["width"]
    assert on_phone.sticking_out == []


def test_a_formula_that_has_room_on_a_phone_is_shown_to_its_last_letter(on_phone: OnPhone) -> None:
    assert on_phone.faded == []


def test_figures_are_shown_at_the_width_they_were_drawn_at(on_phone: OnPhone) -> None:
    """Their letters have nine pixels there at least (test_figures.py); on a phone, a sixth less."""
    assert all(share > 0.97 for share in on_phone.figures_before)
    assert all(share > 0.83 for share in on_phone.figures)


def test_sliders_are_as_high_as_a_finger_needs(opened: Visit) -> None:
    """As WCAG 2.2 asks (2.5.8); axe lets lower ones pass where there is room around them."""
    heights = opened.page.eval_on_selector_all(
        "article input[type=range]", "all => all.map(each => each.getBoundingClientRect().height)"
    )
    if opened.page.url.endswith("averaging.html"):
        assert heights
    assert all(height >= 24 for height in heights)


def test_formulas_can_be_heard_and_are_no_tab_stops(opened: Visit) -> None:
    formulas = opened.page.locator("mjx-container")
    if is_chapter(opened):
        assert formulas.count() > 10
    assert opened.page.locator("mjx-container[tabindex], mjx-container [tabindex]").count() == 0
    # Formulas of quizzes and proofs may be set just now; in the end each of them can be heard.
    opened.page.wait_for_function(
        """() => [...document.querySelectorAll('mjx-container')]
            .every(formula => formula.querySelector(':scope > mjx-assistive-mml > math'))"""
    )


# ---------------- from here on, of formulas and of words of code one of each kind is looked at


@pytest.fixture(scope="module")
def kinds_seen() -> set[str]:
    """The kinds of parts of formulas that were looked at, on whatever page."""
    return set()


@pytest.fixture(scope="module")
def colors_seen() -> set[int]:
    """The kinds of text that were looked at for their colours, on whatever page."""
    return set()


@pytest.fixture(scope="module")
def alike_once(opened: Visit, kinds_seen: set[str]) -> Visit:
    opened.page.evaluate(CODE_ONCE)
    reduced, seen = opened.page.evaluate(FORMULAS_ONCE, list(kinds_seen))
    if is_chapter(opened):
        assert 0 < reduced <= opened.page.locator("mjx-container").count()
        assert len(seen) > 100
    kinds_seen.update(seen)
    return opened


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
def test_text_stands_out_in_both_modes(alike_once: Visit, scheme: Literal["light", "dark"]) -> None:
    show_in(alike_once, scheme)
    count, poor, paper = alike_once.page.evaluate(CONTRAST)
    assert count
    assert poor == []
    assert (paper < 0.1) is (scheme == "dark")


def test_every_control_has_a_name(alike_once: Visit) -> None:
    assert nameless(alike_once.page.locator("body").aria_snapshot()) == []


def test_nothing_moves_where_the_reader_asked_for_rest(alike_once: Visit) -> None:
    alike_once.page.emulate_media(reduced_motion="reduce")
    moving = alike_once.page.evaluate(
        """() => [...document.querySelectorAll('*')].filter(element => {
            const style = getComputedStyle(element);
            return style.transitionDuration.split(',').some(each => parseFloat(each) > 0)
                || style.animationName !== 'none';
        }).length"""
    )
    assert moving == 0


def test_axe_finds_no_fault_in_light_nor_in_dark(alike_once: Visit, colors_seen: set[int]) -> None:
    """The last test of a page: it takes away what has no colours, and what is alike in colour."""
    page = alike_once.page
    show_in(alike_once, "light")
    prepare(page)
    assert faults(page) == []
    page.evaluate(SEEN_ONLY)
    visible = page.evaluate(VISIBLE)
    seen = page.evaluate(COLOR_KINDS, list(colors_seen))
    show_in(alike_once, "dark")
    # The same is there to be named, reached and read: only its colours can have become faulty.
    assert page.evaluate(VISIBLE) == visible
    seen += page.evaluate(COLOR_KINDS, list(colors_seen))
    assert page.evaluate(TAKE_ALIKE_AWAY) < visible
    assert faults_of_color(page) == []
    show_in(alike_once, "light")
    assert faults_of_color(page) == []
    colors_seen.update(seen)
