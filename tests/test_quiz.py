"""Quizzes: the questions of all chapters, the form they are written in, and the page they make."""

from __future__ import annotations

import re
import sys
import tomllib
from html.parser import HTMLParser

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from informed.quiz import Choice, Question, Quiz, names, parse, quiz

sys.path.insert(0, str(ROOT / "tools"))
import notebooks

CHAPTERS = {path.stem: path for path in notebooks.find_chapters()}

SOUND = r"""
[[question]]
text = 'What is $\sqrt{x^2}$ in `code`?'

[[question.choice]]
text = '$|x| < 2$ & <b>'
right = true
explanation = 'A root is never negative.'

[[question.choice]]
text = '$x$'
explanation = '''Only for $x \ge 0$;
   try another.'''

[[question]]
text = 'Which are even?'
several = true

[[question.choice]]
text = 'two'
right = true
explanation = '2 = 2 · 1.'

[[question.choice]]
text = 'four'
right = true
explanation = '4 = 2 · 2.'

[[question.choice]]
text = 'five'
explanation = 'Five is odd.'
"""


# ------------------------------------------------------------------------------------ all chapters


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_its_quiz_and_shows_it(chapter: str) -> None:
    assert chapter in names()
    assert 3 <= len(quiz(chapter).questions) <= 5
    cells = nbformat.read(CHAPTERS[chapter], as_version=4).cells
    (place,) = [k for k, cell in enumerate(cells) if f'quiz("{chapter}")' in cell.source]
    assert "hide-input" in cells[place].metadata.get("tags", [])
    assert cells[place - 1].source.startswith("## Quiz")
    assert cells[place + 1].source.startswith("## References")


def test_each_quiz_has_its_chapter_and_there_are_enough_questions() -> None:
    assert set(names()) <= set(CHAPTERS)
    assert sum(len(quiz(name).questions) for name in names()) >= 40


@pytest.mark.parametrize("name", names())
def test_questions_are_worth_asking(name: str) -> None:
    for number, question in enumerate(quiz(name).questions, start=1):
        assert len(question.choices) >= 3, f"question {number} has fewer than three choices"
        told = [choice.explanation for choice in question.choices]
        assert len(set(told)) == len(told), f"question {number} explains two choices alike"
        for choice in question.choices:
            assert len(choice.explanation) > len("Wrong, sorry."), f"question {number}: {choice}"
            # The page says Right or No itself.
            assert not re.match(r"(Yes|No|Right|Wrong|Correct)[.,:;!]", choice.explanation), choice


def test_the_right_answer_does_not_stand_out() -> None:
    """Whoever always takes the longest answer, or one place, gets half the points at most."""
    questions = [q for name in names() for q in quiz(name).questions if not q.several]
    longest = [max(q.choices, key=lambda choice: len(choice.text)).right for q in questions]
    assert sum(longest) <= 0.55 * len(questions)
    for place in range(3):
        hits = sum(q.choices[place].right for q in questions)
        assert 0.1 * len(questions) <= hits <= 0.5 * len(questions)


# -------------------------------------------------------------------------------------- reading


def test_reading_keeps_what_is_written() -> None:
    read = parse("sound", SOUND)
    assert read == Quiz(
        "sound",
        (
            Question(
                r"What is $\sqrt{x^2}$ in `code`?",
                (
                    Choice("$|x| < 2$ & <b>", "A root is never negative.", True),
                    Choice("$x$", r"Only for $x \ge 0$; try another."),
                ),
            ),
            Question(
                "Which are even?",
                (
                    Choice("two", "2 = 2 · 1.", True),
                    Choice("four", "4 = 2 · 2.", True),
                    Choice("five", "Five is odd."),
                ),
                several=True,
            ),
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[question]]", "[question", "sound.toml: not valid TOML"),
        ("[[question]]\ntext = 'Which", "[[other]]\ntext = 'Which", "sound.toml: unknown key 'oth"),
        ("text = 'Which are even?'", "", "sound.toml, question 2: needs text"),
        ("text = 'Which are even?'", "text = ' '", "question 2: needs text"),
        ("text = 'two'", "text = 2", "sound.toml, question 2, choice 1: needs text = '...'"),
        ("explanation = 'Five is odd.'", "", "question 2, choice 3: needs explanation"),
        ("several = true", "sevral = true", "question 2: unknown key 'sevral'; allowed are"),
        ("several = true", "several = 'yes'", "question 2: several must be true or false"),
        ("several = true", "", "question 2: exactly one choice must have right = true, not 2"),
        ("text = 'four'\nright = true", "text = 'four'", "question 2: several = true, but 1 of"),
        ("right = true\nexplanation = 'A", "explanation = 'A", "question 1: exactly one choice"),
        (
            "right = true\nexplanation = 'A",
            "right = 1\nexplanation = 'A",
            "choice 1: right must be",
        ),
        ("text = 'four'", "text = 'two'", "question 2: two choices have the same text"),
        ("Five is odd.", "Five is $odd.", "question 2, choice 3: explanation has a $ that is not"),
        ("Five is odd.", "Five is `odd.", "explanation has a ` that is not closed"),
    ],
)
def test_faults_are_named_with_their_place(old: str, new: str, message: str) -> None:
    assert old in SOUND
    with pytest.raises(ValueError, match=re.escape(message)):
        parse("sound", SOUND.replace(old, new, 1 if old != "[[question]]" else -1))


