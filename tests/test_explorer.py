"""Explorers without a browser: controls, frames, budgets, HTML, and the live widget."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
import threading
import types
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ipywidgets
import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

import informed.explorer as explorer_module
from informed.explorer import Control, Explorer, explore, frames, reset_page
from informed.explorer.controls import all_positions, as_dial, values_at

NASTY = """</script><script>alert(1)</script><img src=x onerror="alert(2)"> & 'quoted' <!-- -->"""


@pytest.fixture(autouse=True)
def static_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "static")
    reset_page()


def bar(level: float = 1.0, **_: Any) -> Figure:
    """Draw one bar on a small figure, without pyplot."""
    figure = Figure(figsize=(1.5, 1.0))
    figure.add_axes((0.0, 0.0, 1.0, 1.0)).bar([0], [level], color="tab:blue")
    figure.axes[0].set_ylim(0, 10)
    return figure


def noise(side: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(side, side, 3), dtype=np.uint8)


class Page(HTMLParser):
    """The elements of a page as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.elements[-1][0], data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def payload(self) -> dict[str, Any]:
        number = [name for name, _ in self.elements].index("script")
        assert self.elements[number][1] == {"type": "application/json"}
        payload: dict[str, Any] = json.loads(
            next(text for tag, text in self.texts if tag == "script")
        )
        return payload


def decode(source: str) -> np.ndarray:
    match = re.fullmatch(r"data:image/(png|webp);base64,([A-Za-z0-9+/=]+)", source)
    assert match, source[:60]
    picture = Image.open(io.BytesIO(base64.b64decode(match[2])))
    assert picture.format == match[1].upper()
    return np.asarray(picture.convert("RGB"), dtype=int)


def drawn(draw: Any, **values: Any) -> np.ndarray:
    """Draw without the module under test."""
    buffer = io.BytesIO()
    draw(**values).savefig(buffer, format="png", dpi=120)
    return np.asarray(Image.open(buffer).convert("RGB"), dtype=int)


# Controls


def test_numbers_make_a_slider_in_their_order() -> None:
    dial = as_dial("n_rows", [80, 20, np.int64(40)])
    assert (dial.kind, dial.values, dial.start) == ("slider", (80, 20, 40), 0)
    assert all(type(value) is int for value in dial.values)
    assert dial.label == "n rows"


@pytest.mark.parametrize("values", [range(1, 4), np.array([1, 2, 3])])
def test_sequences_of_numbers_count_as_lists(values: Any) -> None:
    assert as_dial("n", values).values == (1, 2, 3)


def test_strings_make_a_dropdown() -> None:
    dial = as_dial("variances", Control(["pca", "own"], default="own"))
    assert (dial.kind, dial.texts, dial.start) == ("dropdown", ("pca", "own"), 1)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_truth_value_makes_a_checkbox_that_starts_with_it(value: Any) -> None:
    dial = as_dial("noisy", value)
    assert (dial.kind, dial.values, dial.start) == ("checkbox", (False, True), int(value))


def test_a_range_has_clean_numbers() -> None:
    assert as_dial("rho", (0.1, 0.9, 9)).values == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert as_dial("rho", (1, 0, 3)).values == (1.0, 0.5, 0.0)


def test_a_range_between_integers_stays_integer_only_if_every_step_is() -> None:
    integers = as_dial("n", (10, 50, 5)).values
    assert integers == (10, 20, 30, 40, 50)
    assert all(type(value) is int for value in integers)
    assert all(type(value) is float for value in as_dial("n", (10.0, 50.0, 5)).values)
    assert all(type(value) is float for value in as_dial("n", (0, 1, 3)).values)


def test_texts_carry_the_unit_and_a_true_minus() -> None:
    dial = as_dial("t", Control([-1.5, 2.0], unit="°C"))
    assert dial.texts == ("−1.5\u00a0°C", "2\u00a0°C")


