"""The cell that installs the library where a notebook is opened in Google Colab, and only there.

Colab gives a notebook a machine without our library, and without the tables that some chapters
load. Both are in the students' folder of the course. Where the address of the repository is known
(INFORMED_REPOSITORY, which the workflow of the published book sets) that folder is fetched from
its branch ``students``; elsewhere the cell asks for ``informed-students.zip``, which teachers hand
out. The cell is plain Python, without magic commands: graders parse it like any other cell.
"""

from __future__ import annotations

import os

import nbformat
from nbformat import NotebookNode

BRANCH = "students"
STUDENTS_ZIP = "informed-students.zip"
CELL_ID = "colab-install"
# What the notebooks import, in the versions that the machine has if the library works with them.
LIBRARY = "./library[survival,plots,notebook,data]"

CELL = """\
# Google Colab only: install the library. Anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    import importlib, os, subprocess

    home = "{home}"
    if not os.path.isdir(home):
{fetch}
        install = [sys.executable, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "{library}"], cwd=home, check=True)
        importlib.invalidate_caches()
    os.chdir(home)"""
CLONE = """\
        address = "{address}"
        clone = ["git", "clone", "--quiet", "--depth", "1", "--branch", "{branch}"]
        subprocess.run([*clone, address, home], check=True)"""
UPLOAD = """\
        import io, zipfile
        from google.colab import files

        print("Choose {zip_name}, the file that holds this notebook.")
        (data,) = files.upload().values()
        zipfile.ZipFile(io.BytesIO(data)).extractall(os.path.dirname(home))"""


def install_cell(address: str | None = None) -> NotebookNode:
    """Return the cell; without an address, for that of the published book if it is known."""
    address = os.environ.get("INFORMED_REPOSITORY", "") if address is None else address
    fetch = (
        CLONE.format(address=address, branch=BRANCH)
        if address
        else UPLOAD.format(zip_name=STUDENTS_ZIP)
    )
    source = CELL.format(home="/content/informed-students", fetch=fetch, library=LIBRARY)
    hidden = {"jupyter": {"source_hidden": True}}
    return nbformat.v4.new_code_cell(source, id=CELL_ID, metadata=hidden)
