"""A live explorer: a Jupyter server, a kernel, JupyterLab in a browser, a slider that is moved."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import numpy as np
import pytest
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DRAW = """
from matplotlib.figure import Figure

def draw(level):
    if level == 7:
        raise LookupError("no bar of seven")
    figure = Figure(figsize=(4, 2))
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.bar([0], [level], color="tab:blue")
    axes.set(ylim=(0, 10), title=f"level {level}")
    return figure
"""
EXPLORE = """
from informed.teaching.explorer import explore

explore(draw, title="Levels", level=[2, 5, 7, 9])
"""
SECONDS = 120


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the notebook in a JupyterLab of our own, with settings of nobody."""
    home = tmp_path_factory.mktemp("lab")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(DRAW + EXPLORE)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, notebooks / "levels.ipynb")
    folders = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    environment = {**os.environ, **{name: str(home / name.lower()) for name in folders}}
    environment.pop("INFORMED_EXPLORER", None)
    token = "explorer-test"
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                *[sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"],
                f"--ServerApp.root_dir={notebooks}",
                "--ServerApp.ip=127.0.0.1",
                "--ServerApp.port=0",
                f"--IdentityProvider.token={token}",
                "--LabApp.extension_manager=readonly",
            ],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        address = wait_for(
            lambda: address_of(server, Path(environment["JUPYTER_RUNTIME_DIR"])),
            f"a Jupyter server; its log is {home / 'log'}",
        )
        yield f"{address}lab/tree/levels.ipynb?token={token}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def address_of(server: subprocess.Popen[bytes], runtime: Path) -> str | None:
    """Return the server's address once it answers there."""
    assert server.poll() is None, "the Jupyter server ended before it answered"
    try:
        info = json.loads((runtime / f"jpserver-{server.pid}.json").read_text())
        with urllib.request.urlopen(f"{info['url']}api", timeout=10) as answer:
            return str(info["url"]) if answer.status == 200 else None
    except (OSError, ValueError):
        return None


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Return the first true value of `condition`."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.2)
    pytest.fail(f"waited {SECONDS} s in vain for {what}")


def drawn(level: int) -> np.ndarray:
    """Draw what the notebook draws, in this process."""
    namespace: dict[str, Any] = {}
    exec(DRAW, namespace)
    buffer = io.BytesIO()
    namespace["draw"](level).savefig(buffer, format="png", dpi=120)
    return np.asarray(Image.open(buffer).convert("RGB"), dtype=int)


def shown(page: Page) -> np.ndarray:
    data = page.locator("img.widget-image").evaluate(
        "async image => { await image.decode();"
        " const bytes = new Uint8Array(await (await fetch(image.src)).arrayBuffer());"
        " return btoa(String.fromCharCode(...bytes)); }"
    )
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), dtype=int)


def shows(page: Page, level: int) -> bool:
    from playwright.sync_api import Error

    try:
        return bool(np.array_equal(shown(page), drawn(level)))
    except Error:
        return False  # the picture was being replaced at this very moment


def started(page: Page) -> bool:
    """Run the cell, unless it runs already.

    JupyterLab calls a kernel idle before it is connected to it, and forgets what it was asked to
    run in between. While it starts, a dialog or the splash screen may also be in the way.
    """
    from playwright.sync_api import Error

    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    try:
        if page.locator(".jp-Dialog").is_visible():
            page.locator(".jp-Dialog .jp-mod-accept").click(timeout=2000)
        if cell.locator(".jp-InputPrompt").inner_text(timeout=2000).strip() == "[ ]:":
            cell.locator(".cm-content").click(timeout=2000)
            page.keyboard.press("Control+Enter")
    except Error:
        return False
    return page.locator(".jp-OutputArea-output").count() > 0


def test_a_slider_moves_a_figure_in_jupyterlab(browser: Browser, lab: str) -> None:
    with browser.new_context(viewport={"width": 1200, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.goto(lab)
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()
        wait_for(lambda: started(page), "the cell to run")
        picture = page.locator("img.widget-image")
        picture.wait_for()
        assert page.get_by_text("Levels", exact=True).is_visible()
        wait_for(lambda: shows(page, 2), "the default figure")

        thumb = page.locator(".widget-slider [role=slider]")
        thumb.focus()
        thumb.press("ArrowRight")
        wait_for(lambda: shows(page, 5), "the figure of the second value")

        # An error is shown in the widget, in place of the picture, and the next move mends it.
        thumb.press("ArrowRight")
        page.get_by_text("draw(level=7) failed: LookupError: no bar of seven").wait_for()
        picture.wait_for(state="hidden")
        thumb.press("ArrowRight")
        wait_for(lambda: picture.is_visible() and shows(page, 9), "the figure of the last value")
        page.get_by_text("failed: LookupError").first.wait_for(state="hidden")