def test_texts_use_more_digits_where_four_do_not_tell_values_apart() -> None:
    assert as_dial("t", [1.00001, 1.00002]).texts == ("1.00001", "1.00002")
    assert as_dial("t", [1 / 3, 1.0]).texts == ("0.3333", "1")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_different_numbers_always_have_different_texts(values: list[float]) -> None:
    texts = as_dial("x", values).texts
    assert len(set(texts)) == len(values)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6).filter(bool), st.integers(2, 80))
def test_a_range_runs_from_start_to_stop(start: int, width: int, count: int) -> None:
    values = as_dial("x", (start, start + width, count)).values
    assert (values[0], values[-1], len(set(values))) == (start, start + width, count)
    np.testing.assert_allclose(values, np.linspace(start, start + width, count), rtol=1e-11)


@pytest.mark.parametrize(
    ("given_control", "error", "message"),
    [
        ([], ValueError, "control n is empty"),
        (np.array([]), ValueError, "control n is empty"),
        ([1, 2, 1], ValueError, "control n holds 1 twice"),
        ([1, 1.0], ValueError, "control n holds 1.0 twice"),
        (["a", "a"], ValueError, "control n holds 'a' twice"),
        ([1, "a"], TypeError, "either numbers or strings"),
        ([True, False], TypeError, "for a checkbox give True or False"),
        ([1.0, float("nan")], ValueError, "control n holds nan"),
        ([1.0, float("inf")], ValueError, "control n holds inf"),
        ([1j], TypeError, "either numbers or strings"),
        ((0, float("inf"), 3), ValueError, "control n holds inf"),
        ((0, float("nan"), 3), ValueError, "control n holds nan"),
        ((0, 1), TypeError, r"\(start, stop, count\)"),
        ((0, 1, "3"), TypeError, r"\(start, stop, count\)"),
        (("a", "b", "c"), TypeError, "for listed values use a list"),
        ((0, 1, 2.5), TypeError, "control n: count must be an integer >= 2"),
        ((0, 1, 1), ValueError, "control n: count=1"),
        ((1, 1, 3), ValueError, "start and stop are both 1"),
        ("abc", TypeError, "control n must be a list of numbers"),
        (3, TypeError, "control n must be a list of numbers"),
        (None, TypeError, "got None"),
        ({1: 2}, TypeError, "control n must be a list of numbers"),
        (Control([1, 2], default=3), ValueError, r"default=3 is not among its values \[1, 2\]"),
        (Control(True, default=False), ValueError, "a checkbox starts with its value, here True"),
        (Control([1], label=3), TypeError, "label must be a string, got 3"),
        (Control([1], unit=None), TypeError, "unit must be a string, got None"),
        (Control([1], help=b""), TypeError, "help must be a string"),
    ],
)
def test_a_control_that_cannot_be_used(
    given_control: object, error: type[Exception], message: str
) -> None:
    calls: list[object] = []
    with pytest.raises(error, match=message):
        explore(lambda n: calls.append(n), n=given_control)
    assert not calls


# Arguments of explore


def test_at_least_one_control() -> None:
    with pytest.raises(ValueError, match="at least one control"):
        explore(bar)


def test_draw_must_be_callable() -> None:
    with pytest.raises(TypeError, match="draw must be callable, got 3"):
        explore(3, n=[1])  # type: ignore[arg-type]


