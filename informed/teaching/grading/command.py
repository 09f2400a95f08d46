"""``python -m informed grade``: mark what a class handed in.

Each notebook is marked in a process of its own, by workers that can be lost without loss of the
run. What was marked before is kept beside the table, and marked again only if the file, the
library, the seed or the limits have changed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from informed.progress import progress_bar
from informed.studies.files import write_whole
from informed.teaching.grading.grades import (
    Grade,
    canvas_table,
    grade_of,
    moodle_table,
    summary,
    usual_exercises,
)
from informed.teaching.grading.runner import (
    Limits,
    Mark,
    Marked,
    known_exercises,
    mark,
    prepare,
    read_notebook,
)
from informed.teaching.grading.slices import exercises_in
from informed.teaching.grading.submissions import Submission, find_submissions

__all__ = ["Order", "grade_class", "worth_of"]

# Such a notebook is marked again the next time: the cause may have been the machine.
FAILED = "the grader itself failed on it"


@dataclass(frozen=True)
class Order:
    """What is to be marked, and how.

    Attributes
    ----------
    submissions : Path
        Folder of what was handed in.
    out : Path
        Table to write, ``.csv``.
    worth : mapping from str to float, or None
        Points by exercise; one for each that most students answer if None.
    seed : str or None
        Makes the hidden inputs; drawn and kept beside the table if None.
    limits : Limits
        What a notebook may use.
    workers : int
        Notebooks at a time.
    whole : bool
        Whether to run all cells.
    quiet : bool
        Whether to show no progress.
    """

    submissions: Path
    out: Path
    worth: Mapping[str, float] | None = None
    seed: str | None = None
    limits: Limits = field(default_factory=Limits)
    workers: int = 2
    whole: bool = False
    quiet: bool = False


def grade_class(order: Order) -> list[Grade]:
    """Mark a class and write the tables.

    Parameters
    ----------
    order : Order
        What is to be marked, and how.

    Returns
    -------
    grades : list of Grade
        One for each student, sorted. They are written to ``order.out``, and in Canvas's form to
        a file beside it whose name ends in ``.canvas.csv``.

    Raises
    ------
    ValueError
        If there is nothing to mark, or an exercise is unknown.
    """
    if sys.platform == "win32":
        raise ValueError("marking needs Linux or macOS: on Windows, run it under WSL")
    submissions = find_submissions(order.submissions)
    worth = dict(order.worth) if order.worth is not None else _found_worth(submissions, order)
    unknown = sorted(set(worth) - set(known_exercises()))
    if unknown:
        raise ValueError(f"--exercises names {unknown[0]!r}, which has no self-check")
    store = Store(order, sorted(worth))
    paths = [path for submission in submissions for path in submission.notebooks]
    marked = {path: kept for path in paths if (kept := store.read(path)) is not None}
    waiting = [path for path in paths if path not in marked]
    if not order.quiet:
        print(f"{len(submissions)} students, {len(paths)} notebooks, {len(worth)} exercises")
        if marked:
            print(f"{len(marked)} notebooks are as they were marked before")
    shown = bool(waiting) and not order.quiet
    with progress_bar(len(waiting), "notebooks", shown=shown) as bar:
        for path, result in _marked(waiting, order, sorted(worth), store.seed):
            marked[path] = result
            if not any(FAILED in remark for remark in result.remarks):
                store.write(path, result)
            bar.update(1)
    grades = [grade_of(submission, marked, worth) for submission in submissions]
    write_whole(order.out, moodle_table(grades, worth))
    write_whole(order.out.with_suffix(".canvas.csv"), canvas_table(grades, worth))
    if not order.quiet:
        walls = next((result.walls for result in marked.values() if result.walls), [])
        print(summary(grades, worth))
        print(f"each notebook had: {'; '.join(walls) or 'no process that started'}")
        print(f"written to {order.out} and {order.out.with_suffix('.canvas.csv')}")
    return grades


def _found_worth(submissions: Sequence[Submission], order: Order) -> dict[str, float]:
    answered = []
    for submission in submissions:
        names: list[str] = []
        for path in submission.notebooks:
            try:
                names += exercises_in(read_notebook(path, order.limits))
            except (ValueError, OSError):
                continue
        answered.append([name for name in names if name in known_exercises()])
    found = usual_exercises(answered)
    if not found:
        raise ValueError(
            "no exercise of the book is answered by more than half of the students: name them by "
            "--exercises"
        )
    return dict.fromkeys(found, 1.0)


def _marked(
    paths: Sequence[Path], order: Order, exercises: list[str], seed: int
) -> Iterator[tuple[Path, Marked]]:
    """Mark notebooks by several workers; a worker that dies costs the notebook it had, at most."""
    left, careful = list(paths), False
    while left:
        # After an accident one at a time, so that it is known whose notebook it was.
        batch = left[:1] if careful else list(left)
        try:
            for path, result in _pooled(batch, order, exercises, seed):
                left.remove(path)
                yield path, result
        except BrokenProcessPool:
            if len(batch) == 1:
                yield left.pop(0), Marked(remarks=[FAILED])
            careful = True


def worth_of(words: Sequence[str], limits: Limits) -> dict[str, float]:
    """Read what counts: labels, labels with points as ``ex-gram=2``, or notebooks handed out."""
    worth: dict[str, float] = {}
    for word in words:
        if word.endswith(".ipynb"):
            worth |= dict.fromkeys(exercises_in(read_notebook(Path(word), limits)), 1.0)
            continue
        name, equals, points = word.partition("=")
        try:
            worth[name] = float(points) if equals else 1.0
        except ValueError:
            raise ValueError(
                f"--exercises: {points!r} in {word!r} is no number of points"
            ) from None
        if not 0 < worth[name] < 1e6:
            raise ValueError(f"--exercises: {word!r} must be worth more than nothing")
    return worth


def _pooled(
    paths: Sequence[Path], order: Order, exercises: list[str], seed: int
) -> Iterator[tuple[Path, Marked]]:
    workers = max(1, min(order.workers, len(paths)))
    hidden = [order.submissions.resolve(), order.out.resolve().parent / f"{order.out.stem}.marks"]
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=prepare)
    try:
        futures: dict[Future[Marked], Path] = {
            pool.submit(
                mark,
                path,
                seed=seed,
                exercises=exercises,
                limits=order.limits,
                whole=order.whole,
                hidden=hidden,
            ): path
            for path in paths
        }
        for future in as_completed(futures):
            try:
                result = future.result()
            except BrokenProcessPool:
                raise
            except Exception as error:  # a fault of ours costs a row, never the run
                result = Marked(remarks=[f"{FAILED} ({type(error).__name__}: {error})"])
            yield futures[future], result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Store:
    """Marks that are kept beside the table, by what they depend on."""

    def __init__(self, order: Order, exercises: Sequence[str]) -> None:
        self.folder = order.out.parent / f"{order.out.stem}.marks"
        self.folder.mkdir(parents=True, exist_ok=True)
        secret = order.seed if order.seed is not None else self._kept_seed()
        self.seed = int.from_bytes(hashlib.sha256(secret.encode()).digest()[:6], "big")
        self.rest = repr((self.seed, list(exercises), order.limits, order.whole, fingerprint()))

    def _kept_seed(self) -> str:
        file = self.folder / "seed"
        if not file.is_file():
            write_whole(file, secrets.token_hex(16))
        return file.read_text().strip()

    def _file(self, path: Path) -> Path:
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        key = hashlib.sha256(self.rest.encode() + content).hexdigest()
        return self.folder / f"{key}.json"

    def read(self, path: Path) -> Marked | None:
        """Return the marks of a notebook that has not changed, or None."""
        try:
            kept = json.loads(self._file(path).read_text("utf-8"))
            marks = {name: Mark(**given) for name, given in kept.pop("marks").items()}
            return Marked(marks=marks, **kept)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, path: Path, result: Marked) -> None:
        """Keep the marks of a notebook."""
        write_whole(self._file(path), json.dumps(asdict(result), ensure_ascii=False))


@cache
def fingerprint() -> str:
    """Return what tells one version of the library from another: a digest of its sources."""
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
