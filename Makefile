# Every target makes what it needs: .venv comes from requirements.txt, and again when that changes.
# An edit of pyproject.toml only installs the library anew, which takes seconds.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
READY := $(VENV)/.ready
SITE := _build/html
# Two workers on two cores: more threads would only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PORT ?= 8000
# Solutions that a build runs are nobody's progress in the exercises.
export INFORMED_PROGRESS := off
# The mathematics, without experiments, book and browser: what is quick and needs few packages.
CORE := $(shell cat tools/core_tests.txt)
# Tests of the book that read its sources and build nothing.
TEXTS := fit_to_commit or guard or quoted or strip or ledger_has or ledger_names or compared or depends

.DEFAULT_GOAL := help
.PHONY: help book serve pdf epub slides course exam lab notebooks check test mutants test-oldest test-newest bench lint lock clean

help:  ## show this list
	@echo "make <target>, where target is one of:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

$(PACKAGES): requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "informed needs Python 3.11 or later; set PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	touch $(PACKAGES)

$(READY): $(PACKAGES) pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip check
	touch $(READY)

book: $(READY)  ## build the book into _build/html; any warning is an error
	$(ONE_THREAD) $(BIN)/python tools/execute.py
	@# All pages are written anew, from cached results: else those that an edit elsewhere renumbers
	@# would keep their old links, and a second run would hide what failed the first one.
	$(ONE_THREAD) $(BIN)/jupyter-book build . --all --warningiserror --nitpick --keep-going
	@echo "The book is in $(SITE)/index.html"

serve: book  ## build the book and serve it on localhost (PORT=8000)
	@echo "Serving the book at http://127.0.0.1:$(PORT)/ (stop with Ctrl-C)"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

pdf: book  ## print the book into _build/informed.pdf
	$(BIN)/python tools/pdf.py

epub: book  ## bind the book into _build/informed.epub, formulas as MathML
	$(BIN)/python tools/epub.py

slides: $(READY)  ## make the slides, one file per deck, into _build/slides
	$(ONE_THREAD) $(BIN)/python tools/slides.py

course: slides  ## pack notebooks, slides, test and guide for a class into _build/course
	$(BIN)/python tools/course.py

exam: $(READY)  ## draw an exam and its key by a secret seed (SEED=...) into _build/exam
	$(BIN)/python -m informed exam course/items --seed "$(SEED)" --out _build/exam

lab: export INFORMED_PROGRESS :=
lab: $(READY)  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=book

notebooks: $(READY)  ## run the notebooks, keep only the checked outputs
	INFORMED_EXPLORER=live $(BIN)/python tools/notebooks.py refresh

check: $(READY)  ## before each commit: lint, types, quick tests, texts of the notebooks (under 2 minutes)
	@$(MAKE) --no-print-directory lint
	@$(ONE_THREAD) $(BIN)/python -m pytest -q --no-header -n 2 --dist loadscope $(CORE) tests/test_package.py tests/test_quiz.py
	@$(ONE_THREAD) $(BIN)/python -m pytest -q --no-header tests/test_book.py -k "$(TEXTS)"

test: $(READY)  ## everything: lint, unit tests with coverage, notebooks, strict book, site in a browser
	@$(BIN)/python tools/run_tests.py

mutants: $(READY)  ## plant 300 small errors in the library: do the unit tests notice? (SEED=0, about 20 minutes on two cores)
	@$(ONE_THREAD) $(BIN)/python tools/mutate.py --number 300 --jobs 2 --seed $(or $(SEED),0)

test-oldest:  ## core tests with the oldest packages that pyproject.toml allows
	$(PYTHON) tools/try_versions.py oldest

test-newest:  ## core tests with the newest packages that pyproject.toml allows
	$(PYTHON) tools/try_versions.py newest

bench: $(READY)  ## measure speed and memory against the alternatives, as ratios
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/latency.py
	$(BIN)/python benchmarks/grading.py
	$(BIN)/python tools/weights.py
	@# Where Lighthouse can be had (npm), and the book is built; says so elsewhere.
	$(BIN)/python benchmarks/lighthouse.py
	@# The page of the book that shows the results.
	$(BIN)/python tools/notebooks.py refresh book/how-fast.ipynb

lint: $(READY)  ## ruff and strict mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock: pyproject.toml  ## pin every package in requirements.txt from the ranges in pyproject.toml
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile --quiet --upgrade --all-extras --universal --fork-strategy fewest \
		--python-version 3.11 --no-emit-index-url --no-header --no-annotate \
		--output-file requirements.txt pyproject.toml

clean:  ## remove what was built, and the environments
	rm -rf $(VENV) .venv-lock .venv-oldest .venv-newest _build .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