def test_draw_must_take_the_controls() -> None:
    with pytest.raises(TypeError, match=r"draw cannot be called with the controls n, m: .*'m'"):
        explore(lambda n: bar(n), n=[1], m=[2])
    with pytest.raises(TypeError, match=r"draw cannot be called with the controls n: .*'level'"):
        explore(lambda n, level: bar(n), n=[1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"title": 3}, TypeError, "title must be a string or None, got 3"),
        ({"describe": "words"}, TypeError, "describe must be callable or None"),
        ({"dpi": 0}, ValueError, "dpi=0"),
        ({"dpi": "high"}, TypeError, "dpi must be"),
    ],
)
def test_other_arguments(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explore(bar, level=[1], **options)


def test_ten_thousand_combinations_are_refused_before_the_first_is_drawn() -> None:
    calls: list[object] = []
    message = r"controls a, b have 100 × 100 = 10000 combinations.* room for 80: give fewer"
    with pytest.raises(ValueError, match=message):
        explore(lambda a, b: calls.append(a), a=range(100), b=range(100))
    assert not calls


def test_eighty_frames_pass_and_eighty_one_do_not() -> None:
    assert len(explorer_module._read_controls(bar, {"level": range(80)})[0].values) == 80
    with pytest.raises(ValueError, match="81 = 81 combinations"):
        explorer_module._read_controls(bar, {"level": range(81)})


# Frames


def test_each_combination_has_the_frame_that_draw_gives() -> None:
    def draw(level: float, color: str, wide: bool) -> Figure:
        figure = Figure(figsize=(1.5, 1.0))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.bar([0], [level], color=color, width=0.8 if wide else 0.3)
        axes.set(xlim=(-1, 1), ylim=(0, 10))
        return figure

    html = explore(
        draw, level=Control([2, 5, 9], default=5), color=["tab:red", "tab:blue"], wide=True
    ).html
    page = Page(html)
    payload = page.payload()
    default = page.all("img")[0]["src"]
    assert default is not None
    payload["frames"][payload["frames"].index(None)] = default
    dials = [
        as_dial("level", [2, 5, 9]),
        as_dial("color", ["tab:red", "tab:blue"]),
        as_dial("wide", True),
    ]
    expected = [drawn(draw, **values_at(dials, at)) for at in all_positions(dials)]
    assert len(payload["shown"]) == len(expected) == 12
    for number, picture in zip(payload["shown"], expected, strict=True):
        errors = [np.abs(decode(payload["frames"][number]) - other).max() for other in expected]
        assert min(errors) <= frames.MAX_PALETTE_ERROR
        assert np.argmin(errors) == [np.array_equal(picture, p) for p in expected].index(True)
    np.testing.assert_allclose(
        decode(default), drawn(draw, level=5, color="tab:red", wide=True), atol=24
    )


def test_building_twice_gives_the_same_bytes() -> None:
    def build() -> str:
        return explore(bar, title="Bars", level=(1, 9, 5)).html

    assert build() == build()


def test_workers_give_the_same_bytes_as_this_process() -> None:
    # The style must reach the workers, and they must not touch this process's backend.
    with mpl.rc_context({"axes.facecolor": "#ffeecc", "savefig.bbox": "tight"}):
        here = explore(pyplot_curve, n=[2, 3, 4], n_jobs=1).html
        there = explore(pyplot_curve, n=[2, 3, 4], n_jobs=2).html
    assert here == there
    assert here != explore(pyplot_curve, n=[2, 3, 4], n_jobs=1).html


def pyplot_curve(n: int) -> None:
    plt.plot(np.arange(n))


def test_slow_frames_go_to_workers_and_quick_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Recorder(frames.Parallel):  # type: ignore[misc]
        def __init__(self, n_jobs: int, **options: Any) -> None:
            asked.append(n_jobs)
            super().__init__(n_jobs=1, **options)

    monkeypatch.setattr(frames, "Parallel", Recorder)
    explore(bar, level=[1, 2])
    assert asked == [1, 1, 1]
    monkeypatch.setattr(frames, "PARALLEL_FROM_SECONDS", 0.0)
    explore(bar, level=[1, 2])
    assert asked[3:] == [1, 1, -1]


def test_a_draw_that_cannot_be_sent_to_a_worker_is_drawn_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "PARALLEL_FROM_SECONDS", 0.0)
    lock = threading.Lock()

    def draw(level: float) -> Figure:
        with lock:
            return bar(level)

    html = explore(draw, level=[1, 2]).html
    assert html == explore(bar, level=[1, 2]).html


