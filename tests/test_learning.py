"""What a reader does on a static page: numbers checked, quizzes kept, proofs put in order."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from informed.teaching.exercises import registry
from informed.teaching.exercises.engine import judge
from informed.teaching.exercises.forms import number
from informed.teaching.exercises.sealed import form, key_of, seal, sealed_numbers
from informed.teaching.explorer.pack import packed_script, page_style
from informed.teaching.proofs import Proof, _html, assemble, names, parse
from informed.teaching.quiz import quiz

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NUMBERS = registry.sealable()
Call = Callable[[str, Any], Any]


@pytest.fixture(scope="module")
def call(browser: Browser) -> Iterator[Call]:
    page = browser.new_page()
    page.set_content("<title>learning</title>")
    page.add_script_tag(content=packed_script())
    yield lambda body, argument: page.evaluate(f"input => {body}", argument)
    page.close()


def open_page(browser: Browser, folder: Path, body: str, **options: Any) -> Page:
    """Open a page with this content from a file, where all of it must work too."""
    path = folder / "page.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>page</title>'
        f'<link rel="icon" href="data:,"><style>{page_style()}</style>'
        f"<script>{packed_script()}</script></head><body>{body}</body></html>",
        encoding="utf-8",
    )
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(path.as_uri())
    return page


def answers_of(name: str) -> list[Any]:
    """The right numbers, as only a test may take them out of a check."""
    cells = registry.find(name).__closure__ or ()
    return next(list(c.cell_contents.answers) for c in cells if hasattr(c.cell_contents, "answers"))


# --------------------------------------------------------------------------------- typed numbers


def test_hashes_are_those_of_python(call: Call) -> None:
    texts = ["", "a", "ex-triangle|2.000e0", "é" * 50, "x" * 55, "x" * 56, "x" * 64, "x" * 200]
    assert call("input.map(informed.learning.seal)", texts) == [seal(text) for text in texts]
    digest = b"abc"
    for _ in range(200):
        digest = hashlib.sha256(digest).digest()
    assert seal("abc") == digest[:4].hex()


def test_numbers_are_read_as_the_notebook_reads_them(call: Call) -> None:
    typed = ["2/3", "sqrt(6)", "√2", "√ 2", "2√3", "1e-3", "-0.5", "−4", "2^3", "2**-1", "3·2", "π"]
    typed += ["2pi", "(1+2)/4", "1/0.19", "-2**2", ".5", "5.", "exp(1)", "log(2)", "2 * 3 - 1"]
    found = call("input.map(informed.learning.evaluate)", typed)
    for text, value in zip(typed, found, strict=True):
        assert value == pytest.approx(number(text), rel=1e-12), text
    body = (
        "input.map(t => { try { return informed.learning.evaluate(t) }"
        " catch (e) { return e.message } })"
    )
    bad = [
        "",
        "abc",
        "1,5",
        "2/",
        "(1",
        "1/0",
        "alert(1)",
        "1 2",
        "sqrt(-1)",
        "constructor",
        "9" * 101,
    ]
    for text, said in zip(bad, call(body, bad), strict=True):
        assert isinstance(said, str), text
    assert call(body, ["1,5"]) == ["write a point for the decimal comma"]


def test_there_are_numbers_to_check_on_the_page() -> None:
    assert len(NUMBERS) >= 24


def test_formulas_of_a_step_are_set_and_stay_with_their_point() -> None:
    assert _html("Let $x<1$ & then $y$, as $z$.") == (
        r'Let \(x&lt;1\) &amp; then <span class="kept">\(y\),</span> '
        r'as <span class="kept">\(z\).</span>'
    )


@pytest.mark.parametrize(
    "ask",
    [
        registry.names,
        registry.sealable,
        registry.chapters,
        lambda: registry.sealed("ex-any"),
        lambda: registry.find("ex-any"),
    ],
)
def test_whoever_asks_first_has_the_chapters_loaded(
    ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loading(Exception):
        pass

    def load() -> None:
        raise Loading

    monkeypatch.setattr(registry, "load", load)
    with pytest.raises(Loading):
        ask()


def test_three_decimals_are_enough_on_the_page_too() -> None:
    """As long as two significant digits remain: 0.038 for 0.03846."""
    sealed = sealed_numbers("ex-any", [0.03846, 0.00846], ["a", "b"], {}, [], 1e-3)
    for (value, right), field in zip(
        [(0.038, True), (0.008, False)], sealed["answers"], strict=True
    ):
        key = seal(f"{field['salt']}|{key_of(value, field['digits'])}")
        assert (key in field["keys"]) is right


@pytest.mark.parametrize("value", [0.99, 0.123, -98.7])
def test_whatever_rounds_to_three_digits_of_the_answer_is_right_on_the_page(value: float) -> None:
    (field,) = sealed_numbers("ex-any", [value], ["a"], {}, [], 1e-3)["answers"]
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    for share in np.linspace(-0.499, 0.499, 301):
        key = key_of(float(f"{value + share * unit:.{field['digits'] - 1}e}"), field["digits"])
        assert seal(f"{field['salt']}|{key}") in field["keys"], key


@pytest.mark.parametrize("name", NUMBERS)
def test_the_page_judges_as_the_notebook_does(call: Call, name: str) -> None:
    answers = answers_of(name)
    sealed = registry.sealed(name)
    assert sealed is not None
    rng = np.random.default_rng(0)
    tried: list[Sequence[float]] = [answers, [float(f"{a:.3g}") for a in answers]]
    tried += [[-a for a in answers], [a * a for a in answers], [a + 1 for a in answers]]
    tried += [[math.sqrt(abs(a)) for a in answers], [0.0] * len(answers), answers[::-1]]
    tried += [[a * (1 + 0.03 * rng.normal()) for a in answers] for _ in range(10)]
    for k in range(len(answers)):
        tried.append([a + (j == k) for j, a in enumerate(answers)])
    body = "input[0].map(values => informed.learning.judge(values, input[1]))"
    found = call(body, [[list(map(float, values)) for values in tried], sealed])
    assert found[0]["right"]
    assert found[1]["right"]
    for values, said in zip(tried, found, strict=True):
        # Within half a unit of the last sealed digit the page may be more lenient.
        slack = 0.5 * 10.0 ** (1 - min(field["digits"] for field in sealed["answers"]))
        near = [judge(name, [value * s for value in values]) for s in (1, 1 - slack, 1 + slack)]
        assert said["right"] in map(bool, near)
        words = [verdict.message for verdict in near]
        # The page cannot tell how close a wrong number is.
        close = "close, but not right to three digits. Compute with more, and round at the end."
        assert said["words"] in [w.replace(close, "not this number.") for w in words]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_answer_does_not_stand_in_the_source(name: str) -> None:
    sealed = registry.sealed(name)
    assert sealed is not None
    source = json.dumps([sealed["answers"], [m["fields"] for m in sealed["mistakes"]]])
    loose = re.sub(r'"(salt|keys|digits)": |"[0-9a-f]{8}"|"ex-[^"]*"', "", source)
    assert not re.search(r"\d\.\d|\d{3}", loose)
    for field in sealed["answers"]:
        assert 1 <= len(field["keys"]) <= 200
        assert field["keys"] == sorted(field["keys"])


@pytest.mark.parametrize(("reach", "digits"), [(99.9, 5), (100.9, 4)])
def test_as_many_as_two_hundred_numbers_are_sealed_with_all_digits(
    reach: float, digits: int
) -> None:
    """Between two numbers of five digits, 200 of them are within 99.9 units, and 202 in 100.9."""
    value, unit = 2.00005, 1e-4
    sealed = sealed_numbers("ex-any", [value], ["x"], {}, [], reach * unit / value)
    (field,) = sealed["answers"]
    assert field["digits"] == digits
    coarse = 10.0 ** (1 - digits)
    low, high = round((value - reach * unit) / coarse), round((value + reach * unit) / coarse)
    right = [key_of(number * coarse, digits) for number in range(low, high + 1)]
    assert field["keys"] == sorted(seal(f"ex-any:0|{key}") for key in right)


def test_an_exercise_is_typed_checked_and_kept(browser: Browser, tmp_path: Path) -> None:
    body = form(registry.sealed("ex-triangle") or {})
    page = open_page(browser, tmp_path, body)
    fields = page.locator("form.informed-answer input").all()
    assert len(fields) == 3
    verdict = page.locator(".verdict")
    button = page.get_by_role("button", name="Check")
    button.click()
    assert "a number is still missing: d(x1, x2)" in verdict.inner_text()
    for field in fields:
        field.fill("4")
    button.click()
    assert verdict.inner_text() == "Not yet: these are squared distances. Take the root."
    fields[0].fill("two")
    fields[0].press("Enter")
    assert "“two” is not a number" in verdict.inner_text()
    assert fields[0].get_attribute("aria-invalid") == "true"
    for field, text in zip(fields, ["2", "sqrt(4)", "4/2"], strict=True):
        field.fill(text)
    fields[2].press("Enter")
    assert verdict.inner_text() == "Right: all the numbers are right."
    page.reload()
    assert fields[1].input_value() == "sqrt(4)"
    assert verdict.inner_text() == "Right: all the numbers are right."
    kept = json.loads(page.evaluate("localStorage.getItem('informed-progress')"))
    assert kept["answers"]["ex-triangle"]["right"] is True
    page.context.close()


def test_without_a_script_no_empty_form_is_shown(browser: Browser, tmp_path: Path) -> None:
    page = open_page(
        browser, tmp_path, form(registry.sealed("ex-triangle") or {}), java_script_enabled=False
    )
    assert not page.locator("form").is_visible()
    page.context.close()


# ----------------------------------------------------------------------------------- quizzes, kept


def test_a_quiz_has_a_score_and_a_memory(browser: Browser, tmp_path: Path) -> None:
    name = "why-the-usual-distance-fails"
    page = open_page(browser, tmp_path, quiz(name)._repr_html_())
    score = page.locator(".informed-quiz .score")
    assert score.inner_text() == ""
    questions = page.locator("fieldset").all()
    page.locator(".choice.wrong input").first.check()
    assert score.inner_text().startswith(f"0 of {len(questions)} right, {len(questions) - 1} not")
    for question in questions:
        for right in question.locator(".choice.right input").all():
            right.check()
    assert score.inner_text().startswith(f"{len(questions)} of {len(questions)} right.")
    page.reload()
    assert page.locator("fieldset input:checked").count() >= len(questions)
    assert score.inner_text().startswith(f"{len(questions)} of {len(questions)} right.")
    # What somebody else wrote there does no harm.
    odd = json.dumps({"quizzes": {name: {"chosen": ['x"]', 5]}}})
    for kept in ("{", "3", odd):
        page.evaluate("text => localStorage.setItem('informed-progress', text)", kept)
        page.reload()
        assert page.locator("fieldset input:checked").count() == 0
    page.context.close()


# ------------------------------------------------------------------------------ proofs, in order


def orders(proof: Proof) -> Iterator[list[str]]:
    """Every right order of the steps."""
    steps = [step for step in proof.steps if not step.wrong]

    def extend(before: list[str]) -> Iterator[list[str]]:
        if len(before) == len(steps):
            yield before
        for step in steps:
            if step.key not in before and set(step.needs) <= set(before):
                yield from extend([*before, step.key])

    yield from extend([])


def test_there_are_proofs_of_six_main_statements() -> None:
    assert len(names()) >= 6
    for name in names():
        proof = assemble(name).proof
        steps = {step.key: step for step in proof.steps if not step.wrong}
        # Everything is needed for the end, and more than one order is right.
        last = list(steps)[-1]
        reached, todo = set(), [last]
        while todo:
            key = todo.pop()
            reached.add(key)
            todo += steps[key].needs
        assert reached == set(steps), name
        assert len(list(orders(proof))) > 1


@pytest.mark.parametrize("name", names())
def test_an_order_is_right_if_nothing_comes_before_what_it_needs(call: Call, name: str) -> None:
    proof = assemble(name).proof
    steps = [
        {"key": step.key, "needs": list(step.needs), "wrong": step.wrong} for step in proof.steps
    ]
    right = list(orders(proof))
    body = "input[0].map(order => informed.learning.findFault(order, input[1]))"
    assert call(body, [right, steps]) == [None] * len(right)
    rng = np.random.default_rng(0)
    good = {tuple(order) for order in right}
    other = [rng.permutation(right[0]).tolist() for _ in range(60)]
    for order, fault in zip(other, call(body, [other, steps]), strict=True):
        assert (fault is None) is (tuple(order) in good)
    slip = next(step for step in proof.steps if step.wrong)
    kept, short = [*right[0][:2], slip.key, *right[0][2:]], right[0][:-1]
    said = [fault["words"] for fault in call(body, [[kept, short, right[0][1:]], steps])]
    assert said[0] == f"Number 3 does not belong here: {slip.wrong}"
    assert "left out" in said[1]
    assert "left out" in said[2] or "later" in said[2]


def test_a_proof_is_put_in_order_by_keyboard_and_kept(browser: Browser, tmp_path: Path) -> None:
    shown = assemble("thm-t1")
    page = open_page(browser, tmp_path, shown.proof._repr_html_())
    proof = shown.proof
    wanted = [proof._sign(key) for key in next(orders(proof))]
    status = page.locator("[role=status]")
    check = page.get_by_role("button", name="Check the order")

    def order() -> list[str]:
        return list(page.evaluate("[...document.querySelectorAll('li')].map(l => l.dataset.step)"))

    assert order() != wanted
    check.click()
    assert "Number" in status.inner_text()
    slip = next(step for step in proof.steps if step.wrong)
    item = page.locator(f"[data-step='{proof._sign(slip.key)}']")
    leave = item.get_by_role("button", name="leave out")
    leave.focus()
    page.keyboard.press("Enter")
    assert leave.get_attribute("aria-pressed") == "true"
    for place, key in enumerate(wanted):
        up = page.locator(f"[data-step='{key}'] button").first
        up.focus()
        while [k for k in order() if k != proof._sign(slip.key)].index(key) > place:
            page.keyboard.press("ArrowUp")
            assert up.evaluate("e => e === document.activeElement")
    check.focus()
    page.keyboard.press("Enter")
    assert status.inner_text() == "Right: every step rests on what stands before it."
    page.reload()
    assert status.inner_text() == "Right: every step rests on what stands before it."
    kept = json.loads(page.evaluate("localStorage.getItem('informed-progress')"))
    assert kept["proofs"]["thm-t1"]["right"] is True
    # By mouse: one step down is no longer right until it is checked again.
    page.locator("li").first.get_by_role("button", name="move down").click()
    kept = json.loads(page.evaluate("localStorage.getItem('informed-progress')"))
    assert kept["proofs"]["thm-t1"]["right"] is False
    page.context.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('needs = ["b"]', 'needs = ["x"]'), "needs \\['x'\\], not shown before"),
        ((', wrong = "no"', ""), "exactly one step must not belong"),
        (("$q$", "$q"), "not closed"),
        (('key = "b"', 'key = "a"'), "two steps have the key"),
    ],
)
def test_a_proof_that_breaks_the_form_is_refused(change: tuple[str, str], message: str) -> None:
    source = """
