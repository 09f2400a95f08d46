"""The pages of the API: a table of what a module holds, and the chapters that use each name."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import informed

BOOK = Path(__file__).resolve().parent.parent / "book"
SHELL = re.compile(r"^\s*[%!].*$", re.MULTILINE)


class Summary(SphinxDirective):
    """``.. api-summary:: informed.gap`` lists what the module holds, with the first line of each.

    Other names may follow that of the module, or stand in its place, by their public path.
    """

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Write a table and let Sphinx read it."""
        lines = [".. list-table::", "   :widths: 35 65", "   :class: names", ""]
        for path in [each for name in self.arguments[0].split() for each in public_paths(name)]:
            first = (inspect.getdoc(found(path)) or "").partition("\n\n")[0].replace("\n", " ")
            # A link would look for its target outside of the module here; a formula has none.
            plain = re.sub(r":(?!math:)\w+:`~?([^`]*)`", r"``\1``", first)
            lines += [f"   * - :obj:`~{path}`", f"     - {plain}"]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source=__file__), self.content_offset, holder)
        return holder.children


def public_paths(name: str) -> list[str]:
    """Return the name itself, or what is public in it if it is a module."""
    item = found(name)
    if not inspect.ismodule(item):
        return [name]
    members = [getattr(item, each) for each in item.__all__]
    return [
        f"{name}.{each}"
        for each, member in zip(item.__all__, members, strict=True)
        if callable(member) and member.__doc__ and lives_behind(name, member)
    ]


def lives_behind(name: str, member: Any) -> bool:
    """Tell whether a page shows a member: the experiments hand on what other pages show."""
    elsewhere = not member.__module__.startswith("informed.studies.")
    return name != "informed.experiments" or not (elsewhere or member.__name__ in informed.__all__)


def found(path: str) -> Any:
    """Import what a dotted path names."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        home, _, name = path.rpartition(".")
        return getattr(importlib.import_module(home), name)


@cache
def names_of_chapters() -> dict[str, set[str]]:
    """Return the names of the library that the code of each chapter uses."""
    names = {}
    for path in sorted(BOOK.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        names[path.stem] = names_used(SHELL.sub("", "\n".join(code)))
    return names


def names_used(code: str) -> set[str]:
    """Return what a code imports from the library, looks up there or reads as a stored result.

    A variable or a word of a text that happens to be called the same does not count.
    """
    names, looked_up = set(), []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "informed":
            names |= {name for each in node.names for name in (each.name, each.asname) if name}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names if each.name == "informed"}
        elif isinstance(node, ast.Attribute):
            looked_up.append(ast.unparse(node).split("."))
        elif isinstance(node, ast.Constant) and str(node.value).startswith("results/"):
            names.add(str(node.value).rpartition("/")[2])
    return names.union(*(parts[1:] for parts in looked_up if parts[0] in names))


def add_chapters(
    app: Sphinx, kind: str, name: str, item: object, options: object, lines: list[str]
) -> None:
    """End the entry of a function or a class with links to the chapters whose code uses it."""
    if kind not in ("function", "class"):
        return
    short = name.rpartition(".")[2]
    chapters = [chapter for chapter, names in names_of_chapters().items() if short in names]
    if chapters:
        links = ", ".join(f":doc:`/book/{chapter}`" for chapter in chapters)
        lines += ["", f"*Used in:* {links}.", ""]


def setup(app: Sphinx) -> None:
    """Add the directive and the links."""
    app.add_directive("api-summary", Summary)
    app.connect("autodoc-process-docstring", add_chapters, priority=900)