@pytest.mark.parametrize("source", ["", "question = 3", "question = []"])
def test_a_quiz_needs_questions(source: str) -> None:
    with pytest.raises(ValueError, match=r"empty\.toml: needs at least one \[\[question\]\]"):
        parse("empty", source)


@pytest.mark.parametrize("number", [0, 1, 9])
def test_a_question_needs_choices_but_not_too_many(number: int) -> None:
    choices = "".join(
        f"[[question.choice]]\ntext = '{k}'\nexplanation = 'e'\n" for k in range(number)
    )
    with pytest.raises(ValueError, match=r"q\.toml, question 1: needs two to 8 of"):
        parse("q", f"[[question]]\ntext = 'a'\n{choices}")


def test_unknown_quizzes_are_refused() -> None:
    known = names()[0]
    with pytest.raises(ValueError, match=f"name='{known}x': no quiz .* did you mean '{known}'"):
        quiz(f"{known}x")
    with pytest.raises(ValueError, match="there are"):
        quiz("zzz")
    with pytest.raises(ValueError, match="no quiz has this name"):
        quiz("../pyproject")


# ----------------------------------------------------------------------------------------- the page


def page(of: Quiz) -> Tag:
    block = BeautifulSoup(of._repr_html_(), "html.parser").div
    assert block is not None
    return block


def test_the_page_is_a_form_of_native_controls() -> None:
    block = page(parse("sound", SOUND))
    assert {"tex2jax_process", "mathjax_process"} <= set(block["class"])
    assert not block.find_all("script")
    first, second = block.find_all("fieldset")
    assert first.legend.text == r"1. What is \(\sqrt{x^2}\) in code?"
    assert first.legend.code.text == "code"
    assert second.legend.text == "2. Which are even? (More than one answer is right.)"
    assert [i["type"] for i in first.find_all("input")] == ["radio"] * 2
    assert [i["type"] for i in second.find_all("input")] == ["checkbox"] * 3
    for fieldset in (first, second):
        assert {i["name"] for i in fieldset.find_all("input")} == {fieldset["id"]}
        for choice in fieldset.find_all("div", class_="choice"):
            assert choice.label["for"] == choice.input["id"]
            status = choice.find(attrs={"role": "status"})
            verdict = status.strong.text
            assert verdict == ("Right." if "right" in choice["class"] else "No.")
    labels = [label.text for label in first.find_all("label")]
    assert labels == [r"a) \(|x| < 2\) & <b>", r"b) \(x\)"]
    assert r"Only for \(x \ge 0\); try another." in first.text


def test_ids_are_unique_over_all_quizzes_and_come_again() -> None:
    pages = "".join(quiz(name)._repr_html_() for name in names())
    ids = [tag["id"] for tag in BeautifulSoup(pages, "html.parser").find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert pages == "".join(quiz(name)._repr_html_() for name in names())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@given(st.text(st.characters(exclude_characters="$`\r", exclude_categories=["C"]), min_size=1))
def test_any_text_is_shown_as_it_is(text: str) -> None:
    def shown(words: str) -> Tags:
        choices = (Choice("a", "b", True), Choice(words, "d"))
        tags = Tags()
        tags.feed(Quiz("any", (Question("q", choices),))._repr_html_())
        return tags

    found = shown(f"{text} $a<i>b$ `<u>` {text}")
    assert found.tags == shown("plain $a$ `code`").tags
    assert rf"{text} \(a<i>b\) <u> {text}" in "".join(found.text)


def test_plain_text_shows_the_questions_and_no_answers() -> None:
    shown = repr(parse("sound", SOUND))
    assert shown.splitlines() == [
        r"1. What is $\sqrt{x^2}$ in `code`?",
        "   (a) $|x| < 2$ & <b>",
        "   (b) $x$",
        "2. Which are even?",
        "   (a) two",
        "   (b) four",
        "   (c) five",
    ]


def test_the_form_in_the_documentation_is_sound() -> None:
    from informed.teaching import quiz as module

    assert module.__doc__ is not None
    example = module.__doc__.split("in this form::\n")[1].split("\n\nMathematics")[0]
    source = re.sub(r"^    ", "", example, flags=re.M)
    assert tomllib.loads(source)
    assert len(parse("example", source).questions) == 1


def test_quizzes_are_packaged() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    data = settings["tool"]["setuptools"]["package-data"]
    assert "*/*.toml" in data["informed.teaching.chapters"]
