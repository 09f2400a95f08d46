"""A student's own view of the exercises: what is noted, where, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from conftest import ROOT
from sphinx_external_toc.parsing import parse_toc_yaml

from informed.exercises import check, passed, progress
from informed.teaching import chapters
from informed.teaching.exercises import registry


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file for the notes, in a session in which nothing was tried."""
    file = tmp_path / "state" / "progress.json"
    monkeypatch.setenv("INFORMED_PROGRESS", str(file))
    monkeypatch.setattr("informed.teaching.exercises.notes._session", {})
    return file


START = "why-the-usual-distance-fails"


def test_verdicts_are_noted_and_shown(notes: Path) -> None:
    assert progress().n_done == 0
    check("ex-triangle", None)  # not an answer
    assert not notes.exists()
    check("ex-triangle", [1, 2, 3])
    check("ex-duplicate", 1, 2, 3)
    assert progress(START).states[START]["ex-triangle"] == "tried"
    check("ex-triangle", [2, 2, 2])
    shown = progress()
    assert shown.n_done == 1
    assert shown.n_exercises == len(registry.names())
    assert "1 of" in repr(shown)
    assert "tried: ex-duplicate" in repr(shown)
    assert repr(shown).count("■") == 2  # the square, and its explanation
    page = ET.fromstring(shown._repr_html_())
    labels = [element.get("aria-label") for element in page.iter("span")]
    assert "ex-triangle: done" in labels
    assert len(labels) == shown.n_exercises


def test_what_was_done_stays_done_but_only_the_last_answer_passes(notes: Path) -> None:
    assert not passed("ex-triangle")
    check("ex-triangle", [2, 2, 2])
    assert passed("ex-triangle")
    check("ex-triangle", [1, 2, 3])
    assert not passed("ex-triangle")
    assert progress(START).n_done == 1


def test_no_answer_is_kept(notes: Path) -> None:
    check("ex-triangle", [2.125, 2.125, 2.125])
    kept = json.loads(notes.read_text())
    assert kept == {"ex-triangle": {"tries": 1, "done": 0, "last": 0}}


def test_another_session_sees_the_notes_of_this_one(notes: Path, monkeypatch) -> None:
    check("ex-triangle", [2, 2, 2])
    monkeypatch.setattr("informed.teaching.exercises.notes._session", {})
    assert progress().n_done == 1
    check("ex-triangle", [2, 2, 2])
    assert json.loads(notes.read_text())["ex-triangle"]["tries"] == 2


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"ex-triangle": 3, "b": {"done": "x"}}'])
def test_a_spoilt_file_spoils_nothing(notes: Path, text: str) -> None:
    notes.parent.mkdir()
    notes.write_text(text)
    assert progress().n_done == 0
    check("ex-triangle", [2, 2, 2])
    assert progress().n_done == 1


def test_where_nothing_can_be_written_the_session_remembers(tmp_path, notes, monkeypatch) -> None:
    (tmp_path / "file").touch()
    for place in (str(tmp_path / "file" / "below"), "off"):
        monkeypatch.setenv("INFORMED_PROGRESS", place)
        monkeypatch.setattr("informed.teaching.exercises.notes._session", {})
        check("ex-triangle", [2, 2, 2])
        assert progress().n_done == 1
    assert "session" in repr(progress())


def test_the_notes_lie_where_programs_keep_their_state(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("INFORMED_PROGRESS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    from informed.teaching.exercises.notes import _file

    assert _file() == tmp_path / "informed" / "progress.json"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert _file() == tmp_path / "local" / "informed" / "progress.json"


def test_unknown_chapters_are_refused() -> None:
    with pytest.raises(ValueError, match="no self-checks"):
        progress("averging")


def test_chapters_stand_in_the_order_of_the_book() -> None:
    names = [Path(name).name for name in parse_toc_yaml(ROOT / "_toc.yml")]
    assert [name for name in names if name in chapters.ORDER] == list(chapters.ORDER)
    assert list(registry.chapters()) == list(chapters.ORDER)
    assert sum(map(len, registry.chapters().values())) == len(registry.names())
