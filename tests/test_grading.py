"""The grader: right points for honest and hostile notebooks, and nothing touched."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from classroom import CHAPTERS, chapter, exercises, filled, hostile, write_class
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from informed.studies.cli import main
from informed.teaching.grading import command, runner
from informed.teaching.grading.command import Order, grade_class, worth_of
from informed.teaching.grading.grades import canvas_table, grade_of, moodle_table, usual_exercises
from informed.teaching.grading.runner import Limits, Mark, Marked
from informed.teaching.grading.slices import Cell, needed, read_cells
from informed.teaching.grading.submissions import Submission, find_submissions
from informed.teaching.grading.wire import Described, pack, unpack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="marking needs fork")

# Endless loops are stopped by processor time, so honest cells pass on a slow machine, too.
LIMITS = Limits(memory=1.0, seconds=120.0, cell_seconds=4.0, call_seconds=4.0)


# ------------------------------------------------------------------------------- a class, marked


@pytest.fixture(scope="module")
def marked_class(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Two honest students and all the hostile ones, marked once."""
    top = tmp_path_factory.mktemp("class")
    touched = top / "elsewhere" / "precious.txt"
    touched.parent.mkdir()
    touched.write_text("precious")
    deserved = write_class(top / "submissions", 2, touched)
    worth = {exercise: 1.0 for name in CHAPTERS for exercise in exercises(name)}
    before = {path: path.read_bytes() for path in (top / "submissions").rglob("*.ipynb")}
    order = Order(
        top / "submissions", top / "grades.csv", worth=worth, seed="s", limits=LIMITS, quiet=True
    )
    return {
        "grades": grade_class(order),
        "deserved": deserved,
        "before": before,
        "touched": touched,
        "order": order,
    }


def test_each_student_gets_the_points_deserved_whatever_the_others_do(marked_class) -> None:
    found = {
        grade.student: {name: points > 0 for name, points in grade.points.items()}
        for grade in marked_class["grades"]
    }
    assert found == marked_class["deserved"]
    assert len(found) >= 12


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("broken", "no notebook"),
        ("empty", "the file is empty"),
        ("huge", "its outputs should be cleared"),
        ("ten-gigabytes", "MemoryError"),
        ("endless", "ran longer than 4 s"),
        ("exits", "stopped with SystemExit"),
        ("exits", "the process died"),
        ("forger", "megabytes at once"),
    ],
)
def test_the_row_says_in_words_what_failed(marked_class, student: str, words: str) -> None:
    (grade,) = [grade for grade in marked_class["grades"] if grade.student == student]
    assert words in grade.words


def test_nothing_outside_of_its_folder_is_touched(marked_class) -> None:
    touched = marked_class["touched"]
    assert touched.read_text() == "precious"
    assert [path.name for path in touched.parent.iterdir()] == ["precious.txt"]
    assert {path: path.read_bytes() for path in marked_class["before"]} == marked_class["before"]


def test_only_what_changed_is_marked_again(marked_class, monkeypatch) -> None:
    order = marked_class["order"]
    again: list[Path] = []

    def pooled(paths, *_):
        again.extend(paths)
        return [(path, Marked(remarks=["marked anew"])) for path in paths]

    monkeypatch.setattr(command, "_pooled", pooled)
    assert grade_class(order) == marked_class["grades"]
    assert again == []
    changed = order.submissions / "student-00" / f"{CHAPTERS[0]}.ipynb"
    text = changed.read_text()
    changed.write_text(text + "\n")
    grades = grade_class(order)
    assert again == [changed]
    assert [grade.student for grade in grades if "marked anew" in grade.words] == ["student-00"]
    changed.write_text(text)


def test_a_worker_that_dies_costs_one_notebook(tmp_path, monkeypatch) -> None:
    paths = [tmp_path / f"{k}.ipynb" for k in range(5)]

    def pooled(batch, *_):
        for path in batch:
            if path.stem == "2":
                raise command.BrokenProcessPool
            yield path, Marked()

    monkeypatch.setattr(command, "_pooled", pooled)
    order = Order(tmp_path, tmp_path / "grades.csv")
    found = dict(command._marked(paths, order, [], 0))
    assert set(found) == set(paths)
    assert [path.stem for path in paths if found[path].remarks] == ["2"]


def test_the_process_of_a_student_is_enclosed(marked_class) -> None:
    store = command.Store(marked_class["order"], sorted(marked_class["grades"][0].points))
    path = marked_class["order"].submissions / "vandal" / "handed-in.ipynb"
    walls = " ".join(store.read(path).walls)
    assert "1 GB of memory" in walls
    assert "audit hook" in walls


