"""Static explorers in a real browser: what a reader moves is what a reader sees."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browsing import drag
from conftest import served
from matplotlib.figure import Figure
from PIL import Image

from informed.teaching.explorer import Control, explore

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

# Room for the palette, far below the difference between two frames.
TOLERANCE = 24
LEVELS = [1, 2, 4, 5, 7, 9]
HEIGHTS = [2, 5, 8]
COLORS = ["firebrick", "seagreen"]
HELP = "How high the bar is, " + "and more about it, " * 9 + "in one line."
HOSTILE = "<b>height</b> & \"more\" </script><script>document.title='broken'</script>"


def draw_level(level: int) -> Figure:
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.bar([0], [level], color="tab:blue")
    axes.set(ylim=(0, 10), title=f"level {level}")
    return figure


def draw_bars(height: int, color: str, wide: bool) -> Figure:
    figure = Figure(figsize=(5, 2.5))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.bar([0], [height], color=color, width=1.6 if wide else 0.6)
    axes.set(xlim=(-1, 1), ylim=(0, 10))
    return figure


def describe_bars(height: int, color: str, wide: bool) -> str:
    return f"A {'wide' if wide else 'narrow'} bar in {color}, <{height}> high."


def drawn(figure: Figure) -> np.ndarray:
    """Draw without the module under test."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return np.asarray(Image.open(buffer).convert("RGB"), dtype=int)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of two explorers, and one with the same explorer twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INFORMED_EXPLORER", "static")
        first = explore(draw_level, title="Levels", level=Control(LEVELS, default=4, unit="cm"))
        second = explore(
            draw_bars,
            title="Bars",
            describe=describe_bars,
            height=Control(HEIGHTS, label=HOSTILE, help=HELP, default=5),
            color=COLORS,
            wide=False,
        )
    path = tmp_path_factory.mktemp("pages")
    for name, blocks in {"two": [first, second], "twice": [first, first]}.items():
        body = "".join(f'<p>Text.</p><div class="text_html">{block.html}</div>' for block in blocks)
        (path / f"{name}.html").write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>explorers</title>'
            '<link rel="icon" href="data:,">'
            "<style>:root { color-scheme: light dark }"
            # What the theme of the book does to outputs and to images.
            'html[data-theme="dark"] body div.text_html { background: #ced6dd; color: #222832 }'
            'html[data-theme="dark"] body div img { background: #ced6dd }'
            'html[data-theme="dark"] img:not(.dark-light) { filter: brightness(0.8) }'
            "</style></head>"
            f"<body>{body}</body></html>",
            encoding="utf-8",
        )
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


HELP_OF = "control => document.getElementById(control.getAttribute('aria-describedby')).textContent"
Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: Browser, folder: Path) -> Iterator[Open]:
    """Open a page, and fail afterwards if it logged an error or asked for anything else."""
    contexts = []
    faults: list[str] = []

    def open_(name: str = "two", base: str | None = None, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        address = f"{base or folder.as_uri()}/{name}.html"
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                faults.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url == address or request.url.startswith("data:")
                else faults.append(f"request: {request.url[:200]}")
            ),
        )
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def explorer(page: Page, title: str) -> Locator:
    return page.get_by_role("group", name=title, exact=True)


def picture(root: Locator) -> Locator:
    """Return the one picture that the reader sees."""
    return root.locator("img:visible")


def pixels(image: Locator) -> np.ndarray:
    """Return what the browser decoded, after it has."""
    image.evaluate("image => image.decode()")
    source = image.get_attribute("src")
    assert source is not None
    data = base64.b64decode(source.split(",", 1)[1])
    decoded = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
    assert image.evaluate("image => [image.naturalHeight, image.naturalWidth]") == list(
        decoded.shape[:2]
    )
    return decoded


def shows(root: Locator, figure: Figure) -> bool:
    return bool(np.abs(pixels(picture(root)) - drawn(figure)).max() <= TOLERANCE)


@pytest.mark.parametrize("over", ["file", "http"])
def test_one_slider_by_mouse_and_keyboard(
    open_page: Open, request: pytest.FixtureRequest, over: str
) -> None:
    base = request.getfixturevalue("server") if over == "http" else None
    root = explorer(open_page(base=base), "Levels")
    slider = root.get_by_role("slider", name="level", exact=True)
    assert shows(root, draw_level(4))
    for position in (5, 0, 3, 1):
        drag(slider, position)
        assert shows(root, draw_level(LEVELS[position]))
        assert slider.get_attribute("aria-valuetext") == f"{LEVELS[position]}\u00a0cm"
        assert root.locator(".value").inner_text() == f"{LEVELS[position]}\u00a0cm"
        assert picture(root).get_attribute("alt") == f"Levels. level: {LEVELS[position]}\u00a0cm"
    slider.focus()
    for key, level in [("ArrowRight", 4), ("ArrowLeft", 2), ("End", 9), ("Home", 1)]:
        slider.press(key)
        assert shows(root, draw_level(level))


