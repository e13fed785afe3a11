# Every target is complete on a fresh machine with Python, gcc and make: it makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := setup.py pyproject.toml constraints.txt $(wildcard densvec/*.pyx densvec/*/*.pyx densvec/*.h densvec/*/*.h)

.PHONY: demo test lint bench wheel clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

.venv/demo-installed: $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plot]"
	@touch $@

.venv/dev-installed: $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@ .venv/demo-installed

demo: .venv/demo-installed  ## train a model and show densities in context (CORPUS=path: on your own text)
	$(BIN)/python examples/demo.py $(CORPUS)

test: .venv/dev-installed  ## run the whole test suite
	$(BIN)/python -m pytest -n 2 -q

lint: .venv/dev-installed  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/dev-installed  ## print the benchmark tables (CORPUS=path: measure on that text)
	$(BIN)/python -m benchmarks $(CORPUS)

wheel: .venv/dev-installed  ## build sdist and wheel into dist/
	$(BIN)/python -m build

clean:  ## remove the environment and everything built
	rm -rf .venv build dist *.egg-info densvec/*.so densvec/*/*.so densvec/*.c densvec/*/*.c