def test_a_cached_function_of_a_notebook_is_drawn_here(tmp_path: Path) -> None:
    # A worker looks for it in its own __main__, where it is not.
    script = tmp_path / "notebook.py"
    script.write_text(
        """
from functools import cache
from matplotlib.figure import Figure
from informed.explorer import explore, frames

@cache
def squares(n):
    return [k * k for k in range(n)]

def draw(n):
    figure = Figure(figsize=(2, 1))
    figure.add_subplot().plot(squares(n))
    return figure

frames.PARALLEL_FROM_SECONDS = 0.0
print(explore(draw, n=[2, 3, 4]))
""",
        encoding="utf-8",
    )
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=120
    )
    assert result.stdout.startswith("<static explorer")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_draw_are_shown_once(n_jobs: int) -> None:
    def draw(level: float) -> Figure:
        warnings.warn("the level is a guess", UserWarning, stacklevel=1)
        return bar(level)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        explore(draw, level=[1, 2, 3], n_jobs=n_jobs)
    assert [str(warning.message) for warning in caught] == ["the level is a guess"]
    assert caught[0].filename == __file__


def test_a_progress_bar_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    explore(bar, level=[1, 2, 3])
    assert capsys.readouterr().err == ""
    explore(bar, level=[1, 2, 3], verbose=True)
    assert "frames: 100%" in capsys.readouterr().err


def test_equal_pictures_are_stored_once() -> None:
    def draw(level: int, half: bool) -> Figure:
        return bar(level % 2 + 1)

    payload = Page(explore(draw, level=range(10), half=False).html).payload()
    assert len(payload["frames"]) == 2
    assert payload["shown"] == [0, 0, 1, 1] * 5


@pytest.mark.parametrize(
    ("image", "worst"),
    [
        (noise(60), 0),  # no palette holds so many colours: nothing may be lost
        (noise(300), 0),  # too many even to try
        (np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 9, 3)), 0),  # just enough
        (np.arange(512 * 3, dtype=np.uint16).reshape(16, 32, 3) // 6, frames.MAX_PALETTE_ERROR),
    ],
)
def test_a_picture_is_close_to_what_was_drawn(image: np.ndarray, worst: int) -> None:
    image = image.astype(np.uint8)
    _, data = frames.compress(Image.fromarray(image))
    decoded = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)
    assert np.abs(decoded - image).max() <= worst


def test_the_smaller_of_png_and_webp_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    image = frames.paint(bar, {"level": 3}, 100)
    media_type, data = frames.compress(image)
    monkeypatch.setattr("PIL.features.check", lambda name: False)
    other_type, other = frames.compress(image)
    assert (media_type, other_type) == ("image/webp", "image/png")
    assert len(data) < len(other)
    assert other.startswith(b"\x89PNG")
    assert b"tEXt" not in other


def test_size_on_the_page_does_not_depend_on_sharpness() -> None:
    coarse, fine = (Page(explore(bar, level=[1], dpi=dpi).html).all("img")[0] for dpi in (96, 192))
    assert (coarse["width"], coarse["height"]) == (fine["width"], fine["height"]) == ("144", "96")
    assert coarse["src"] is not None
    assert fine["src"] is not None
    assert decode(coarse["src"]).shape == (96, 144, 3)
    assert decode(fine["src"]).shape == (192, 288, 3)


def test_transparent_figures_get_a_white_ground() -> None:
    def draw(level: float) -> Figure:
        figure = Figure(figsize=(1, 1))
        figure.patch.set_alpha(0)
        figure.text(0.5, 0.5, "x")
        return figure

    source = Page(explore(draw, level=[1]).html).all("img")[0]["src"]
    assert source is not None
    assert decode(source)[0, 0].tolist() == [255, 255, 255]


def test_draw_may_use_the_current_figure_and_none_is_left_open() -> None:
    mine = plt.figure()

    def on_current(n: int) -> None:
        plt.plot(range(n))

    def on_its_own(n: int) -> None:
        plt.subplots()
        plt.subplots()[1].plot(range(n))

    try:
        assert explore(on_current, n=[3]).html == explore(on_its_own, n=[3]).html
        assert plt.get_fignums() == [mine.number]  # type: ignore[attr-defined]
        assert plt.gcf() is mine
        assert not mine.axes
    finally:
        plt.close(mine)


