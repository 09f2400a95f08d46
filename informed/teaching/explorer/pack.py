"""The scripts of the page, written as modules, packed into one plain script.

A browser loads no modules from a ``file://`` address, and a notebook has no folder to load them
from. So the modules under ``browser/`` are joined here: each keeps a scope of its own, and what it
exports is handed to those that import it. The sources keep to two forms, ``import { a, b } from
"./file.js";`` and ``export`` before a declaration, so that joining them needs no parser.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const) (\w+)", re.MULTILINE)
# All that a page can ask for, and what the first page of the book needs.
ENTRY, FIRST = "main.js", "first.js"


@cache
def packed_script(entry: str = ENTRY) -> str:
    """Return a module and all that it needs as one script.

    It makes ``informed`` known to the page, once. The script is one function, whose own text a page
    can hand to a worker: there is no other way to start one from a ``file://`` address.
    """
    order: list[str] = []
    _visit(entry, order, [])
    modules = "".join(_module(name) for name in order)
    return (
        "function informedPack(scope) {\n"
        '"use strict";\n'
        "if (scope.informed) return;\n"
        "const modules = {};\n"
        f"{modules}"
        f'scope.informed = modules["{entry}"];\n'
        "if (scope.document) scope.informed.begin(String(informedPack));\n"
        "}\n"
        "informedPack(globalThis);\n"
    )


@cache
def page_style() -> str:
    """Return the style sheet that goes with the script."""
    return re.sub(r"\n\s*", "\n", _source("page.css"))


def _visit(name: str, order: list[str], path: list[str]) -> None:
    """Put a module behind those that it imports."""
    if name in path:
        raise ValueError(f"modules import each other: {' → '.join([*path, name])}")
    if name in order:
        return
    for _, target in IMPORT.findall(_source(name)):
        _visit(_resolve(name, target), order, [*path, name])
    order.append(name)


def _module(name: str) -> str:
    source = _source(name)
    exported = ", ".join(EXPORT.findall(source))

    def link(found: re.Match[str]) -> str:
        names = found[1].replace(" as ", ": ")
        return f'const {{{names}}} = modules["{_resolve(name, found[2])}"];\n'

    body = _light(re.sub(r"^export ", "", IMPORT.sub(link, source), flags=re.MULTILINE))
    return f'modules["{name}"] = (() => {{\n{body}return {{ {exported} }};\n}})();\n'


def _light(source: str) -> str:
    """Take out comments on lines of their own, and indentation: a third of the weight.

    No text of the modules runs over several lines, which this would change.
    """
    kept, inside = [], False
    for line in map(str.strip, source.split("\n")):
        inside = inside or line.startswith("/**")
        if not inside and line and not line.startswith("//"):
            kept.append(line)
        inside = inside and "*/" not in line
    return "".join(f"{line}\n" for line in kept)


def _resolve(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath("browser", name).read_text(encoding="utf-8")