def test_inputs_are_hidden_by_the_seed(tmp_path, monkeypatch) -> None:
    """Another seed tries other inputs, so a table of known results earns nothing."""
    judge, seen = runner.judge, {1: [], 2: []}

    def watched(label, answer, seed, seconds):
        watching = lambda X: seen[seed].append(float(np.sum(X))) or answer(X)  # noqa: E731
        return judge(label, watching, seed, seconds)

    monkeypatch.setattr(runner, "judge", watched)
    for seed in seen:
        marked(tmp_path, 'check("ex-gram", lambda X: X @ X.T)', seed=seed)
    assert seen[1]
    assert not set(seen[1]) & set(seen[2])


# --------------------------------------------------------------------------------- single notebooks


def marked(tmp_path: Path, *cells: str, seed: int = 3) -> Marked:
    path = tmp_path / "notebook.ipynb"
    path.write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
    )
    runner.prepare()
    return runner.mark(path, seed=seed, limits=LIMITS)


def test_a_function_that_spoils_its_argument_is_told(tmp_path) -> None:
    right = (
        chapter(CHAPTERS[0])[1]["ex-gram"]
        .replace('check("ex-gram", mahalanobis_from_gram)', "")
        .replace("check('ex-gram', mahalanobis_from_gram)", "")
    )
    result = marked(
        tmp_path,
        "import numpy as np\nfrom scipy.spatial.distance import pdist, squareform",
        right,
        "def spoil(X):\n    found = mahalanobis_from_gram(X)\n    X += 1\n    return found",
        'from informed.exercises import check\ncheck("ex-gram", spoil)',
    )
    assert not result.marks["ex-gram"].right
    assert "in place" in result.marks["ex-gram"].words


def test_names_that_only_running_shows_make_the_whole_notebook_run(tmp_path) -> None:
    result = marked(tmp_path, 'globals()["two"] = 2', 'check("ex-triangle", [two, two, two])')
    assert result.marks == {"ex-triangle": Mark(True, result.marks["ex-triangle"].words)}


def test_magics_and_unknown_labels_are_passed_over(tmp_path) -> None:
    result = marked(
        tmp_path,
        "%matplotlib inline\n!pip install nothing\nimport math",
        'check("ex-triangle", [math.sqrt(4), 2, "4/2"])\ncheck("ex-no-such", 1)',
    )
    assert {name: given.right for name, given in result.marks.items()} == {"ex-triangle": True}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": 3}', '{"cells": [3, {"cell_type": "code"}]}', "\x00" * 99]
)
def test_a_file_that_is_no_notebook_is_told_and_raises_nothing(tmp_path, text) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    result = runner.mark(path, seed=0)
    assert result.marks == {}
    assert len(result.remarks) == 1


def test_a_link_is_not_followed(tmp_path) -> None:
    (tmp_path / "x.ipynb").symlink_to("/etc/passwd")
    assert "regular" in runner.mark(tmp_path / "x.ipynb", seed=0).remarks[0]


# --------------------------------------------------------------------------------- which cells run


def test_cells_that_an_answer_needs_are_found() -> None:
    sources = [
        "import numpy as np\nfrom informed import plots",
        "scale = 2",
        "def helper(x):\n    return later(x) * scale",
        "def later(x):\n    return x",
        "slow = [k for k in range(10)]\nplots.draw(slow)",
        "rows = [3, 1]",
        "rows.sort()",
        "if rows:\n    scale = 3",
        "scale += 1",
        "def f(x):\n    slow = helper(x)\n    return np.sum(slow) + rows[0]",
        'check("ex-a", f)',
        "def f(x): return 0",
    ]
    cells = [Cell(number, source) for number, source in enumerate(sources)]
    assert [cell.number for cell in needed(cells, ["ex-a"])] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]


def test_a_cell_that_binds_a_name_anew_hides_the_earlier_ones() -> None:
    cells = [
        Cell(1, "x = slow()"),
        Cell(2, "x = 1"),
        Cell(3, "for y in [1]:\n    x"),
        Cell(4, 'check("ex-a", x)'),
    ]
    assert [cell.number for cell in needed(cells, ["ex-a"])] == [2, 4]


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_is_left_out_changes_no_verdict(name: str, tmp_path) -> None:
    """The published solutions are right in the cells that are run, which are fewer."""
    notebook = filled(name, chapter(name)[1])
    cells = read_cells(json.dumps(notebook))
    assert len(needed(cells, exercises(name))) < len(cells)


# -------------------------------------------------------------------------------------- the wire


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.fractions()
    | hnp.arrays(st.sampled_from(["f8", "f4", "i8", "?", "c16", "U3"]), hnp.array_shapes()),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def same(one, other) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind in "fc"
        )
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@given(values)
def test_values_come_over_the_wire_as_they_are(value) -> None:
    assert same(unpack(pack(value)), value)


