"""Draw the rooms of the package and what imports what, from the sources themselves.

Every build of the book writes ``book/assets/architecture.svg`` anew, so it cannot go stale;
``python tools/architecture.py`` does the same by hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "informed"
PICTURE = ROOT / "book" / "assets" / "architecture.svg"

# The parts of each room in the order in which data flow: a module imports only from its own part
# and from parts further up. The doors give studies and teaching their short public names; the
# command line may call everything, so it comes last.
ROOMS = {
    "the metric": [
        "exceptions",
        "validation",
        "extras",
        "progress",
        "threads",
        "workers",
        "parallel",
        "centering",
        "datasets",
        "clusters",
        "spiked",
        "directions",
        "theory",
        "metrics",
        "diffusion",
        "groups",
        "block_noise",
        "alternating",
        "gap",
        "survival",
    ],
    "the studies": ["studies", "studies.experiments", "studies.plots"],
    "the teaching": [
        "teaching",
        "teaching.quiz",
        "teaching.exercises",
        "teaching.chapters",
        "teaching.grading",
        "teaching.assessment",
        "teaching.explorer",
        "teaching.proofs",
    ],
    "doors": ["experiments", "plots", "exercises", "quiz"],
    "the command line": ["studies.cli", "__main__"],
}
ORDER = [part for parts in ROOMS.values() for part in parts]


def homes(package: Path) -> dict[str, str]:
    """Return where a package finds the names that it loads on first use; none if it is not there.

    Read and not imported, because the picture is drawn where nothing but Python is installed.
    """
    start = package / "__init__.py"
    if start.is_file():
        for node in ast.parse(start.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
                return dict(ast.literal_eval(node.value))
    return {}


NAMES = homes(PACKAGE)

COLORS = {
    "the metric": "#dbe9f6",
    "the studies": "#fbe6c8",
    "the teaching": "#dcefdc",
    "doors": "#ececec",
    "the command line": "#f3dff0",
}
STEP, LEFT, TOP, PAD = 14, 212, 190, 10
SHORT_LIST = 7  # so many names fit into a box


def part_of(module: str) -> str:
    """Return the name in ORDER that a dotted module name belongs to ("" for the package)."""
    names = module.split(".")[1:]
    pair = ".".join(names[:2])
    return pair if pair in ORDER else "".join(names[:1])


def modules() -> dict[str, Path]:
    """All modules of the package by dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source: str, module: str, *, is_package: bool = False) -> Iterator[str]:
    """Yield the dotted names that a module imports, anywhere in it, relative ones resolved.

    ``from informed import x`` counts as the part that holds *x*.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".") + ([""] if is_package else [])
                base = ".".join([*parents[: -node.level], *filter(None, [node.module])])
            if base == "informed":
                yield from (f"informed.{NAMES.get(a.name, a.name)}" for a in node.names)
            else:
                yield base


def imports_between_parts() -> dict[tuple[str, str], int]:
    """Count the modules of a part that import from another part: (importing, imported) → count."""
    counts: dict[tuple[str, str], int] = {}
    for module, path in modules().items():
        here = part_of(module)
        if here not in ORDER:
            continue
        is_package = path.name == "__init__.py"
        names = imported(path.read_text("utf-8"), module, is_package=is_package)
        found = {part_of(name) for name in names if name.split(".")[0] == "informed"}
        for there in found & set(ORDER) - {here}:
            counts[here, there] = counts.get((here, there), 0) + 1
    return counts


def picture() -> str:
    """Draw the rooms above, and below them one row per part with a dot for each import."""
    counts = imports_between_parts()
    width = LEFT + STEP * len(ORDER) + 4 * PAD
    height = TOP + STEP * len(ORDER) + 3 * PAD
    described = (
        "Above, the rooms: the metric, then the studies, then the teaching; doors and the command "
        "line call them. Below, a table of parts: every dot, a part that imports another, lies "
        "below the diagonal."
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12" '
            'role="img">',
            "<title>Rooms and doors of the package</title>",
            f"<desc>{escape(described)}</desc>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *_rooms(width, counts),
            *_table(counts),
            "</svg>\n",
        ]
    )


def _rooms(width: int, counts: dict[tuple[str, str], int]) -> Iterator[str]:
    """Boxes of the rooms, and between neighbours how many parts import across."""
    slot = (width - 2 * PAD) / len(ROOMS)
    for number, (room, parts) in enumerate(ROOMS.items()):
        x = PAD + number * slot
        names = [part.rpartition(".")[2] for part in parts]
        short = f"{len(names)} parts, from {names[0]} to {names[-1]}"
        if len(names) <= SHORT_LIST:
            short = ", ".join(names)
        yield (
            f'<rect x="{x:.0f}" y="{PAD}" width="{slot - 34:.0f}" height="74" rx="6" '
            f'fill="{COLORS[room]}" stroke="#555555"/>'
        )
        yield _text(x + 8, PAD + 18, room.removeprefix("the "), weight="bold")
        for line, words in enumerate(_wrapped(short, int((slot - 46) / 5.6), 4)):
            yield _text(x + 8, PAD + 34 + 12 * line, words, size=10)
    for number, (room, later) in enumerate(pairwise(ROOMS)):
        x = PAD + (number + 1) * slot
        yield (
            f'<path d="M {x - 4:.0f} 47 H {x - 28:.0f}" stroke="#333333" fill="none"/>'
            f'<path d="M {x - 34:.0f} 47 l 8 -4 v 8 z" fill="#333333"/>'
        )
        crossing = sum(there in ROOMS[room] and here in ROOMS[later] for here, there in counts)
        yield _text(x - 18, 40, str(crossing), size=10, anchor="middle")
    yield _text(
        PAD, 102, "An arrow points to what is imported; the number counts pairs of parts.", size=10
    )


def _table(counts: dict[tuple[str, str], int]) -> Iterator[str]:
    start = 0
    for room, parts in ROOMS.items():
        top, height = TOP + STEP * start, STEP * len(parts)
        yield (
            f'<rect x="{PAD}" y="{top}" width="{LEFT + STEP * len(ORDER) - PAD}" '
            f'height="{height}" fill="{COLORS[room]}" stroke="#ffffff"/>'
        )
        start += len(parts)
    for row, part in enumerate(ORDER):
        y = TOP + STEP * row + STEP / 2
        yield _text(LEFT - 8, y + 4, f"informed.{part}", anchor="end")
        x = LEFT + STEP * row + STEP / 2
        yield (
            f'<text transform="translate({x + 4:.0f} {TOP - 6}) rotate(-60)" '
            f'font-size="10">{escape(part)}</text>'
        )
        yield (
            f'<rect x="{x - STEP / 2:.0f}" y="{y - STEP / 2:.0f}" width="{STEP}" '
            f'height="{STEP}" fill="#999999" opacity="0.35"/>'
        )
    for (here, there), count in sorted(counts.items()):
        x = LEFT + STEP * ORDER.index(there) + STEP / 2
        y = TOP + STEP * ORDER.index(here) + STEP / 2
        yield (
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="#1b4f8a">'
            f"<title>{count} module(s) of {escape(here)} import {escape(there)}</title></circle>"
        )


def _text(
    x: float, y: float, words: str, *, size: int = 12, weight: str = "normal", anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def _wrapped(words: str, width: int, most: int) -> list[str]:
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:most]


def write_picture() -> None:
    """Write the picture, unless it is there as it would be drawn now."""
    drawn = picture()
    if not PICTURE.exists() or PICTURE.read_text("utf-8") != drawn:
        PICTURE.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    write_picture()
    print(f"written: {PICTURE.relative_to(ROOT)}")
