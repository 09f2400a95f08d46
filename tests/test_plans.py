"""The plans: each lesson adds up, pointers lead somewhere, nothing comes before its chapter."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import decks
import plans
import pointers

TABLE = plans.read()


def test_the_plans_have_no_fault() -> None:
    assert list(plans.faults(TABLE)) == []


def test_the_guide_shows_the_table() -> None:
    text = plans.GUIDE.read_text(encoding="utf-8")
    assert [match[1] for match in plans.MARK.findall(text)] == list(plans.PLANS)
    assert plans.write_guide(text, TABLE) == text


@pytest.mark.parametrize(("name", "total"), [("lecture", 90), ("day", 4 * 90), ("term", 12 * 90)])
def test_a_plan_is_as_long_as_it_says(name: str, total: int) -> None:
    minutes = [line["minutes"] for lesson in TABLE[name]["lesson"] for line in lesson["lines"]]
    assert sum(minutes) == total
    assert all(lesson["minutes"] == 90 for lesson in TABLE[name]["lesson"])


def test_the_term_shows_each_slide_once_and_teaches_each_chapter() -> None:
    lines = [line for lesson in TABLE["term"]["lesson"] for line in lesson["lines"]]
    for name in decks.names():
        parts = [(line["from"], line["to"]) for line in lines if line.get("slides") == name]
        numbers = [number for first, last in parts for number in range(first, last + 1)]
        whole = [] if name == "0-lecture" else list(range(1, len(decks.read(name)) + 1))
        assert numbers == whole, name
    labels = [line["exercise"] for line in lines if "exercise" in line]
    labels += TABLE["term"]["home"]["exercises"]
    assert len(set(labels)) == len(labels)
    assert {pointers.exercises()[label].chapter for label in labels} == {
        path.stem for path in pointers.chapters()
    }
    assert set(TABLE["teaches"]) == {path.stem for path in pointers.chapters()}


def test_lectures_are_filled_by_name() -> None:
    """Every minute of a lecture says what it is for; few are for questions."""
    for lesson in TABLE["term"]["lesson"]:
        if "lecture" in lesson["title"]:
            vague = sum(line["minutes"] for line in lesson["lines"] if "other" in line)
            assert vague <= 30, lesson["title"]


def shorter(table: dict[str, Any]) -> None:
    table["day"]["lesson"][3]["lines"][0]["minutes"] += 20


def wrong_slides(table: dict[str, Any]) -> None:
    table["lecture"]["lesson"][0]["lines"][0]["to"] -= 1


def unknown_exercise(table: dict[str, Any]) -> None:
    table["term"]["lesson"][2]["lines"][1]["exercise"] = "ex-grim"


def more_stars(table: dict[str, Any]) -> None:
    table["term"]["lesson"][2]["lines"][1]["exercise"] = "ex-directions"


def project_first(table: dict[str, Any]) -> None:
    table["term"]["lesson"][3]["lines"][0]["other"] = "Project A is handed out"


def exercise_first(table: dict[str, Any]) -> None:
    table["day"]["lesson"][0]["lines"][2]["exercise"] = "ex-rg-six"


def no_explorer(table: dict[str, Any]) -> None:
    table["day"]["lesson"][0]["lines"][1]["explorer"] = "how-fast"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shorter, "110 minutes in 90"),
        (wrong_slides, "minutes, but it takes"),
        (unknown_exercise, "no exercise ex-grim"),
        (more_stars, "it takes 30"),
        (project_first, "project A before"),
        (exercise_first, "before its chapter risk-groups"),
        (no_explorer, "how-fast has no explorer"),
    ],
)
def test_what_does_not_add_up_is_found(
    change: Callable[[dict[str, Any]], None], words: str
) -> None:
    table = copy.deepcopy(TABLE)
    change(table)
    assert any(words in fault for fault in list(plans.faults(table)))
