"""An explorer as a page: words, markup, nothing from elsewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest
from explorers import Page, bar, static_page  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st

import informed.teaching.explorer as explorer_module
from informed.teaching.explorer import Control, explore, frames
from informed.teaching.explorer.controls import as_dial

pytestmark = pytest.mark.usefixtures("static_page")


NASTY = """</script><script>alert(1)</script><img src=x onerror="alert(2)"> & 'quoted' <!-- -->"""


def test_describe_gives_alternative_text_and_caption() -> None:
    html = explore(bar, describe=lambda level: f"A bar of {level} cm.", level=[1, 2]).html
    page = Page(html)
    assert page.all("img")[0]["alt"] == "A bar of 1 cm."
    assert page.payload()["words"] == ["A bar of 1 cm.", "A bar of 2 cm."]
    assert page.all("figcaption") == [{}]
    assert ("figcaption", "A bar of 1 cm.") in page.texts


@pytest.mark.parametrize("words", [None, "", "  ", 3])
def test_describe_must_give_words(words: Any) -> None:
    with pytest.raises(TypeError, match=r"describe must return words.*'level': 1"):
        explore(bar, describe=lambda level: words, level=[1])


def test_a_failing_describe_says_where() -> None:
    with pytest.raises(RuntimeError, match=r"describe\(level=1\) failed: KeyError: 1"):
        explore(bar, describe=lambda level: {}[level], level=[1])


def test_strings_of_the_author_cannot_become_markup() -> None:
    html = explore(
        lambda kind, level: bar(),
        title=NASTY,
        describe=lambda kind, level: NASTY,
        kind=Control(["plain", NASTY], label=NASTY, help=NASTY),
        level=Control([1], unit=NASTY, label=NASTY),
    ).html
    page = Page(html)
    assert len(page.all("script")) == 2
    assert len(page.all("img")) == 1
    assert "onerror" not in page.all("img")[0]
    assert page.all("img")[0]["alt"] == NASTY
    assert page.all("div")[0]["aria-label"] == NASTY
    assert page.payload()["words"] == [NASTY, NASTY]
    assert page.all("input")[0]["aria-valuetext"] == f"1\u00a0{NASTY}"
    texts = [text for _, text in page.texts]
    assert texts.count(NASTY) == 6  # heading, two labels, help, option, caption


def test_controls_are_native_labelled_and_hidden_without_a_script() -> None:
    html = explore(
        bar,
        level=Control([1, 2, 3], default=2, help="How high."),
        kind=["a", "b"],
        wide=True,
    ).html
    page = Page(html)
    slider, switch = page.all("input")
    assert (slider["type"], slider["min"], slider["max"], slider["value"]) == (
        "range",
        "0",
        "2",
        "1",
    )
    assert switch["type"] == "checkbox"
    assert "checked" in switch
    assert len(page.all("select")) == 1
    assert len(page.all("label")) == 3
    assert re.findall(r"<label>.*?</label>", html, re.S) == re.findall(
        r"<label>.*?<(?:input|select) .*?</label>", html, re.S
    )
    assert "hidden" in next(d for d in page.all("div") if d.get("class") == "controls")
    assert slider["aria-describedby"] == page.all("p")[0]["id"]
    assert ("p", "How high.") in page.texts
    assert {"class": "unseen", "role": "status", "aria-live": "polite"} in page.all("span")


@pytest.mark.parametrize(
    ("controls", "buttons"),
    [
        ({"level": [1, 2, 3]}, 1),
        ({"level": [1]}, 0),
        ({"level": ["a", "b"]}, 0),
        ({"level": True}, 0),
        ({"level": [1, 2], "wide": False}, 0),
    ],
)
def test_play_is_for_one_slider(controls: Any, buttons: int) -> None:
    page = Page(explore(lambda **values: bar(), **controls).html)
    assert len(page.all("button")) == buttons


def test_names_follow_content() -> None:
    def names(html: str) -> set[str]:
        return {str(a["id"]) for _, a in Page(html).elements if "id" in a}

    one = explore(bar, level=Control([1, 2], help="?")).html
    variants = [
        explore(bar, level=Control([1, 3], help="?")).html,
        explore(bar, level=Control([1, 2], help="!")).html,
        explore(bar, level=Control([1, 2], help="?"), title="Bars").html,
        explore(bar, level=Control([1, 2], help="?"), describe=lambda level: "bar").html,
    ]
    seen = names(one)
    assert len(seen) == 2
    for variant in variants:
        assert not names(variant) & seen
        seen |= names(variant)


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = explore(bar, title="Bars", level=[1, 2]).html
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"//.*", "", html))
    assert "http" not in html


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1), st.text())
def test_any_text_survives_the_page(label: str, help_text: str) -> None:
    html = explorer_module.page.block(
        label,
        [as_dial("n", Control([1, 2], label=label, help=help_text))],
        [frames.Frame("image/png", b"x", 1, 1, label), frames.Frame("image/png", b"y", 1, 1, "")],
        caption=True,
    )
    parsed = Page(html.replace("\r", "&#13;"))
    assert parsed.payload()["words"][0] == label
    assert len(parsed.all("script")) == 2
    assert len(parsed.all("input")) == 1


# The display bundle, and how it is chosen


def test_a_static_explorer_shows_html_only() -> None:
    explorer = explore(bar, level=[1, 2])
    bundle = explorer._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"] == explorer.html
    assert re.fullmatch(r"<static explorer, \d+ kB of HTML>", bundle["text/plain"])
