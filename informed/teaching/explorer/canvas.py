"""From a matplotlib figure to pixels, for many figures of one size, one after the other."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from PIL import Image

# Matplotlib remembers how wide a text is, and how a formula is set, as long as the renderer lives.
# The last one waits here for the next figure of its size. Who draws takes it out meanwhile, so that
# no two threads share it and none comes back that a failure has left half done.
_waiting: dict[Hashable, RendererAgg] = {}


class _Canvas(FigureCanvasAgg):
    """Takes over the renderer of an earlier figure of the same size, if there is one."""

    _taken: RendererAgg | None = None

    def get_renderer(self) -> RendererAgg:
        if self._taken is None:
            waiting = _waiting.pop(self._size(), None)
            self._taken = waiting or super().get_renderer()  # type: ignore[no-untyped-call]
        return self._taken

    def leave_renderer(self) -> None:
        """Let the next figure have it."""
        _waiting.clear()
        _waiting[self._size()] = self.get_renderer()

    def _size(self) -> Hashable:
        return (*self.figure.bbox.size, self.figure.dpi)


def pixels(figure: Figure, dpi: float) -> Image.Image:
    """Return what ``figure.savefig`` would write, in colours with opacity and never cropped.

    The figure is laid out and drawn once, where ``savefig`` does so twice. It keeps its canvas, its
    colour and its resolution.
    """
    kept, resolution, ground = figure.canvas, figure.dpi, figure.get_facecolor()
    canvas = _Canvas(figure)
    try:
        figure.set_dpi(dpi)
        if rcParams["savefig.facecolor"] != "auto":
            figure.set_facecolor(rcParams["savefig.facecolor"])
        canvas.draw()  # type: ignore[no-untyped-call]
        drawn = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
        image = Image.fromarray(np.array(drawn))
        canvas.leave_renderer()
    finally:
        figure.set_facecolor(ground)
        figure.set_dpi(resolution)
        figure.set_canvas(kept)
    return image
