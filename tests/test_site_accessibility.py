"""The built site for everybody: no fault that axe-core knows, and a name for every control."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest
from browsing import (
    CHAPTERS,
    PAGES,
    Visit,
    is_chapter,
    opened,  # noqa: F401
    show_in,
    visit,
)
from playwright.sync_api import Browser, Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async tags => {
    const found = await axe.run(document, {
        runOnly: {type: 'tag', values: tags},
        rules: {'label-content-name-mismatch': {enabled: true}},
        resultTypes: ['violations'],
    });
    return found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 160)}`));
}"""


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which a test package carries."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


# Sections far from the reader have sizes that were guessed; axe is to measure what readers see.
LAID_OUT = ".bd-article > section > section { content-visibility: visible !important; }"


def faults(page: Page, axe: str) -> list[str]:
    page.add_style_tag(content=LAID_OUT)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    page.add_script_tag(content=axe)
    found: list[str] = page.evaluate(RUN, TAGS)
    return found


def test_axe_sees_a_fault(browser: Browser, axe: str) -> None:
    page = browser.new_page()
    page.set_content('<html lang="en"><title>t</title><main><img src="x.png"><input></main>')
    found = faults(page, axe)
    page.close()
    assert {"image-alt", "label"} <= {each.partition(":")[0] for each in found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_has_no_fault(opened: Visit, scheme: Literal["light", "dark"], axe: str) -> None:
    show_in(opened, scheme)
    assert faults(opened.page, axe) == []


CONTROLS = ("button", "checkbox", "combobox", "link", "radio", "slider", "spinbutton", "textbox")


def nameless(tree: str) -> list[str]:
    """Return the controls of an accessibility tree, as Playwright writes it, that have no name."""
    lines = [line.strip().removeprefix("- ") for line in tree.splitlines()]
    return [
        line for line in lines if re.fullmatch(rf"({'|'.join(CONTROLS)})( \[[^]]*\])*(:.*)?", line)
    ]


def test_a_control_without_a_name_is_seen(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<button></button><button>Go</button><input type=range>")
    assert nameless(page.locator("body").aria_snapshot()) == ["button", 'slider: "50"']
    page.close()


def test_every_control_has_a_name(opened: Visit) -> None:
    assert nameless(opened.page.locator("body").aria_snapshot()) == []


def test_formulas_can_be_heard_and_are_no_tab_stops(opened: Visit) -> None:
    formulas = opened.page.locator("mjx-container")
    if is_chapter(opened):
        assert formulas.count() > 10
    assert opened.page.locator("mjx-container[tabindex]").count() == 0
    spoken = opened.page.locator("mjx-container > mjx-assistive-mml > math")
    assert spoken.count() == formulas.count()


@pytest.mark.parametrize("name", PAGES)
def test_an_id_occurs_once(name: str, site: Path) -> None:
    page = (site / name).read_text(encoding="utf-8")
    page = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    counts = Counter(re.findall(r'\sid="([^"]+)"', page))
    assert [each for each, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_nothing_moves_where_the_reader_asked_for_rest(
    name: str, browser: Browser, site_url: str
) -> None:
    address = f"{site_url}/{name}.html"
    with visit(browser, address, mathematics=False, reduced_motion="reduce") as this:
        moving = this.page.evaluate(
            """() => [...document.querySelectorAll('*')].filter(element => {
                const style = getComputedStyle(element);
                return style.transitionDuration.split(',').some(each => parseFloat(each) > 0)
                    || style.animationName !== 'none';
            }).length"""
        )
        assert moving == 0
