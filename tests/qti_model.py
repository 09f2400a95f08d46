"""What IMS's schema of QTI 2.1 (final, 2012) says of the elements that our packages use.

No package that we could depend on carries the schema itself, so its content models and attributes
are put down here, read from it and in our own words: for each element which children it takes and
in what order, whether text may stand among them, and which attributes of which form; further which
identifiers must differ and which must name one that is there, and the rules that the schema states
in Schematron. The table is closed. What it does not name is a fault, also where the schema would
allow it.

The manifest is held to IMS Content Packaging 1.1.4, and where QTI's profile of the later 1.2 is
narrower, to that; of the profile only the one of QTI 2.2 was at hand. Mathematics is held to the
presentation elements of MathML 2, whose schema QTI imports; that schema was not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
CONTENT = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
PLACE = "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"

NAME = r"[A-Za-z_][A-Za-z0-9_.\-]*"  # an NCName, as identifiers are, of plain letters
TRUTH = r"true|false|0|1"
TEXT = r"[^\t\n\r]*"
PATH = r"\S+"
COUNT = r"[0-9]{1,9}"  # an int of 32 bits, and not below 0
NUMBER = r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
BASE = "boolean|directedPair|duration|file|float|identifier|integer|pair|point|string|uri"
CARDINALITY = "multiple|ordered|record|single"
NUMERIC = "(variable|correct|baseValue|sum|testVariables)"
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
    empty : bool
        Whether nothing may stand in it, not even a space.
    required, optional : dict from str to str
        Attributes, each with a regular expression for its value.
    """

    children: str = ""
    mixed: bool = False
    empty: bool = False
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
        "simpleChoice+",
        required={"responseIdentifier": NAME},
        optional={"shuffle": TRUTH, "maxChoices": COUNT, "minChoices": COUNT},
    ),
    "simpleChoice": Model(
        "(p|em|code|math)*", mixed=True, required={"identifier": NAME}, optional={"fixed": TRUTH}
    ),
    "textEntryInteraction": Model(
        empty=True, required={"responseIdentifier": NAME}, optional={"expectedLength": COUNT}
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
    "sum": Model(f"{NUMERIC}+"),
    "variable": Model(empty=True, required={"identifier": NAME}),
    "correct": Model(empty=True, required={"identifier": NAME}),
    "baseValue": Model(mixed=True, required={"baseType": BASE}),
    "testVariables": Model(empty=True, required={"variableIdentifier": NAME}),
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
MANIFEST = {
    "manifest": Model(
        "metadata organizations resources", required={"identifier": NAME}, optional={PLACE: ".*"}
    ),
    "metadata": Model("schema schemaversion"),
    "schema": Model(mixed=True),
    "schemaversion": Model(mixed=True),
    "organizations": Model(),
    "resources": Model("resource*"),
    "resource": Model(
        "file* dependency*",
        required={"identifier": NAME, "type": "imsqti_(item|test)_xmlv2p1"},
        optional={"href": PATH},
    ),
    "file": Model(required={"href": PATH}),
    "dependency": Model(required={"identifierref": NAME}),
}
SPACES = {QTI: MODELS, CONTENT: MANIFEST}

# Identifiers of which no two may be the same in a document: first those that the schema types as
# such, then those of a test, its parts, sections and items, by a Schematron rule.
DISTINCT = (
    {"responseDeclaration"},
    {"manifest", "resource"},
    {"assessmentTest", "testPart", "assessmentSection", "assessmentItemRef"},
)
# Attributes that must name such an identifier, and where that one stands.
NAMING = (
    ("textEntryInteraction", "responseIdentifier", {"responseDeclaration"}),
    ("dependency", "identifierref", {"manifest", "resource"}),
)
# Presentation elements of MathML 2, with the number of children where it is fixed.
LEAVES = {"mi", "mn", "mo", "mtext", "mspace"}
MATHEMATICS = {
    **dict.fromkeys(LEAVES, 0),
    **dict.fromkeys(("msup", "msub", "mover", "munder", "mfrac", "mroot"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
    **dict.fromkeys(("math", "mrow", "msqrt", "mstyle", "mtable", "mtr", "mtd")),
}
LENGTH = r"-?([0-9]+|[0-9]*\.[0-9]+) *(em|ex|px|in|cm|mm|pt|pc|%)|0"
YES_NO = "true|false"
ALIGN = "left|center|right"
MATH_ATTRIBUTES = {
    "math": {"display": "block|inline"},
    "mo": {
        **dict.fromkeys(("stretchy", "fence", "movablelimits"), YES_NO),
        **dict.fromkeys(("lspace", "rspace", "minsize", "maxsize"), LENGTH),
    },
    "mi": {"mathvariant": "normal|bold|italic|bold-italic|script|fraktur|double-struck|monospace"},
    "mspace": {"width": LENGTH},
    "mfrac": {"linethickness": rf"{LENGTH}|[0-9]+|thin|medium|thick"},
    "mover": {"accent": YES_NO},
    "mstyle": {"displaystyle": YES_NO, "scriptlevel": "[-+]?[0-9]{1,9}"},
    "mtable": {"columnalign": rf"({ALIGN})( ({ALIGN}))*", "displaystyle": YES_NO},
}
# What stands only in one other, which then holds nothing else; "math" stands in no mathematics.
PARENTS = {"mtr": "mtable", "mtd": "mtr", "math": ""}


def faults(root: ET.Element) -> Iterator[str]:
    """Yield what does not follow the schema, in a document of an item, a test or a manifest."""
    for element in root.iter():
        if element.tag.startswith(MATH):
            yield from _in_mathematics(element)
            continue
        tag = _short(element)
        model = SPACES.get(element.tag.removesuffix(tag), {}).get(tag)
        if model is None:
            yield f"{element.tag}: not an element of QTI 2.1 that we use"
            continue
        if not _follows([_short(child) for child in element], model.children):
            yield f"{tag}: holds {[_short(child) for child in element]}"
        texts = [element.text, *(child.tail for child in element)]
        if model.empty and any(texts):
            yield f"{tag}: is not empty"
        elif not model.mixed and any((text or "").strip() for text in texts):
            yield f"{tag}: holds text"
        yield from _in_attributes(tag, element, model)
    yield from _in_identifiers(root)


def _in_identifiers(root: ET.Element) -> Iterator[str]:
    elements = [element for element in root.iter() if not element.tag.startswith(MATH)]
    for tags in DISTINCT:
        known = [e.get("identifier", "") for e in elements if _short(e) in tags]
        for twice in sorted({name for name in known if known.count(name) > 1}):
            yield f"identifier {twice!r} stands twice"
    for tag, attribute, tags in NAMING:
        named = {e.get("identifier") for e in elements if _short(e) in tags}
        for element in elements:
            if _short(element) == tag and element.get(attribute) not in named:
                yield f"{tag}: {attribute} {element.get(attribute)!r} names nothing"
    for processing in root.iter(f"{QTI}responseProcessing"):
        if processing.find(f".//{QTI}testVariables") is not None:
            yield "responseProcessing: holds testVariables, which is for tests"


def _short(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


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
    for child in element:
        inside = child.tag.removeprefix(MATH)
        if inside == child.tag:
            yield f"{tag}: holds {inside}, which is no mathematics"
        elif PARENTS.get(inside, tag) != tag or (tag in PARENTS.values() and inside not in PARENTS):
            yield f"{tag}: holds {inside}"
    known = MATH_ATTRIBUTES.get(tag, {})
    for name, value in element.attrib.items():
        if name not in known:
            yield f"{tag}: has {name}"
        elif not re.fullmatch(known[name], value):
            yield f"{tag}: {name} is {value!r}"
