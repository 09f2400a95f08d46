"""The bank of items and the exams drawn from it: right, balanced, readable by others, secret."""

from __future__ import annotations

import math
import re
import subprocess
import tomllib

import nbformat
import numpy as np
import pytest
from conftest import ROOT

import course
from informed.teaching.assessment.exam import (
    LETTERS,
    MARGIN,
    RULES,
    Exam,
    draw_exam,
    guessed,
    is_balanced,
)
from informed.teaching.assessment.items import Choice, Draw, Item, Number, Shelf, load_bank

BANK = load_bank(ROOT / "course" / "items")
NUMERICAL = [item for item in BANK if item.numerical]
WITH_OPTIONS = [item for item in BANK if not item.numerical]
EXERCISES = tomllib.loads((ROOT / "course" / "blueprint.toml").read_text("utf-8"))
SEEDS = [f"a teacher's secret {number}" for number in range(25)]
QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
CP = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
MATH = "{http://www.w3.org/1998/Math/MathML}"


def objectives(chapter: str) -> list[str]:
    """What a chapter says that one will learn."""
    text = "\n".join(
        cell.source
        for cell in nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells
    )
    listed = re.search(r"\*\*What you will learn\*\*\n(.*?)\n\*\*What you need", text, re.DOTALL)
    assert listed is not None
    return re.findall(r"^- (.*)$", listed[1], re.MULTILINE)


# ------------------------------------------------------------------------------------ the bank


def test_the_bank_is_large_enough_and_half_of_it_numbers() -> None:
    assert len(BANK) >= 100
    assert len({item.name for item in BANK}) == len(BANK)
    assert 0.45 <= len(NUMERICAL) / len(BANK) <= 0.6


@pytest.mark.parametrize("path", course.chapters(), ids=lambda path: path.stem)
def test_each_objective_of_each_chapter_has_an_item(path) -> None:
    asked = {item.objective for item in BANK if item.chapter == path.stem}
    assert asked == set(range(1, len(objectives(path.stem)) + 1))


@pytest.mark.parametrize("path", course.chapters(), ids=lambda path: path.stem)
def test_the_blueprint_has_each_exercise_of_the_book(path) -> None:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    labels = re.findall(r"\{exercise\}[^\n]*\n *:label: (\S+)", text)
    assert list(EXERCISES[path.stem]) == labels
    assert set(EXERCISES[path.stem].values()) <= set(range(1, len(objectives(path.stem)) + 1))


@pytest.mark.parametrize("item", NUMERICAL, ids=lambda item: item.name)
def test_a_numerical_item_differs_from_seed_to_seed_and_takes_three_digits(item: Item) -> None:
    questions = [item.question(seed) for seed in SEEDS]
    assert len({question.text for question in questions}) >= 5
    for question in questions:
        assert isinstance(question, Number)
        assert math.isfinite(question.answer)
        assert question.accepts(float(f"{question.answer:.3g}"))
        assert not question.accepts(question.answer * 1.03 + 1e-6)
        assert item.question(SEEDS[0]) == questions[0]


@pytest.mark.parametrize(
    ("answer", "share", "near", "far"),
    [
        (3.14159, 0.006, 3.16, 3.161),
        (-0.5, 0.006, -0.5029, -0.5031),
        (2500, 0.006, 2514, 2516),
        (1000, 0.006, 994.1, 993.9),
        (2.5, 0.1, 2.74, 2.76),
        # Small counts are to be met.
        (0, 0.006, 0, 1e-6),
        (250, 0.006, 250, 251),
        (999, 0.006, 999, 998),
    ],
)
def test_a_number_is_right_up_to_its_tolerance(answer, share, near, far) -> None:
    question = Number("?", answer, "", relative=share)
    assert question.accepts(near)
    assert not question.accepts(far)
    # Rounding in the last digits of the machine does no harm.
    assert question.accepts(answer * (1 + 1e-14))


@pytest.mark.parametrize("item", WITH_OPTIONS, ids=lambda item: item.name)
def test_an_item_with_options_has_one_right_one_and_other_ones_from_seed_to_seed(item) -> None:
    questions = [item.question(seed) for seed in SEEDS]
    assert len({question.options for question in questions}) >= 5
    assert len({question.options[question.right] for question in questions}) <= 3
    for question in questions:
        assert isinstance(question, Choice)
        assert len(set(question.options)) == len(LETTERS)


