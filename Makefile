# Two commands a newcomer needs: `make demo` and `make test`. Each does all of its own set-up; each is safe to run twice.
# `make nightly` runs what `make test` leaves out: simulations, calibrations, Ray, fuzz, notebooks, the whole browser.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
CONSTRAINTS := -c requirements/constraints.txt
# Pinned, because a plain "torch" brings gigabytes of CUDA. `make test TORCH=` leaves it out: tests that need it then say so and skip.
TORCH ?= torch==2.13.0 transformers

.PHONY: venv demo test nightly docs gallery soak fuzz vulnerabilities mutants calibrate lint bench clean

# The stamps make a second run cheap: a set-up step is done again only when what it reads has changed.
$(VENV)/.demo: pyproject.toml requirements/demo.txt $(wildcard src/portrayal/edges/parts/*.txt)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	$(PIP) install --require-hashes -r requirements/demo.txt
	$(PIP) install --no-deps --no-build-isolation -e . -e packages/faces -e packages/rankers -e packages/review
	$(BIN)/portrayal parts install --quiet
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(PIP) install $(CONSTRAINTS) -e '.[language,test]' $(TORCH)
	touch $@

venv: $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/portrayal demo --out demo

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=packages/faces $(BIN)/lint-imports --no-cache
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 15 -m 'not night'

nightly: $(VENV)/.test
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations 15 -m night

# The documentation site, into site/; a dead link stops it, here and in `make test`. Open site/index.html: it needs no server.
docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The pictures of docs/gallery.md, from the notebooks of examples/; needs Debian's chromium.
gallery: $(VENV)/.test
	$(BIN)/python scripts/gallery.py

# Recorder and ledger in simulated worlds full of faults; refreshes the table in docs/reliability.md.
SEEDS ?= 1000
soak: $(VENV)/.test
	$(BIN)/python tests/faults/soak.py --seeds $(SEEDS) --page docs/reliability.md

# Every reader of files and answers on damaged input.
MINUTES ?= 10
fuzz: $(VENV)/.test
	$(BIN)/python tests/fuzz/fuzz.py --minutes $(MINUTES)

# Known vulnerabilities of the packages that are installed, where their index can be reached; pip-audit gets an environment of its own.
vulnerabilities: $(VENV)/.demo
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip --disable-pip-version-check -q install pip-audit
	$(VENV)-audit/bin/pip-audit --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# 120 small wrong changes of the code, seed 0: how many do the tests notice? Half an hour on two cores; see scripts/mutants.py.
mutants: $(VENV)/.test
	$(BIN)/python scripts/mutants.py

# 1,000 runs and seed 0 for every stem; refreshes the figures in docs/.
calibrate: $(VENV)/.demo
	$(BIN)/python scripts/calibration_pages.py --runs 1000

lint: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Ours beside the peers, all of benchmarks/rows; writes benchmarks/results/ and docs/benchmarks.md. About 20 minutes on two idle cores.
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks --install $(BENCH)
	$(BIN)/python -m benchmarks.demo

clean:
	rm -rf $(VENV) $(VENV)-audit $(VENV)-peers demo site .mutants .pytest_cache .mypy_cache .ruff_cache