def test_a_failing_draw_says_where_and_leaves_no_figure_open() -> None:
    def draw(n: int) -> Figure:
        figure = plt.figure()
        figure.text(0, 0, str(1 / (n - 3)))
        return figure

    with pytest.raises(RuntimeError, match=r"draw\(n=3\) failed: ZeroDivisionError: ") as caught:
        explore(draw, n=[1, 2, 3])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert plt.get_fignums() == []


def test_a_draw_that_fails_in_a_worker_says_where() -> None:
    with pytest.raises(RuntimeError, match=r"draw\(n=3\) failed: ZeroDivisionError: "):
        explore(fails_at_three, n=[1, 2, 3], n_jobs=2)


def fails_at_three(n: int) -> Figure:
    return bar(1 / (n - 3))


@pytest.mark.parametrize("wrong", [3, "figure", [], plt.Axes])
def test_draw_must_return_a_figure(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"draw must return a matplotlib Figure.*draw\(n=1\)"):
        explore(lambda n: wrong, n=[1])


@pytest.mark.parametrize("draw", [lambda n: None, lambda n: Figure()])
def test_draw_must_draw(draw: Any) -> None:
    with pytest.raises(ValueError, match=r"draw\(n=1\) returned an empty figure"):
        explore(draw, n=[1])


def test_a_draw_without_a_seed_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"draw\(n=1\), called twice, .* fixed seed"):
        explore(lambda n: bar(rng.uniform(1, 9)), n=[1, 2])


def test_all_figures_must_have_one_size() -> None:
    def draw(n: int) -> Figure:
        figure = bar()
        figure.set_size_inches(n, 1)
        return figure

    message = r"draw\(n=2\) gave 192 × 96 and draw\(n=3\) gave 288 × 96"
    with pytest.raises(ValueError, match=message):
        explore(draw, n=[2, 3])


# Budgets


def noisy_picture(seed: int) -> Figure:
    figure = Figure(figsize=(4, 4))
    figure.add_axes((0, 0, 1, 1)).imshow(noise(480, seed), interpolation="none")
    return figure


def test_too_many_bytes_say_what_to_do() -> None:
    message = r"of 3 frames weighs \d\.\d\d MB, and 1.5 MB are allowed: give fewer values, a small"
    with pytest.raises(ValueError, match=message):
        explore(noisy_picture, seed=[1, 2, 3])


def test_the_explorers_of_a_page_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(explore(bar, level=[1, 2]).html)
    monkeypatch.setattr(explorer_module, "MAX_PAGE_BYTES", int(2.5 * size))
    for _ in range(2):  # the same once more: a cell that was run again
        explore(bar, level=[3, 4])
    message = r"weigh \d\.\d\d MB together.*another page.*reset_page\(\)"
    with pytest.raises(ValueError, match=message):
        explore(bar, level=[5, 6])
    reset_page()
    explore(bar, level=[5, 6])


# Words and HTML


def test_default_words_name_title_labels_values_and_units() -> None:
    html = explore(
        bar,
        title="Bars",
        level=Control([1, 2], label="height", unit="cm", default=2),
        wide=False,
    ).html
    page = Page(html)
    words = "Bars. height: 2\u00a0cm; wide: off"
    assert page.all("img")[0]["alt"] == words
    assert page.payload()["words"][2:] == [words, words.replace("off", "on")]
    # Where no controls are seen, the caption names the values.
    assert page.all("figcaption") == [{"class": "settings"}]
    assert ("figcaption", "height: 2\u00a0cm; wide: off") in page.texts


def test_describe_gives_alternative_text_and_caption() -> None:
    html = explore(bar, describe=lambda level: f"A bar of {level} cm.", level=[1, 2]).html
    page = Page(html)
    assert page.all("img")[0]["alt"] == "A bar of 1 cm."
    assert page.payload()["words"] == ["A bar of 1 cm.", "A bar of 2 cm."]
    assert page.all("figcaption") == [{}]
    assert ("figcaption", "A bar of 1 cm.") in page.texts


