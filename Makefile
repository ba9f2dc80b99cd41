# Two commands: `make demo` shows what viameter does, `make test` checks that it does it.
# Both set themselves up: .venv, locked dependencies, and (for tests) the system packages they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV  := .venv
BIN   := $(VENV)/bin
say    = @printf '\033[1m==> %s\033[0m\n' "$(1)"
# One worker more than cores, since some wait for processes and browsers. The tests of a file go to one of them, and so
# do all of Spark's: see conftest.py.
PYTEST := $(BIN)/python -m pytest -n $(shell expr $$(nproc 2>/dev/null || echo 2) + 1) --dist loadfile

# Tests start many processes: what was compiled once is kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo setup setup-run test test-long lint types compiled fast docs-test newest-venv newest-python docs bench lock clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'

demo: setup-run ## set up what the demo needs, then run it
	$(call say,viameter demo)
	@$(BIN)/viameter demo --report flights.html --ledger flights.db --serve

setup-run:
	@scripts/setup run

setup: ## set up everything that development needs
	@scripts/setup dev

test: setup ## every test that is not marked long, the linters and the type checker
	@$(MAKE) --no-print-directory --jobs=2 lint types compiled
	@$(MAKE) --no-print-directory --jobs=2 fast docs-test newest-venv
	@$(MAKE) --no-print-directory newest-python

test-long: setup ## the tests marked long
	$(call say,pytest: the long tests)
	@$(PYTEST) -m long

lint: setup
	$(call say,ruff: style; import-linter: the direction between rooms)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

types: setup
	$(call say,mypy --strict)
	@$(BIN)/mypy --no-error-summary

# In a new clone, one process compiles the tests while mypy has the other core, and not each worker for itself.
compiled: setup
	@ls tests/core/__pycache__/*pytest* > /dev/null 2>&1 || $(BIN)/python -m pytest --collect-only -qq -m "not long" > /dev/null

fast: setup
	$(call say,pytest: unit and property tests and every example in README and docs and docstrings)
	@$(PYTEST) -m "not long"

docs-test: setup
	$(call say,sphinx: the docs build without warnings)
	@$(BIN)/sphinx-build -q -E -W --keep-going -b html docs docs/_build/html

newest-venv: setup
	@scripts/newest-python install

newest-python: setup ## test the core on the newest Python found on this machine
	@scripts/newest-python test

docs: setup ## build the docs into docs/_build/html
	$(call say,sphinx)
	@$(BIN)/sphinx-build -E -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: setup-run ## compare with the peers; ONLY=name for one benchmark
	@scripts/bench $(ONLY)

lock: ## resolve the dependencies again (needs uv)
	@scripts/lock

clean: ## remove everything that make made
	rm -rf $(VENV) .venv-* docs/_build docs/generated build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
