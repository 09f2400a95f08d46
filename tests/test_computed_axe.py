"""What computes on a page is for everybody: no fault that axe-core knows, before and after use."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from informed.teaching.exercises import registry
from informed.teaching.exercises.sealed import form
from informed.teaching.explorer import in_browser
from informed.teaching.explorer.pack import packed_script, page_style
from informed.teaching.proofs import assemble, names

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async tags => (await axe.run(document, {runOnly: {type: 'tag', values: tags}})).violations
    .flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 200)}`))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_fault_before_and_after_use(
    browser: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    axe = (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    ground, ink = ("#fff", "#222") if scheme == "light" else ("#121212", "#eee")
    blocks = [in_browser.SCRIPT.sub("", in_browser.block(name)) for name in in_browser.names()]
    blocks += [in_browser.SCRIPT.sub("", in_browser.playground_block())]
    blocks += [assemble(name).proof._repr_html_() for name in names()]
    blocks += [form(registry.sealed(name) or {}) for name in registry.sealable()[:4]]
    path = tmp_path / "page.html"
    path.write_text(
        f'<!doctype html><html lang="en" data-theme="{scheme}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>page</title>'
        f"<style>body {{ background: {ground}; color: {ink} }} {page_style()}</style></head>"
        f"<body><main><h1>Page</h1>{''.join(blocks)}</main>"
        f"<script>{packed_script()}</script></body></html>",
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector(".informed-computed [data-name]")
    page.add_script_tag(content=axe)
    assert page.evaluate(RUN, TAGS) == []
    page.get_by_role("button", name="Use an example").click()
    page.get_by_role("button", name="Compute").click()
    page.wait_for_selector(".results:not([hidden])")
    for button in page.get_by_role("button", name="Check").all():
        button.click()
    for piece in page.locator(".informed-computed [tabindex='0'][data-name]").all()[::4]:
        piece.focus()
        page.keyboard.press("ArrowRight")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(RUN, TAGS) == []
    page.close()