@pytest.mark.parametrize("words", [None, "", "  ", 3])
def test_describe_must_give_words(words: Any) -> None:
    with pytest.raises(TypeError, match=r"describe must return words.*'level': 1"):
        explore(bar, describe=lambda level: words, level=[1])


def test_a_failing_describe_says_where() -> None:
    with pytest.raises(RuntimeError, match=r"describe\(level=1\) failed: KeyError: 1"):
        explore(bar, describe=lambda level: {}[level], level=[1])


def test_strings_of_the_author_cannot_become_markup() -> None:
    html = explore(
        lambda kind, level: bar(),
        title=NASTY,
        describe=lambda kind, level: NASTY,
        kind=Control(["plain", NASTY], label=NASTY, help=NASTY),
        level=Control([1], unit=NASTY, label=NASTY),
    ).html
    page = Page(html)
    assert len(page.all("script")) == 2
    assert len(page.all("img")) == 1
    assert "onerror" not in page.all("img")[0]
    assert page.all("img")[0]["alt"] == NASTY
    assert page.all("div")[0]["aria-label"] == NASTY
    assert page.payload()["words"] == [NASTY, NASTY]
    assert page.all("input")[0]["aria-valuetext"] == f"1\u00a0{NASTY}"
    texts = [text for _, text in page.texts]
    assert texts.count(NASTY) == 6  # heading, two labels, help, option, caption


def test_controls_are_native_labelled_and_hidden_without_a_script() -> None:
    html = explore(
        bar,
        level=Control([1, 2, 3], default=2, help="How high."),
        kind=["a", "b"],
        wide=True,
    ).html
    page = Page(html)
    slider, switch = page.all("input")
    assert (slider["type"], slider["min"], slider["max"], slider["value"]) == (
        "range",
        "0",
        "2",
        "1",
    )
    assert switch["type"] == "checkbox"
    assert "checked" in switch
    assert len(page.all("select")) == 1
    assert len(page.all("label")) == 3
    assert re.findall(r"<label>.*?</label>", html, re.S) == re.findall(
        r"<label>.*?<(?:input|select) .*?</label>", html, re.S
    )
    assert "hidden" in next(d for d in page.all("div") if d.get("class") == "controls")
    assert slider["aria-describedby"] == page.all("p")[0]["id"]
    assert ("p", "How high.") in page.texts
    assert {"class": "unseen", "role": "status", "aria-live": "polite"} in page.all("span")


@pytest.mark.parametrize(
    ("controls", "buttons"),
    [
        ({"level": [1, 2, 3]}, 1),
        ({"level": [1]}, 0),
        ({"level": ["a", "b"]}, 0),
        ({"level": True}, 0),
        ({"level": [1, 2], "wide": False}, 0),
    ],
)
def test_play_is_for_one_slider(controls: Any, buttons: int) -> None:
    page = Page(explore(lambda **values: bar(), **controls).html)
    assert len(page.all("button")) == buttons


def test_names_follow_content() -> None:
    def names(html: str) -> set[str]:
        return {str(a["id"]) for _, a in Page(html).elements if "id" in a}

    one = explore(bar, level=Control([1, 2], help="?")).html
    variants = [
        explore(bar, level=Control([1, 3], help="?")).html,
        explore(bar, level=Control([1, 2], help="!")).html,
        explore(bar, level=Control([1, 2], help="?"), title="Bars").html,
        explore(bar, level=Control([1, 2], help="?"), describe=lambda level: "bar").html,
    ]
    seen = names(one)
    assert len(seen) == 2
    for variant in variants:
        assert not names(variant) & seen
        seen |= names(variant)


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = explore(bar, title="Bars", level=[1, 2]).html
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"//.*", "", html))
    assert "http" not in html


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1), st.text())
def test_any_text_survives_the_page(label: str, help_text: str) -> None:
    html = explorer_module.page.block(
        label,
        [as_dial("n", Control([1, 2], label=label, help=help_text))],
        [frames.Frame("image/png", b"x", 1, 1, label), frames.Frame("image/png", b"y", 1, 1, "")],
        caption=True,
    )
    parsed = Page(html.replace("\r", "&#13;"))
    assert parsed.payload()["words"][0] == label
    assert len(parsed.all("script")) == 2
    assert len(parsed.all("input")) == 1


