"""What computes on the built site: it is there, it starts, and it is linked and not repeated."""

from __future__ import annotations

import re
from pathlib import Path

from browsing import CHAPTERS, visit
from playwright.sync_api import Browser

from informed.teaching.exercises import registry
from informed.teaching.explorer import in_browser
from informed.teaching.proofs import names


def source_of(site: Path, page: str) -> str:
    return (site / f"{page}.html").read_text(encoding="utf-8")


def test_every_figure_proof_and_number_has_its_place_in_the_book(site: Path) -> None:
    text = "".join(source_of(site, chapter) for chapter in CHAPTERS)
    figures = re.findall(r'data-explorer="([^"]+)"', text)
    assert sorted(figures) == in_browser.names()
    assert sorted(re.findall(r'id="proof-([^"]+)"', text)) == sorted(names())
    forms = re.findall(r'class="informed-answer".*?"name":"([^"]+)"', text, flags=re.DOTALL)
    assert sorted(forms) == sorted(registry.sealable())


def test_pages_link_the_script_and_do_not_repeat_it(site: Path) -> None:
    assert (site / "_static" / "informed.js").is_file()
    for page in [*CHAPTERS, "book/playground", "book/progress"]:
        text = source_of(site, page)
        assert text.count("_static/informed.js") == 1, page
        # One style sheet holds all of them, that of the computed figures as well.
        (sheet,) = re.findall(r'rel="stylesheet" href="[./]*([^"]+)"', text)
        assert ".informed-computed" in (site / sheet).read_text(encoding="utf-8"), page
        assert "informedPack" not in text, page


def test_the_first_page_has_a_figure_to_drag_and_a_script_for_no_more(site: Path) -> None:
    text = source_of(site, "book/index")
    assert re.findall(r'data-explorer="([^"]+)"', text) == ["usual"]
    assert text.count("_static/informed-first.js") == 1
    assert "_static/informed.js" not in text
    first, whole = (site / "_static" / name for name in ("informed-first.js", "informed.js"))
    assert first.stat().st_size < whole.stat().st_size / 3


def test_my_progress_lists_every_chapter(browser: Browser, site: Path) -> None:
    with visit(browser, (site / "book" / "progress.html").as_uri()) as this:
        rows = this.page.locator(".informed-progress tbody tr").count()
        assert rows == len(CHAPTERS)


def test_chapters_lead_to_the_glossary_once_a_term(site: Path) -> None:
    for chapter in CHAPTERS:
        terms = re.findall(
            r'<a class="term reference internal" href="([^"]+)"', source_of(site, chapter)
        )
        assert len(terms) >= 3, chapter
        assert len(set(terms)) == len(terms), chapter
        script = (site / "_static" / "previews" / f"{Path(chapter).name}.js").read_text("utf-8")
        for term in terms:
            assert f'"{term}":"<dt' in script
