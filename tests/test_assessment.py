"""The bank of items and the exams drawn from it: right, balanced, readable by others, secret."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from xml.etree import ElementTree as ET

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from scipy import stats

import course
from informed.studies.cli import main
from informed.teaching.assessment.command import blueprint
from informed.teaching.assessment.exam import (
    LETTERS,
    MARGIN,
    RULES,
    Exam,
    draw_exam,
    guessed,
    is_balanced,
)
from informed.teaching.assessment.exports import moodle_xml, printable, qti_package
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


def test_no_item_repeats_a_question_of_a_public_quiz() -> None:
    public = " ".join(
        path.read_text("utf-8") for path in (ROOT / "informed" / "teaching").rglob("quiz.toml")
    )
    public = " ".join(public.split())
    for item in WITH_OPTIONS:
        assert " ".join(item.question("x").text.split()) not in public, item.name


# ---------------------------------------------------------- a second way to the numerical answers


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"(?<![\w.^_])-?\d+(?:\.\d+)?(?!\w|\.\d)", text)]


def saturated(n: int, divisor: int) -> float:
    X = np.random.default_rng(n).normal(size=(n, n + 3))
    centred = X - X.mean(axis=0)
    inverse = np.linalg.pinv(centred.T @ centred / divisor, rcond=1e-10, hermitian=True)
    difference = X[0] - X[1]
    return float(np.sqrt(difference @ inverse @ difference))


def kaplan_meier(text: str) -> float:
    from lifelines import KaplanMeierFitter

    told = re.search(r"seen: ([\d+, ]+)\.", text)
    assert told is not None
    words = told[1].split(", ")
    times = [float(word.rstrip("+")) for word in words]
    curve = KaplanMeierFitter().fit(times, [not word.endswith("+") for word in words])
    return float(curve.predict(times[4] + 0.5))


def wide_subspace(d: int, wrong: int) -> float:
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, d + wrong)))[0]
    U, V = Q[:, :d], Q[:, wrong:]
    return float(np.linalg.norm(U @ U.T - V @ V.T))


def block(size: int, variance: float, covariance: float) -> np.ndarray:
    return (variance - covariance) * np.eye(size) + covariance


SECOND_WAY: dict[str, Callable[[str, list[float]], float]] = {
    "why-the-usual-distance-fails/pair-distance": lambda _, n: saturated(int(n[0]), int(n[0]) - 1),
    "why-the-usual-distance-fails/divisor-of-scikit-learn": lambda _, n: saturated(
        int(n[-1]), int(n[-1])
    ),
    "pca-distance/saturated": lambda _, n: saturated(int(n[0]), int(n[0]) - 1),
    "hidden-variables/unequal-variances": lambda _, n: float(
        np.linalg.norm(
            np.linalg.pinv(np.diag(n[:2])) @ np.array(n[2:4])
        )
    ),
    "pseudo-inverse/rank-one": lambda _, n: float(
        np.linalg.pinv(np.outer(n[0:2], n[2:4]))[0, 1]
    ),
    "pseudo-inverse/entry-of-the-formula": lambda _, n: _first_entry(_),
    "kmeans-and-pca/lower-bound": lambda t, n: _ky_fan(t),
    "averaging/averaged-entry": lambda _, n: float(np.mean(n[:3])),
    "optimal-directions/penalised-eigenvalue": lambda t, n: _penalised(t),
    "when-clusters-help/centers": lambda _, n: float(
        n[0] * stats.chi2(int(n[1]) - 1).mean()
    ),
    "toy-problem/leading-eigenvalue": lambda _, n: float(
        np.linalg.eigvalsh(block(int(n[0]), n[1], n[2])).max()
    ),
    "toy-problem/other-eigenvalues": lambda _, n: float(
        np.linalg.eigvalsh(block(5, n[0], n[1])).min()
    ),
    "toy-problem/error-of-a-subspace": lambda _, n: wide_subspace(int(n[0]), int(n[2])),
    "risk-groups/kaplan-meier": lambda t, _: kaplan_meier(t),
    "risk-groups/variance-of-one-time": lambda _, n: float(
        stats.hypergeom(int(n[0] + n[1]), int(n[0]), 1).var()
    ),
    "risk-groups/expected-deaths": lambda _, n: float(
        stats.hypergeom(int(n[0] + n[1]), int(n[0]), int(n[2])).mean()
    ),
    "real-cohorts/fisher-of-two": lambda _, n: float(stats.combine_pvalues(n[:2]).pvalue),
    "real-cohorts/fisher-statistic": lambda _, n: float(stats.combine_pvalues(n[:3]).statistic),
    "real-cohorts/harmonic-mean": lambda _, n: float(stats.hmean(n[:3])),
    "other-uses/log-determinant": lambda _, n: float(
        np.linalg.slogdet(np.diag([n[1], n[2]] + [n[3]] * (int(n[0]) - 2)))[1]
    ),
    "critical-reading/best-of-several": lambda _, n: float(
        stats.binom(int(n[0]), n[1]).sf(0)
    ),
}  # fmt: skip


def _first_entry(text: str) -> float:
    a, b = (int(word) for word in re.findall(r"(\d) x_", text))
    s, t = (float(word) for word in re.search(r"variances (\d) and (\d)", text).groups())
    A = np.array([[a, 0], [0, b], [0, 0.0]])
    return float(np.linalg.pinv(A @ np.diag([s, t]) @ A.T)[0, 0])


def _ky_fan(text: str) -> float:
    values = [float(w) for w in re.search(r"eigenvalues ([\d, ]+) and", text)[1].split(", ")]
    clusters = int(re.search(r"cost of (\d) clusters", text)[1])
    # The best orthonormal matrix with one column less, found among many random ones and the best.
    M = np.diag(values)
    best = np.eye(len(values))[:, : clusters - 1]
    rng = np.random.default_rng(0)
    others = [np.linalg.qr(rng.normal(size=best.shape))[0] for _ in range(50)]
    costs = [np.trace(M) - np.trace(Q.T @ M @ Q) for Q in [best, *others]]
    return float(min(costs))


def _penalised(text: str) -> float:
    a, b = (float(w) for w in re.search(r"variances (\d) and (\d)", text).groups())
    weight = float(re.search(r"= (\d)\$\?", text)[1])
    H = np.full((2, 1), 1 / np.sqrt(2))
    return float(np.linalg.eigvalsh(np.diag([a, b]) + weight * H @ H.T).max())


@pytest.mark.parametrize("name", SECOND_WAY)
def test_a_second_way_gives_the_same_number(name: str) -> None:
    (item,) = [item for item in BANK if item.name == name]
    for seed in SEEDS[:6]:
        question = item.question(seed)
        assert isinstance(question, Number)
        found = SECOND_WAY[name](question.text, numbers(question.text))
        assert found == pytest.approx(question.answer, rel=1e-6), question.text


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
    "most words": lambda _, options: [len(option.split()) for option in options],
    "most capitals": lambda _, options: [sum(c.isupper() for c in option) for option in options],
    "ends with a comma clause": lambda _, options: [option.rfind(",") for option in options],
    "alphabetically first": lambda _, options: [-sorted(options).index(o) for o in options],
    "alphabetically last": lambda _, options: [sorted(options).index(o) for o in options],
    "longest word": lambda _, options: [max(map(len, option.split())) for option in options],
    "negation": lambda _, options: [len(re.findall(r"\b(not|no|none)\b", o)) for o in options],
    "most like the others": lambda _, options: [
        sum(len(set(o.split()) & set(other.split())) for other in options) for o in options
    ],
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


# --------------------------------------------------------------------------------------- formats


@pytest.fixture(scope="module")
def exam() -> Exam:
    return draw_exam(BANK, "formats")


def test_moodle_xml_has_the_form_that_moodle_imports(exam: Exam) -> None:
    quiz = ET.fromstring(moodle_xml(exam, "Title"))
    assert quiz.tag == "quiz"
    category, *questions = quiz
    assert category.get("type") == "category"
    assert category.findtext("category/text") == "$course$/top/Title"
    assert len(questions) == 20
    assert len({question.findtext("idnumber") for question in questions}) == 20
    for question, entry in zip(questions, exam.entries, strict=True):
        assert question.findtext("name/text")
        assert question.find("questiontext").get("format") == "html"
        assert question.findtext("defaultgrade") == "1"
        assert entry.item.chapter in [tag.findtext("text") for tag in question.findall("tags/tag")]
        answers = question.findall("answer")
        full = [answer for answer in answers if answer.get("fraction") == "100"]
        assert len(full) == 1
        # Each text is HTML that stands by itself.
        ET.fromstring(f"<div>{question.findtext('questiontext/text')}</div>")
        if isinstance(entry.question, Choice):
            assert question.get("type") == "multichoice"
            assert question.findtext("single") == "true"
            assert [a.get("fraction") for a in answers].count("0") == 3
            assert answers.index(full[0]) == entry.question.right
        else:
            assert question.get("type") == "numerical"
            assert float(full[0].findtext("text")) == pytest.approx(entry.question.answer)
            assert float(full[0].findtext("tolerance")) == pytest.approx(
                entry.question.tolerance, rel=1e-4
            )
        assert "$" not in question.findtext("questiontext/text")


# Children in the order of the schema, from the information model of QTI 2.1.
ORDER = ["responseDeclaration", "outcomeDeclaration", "itemBody", "responseProcessing"]
REQUIRED = {
    "assessmentItem": {"identifier", "title", "adaptive", "timeDependent"},
    "responseDeclaration": {"identifier", "cardinality"},
    "outcomeDeclaration": {"identifier", "cardinality"},
    "choiceInteraction": {"responseIdentifier", "shuffle", "maxChoices"},
    "simpleChoice": {"identifier"},
    "textEntryInteraction": {"responseIdentifier"},
    "assessmentTest": {"identifier", "title"},
    "testPart": {"identifier", "navigationMode", "submissionMode"},
    "assessmentSection": {"identifier", "title", "visible"},
    "assessmentItemRef": {"identifier", "href"},
    "setOutcomeValue": {"identifier"},
    "equal": {"toleranceMode"},
    "baseValue": {"baseType"},
}
INLINE = {"p", "em", "code"}


def files_of(data: bytes) -> dict[str, ET.Element]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}


def test_qti_items_follow_the_schema(exam: Exam) -> None:
    files = files_of(qti_package(exam, "Title"))
    for name, root in files.items():
        if name == "imsmanifest.xml":
            continue
        for element in root.iter():
            if element.tag.startswith(MATH):
                continue
            assert element.tag.startswith(QTI), (name, element.tag)
            tag = element.tag.removeprefix(QTI)
            assert REQUIRED.get(tag, set()) <= set(element.attrib), (name, tag)
            if tag in INLINE:
                assert all(
                    child.tag.startswith(MATH)
                    or child.tag.removeprefix(QTI) in {*INLINE, "textEntryInteraction"}
                    for child in element
                )
    for number, entry in enumerate(exam.entries, start=1):
        item = files[f"item-{number:02d}.xml"]
        assert [child.tag.removeprefix(QTI) for child in item] == ORDER
        right = item.findtext(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")
        identifiers = [c.get("identifier") for c in item.iter(f"{QTI}simpleChoice")]
        if isinstance(entry.question, Choice):
            assert right == LETTERS[entry.question.right].upper()
            assert identifiers == list("ABCD")
            # Nothing but text may stand between blocks.
            assert not (item.find(f"{QTI}itemBody").text or "").strip()
        else:
            assert float(right) == pytest.approx(entry.question.answer)
            low, high = item.find(f".//{QTI}equal").get("tolerance").split()
            assert float(low) == float(high) >= 0


def test_the_qti_manifest_names_every_file(exam: Exam) -> None:
    files = files_of(qti_package(exam, "Title"))
    manifest = files["imsmanifest.xml"]
    resources = manifest.findall(f"{CP}resources/{CP}resource")
    assert {r.get("href") for r in resources} == set(files) - {"imsmanifest.xml"}
    identifiers = {r.get("identifier") for r in resources}
    for dependency in manifest.iter(f"{CP}dependency"):
        assert dependency.get("identifierref") in identifiers
    references = [r.get("href") for r in files["test.xml"].iter(f"{QTI}assessmentItemRef")]
    assert references == [f"item-{number:02d}.xml" for number in range(1, 21)]
    assert qti_package(exam, "Title") == qti_package(exam, "Title")


def test_a_reader_that_we_did_not_write_reads_the_package(exam: Exam, tmp_path) -> None:
    pytest.importorskip("pyslet")
    package = tmp_path / "qti.zip"
    package.write_bytes(qti_package(exam, "Title"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "tests" / "qti_reader.py"), str(package)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    test, *items = json.loads(done.stdout)
    assert test["type"] == "AssessmentTest"
    for found, entry in zip(items, exam.entries, strict=True):
        assert found["type"] == "AssessmentItem"
        if isinstance(entry.question, Choice):
            assert found["right"] == LETTERS[entry.question.right].upper()
            assert found["options"] == 4
        else:
            assert float(found["right"]) == pytest.approx(entry.question.answer)


def test_the_sheet_does_not_hold_the_key(exam: Exam) -> None:
    sheet, key = printable(exam, "T", key=False), printable(exam, "T", key=True)
    for page in (sheet, key):
        assert page.count("<section>") == 20
        ET.fromstring(
            page.partition("\n")[2].replace('<meta charset="utf-8">', "").replace("&nbsp;", " ")
        )
    for entry in exam.entries:
        explanation = re.sub(r"\$[^$]+\$|[`*]", "\0", entry.question.explanation)
        longest = max(explanation.split("\0"), key=len)
        assert longest in key
        assert len(longest) < 15 or longest not in sheet


def test_the_command_writes_all_and_says_the_seed_only_if_it_drew_it(
    tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no browser: the pages are there all the same
    items = str(ROOT / "course" / "items")
    assert (
        main(["exam", items, "--seed", "a secret of the teacher", "--out", str(tmp_path / "e")])
        == 0
    )
    said = capsys.readouterr().out
    assert "secret" not in said
    assert "no Chromium" in said
    names = {path.name for path in (tmp_path / "e").iterdir()}
    assert names == {"moodle.xml", "qti.zip", "exam.html", "key.html", "blueprint.md"}
    assert main(["exam", items, "--out", str(tmp_path / "f")]) == 0
    assert re.search(r"seed: [0-9a-f]{32}", capsys.readouterr().out)
    assert main(["exam", str(tmp_path), "--out", str(tmp_path / "g")]) == 2


def test_the_blueprint_lays_out_objectives_exercises_and_items(exam: Exam) -> None:
    text = blueprint(BANK, exam, EXERCISES)
    assert text.count("**") == 2 * 20
    for labels in EXERCISES.values():
        for label in labels:
            assert f" {label}" in text
    assert text.count("\n| ") >= 50
