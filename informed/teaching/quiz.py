r"""Quizzes that answer on a static page.

``quiz("averaging")`` shows the questions of a chapter. To choose an answer shows why it is right or
wrong: the page holds all the explanations, and a few lines of CSS show that of the chosen answer.
There is no script, no server and no network, and the native controls work by keyboard.

The questions of a chapter are in ``chapters/<chapter>/quiz.toml``, in this form::

    [[question]]
    text = "What is $\\sqrt{x^2}$ for a real number $x$?"

    [[question.choice]]
    text = "$|x|$"
    right = true
    explanation = "Yes: a root is never negative."

    [[question.choice]]
    text = "$x$"
    explanation = "This holds for $x \\ge 0$ only; try $x = -1$."

Mathematics stands between dollars and code between backticks; nothing else is markup. In TOML, a
string between single quotes, or three of them, keeps backslashes: ``text = 'What is $\sqrt{2}$?'``.
Each choice has an explanation, and exactly one is right, unless the question says
``several = true``: then two or more are right, and any number can be chosen.

Why not jupyterquiz? It works offline and explains each choice, but a script draws its questions, so
that a reader without JavaScript sees none, and its authors say that JupyterLab 4 breaks its
mathematics. Native controls and CSS do all that is needed here, in less code than it would take to
wrap it.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

__all__ = ["Choice", "Question", "Quiz", "names", "parse", "quiz"]

LETTERS = "abcdefgh"

# Mathematics or code; what is between two of these is plain text.
MARKED = re.compile(r"\$([^$]+)\$|`([^`]+)`")
# What must stay on the line of a formula: a bracket before it, a comma or a full stop after it.
KEPT = re.compile(r"[(“]?\\\((?:(?!\\\)).){1,200}\\\)[.,;:!?)”’]+")


@dataclass(frozen=True)
class Choice:
    """One answer to a question, with the reason why it is right or wrong."""

    text: str
    explanation: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question and the answers to choose from."""

    text: str
    choices: tuple[Choice, ...]
    several: bool = False


