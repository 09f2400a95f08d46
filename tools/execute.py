"""Run the notebooks of the book side by side, into the cache that the build reads.

Sphinx runs notebooks one after the other. This runs them before it, one for each core, and leaves
the results where MyST-NB looks for them; what is there already, for the same code, is not run
again. The code of a notebook is not all that its results depend on: when the library or the pinned
packages change, everything is run anew, and Sphinx is made to read everything anew.

Run as ``python tools/execute.py`` before the build; exits with 1 if a notebook fails.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
CACHE = BUILD / ".jupyter_cache"
STAMP = CACHE / "made-with.txt"


def fingerprint() -> str:
    """Return a digest of all that every notebook depends on: the library and the packages."""
    digest = hashlib.sha256((ROOT / "requirements.txt").read_bytes())
    for path in sorted((ROOT / "informed").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def forget_what_is_stale() -> None:
    """Drop results and pages that were made with another library."""
    now = fingerprint()
    if not STAMP.is_file() or STAMP.read_text() != now:
        shutil.rmtree(CACHE, ignore_errors=True)
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
        CACHE.mkdir(parents=True)
        STAMP.write_text(now)


def run(path: Path, timeout: int) -> tuple[NotebookNode, float, str | None]:
    """Run a notebook in its folder; return it with its outputs, the seconds, and what failed."""
    notebook = nbformat.read(path, as_version=4)
    result = single_nb_execution(
        notebook, cwd=str(path.parent), timeout=timeout, allow_errors=False
    )
    return notebook, result.time, result.exc_string if result.err else None


def main() -> int:
    """Run what has no result yet; the exit status is 1 if a notebook failed."""
    forget_what_is_stale()
    cache = get_cache(CACHE)
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["execute"]
    chapters = [ROOT / f"{name}.ipynb" for name in parse_toc_yaml(ROOT / "_toc.yml")]
    waiting = []
    # The experiments, which take longest, stand late in the book: they go first.
    for path in reversed([path for path in chapters if path.is_file()]):
        try:
            cache.match_cache_notebook(nbformat.read(path, as_version=4))
        except KeyError:
            waiting.append(path)
    failed = 0
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        runs = {pool.submit(run, path, settings["timeout"]): path for path in waiting}
        for done in as_completed(runs):
            path = runs[done]
            notebook, seconds, error = done.result()
            if error is None:
                cache.cache_notebook_bundle(
                    CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds}),
                    check_validity=False,
                    overwrite=True,
                )
                print(f"ran {path.relative_to(ROOT)}", flush=True)
            else:
                failed += 1
                print(f"{path.relative_to(ROOT)} failed:\n{error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
