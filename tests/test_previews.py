"""Previews of references: collected by the build, shown by pointing, by keyboard and by a tap."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT

from informed.teaching.explorer.pack import packed_script, page_style

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sys.path.insert(0, str(ROOT / "tools"))
import previews

ONE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>one</title>
<link rel="icon" href="data:,"></head>
<body><main><article><h1>One</h1>
<p>By <a class="reference internal" href="two.html#thm-a">Theorem 2.1</a> and
<a class="reference internal" href="#equation-e">(1)</a>, see
<a class="reference internal" href="two.html#term-x">x</a>,
<a class="reference internal" href="two.html#id7">Author (2000)</a>,
<a class="reference internal" href="two.html#section">a section</a> and
<a class="reference internal" href="gone.html#thm-b">nothing</a>.</p>
<div class="math notranslate" id="equation-e"><div>a = b</div>
<a class="headerlink" href="#equation-e">#</a></div>
<p id="end">End.</p></article></main></body></html>"""
TWO = """<!doctype html><html><head></head><body><article>
<section id="section"><h2>Section</h2><div class="proof theorem admonition" id="thm-a">
<p>If <a href="#term-x">x</a>, then <span id="inner">y</span>.</p><div>So <div>it</div> is.</div>
</div></section>
<dl><dt id="term-x">x</dt><dd><p>A letter.</p></dd><dt id="term-z">z</dt><dd>no</dd></dl>
<div class="citation" id="id7"><span class="backrefs">(1,2)</span><p>Author. Title.</p></div>
</article></body></html>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    (site / "book").mkdir()
    (site / "_static").mkdir()
    (site / "book" / "one.html").write_text(ONE, encoding="utf-8")
    (site / "book" / "two.html").write_text(TWO, encoding="utf-8")
    (site / "_static" / "informed.js").write_text(packed_script(), encoding="utf-8")
    (site / "_static" / "informed.css").write_text(page_style(), encoding="utf-8")
    previews.write_previews(site)
    return site


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    page = browser.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto((folder / "book" / "one.html").as_uri())
    yield page
    page.close()


def test_the_build_collects_what_stands_behind_references(folder: Path) -> None:
    script = (folder / "_static" / "previews" / "one.js").read_text("utf-8")
    found = json.loads(script[script.index("(") + 1 : script.rindex(")")])
    assert set(found) == {"two.html#thm-a", "#equation-e", "two.html#term-x", "two.html#id7"}
    theorem = found["two.html#thm-a"]
    assert theorem.startswith('<div class="proof theorem admonition">')
    assert theorem.count("<div") == theorem.count("</div") == 3
    assert 'href="two.html#term-x"' in theorem
    assert "id=" not in theorem
    assert found["two.html#term-x"] == "<dt>x</dt><dd><p>A letter.</p></dd>"
    assert "headerlink" not in found["#equation-e"]
    assert "backrefs" not in found["two.html#id7"]
    # A page without references is left as it is.
    assert (folder / "book" / "two.html").read_text("utf-8") == TWO


def test_pointing_at_a_reference_shows_it_and_leaving_hides_it(page: Page) -> None:
    box = page.locator(".informed-preview")
    link = page.get_by_role("link", name="Theorem 2.1")
    assert not box.is_visible()
    link.hover()
    box.wait_for(state="visible")
    assert "So it is." in " ".join(box.inner_text().split())
    assert link.get_attribute("aria-describedby") == "informed-preview"
    # The preview itself may be pointed at: it stays.
    box.hover()
    page.wait_for_timeout(600)
    assert box.is_visible()
    page.locator("#end").hover()
    box.wait_for(state="hidden")
    assert link.get_attribute("aria-describedby") is None
    # What has no preview shows none.
    page.get_by_role("link", name="a section").hover()
    page.wait_for_timeout(600)
    assert not box.is_visible()


def test_by_keyboard_and_escape(page: Page) -> None:
    box = page.locator(".informed-preview")
    page.keyboard.press("Tab")
    box.wait_for(state="visible")
    page.keyboard.press("Escape")
    assert not box.is_visible()
    page.keyboard.press("Tab")
    box.wait_for(state="visible")
    assert "a = b" in box.inner_text()
    inside = page.evaluate(
        "(() => { const b = document.querySelector('.informed-preview').getBoundingClientRect();"
        " return b.left >= 0 && b.right <= innerWidth; })()"
    )
    assert inside


def test_a_link_that_has_the_focus_before_the_page_listens(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => {"
        " document.querySelector('a').focus({focusVisible: true}); });"
    )
    page.goto((folder / "book" / "one.html").as_uri())
    page.locator(".informed-preview").wait_for(state="visible")
    page.close()


def test_by_a_tap(browser: Browser, folder: Path) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto((folder / "book" / "one.html").as_uri())
    page.get_by_role("link", name="Theorem 2.1").tap()
    box = page.locator(".informed-preview")
    box.wait_for(state="visible")
    assert page.url.endswith("one.html")
    page.get_by_role("link", name="Go there").tap()
    page.wait_for_url("**/two.html#thm-a")
    page.go_back()
    # What has no preview is followed at once.
    page.get_by_role("link", name="a section").tap()
    page.wait_for_url("**/two.html#section")
    context.close()
