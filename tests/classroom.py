"""A made-up class: what honest and hostile students hand in, and the points they deserve.

Three chapters with four exercises each. Right answers are the published solutions, cut down to what
`check` needs; wrong ones are of four kinds. The same class serves the tests of the grader and
``benchmarks/grading.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import plain  # noqa: E402
from assignments import published_answers  # noqa: E402

from informed.teaching.grading.slices import Cell  # noqa: E402

CHAPTERS = ("why-the-usual-distance-fails", "hidden-variables", "pseudo-inverse")
# Each costs the points of the exercise it stands in, and no other.
WRONG: dict[str, Callable[[str], str]] = {
    "blank": lambda name: f'check("{name}", None)',
    "wrong": lambda name: f'check("{name}", 17.25)',
    "raises": lambda name: f'raise ValueError("lost")\ncheck("{name}", None)',
    "syntax": lambda name: f'def f(:\ncheck("{name}", f)',
}


@cache
def chapter(name: str) -> tuple[str, dict[str, str]]:
    """Return the notebook that students get, as JSON, and the right cell for each exercise."""
    source = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    right = published_answers(source)
    blank = plain.convert(source, solutions=False, note="A notebook of the course.")
    return nbformat.writes(blank), right


def exercises(name: str) -> list[str]:
    """Labels of the exercises of a chapter that have a right cell."""
    return list(chapter(name)[1])


def filled(name: str, answers: dict[str, str]) -> NotebookNode:
    """Return a chapter's notebook with cells of a student in the place of starters."""
    notebook = nbformat.reads(chapter(name)[0], as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for exercise in Cell(1, cell.source).exercises:
                if exercise in answers:
                    cell.source = answers[exercise]
    return notebook


def honest(number: int) -> tuple[dict[str, NotebookNode], dict[str, bool]]:
    """What honest student number so-and-so hands in, and what is right in it."""
    notebooks, deserved, at = {}, {}, 0
    kinds = list(WRONG.values())
    for name in CHAPTERS:
        answers = {}
        for exercise in exercises(name):
            at += 1
            good = (number + at) % (2 + number % 5) != 0
            answers[exercise] = (
                chapter(name)[1][exercise] if good else kinds[(number + at) % 4](exercise)
            )
            deserved[exercise] = good
        notebooks[name] = filled(name, answers)
    return notebooks, deserved


def hostile(touched: Path) -> Iterator[tuple[str, str | bytes, set[str]]]:
    """Yield a name, the file of one hostile notebook, and what is right in it all the same.

    `touched` is a file that some of them try to write, and a folder's worth of trouble.
    """
    name = CHAPTERS[0]
    right = chapter(name)[1]
    gram = right["ex-gram"]
    others = {"ex-triangle": right["ex-triangle"], "ex-gram": gram}

    def with_(extra: dict[str, str]) -> str:
        return nbformat.writes(filled(name, {**others, **extra}))

    both = {"ex-triangle", "ex-gram"}
    patch = (
        "import informed.exercises, informed.teaching.exercises, builtins\n"
        "def check(*_): return 'Right'\n"
        "informed.exercises.check = informed.teaching.exercises.check = builtins.check = check\n"
        "import numpy as np\nnp.allclose = lambda *_, **__: True\n"
        "class Yes:\n    def __eq__(self, other): return True\n"
        "    def __float__(self): return 2.0\n"
    )
    yield "patched-check", with_({"ex-duplicate": f'{patch}check("ex-duplicate", Yes())'}), both
    yield (
        "exits",
        with_(
            {
                "ex-duplicate": 'import sys\nsys.exit()\ncheck("ex-duplicate", 1)',
                "ex-directions": 'import os\nos._exit(0)\ncheck("ex-directions", 1)',
            }
        ),
        both,
    )
    yield "endless", with_({"ex-duplicate": 'while True: pass\ncheck("ex-duplicate", 1)'}), both
    stubborn = (
        "def f(*_):\n    while True:\n        try:\n            while True: pass\n"
        '        except BaseException: pass\ncheck("ex-directions", f)'
    )
    yield "stubborn", with_({"ex-directions": stubborn}), both
    yield (
        "ten-gigabytes",
        with_(
            {"ex-duplicate": 'import numpy as np\nX = np.ones(10**10)\ncheck("ex-duplicate", X)'}
        ),
        both,
    )
    yield "broken", nbformat.writes(filled(name, others))[:900], set()
    yield "empty", b"", set()
    notebook = filled(name, others)
    notebook.cells[-1].outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="x" * (22 << 20))
    ]
    yield "huge", nbformat.writes(notebook), set()
    renamed = gram.replace("mahalanobis_from_gram", "my_own_name")
    yield "renamed", with_({"ex-gram": renamed}), both
    outside = (
        "import os, socket, subprocess, shutil\n"
        f"target = {str(touched)!r}\n"
        "for act in (\n"
        "    lambda: open(target, 'w').write('I was here'),\n"
        "    lambda: os.remove(target),\n"
        "    lambda: os.rename(target, target + '.gone'),\n"
        "    lambda: shutil.rmtree(os.path.dirname(target)),\n"
        "    lambda: subprocess.run(['touch', target + '.new']),\n"
        "    lambda: os.system('touch ' + target + '.new'),\n"
        "    lambda: os.kill(os.getppid(), 9),\n"
        "    lambda: [os.fork() for _ in range(20)],\n"
        "    lambda: socket.create_connection(('127.0.0.1', 9), timeout=2),\n"
        "    lambda: __import__('ctypes').CDLL(None).unlink(target.encode()),\n"
        "    lambda: __import__('ctypes').CDLL(None).system(b'touch ' + target.encode()),\n"
        "):\n"
        "    try:\n        act()\n    except BaseException:\n        pass\n"
        "for fd in range(3, 64):\n"
        "    try: os.write(fd, b'{}' * 9)\n    except OSError: pass\n"
        'check("ex-duplicate", 1)'
    )
    yield "vandal", with_({"ex-duplicate": outside}), both
    thief = (
        "try:\n"
        "    import informed.teaching.chapters.averaging.exercises as known\n"
        "    answer = known\n"
        "except ImportError:\n"
        "    import glob, informed, os\n"
        "    pattern = os.path.dirname(informed.__file__) + '/teaching/chapters/*/exercises.py'\n"
        "    answer = [open(path).read() for path in glob.glob(pattern)] or None\n"
        'check("ex-duplicate", answer)'
    )
    yield "thief", with_({"ex-duplicate": thief}), both
    bomb = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "for _ in range(9):\n    if libc.fork() == 0:\n        while True: pass\n"
        'check("ex-duplicate", 1)'
    )
    yield "bomb", with_({"ex-duplicate": bomb}), both
    # Right values by a matrix that the exercise forbids, and nobody is to know what it holds.
    forger = (
        "import tracemalloc\nimport numpy as np\n"
        "from scipy.spatial.distance import pdist, squareform\n"
        "tracemalloc.get_traced_memory = lambda: (0, 0)\n"
        "def f(X):\n"
        "    S = np.atleast_2d(np.cov(X, rowvar=False))\n"
        "    VI = np.linalg.pinv(S, rcond=1e-10, hermitian=True)\n"
        '    return squareform(pdist(X, "mahalanobis", VI=VI))\n'
        'check("ex-gram", f)'
    )
    yield "forger", with_({"ex-gram": forger}), {"ex-triangle"}


def write_class(folder: Path, n_honest: int, touched: Path) -> dict[str, dict[str, bool]]:
    """Write the submissions of a class; return by student what is right."""
    deserved: dict[str, dict[str, bool]] = {}
    for number in range(n_honest):
        student = f"student-{number:02d}"
        notebooks, deserved[student] = honest(number)
        for name, notebook in notebooks.items():
            place = folder / student / f"{name}.ipynb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(nbformat.writes(notebook), encoding="utf-8")
    for name, content, right in hostile(touched):
        (folder / name).mkdir(parents=True)
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name / "handed-in.ipynb").write_bytes(data)
        everything = [exercise for each in CHAPTERS for exercise in exercises(each)]
        deserved[name] = {exercise: exercise in right for exercise in everything}
    return deserved
