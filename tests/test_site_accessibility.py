"""The built site for everybody: axe-core and the tree of names see faults; ids occur once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from accessibility import (
    CODE_ONCE,
    COLOR_KINDS,
    TAKE_ALIKE_AWAY,
    faults,
    faults_of_color,
    nameless,
    prepare,
)
from browsing import PAGES
from playwright.sync_api import Browser


def test_axe_sees_a_fault(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content('<html lang="en"><title>t</title><main><img src="x.png"><input></main>')
    prepare(page)
    found = faults(page)
    page.close()
    assert {"image-alt", "label"} <= {each.partition(":")[0] for each in found}


def test_axe_sees_pale_words_of_code_though_it_sees_each_kind_once(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(
        '<html lang="en"><title>t</title><style>.k {color: #999} .p {color: #bbb}</style><main>'
        '<pre><span class="n">a</span> <span class="k">if</span> <span class="k">or</span></pre>'
        '<pre style="background: #222"><span class="k">is</span> <span class="p">is</span></pre>'
        '<pre><span class="p">end</span></pre></main>'
    )
    page.evaluate(CODE_ONCE)
    assert page.locator("pre span").all_inner_texts() == ["a", "if", "is", "is", "end"]
    prepare(page)
    found = faults_of_color(page)
    page.close()
    assert [each.partition(">")[2][:2] for each in found] == ["if", "en"]


def test_axe_sees_a_pale_text_in_either_scheme_though_it_sees_each_kind_once(
    browser: Browser,
) -> None:
    page = browser.new_page()
    page.set_content(
        '<html lang="en"><title>t</title><style>@media (prefers-color-scheme: dark) '
        "{body {background: #111; color: #eee} .night {color: #333}}</style><main>"
        "<p>one</p><p>two</p><p>three <b>four</b></p><p>five <b class=night>six</b></p>"
        '<p>seven <b class=night>eight</b></p><p style="color: #bbb">nine</p>'
        '<div style="background: #ddd"><p style="color: #777">ten</p></div></main>'
    )
    prepare(page)
    faulty = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(COLOR_KINDS, [])
    page.evaluate(TAKE_ALIKE_AWAY)
    assert page.inner_text("main").split() == ["one", "three", "four", "five", "six", "nine", "ten"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        faulty[scheme] = [
            re.sub("<.*?>", "", each.partition(": ")[2]) for each in faults_of_color(page)
        ]
    page.close()
    assert faulty == {"light": ["nine", "ten"], "dark": ["six", "ten"]}


def test_a_control_without_a_name_is_seen(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<button></button><button>Go</button><input type=range>")
    assert nameless(page.locator("body").aria_snapshot()) == ["button", 'slider: "50"']
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_an_id_occurs_once(name: str, site: Path) -> None:
    page = (site / name).read_text(encoding="utf-8")
    page = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    counts = Counter(re.findall(r'\sid="([^"]+)"', page))
    assert [each for each, count in counts.items() if count > 1] == []