@dataclass(frozen=True, repr=False)
class Quiz:
    """The questions of one chapter, which a notebook and the book show as a form.

    Attributes
    ----------
    name : str
        Name of the chapter.
    questions : tuple of Question
        The questions, in order.
    """

    name: str
    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        # Without a page there is nothing to choose by, so here are the questions alone.
        lines = []
        for number, question in enumerate(self.questions, start=1):
            lines.append(textwrap.fill(f"{number}. {question.text}", 88, subsequent_indent="   "))
            for letter, choice in zip(LETTERS, question.choices, strict=False):
                text = f"   ({letter}) {choice.text}"
                lines.append(textwrap.fill(text, 88, subsequent_indent="       "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        questions = "".join(
            _question(f"quiz-{self.name}-{number}", number, question)
            for number, question in enumerate(self.questions, start=1)
        )
        # MathJax looks only into blocks of this class.
        return (
            f'<div class="informed-quiz tex2jax_process mathjax_process" id="quiz-{self.name}">\n'
            f"<style>\n{_style()}</style>\n{questions}</div>\n"
        )


def quiz(name: str) -> Quiz:
    """Return the quiz of a chapter; a notebook shows it.

    Parameters
    ----------
    name : str
        Name of the chapter, which is that of its notebook: ``"averaging"``.

    Returns
    -------
    quiz : Quiz
        The questions.

    Examples
    --------
    >>> from informed.quiz import quiz
    >>> len(quiz("why-the-usual-distance-fails").questions)
    4
    """
    known = names()
    if name not in known:
        close = get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {known}"
        raise ValueError(f"name={name!r}: no quiz has this name; {hint}")
    source = files("informed.teaching.chapters") / name.replace("-", "_") / "quiz.toml"
    return parse(name, source.read_text(encoding="utf-8"))


def names() -> list[str]:
    """Return the names of all quizzes, sorted."""
    return sorted(
        folder.name.replace("_", "-")
        for folder in files("informed.teaching.chapters").iterdir()
        if (folder / "quiz.toml").is_file()
    )


def parse(name: str, source: str) -> Quiz:
    """Read a quiz from TOML.

    Parameters
    ----------
    name : str
        Name of the chapter.
    source : str
        TOML in the form that is shown at the top of ``informed.teaching.quiz``.

    Returns
    -------
    quiz : Quiz
        The questions.

    Raises
    ------
    ValueError
        If the source breaks a rule of the form. The message names the file and the question.
    """
    file = f"{name}.toml"
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: not valid TOML: {error}") from None
    _refuse_unknown(file, table, {"question"})
    questions = table.get("question")
    if not isinstance(questions, list) or not questions:
        raise ValueError(f"{file}: needs at least one [[question]]")
    return Quiz(
        name,
        tuple(
            _parse_question(f"{file}, question {number}", question)
            for number, question in enumerate(questions, start=1)
        ),
    )


def _parse_question(place: str, table: Mapping[str, Any]) -> Question:
    _refuse_unknown(place, table, {"text", "choice", "several"})
    choices = table.get("choice")
    if not isinstance(choices, list) or not 2 <= len(choices) <= len(LETTERS):
        raise ValueError(f"{place}: needs two to {len(LETTERS)} of [[question.choice]]")
    several = _truth(place, table, "several")
    question = Question(
        _text(place, table, "text"),
        tuple(
            _parse_choice(f"{place}, choice {number}", choice)
            for number, choice in enumerate(choices, start=1)
        ),
        several,
    )
    right = sum(choice.right for choice in question.choices)
    if several and right < 2:
        raise ValueError(f"{place}: several = true, but {right} of the choices have right = true")
    if not several and right != 1:
        raise ValueError(f"{place}: exactly one choice must have right = true, not {right}")
    if len({choice.text for choice in question.choices}) < len(choices):
        raise ValueError(f"{place}: two choices have the same text")
    return question


def _parse_choice(place: str, table: Mapping[str, Any]) -> Choice:
    _refuse_unknown(place, table, {"text", "explanation", "right"})
    return Choice(
        _text(place, table, "text"),
        _text(place, table, "explanation"),
        _truth(place, table, "right"),
    )


def _refuse_unknown(place: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(table) - known):
        raise ValueError(f"{place}: unknown key {unknown[0]!r}; allowed are {sorted(known)}")


def _text(place: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place}: needs {key} = '...', a text that is not empty; got {value!r}")
    for mark in "$`":
        if MARKED.sub("", value).count(mark):
            raise ValueError(f"{place}: {key} has a {mark} that is not closed")
    return " ".join(value.split())


def _truth(place: str, table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ValueError(f"{place}: {key} must be true or false, not {value!r}")
    return value


def _question(name: str, number: int, question: Question) -> str:
    more = " (More than one answer is right.)" if question.several else ""
    kind = "checkbox" if question.several else "radio"
    choices = "".join(
        _choice(name, f"{name}-{letter}", kind, choice)
        for letter, choice in zip(LETTERS, question.choices, strict=False)
    )
    return (
        f'<fieldset id="{name}">\n<legend>{number}. {_html(question.text)}{more}</legend>\n'
        f"{choices}</fieldset>\n"
    )


def _choice(group: str, name: str, kind: str, choice: Choice) -> str:
    verdict = "Right." if choice.right else "No."
    return (
        f'<div class="choice {"right" if choice.right else "wrong"}">\n'
        f'<input type="{kind}" id="{name}" name="{group}" autocomplete="off">\n'
        # An answer that is only a formula would have no name; its letter is one.
        f'<label for="{name}"><span class="letter">{name[-1]})</span> '
        f"{_html(choice.text)}</label>\n"
        # The status is there from the start, and empty: so screen readers announce what it gets.
        f'<div role="status"><p class="explanation"><strong>{verdict}</strong> '
        f"{_html(choice.explanation)}</p></div>\n</div>\n"
    )


def _html(text: str) -> str:
    """Return text as HTML: escaped, mathematics for MathJax, code as code."""
    parts, end = [], 0
    for found in MARKED.finditer(text):
        parts.append(escape(text[end : found.start()]))
        formula, code = found.groups()
        parts.append(rf"\({escape(formula)}\)" if formula else f"<code>{escape(code)}</code>")
        end = found.end()
    html = "".join([*parts, escape(text[end:])])
    return KEPT.sub(r'<span class="kept">\g<0></span>', html)


@cache
def _style() -> str:
    return (files("informed.teaching") / "quiz.css").read_text(encoding="utf-8")
