# Two commands: `make demo` shows what viameter does, `make test` checks that it does it.
# Both set themselves up: .venv, locked dependencies, and (for tests) the system packages they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV  := .venv
BIN   := $(VENV)/bin
say    = @printf '\033[1m==> %s\033[0m\n' "$(1)"
TIERS := $(BIN)/python -m tests.tiers

# Tests start many processes: what was compiled once is kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo setup setup-run check changed test test-long mutants coverage lint types fast docs-test newest-venv newest-python docs bench lock clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'

demo: setup-run ## set up what the demo needs, then run it
	$(call say,viameter demo)
	@$(BIN)/viameter demo --report flights.html --ledger flights.db --serve

setup-run:
	@scripts/setup run

setup: ## set up everything that development needs
	@scripts/setup dev

check: setup ## within a minute: linters, types, and the tests that what you changed can break; BASE=main
	@$(MAKE) --no-print-directory --jobs=3 lint types changed

ifdef ROOM
test: setup ## everything that a landing needs; ROOM=ledger for one room, OPTIONS=... for pytest
	@$(TIERS) $(ROOM) $(OPTIONS)
else
test: setup
	@$(MAKE) --no-print-directory --jobs=2 lint types docs-test newest-venv
	@$(MAKE) --no-print-directory fast
	@$(MAKE) --no-print-directory newest-python
endif

test-long: setup ## the tests marked long, of all rooms or of ROOM
	$(call say,pytest: the long tests)
	@$(TIERS) --long $(ROOM) $(OPTIONS)

mutants: setup ## edits of the sources that tests must notice, of all rooms or of ROOM; OPTIONS="--only TEXT"
	@$(BIN)/python -m tests.mutants.run $(ROOM) $(OPTIONS)

empty :=
comma := ,
OF_ROOM = $(if $(ROOM),--include='$(subst $(empty) ,$(comma),$(foreach room,$(ROOM),src/viameter/$(room)/* src/$(room)/*))')

coverage: setup ## which branches the tests run, of all rooms or of ROOM, as pages in docs/_build/coverage
	@$(BIN)/coverage erase
	@$(TIERS) --coverage $(ROOM) $(OPTIONS)
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage html --quiet $(OF_ROOM)
	@$(BIN)/coverage report --skip-covered --sort=cover $(OF_ROOM)

changed: setup
	$(call say,pytest: the tests that what changed can break)
	@$(BIN)/python -m tests.changed $(BASE)

lint: setup
	$(call say,ruff: style; import-linter: the direction between rooms)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

types: setup
	$(call say,mypy --strict)
	@$(BIN)/mypy --no-error-summary

fast: setup
	$(call say,pytest: unit and property tests and every example in README and docs and docstrings)
	@$(TIERS) $(OPTIONS)

docs-test: setup
	$(call say,sphinx: the docs build without warnings)
	@$(BIN)/sphinx-build -q -E -W --keep-going -b html docs docs/_build/html

newest-venv: setup
	@scripts/newest-python install

newest-python: setup ## test the core on the newest Python found on this machine
	@scripts/newest-python

docs: setup ## build the docs into docs/_build/html
	$(call say,sphinx)
	@$(BIN)/sphinx-build -E -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: setup-run ## compare with the peers; ONLY=name for one benchmark
	@scripts/bench $(ONLY)

lock: ## resolve the dependencies again (needs uv)
	@scripts/lock

clean: ## remove everything that make made
	rm -rf $(VENV) .venv-* docs/_build docs/generated build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
