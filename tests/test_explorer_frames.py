"""Frames of an explorer: what is drawn, by whom, how heavy."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from explorers import Page, bar, decode, drawn, fails_at_three, static_page  # noqa: F401
from matplotlib.figure import Figure
from PIL import Image

from informed.parallel import iterate_tasks
from informed.teaching.explorer import Control, explore, frames
from informed.teaching.explorer import page as page_module
from informed.teaching.explorer.controls import all_positions, as_dial, values_at

pytestmark = pytest.mark.usefixtures("static_page")


def noise(side: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size=(side, side, 3), dtype=np.uint8)


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


@pytest.mark.parametrize("ground", ["auto", "#ccddee"])
def test_a_figure_is_drawn_as_matplotlib_saves_it(ground: str) -> None:
    # One after the other, so that they share a renderer; two sizes, so that some do not.
    def labelled(height: int, level: int) -> Figure:
        figure, axes = plt.subplots(figsize=(2, height), dpi=70, layout="constrained")
        plt.close(figure)
        axes.set(yscale="log", ylim=(0.1, 10.0**level), title=rf"$\sum x_{level}$", ylabel="height")
        return figure

    with mpl.rc_context({"savefig.facecolor": ground}):
        for height, level in [(1, 2), (1, 5), (2, 5), (2, 2), (1, 2)]:
            image = frames.paint(labelled, {"height": height, "level": level}, 120)
            np.testing.assert_array_equal(image, drawn(labelled, height=height, level=level))


def test_a_figure_that_draw_keeps_is_left_as_it_was() -> None:
    figure = plt.figure(figsize=(2, 1), dpi=70, facecolor="#ccddee")
    canvas = figure.canvas
    figure.text(0.5, 0.5, "kept")
    with mpl.rc_context({"savefig.facecolor": "white"}):
        assert frames.paint(lambda n: figure, {"n": 1}, 120).getpixel((0, 0)) == (255, 255, 255)
    assert (figure.canvas, figure.dpi) == (canvas, 70)
    assert mpl.colors.to_hex(figure.get_facecolor()) == "#ccddee"
    plt.close(figure)


def test_a_drawing_that_fails_half_way_spoils_no_later_one() -> None:
    class Unfinished(mpl.text.Text):
        def draw(self, renderer: Any) -> None:
            renderer.start_filter()
            raise ArithmeticError("half way")

    def draw(broken: bool) -> Figure:
        figure = bar(3)
        if broken:
            figure.add_artist(Unfinished(0.5, 0.5, "x"))
        return figure

    good = frames.paint(draw, {"broken": False}, 120)
    with pytest.raises(ArithmeticError, match="half way"):
        frames.paint(draw, {"broken": True}, 120)
    assert frames.paint(draw, {"broken": False}, 120) == good


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

    def recorder(*args: Any, n_jobs: int, **options: Any) -> Iterator[Any]:
        asked.append(n_jobs)
        return iterate_tasks(*args, n_jobs=1, **options)

    monkeypatch.setattr(frames, "iterate_tasks", recorder)
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
from informed.teaching.explorer import explore, frames

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


def test_webp_is_smaller_than_the_png_that_stands_in_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    blocks = [explore(bar, level=[start, start + 1]).html for start in (1, 3, 5)]
    monkeypatch.setattr(page_module, "MAX_PAGE_BYTES", len(blocks[0]) + len(blocks[1]))
    others = ["<p>text</p>" * 1000]
    assert page_module.overweight(blocks[:2] + others) is None
    assert re.search(
        r"weigh \d\.\d\d MB together.*another page", page_module.overweight(blocks) or ""
    )


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