# The display bundle, and how it is chosen


def test_a_static_explorer_shows_html_only() -> None:
    explorer = explore(bar, level=[1, 2])
    bundle = explorer._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"] == explorer.html
    assert re.fullmatch(r"<static explorer, \d+ kB of HTML>", bundle["text/plain"])


def test_a_live_explorer_shows_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "live")
    calls: list[float] = []

    def draw(level: float) -> Figure:
        calls.append(level)
        return bar(level)

    explorer = explore(draw, level=Control([1, 2, 3], default=2))
    assert calls == [2]  # no frame but the one that is seen
    bundle = explorer._repr_mimebundle_()
    view = bundle["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == explorer.widget.model_id
    assert repr(explorer).startswith("<live explorer")
    page = Page(bundle["text/html"])
    assert page.all("script") == []
    assert page.all("input") == []
    source = page.all("img")[0]["src"]
    assert source is not None
    np.testing.assert_array_equal(decode(source), drawn(bar, level=2))


def test_an_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "yes")
    with pytest.raises(ValueError, match=r"INFORMED_EXPLORER='yes' .*\['live', 'static'\]"):
        explore(bar, level=[1])


@pytest.mark.parametrize(
    ("shell", "live"),
    [
        (None, False),
        (types.SimpleNamespace(), False),
        (types.SimpleNamespace(kernel=types.SimpleNamespace()), False),
        ({}, False),
        ({"content": {"allow_stdin": False}}, False),
        ({"content": {"allow_stdin": True}}, True),
    ],
)
def test_live_means_that_somebody_could_answer(
    monkeypatch: pytest.MonkeyPatch, shell: Any, live: bool
) -> None:
    monkeypatch.delenv("INFORMED_EXPLORER")
    if isinstance(shell, dict):
        request = shell
        kernel = types.SimpleNamespace(get_parent=lambda channel: request)
        shell = types.SimpleNamespace(kernel=kernel)
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert explorer_module._is_live() is live


def test_a_script_without_ipython_is_static_and_imports_stay_light() -> None:
    code = (
        "import sys\n"
        "import informed.explorer as e\n"
        "assert e._is_live() is False\n"
        "print(sorted({'matplotlib', 'ipywidgets', 'IPython', 'PIL', 'lifelines'}"
        " & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={}
    )
    assert result.stdout.strip() == "[]"


def run_notebook(source: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("INFORMED_EXPLORER")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return notebook


NOTEBOOK = """
import matplotlib.pyplot as plt
from informed.explorer import explore
def draw(n):
    plt.plot(range(n), [1 / (5 - k) for k in range(n)])
explore(draw, n=[2, 3, {last}], n_jobs=2)
"""


def test_a_notebook_that_is_only_run_gets_the_static_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notebook = run_notebook(NOTEBOOK.format(last=4), monkeypatch)
    (output,) = notebook.cells[0].outputs  # one: no figure was shown on the side
    assert set(output.data) == {"text/plain", "text/html"}
    assert len(Page(output.data["text/html"]).payload()["shown"]) == 3
    assert "widgets" not in notebook.metadata


def test_a_failing_draw_fails_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CellExecutionError, match=r"draw\(n=6\) failed: ZeroDivisionError"):
        run_notebook(NOTEBOOK.format(last=6), monkeypatch)


# The live widget, without a front end


def live_explorer(monkeypatch: pytest.MonkeyPatch, draw: Any, **options: Any) -> Explorer:
    monkeypatch.setenv("INFORMED_EXPLORER", "live")
    explorer = explore(draw, **options)
    assert isinstance(explorer.widget, ipywidgets.VBox)
    return explorer


