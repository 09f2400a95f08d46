"""Figures for explorers, and a reader of their pages."""

from __future__ import annotations

import base64
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import ipywidgets
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from informed.teaching.explorer import Explorer


@pytest.fixture
def static_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explorers as a page has them."""
    monkeypatch.setenv("INFORMED_EXPLORER", "static")


def bar(level: float = 1.0, **_: Any) -> Figure:
    """Draw one bar on a small figure, without pyplot."""
    figure = Figure(figsize=(1.5, 1.0))
    figure.add_axes((0.0, 0.0, 1.0, 1.0)).bar([0], [level], color="tab:blue")
    figure.axes[0].set_ylim(0, 10)
    return figure


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


def fails_at_three(n: int) -> Figure:
    return bar(1 / (n - 3))


def find(explorer: Explorer, kind: type) -> Any:
    (widget,) = [child for child in explorer.widget.children if type(child) is kind]
    return widget


def seen(explorer: Explorer) -> np.ndarray:
    picture = find(explorer, ipywidgets.Image)
    assert picture.format == "png"
    return np.asarray(Image.open(io.BytesIO(picture.value)).convert("RGB"), dtype=int)
