"""The book's sources and its built pages: nothing unchecked, nothing broken, nothing missing."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from nbformat import NotebookNode
from nbformat.v4 import new_output
from small_book import read_page, run_python, small_notebook
from sphinx_external_toc.parsing import parse_toc_yaml

sys.path.insert(0, str(ROOT / "tools"))
import execute as executing
import notebooks
import pdf

import informed
from informed import gap

NOTEBOOKS = notebooks.find_notebooks()


# ------------------------------------------------------------------------------------ the notebooks


def test_there_are_notebooks_with_checked_cells() -> None:
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert any(map(notebooks.is_checked, cells)), f"{path.name} checks no number"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_fit_to_commit(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebooks.problems(notebook) == []
    assert notebooks.strip(notebook) == notebook


def test_guard_accepts_a_sound_notebook() -> None:
    assert notebooks.problems(small_notebook()) == []


def no_output(notebook: NotebookNode) -> None:
    notebook.cells[1].outputs = []


def empty_output(notebook: NotebookNode) -> None:
    notebook.cells[1].outputs[0].text = "\n"


def no_count(notebook: NotebookNode) -> None:
    notebook.cells[1].execution_count = None


def image_in_plain_cell(notebook: NotebookNode) -> None:
    notebook.cells[0].outputs = [new_output("display_data", data={"image/png": "iVBORw0KGgo="})]


def image_in_checked_cell(notebook: NotebookNode) -> None:
    data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480>"}
    notebook.cells[1].outputs.append(new_output("display_data", data=data))


def image_inside_html(notebook: NotebookNode) -> None:
    data = {"text/html": '<img src="data:image/png;base64,iVBORw0KGgo=">'}
    notebook.cells[1].outputs.append(new_output("display_data", data=data))


def widget_view(notebook: NotebookNode) -> None:
    data = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "slider"}
    notebook.cells[1].outputs.append(new_output("display_data", data=data))


def widget_state(notebook: NotebookNode) -> None:
    notebook.metadata["widgets"] = {}


def text_in_plain_cell(notebook: NotebookNode) -> None:
    notebook.cells[0].outputs = [new_output("stream", name="stdout", text="0.5\n")]


def warning_in_checked_cell(notebook: NotebookNode) -> None:
    notebook.cells[1].outputs.append(new_output("stream", name="stderr", text="UserWarning"))


def error_in_checked_cell(notebook: NotebookNode) -> None:
    notebook.cells[1].outputs.append(new_output("error", ename="ValueError", evalue="no"))


def attachment(notebook: NotebookNode) -> None:
    notebook.cells[2].attachments = {"a.png": {"image/png": "iVBORw0KGgo="}}


def wrong_number_in_prose(notebook: NotebookNode) -> None:
    notebook.cells[2].source = "The half of one is 0.6."


def wrong_number_in_caption(notebook: NotebookNode) -> None:
    notebook.cells[0].metadata["mystnb"] = {"figure": {"caption": "A half is 0.6."}}


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (no_output, "no text output"),
        (empty_output, "no text output"),
        (no_count, "no execution count"),
        (image_in_plain_cell, "not tagged"),
        (text_in_plain_cell, "not tagged"),
        (image_in_checked_cell, "carries image/png"),
        (image_inside_html, "carries an image inside its text"),
        (widget_view, "carries application/vnd.jupyter.widget-view"),
        (widget_state, "metadata that is not kept: widgets"),
        (warning_in_checked_cell, "wrote to stderr"),
        (error_in_checked_cell, "stopped with ValueError"),
        (attachment, "attached file"),
        (wrong_number_in_prose, "0.6 stands in no checked output"),
        (wrong_number_in_caption, "0.6 stands in no checked output"),
    ],
)
def test_guard_catches_a_planted_fault(
    plant: Callable[[NotebookNode], None], message: str, tmp_path: Path, capsys
) -> None:
    notebook = small_notebook()
    plant(notebook)
    assert any(message in problem for problem in notebooks.problems(notebook))

    path = tmp_path / "planted.ipynb"
    nbformat.write(notebook, path)
    assert notebooks.main(["check", str(path)]) == 1
    assert message in capsys.readouterr().err


def test_numbers_quoted_from_elsewhere_are_let_through() -> None:
    notebook = small_notebook()
    notebook.cells[2].source = "The paper reports 0.99."
    notebook.cells[2].metadata["tags"] = [notebooks.QUOTED]
    assert notebooks.problems(notebook) == []


def test_strip_keeps_checked_outputs_only(tmp_path: Path) -> None:
    notebook = small_notebook()
    for plant in (text_in_plain_cell, widget_state, attachment):
        plant(notebook)
    notebook.cells[0].execution_count = 1
    notebook.cells[0].metadata["collapsed"] = True
    path = tmp_path / "used.ipynb"
    nbformat.write(notebook, path)

    assert notebooks.main(["strip", str(path)]) == 0
    assert nbformat.read(path, as_version=4) == small_notebook()
    before = path.stat().st_mtime_ns
    notebooks.main(["strip", str(path)])
    assert path.stat().st_mtime_ns == before, "a stripped notebook is left alone"


def test_strip_joins_what_was_printed_in_pieces() -> None:
    notebook = small_notebook()
    pieces = [("stdout", "0."), ("stdout", "5\n"), ("stderr", "no"), ("stdout", "more\n")]
    notebook.cells[1].outputs = [
        new_output("stream", name=name, text=text) for name, text in pieces
    ]
    joined = notebooks.strip(notebook).cells[1].outputs
    assert [(output.name, output.text) for output in joined] == [
        ("stdout", "0.5\n"),
        ("stderr", "no"),
        ("stdout", "more\n"),
    ]


def test_refresh_computes_the_checked_outputs(tmp_path: Path) -> None:
    notebook = small_notebook()
    notebook.cells[1].outputs[0].text = "0.7\n"
    path = tmp_path / "stale.ipynb"
    nbformat.write(notebook, path)
    result = run_python(ROOT / "tools" / "notebooks.py", "refresh", path, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert nbformat.read(path, as_version=4) == small_notebook()


@pytest.mark.parametrize(("number", "passes"), [("0.5", True), ("0.6", False)])
def test_nbval_fails_on_a_planted_wrong_number(number: str, passes: bool, tmp_path: Path) -> None:
    notebook = small_notebook()
    notebook.cells[1].outputs[0].text = f"{number}\n"
    path = tmp_path / "numbers.ipynb"
    nbformat.write(notebook, path)
    result = run_python(
        *("-m", "pytest", "--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", path),
        cwd=tmp_path,
    )
    assert (result.returncode == 0) is passes, result.stdout
    assert ("Cell outputs differ" in result.stdout) is not passes


# ------------------------------------------------------------------------------ the reference pages

BOOK = ROOT / "book"
PAPER_ITEMS = [
    *("T1", "C1", "A1", "A2", "A3", "A4", "E1", "T2"),
    *("E2", "E3", "ALG1", "X1", "E4", "X2", "ALG2", "X3", "X4", "F1", "F2"),
]


def rows(page: str) -> list[list[str]]:
    """The rows of all list-tables of a Markdown page, without their heads."""
    found: list[list[str]] = []
    for line in page.split("\n"):
        if line.startswith("* - "):
            found.append([line[4:]])
        elif line.startswith("  - "):
            found[-1].append(line[4:])
    return found


def test_ledger_has_a_row_for_each_item_and_erratum() -> None:
    ledger = (BOOK / "ledger.md").read_text(encoding="utf-8")
    first = {row[0]: row for row in rows(ledger)}
    for item in PAPER_ITEMS:
        _, _, statement, proof, check, tests = first[item]
        for cell in (statement, proof, check):
            assert re.search(r"\{(prf:ref|ref|doc)\}`|\]\([\w-]+\.ipynb#", cell), f"{item}: {cell}"
        assert "{download}" in tests, item


# An erratum, or two that belong together, in a box of the chapter.
ERRATUM_BOX = re.compile(
    r":::\{admonition\} Errat(?:um|a) (\d+)(?: and (\d+))?[^\n]*\n:class: warning\n:name: ([\w-]+)"
)


def test_ledger_has_each_erratum_and_a_chapter_has_its_box() -> None:
    boxes: dict[str, set[str]] = {}
    for path in notebooks.find_chapters():
        for cell in nbformat.read(path, as_version=4).cells:
            for one, other, name in ERRATUM_BOX.findall(cell.source):
                for number in filter(None, (one, other)):
                    boxes.setdefault(number, set()).add(name)
    ledger = {row[0]: row for row in rows((BOOK / "ledger.md").read_text(encoding="utf-8"))}
    errata = {row[0]: row for row in rows((BOOK / "errata.md").read_text(encoding="utf-8"))}
    numbers = {number for number in errata if number.isdigit()}
    assert numbers == set(map(str, range(1, len(numbers) + 1)))
    assert set(boxes) == numbers
    for number in numbers:
        assert "{download}" in ledger[number][2], number
        for text in (ledger[number][1], errata[number][2]):
            assert boxes[number] & set(re.findall(r"<([\w-]+)>`", text)), (number, text)


def name_of_test(words: str) -> str:
    """Return the name of the test that the ledger speaks of in words."""
    return f"test_{words.replace(' ', '_')}"


def test_ledger_names_tests_that_exist() -> None:
    ledger = (BOOK / "ledger.md").read_text(encoding="utf-8")
    named = re.findall(r"\{download\}`([\w ]+) <\.\./(tests/\w+\.py)>`", ledger)
    assert len(named) == ledger.count("{download}") > 30
    for name, file in named:
        source = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(source) if isinstance(node, ast.FunctionDef)}
        assert name_of_test(name) in names, f"{file} has no {name_of_test(name)}"


def test_ledger_links_lead_to_the_pages(site: Path) -> None:
    """A link that Sphinx could not resolve is left out of the page without a trace."""
    sources = rows((BOOK / "ledger.md").read_text(encoding="utf-8"))
    built = read_page(site / "book" / "ledger.html").select("article tbody tr")
    assert len(built) == len(sources) - 3  # a head for each of the three tables
    for row in built:
        cells = row.find_all("td")
        # An item of the paper has its name and what it says before the links; others have one.
        words = 2 if cells[0].get_text(strip=True) in PAPER_ITEMS else 1
        for cell in cells[words:]:
            assert cell.find_all("a", href=True), f"no link in {cell.get_text(strip=True)!r}"
        for link in row.find_all("a", class_="download"):
            target = (site / "book" / unquote(link["href"])).resolve()
            name = name_of_test(" ".join(link.get_text().split()))
            assert f"def {name}(" in target.read_text(encoding="utf-8")


def test_compared_numbers_are_those_of_the_chapters() -> None:
    page = (BOOK / "paper-versus-ours.md").read_text(encoding="utf-8")
    compared = 0
    for row in rows(page):
        own = row[2]
        chapters = re.findall(r"\{doc\}`([\w-]+)`", own)
        numbers = notebooks.DECIMAL.findall(notebooks.NOT_PROSE.sub(" ", own))
        if not numbers:
            continue
        computed = {
            number
            for chapter in chapters
            for cell in nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells
            if notebooks.is_checked(cell)
            for output in cell.outputs
            for number in notebooks.DECIMAL.findall(notebooks._text(output))
        }
        assert set(numbers) <= computed, f"{row[0]}: {set(numbers) - computed}"
        compared += len(numbers)
    assert compared > 15


def test_landing_page_has_each_chapter_with_its_time_and_code_that_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (BOOK / "index.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"\{doc\}`([\w-]+)` \| [^|]+ \| (\d+) minutes \|", page))
    chapters = {path.stem: path for path in notebooks.find_chapters()}
    assert set(shown) == {name for name in chapters if name != "how-fast"}
    for name, minutes in shown.items():
        text = chapters[name].read_text(encoding="utf-8")
        (told,) = re.findall(r"\*\*Time\*\*: (one hour|\d+ minutes)", text)
        assert minutes == {"one hour": "60"}.get(told, told.removesuffix(" minutes")), name
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(code, "index.md", "exec"), {})
    assert float(capsys.readouterr().out) > 0.98


def test_api_pages_show_all_that_is_public(site: Path) -> None:
    pages = sorted((ROOT / "book" / "api").glob("*.md"))
    on_page = {page: anchors(site / "book" / "api" / f"{page.stem}.html") for page in pages}
    shown = set().union(*on_page.values())
    for page in pages:
        for text in page.read_text(encoding="utf-8").split("automodule:: ")[1:]:
            module = importlib.import_module(text.split()[0])
            # Names that moved can still be imported from here; they are shown in their new home.
            (moved,) = re.findall(r":exclude-members: (.*)", text) or [""]
            for public in module.__all__:
                item = getattr(module, public)
                if not (callable(item) and item.__doc__):
                    continue
                if public in moved.split(", "):
                    homes = {anchor for anchor in shown if anchor.endswith(f".{public}")}
                    assert homes - on_page[page], f"{module.__name__}.{public}"
                else:
                    path = f"{module.__name__}.{public}"
                    assert path in on_page[page], path
    for name in informed.__all__:
        if callable(getattr(informed, name)):
            assert any(anchor.endswith(f".{name}") for anchor in shown), name


def test_api_pages_begin_with_a_table_and_lead_to_chapters(site: Path) -> None:
    page = read_page(site / "book" / "api" / "gap.html")
    rows = page.select_one("article table").select("tr")
    assert len(rows) == len(gap.__all__)
    entry = page.find(id="informed.gap.neighborhood_gap").find_parent("dl")
    assert "../risk-groups.html" in {link["href"] for link in entry.select("a[href]")}


# ----------------------------------------------------------- running the notebooks before the build


def test_each_chapter_depends_on_what_it_imports_and_on_its_own_folder() -> None:
    for path in NOTEBOOKS:
        found = {file.relative_to(ROOT).as_posix() for file in executing.dependencies(path)}
        folders = {
            name.split("/")[3] for name in found if name.count("/") > 3 and "/chapters/" in name
        }
        assert folders <= {path.stem.replace("-", "_")}
    metric = executing.dependencies(ROOT / "book" / "local-metrics.ipynb")
    assert ROOT / "informed" / "metrics" / "local_metric.py" in metric
    assert ROOT / "informed" / "validation.py" in metric
    assert ROOT / "informed" / "studies" / "cli.py" not in metric


# ---------------------------------------------------------------------------------- the built pages


@cache
def anchors(path: Path) -> set[str]:
    page = read_page(path)
    return {tag["id"] for tag in page.find_all(id=True)} | {
        tag["name"] for tag in page.find_all("a", attrs={"name": True})
    }


def pages_of(site: Path) -> list[Path]:
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def test_site_is_built_from_these_sources(site: Path) -> None:
    sources = [path for path in (site / "_sources").rglob("*") if path.is_file()]
    assert {path.suffix for path in sources} == {".md", ".ipynb"}
    for path in sources:
        original = ROOT / path.relative_to(site / "_sources")
        assert original.is_file(), f"{original} is gone: run make book again"
        assert path.read_bytes() == original.read_bytes(), f"{original} is newer: run make book"


def test_each_image_has_alt_text(site: Path) -> None:
    seen = 0
    for path in pages_of(site):
        for image in read_page(path).find_all("img"):
            seen += 1
            alt = image.get("alt", "").strip()
            assert alt, f"{path.name}: {image} has no alt text"
            # Sphinx puts the file's name where the author put nothing.
            assert not re.search(r"/|\.(png|svg|webp|jpg)$", alt), f"{path.name}: {image}"
    assert seen


def test_each_figure_has_a_caption(site: Path) -> None:
    for path in pages_of(site):
        for figure in read_page(path).find_all("figure"):
            assert figure.find("figcaption"), f"{path.name}: a figure without caption"


def test_no_markup_is_left_in_the_text(site: Path) -> None:
    for path in pages_of(site):
        article = read_page(path).find("article")
        if article is None:
            continue
        text = article.get_text()  # which leaves out scripts and styles
        for mark in ("```", ":::", ":label:", ":class:", "{prf:", "{numref}", "{cite", "{eq}"):
            assert mark not in text, f"{path.name}: {mark} shows in the text"


def test_links_and_assets_resolve(site: Path) -> None:
    broken = []
    checked = 0
    for path in pages_of(site):
        for tag in read_page(path).find_all(["a", "link", "script", "img", "source"]):
            address = tag.get("href") or tag.get("src")
            if not address or address.startswith("data:"):
                continue
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                # A reader may follow a link elsewhere; the page itself may load nothing from there.
                if tag.name != "a":
                    broken.append(f"{path.name} loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            checked += 1
            if not target.is_file() or not target.is_relative_to(site):
                broken.append(f"{path.name} → {address}: no such file")
            elif (
                parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in anchors(target)
            ):
                broken.append(f"{path.name} → {address}: no such anchor")
    assert checked
    assert broken == []


# -------------------------------------------------------------------------------- the book on paper


def test_the_printed_book_is_whole_and_its_links_stay_inside(site: Path) -> None:
    names = list(parse_toc_yaml(ROOT / "_toc.yml"))
    page = BeautifulSoup(pdf.join_pages(names), "html.parser")
    assert [article["id"] for article in page.find_all("article")] == names
    ids = Counter(tag["id"] for tag in page.find_all(id=True))
    links = [urlsplit(tag["href"]) for tag in page.find_all("a", href=True)]
    inner = [link.fragment for link in links if not link.scheme]
    assert len(inner) > 100
    assert all(not link.path for link in links if not link.scheme)
    assert all(ids[target] == 1 for target in inner if target)
    # Formulas are set on paper, too: the head is that of a page which loads what sets them.
    sources = [script.get("src", "") for script in page.find_all("script")]
    assert [Path(urlsplit(source).path).name for source in sources if source] == [
        "formulas.js",
        "startup.js",
    ]
    assert page.title is not None
    assert "\\(" in page.get_text()