[[proof]]
name = "p"
title = "t"
statement = "s"
step = [
  {key = "a", text = "one"}, {key = "b", text = "two"},
  {key = "c", text = "so $q$", needs = ["b"]}, {key = "d", text = "oops", wrong = "no"},
]
"""
    assert len(parse("p.toml", source)) == 1
    assert change[0] in source
    with pytest.raises(ValueError, match=message):
        parse("p.toml", source.replace(*change))


# ------------------------------------------------------------------------------------ my progress


def test_my_progress_counts_what_was_kept_and_forgets_it(browser: Browser, tmp_path: Path) -> None:
    chapters = [
        {
            "name": "one",
            "title": "One <b>",
            "page": "one.html",
            "questions": 4,
            "exercises": ["ex-a", "ex-b"],
            "proofs": [],
        },
        {
            "name": "two",
            "title": "Two",
            "page": "two.html",
            "questions": 3,
            "exercises": [],
            "proofs": ["thm"],
        },
    ]
    payload = json.dumps(chapters).replace("<", "\\u003c")
    body = (
        f'<div class="informed-progress"><script type="application/json">{payload}</script></div>'
    )
    page = open_page(browser, tmp_path, body)
    status = page.locator("[role=status]")
    assert status.inner_text().startswith(
        "0 of 7 questions, 0 of 2 exercises with numbers, and 0 of 1"
    )
    kept = {
        "quizzes": {"one": {"right": 3}, "two": {"right": 9}},
        "answers": {"ex-a": {"right": True}, "ex-b": {"right": False}, "ex-z": {"right": True}},
        "proofs": {"thm": {"right": True}},
    }
    page.evaluate("kept => localStorage.setItem('informed-progress', JSON.stringify(kept))", kept)
    page.reload()
    assert status.inner_text().startswith(
        "6 of 7 questions, 1 of 2 exercises with numbers, and 1 of 1"
    )
    rows = page.locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["One <b>", "3 of 4", "1 of 2", "–"],
        ["Two", "3 of 3", "–", "1 of 1"],
    ]
    page.get_by_role("button", name="Forget everything").click()
    assert status.inner_text().startswith("6")
    page.get_by_role("button", name="Press again").click()
    assert status.inner_text().startswith("0")
    page.context.close()
