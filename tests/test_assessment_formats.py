"""The formats of an exam: Moodle XML, QTI, pages to print, and the command that writes them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from xml.etree import ElementTree as ET

import pytest
from conftest import ROOT
from qti_model import QTI, faults

from informed.studies.cli import main
from informed.teaching.assessment.command import blueprint
from informed.teaching.assessment.exam import LETTERS, Entry, Exam, draw_exam
from informed.teaching.assessment.exports import moodle_xml, printable, qti_package
from informed.teaching.assessment.items import Choice, load_bank

BANK = load_bank(ROOT / "course" / "items")
EXERCISES = tomllib.loads((ROOT / "course" / "blueprint.toml").read_text("utf-8"))
CP = "{http://www.imsglobal.org/xsd/imscp_v1p1}"


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


def files_of(data: bytes) -> dict[str, ET.Element]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}


@pytest.mark.parametrize("seed", ["first", "second"])
def test_every_item_of_the_bank_follows_the_schema_of_qti(seed: str) -> None:
    whole = Exam(tuple(Entry(item, item.question(seed)) for item in BANK))
    files = files_of(qti_package(whole, "Title"))
    documents = {name: root for name, root in files.items() if name != "imsmanifest.xml"}
    assert len(documents) == len(BANK) + 1
    found = {name: list(faults(root)) for name, root in documents.items()}
    assert {name: what for name, what in found.items() if what} == {}


# One thing is changed at a time, in an item with a choice, in one with a number, or in the test.
CHOICE, NUMBER, TEST = "choice", "number", "test"
SPOILED: list[tuple[str, str, str, str]] = [
    (CHOICE, "<itemBody>", "<itemBody>Words without a paragraph. ", "itemBody: holds text"),
    (CHOICE, ' timeDependent="false"', "", "lacks timeDependent"),
    (CHOICE, 'adaptive="false"', 'adaptive="no"', "adaptive is 'no'"),
    (CHOICE, 'cardinality="single"', 'cardinality="one"', "cardinality is 'one'"),
    (CHOICE, 'baseType="identifier"', 'baseType="letter"', "baseType is 'letter'"),
    (CHOICE, 'identifier="B"', 'identifier="2 b"', "identifier is '2 b'"),
    (CHOICE, 'maxChoices="1"', 'maxChoices="one"', "maxChoices is 'one'"),
    (CHOICE, "<value>", "<text>x</text><value>", "text: not an element"),
    (CHOICE, 'shuffle="true"', 'random="true"', "choiceInteraction: has random"),
    (
        NUMBER,
        "<correct identifier",
        "<variable identifier='X'/><correct identifier",
        "equal: holds",
    ),
    (NUMBER, 'toleranceMode="absolute"', 'toleranceMode="about"', "toleranceMode is 'about'"),
    (NUMBER, 'tolerance="', 'tolerance="± ', "tolerance is"),
    (NUMBER, ' responseIdentifier="RESPONSE"', "", "lacks responseIdentifier"),
    (NUMBER, "</itemBody>", "</itemBody><outcomeDeclaration/>", "assessmentItem: holds"),
    (NUMBER, "</itemBody>", "<textEntryInteraction/></itemBody>", "itemBody: holds"),
    (TEST, ' visible="true"', "", "assessmentSection: lacks visible"),
    (TEST, 'navigationMode="nonlinear"', 'navigationMode="free"', "navigationMode is 'free'"),
    (TEST, "<outcomeProcessing>", "<outcomeProcessing><p/>", "outcomeProcessing: holds"),
    (TEST, " variableIdentifier", " identifier", "testVariables: lacks variableIdentifier"),
]


@pytest.mark.parametrize(("kind", "old", "new", "words"), SPOILED)
def test_the_model_of_the_schema_refuses(exam, kind: str, old: str, new: str, words: str) -> None:
    kinds = [CHOICE if isinstance(e.question, Choice) else NUMBER for e in exam.entries]
    name = "test.xml" if kind == TEST else f"item-{kinds.index(kind) + 1:02d}.xml"
    with zipfile.ZipFile(io.BytesIO(qti_package(exam, "Title"))) as archive:
        text = archive.read(name).decode()
    assert list(faults(ET.fromstring(text))) == []
    assert old in text
    assert any(words in fault for fault in faults(ET.fromstring(text.replace(old, new, 1))))


def test_mathematics_in_qti_is_that_of_mathml_2() -> None:
    space = 'xmlns="http://www.w3.org/1998/Math/MathML"'
    for inside, words in (
        ("<msup><mi>x</mi></msup>", "msup: holds 1"),
        ("<menclose><mi>x</mi></menclose>", "menclose: not"),
        ("<mrow>x</mrow>", "mrow: holds text"),
        ('<mi href="x">x</mi>', "mi: has href"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", ""),
    ):
        found = list(faults(ET.fromstring(f"<math {space}>{inside}</math>")))
        assert [words in fault for fault in found] == [True] * bool(words)


def test_qti_items_hold_the_right_responses(exam: Exam) -> None:
    files = files_of(qti_package(exam, "Title"))
    for number, entry in enumerate(exam.entries, start=1):
        item = files[f"item-{number:02d}.xml"]
        right = item.findtext(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")
        identifiers = [c.get("identifier") for c in item.iter(f"{QTI}simpleChoice")]
        if isinstance(entry.question, Choice):
            assert right == LETTERS[entry.question.right].upper()
            assert identifiers == list("ABCD")
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