@pytest.mark.parametrize("item", BANK, ids=lambda item: item.name)
def test_marks_are_closed_and_formulas_can_be_set(item: Item) -> None:
    from latex2mathml.converter import convert

    question = item.question("a seed")
    options = question.options if isinstance(question, Choice) else ()
    for text in (question.text, question.explanation, *options):
        bare = re.sub(r"\$[^$]+\$|`[^`]+`", "", text)
        assert not set("$`") & set(bare)
        for formula in re.findall(r"\$([^$]+)\$", text):
            assert "<mtext>\\" not in convert(formula), formula


# A letter with an index, or a Greek one: names that a chapter has given to something.
NAMED = re.compile(
    r"[A-Za-z]_(?:\{[^}]*\}|\w)|\\(?:Phi|Sigma|Lambda|beta|eta|gamma|ell|lambda|nu|omega|rho|tau)\b"
)


@pytest.mark.parametrize("item", BANK, ids=lambda item: item.name)
def test_an_item_uses_the_names_of_its_chapter(item: Item) -> None:
    cells = nbformat.read(ROOT / "book" / f"{item.chapter}.ipynb", as_version=4).cells
    chapter = "".join("".join(cell.source for cell in cells).split())
    question = item.question("a seed")
    for formula in re.findall(r"\$([^$]+)\$", question.text):
        for name in NAMED.findall(formula):
            assert name in chapter, name


def test_no_item_repeats_a_question_of_a_public_quiz() -> None:
    public = " ".join(
        path.read_text("utf-8") for path in (ROOT / "informed" / "teaching").rglob("quiz.toml")
    )
    public = " ".join(public.split())
    for item in WITH_OPTIONS:
        assert " ".join(item.question("x").text.split()) not in public, item.name


# ------------------------------------------------------------------- what an item once got wrong


def test_all_four_conditions_fail_for_a_wide_matrix() -> None:
    """The question whose key named one of them."""
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(3, 5)), rng.normal(size=(5, 5))
    hidden = B @ B.T
    S = A @ hidden @ A.T
    G = np.linalg.pinv(A).T @ np.linalg.inv(hidden) @ np.linalg.pinv(A)
    for one, other in (
        (S @ G @ S, S),
        (G @ S @ G, G),
        ((S @ G).T, S @ G),
        ((G @ S).T, G @ S),
    ):
        assert not np.allclose(one, other)
    (item,) = [item for item in BANK if item.name == "pseudo-inverse/wide"]
    question = item.question("s")
    assert question.options[question.right] == "Each one of the four."


# ------------------------------------------------------------------------------- drawing an exam


@pytest.mark.parametrize("seed", SEEDS)
def test_no_rule_beats_chance_by_more_than_two_questions(seed: str) -> None:
    exam = draw_exam(BANK, seed)
    chance = len(exam.choices) / len(LETTERS)
    assert len(exam.entries) == 20
    assert len(exam.choices) == 10
    # Every chapter that the bank knows, as far as twenty questions reach.
    assert len({entry.item.chapter for entry in exam.entries}) == len({i.chapter for i in BANK})
    for name, rule in RULES.items():
        assert guessed(rule, exam.choices) <= chance + MARGIN, name


# Ways of guessing that the drawing of an exam knows nothing of.
OTHER_RULES = {
    "most formulas, nothing too sure": lambda _, options: [
        len(re.findall(r"[\\^_=<>/$]", o)) - 99 * bool(re.search(r"\b(always|never)\b", o))
        for o in options
    ],
    "in the middle": lambda _, options: [float(k in (1, 2)) for k in range(len(options))],
    "gives a reason": lambda _, options: [
        len(re.findall(r"\b(because|since|so|which)\b", o)) for o in options
    ],
    "fewest letters a word": lambda _, options: [-len(o) / len(o.split()) for o in options],
    "most letters a word": lambda _, options: [len(o) / len(o.split()) for o in options],
    "most capitals": lambda _, options: [sum(c.isupper() for c in option) for option in options],
    "ends with a comma clause": lambda _, options: [option.rfind(",") for option in options],
    "alphabetically first": lambda _, options: [-sorted(options).index(o) for o in options],
    "alphabetically last": lambda _, options: [sorted(options).index(o) for o in options],
    "negation": lambda _, options: [len(re.findall(r"\b(not|no|none)\b", o)) for o in options],
}


