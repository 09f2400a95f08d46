r"""Write an exam: Moodle XML, QTI 2.1, and pages to print.

All three come from the same questions. In their text, mathematics stands between dollars, code
between backticks and what is stressed between asterisks. Moodle gets ``\( \)`` for its MathJax
filter; QTI and paper get MathML, which is part of QTI and which browsers set without any script.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from html import escape
from xml.etree import ElementTree as ET

from informed.extras import import_extra
from informed.teaching.assessment.exam import LETTERS, Entry, Exam
from informed.teaching.assessment.items import Choice, Number

__all__ = ["moodle_xml", "printable", "qti_package"]

MARKED = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*([^*]+)\*")
QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
QTI_PLACE = f"{QTI} http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
CONTENT = "http://www.imsglobal.org/xsd/imscp_v1p1"
CONTENT_PLACE = f"{CONTENT} http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
MATH = "http://www.w3.org/1998/Math/MathML"
MATCH = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/match_correct"
ASK = " (A number; three digits are enough.)"
# A zip stores the time of each file; a fixed one makes two exports the same in every byte.
TIME = (2026, 1, 1, 0, 0, 0)


def rich(text: str, formula: Callable[[str], str]) -> str:
    """Return text as HTML, its formulas written by a function."""
    parts, end = [], 0
    for found in MARKED.finditer(text):
        parts.append(escape(text[end : found.start()], quote=False))
        inside, code, stressed = found.groups()
        if inside:
            parts.append(formula(inside))
        else:
            tag = "code" if code else "em"
            parts.append(f"<{tag}>{escape(code or stressed, quote=False)}</{tag}>")
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)])


def _mathjax(formula: str) -> str:
    return rf"\({escape(formula, quote=False)}\)"


def _mathml(formula: str) -> str:
    converter = import_extra("latex2mathml.converter", "mathematics on paper and in QTI")
    return str(converter.convert(formula))


# ------------------------------------------------------------------------------------------ Moodle


def moodle_xml(exam: Exam, title: str) -> str:
    """Write the exam for Moodle's *Question bank > Import > Moodle XML format*."""
    quiz = ET.Element("quiz")
    category = ET.SubElement(quiz, "question", type="category")
    _worded(category, "category", f"$course$/top/{title}")
    for number, entry in enumerate(exam.entries, start=1):
        kind = "multichoice" if isinstance(entry.question, Choice) else "numerical"
        question = ET.SubElement(quiz, "question", type=kind)
        _worded(question, "name", f"{number:02d} {entry.item.name}")
        asked = entry.question.text + ("" if isinstance(entry.question, Choice) else ASK)
        _worded(question, "questiontext", f"<p>{rich(asked, _mathjax)}</p>", html=True)
        explained = f"<p>{rich(entry.question.explanation, _mathjax)}</p>"
        _worded(question, "generalfeedback", explained, html=True)
        for name, text in (("defaultgrade", "1"), ("penalty", "0"), ("hidden", "0")):
            ET.SubElement(question, name).text = text
        ET.SubElement(question, "idnumber").text = entry.item.name
        if isinstance(entry.question, Choice):
            _moodle_choice(question, entry.question)
        else:
            _moodle_number(question, entry.question)
        tags = ET.SubElement(question, "tags")
        for tag in (entry.item.chapter, f"objective {entry.item.objective}"):
            _worded(tags, "tag", tag)
    return _document(quiz)


def _moodle_choice(question: ET.Element, choice: Choice) -> None:
    for name, text in (("single", "true"), ("shuffleanswers", "1"), ("answernumbering", "abc")):
        ET.SubElement(question, name).text = text
    for at, option in enumerate(choice.options):
        fraction = "100" if at == choice.right else "0"
        answer = ET.SubElement(question, "answer", fraction=fraction, format="html")
        ET.SubElement(answer, "text").text = rich(option, _mathjax)
        _worded(answer, "feedback", "", html=True)


def _moodle_number(question: ET.Element, number: Number) -> None:
    answer = ET.SubElement(question, "answer", fraction="100", format="moodle_auto_format")
    ET.SubElement(answer, "text").text = repr(float(number.answer))
    _worded(answer, "feedback", "", html=True)
    ET.SubElement(answer, "tolerance").text = f"{number.tolerance:.6g}"


