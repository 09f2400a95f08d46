"""How long it takes to mark a class: sixty students, twelve exercises, ten of them hostile.

Run as ``python benchmarks/grading.py``. Says whether every grade is the one deserved, how much
processor time a student takes (which, unlike the time by the clock, hardly depends on what else the
machine does), and how the time divides, as ratios of one run.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
ALLOWED = 10 * 60 * 2 / 60  # processor seconds a student: ten minutes on two cores for sixty


def adopt_orphans() -> None:
    """Let processes whose parents have ended count as ours, so that their time is not lost."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def processor_seconds() -> float:
    """Return what this process and all that it started have spent, those that have ended."""
    quiet = 0
    while quiet < 50:  # some are on their way out; one of Python's own stays as long as we do
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        quiet = 0 if ended else quiet + 1
        if not ended:
            time.sleep(0.1)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


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
        adopt_orphans()
        spent = processor_seconds()
        start = time.perf_counter()
        grades = grade_class(order)
        first = time.perf_counter() - start
        spent = processor_seconds() - spent
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
    each = spent / len(grades)
    print(f"processor seconds a student, of {ALLOWED:g} that were allowed: {each:.2f}")
    print(f"so on two idle cores: {spent / 2 / 60:.1f} of ten minutes")
    print(f"share of the ten minutes that were allowed: {first / 600:.2f}")
    print(f"the same again, with nothing changed: {second / first:.3f} of the first time")
    return int(bool(wrong) or not untouched or again != grades)


if __name__ == "__main__":
    sys.exit(main())
