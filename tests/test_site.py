"""The built site in a real browser: it opens, it is complete in itself, it can be read and used."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from browsing import CHAPTERS, PAGES, PHONE, foreign, visit
from playwright.sync_api import Browser


def test_every_chapter_is_a_page() -> None:
    assert len(CHAPTERS) >= 19
    assert {f"{name}.html" for name in CHAPTERS} <= set(PAGES)


def test_root_leads_to_the_landing_page(browser: Browser, site_url: str) -> None:
    with visit(browser, f"{site_url}/") as this:
        this.page.wait_for_url(f"{site_url}/{PAGES[0]}")
        assert "Mahalanobis" in this.page.title()


def test_search_finds_a_page(browser: Browser, site_url: str) -> None:
    with visit(browser, f"{site_url}/search.html?q=pseudo-inverse") as this:
        # The page shows what it finds one after the other.
        results = this.page.locator("#search-results ul.search li a")
        results.filter(has_text="Why the usual distance fails").first.wait_for()
        assert this.errors == []
        assert foreign(this, site_url) == []
    with visit(browser, f"{site_url}/search.html?q=xyzzyplugh") as this:
        this.page.get_by_text("did not match any documents").wait_for()


def found_by(browser: Browser, site_url: str, query: str) -> dict[str, str]:
    """Return the pages that a search finds, with the excerpt that is shown for each."""
    with visit(browser, f"{site_url}/search.html?q={query}") as this:
        this.page.wait_for_selector("#search-results ul.search li")
        this.page.wait_for_function(
            "document.querySelector('.search-summary')?.textContent.includes('found')"
        )
        rows = this.page.locator("#search-results ul.search li").all()
        return {
            urlsplit(row.locator("a").first.get_attribute("href") or "").path.rpartition("/")[2]: (
                row.inner_text()
            )
            for row in rows
        }


def test_search_takes_words_as_they_are_written(browser: Browser, site_url: str) -> None:
    found = found_by(browser, site_url, "log-rank")
    assert {"risk-groups.html", "critical-reading.html"} <= set(found)
    # These speak of the rank of a matrix, and of a logarithm.
    assert not {"pseudo-inverse.html", "hidden-variables.html"} & set(found)
    assert "local-metrics.html" in found_by(browser, site_url, "neighbourhoods")
    for excerpt in found.values():
        assert "import " not in excerpt
        assert "\\top" not in excerpt


def test_index_and_search_fit_a_phone(browser: Browser, site_url: str) -> None:
    """They are in no table of contents, so that the tests of all pages do not see them."""
    for name in ("genindex.html", "search.html?q=diffusion"):
        with visit(browser, f"{site_url}/{name}", mathematics=False, viewport=PHONE) as this:
            if "search" in name:
                this.page.wait_for_selector("#search-results ul.search li")
            width = this.page.evaluate("document.documentElement.scrollWidth")
            assert width <= PHONE["width"], name


# What of a name is cut off by a box that does not scroll, and names that stand on two lines.
NAMES_CUT = """() => [...document.querySelectorAll('.prev-next-area code, article h1 code')]
    .filter(name => {
        const link = name.closest('a, h1').getBoundingClientRect();
        const box = name.querySelector('.pre').getBoundingClientRect();
        const line = parseFloat(getComputedStyle(name).fontSize) * 2;
        return box.right > link.right + 1 || box.left < link.left - 1 || box.height > line;
    }).map(name => name.textContent)"""


def test_names_of_modules_are_whole_on_a_phone(browser: Browser, site_url: str) -> None:
    """As a title and in the links to the pages before and after, also the longest ones."""
    longest = sorted((page for page in PAGES if "/api/" in page), key=len)[-2:]
    for page in ["book/api/plots.html", *longest]:
        with visit(browser, f"{site_url}/{page}", mathematics=False, viewport=PHONE) as this:
            assert this.page.locator("article h1 code").count() == 1
            assert this.page.evaluate(NAMES_CUT) == []


def test_the_tables_of_the_api_show_formulas_not_their_source(site: Path) -> None:
    pages = sorted((site / "book" / "api").glob("*.html"))
    assert pages
    for page in pages:
        words = re.findall(r'<span class="pre">([^<]*)</span>', page.read_text(encoding="utf-8"))
        assert [word for word in words if re.search(r"\\[a-zA-Z]{2,}|\^", word)] == [], page.name