def find(explorer: Explorer, kind: type) -> Any:
    (widget,) = [child for child in explorer.widget.children if type(child) is kind]
    return widget


def seen(explorer: Explorer) -> np.ndarray:
    picture = find(explorer, ipywidgets.Image)
    assert picture.format == "png"
    return np.asarray(Image.open(io.BytesIO(picture.value)).convert("RGB"), dtype=int)


def test_each_move_of_each_control_draws_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(level: int, color: str, wide: bool) -> Figure:
        figure = bar(level)
        figure.axes[0].set_facecolor(color)
        figure.axes[0].set_xlim(-1, 1 if wide else 2)
        return figure

    explorer = live_explorer(
        monkeypatch,
        draw,
        title="<Bars>",
        describe=lambda level, color, wide: f"{level} < {color}",
        level=Control([1, 5, 9], label="<b>height</b>", unit="cm", help="How high."),
        color=["white", "yellow"],
        wide=True,
    )
    slider = find(explorer, ipywidgets.SelectionSlider)
    dropdown = find(explorer, ipywidgets.Dropdown)
    checkbox = find(explorer, ipywidgets.Checkbox)
    heading, fault, caption = [
        child for child in explorer.widget.children if type(child) is ipywidgets.HTML
    ]
    assert slider.options == (("1\u00a0cm", 1), ("5\u00a0cm", 5), ("9\u00a0cm", 9))
    assert slider.continuous_update
    assert slider.tooltip == "How high."
    assert not slider.description_allow_html
    assert heading.value == "<strong>&lt;Bars&gt;</strong>"

    def check(**values: Any) -> None:
        np.testing.assert_array_equal(seen(explorer), drawn(draw, **values))
        words = f"{values['level']} &lt; {values['color']}"
        assert caption.value == f'<div role="status">{words}</div>'
        assert fault.layout.display == "none"

    check(level=1, color="white", wide=True)
    slider.value = 9
    check(level=9, color="white", wide=True)
    dropdown.value = "yellow"
    check(level=9, color="yellow", wide=True)
    checkbox.value = False
    check(level=9, color="yellow", wide=False)
    slider.value = 1
    check(level=1, color="yellow", wide=False)
    assert plt.get_fignums() == []


def test_an_error_takes_the_place_of_the_picture_until_a_call_succeeds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def draw(n: int) -> Figure:
        if n == 2:
            raise LookupError("<no such n>")
        return bar(n)

    explorer = live_explorer(monkeypatch, draw, n=[1, 2, 3])
    slider = find(explorer, ipywidgets.SelectionSlider)
    picture = find(explorer, ipywidgets.Image)
    fault, caption = [c for c in explorer.widget.children if type(c) is ipywidgets.HTML]
    assert "clip-path" in caption.value  # the controls show it already
    assert ">n: 1</div>" in caption.value
    slider.value = 2
    assert fault.layout.display == "block"
    assert "<summary>draw(n=2) failed: LookupError: &lt;no such n&gt;</summary>" in fault.value
    assert "raise LookupError" in fault.value
    assert "<no such n>" not in fault.value
    assert picture.layout.visibility == "hidden"
    assert capsys.readouterr() == ("", "")
    slider.value = 3
    assert fault.layout.display == "none"
    assert picture.layout.visibility == "visible"
    np.testing.assert_array_equal(seen(explorer), drawn(draw, n=3))


def test_a_default_that_fails_is_raised_in_a_live_kernel_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "live")
    with pytest.raises(RuntimeError, match=r"draw\(n=3\) failed"):
        explore(fails_at_three, n=[3, 4])


def test_a_wrong_return_value_shows_in_the_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = live_explorer(monkeypatch, lambda n: bar() if n == 1 else "bar", n=[1, 2])
    find(explorer, ipywidgets.SelectionSlider).value = 2
    fault = explorer.widget.children[1]
    assert "draw must return a matplotlib Figure" in fault.value
