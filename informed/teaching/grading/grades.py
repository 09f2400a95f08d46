"""Points of a class: marks put together by student, written for spreadsheets and platforms."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from informed.teaching.grading.runner import Mark, Marked
from informed.teaching.grading.submissions import Submission

__all__ = ["Grade", "canvas_table", "grade_of", "moodle_table", "summary", "usual_exercises"]

POINTS_POSSIBLE = "    Points Possible"  # Canvas knows its second row by these words, indented


@dataclass(frozen=True)
class Grade:
    """The row of one student.

    Attributes
    ----------
    student, number : str
        Who, as in `Submission`.
    points : dict from str to float
        By exercise.
    words : str
        What failed, and what the teacher should know.
    """

    student: str
    number: str
    points: dict[str, float]
    words: str

    @property
    def total(self) -> float:
        """Sum of the points."""
        return sum(self.points.values())


def usual_exercises(answered: Sequence[Sequence[str]]) -> list[str]:
    """Return the exercises that more than half of the submissions answer, in their order.

    What the class was given, if nobody says so: one student who adds or deletes an exercise
    changes nothing. Submissions without any exercise do not count.
    """
    given = [names for names in answered if names]
    everything = dict.fromkeys(name for names in given for name in names)
    return [name for name in everything if 2 * sum(name in n for n in given) > len(given)]


def grade_of(
    submission: Submission,
    marked: Mapping[Path, Marked],
    worth: Mapping[str, float],
) -> Grade:
    """Put the marks of a student's notebooks together.

    Parameters
    ----------
    submission : Submission
        What was handed in.
    marked : mapping from Path to Marked
        The marked notebooks.
    worth : mapping from str to float
        Points of each exercise.

    Returns
    -------
    grade : Grade
        An exercise that stands in several notebooks counts where it is right.
    """
    remarks = [] if submission.notebooks else ["no notebook was handed in"]
    best: dict[str, Mark] = {}
    for path in submission.notebooks:
        remarks += [f"{path.name}: {remark}" for remark in marked[path].remarks]
        for name, given in marked[path].marks.items():
            if name not in best or given.right:
                best[name] = given
    points, failed = {}, []
    for name, value in worth.items():
        given = best.get(name, Mark(False, "Not yet: it is not in what was handed in."))
        points[name] = value if given.right else 0.0
        if not given.right:
            failed.append(f"{name}: {given.words}")
    return Grade(submission.student, submission.number, points, " | ".join(remarks + failed))


def moodle_table(grades: Sequence[Grade], worth: Mapping[str, float]) -> str:
    """Write a table for people, and for Moodle's *Grades > Import > CSV file*.

    Moodle asks which column tells the student (map `Student` or `ID number`) and which grade item
    each other column goes to; `Feedback` can be mapped to the feedback of the item.
    """
    rows = [["Student", "ID number", *worth, "Total", "Maximum", "Feedback"]]
    full = sum(worth.values())
    for grade in grades:
        points = [_number(grade.points[name]) for name in worth]
        rows.append(
            [grade.student, grade.number, *points, _number(grade.total), _number(full), grade.words]
        )
    return _written(rows)


def canvas_table(grades: Sequence[Grade], worth: Mapping[str, float]) -> str:
    """Write the table that Canvas's *Gradebook > Import* takes: fixed columns, then the points.

    Canvas finds students by `ID`, which its own download has in the file names; else fill in the
    column `SIS User ID` or `SIS Login ID`.
    """
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *worth, "Total"]]
    full = [_number(value) for value in worth.values()] + [_number(sum(worth.values()))]
    rows.append([POINTS_POSSIBLE, "", "", "", "", *full])
    for grade in grades:
        points = [_number(grade.points[name]) for name in worth]
        login = "" if grade.number else grade.student
        rows.append([grade.student, grade.number, "", login, "", *points, _number(grade.total)])
    return _written(rows)


def summary(grades: Sequence[Grade], worth: Mapping[str, float]) -> str:
    """Say how the class did: by exercise how many have it right, and the totals."""
    width = max(map(len, worth), default=0)
    lines = []
    for name in worth:
        right = sum(grade.points[name] > 0 for grade in grades)
        bar = "█" * round(20 * right / len(grades))
        lines.append(f"{name:<{width}}  {right:>4} of {len(grades)}  {bar}")
    totals = [grade.total for grade in grades]
    lines.append(
        f"{len(grades)} students; of {_number(sum(worth.values()))} points, median "
        f"{_number(statistics.median(totals))}, from {_number(min(totals))} to "
        f"{_number(max(totals))}"
    )
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:g}"


def _written(rows: Sequence[Sequence[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        [[_harmless(cell, head=at == 0) for cell in row] for at, row in enumerate(rows)]
    )
    return file.getvalue()


def _harmless(cell: str, *, head: bool) -> str:
    """Keep a spreadsheet from taking a student's text for a formula."""
    text = " ".join(cell.split()) if cell != POINTS_POSSIBLE else cell
    return f"'{text}" if not head and text[:1] in tuple("=+-@") else text
