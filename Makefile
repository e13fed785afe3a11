# Every target is complete on a fresh machine with Python, gcc and make: it makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := setup.py pyproject.toml constraints.txt $(foreach kind,pyx pxd h,$(wildcard densvec/*.$(kind) densvec/*/*.$(kind)))

.PHONY: demo test test-browser test-matrix test-lowest lint docs bench sanitize races fuzz fuzz-native soak wheel warnings clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

.venv/demo-installed: $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plot]"
	@touch $@

.venv/dev-installed: $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@ .venv/demo-installed

.venv/browser-installed: $(SOURCES)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[serve,test-tools]"
	@touch $@

demo: .venv/demo-installed  ## show the English model, train a model and show densities in context (CORPUS=path: on your own text)
	$(BIN)/python examples/demo.py $(CORPUS)

test: .venv/dev-installed  ## run the whole test suite
	$(BIN)/python -m pytest -n 2 -q

# Debian's browser where there is one; elsewhere the one that Playwright brings.
test-browser: .venv/browser-installed  ## run the tests of the page in a real browser, installing one if there is none
	@test -n "$(CHROMIUM)" || command -v chromium || command -v chromium-browser || command -v google-chrome \
	|| { apt-get update -qq && apt-get install -y -qq chromium; } || $(BIN)/python -m playwright install chromium
	DENSVEC_BROWSER=required $(BIN)/python -m pytest -q tests/serve/test_page.py

PYTHONS ?= $(wildcard $(HOME)/.pyenv/versions/3.1[0-9]*/bin/python)
test-matrix:  ## build a wheel and run the tests with every Python that pyenv has (PYTHONS=...)
	.ci/test-with "" $(or $(PYTHONS),$(PYTHON))

LOWEST ?= $(or $(wildcard $(HOME)/.pyenv/versions/3.11*/bin/python),python3.11)
test-lowest:  ## run the tests with the lowest versions of all dependencies (LOWEST=python3.11)
	.ci/test-with constraints-lowest.txt $(LOWEST)

lint: .venv/dev-installed  ## ruff (rules and format), cython-lint, mypy, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/cython-lint densvec
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/dev-installed  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: .venv/dev-installed  ## print the benchmark tables (CORPUS=path: measure on that text)
	$(BIN)/python -m benchmarks $(CORPUS)

sanitize: .venv/dev-installed  ## run the native code's tests under the address and undefined-behaviour sanitizers (COMPILERS="gcc clang")
	.ci/sanitize $(or $(COMPILERS),gcc)

# Hogwild training races on the tables by design; CONTRIBUTING.md says which races are meant.
RACES := -fsanitize=thread -g1 -O1
TRAIN := from densvec import BayesianSkipGram as M, datasets; M(list(datasets.toy_language(3000)), vector_size=16, workers=2, epochs=2)
races: .venv/dev-installed  ## list the data races of a training run with two workers, by the thread sanitizer
	rm -rf build/races && mkdir -p build/races && cp -r densvec setup.py pyproject.toml README.md build/races/
	rm -f build/races/densvec/*.so build/races/densvec/*/*.so
	cd build/races && CFLAGS="$(RACES)" LDFLAGS="$(RACES)" $(CURDIR)/$(BIN)/python setup.py -q build_ext --inplace --force
	cd build/races && LD_PRELOAD="$$($(CC) -print-file-name=libtsan.so)" TSAN_OPTIONS="exitcode=0 history_size=4" \
	$(CURDIR)/$(BIN)/python -c "$(TRAIN)" 2>&1 | sed -n 's/.*SUMMARY: ThreadSanitizer: data race.* in //p' | sort | uniq -c

fuzz: .venv/dev-installed  ## look for files that break the loader, text that breaks reading, calls that spoil a model (SECONDS=600 each)
	$(BIN)/python -m tests.files.fuzz --seconds $(or $(SECONDS),600)
	$(BIN)/python -m tests.text.fuzz --seconds $(or $(SECONDS),600)
	$(BIN)/python -m tests.model.fuzz --seconds $(or $(SECONDS),600)

soak: .venv/dev-installed  ## 20,000 requests, full disks, then train, ask, save, load and interrupt at random (MINUTES=30)
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),30)
	$(BIN)/python -m tests.model.interrupts --count $(or $(INTERRUPTS),10000)

# Needs Clang, and for the loader atheris, which has wheels for Linux only and is not among the dev requirements.
fuzz-native: .venv/dev-installed  ## the same guided by coverage: libFuzzer on the C code that reads text, atheris on the loader
	mkdir -p build/fuzz/text build/fuzz/headers
	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Idensvec/text tests/text/fuzz_text.c -o build/fuzz/fuzz_text
	build/fuzz/fuzz_text -max_total_time=$(or $(SECONDS),600) -max_len=4000 build/fuzz/text
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python -m tests.files.fuzz_headers -max_total_time=$(or $(SECONDS),600) -max_len=20000 build/fuzz/headers

wheel: .venv/dev-installed  ## build sdist and wheel into dist/
	$(BIN)/python -m build

warnings:  ## compile all native code with GCC and Clang, warnings being errors
	.ci/warnings gcc clang

clean:  ## remove the environment and everything built
	rm -rf .venv build dist *.egg-info densvec/*.so densvec/*/*.so densvec/*.c densvec/*/*.c
