"""Each chapter of the built site as a reader meets it: it comes to rest, unfolds, asks.

Opened once, on a phone, for all tests of this file; then shown as wide as on a desk.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsing import CHAPTERS, DESKTOP, PHONE, Visit, visit
from playwright.sync_api import Browser, Locator
from test_site_quiz import shown

from informed.quiz import names, quiz


@pytest.fixture(scope="module", params=CHAPTERS)
def narrow(request: pytest.FixtureRequest, browser: Browser, site_url: str) -> Iterator[Visit]:
    with visit(browser, f"{site_url}/{request.param}.html", viewport=PHONE) as this:
        this.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        yield this


def test_the_text_stays_where_it_is_while_a_chapter_opens(narrow: Visit) -> None:
    """The measure of layout shifts is good below 0.1; formulas alone would give twice that."""
    shifts = narrow.page.evaluate(
        """() => new Promise(go => new PerformanceObserver(list =>
            go(list.getEntries().map(entry => entry.value))
        ).observe({type: 'layout-shift', buffered: true}) || setTimeout(() => go([]), 500))"""
    )
    assert sum(shifts) < 0.1


# ------------------------------------------------------------ from here on as wide as on a desk


@pytest.fixture(scope="module")
def chapter(narrow: Visit) -> Visit:
    narrow.page.set_viewport_size(DESKTOP)
    return narrow


# Clicks on the label of each choice and tells what can then be seen: of the whole question, or of
# this choice where several may be chosen, which a second click takes back.
CHOOSE_EACH = """(fieldset, several) => [...fieldset.querySelectorAll('.choice')].map(choice => {
    const seen = () => [...(several ? choice : fieldset).querySelectorAll('.explanation')]
        .filter(words => words.checkVisibility({visibilityProperty: true}))
        .map(words => words.innerText);
    const label = choice.querySelector('label');
    label.click();
    const answer = {
        checked: choice.querySelector('input').checked,
        own: choice.querySelector('.explanation').checkVisibility(),
        seen: seen(),
    };
    if (several) {
        label.click();
        answer.after = seen();
    }
    return answer;
})"""


def test_every_chapter_has_a_quiz() -> None:
    assert sorted(f"book/{name}" for name in names()) == sorted(CHAPTERS)


def test_each_choice_of_each_question_answers(chapter: Visit) -> None:
    name = chapter.page.url.rpartition("/")[2].removesuffix(".html")
    block = chapter.page.locator(f"#quiz-{name}")
    questions = quiz(name).questions
    fieldsets = block.locator("fieldset").all()
    assert len(fieldsets) == len(questions)
    assert_typeset(block, name)
    assert shown(block) == []
    # By the label, as most readers do; the explanation of this choice shows, and it alone.
    fieldsets[0].locator(".choice label").first.click(position={"x": 4, "y": 8})
    assert fieldsets[0].locator(".choice input").first.is_checked()
    if questions[0].several:
        fieldsets[0].locator(".choice label").first.click(position={"x": 4, "y": 8})
    for question, fieldset in zip(questions, fieldsets, strict=True):
        answers = fieldset.evaluate(CHOOSE_EACH, question.several)
        for choice, answer in zip(question.choices, answers, strict=True):
            assert answer["checked"]
            assert answer["own"]
            (words,) = answer["seen"]
            assert words.startswith("Right." if choice.right else "No.")
            assert not question.several or answer["after"] == []
    # A question keeps its answer while others are answered.
    single = sum(not question.several for question in questions)
    assert len(shown(block)) == single


def assert_typeset(block: Locator, name: str) -> None:
    text = block.evaluate("block => block.textContent")
    assert "\\(" not in text
    assert "$" not in text
    formulas = sum(
        part.count("$") // 2
        for question in quiz(name).questions
        for part in [question.text, *(c.text + c.explanation for c in question.choices)]
    )
    assert block.locator("mjx-container").count() == formulas
    assert block.locator("mjx-merror, [data-mjx-error]").count() == 0


BOX = ("button.toggle-button", ":scope > :not(.admonition-title):not(button)")
# Opens each of them and returns how many were open before, or are not now. A click of the mouse
# brings its place into view, and all mathematics on the way is set: once of each kind is enough.
OPEN_ALL = """(places, [button, body]) => {
    const visible = part => part.checkVisibility({visibilityProperty: true})
        && part.getBoundingClientRect().height > 0;
    const before = places.filter(place => visible(place.querySelector(body)));
    places.forEach(place => place.querySelector(button).click());
    const after = places.filter(place => !visible(place.querySelector(body)));
    return before.length + after.length;
}"""


def test_folded_parts_open(chapter: Visit) -> None:
    """The last test of a page, which it leaves unfolded."""
    kinds = {
        "article .solution.dropdown": BOX,
        "article .admonition.dropdown:not(.solution)": BOX,
        "article details:not(.informed-seen)": ("summary", "pre"),
    }
    assert chapter.page.locator("article .solution.dropdown").count()
    for kind, (button, body) in kinds.items():
        places = chapter.page.locator(kind)
        if not places.count():
            continue
        first = places.first
        assert not first.locator(body).first.is_visible()
        first.locator(button).first.click()
        assert first.locator(body).first.is_visible()
        first.locator(button).first.click()
        assert not first.locator(body).first.is_visible()
        assert places.evaluate_all(OPEN_ALL, [button, body]) == 0