@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.text(max_size=9), st.lists, max_leaves=5).map(
        lambda v: json.dumps({"array": v}).encode()
    )
)
def test_nonsense_on_the_wire_is_a_value_error_and_no_other(data) -> None:
    with suppress(ValueError):
        unpack(data)


def test_what_has_no_form_is_told_by_its_type() -> None:
    assert type(unpack(pack(object()))).__name__ == "object"
    assert unpack(pack(...)) is ...
    assert unpack(pack(Fraction(2, 3))) == Fraction(2, 3)
    described = unpack(pack(lambda x, y=1: x))
    assert isinstance(described, Described)
    assert str(described.signature()) == "(x, y=None)"


# ------------------------------------------------------------------------------ folders and tables


def test_the_layouts_of_platforms_are_known(tmp_path) -> None:
    for place in (
        "Ada Lovelace_1042_assignsubmission_file/a.ipynb",
        "Ada Lovelace_1042_assignsubmission_file/.ipynb_checkpoints/a-checkpoint.ipynb",
        "hopper/week-1/b.ipynb",
        "noetheremmy_LATE_311_9077_a.ipynb",
        "noetheremmy_311_9078_b.ipynb",
        "curie.ipynb",
        "readme.txt",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    (tmp_path / "late").mkdir()
    found = find_submissions(tmp_path)
    assert [(each.student, each.number, len(each.notebooks)) for each in found] == [
        ("Ada Lovelace", "1042", 1),
        ("curie", "", 1),
        ("hopper", "", 1),
        ("late", "", 0),
        ("noetheremmy", "311", 2),
    ]


def test_tables_are_those_that_moodle_and_canvas_import() -> None:
    path = Path("a.ipynb")
    worth = {"ex-gram": 2.0, "ex-triangle": 1.0}
    formula = Submission("=cmd|evil", "7", (path,))
    marks = Marked({"ex-gram": Mark(True, "Right: x"), "ex-triangle": Mark(False, "Wrong: sign")})
    grade = grade_of(formula, {path: marks}, worth)
    assert grade.total == 2.0
    moodle = list(csv.DictReader(io.StringIO(moodle_table([grade], worth))))
    assert moodle[0]["ex-gram"] == "2"
    assert moodle[0]["Total"] == "2"
    assert moodle[0]["Feedback"] == "ex-triangle: Wrong: sign"
    assert moodle[0]["Student"] == "'=cmd|evil"
    head, possible, row = csv.reader(io.StringIO(canvas_table([grade], worth)))
    assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert possible[0].strip() == "Points Possible"
    assert possible[5:] == ["2", "1", "3"]
    assert row[1] == "7"
    assert row[5:] == ["2", "0", "2"]


def test_an_exercise_counts_where_it_is_right() -> None:
    first, second = Path("a.ipynb"), Path("b.ipynb")
    given = {
        first: Marked({"ex-gram": Mark(True, "")}),
        second: Marked({"ex-gram": Mark(False, "")}),
    }
    for order in ((first, second), (second, first)):
        grade = grade_of(Submission("x", "", order), given, {"ex-gram": 1.0})
        assert grade.total == 1.0


def test_one_student_does_not_change_what_counts() -> None:
    assert usual_exercises([["a", "b"], ["b", "a"], ["a", "b", "extra"], [], ["a"]]) == ["a", "b"]


def test_points_are_read_and_bad_ones_refused(tmp_path) -> None:
    sheet = tmp_path / "sheet.ipynb"
    sheet.write_text(json.dumps(filled(CHAPTERS[0], {})))
    assert worth_of(["ex-a=2.5", "ex-b"], Limits()) == {"ex-a": 2.5, "ex-b": 1.0}
    assert "ex-gram" in worth_of([str(sheet)], Limits())
    assert worth_of(["ex-a=999999"], Limits()) == {"ex-a": 999999.0}
    for bad in ("ex-a=x", "ex-a=0", "ex-a=-1", "ex-a=1000000", "ex-a=nan"):
        with pytest.raises(ValueError, match="--exercises"):
            worth_of([bad], Limits())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "--out", "a.csv"], "is no folder"),
        (["{here}", "--out", "a.txt"], "must end in .csv"),
        (["{here}", "--out", "a.csv", "--memory", "0"], "above zero"),
        (["{here}", "--out", "a.csv", "--n-jobs", "0"], "1 or more"),
        (["{here}", "--out", "a.csv"], "holds no folders"),
    ],
)
def test_bad_orders_are_refused_in_one_line(tmp_path, capsys, words, message) -> None:
    assert main(["grade", *(word.format(here=tmp_path) for word in words)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_hostile_notebooks_are_ten_or_more() -> None:
    assert len(list(hostile(Path("x")))) >= 10
