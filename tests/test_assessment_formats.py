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
from qti_model import QTI, SPACES, faults

from informed.studies.cli import main
from informed.teaching.assessment.command import blueprint
from informed.teaching.assessment.exam import LETTERS, Entry, Exam, draw_exam
from informed.teaching.assessment.exports import _html, moodle_xml, printable, qti_package
from informed.teaching.assessment.items import Choice, load_bank

BANK = load_bank(ROOT / "course" / "items")
EXERCISES = tomllib.loads((ROOT / "course" / "blueprint.toml").read_text("utf-8"))
CP = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
MATH = "{http://www.w3.org/1998/Math/MathML}"


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


def test_a_formula_in_qti_stands_in_the_name_space_of_mathematics() -> None:
    read = ET.fromstring(ET.tostring(_html("p", "With $x$, and with `code`, is $y^2$.")))
    names = [each.tag for each in read]
    assert names == [f"{MATH}math", "code", f"{MATH}math"]
    assert [each.tag.startswith(MATH) for each in read.iter()].count(False) == 2  # p and code
    assert "".join(read.itertext()) == "With x, and with code, is y2."


@pytest.mark.parametrize("seed", ["first", "second"])
def test_every_item_of_the_bank_follows_the_schema_of_qti(seed: str) -> None:
    whole = Exam(tuple(Entry(item, item.question(seed)) for item in BANK))
    files = files_of(qti_package(whole, "Title"))
    assert len(files) == len(BANK) + 2  # a test and a manifest
    found = {name: list(faults(root)) for name, root in files.items()}
    assert {name: what for name, what in found.items() if what} == {}


# One thing is changed at a time: in an item with a choice, in one with a number, in the test, or in
# the manifest.
CHOICE, NUMBER, TEST, MANIFEST = "choice", "number", "test.xml", "imsmanifest.xml"
NESTS = {"em", "code", "sum"}  # each may hold itself
TWIN = '<responseDeclaration identifier="RESPONSE" cardinality="single"/>'
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
    # Identifiers: which differ, and which name another.
    (CHOICE, "<responseDeclaration", f"{TWIN}<responseDeclaration", "'RESPONSE' stands twice"),
    (CHOICE, 'identifier="B"', 'identifier="B²"', "identifier is 'B²'"),
    (
        NUMBER,
        'responseIdentifier="RESPONSE"',
        'responseIdentifier="SCORE"',
        "'SCORE' names nothing",
    ),
    (TEST, 'identifier="part"', 'identifier="exam"', "'exam' stands twice"),
    (TEST, 'identifier="section"', 'identifier="part"', "'part' stands twice"),
    (TEST, 'identifier="item-02"', 'identifier="section"', "'section' stands twice"),
    (
        MANIFEST,
        '<resource identifier="item-02"',
        '<resource identifier="exam"',
        "'exam' stands twice",
    ),
    (MANIFEST, 'identifierref="item-02"', 'identifierref="item-99"', "'item-99' names nothing"),
    # What an element holds.
    (CHOICE, "<itemBody>", "<itemBody><em/>", "itemBody: holds"),
    (CHOICE, "</choiceInteraction>", "<p/></choiceInteraction>", "choiceInteraction: holds"),
    (CHOICE, "</simpleChoice>", "<textEntryInteraction/></simpleChoice>", "simpleChoice: holds"),
    (
        CHOICE,
        "<correctResponse>",
        "<correctResponse/><correctResponse>",
        "responseDeclaration: holds",
    ),
    (CHOICE, "<defaultValue>", "<defaultValue/><defaultValue>", "defaultValue: holds []"),
    (CHOICE, "</defaultValue>", "</defaultValue><value/>", "outcomeDeclaration: holds"),
    (CHOICE, "</value>", "<p/></value>", "value: holds"),
    (
        NUMBER,
        'identifier="RESPONSE" />',
        'identifier="RESPONSE"> </variable>',
        "variable: is not empty",
    ),
    (
        NUMBER,
        'expectedLength="10" />',
        'expectedLength="10"> </textEntryInteraction>',
        "is not empty",
    ),
    (NUMBER, "<responseIf>", "<responseIf/><responseIf>", "responseCondition: holds"),
    (NUMBER, "<equal", "<setOutcomeValue/><equal", "responseIf: holds"),
    (NUMBER, "<baseValue", "<baseValue/><baseValue", "setOutcomeValue: holds"),
    (NUMBER, "<responseCondition>", "<p/><responseCondition>", "responseProcessing: holds"),
    (NUMBER, "<correct ", "<testVariables/><correct ", "holds testVariables"),
    (NUMBER, 'expectedLength="10"', 'expectedLength="10000000000"', "expectedLength is"),
    (NUMBER, ' baseType="float">1', ">1", "baseValue: lacks baseType"),
    (NUMBER, "<p>", "<p><choiceInteraction/>", "p: holds"),
    (TEST, "<testVariables", "<equal/><testVariables", "sum: holds"),
    (TEST, "<assessmentItemRef", "<p/><assessmentItemRef", "assessmentSection: holds"),
    (TEST, "<assessmentSection", "<assessmentItemRef/><assessmentSection", "testPart: holds"),
    (TEST, "<testPart", "<outcomeProcessing/><testPart", "assessmentTest: holds"),
    (TEST, 'submissionMode="individual"', 'submissionMode="once"', "submissionMode is 'once'"),
    (TEST, ' href="item-01.xml"', "", "assessmentItemRef: lacks href"),
    (MANIFEST, "<organizations />", "", "manifest: holds"),
    (MANIFEST, "<schemaversion>", "<schema/><schemaversion>", "metadata: holds"),
    (MANIFEST, "<file ", "<dependency/><file ", "resource: holds"),
    (MANIFEST, "<resource ", "<file/><resource ", "resources: holds"),
    (MANIFEST, ' type="imsqti_test_xmlv2p1"', "", "resource: lacks type"),
    (MANIFEST, 'type="imsqti_test_xmlv2p1"', 'type="test"', "type is 'test'"),
    (MANIFEST, '<file href="test.xml"', "<file", "file: lacks href"),
    (MANIFEST, ' identifier="manifest"', ' identifier="1"', "identifier is '1'"),
    (MANIFEST, "<resources>", "<resources>Words.", "resources: holds text"),
    (MANIFEST, "<metadata>", '<metadata><p xmlns="x"/>', "p: not an element"),
]


