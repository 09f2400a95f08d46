"""Turn a chapter of the book into a notebook that reads well in JupyterLab.

JupyterLab does not know the book's directives (theorems, exercises, references): this writes them
in plain Markdown. A chapter holds its exercises with solutions; the notebook for students is the
chapter without them, the one for instructors has them. Nothing else differs, and neither is
written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from colab import install_cell
from nbformat import NotebookNode
from pybtex.database import parse_file

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"

OPENING = re.compile(r"^ *(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} *(?P<argument>.*)$")
OPTION = re.compile(r"^ *:(?P<key>[\w-]+):(?: (?P<value>.*))?$")
ROLE = re.compile(r"\{(?P<name>[\w:]+)\}`(?P<content>[^`]+)`")
EXPLICIT = re.compile(r"^(?P<text>.*?) *<(?P<target>[^<>]+)>$", re.DOTALL)
EQUATION = re.compile(r"(?P<body>\$\$.*?)(?P<indent>\n *)\$\$ *\(eq-(?P<label>[\w-]+)\)", re.DOTALL)
# A link to a page of the book that is no notebook leads nowhere outside of the site.
PAGE_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<page>[a-z-]+)\)")
TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
# A label of Sphinx; it may also be the last line before a directive.
ANCHOR = re.compile(r"^ *\(([\w-]+)\)= *(?:\n|\Z)", re.MULTILINE)
COMMENT = re.compile(r"^% .*(?:\n|\Z)", re.MULTILINE)
STATEMENT = re.compile(r"\{prf:(\w+)\} (.*)\n *:label: (\S+)")
SOLUTION_START, SOLUTION_END = "solution-start", "solution-end"
FOLDED_TAGS = {"hide-input", "remove-input", "hide-cell"}


@dataclass(frozen=True)
class Block:
    """A directive: its name, what stands behind the name, its options, and its lines."""

    name: str
    argument: str
    options: Mapping[str, str]
    body: str


def split_blocks(text: str) -> Iterator[str | Block]:
    """Split Markdown into plain text and directives; directives inside a directive stay in it."""
    lines = text.split("\n")
    plain: list[str] = []
    at = 0
    while at < len(lines):
        opening = OPENING.match(lines[at])
        if opening is None:
            plain.append(lines[at])
            at += 1
            continue
        yield "\n".join(plain)
        plain = []
        fence = opening["fence"]
        end = next(
            number
            for number in range(at + 1, len(lines) + 1)
            if number == len(lines) or lines[number].strip() == fence
        )
        inside = lines[at + 1 : end]
        options: dict[str, str] = {}
        while inside and (option := OPTION.match(inside[0])):
            options[option["key"]] = option["value"] or ""
            inside.pop(0)
        yield Block(
            opening["name"], opening["argument"].strip(), options, "\n".join(inside).strip()
        )
        at = end + 1
    yield "\n".join(plain)


@cache
def chapter_titles() -> dict[str, str]:
    """Return the title of each chapter that is a notebook, by the name of its file."""
    return {
        path.stem: next(iter(TITLE.findall(nbformat.read(path, as_version=4).cells[0].source)))
        for path in sorted(BOOK.glob("*.ipynb"))
    }


@cache
def statement_titles() -> dict[str, str]:
    """Name each statement of the book by its label."""
    titles: dict[str, str] = {}
    for path in sorted(BOOK.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                for kind, title, label in STATEMENT.findall(cell.source):
                    titles[label] = f"{kind} “{title.strip()}”"
    return titles


@cache
def citations() -> dict[str, tuple[str, str]]:
    """Return the authors and the year of each work, by key."""
    found = {}
    for key, entry in parse_file(str(BOOK / "references.bib")).entries.items():
        names = [" ".join(person.last_names) for person in entry.persons["author"]]
        names = [re.sub(r"[{}\\]", "", name) for name in names]
        if len(names) > 2:
            names = [names[0], "others"]
        found[key] = (" and ".join(names), entry.fields["year"])
    return found


def plain_role(match: re.Match[str]) -> str:
    """Write a role in plain words."""
    name, content = match["name"], match["content"]
    explicit = EXPLICIT.match(content)
    text, target = (explicit["text"], explicit["target"]) if explicit else (None, content)
    if name == "doc":
        title = chapter_titles().get(target)
        if title is None:
            return text or target.replace("-", " ")
        return f"[{text or title}]({target}.ipynb)"
    if name.startswith("cite"):
        works = [citations()[key.strip()] for key in target.split(",")]
        if name == "cite:t":
            return ", ".join(f"{authors} ({year})" for authors, year in works)
        return "(" + "; ".join(f"{authors}, {year}" for authors, year in works) + ")"
    if name == "eq":
        return f"({target.removeprefix('eq-')})"
    if name == "prf:ref":
        return f"the {text or statement_titles().get(target, target)}"
    if name == "numref":
        return text or "the figure"
    return text or target.replace("-", " ")


def plain_text(text: str) -> str:
    """Write text without directives in plain Markdown."""
    text = COMMENT.sub("", ANCHOR.sub("", text))
    text = EQUATION.sub(
        lambda match: (
            f"{match['body']}{match['indent']}\\tag{{{match['label']}}}{match['indent']}$$"
        ),
        text,
    )
    text = PAGE_LINK.sub(
        lambda match: (
            f"[{match['text']}]({match['page']}.ipynb)"
            if match["page"] in chapter_titles()
            else match["text"]
        ),
        text,
    )
    return ROLE.sub(plain_role, text)


def plain_block(block: Block, *, solutions: bool) -> str:
    """Write a directive in plain Markdown; a solution only if it is wanted."""
    if block.name in ("solution", SOLUTION_START):
        if not solutions:
            return ""
        return f"**Solution.**\n\n{plain_markdown(block.body, solutions=solutions)}"
    if block.name == SOLUTION_END:
        return ""
    body = plain_markdown(block.body, solutions=solutions)
    if block.name == "exercise":
        return f"### {block.argument}\n\n{body}"
    if block.name.startswith("prf:"):
        kind = block.name.removeprefix("prf:").capitalize()
        if kind == "Proof":
            return f"*Proof.* {body} ∎"
        title = f" ({plain_text(block.argument)})" if block.argument else ""
        return f"**{kind}{title}.**\n\n{body}"
    if block.name == "admonition" and "dropdown" in block.options.get("class", ""):
        return f"<details><summary>{block.argument}</summary>\n\n{body}\n\n</details>"
    if block.name == "admonition":
        quoted = "\n".join(f"> {line}".rstrip() for line in body.split("\n"))
        return f"> **{plain_text(block.argument)}**\n>\n{quoted}"
    if block.name == "list-table":
        return plain_table(body)
    return body


def plain_table(body: str) -> str:
    """Write a table that is given as a list of lists in pipes."""
    rows: list[list[str]] = []
    for line in body.split("\n"):
        if line.startswith("* - "):
            rows.append([line[4:]])
        elif line.startswith("  - "):
            rows[-1].append(line[4:])
        elif line.strip():
            rows[-1][-1] += f" {line.strip()}"
    written = [f"| {' | '.join(row)} |" for row in rows]
    written.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(written)


def plain_markdown(text: str, *, solutions: bool) -> str:
    """Write the Markdown of the book in plain Markdown."""
    parts = [
        plain_text(part) if isinstance(part, str) else plain_block(part, solutions=solutions)
        for part in split_blocks(text)
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def without_solution_span(text: str, inside: bool) -> tuple[str, bool]:
    """Drop what lies between the start and the end of a solution, which may lie in other cells."""
    kept: list[str] = []
    for line in text.split("\n"):
        opening = OPENING.match(line)
        if opening and opening["name"] == SOLUTION_START:
            inside = True
        if not inside:
            kept.append(line)
        if opening and opening["name"] == SOLUTION_END:
            inside = False
            kept.append("\0")  # its closing fence stands on the next line
    text = re.sub(r"\0\n *(`{3,}|:{3,}) *$", "", "\n".join(kept), flags=re.MULTILINE)
    return text.replace("\0", ""), inside


def convert(notebook: NotebookNode, *, solutions: bool, note: str) -> NotebookNode:
    """Return a chapter as a plain notebook without outputs, below a note on how to use it.

    The first cell of code installs the library in Google Colab, and does nothing elsewhere.
    """
    cells = [nbformat.v4.new_markdown_cell(note, id="how-to-use"), install_cell()]
    inside = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = cell.source
            if not solutions:
                text, inside = without_solution_span(text, inside)
            text = plain_markdown(text, solutions=solutions)
            if text:
                cells.append(nbformat.v4.new_markdown_cell(text, id=cell.id))
            continue
        if inside:
            continue
        tags = set(cell.metadata.get("tags", []))
        metadata = {"jupyter": {"source_hidden": True}} if tags & FOLDED_TAGS else {}
        cells.append(nbformat.v4.new_code_cell(cell.source, id=cell.id, metadata=metadata))
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        if caption:
            words = plain_text(caption)
            cells.append(nbformat.v4.new_markdown_cell(f"*{words}*", id=f"{cell.id}-caption"))
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
