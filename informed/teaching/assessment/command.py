"""``python -m informed exam``: draw an exam by a secret seed and write it in all formats."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from informed.teaching.assessment.exam import Exam, draw_exam
from informed.teaching.assessment.exports import moodle_xml, printable, qti_package
from informed.teaching.assessment.items import Item, load_bank

__all__ = ["blueprint", "write_exam"]

TITLE = "Mahalanobis distance informed by clustering"
BROWSERS = (
    *("chromium", "chromium-headless-shell", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
SHORT = 12


def write_exam(
    folders: Sequence[Path],
    out: Path,
    *,
    seed: str | None = None,
    length: int = 20,
    title: str = TITLE,
) -> Exam:
    """Draw an exam and write it: for Moodle, as QTI, and on paper with its key.

    Parameters
    ----------
    folders : sequence of Path
        Folders of items; a teacher's own may follow those of the book.
    out : Path
        Folder to write to.
    seed : str or None
        The teacher's secret; drawn and told if None.
    length : int
        Number of questions.
    title : str
        What the exam is called.

    Returns
    -------
    exam : Exam
        What was drawn.
    """
    if seed is None:
        seed = secrets.token_hex(16)
        print(f"seed: {seed} (keep it to make the same exam again, and tell nobody)")
    elif len(seed) < SHORT:
        print(f"seed: {len(seed)} characters can be guessed; for a real exam take a longer one")
    bank = load_bank(*folders)
    exam = draw_exam(bank, seed, length)
    out.mkdir(parents=True, exist_ok=True)
    (out / "moodle.xml").write_text(moodle_xml(exam, title), encoding="utf-8")
    (out / "qti.zip").write_bytes(qti_package(exam, title))
    for name, key in (("exam", False), ("key", True)):
        page = out / f"{name}.html"
        page.write_text(printable(exam, title, key=key), encoding="utf-8")
    table = folders[0].parent / "blueprint.toml"
    if table.is_file():
        text = blueprint(bank, exam, tomllib.loads(table.read_text("utf-8")))
        (out / "blueprint.md").write_text(text, encoding="utf-8")
    printed = all([print_page(out / f"{name}.html") for name in ("exam", "key")])
    more = "" if printed else " (no Chromium here: print the two pages with your browser)"
    print(f"{length} questions in {out}: moodle.xml, qti.zip, exam, key{more}")
    return exam


def blueprint(bank: Sequence[Item], exam: Exam, exercises: dict[str, dict[str, int]]) -> str:
    """Lay out objective, exercises and items, and what of it the exam asks."""
    asked = {entry.item.name for entry in exam.entries}
    lines = ["# Blueprint: objective → exercise → item", ""]
    lines += [
        "| Chapter | Objective | Exercises | Items (bold: in this exam) |",
        "|---|---|---|---|",
    ]
    places = dict.fromkeys((item.chapter, item.objective) for item in bank)
    for chapter, objective in sorted(places, key=lambda place: (_rank(exercises, place[0]), place)):
        trained = [
            name for name, number in exercises.get(chapter, {}).items() if number == objective
        ]
        items = [
            f"**{item.name.partition('/')[2]}**"
            if item.name in asked
            else item.name.partition("/")[2]
            for item in bank
            if (item.chapter, item.objective) == (chapter, objective)
        ]
        lines.append(
            f"| {chapter} | {objective} | {', '.join(trained) or '–'} | {', '.join(items)} |"
        )
    return "\n".join(lines) + "\n"


def _rank(exercises: dict[str, dict[str, int]], chapter: str) -> int:
    return list(exercises).index(chapter) if chapter in exercises else len(exercises)


def print_page(page: Path) -> bool:
    """Print a page to PDF beside it, if there is a Chromium; say whether there was."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        return False
    pdf = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-pdf-header-footer",
                f"--user-data-dir={profile}",
                f"--print-to-pdf={pdf.resolve()}",
                page.resolve().as_uri(),
            ],
            capture_output=True,
            timeout=120,
            check=False,
        )
    return done.returncode == 0 and pdf.is_file()