@pytest.mark.parametrize(("kind", "old", "new", "words"), SPOILED)
def test_the_model_of_the_schema_refuses(exam, kind: str, old: str, new: str, words: str) -> None:
    kinds = [CHOICE if isinstance(e.question, Choice) else NUMBER for e in exam.entries]
    name = f"item-{kinds.index(kind) + 1:02d}.xml" if kind in kinds else kind
    with zipfile.ZipFile(io.BytesIO(qti_package(exam, "Title"))) as archive:
        text = archive.read(name).decode()
    assert list(faults(ET.fromstring(text))) == []
    assert old in text
    assert any(words in fault for fault in faults(ET.fromstring(text.replace(old, new, 1))))


def test_the_model_refuses_each_kind_of_fault_in_each_element(exam: Exam) -> None:
    """No entry of the model's tables is without force: attributes, their forms, text, children."""
    files = files_of(qti_package(exam, "Title"))
    seen: set[str] = set()
    for root in files.values():
        for element in root.iter():
            space, _, tag = element.tag.rpartition("}")
            model = SPACES.get(f"{space}}}", {}).get(tag)
            if model is None or tag in seen:
                continue
            seen.add(tag)
            for name, value in list(element.attrib.items()):
                del element.attrib[name]
                lacks = f"{tag}: lacks {name}" in faults(root)
                assert lacks == (name in model.required)
                element.set(name, "\t±\n")
                assert any(f"{tag}: {name} is" in fault for fault in faults(root))
                element.set(name, value)
            text = element.text
            element.text = "words"
            assert any(f"{tag}: " in fault for fault in faults(root)) != model.mixed
            element.text = text
            child = ET.SubElement(element, element.tag)
            assert any(f"{tag}: holds ['" in fault for fault in faults(root)) != (tag in NESTS)
            element.remove(child)
            assert list(faults(root)) == []
    # The others stand only in some items of the bank.
    assert {tag for models in SPACES.values() for tag in models} - seen <= NESTS


def test_mathematics_in_qti_is_that_of_mathml_2() -> None:
    space = 'xmlns="http://www.w3.org/1998/Math/MathML"'
    for inside, words in (
        ("<msup><mi>x</mi></msup>", "msup: holds 1"),
        ("<menclose><mi>x</mi></menclose>", "menclose: not"),
        ("<mrow>x</mrow>", "mrow: holds text"),
        ('<mi href="x">x</mi>', "mi: has href"),
        ('<mspace width="wide"/>', "mspace: width is 'wide'"),
        ('<mover accent="yes"><mi>x</mi><mo>~</mo></mover>', "mover: accent is 'yes'"),
        ("<mrow><math/></mrow>", "mrow: holds math"),
        ("<mrow><mtr/></mrow>", "mrow: holds mtr"),
        ("<mtable><mrow/></mtable>", "mtable: holds mrow"),
        ("<mtable><mtr><mtd><mi>x</mi></mtd></mtr></mtable>", ""),
        ("<msup><mi>x</mi><mn>2</mn></msup>", ""),
    ):
        found = list(faults(ET.fromstring(f"<math {space}>{inside}</math>")))
        assert [words in fault for fault in found] == [True] * bool(words)
    mixed = f'<math {space}><mrow><p xmlns="{QTI[1:-1]}"/></mrow></math>'
    assert any("no mathematics" in fault for fault in faults(ET.fromstring(mixed)))


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
