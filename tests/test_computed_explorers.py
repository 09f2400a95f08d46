"""Explorers that compute: moved by mouse, finger and keyboard, linked, printed, and heard."""

from __future__ import annotations

import re

import pytest
from computed_pages import (
    NAMES,
    PRESSED,
    Open,
    drawn,
    folder,  # noqa: F401
    middle,
    model_of,
    open_page,  # noqa: F401
    pieces,
    state_of,
    words,
)


@pytest.mark.parametrize("name", NAMES)
def test_moved_by_mouse(open_page: Open, name: str) -> None:
    page = open_page(name)
    for number in range(len(pieces(page))):
        piece = pieces(page)[number]
        before, said = state_of(page, name), words(page)
        x, y = middle(piece)
        page.mouse.move(x, y)
        page.mouse.down()
        if name not in PRESSED:
            page.mouse.move(x + 26, y - 22, steps=4)
        page.mouse.up()
        drawn(page)
        after = state_of(page, name)
        if name == "staircases" and number % 2 == 0:
            assert after == before  # painted with the cluster that it has
            continue
        assert after != before
        assert words(page) != said or name in {"features", "transformation"}
        if name not in PRESSED | {"sheet", "turning"}:  # those keep to a curve, to a disc
            new_x, new_y = middle(pieces(page)[number])
            assert (new_x, new_y) == pytest.approx((x + 26, y - 22), abs=1.5)


