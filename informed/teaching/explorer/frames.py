"""From a call of `draw` to a small picture, and all pictures of an explorer at once."""

from __future__ import annotations

import gc
import io
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from informed.parallel import iterate_tasks
from informed.progress import progress_bar
from informed.teaching.explorer.controls import Value, written_call

if TYPE_CHECKING:
    from PIL.Image import Image

# A palette keeps text and thin lines sharp. This many levels of 255, at the worst pixel, cannot be
# seen; a picture that loses more keeps all its colours.
MAX_PALETTE_ERROR = 24
# With more than these the search for a palette takes seconds, and hardly ever finds one.
MAX_COLORS_TO_REDUCE = 2**16
# Starting workers takes seconds, so they must have more than that to do.
PARALLEL_FROM_SECONDS = 10.0
# A length in CSS is meant for 96 dots per inch.
CSS_DPI = 96


@dataclass(frozen=True)
class Frame:
    """One compressed picture, its size on the page in CSS pixels, and words that stand for it."""

    media_type: str
    data: bytes
    width: int
    height: int
    words: str


def paint(draw: Callable[..., Any], values: Mapping[str, Value], dpi: float) -> Image:
    """Call `draw` and return what it drew, opaque.

    Every figure that it opened through pyplot is closed again, also when it fails.
    """
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from PIL import Image

    from informed.teaching.explorer.canvas import pixels

    open_before = set(plt.get_fignums())
    try:
        plt.figure()
        try:
            drawn = draw(**values)
        except Exception as error:
            raise RuntimeError(
                f"{written_call(values)} failed: {type(error).__name__}: {error}"
            ) from error
        figure = plt.gcf() if drawn is None else drawn
        if not isinstance(figure, Figure):
            raise TypeError(
                "draw must return a matplotlib Figure, or nothing if it draws on the current one; "
                f"{written_call(values)} returned {drawn!r} of type {type(drawn).__name__}"
            )
        if len(figure.get_children()) == 1:  # the background
            raise ValueError(f"{written_call(values)} returned an empty figure: it must draw")
        layered = pixels(figure, dpi)
    finally:
        for number in set(plt.get_fignums()) - open_before:
            plt.close(number)
    white = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(white, layered).convert("RGB")


def as_png(image: Image) -> tuple[str, bytes]:
    """Return the media type and the bytes of a picture, fast and without loss."""
    return "image/png", _saved(image, format="PNG", compress_level=1)


def compress(image: Image) -> tuple[str, bytes]:
    """Return the media type and the bytes of a small form of a picture.

    WebP without loss, or palette PNG where Pillow has no WebP; of 256 colours if that cannot be
    seen.
    """
    from PIL import Image, ImageChops, features

    palette = reduced = image
    if image.getcolors(MAX_COLORS_TO_REDUCE) is not None:
        palette = image.quantize(
            256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE, kmeans=0
        )
        reduced = palette.convert("RGB")
        if np.asarray(ImageChops.difference(image, reduced)).max() > MAX_PALETTE_ERROR:
            palette = reduced = image
    if features.check("webp"):
        # More effort hardly ever makes it smaller.
        return "image/webp", _saved(reduced, format="WEBP", lossless=True, quality=80, method=3)
    return "image/png", _saved(palette, format="PNG", optimize=True)


def draw_frame(
    draw: Callable[..., Any],
    describe: Callable[..., str],
    values: Mapping[str, Value],
    dpi: float,
    encode: Callable[[Image], tuple[str, bytes]],
) -> Frame:
    """Draw, describe and encode one combination."""
    image = paint(draw, values, dpi)
    words = put_into_words(describe, values)
    media_type, data = encode(image)
    width, height = (round(pixels * CSS_DPI / dpi) for pixels in image.size)
    return Frame(media_type, data, width, height, words)


