"""The notebook behind the download button of a page: plain Markdown that reads well anywhere.

A chapter is written with directives of the book, which JupyterLab and Colab show as they are. So
the button leads to the form that the course uses (``plain.py``), with its cell in front that
installs the library in Colab (``colab.py``). The folder of notebooks has the structure of the site.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import notebooks
import plain

FOLDER = "notebooks"
LINK = re.compile(r'href="((?:\.\./)*)_sources/([\w/-]+\.ipynb)"')
NOTE = """\
> **How to use this notebook.** It is a chapter of the book *Mahalanobis distance informed by
> clustering*, to run from the top. It needs the library `informed`; in Colab the next cell installs
> it. Cells that read a stored table need the folder `results` of the book's source beside the
> notebook. The last line of each exercise tells you whether your answer holds."""


def plain_notebook(path: Path) -> nbformat.NotebookNode:
    """Return a chapter in its plain form, with solutions, below a note."""
    return plain.convert(nbformat.read(path, as_version=4), solutions=True, note=NOTE)


def write_downloads(site: Path) -> None:
    """Write the plain notebooks into the site, and lead its buttons to them."""
    written = set()
    for path in sorted(notebooks.BOOK.glob("*.ipynb")):
        name = path.relative_to(notebooks.BOOK.parent).as_posix()
        target = site / FOLDER / name
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(plain_notebook(path), target)
        written.add(name)

    def lead(found: re.Match[str]) -> str:
        home, name = found.groups()
        return f'href="{home}{FOLDER}/{name}"' if name in written else found.group()

    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        led = LINK.sub(lead, text)
        if led != text:
            page.write_text(led, encoding="utf-8")
