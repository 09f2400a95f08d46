"""Explorers that compute: moved by mouse, finger and keyboard; their numbers are the library's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from informed.clusters import average_over_clusters
from informed.clusters.features import relabel_by_first_occurrence
from informed.clusters.kmeans import best_partition
from informed.directions import exact_directions, pca_directions, reconstruction_error
from informed.spiked import inflated_variance, limiting_cosine
from informed.survival import compare_survival
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


def test_few_samples(open_page: Open) -> None:
    page = open_page("usual")
    for n in (3, 5, 8):
        page.evaluate("n => document.querySelector('.informed-computed').explorer.change({n})", n)
        model = model_of(page, "usual")
        X = np.array(model["X"])
        by_numpy = (
            squareform(pdist(X)),
            squareform(pdist(X, "mahalanobis", VI=np.linalg.pinv(np.cov(X.T)))),
        )
        for pair in model["pairs"]:
            assert pair["euclidean"] == pytest.approx(by_numpy[0][pair["i"], pair["j"]], rel=1e-9)
            assert pair["mahalanobis"] == pytest.approx(by_numpy[1][pair["i"], pair["j"]], rel=1e-9)
        assert bool(np.ptp(model["mahalanobis"]) < 1e-9) is (n <= 3)


def test_hidden_transformation(open_page: Open) -> None:
    page = open_page("transformation")
    for columns in ([[3, 0.5], [2, 1.5]], [[1, -2], [0.5, 2]], [[3, 1.5], [2, 1]]):
        page.evaluate(
            "([first, second]) => document.querySelector('.informed-computed').explorer"
            ".change({first, second})",
            columns,
        )
        state, model = state_of(page, "transformation"), model_of(page, "transformation")
        A = np.array(columns, dtype=float).T
        difference = np.array(state["p"]) - state["q"]
        inverse = np.linalg.pinv(A @ A.T, rcond=1e-12)
        wanted = np.sqrt((A @ difference) @ inverse @ (A @ difference))
        assert model["mahalanobis"] == pytest.approx(wanted, rel=1e-7)
        assert model["hidden"] == pytest.approx(np.linalg.norm(difference))
        assert (model["rank"] == 2) is (model["mahalanobis"] == pytest.approx(model["hidden"]))


def test_features_as_points(open_page: Open) -> None:
    page = open_page("features")
    for shape in ("groups", "uneven", "tall"):
        page.locator("select").select_option(shape)
        model = model_of(page, "features")
        points = np.array(model["lines"])
        centered = points - points.mean(axis=0)
        everything = [list(map(int, f"{k:010b}")) for k in range(1, 512)]
        labels, cost = best_partition(centered, np.array(everything), 2)
        assert model["cost"] == pytest.approx(cost, rel=1e-9)
        along = points.sum(axis=1)  # the cluster farther left and down is the first
        first = int(along[labels == 1].mean() < along[labels == 0].mean())
        assert model["labels"] == (labels != first).astype(int).tolist()
        singular = np.linalg.svd(centered, compute_uv=False)
        assert model["bound"] == pytest.approx(singular[1] ** 2, rel=1e-9)
        assert model["cost"] >= model["bound"]
        u = np.linalg.svd(centered)[0][:, 0]
        assert np.abs(model["u"]) == pytest.approx(np.abs(u), rel=1e-9)
        gap = np.linalg.norm(u - average_over_clusters(u, np.array(model["labels"])))
        assert model["gap"] == pytest.approx(gap, rel=1e-9)
    page.locator("select").select_option("tall")
    assert model_of(page, "features")["agree"] < 10  # here they part


def test_painted_clusters(open_page: Open) -> None:
    page = open_page("staircases")
    X = np.array(page.evaluate("informed.explorers.staircases.table.toLines()"))
    total = np.sum(np.var(X, axis=0, ddof=1))
    for button in (None, "All one cluster", "As k-means has them"):
        if button:
            page.get_by_role("button", name=button).click()
        model = model_of(page, "staircases")
        labels = relabel_by_first_occurrence(np.array(state_of(page, "staircases")["labels"]))
        u = pca_directions(X, 1).directions
        averaged = average_over_clusters(u, labels)
        assert model["u"] == pytest.approx(u[:, 0], rel=1e-9)
        assert model["averaged"] == pytest.approx(averaged[:, 0], rel=1e-9)
        unit = averaged / np.linalg.norm(averaged)
        best = exact_directions(X, labels, 1).directions
        assert model["explainedAveraged"] == pytest.approx(
            1 - reconstruction_error(X, unit) / total
        )
        assert model["explainedExact"] == pytest.approx(1 - reconstruction_error(X, best) / total)
        assert model["explainedAveraged"] <= model["explainedExact"] <= model["explained"]


def test_a_direction_turned_by_hand(open_page: Open) -> None:
    page = open_page("turning")
    X = np.array(page.evaluate("informed.explorers.turning.table.toLines()"))
    labels = np.array(page.evaluate("informed.explorers.turning.labels"))
    best = exact_directions(X, labels, 1).directions
    rng = np.random.default_rng(0)
    for _ in range(20):
        t = rng.uniform(-1, 1, size=2).tolist()
        page.evaluate("t => document.querySelector('.informed-computed').explorer.change({t})", t)
        model = model_of(page, "turning")
        U = np.array(model["direction"])[:, None]
        assert np.linalg.norm(U) == pytest.approx(1)
        assert model["error"] == pytest.approx(reconstruction_error(X, U), rel=1e-9)
        assert model["error"] >= model["least"] - 1e-12
    assert model["least"] == pytest.approx(reconstruction_error(X, best), rel=1e-9)
    page.get_by_role("button", name="Show the closed form").click()
    assert model_of(page, "turning")["error"] == pytest.approx(model["least"], rel=1e-9)


def test_a_neighbourhood_on_the_sheet(open_page: Open) -> None:
    page = open_page("sheet")
    labels = np.array(page.evaluate("informed.explorers.sheet.labels"))
    for fragment in ("", "#sheet&place=0.5&size=20&noise=0.2", "#sheet&noise=0&bend=0"):
        model = model_of(open_page("sheet", fragment), "sheet")
        X, tangent = np.array(model["X"]), np.array(model["tangent"])[labels] / np.sqrt(10)
        nearest = np.argsort(np.abs(np.arange(60) - model["centre"]), kind="stable")
        for entry in model["found"]:
            near = X[nearest[: entry["size"]]]
            for key, U in (
                ("pcaAngle", pca_directions(near, 1).directions),
                ("informedAngle", exact_directions(near, labels, 1).directions),
            ):
                cosine = min(1.0, abs(float(tangent @ U[:, 0])))
                # The arc cosine near 1 loses half of the digits.
                assert np.cos(np.radians(entry[key])) == pytest.approx(cosine, abs=1e-9)


def test_patients_who_change_groups(open_page: Open) -> None:
    page = open_page("patients")
    smallest = []
    for number in (0, 3, 7, 11):
        pieces(page)[number].focus()
        page.keyboard.press("Space")
        state, model = state_of(page, "patients"), model_of(page, "patients")
        wanted = compare_survival(model["times"], model["events"], state["groups"])
        assert model["p"] == pytest.approx(wanted.p_value, rel=1e-9)
        for curve, reference in zip(model["curves"], wanted.curves, strict=True):
            assert curve["survival"] == pytest.approx(reference.survival, rel=1e-9)
        smallest.append(wanted.p_value)
        assert state["least"] <= min(smallest) + 1e-12


def test_the_phase_diagram(open_page: Open) -> None:
    page = open_page("phase")
    for aspect, strength in ((1.0, 3.0), (3.5, 5.0), (4.0, 1.0), (0.05, 0.1)):
        page.evaluate(
            "values => document.querySelector('.informed-computed').explorer.change(values)",
            {"aspect": aspect, "strength": strength},
        )
        model = model_of(page, "phase")
        exact = model["p"] / 60
        assert model["predicted"] == pytest.approx(limiting_cosine([strength], exact)[0], rel=1e-9)
        assert model["leading"] == pytest.approx(inflated_variance([strength], exact)[0], rel=1e-9)
        assert 0 <= model["cosine"] <= 1
    assert model["predicted"] == 0