def test_every_combination_by_keyboard(open_page: Open) -> None:
    root = explorer(open_page(), "Bars")
    slider = root.get_by_role("slider", name=HOSTILE, exact=True)
    dropdown = root.get_by_role("combobox", name="color", exact=True)
    checkbox = root.get_by_role("checkbox", name="wide", exact=True)
    for height, color, wide in itertools.product(HEIGHTS, COLORS, [True, False]):
        slider.press("Home")
        for _ in range(HEIGHTS.index(height)):
            slider.press("ArrowRight")
        dropdown.focus()
        dropdown.press("ArrowDown" if color == COLORS[1] else "ArrowUp")
        if checkbox.is_checked() != wide:
            checkbox.press("Space")
        assert shows(root, draw_bars(height, color, wide))
        words = describe_bars(height, color, wide)
        assert picture(root).get_attribute("alt") == words
        assert root.locator("figcaption:visible").inner_text() == words


def test_every_control_by_mouse(open_page: Open) -> None:
    page = open_page()
    root = explorer(page, "Bars")
    assert shows(root, draw_bars(5, "firebrick", False))
    drag(root.get_by_role("slider"), 2)
    assert shows(root, draw_bars(8, "firebrick", False))
    root.get_by_text("wide", exact=True).click()  # the label
    assert shows(root, draw_bars(8, "firebrick", True))
    root.get_by_role("checkbox").click()
    assert shows(root, draw_bars(8, "firebrick", False))
    # The open list of a dropdown belongs to the system: a click opens it, a key chooses.
    root.get_by_role("combobox").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert shows(root, draw_bars(8, "seagreen", False))
    assert page.title() == "explorers"  # the hostile label stayed a label


def test_controls_are_reached_in_order_by_tab(open_page: Open) -> None:
    page = open_page()
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "[document.activeElement.closest('[role=group]').getAttribute('aria-label'),"
                " document.activeElement.type]"
            )
        )
    assert reached == [
        ["Levels", "range"],
        ["Levels", "button"],
        ["Bars", "range"],
        ["Bars", "select-one"],
        ["Bars", "checkbox"],
    ]


def test_explorers_on_a_page_are_independent(open_page: Open) -> None:
    page = open_page()
    levels, bars = explorer(page, "Levels"), explorer(page, "Bars")
    levels.get_by_role("slider").press("End")
    assert shows(levels, draw_level(9))
    assert shows(bars, draw_bars(5, "firebrick", False))
    bars.get_by_role("slider").press("Home")
    assert shows(levels, draw_level(9))
    assert shows(bars, draw_bars(2, "firebrick", False))


def test_the_same_explorer_twice_on_a_page(open_page: Open) -> None:
    page = open_page("twice")
    one, other = (explorer(page, "Levels").nth(number) for number in (0, 1))
    other.get_by_role("slider").press("End")
    assert shows(one, draw_level(4))
    assert shows(other, draw_level(9))
    one.get_by_text("level", exact=True).click()  # a label works its own slider
    page.keyboard.press("Home")
    assert shows(one, draw_level(1))
    assert shows(other, draw_level(9))


def stop_clock(page: Page) -> None:
    """From here on the time of the page moves only when told to."""
    page.clock.install(time=0)
    page.reload()
    page.clock.pause_at(60_000)


def test_a_screen_reader_hears_where_a_move_ended(open_page: Open) -> None:
    page = open_page()
    stop_clock(page)
    root = explorer(page, "Bars")
    status = root.get_by_role("status")
    slider = root.get_by_role("slider")
    assert slider.evaluate(HELP_OF) == HELP
    assert status.text_content() == ""
    status.evaluate(
        "node => { window.heard = [];"
        " new MutationObserver(() => window.heard.push(node.textContent))"
        ".observe(node, { childList: true }); }"
    )
    for key in ("Home", "ArrowRight", "ArrowRight"):
        slider.press(key)
    page.clock.run_for(1000)
    assert page.evaluate("window.heard") == [describe_bars(8, "firebrick", False)]


def test_play_walks_to_the_end_and_stops(open_page: Open) -> None:
    page = open_page()
    stop_clock(page)
    root = explorer(page, "Levels")
    button = root.get_by_role("button")
    slider = root.get_by_role("slider")
    button.click()
    assert button.inner_text() == "Pause"
    assert shows(root, draw_level(5))  # it starts from the default, level 4
    page.clock.run_for(500)
    assert shows(root, draw_level(7))
    assert root.get_by_role("status").text_content() == ""  # no chatter on the way
    button.click()
    assert button.inner_text() == "Play"
    page.clock.run_for(5000)
    assert shows(root, draw_level(7))
    assert root.get_by_role("status").text_content() == "Levels. level: 7\u00a0cm"
    button.click()
    page.clock.run_for(5000)
    assert shows(root, draw_level(9))
    assert button.inner_text() == "Play"
    # From the end it starts over; a hand on the slider stops it.
    button.click()
    assert shows(root, draw_level(1))
    slider.press("ArrowRight")
    assert button.inner_text() == "Play"
    page.clock.run_for(5000)
    assert shows(root, draw_level(2))
    assert explorer(page, "Bars").get_by_role("button").count() == 0


