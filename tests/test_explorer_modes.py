"""Static or live: who decides, and what a live explorer does."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from explorers import Page, bar, decode, drawn, fails_at_three, find, seen, static_page  # noqa: F401
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import informed.teaching.explorer as explorer_module
from informed.teaching.explorer import Control, Explorer, explore

pytestmark = pytest.mark.usefixtures("static_page")


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


def test_both_modes_at_once_show_the_static_page_and_build_the_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    static = explore(bar, level=Control([1, 2, 3], default=2))
    built: list[Any] = []
    build = explorer_module.live.build_widget
    monkeypatch.setattr(
        explorer_module.live,
        "build_widget",
        lambda *args, **options: built.append(build(*args, **options)),
    )
    monkeypatch.setenv("INFORMED_EXPLORER", "both")
    both = explore(bar, level=Control([1, 2, 3], default=2))
    assert isinstance(built[0], ipywidgets.VBox)
    assert both.widget is None
    assert Page(both.html).payload()["shown"] == Page(static.html).payload()["shown"]


def test_an_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFORMED_EXPLORER", "yes")
    with pytest.raises(ValueError, match=r"INFORMED_EXPLORER='yes' .*\['both', 'live', 'static'\]"):
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
    assert explorer_module._somebody_is_there() is live


def test_a_script_without_ipython_is_static_and_imports_stay_light() -> None:
    code = (
        "import sys\n"
        "import informed.teaching.explorer as e\n"
        "assert e._wanted_mode() == 'static'\n"
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
from informed.teaching.explorer import explore
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
