"""Keep the book's notebooks free of outputs, except those that are checked.

A notebook in git holds prose and code. The one kind of output that it keeps is that of cells
tagged ``nbval-check-output``: the numbers that the text states, which the tests run again and
compare. Figures and widgets are drawn anew by every build. A decimal number in the prose must
stand in one of the checked outputs; a cell that quotes numbers from another work, which the
notebook does not compute, says so with the tag ``quoted-numbers``.

Run as ``python tools/notebooks.py strip|refresh|check [notebook ...]``; without names, every
notebook under ``book/``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient
from nbformat import NotebookNode

CHECKED = "nbval-check-output"
QUOTED = "quoted-numbers"
BOOK = Path(__file__).resolve().parent.parent / "book"
# Solutions that are run here are nobody's progress in the exercises.
os.environ["INFORMED_PROGRESS"] = "off"

# What nbval compares as text. An image would be skipped by nbval and swell the repository.
TEXT_TYPES = {"text/plain", "text/html", "text/markdown", "text/latex"}
# Only these survive in the metadata; editors add the rest (versions, timings, widget state).
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = {"tags", "mystnb"}

# Mathematics, code, roles with their target, and addresses state no results.
NOT_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)|https?://\S+", re.DOTALL)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?!\w|\.\d)")


def find_chapters() -> list[Path]:
    """Return the notebooks that teach: those in the numbered parts of the book."""
    toc = yaml.safe_load((BOOK.parent / "_toc.yml").read_text(encoding="utf-8"))
    names = [
        chapter["file"]
        for part in toc.get("parts", [])  # a book of a few pages has none
        if part.get("numbered")
        for chapter in part["chapters"]
    ]
    paths = [BOOK.parent / f"{name}.ipynb" for name in names]
    return [path for path in paths if path.is_file()]


def find_notebooks(folder: Path = BOOK) -> list[Path]:
    """Return every notebook under `folder`, sorted, without editors' and builders' copies."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not {".ipynb_checkpoints", "_build"} & set(path.parts)
    )


def is_checked(cell: NotebookNode) -> bool:
    """Return whether nbval compares the output of this cell."""
    return cell.cell_type == "code" and CHECKED in cell.metadata.get("tags", [])


def strip(notebook: NotebookNode) -> NotebookNode:
    """Return a copy without outputs (but for checked cells) and without editors' metadata."""
    notebook = nbformat.from_dict(notebook)
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key in CELL_METADATA}
        )
        cell.pop("attachments", None)
        if cell.cell_type != "code":
            continue
        if is_checked(cell):
            cell.outputs = _merge_streams(cell.outputs)
        else:
            cell.outputs = []
            cell.execution_count = None
    return notebook


def _merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join what a kernel printed in pieces, whose borders differ from run to run."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        # Only a stream has a name.
        if output.get("name") is not None and output.get("name") == last.get("name"):
            last["text"] += output.text
        else:
            merged.append(output)
    return merged


def refresh(notebook: NotebookNode, folder: Path, timeout: int = 600) -> NotebookNode:
    """Run a copy from top to bottom in `folder`, and return it stripped."""
    notebook = nbformat.from_dict(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return strip(notebook)


def unsupported_numbers(notebook: NotebookNode) -> list[str]:
    """Name the decimal numbers of the prose and the captions that no checked output holds."""
    computed = {
        number
        for cell in notebook.cells
        if is_checked(cell)
        for output in cell.outputs
        for number in DECIMAL.findall(_text(output))
    }
    found = []
    for number, cell in enumerate(notebook.cells):
        if QUOTED in cell.metadata.get("tags", []):
            continue
        if cell.cell_type == "markdown":
            prose = cell.source
        else:
            prose = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
        found.extend(
            f"cell {number} ({cell.get('id', 'no id')}): {value} stands in no checked output"
            for value in DECIMAL.findall(NOT_PROSE.sub(" ", prose))
            if value not in computed
        )
    return found


def problems(notebook: NotebookNode) -> list[str]:
    """Say what keeps a notebook from being committed; an empty list means nothing."""
    found = unsupported_numbers(notebook)
    if set(notebook.metadata) - set(NOTEBOOK_METADATA):
        extra = sorted(set(notebook.metadata) - set(NOTEBOOK_METADATA))
        found.append(f"notebook metadata that is not kept: {', '.join(extra)}")
    for number, cell in enumerate(notebook.cells):
        name = f"cell {number} ({cell.get('id', 'no id')})"
        if cell.get("attachments"):
            found.append(f"{name}: carries an attached file")
        if cell.cell_type != "code":
            continue
        if not is_checked(cell):
            if cell.outputs or cell.execution_count is not None:
                found.append(f"{name}: not tagged {CHECKED}, yet it carries an output or a count")
            continue
        # nbval never compares a cell without a count, and an empty output equals an empty output:
        # such a cell would look tested and test nothing.
        if cell.execution_count is None:
            found.append(f"{name}: tagged {CHECKED}, yet it has no execution count")
        if not any(_text(output).strip() for output in cell.outputs):
            found.append(f"{name}: tagged {CHECKED}, yet it has no text output")
        for output in cell.outputs:
            found.extend(f"{name}: {fault}" for fault in _faults(output))
    return found


def _text(output: NotebookNode) -> str:
    """Return the text that nbval compares in one output."""
    if output.output_type == "stream":
        return str(output.text)
    return "".join(
        str(value) for kind, value in output.get("data", {}).items() if kind in TEXT_TYPES
    )


def _faults(output: NotebookNode) -> list[str]:
    """Say what one output of a checked cell carries that it may not."""
    if output.output_type == "error":
        return [f"stopped with {output.ename}"]
    if output.output_type == "stream" and output.name == "stderr":
        return ["wrote to stderr, which differs from machine to machine"]
    found = [f"carries {kind}" for kind in sorted(set(output.get("data", {})) - TEXT_TYPES)]
    if "data:image" in _text(output):
        found.append("carries an image inside its text")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Strip, refresh or check notebooks; the exit status is 1 if `check` found a fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "action",
        choices=["strip", "refresh", "check"],
        help="strip: drop unchecked outputs; refresh: run, then strip; check: only report",
    )
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all under book/")
    options = parser.parse_args(arguments)

    status = 0
    for path in options.notebooks or find_notebooks():
        notebook = nbformat.read(path, as_version=4)
        if options.action == "check":
            for fault in problems(notebook):
                print(f"{path}: {fault}", file=sys.stderr)
                status = 1
            continue
        new = refresh(notebook, path.parent) if options.action == "refresh" else strip(notebook)
        if new != notebook:
            nbformat.write(new, path)
            print(f"{path}: rewritten")
    return status


if __name__ == "__main__":
    sys.exit(main())
