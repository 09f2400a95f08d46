"""The plans of the teaching guide, written from the one table of minutes, ``course/plan.toml``.

Run as ``python tools/plans.py``: it writes the tables between the marks ``% plan: lecture`` and
``% end of plan`` of ``book/teaching.md``. ``faults`` says what in the table does not add up, leads
nowhere or comes too early; the tests ask it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import decks
import nbformat
from pointers import exercises, subject

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "course" / "plan.toml"
GUIDE = ROOT / "book" / "teaching.md"
PLANS = ("lecture", "day", "term")
KINDS = ("slides", "explorer", "exercise", "board", "quiz", "notebook", "other")
MARK = re.compile(r"(% plan: (\w+)\n).*?(% end of plan\n)", re.DOTALL)
Plan = dict[str, Any]


def read() -> Plan:
    """Read the table."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def kind(line: Plan) -> str:
    """Return what a line of a lesson is."""
    (found,) = (name for name in KINDS if name in line)
    return found


def questions(chapter: str) -> int:
    """Return how many questions the quiz of a chapter has."""
    folder = ROOT / "informed" / "teaching" / "chapters" / chapter.replace("-", "_")
    return len(tomllib.loads((folder / "quiz.toml").read_text(encoding="utf-8"))["question"])


def has_explorer(chapter: str) -> bool:
    """Say whether a chapter has something to move."""
    cells = nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4).cells
    return any(
        re.search(r"\b(explore|computed)\(", cell.source)
        for cell in cells
        if cell.cell_type == "code"
    )


def faults(table: Plan) -> Iterator[str]:
    """Yield what does not add up, leads nowhere, or comes too early."""
    starts = {
        decks.read(deck)[number - 1].title: chapter
        for chapter, (deck, number) in table["teaches"].items()
    }
    for name in PLANS:
        taught: set[str] = set(table[name]["before"])
        shown: dict[str, int] = {}
        for lesson in table[name]["lesson"]:
            where = f"{name}, {lesson['title']!r}"
            total = sum(line["minutes"] for line in lesson["lines"])
            if total != lesson["minutes"]:
                yield f"{where}: {total} minutes in {lesson['minutes']}"
            for line in lesson["lines"]:
                yield from (f"{where}: {fault}" for fault in _faults_of(line, table["minutes"]))
                yield from (f"{where}: {fault}" for fault in _too_early(line, taught, starts))
                if kind(line) == "slides":
                    if line["from"] <= shown.get(line["slides"], 0):
                        yield f"{where}: slide {line['from']} of {line['slides']} once more"
                    shown[line["slides"]] = line["to"]
        for label in table[name]["after"]:
            if label not in exercises():
                yield f"{name}: no exercise {label}"


def _faults_of(line: Plan, rule: dict[str, int]) -> Iterator[str]:
    """Compare the minutes of a line with what it names."""
    what, needed = line[kind(line)], None
    match kind(line):
        case "slides":
            slides = decks.read(what)
            if line["to"] > len(slides):
                yield f"{what} has {len(slides)} slides"
            needed = sum(slide.minutes for slide in slides[line["from"] - 1 : line["to"]])
        case "exercise":
            if what not in exercises():
                yield f"no exercise {what}"
                return
            needed = rule[f"star_{exercises()[what].stars}"]
        case "quiz":
            needed = rule["question"] * questions(what)
        case "explorer":
            if not has_explorer(what):
                yield f"{what} has no explorer"
        case "board" | "notebook":
            if not (ROOT / "book" / f"{what}.ipynb").is_file():
                yield f"no chapter {what}"
    if needed is not None and needed != line["minutes"]:
        yield f"{what}: {line['minutes']} minutes, but it takes {needed}"


def _too_early(line: Plan, taught: set[str], starts: dict[str, str]) -> Iterator[str]:
    """Note which chapters have been taught; complain about what asks for one that has not."""
    what = line[kind(line)]
    match kind(line):
        case "slides":
            titles = [slide.title for slide in decks.read(what)[line["from"] - 1 : line["to"]]]
            taught.update(starts[title] for title in titles if title in starts)
        case "exercise" if what in exercises() and exercises()[what].chapter not in taught:
            yield f"{what} before its chapter {exercises()[what].chapter}"
        case "explorer" | "quiz" | "board" | "notebook" if what not in taught:
            yield f"{kind(line)} of {what} before its slides"
        case "other" if "roject A" in what and "risk-groups" not in taught:
            yield "project A before the chapter on risk groups"


def describe(line: Plan) -> str:
    """Write a line of a lesson in words, with a link to what it uses."""
    what = line[kind(line)]
    match kind(line):
        case "slides":
            first, last = line["from"], line["to"]
            numbers = f"slide {first}" if first == last else f"slides {first} to {last}"
            titles = decks.read(what)[first - 1 : last]
            shown = f"“{titles[0].title}”"
            if first != last:
                shown = f"from {shown} to “{titles[-1].title}”"
            return f"Deck `{what}`, {numbers}: {shown}"
        case "explorer":
            return f"Explorer of {{doc}}`{what}`"
        case "exercise":
            found = exercises()[what]
            stars = "★" * found.stars
            return (
                f"Exercise {found.number} of {{doc}}`{subject(found.chapter)} <{found.chapter}>`: "
                f"{stars} {found.title}"
            )
        case "board":
            return f"On the board: {line['what']} ({{doc}}`{subject(what)} <{what}>`)"
        case "quiz":
            return f"Quiz of {{doc}}`{subject(what)} <{what}>`, {questions(what)} questions"
        case "notebook":
            return f"{line['what']} ({{doc}}`{subject(what)} <{what}>`)"
    return str(what)


def write_plan(plan: Plan) -> str:
    """Write a plan as tables, one per lesson."""
    parts = []
    for lesson in plan["lesson"]:
        rows, passed = [], 0
        for line in lesson["lines"]:
            rows.append(f"* - {passed}–{passed + line['minutes']}\n  - {describe(line)}")
            passed += line["minutes"]
        parts.append(
            f"**{lesson['title']}** ({lesson['minutes']} minutes)\n\n"
            "```{list-table}\n:header-rows: 1\n:widths: 14 86\n\n* - Minutes\n  - What\n"
            + "\n".join(rows)
            + "\n```\n"
        )
    if plan["after"]:
        parts.append(f"**Exercises after:** {_named(plan['after'])}.\n")
    if "home" in plan:
        named = _named(plan["home"]["exercises"])
        parts.append(f"**Exercises at home, for those who want more:** {named}.\n")
    return "\n".join(parts)


def _named(labels: list[str]) -> str:
    """Name exercises by their numbers and chapters."""
    return ", ".join(
        f"number {exercises()[label].number} of "
        f"{{doc}}`{subject(exercises()[label].chapter)} <{exercises()[label].chapter}>`"
        for label in labels
    )


def write_guide(text: str, table: Plan) -> str:
    """Return the teaching guide with the tables of the plans in their places."""
    return MARK.sub(lambda match: f"{match[1]}\n{write_plan(table[match[2]])}\n{match[3]}", text)


def main() -> int:
    """Write the tables into the teaching guide, if they add up."""
    table = read()
    found = list(faults(table))
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        return 1
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(write_guide(text, table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