def put_into_words(describe: Callable[..., str], values: Mapping[str, Value]) -> str:
    """Call `describe` and check that it gave words."""
    try:
        words = describe(**values)
    except Exception as error:
        call = written_call(values).replace("draw", "describe", 1)
        raise RuntimeError(f"{call} failed: {type(error).__name__}: {error}") from error
    if not isinstance(words, str) or not words.strip():
        raise TypeError(f"describe must return words, got {words!r} for {dict(values)}")
    return words


def draw_frames(
    draw: Callable[..., Any],
    describe: Callable[..., str],
    combinations: Sequence[Mapping[str, Value]],
    default: int,
    *,
    dpi: float,
    n_jobs: int | None,
    verbose: bool,
) -> list[Frame]:
    """Draw every combination, in parallel when that takes long.

    The default combination is drawn twice: to see how long one takes, and that the same values
    give the same picture.
    """
    from matplotlib import rcParams

    # The reader's style must reach the workers; which backend they use is their own matter.
    style = {key: value for key, value in rcParams.copy().items() if "backend" not in key}
    already_warned: list[dict[str, Any]] = []

    def run(batch: Sequence[Mapping[str, Value]], workers: int, shown: bool) -> list[Frame]:
        results = iterate_tasks(
            _task,
            [(values,) for values in batch],
            n_jobs=workers,
            shared=(draw, describe, dpi, style, os.getpid()),
        )
        frames = []
        with _only_new_garbage(), progress_bar(len(batch), "frames", shown=shown) as bar:
            for frame, caught in results:
                frames.append(frame)
                bar.update(1)
                for warning in caught:
                    if warning not in already_warned:
                        already_warned.append(warning)
                        warnings.warn_explicit(**warning)
        return frames

    first = run([combinations[default]], 1, False)[0]
    start = time.perf_counter()
    again = run([combinations[default]], 1, False)[0]
    seconds = (time.perf_counter() - start) * (len(combinations) - 1)
    if first != again:
        raise ValueError(
            f"draw is not a function of its arguments: {written_call(combinations[default])}, "
            "called twice, gave two different pictures; give its random numbers a fixed seed"
        )
    rest = [values for index, values in enumerate(combinations) if index != default]
    if n_jobs is not None:
        frames = run(rest, n_jobs, verbose)
    else:
        try:
            frames = run(rest, -1 if seconds > PARALLEL_FROM_SECONDS else 1, verbose)
        except pickle.PickleError:
            # A closure over an open file cannot be sent to a worker; a cached function of a
            # notebook can, but the worker does not find its name.
            frames = run(rest, 1, verbose)
    frames.insert(default, first)
    for values, frame in zip(combinations, frames, strict=True):
        if (frame.width, frame.height) != (first.width, first.height):
            raise ValueError(
                "all figures must have one size, or the page would jump: "
                f"{written_call(combinations[default])} gave {first.width} × {first.height} and "
                f"{written_call(values)} gave {frame.width} × {frame.height} (CSS pixels)"
            )
    return frames


def _task(
    draw: Callable[..., Any],
    describe: Callable[..., str],
    dpi: float,
    style: Any,
    home: int,
    values: Mapping[str, Value],
) -> tuple[Frame, list[dict[str, Any]]]:
    """Draw one frame; return its warnings, which would be lost in a worker."""
    import matplotlib

    if os.getpid() != home:
        matplotlib.use("agg")
    with (
        warnings.catch_warnings(record=True) as caught,
        matplotlib.rc_context(style),
    ):
        warnings.simplefilter("always")
        frame = draw_frame(draw, describe, values, dpi, compress)
    return frame, [
        {
            "message": str(warning.message),
            "category": warning.category,
            "filename": warning.filename,
            "lineno": warning.lineno,
        }
        for warning in caught
    ]


@contextmanager
def _only_new_garbage() -> Iterator[None]:
    """Spare the garbage collector all that is there already.

    A figure leaves thousands of objects that refer to each other, so that it is called for each one
    and would go through everything that the notebook holds.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _saved(image: Image, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, **options)
    return buffer.getvalue()
