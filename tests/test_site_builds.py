"""How the site is built: strictly, and from notebooks that run again when something changed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
import yaml
from conftest import ROOT
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from small_book import read_page, run_python, small_notebook


def build_small_book(
    folder: Path, index: str, chapter: NotebookNode | None = None, **environment: str
) -> str:
    """Build a book of one or two pages with the real settings; return its messages, or ''."""
    for name in ("tools", "book/assets"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    for name in ("_config.yml", "book/references.bib"):
        shutil.copy(ROOT / name, folder / name)
    toc: dict[str, object] = {"format": "jb-book", "root": "book/index"}
    if chapter is not None:
        chapters = [{"file": "book/chapter"}]
        toc["parts"] = [{"caption": "Part", "numbered": True, "chapters": chapters}]
        nbformat.write(chapter, folder / "book" / "chapter.ipynb")
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (folder / "book" / "index.md").write_text(index, encoding="utf-8")
    command = "from jupyter_book.cli.main import main; main()"
    result = run_python(
        "-c", command, "build", ".", "-W", "-n", "--keep-going", cwd=folder, **environment
    )
    return "" if result.returncode == 0 else result.stdout + result.stderr


def test_strict_build_accepts_a_sound_book_and_launches_its_notebooks(tmp_path: Path) -> None:
    chapter = small_notebook()
    chapter.cells.insert(
        0, new_markdown_cell("# Chapter\n\n```{exercise}\n:label: ex-one\n\nTry.\n```")
    )
    address = "https://github.com/somebody/informed"
    index = "# Title\n\n![a tilted ellipse](assets/favicon.svg)\n\n[a chapter](chapter)\n"
    assert build_small_book(tmp_path, index, chapter, INFORMED_REPOSITORY=address) == ""
    page = read_page(tmp_path / "_build" / "html" / "book" / "chapter.html")
    links = [tag["href"] for tag in page.find_all("a", href=True)]
    # What opens is the students' notebook, from the branch that holds their folder.
    for host in ("https://mybinder.org/v2/gh/", "https://colab.research.google.com/github/"):
        (link,) = (link for link in links if link.startswith(f"{host}somebody/informed/"))
        assert "students" in link
        assert link.endswith("chapter.ipynb")
        assert "book/" not in link
    assert address in links


def test_strict_build_refuses_broken_pages(tmp_path: Path) -> None:
    index = """
# Title

See {ref}`nowhere`, {prf:ref}`thm-none`, {cite}`nobody2000`, {eq}`eq-none` and [a page](missing.md).

![](assets/favicon.svg)
"""
    messages = build_small_book(tmp_path, index)
    for planted in ("nowhere", "thm-none", "nobody2000", "eq-none", "missing.md"):
        assert planted in messages
    assert "image without alt text" in messages


def test_strict_build_refuses_a_failing_cell_each_time(tmp_path: Path) -> None:
    chapter = small_notebook()
    chapter.cells.insert(0, new_markdown_cell("# Chapter"))
    chapter.cells.append(new_code_cell("raise RuntimeError('planted')"))
    for _ in ("cold", "from the cache"):
        assert "planted" in build_small_book(tmp_path, "# Title\n", chapter)


# ----------------------------------------------------------- running the notebooks before the build


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one notebook, one module, and the tool that runs notebooks."""
    for name in ("tools", "book", "informed"):
        (tmp_path / name).mkdir()
    for name in ("execute.py", "architecture.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "requirements.txt").write_text("numpy\n")
    (tmp_path / "informed" / "module.py").write_text("one = 1\n")
    (tmp_path / "_toc.yml").write_text("{format: jb-book, root: book/chapter}\n")
    nbformat.write(small_notebook(), tmp_path / "book" / "chapter.ipynb")
    return tmp_path


def execute(project: Path) -> subprocess.CompletedProcess[str]:
    return run_python(project / "tools" / "execute.py", cwd=project)


def test_notebooks_run_once_and_again_when_what_they_use_changes(project: Path) -> None:
    notebook = small_notebook()
    notebook.cells.insert(
        0, new_code_cell("if 0:\n    from informed.module import one\n    open('data.txt')")
    )
    nbformat.write(notebook, project / "book" / "chapter.ipynb")
    library = project / "informed"
    (library / "module.py").write_text("from informed.inner import one\n")
    (library / "inner.py").write_text("one = 1\n")
    (project / "book" / "data.txt").write_text("1")
    for chapter in ("chapter", "other"):
        folder = library / "teaching" / "chapters" / chapter
        folder.mkdir(parents=True)
        (folder / "quiz.toml").write_text("typo = 1\n")
    (library / "unused.py").write_text("one = 1\n")

    def ran_after(file: Path) -> bool:
        file.write_text(file.read_text() + "\n")
        return "ran book/chapter.ipynb" in execute(project).stdout

    assert "ran book/chapter.ipynb" in execute(project).stdout
    assert execute(project).stdout == ""
    doctrees = project / "_build" / ".doctrees"
    doctrees.mkdir()
    for name in ("unused.py", "teaching/chapters/other/quiz.toml"):
        assert not ran_after(library / name), name
    assert doctrees.exists()
    for name in ("inner.py", "teaching/chapters/chapter/quiz.toml", "../book/data.txt"):
        assert ran_after(library / name), name
    assert not doctrees.exists(), "Sphinx would not read the page again"


def test_a_failing_notebook_stops_the_build_each_time(project: Path) -> None:
    notebook = small_notebook()
    notebook.cells.append(new_code_cell("raise RuntimeError('planted')"))
    nbformat.write(notebook, project / "book" / "chapter.ipynb")
    for _ in ("first", "again"):
        result = execute(project)
        assert result.returncode == 1
        assert "planted" in result.stderr