def test_over_the_whole_bank_no_rule_pays_not_even_one_that_was_not_balanced() -> None:
    choices = [item.question(seed) for item in WITH_OPTIONS for seed in SEEDS]
    for name, rule in {**RULES, **OTHER_RULES}.items():
        share = guessed(rule, choices) / len(choices)
        assert share <= 1 / len(LETTERS) + 2 / 20, (name, share)


def test_the_letters_of_the_key_are_spread() -> None:
    for seed in SEEDS[:10]:
        letters = [letter for letter in draw_exam(BANK, seed).key() if letter in LETTERS]
        assert max(map(letters.count, LETTERS)) <= 4


def test_a_bank_that_gives_itself_away_is_refused() -> None:
    shelf = Shelf("given-away")
    for k in range(30):
        shelf.choice(f"q{k}", 1, "?", right=["a right one that is long"], wrong=list("bcd"), why="")

        def make(draw: Draw) -> Number:
            return Number(str(draw.integer(1, 9)), 1.5, "")

        make.__name__ = f"n{k}"
        shelf.number(1)(make)
    with pytest.raises(ValueError, match="balanced"):
        draw_exam(shelf.items, "s", 20)


def test_an_exam_with_all_answers_in_one_place_is_not_balanced() -> None:
    exam = draw_exam(BANK, "s")
    entries = []
    for entry in exam.entries:
        question = entry.question
        if isinstance(question, Choice):
            right = question.options[question.right]
            options = (right, *(option for option in question.options if option != right))
            question = Choice(question.text, options, 0, "")
        entries.append(type(entry)(entry.item, question))
    assert is_balanced(exam)
    assert not is_balanced(Exam(tuple(entries)))


def test_the_seed_is_all_and_a_guess_of_it_is_nothing() -> None:
    assert draw_exam(BANK, "secret") == draw_exam(BANK, "secret")
    one, other = draw_exam(BANK, "secret"), draw_exam(BANK, "Secret")
    same = {e.question for e in one.entries} & {e.question for e in other.entries}
    assert len(same) <= 2
    with pytest.raises(ValueError, match="seed"):
        draw_exam(BANK, " ")
    with pytest.raises(ValueError, match="bank"):
        draw_exam(BANK[:5], "s")


def test_bad_items_are_refused() -> None:
    shelf = Shelf("x")
    with pytest.raises(ValueError, match="needs a right option"):
        shelf.choice("a", 1, "?", right=["x"], wrong=["y", "z"], why="")
    with pytest.raises(ValueError, match="the same"):
        shelf.choice("a", 1, "?", right=["x"], wrong=["x", "y", "z"], why="")
    shelf.choice("a", 1, "?", right=["w"], wrong=["x", "y", "z"], why="")
    with pytest.raises(ValueError, match="already"):
        shelf.choice("a", 1, "?", right=["w"], wrong=["x", "y", "z"], why="")


# --------------------------------------------------------------------------------------- secrecy


def test_no_public_file_holds_the_exam_or_its_key() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    assert not any(
        "final-test" in name or "exam.html" in name for name in names if (ROOT / name).exists()
    )
    text = "\n".join(
        (ROOT / name).read_text("utf-8", errors="ignore")
        for name in names
        if (ROOT / name).is_file() and (ROOT / name).stat().st_size < 2_000_000
    )
    for entry in draw_exam(BANK, "a secret of the teacher").entries:
        if isinstance(entry.question, Number):
            assert entry.question.text not in text
        else:
            # The pool of a question is public; what is asked of it, and in which order, is not.
            assert "\n".join(entry.question.options) not in text


def test_students_get_no_item() -> None:
    names = set()
    for name, data in course.students():
        names.add(name)
        assert b"SHELF.choice(" not in data or name.endswith("assessment/items.py"), name
    assert "library/informed/teaching/assessment/items.py" in names
