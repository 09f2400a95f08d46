"""How long it takes to mark a class: sixty students, twelve exercises, ten of them hostile.

Run as ``python benchmarks/grading.py``. Says whether every grade is the one deserved, and how the
time divides, as ratios of one run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))


def main() -> int:
    from classroom import CHAPTERS, exercises, hostile, write_class

    from informed.teaching.grading.command import Order, grade_class

    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        touched = top / "elsewhere" / "precious.txt"
        touched.parent.mkdir()
        touched.write_text("precious")
        n_hostile = len(list(hostile(touched)))
        deserved = write_class(top / "submissions", 60 - n_hostile, touched)
        before = {p: p.read_bytes() for p in (top / "submissions").rglob("*") if p.is_file()}
        worth = {exercise: 1.0 for chapter in CHAPTERS for exercise in exercises(chapter)}
        order = Order(top / "submissions", top / "grades.csv", worth=worth, seed="bench")
        start = time.perf_counter()
        grades = grade_class(order)
        first = time.perf_counter() - start
        start = time.perf_counter()
        again = grade_class(order)
        second = time.perf_counter() - start
        wrong = [
            (grade.student, exercise)
            for grade in grades
            for exercise, points in grade.points.items()
            if (points > 0) != deserved[grade.student][exercise]
        ]
        after = {p: p.read_bytes() for p in (top / "submissions").rglob("*") if p.is_file()}
        untouched = before == after and touched.read_text() == "precious"
    print(f"{len(grades)} students ({n_hostile} hostile), {len(worth)} exercises")
    print(f"grades that are not those deserved: {wrong or 'none'}")
    print(f"files outside are {'as they were' if untouched else 'CHANGED'}")
    print(f"share of the ten minutes that were allowed: {first / 600:.2f}")
    print(f"the same again, with nothing changed: {second / first:.3f} of the first time")
    return int(bool(wrong) or not untouched or again != grades)


if __name__ == "__main__":
    sys.exit(main())