def test_no_play_for_readers_who_want_no_motion(open_page: Open) -> None:
    root = explorer(open_page(reduced_motion="reduce"), "Levels")
    assert not root.locator("button").is_visible()
    root.get_by_role("slider").press("End")
    assert shows(root, draw_level(9))


def test_print_shows_the_default_frame_without_controls(open_page: Open) -> None:
    page = open_page()
    levels, bars = explorer(page, "Levels"), explorer(page, "Bars")
    levels.get_by_role("slider").press("End")
    bars.get_by_role("slider").press("End")
    page.emulate_media(media="print")
    for root, figure, words in [
        (levels, draw_level(4), "level: 4\u00a0cm"),
        (bars, draw_bars(5, "firebrick", False), describe_bars(5, "firebrick", False)),
    ]:
        assert shows(root, figure)
        assert root.locator("figcaption:visible").inner_text() == words
        assert root.locator(":is(input, select, button, label, .help):visible").count() == 0
    page.emulate_media(media="screen")
    assert shows(levels, draw_level(9))
    assert levels.locator("figcaption:visible").count() == 0  # the control says it


def test_without_javascript_the_default_frame_is_there(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    for title, figure in [
        ("Levels", draw_level(4)),
        ("Bars", draw_bars(5, "firebrick", False)),
    ]:
        root = explorer(page, title)
        image = picture(root)
        source = image.get_attribute("src")
        assert source is not None
        decoded = Image.open(io.BytesIO(base64.b64decode(source.split(",", 1)[1])))
        assert np.abs(np.asarray(decoded.convert("RGB"), dtype=int) - drawn(figure)).max() <= 24
        assert root.locator("figcaption:visible").count() == 1
        assert root.locator(":is(input, select, button):visible").count() == 0


def test_a_reload_that_keeps_positions_keeps_the_picture(open_page: Open) -> None:
    # As Firefox does, and as any browser does on the way back to a page.
    page = open_page()
    page.add_init_script(
        "new MutationObserver((_, observer) => {"
        " const slider = document.querySelector('input[type=range]');"
        " if (slider) { slider.value = 5; observer.disconnect(); } })"
        ".observe(document, { childList: true, subtree: true });"
    )
    page.reload()
    root = explorer(page, "Levels")
    assert root.get_by_role("slider").input_value() == "5"
    assert shows(root, draw_level(9))


@pytest.mark.parametrize("theme", ["system", "data-theme"])
def test_figures_lie_on_a_soft_card_and_words_stay_legible_in_the_dark(
    open_page: Open, theme: str
) -> None:
    page = open_page(color_scheme="dark" if theme == "system" else "light")
    if theme == "data-theme":
        page.evaluate(
            "document.documentElement.dataset.theme = 'dark';"
            "document.body.style.background = '#121212';"
            "document.body.style.color = '#cecdd0';"
        )
    root = explorer(page, "Bars")
    style = "(node, name) => getComputedStyle(node)[name]"
    assert picture(root).evaluate(style, "backgroundColor") == "rgb(255, 255, 255)"
    # One tone for all where the page itself is dark, whatever its theme does to some pictures.
    dimmed = "brightness(0.84)" if theme == "data-theme" else "none"
    assert picture(root).evaluate(style, "filter") == dimmed
    assert root.locator("..").evaluate(style, "backgroundColor") == "rgba(0, 0, 0, 0)"
    # Native controls are drawn for the dark too.
    dropdown = root.get_by_role("combobox")
    letters, ground = (
        luminance(dropdown.evaluate(style, name)) for name in ("color", "backgroundColor")
    )
    assert (letters + 0.05) / (ground + 0.05) >= 4.5
    for words in (".title", ".name", ".help", "figcaption:visible"):
        letters = luminance(root.locator(words).first.evaluate(style, "color"))
        assert (letters + 0.05) / (luminance("rgb(18, 18, 18)") + 0.05) >= 7


def luminance(color: str) -> float:
    """Return the relative luminance as the accessibility guidelines define it."""
    channels = np.array([float(part) for part in color[4:-1].split(",")]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("width", [320, 700])
def test_nothing_is_wider_than_the_page(open_page: Open, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    root = explorer(page, "Bars")
    drag(root.get_by_role("slider"), 0)
    assert shows(root, draw_bars(2, "firebrick", False))