def _worded(parent: ET.Element, name: str, text: str, *, html: bool = False) -> None:
    element = ET.SubElement(parent, name, {"format": "html"} if html else {})
    ET.SubElement(element, "text").text = text


def _document(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


# --------------------------------------------------------------------------------------------- QTI


def qti_package(exam: Exam, title: str) -> bytes:
    """Write the exam as a QTI 2.1 content package: a manifest, a test, and an item a question."""
    names = [f"item-{number:02d}" for number in range(1, len(exam.entries) + 1)]
    files = {f"{name}.xml": _qti_item(name, e) for name, e in zip(names, exam.entries, strict=True)}
    files = {
        "imsmanifest.xml": _manifest(names, title),
        "test.xml": _qti_test(names, title),
        **files,
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, TIME), text, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def _root(name: str, place: str, **attributes: str) -> ET.Element:
    space = place.split(" ")[0]
    return ET.Element(
        name, {"xmlns": space, "xmlns:xsi": INSTANCE, "xsi:schemaLocation": place, **attributes}
    )


def _qti_item(name: str, entry: Entry) -> str:
    item = _root(
        "assessmentItem",
        QTI_PLACE,
        identifier=name,
        title=entry.item.name,
        adaptive="false",
        timeDependent="false",
    )
    question = entry.question
    is_choice = isinstance(question, Choice)
    response = ET.SubElement(
        item,
        "responseDeclaration",
        identifier="RESPONSE",
        cardinality="single",
        baseType="identifier" if is_choice else "float",
    )
    correct = ET.SubElement(ET.SubElement(response, "correctResponse"), "value")
    outcome = ET.SubElement(
        item, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float"
    )
    ET.SubElement(ET.SubElement(outcome, "defaultValue"), "value").text = "0"
    body = ET.SubElement(item, "itemBody")
    if isinstance(question, Choice):
        correct.text = LETTERS[question.right].upper()
        # In paragraphs, and not as the prompt: some readers take mathematics nowhere else.
        body.append(_html("p", question.text))
        asked = ET.SubElement(
            body, "choiceInteraction", responseIdentifier="RESPONSE", shuffle="true", maxChoices="1"
        )
        for letter, option in zip(LETTERS.upper(), question.options, strict=True):
            ET.SubElement(asked, "simpleChoice", identifier=letter).append(_html("p", option))
        ET.SubElement(item, "responseProcessing", template=MATCH)
    else:
        correct.text = repr(float(question.answer))
        body.append(_html("p", question.text + ASK))
        answer = ET.SubElement(body, "p")
        ET.SubElement(
            answer, "textEntryInteraction", responseIdentifier="RESPONSE", expectedLength="10"
        )
        item.append(_near_enough(question.tolerance))
    return _document(item)


def _near_enough(tolerance: float) -> ET.Element:
    """Give the point for a number within the tolerance."""
    processing = ET.Element("responseProcessing")
    condition = ET.SubElement(processing, "responseCondition")
    if_right = ET.SubElement(condition, "responseIf")
    equal = ET.SubElement(
        if_right, "equal", toleranceMode="absolute", tolerance=f"{tolerance:.6g} {tolerance:.6g}"
    )
    ET.SubElement(equal, "variable", identifier="RESPONSE")
    ET.SubElement(equal, "correct", identifier="RESPONSE")
    score = ET.SubElement(if_right, "setOutcomeValue", identifier="SCORE")
    ET.SubElement(score, "baseValue", baseType="float").text = "1"
    return processing


def _html(name: str, text: str) -> ET.Element:
    """Return an element that holds text with mathematics."""
    element = ET.fromstring(f"<{name}>{rich(text, _mathml)}</{name}>")
    for part in element.iter():
        # Written with its own default name space, as the readers of QTI expect it.
        tag = part.tag.removeprefix(f"{{{MATH}}}")
        if tag == "math":
            part.set("xmlns", MATH)
        part.tag = tag
    return element


def _qti_test(names: list[str], title: str) -> str:
    test = _root("assessmentTest", QTI_PLACE, identifier="exam", title=title)
    outcome = ET.SubElement(
        test, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float"
    )
    ET.SubElement(ET.SubElement(outcome, "defaultValue"), "value").text = "0"
    part = ET.SubElement(
        test, "testPart", identifier="part", navigationMode="nonlinear", submissionMode="individual"
    )
    section = ET.SubElement(
        part, "assessmentSection", identifier="section", title=title, visible="true"
    )
    for name in names:
        ET.SubElement(section, "assessmentItemRef", identifier=name, href=f"{name}.xml")
    processing = ET.SubElement(test, "outcomeProcessing")
    score = ET.SubElement(processing, "setOutcomeValue", identifier="SCORE")
    total = ET.SubElement(score, "sum")
    ET.SubElement(total, "testVariables", variableIdentifier="SCORE")
    return _document(test)


def _manifest(names: list[str], title: str) -> str:
    manifest = _root("manifest", CONTENT_PLACE, identifier="manifest")
    metadata = ET.SubElement(manifest, "metadata")
    ET.SubElement(metadata, "schema").text = "QTIv2.1 Package"
    ET.SubElement(metadata, "schemaversion").text = "1.0.0"
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    test = ET.SubElement(
        resources, "resource", identifier="exam", type="imsqti_test_xmlv2p1", href="test.xml"
    )
    ET.SubElement(test, "file", href="test.xml")
    for name in names:
        ET.SubElement(test, "dependency", identifierref=name)
    for name in names:
        item = ET.SubElement(
            resources,
            "resource",
            identifier=name,
            type="imsqti_item_xmlv2p1",
            href=f"{name}.xml",
        )
        ET.SubElement(item, "file", href=f"{name}.xml")
    return _document(manifest)


# ------------------------------------------------------------------------------------------- paper

STYLE = """
@page { size: A4; margin: 18mm 20mm; }
body { font: 11pt/1.4 Georgia, "Liberation Serif", serif; color: #000; max-width: 44rem; }
h1 { font-size: 16pt; margin: 0 0 .2em; }
p { margin: .3em 0; }
section { break-inside: avoid; margin: 0 0 1.1em; }
ol.options { list-style: none; margin: .3em 0 0; padding: 0; }
ol.options li { padding: .1em 0 .1em 2.2em; text-indent: -2.2em; }
.line { display: inline-block; width: 9em; border-bottom: 1px solid #000; }
.head { display: flex; gap: 2em; margin: 1em 0 1.6em; }
.head span { flex: 1; border-bottom: 1px solid #000; padding-bottom: .2em; }
.origin { color: #555; font-size: 9pt; }
code { font-size: 10pt; }
"""


def printable(exam: Exam, title: str, *, key: bool) -> str:
    """Write the exam, or its key, as one page of HTML that prints on A4."""
    parts = []
    for number, entry in enumerate(exam.entries, start=1):
        parts.append(_printed_key(number, entry) if key else _printed(number, entry))
    name = f"{title}: key" if key else title
    minutes = 2 * len(exam.entries)
    intro = (
        "<p>One point each.</p>"
        if key
        else f"<p>{len(exam.entries)} questions, one point each, {minutes} minutes. One option of "
        "each is right; numbers to three digits. A pocket calculator is allowed.</p>"
        '<div class="head"><span>Name</span><span>Number</span></div>'
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(name)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(name)}</h1>\n{intro}\n{''.join(parts)}</body>\n</html>\n"
    )


def _printed(number: int, entry: Entry) -> str:
    question = entry.question
    text = f"<p><strong>{number}.</strong> {rich(question.text, _mathml)}</p>"
    if isinstance(question, Choice):
        options = "".join(
            f"<li>☐ ({letter}) {rich(option, _mathml)}</li>"
            for letter, option in zip(LETTERS, question.options, strict=True)
        )
        return f'<section>{text}<ol class="options">{options}</ol></section>\n'
    return f'<section>{text}<p>Answer: <span class="line">&nbsp;</span></p></section>\n'


def _printed_key(number: int, entry: Entry) -> str:
    question = entry.question
    if isinstance(question, Choice):
        right = f"({LETTERS[question.right]}) {rich(question.options[question.right], _mathml)}"
    else:
        right = f"{question.answer:.4g}"
        if question.tolerance:
            right += f" (± {question.tolerance:.2g})"
    return (
        f"<section><p><strong>{number}.</strong> <strong>{right}</strong></p>"
        f"<p>{rich(question.explanation, _mathml)}</p>"
        f'<p class="origin">{entry.item.chapter}, objective {entry.item.objective}</p></section>\n'
    )
