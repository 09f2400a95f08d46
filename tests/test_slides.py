"""The slides: they open from a file, fit the screen, step, print, and show the speaker more."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from browsing import Visit, foreign, visit
from conftest import ROOT
from matplotlib.figure import Figure
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(ROOT / "tools"))
import decks
import pointers
import slide_figures
import slides

DECKS = decks.names()
SCREEN = {"width": 1280, "height": 720}
READY = ".reveal.ready"
# What a reader looks at: not the notes, not the line at the foot.
LOOK = """() => {
    const slide = Reveal.getCurrentSlide(), scale = Reveal.getScale();
    const box = slide.getBoundingClientRect();
    const foot = slide.querySelector('footer').getBoundingClientRect().top;
    const tags = 'h1, h2, p, li, pre, img, td, th, a, mjx-container, blockquote';
    const seen = [...slide.querySelectorAll(`:is(${tags})`)]
        .filter(e => !e.closest('aside, footer') && e.getBoundingClientRect().width);
    const over = seen.filter(e => {
        const own = e.getBoundingClientRect();
        return own.bottom > foot || own.right > box.right - 20 * scale || own.top < box.top
            || own.left < box.left || (e.tagName === 'PRE' && e.scrollWidth > e.clientWidth);
    }).map(e => e.outerHTML.slice(0, 80));
    // The words themselves: a paragraph is as wide as the slide, however short its text.
    const words = seen.flatMap(e => {
        if (e.tagName === 'IMG') return [e.getBoundingClientRect()];
        const range = document.createRange();
        range.selectNodeContents(e);
        return [...range.getClientRects()];
    }).filter(own => own.width);
    let at = box.top, gap = 0;
    for (const own of words.sort((a, b) => a.top - b.top)) {
        gap = Math.max(gap, own.top - at);
        at = Math.max(at, own.bottom);
    }
    return {
        over,
        band: Math.max(gap, foot - at) / box.height,
        right: (Math.max(...words.map(own => own.right)) - box.left) / box.width,
        small: Math.min(...seen.map(e => parseFloat(getComputedStyle(e).fontSize))),
        images: seen.filter(e => e.tagName === 'IMG').map(e => [
            e.getBoundingClientRect().width / scale - e.width,
            e.naturalWidth - 2 * e.width,
        ]).flat(),
    };
}"""


@pytest.fixture(scope="session")
def folder() -> Path:
    """The built slides; decks that have not changed are not drawn again."""
    slides.main()
    return slides.OUT


@pytest.fixture(scope="module", params=DECKS)
def deck(request: pytest.FixtureRequest, folder: Path) -> Path:
    return folder / f"{request.param}.html"


def count(path: Path) -> int:
    return len(decks.read(path.stem))


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def shown(page: Page) -> tuple[int, int]:
    """The number of the slide, and of the steps that it has shown."""
    at = page.evaluate("Reveal.getIndices()")
    return at["h"] + 1, (at.get("f") if at.get("f") is not None else -1) + 1


def test_there_is_a_deck_for_each_part_and_one_for_90_minutes() -> None:
    assert [name.split("-", 1)[1] for name in DECKS] == [
        "lecture",
        "start",
        "foundations",
        "informed-metric",
        "experiments",
        "critical-reading",
        "beyond-the-paper",
    ]


@pytest.mark.parametrize("name", DECKS)
def test_each_slide_has_a_title_that_says_something_and_notes_with_a_time(name: str) -> None:
    for slide in decks.read(name)[1:]:
        assert len(slide.title.split()) >= 4, slide.title
        assert slide.minutes > 0, slide.title
        assert slide.notes, slide.title
        # Notes that ask the class to guess stand on a slide that has something to step to, or ask
        # on a slide of its own.
        if re.search(r"[Ll]et them (guess|draw|explain)|before the (last )?step", slide.notes):
            steps = f"\n{slides.PAUSE}\n" in slide.text or "\n+ " in slide.text
            assert steps or "?" in slide.title, slide.title


def test_a_deck_opens_fits_and_steps(deck: Path, browser: Browser) -> None:
    with visit(browser, deck.as_uri(), viewport=SCREEN) as this:
        page = this.page
        page.wait_for_selector(READY)
        assert this.errors == []
        assert foreign(this, deck.parent.as_uri()) == []
        assert page.locator("mjx-merror").count() == 0
        assert page.locator("section img:not([alt])").count() == 0
        steps = walk(page, count(deck))
        assert sum(steps) >= count(deck) // 2
        page.keyboard.press("Home")
        assert shown(page) == (1, 0)
        page.keyboard.press("o")
        page.wait_for_selector(".reveal.overview")
        page.keyboard.press("o")


def walk(page: Page, total: int) -> list[int]:
    """Go through a deck by its key; on each slide return the number of steps, and look at it."""
    taken = []
    for number in range(1, total + 1):
        slide = page.evaluate("Reveal.getCurrentSlide().querySelectorAll('.fragment').length")
        for step in range(slide + 1):
            assert shown(page) == (number, step)
            visible = page.evaluate(
                "Reveal.getCurrentSlide().querySelectorAll('.fragment.visible').length"
            )
            assert visible == step
            if step == slide:
                look(page, number)
            page.keyboard.press("ArrowRight")
        taken.append(slide)
    return taken


def look(page: Page, number: int) -> None:
    assert "\\(" not in page.evaluate("Reveal.getCurrentSlide().innerText")
    seen = page.evaluate(LOOK)
    assert seen["over"] == [], f"slide {number} does not fit"
    assert seen["band"] < 1 / 3, f"a third of slide {number} is empty"
    assert seen["right"] > 2 / 3, f"the right third of slide {number} is empty"
    assert seen["small"] >= slide_figures.SMALLEST
    # A figure is shown at the size for which it was drawn, so that its letters are as large.
    assert all(abs(difference) < 1 for difference in seen["images"]), f"slide {number}"


def test_print_gives_one_page_a_slide(deck: Path, browser: Browser) -> None:
    for query in ("?print-pdf", ""):
        with visit(browser, f"{deck.as_uri()}{query}", viewport=SCREEN) as this:
            this.page.wait_for_selector(READY)
            if query:
                this.page.wait_for_function("document.querySelectorAll('.pdf-page').length > 0")
            assert pages(this.page.pdf(prefer_css_page_size=True)) == count(deck), query


def test_the_speaker_sees_clock_notes_and_the_next_slide(deck: Path, browser: Browser) -> None:
    with visit(browser, deck.as_uri(), viewport=SCREEN) as this:
        speaker = open_speaker_view(this)
        notes = speaker.locator(".speaker-controls-notes .value")
        notes.filter(has_text="min.").wait_for()
        assert speaker.locator(".clock-value").inner_text().strip()
        assert "Next" in speaker.locator("#upcoming-slide").inner_text() or (
            speaker.locator("#upcoming-slide iframe").count() == 1
        )
        # The windows go together: a step in the main one is a step in the other.
        second = decks.read(deck.stem)[1].notes.split(".")[0].strip("* ")
        this.page.evaluate("Reveal.slide(1)")
        notes.filter(has_text=second[:25]).wait_for()
        current = speaker.frame_locator("#current-slide iframe")
        current.locator("section.present[aria-label='Slide 2']").wait_for(state="attached")
        upcoming = speaker.frame_locator("#upcoming-slide iframe")
        upcoming.locator("section.present").wait_for(state="attached")


def open_speaker_view(this: Visit) -> Page:
    this.page.wait_for_selector(READY)
    with this.page.context.expect_page() as opened:
        this.page.keyboard.press("s")
    speaker = opened.value
    speaker.locator("#upcoming-slide iframe").wait_for()
    return speaker


def test_a_swipe_goes_on(folder: Path, browser: Browser) -> None:
    path = folder / f"{DECKS[1]}.html"
    with visit(browser, path.as_uri(), viewport=SCREEN, has_touch=True) as this:
        this.page.wait_for_selector(READY)
        touch = this.page.context.new_cdp_session(this.page)
        for kind, x in (("touchStart", 900), ("touchMove", 700), ("touchMove", 500)):
            point = {"x": x, "y": 300}
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        this.page.wait_for_function("Reveal.getIndices().h === 1")


def test_explorers_beside_the_decks_open_and_draw(folder: Path, browser: Browser) -> None:
    names = set().union(*(slides.explorers(decks.read(name)) for name in DECKS))
    assert len(names) >= 6
    for name in sorted(names):
        path = folder / "explorers" / f"{name}.html"
        with visit(browser, path.as_uri(), viewport=SCREEN) as this:
            this.page.locator(".informed-computed svg, .informed-computed canvas").first.wait_for()
            assert this.errors == []
            assert foreign(this, path.parent.as_uri()) == []


# -------------------------------------------------------------------------------- how they are made


def deck_of(text: str, tmp_path: Path) -> tuple[decks.Slide, ...]:
    (tmp_path / "deck.md").write_text(text, encoding="utf-8")
    return decks.read("deck", tmp_path)


def test_a_figure_that_draws_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="must give the figure"):
        slide_figures.run_figure("x = 1", {})
    with pytest.raises(TypeError, match="not a figure"):
        slide_figures.run_figure("1", {})


def test_letters_grow_and_what_does_not_fit_is_refused() -> None:
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel("small", fontsize=6)
    assert slide_figures.smallest_label(figure) < slide_figures.SMALLEST
    slide_figures.fit_to_slide(figure, 600, 400)
    assert slide_figures.smallest_label(figure) >= slide_figures.SMALLEST - 1e-9
    assert slide_figures.outside(figure) == []
    axes.set_xlabel("far too long for six hundred pixels " * 3)
    with pytest.raises(ValueError, match="do not fit"):
        slide_figures.as_image(figure, "a figure", 600, 400)


def test_a_title_that_is_too_wide_is_broken_but_its_formula_is_not() -> None:
    figure = Figure(layout="constrained")
    axes = figure.subplots(1, 3)
    axes[0].set_title(r"Mahalanobis $\hat d _M$: correlation 0.996")
    slide_figures.fit_to_slide(figure, 600, 300)
    assert r"$\hat d _M$" in axes[0].get_title()
    assert "\n" in axes[0].get_title()


def test_steps_includes_and_pointers(tmp_path: Path) -> None:
    text = (
        "# Deck\n\nNotes (1 min):\na\n\n---\n\n## A slide with steps\n\n+ one\n+ two\n\n. . .\n\n"
        "[[ex-gram]]\n\nNotes (2 min):\nb\n\n---\n\ninclude deck-b: Another\n\nNotes (5 min):\nc\n"
    )
    (tmp_path / "deck-b.md").write_text("## Another\n\nx\n\nNotes (9 min):\nz\n", encoding="utf-8")
    found = deck_of(text, tmp_path)
    assert [slide.minutes for slide in found] == [1, 2, 5]
    assert found[2].title == "Another"
    body = slides.write_text(found[1].text, {})
    assert body.count('<li class="fragment">') == 2
    assert body.count('<div class="fragment">') == 1
    assert str(pointers.exercises()["ex-gram"]) in body
    (tmp_path / "c.md").write_text(text.replace("b: Another", "b: Anothr"), encoding="utf-8")
    with pytest.raises(ValueError, match="no slide 'Anothr'"):
        decks.read("c", tmp_path)
    with pytest.raises(KeyError, match="ex-nothing"):
        pointers.resolve("[[ex-nothing]]")


def test_an_unchanged_deck_is_not_made_again(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.html")}
    assert slides.main() == 0
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.html")} == before
    slide = decks.read(DECKS[1])[0]
    assert slides.stamp((slide,)) != slides.stamp((decks.replace(slide, notes="other"),))
