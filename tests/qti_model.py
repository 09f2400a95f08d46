"""What IMS's schema of QTI 2.1 (final, 2012) says of the elements that our packages use.

No package that we could depend on carries the schema itself, so its content models and attributes
are put down here, read from it and in our own words: for each element which children it takes and
in what order, whether text may stand among them, and which attributes of which form. The table is
closed. What it does not name is a fault, also where the schema would allow it; mathematics is held
to the presentation elements of MathML 2, which that schema imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
PLACE = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"

NAME = r"[A-Za-z_][\w.\-]*"  # an NCName, as identifiers are
TRUTH = r"true|false|0|1"
TEXT = r"[^\t\n\r]*"
PATH = r"\S+"
NUMBER = r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"
BASE = "boolean|directedPair|duration|file|float|identifier|integer|pair|point|string|uri"
CARDINALITY = "multiple|ordered|record|single"
EXPRESSION = "(variable|correct|baseValue|equal|sum|testVariables)"
INLINE = "(em|code|math|textEntryInteraction)*"
RULE = "(responseCondition|setOutcomeValue)"


@dataclass(frozen=True)
class Model:
    """What an element may hold.

    Attributes
    ----------
    children : str
        A regular expression for the names of its children, one after the other; a name in it
        stands for one child.
    mixed : bool
        Whether text may stand in it.
    required, optional : dict from str to str
        Attributes, each with a regular expression for its value.
    """

    children: str = ""
    mixed: bool = False
    required: dict[str, str] = field(default_factory=dict)
    optional: dict[str, str] = field(default_factory=dict)


VARIABLE = {"identifier": NAME, "cardinality": CARDINALITY}
MODELS = {
    "assessmentItem": Model(
        "responseDeclaration* outcomeDeclaration* itemBody? responseProcessing?",
        required={"identifier": TEXT, "title": TEXT, "timeDependent": TRUTH},
        optional={"adaptive": TRUTH, PLACE: ".*"},
    ),
    "responseDeclaration": Model(
        "defaultValue? correctResponse?", required=VARIABLE, optional={"baseType": BASE}
    ),
    "outcomeDeclaration": Model("defaultValue?", required=VARIABLE, optional={"baseType": BASE}),
    "correctResponse": Model("value+"),
    "defaultValue": Model("value+"),
    "value": Model(mixed=True),
    "itemBody": Model("(p|choiceInteraction|math)+"),
    "p": Model(INLINE, mixed=True),
    "em": Model(INLINE, mixed=True),
    "code": Model(INLINE, mixed=True),
    "choiceInteraction": Model(
        "prompt? simpleChoice+",
        required={"responseIdentifier": NAME},
        optional={"shuffle": TRUTH, "maxChoices": r"\d+", "minChoices": r"\d+"},
    ),
    "simpleChoice": Model(
        "(p|em|code|math)*", mixed=True, required={"identifier": NAME}, optional={"fixed": TRUTH}
    ),
    "textEntryInteraction": Model(
        required={"responseIdentifier": NAME}, optional={"expectedLength": r"\d+"}
    ),
    "responseProcessing": Model(f"{RULE}*", optional={"template": PATH}),
    "responseCondition": Model("responseIf"),
    "responseIf": Model(f"{EXPRESSION} {RULE}*"),
    "equal": Model(
        f"{EXPRESSION} {EXPRESSION}",
        optional={
            "toleranceMode": "absolute|exact|relative",
            "tolerance": rf"{NUMBER}( {NUMBER})?",
        },
    ),
    "sum": Model(f"{EXPRESSION}+"),
    "variable": Model(required={"identifier": NAME}),
    "correct": Model(required={"identifier": NAME}),
    "baseValue": Model(mixed=True, required={"baseType": BASE}),
    "testVariables": Model(required={"variableIdentifier": NAME}),
    "setOutcomeValue": Model(EXPRESSION, required={"identifier": NAME}),
    "assessmentTest": Model(
        "outcomeDeclaration* testPart+ outcomeProcessing?",
        required={"identifier": TEXT, "title": TEXT},
        optional={PLACE: ".*"},
    ),
    "testPart": Model(
        "assessmentSection+",
        required={
            "identifier": TEXT,
            "navigationMode": "linear|nonlinear",
            "submissionMode": "individual|simultaneous",
        },
    ),
    "assessmentSection": Model(
        "assessmentItemRef*", required={"identifier": TEXT, "title": TEXT, "visible": TRUTH}
    ),
    "assessmentItemRef": Model(required={"identifier": TEXT, "href": PATH}),
    "outcomeProcessing": Model("setOutcomeValue*"),
}
# Presentation elements of MathML 2, with the number of children where it is fixed.
LEAVES = {"mi", "mn", "mo", "mtext", "mspace"}
MATHEMATICS = {
    **dict.fromkeys(LEAVES, 0),
    **dict.fromkeys(("msup", "msub", "mover", "munder", "mfrac", "mroot"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
    **dict.fromkeys(("math", "mrow", "msqrt", "mstyle", "mtable", "mtr", "mtd")),
}
MATH_ATTRIBUTES = {
    "math": {"display"},
    "mo": {"stretchy", "fence", "movablelimits", "lspace", "rspace", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mspace": {"width"},
    "mfrac": {"linethickness"},
    "mover": {"accent"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"columnalign", "displaystyle"},
}


def faults(root: ET.Element) -> Iterator[str]:
    """Yield what does not follow the schema, in a document of an item or a test."""
    for element in root.iter():
        if element.tag.startswith(MATH):
            yield from _in_mathematics(element)
            continue
        tag = element.tag.removeprefix(QTI)
        model = MODELS.get(tag)
        if model is None or not element.tag.startswith(QTI):
            yield f"{element.tag}: not an element of QTI 2.1 that we use"
            continue
        if not _follows([_short(child) for child in element], model.children):
            yield f"{tag}: holds {[_short(child) for child in element]}"
        texts = [element.text, *(child.tail for child in element)]
        if not model.mixed and any((text or "").strip() for text in texts):
            yield f"{tag}: holds text"
        yield from _in_attributes(tag, element, model)


def _short(element: ET.Element) -> str:
    return element.tag.removeprefix(QTI).removeprefix(MATH)


def _follows(names: list[str], children: str) -> bool:
    pattern = re.sub(r"[A-Za-z]+", r"(?:\g<0>,)", children).replace(" ", "")
    return re.fullmatch(pattern, "".join(f"{name}," for name in names)) is not None


def _in_attributes(tag: str, element: ET.Element, model: Model) -> Iterator[str]:
    for missing in set(model.required) - set(element.attrib):
        yield f"{tag}: lacks {missing}"
    known = {**model.required, **model.optional}
    for name, value in element.attrib.items():
        if name not in known:
            yield f"{tag}: has {name}"
        elif not re.fullmatch(known[name], value):
            yield f"{tag}: {name} is {value!r}"


def _in_mathematics(element: ET.Element) -> Iterator[str]:
    tag = element.tag.removeprefix(MATH)
    if tag not in MATHEMATICS:
        yield f"{tag}: not a presentation element of MathML 2"
    elif MATHEMATICS[tag] is not None and len(element) != MATHEMATICS[tag]:
        yield f"{tag}: holds {len(element)} children"
    elif tag not in LEAVES and any(
        (text or "").strip() for text in (element.text, *(child.tail for child in element))
    ):
        yield f"{tag}: holds text"
    for name in set(element.attrib) - MATH_ATTRIBUTES.get(tag, set()):
        yield f"{tag}: has {name}"