@pytest.mark.parametrize("name", NAMES)
def test_moved_by_a_finger(open_page: Open, name: str) -> None:
    page = open_page(name, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    before = state_of(page, name)
    piece = pieces(page)[1 if name in PRESSED else 0]
    x, y = middle(piece)
    if name in PRESSED:
        page.touchscreen.tap(x, y)
    else:
        client = page.context.new_cdp_session(page)
        for kind, shift in [
            ("touchStart", 0),
            ("touchMove", 10),
            ("touchMove", 24),
            ("touchEnd", 0),
        ]:
            points = [] if kind == "touchEnd" else [{"x": x + shift, "y": y - shift}]
            client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        assert piece.evaluate("e => getComputedStyle(e).touchAction") == "none"
    drawn(page)
    assert state_of(page, name) != before
    # Nothing sticks out of a phone.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for box in (piece.locator(".reach").bounding_box() for piece in pieces(page)):
        assert box is not None
        assert min(box["width"], box["height"]) >= (13 if name == "patients" else 24)


@pytest.mark.parametrize("name", NAMES)
def test_moved_by_keyboard_and_heard(open_page: Open, name: str) -> None:
    page = open_page(name)
    seen = set()
    for _ in range(40):  # all is within reach of the tabulator
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.dataset.name ?? document.activeElement.id"))
    first = pieces(page)[0]
    assert first.get_attribute("data-name") in seen
    assert "" in seen or len(seen) > 1
    first.focus()
    outline = first.locator(".reach").evaluate("e => getComputedStyle(e).strokeWidth")
    assert float(outline.removesuffix("px")) >= 2
    before = state_of(page, name)
    if name in PRESSED:
        page.keyboard.press("ArrowRight")
        second = pieces(page)[1]
        assert second.evaluate("e => e === document.activeElement")
        page.keyboard.press("Space")
        drawn(page)
        changed = state_of(page, name)
        assert changed != before
        assert pieces(page)[1].evaluate("e => e === document.activeElement")
        page.keyboard.press("End")
        assert pieces(page)[-1].evaluate("e => e === document.activeElement")
        if name == "staircases":
            page.keyboard.press("4")
            drawn(page)
            assert state_of(page, name)["labels"][-1] == 3
    else:
        role, text = first.get_attribute("role"), first.get_attribute("aria-valuetext")
        assert role == "slider"
        assert first.get_attribute("aria-label")
        page.keyboard.press("ArrowRight")
        drawn(page)
        assert state_of(page, name) != before
        assert first.get_attribute("aria-valuetext") != text
        assert first.evaluate("e => e === document.activeElement")
    # A screen reader is told the numbers where the moves end; on a slow machine it may have been
    # told those of a rest on the way before.
    page.wait_for_function(
        "words => document.querySelector('.informed-computed [role=status]').innerText === words",
        arg=words(page),
    )


@pytest.mark.parametrize("name", NAMES)
def test_controls_and_buttons(open_page: Open, name: str) -> None:
    page = open_page(name)
    start = state_of(page, name)
    for control in page.locator(".informed-computed .control").all():
        assert control.locator("label").inner_text()
        slider = control.locator("input[type=range]")
        if slider.count():
            slider.focus()
            before = state_of(page, name)
            page.keyboard.press("ArrowRight")
            drawn(page)
            assert state_of(page, name) != before
            assert slider.get_attribute("aria-valuetext") == control.locator(".value").inner_text()
        else:
            choices = control.locator("option").all()
            control.locator("select").select_option(index=len(choices) - 1)
            drawn(page)
    for button in page.locator(".actions button").all():
        if button.inner_text() not in {"Reset", "Link to this state"}:
            before = state_of(page, name)
            button.click()
            drawn(page)
            assert state_of(page, name) != before
    page.get_by_role("button", name="Reset").click()
    drawn(page)
    assert state_of(page, name) == start


@pytest.mark.parametrize("name", NAMES)
def test_a_link_leads_to_what_was_seen(open_page: Open, name: str) -> None:
    page = open_page(name)
    piece = pieces(page)[1 if name in PRESSED else 0]
    piece.focus()
    page.keyboard.press("Space" if name in PRESSED else "ArrowRight")
    drawn(page)
    said, state = words(page), state_of(page, name)
    page.get_by_role("button", name="Link").click()
    page.wait_for_function("document.querySelector('.words').textContent.startsWith('The address')")
    fragment = "#" + page.url.split("#")[1]
    assert fragment.startswith(f"#{name}&")
    again = open_page(name, fragment)
    assert words(again) == said
    for key, value in state_of(again, name).items():
        assert value == (state[key] if isinstance(value, str) else pytest.approx(state[key]))
    # What nobody wrote into the address is not believed.
    broken = "&nonsense=1&n=abc&labels=1,2&size=x&points=1&shape=none&p=NaN,1&aspect=%%%"
    assert words(open_page(name, f"#{name}{broken}")) == words(open_page(name, "#other&n=5"))


def test_numbers_out_of_range_in_a_link_are_brought_back(open_page: Open) -> None:
    assert state_of(open_page("usual", "#usual&n=99"), "usual")["n"] == 8
    assert state_of(open_page("sheet", "#sheet&size=7.6&place=9"), "sheet")["size"] == 8
    groups = ",".join(["5"] * 24)
    patients = state_of(open_page("patients", f"#patients&groups={groups}"), "patients")
    assert patients["groups"] == [1] * 24
    assert "empty" in words(open_page("patients", f"#patients&groups={groups}"))


@pytest.mark.parametrize("name", NAMES)
def test_print_shows_the_start(open_page: Open, name: str) -> None:
    page = open_page(name)
    start = words(page)
    pieces(page)[1 if name in PRESSED else 0].focus()
    page.keyboard.press("Space" if name in PRESSED else "ArrowRight")
    drawn(page)
    page.emulate_media(media="print")
    still = page.locator(".still")
    still.locator("svg").wait_for()  # of a real print the page is told before
    assert still.locator(".words").inner_text() == start
    assert page.locator(".informed-computed :is(input, select, button):visible").count() == 0
    assert not page.locator(".drawing").is_visible()


def test_the_book_sets_no_margin_around_the_picture(open_page: Open) -> None:
    """Sphinx's style sheet has this rule; with it the picture was cut off at its right edge."""
    page = open_page("transformation")
    page.add_style_tag(content="div.figure, figure { margin: 0.5em; padding: 0.5em }")
    drawn(page)
    left, right, start, end = page.evaluate(
        """() => {
            const sides = s => Object.values(["left", "right"].map(
                side => document.querySelector(s).getBoundingClientRect()[side]));
            return [...sides(".informed-computed svg"), ...sides(".informed-computed")];
        }"""
    )
    assert start <= left
    assert right <= end


def test_a_drag_leaves_the_other_features_their_colours(open_page: Open) -> None:
    page = open_page("features")
    before = model_of(page, "features")["labels"]
    x, y = middle(pieces(page)[0])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 180, y - 130, steps=3)
    page.mouse.up()
    drawn(page)
    after = model_of(page, "features")["labels"]
    assert after[0] != before[0]
    assert after[1:] == before[1:]


def test_many_on_a_page_leave_each_other_alone(open_page: Open) -> None:
    page = open_page("all")
    assert page.evaluate(
        "document.querySelectorAll('.informed-computed[data-moving]').length"
    ) == len(NAMES)
    before = {name: state_of(page, name) for name in NAMES}
    page.locator("#computed-usual [data-name]").first.focus()
    page.keyboard.press("ArrowLeft")
    after = {name: state_of(page, name) for name in NAMES}
    assert [name for name in NAMES if after[name] != before[name]] == ["usual"]
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_in_the_picture_stand_out(open_page: Open, theme: str) -> None:
    page = open_page("all")
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    ground = (255, 255, 255) if theme == "light" else (18, 18, 18)
    colors = page.evaluate(
        "[...document.querySelectorAll('.drawing text:not(.on)')]"
        ".map(e => getComputedStyle(e).fill)"
    )
    assert len(colors) > 50

    def light(color: tuple[int, ...]) -> float:
        parts = [c / 255 for c in color]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for color in set(colors):
        low, high = sorted([light(tuple(map(int, re.findall(r"\d+", color)[:3]))), light(ground)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, color


# ------------------------------------------------------------------- the numbers are the library's
