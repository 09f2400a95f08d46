"""Run the notebooks of the book side by side, into the cache that the build reads.

Sphinx runs notebooks one after the other. This runs them before it, one for each core, and leaves
the results where MyST-NB looks for them; what is there already, for the same code, is not run
again. Neither is what nbval has just run (``tools/keep_runs.py``): the page then shows the very
outputs that were compared. The code of a notebook is not all that its results depend on: there are
the pinned packages, the modules of the library that it reaches by imports, the folder of its
chapter (exercises, quiz), and the files that it names. A notebook is run anew when one of these
changes, and only then: a typo in the quiz of one chapter does not concern the others.

Run as ``python tools/execute.py`` before the build; exits with 1 if a notebook fails.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import nbformat
import yaml
from architecture import homes
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors.utils import single_nb_execution
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "informed"
BUILD = ROOT / "_build"
CACHE = BUILD / ".jupyter_cache"
STAMPS = CACHE / "made-with.json"
# Runs of notebooks under nbval, which tools/keep_runs.py has left for the pages.
RUNS = BUILD / "runs"
# What kernels write outside of cells: on the screen it would hide what matters.
KERNELS = BUILD / "kernels.log"
# Solutions that are run here are nobody's progress in the exercises.
os.environ["INFORMED_PROGRESS"] = "off"


def fingerprint(path: Path) -> str:
    """Return a digest of all that the results of a notebook depend on, besides its own code."""
    digest = hashlib.sha256((ROOT / "requirements.txt").read_bytes())
    for file in sorted(dependencies(path)):
        digest.update(file.relative_to(ROOT).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def dependencies(path: Path) -> set[Path]:
    """Return the files of the library, and beside the notebook, that its results depend on."""
    tree = ast.parse(_code(nbformat.read(path, as_version=4)))
    modules = reached(tree)
    # What lies beside a module (a style sheet, a script) may be read by it.
    beside = {
        file for module in modules for file in module.parent.glob("*") if file.suffix != ".py"
    }
    chapter = ROOT / LIBRARY / "teaching" / "chapters" / path.stem.replace("-", "_")
    found = modules | beside | set(chapter.rglob("*")) | set(_named_files(tree, path.parent))
    return {file for file in found if file.is_file() and "__pycache__" not in file.parts}


def reached(tree: ast.AST) -> set[Path]:
    """Return the modules of the library that some code imports, and those that these import."""
    found: set[Path] = set()
    waiting = set(_imports(tree, None))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting |= _imports_of_module(module)
    return found


@cache
def _imports_of_module(module: Path) -> frozenset[Path]:
    return frozenset(_imports(ast.parse(module.read_text(encoding="utf-8")), module))


def _imports(tree: ast.AST, module: Path | None) -> Iterator[Path]:
    for node in _without_types(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files_of(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level and module is not None:
                package = module.parents[node.level - 1].relative_to(ROOT)
                base = ".".join([*package.parts, *filter(None, [node.module])])
            yield from _files_of(base)
            for alias in node.names:
                yield from _files_of(f"{base}.{alias.name}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from _files_of(f"{node.value.id}.{node.attr}")


def _without_types(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over code, except what only a type checker reads."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _without_types(child)


def _files_of(name: str) -> Iterator[Path]:
    """Yield the files that are loaded for a dotted name: its packages, and itself if a module."""
    parts = name.split(".")
    if parts[0] != LIBRARY:
        return
    if len(parts) == 2 and parts[1] in (names := _homes()):
        parts = [LIBRARY, *names[parts[1]].split(".")]
    for n in range(1, len(parts) + 1):
        place = ROOT.joinpath(*parts[:n])
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.is_file():
                yield file


@cache
def _homes() -> dict[str, str]:
    return homes(ROOT / LIBRARY)


def _code(notebook: NotebookNode) -> str:
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    lines = "\n".join(cells).splitlines()
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in lines)


def _named_files(tree: ast.AST, folder: Path) -> Iterator[Path]:
    """Yield the files that stand in the code as strings, with or without their ending."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
            if name and len(name) < 200 and not set(name) & set("\0\n*?[ "):
                place = folder / name
                yield place
                if place.name not in ("", "..") and place.parent.is_dir():
                    beside = place.parent.glob(f"{place.name}.*")
                    yield from (file for file in beside if file.suffix != ".ipynb")


def forget_what_is_stale(results: JupyterCacheBase, chapters: list[Path]) -> None:
    """Drop the results that were made with other modules, packages or files."""
    before = json.loads(STAMPS.read_text(encoding="utf-8")) if STAMPS.is_file() else {}
    now = {path.relative_to(ROOT).as_posix(): fingerprint(path) for path in chapters}
    stale = [
        path for path, name in zip(chapters, now, strict=True) if now[name] != before.get(name)
    ]
    for path in stale:
        try:
            record = results.match_cache_notebook(nbformat.read(path, as_version=4))
            results.remove_cache(record.pk)
        except KeyError:
            continue
    if stale:
        # Sphinx does not notice that the results of a page have changed.
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
    STAMPS.write_text(json.dumps(now, indent=1), encoding="utf-8")


def keep(results: JupyterCacheBase, path: Path, notebook: NotebookNode, seconds: float) -> None:
    """Put a notebook with its outputs where the build looks for them."""
    results.cache_notebook_bundle(
        CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds}),
        check_validity=False,
        overwrite=True,
    )


def take_runs(results: JupyterCacheBase, chapters: list[Path]) -> None:
    """Take over the runs that nbval has made, if nothing they depend on has changed since."""
    for path in chapters:
        kept = RUNS / path.name
        if not kept.is_file():
            continue
        notebook = nbformat.read(kept, as_version=4)
        made_with, seconds = (notebook.metadata.pop(name) for name in ("made_with", "seconds"))
        same_code = _code(notebook) == _code(nbformat.read(path, as_version=4))
        if same_code and made_with == fingerprint(path):
            keep(results, path, notebook, seconds)
        kept.unlink()


def quiet_kernels() -> None:
    """Let the kernels that this process starts write their own messages to a file."""
    log = os.open(KERNELS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)


def run(path: Path, timeout: int) -> tuple[NotebookNode, float, str | None]:
    """Run a notebook in its folder; return it with its outputs, the seconds, and what failed."""
    notebook = nbformat.read(path, as_version=4)
    result = single_nb_execution(
        notebook, cwd=str(path.parent), timeout=timeout, allow_errors=False
    )
    return notebook, result.time, result.exc_string if result.err else None


def main() -> int:
    """Run what has no result yet; the exit status is 1 if a notebook failed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    results = get_cache(CACHE)
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["execute"]
    names = [ROOT / f"{name}.ipynb" for name in parse_toc_yaml(ROOT / "_toc.yml")]
    chapters = [path for path in names if path.is_file()]
    forget_what_is_stale(results, chapters)
    take_runs(results, chapters)
    waiting = []
    # The experiments, which take longest, stand late in the book: they go first.
    for path in reversed(chapters):
        try:
            results.match_cache_notebook(nbformat.read(path, as_version=4))
        except KeyError:
            waiting.append(path)
    failed = 0
    with ProcessPoolExecutor(max_workers=os.cpu_count(), initializer=quiet_kernels) as pool:
        runs = {pool.submit(run, path, settings["timeout"]): path for path in waiting}
        for done in as_completed(runs):
            path = runs[done]
            notebook, seconds, error = done.result()
            if error is None:
                keep(results, path, notebook, seconds)
                print(f"ran {path.relative_to(ROOT)}", flush=True)
            else:
                failed += 1
                print(f"{path.relative_to(ROOT)} failed:\n{error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
