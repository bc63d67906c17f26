# Everything that is done to a checkout of Ricordo. Needed: Python 3.11 or newer, git, make.

PYTHON ?= python3
VENV ?= .venv
SEED ?= 20260101
# Processes that run tests: two per core, for a test of the screen waits half of its time; never
# more than JOBS_MAX.
JOBS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
JOBS_MAX ?= 8
BENCH_NOTES ?= 1000 10000
# Groups of the soak: none for all of them, `clones` for the tests on fresh clones.
SOAK ?=

BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
DEVELOPS := $(VENV)/.develops
# One --quiet leaves out progress; warnings and errors are still shown.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check \
	-c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo install test lint wheel-check soak bench docs clean

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 22

demo: $(RUNS) ## try Ricordo on a throwaway copy of the sample memory
	@$(BIN)/ricordo demo

install: $(DEVELOPS) ## make .venv with Ricordo and all that its development needs

# Compiled modules are kept, also where the environment says otherwise: the tests start hundreds of
# processes, and each of them would compile the program again.
test: $(DEVELOPS) ## run the tests
	PYTHONDONTWRITEBYTECODE= PYTHONHASHSEED=0 $(BIN)/python -m pytest -n $(JOBS) --maxprocesses $(JOBS_MAX) --dist worksteal \
		--hypothesis-seed=$(SEED) $(TESTS)

lint: $(DEVELOPS) ## check style, types and who imports whom
	$(BIN)/ruff check app tests tools
	$(BIN)/ruff format --check app tests tools
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel-check: $(DEVELOPS) ## build the wheel and try it outside the checkout
	$(BIN)/python -m tests.wheel_check

soak: $(DEVELOPS) ## run the tests at large figures and on fresh clones; goes on where it was stopped
	$(BIN)/python -m tests.soak $(SOAK)

bench: $(DEVELOPS) ## measure speed beside its references
	$(BIN)/python -m tests.benchmarks --notes $(BENCH_NOTES)
	$(BIN)/python -m tests.benchmarks.commands
	$(BIN)/python -m tests.benchmarks.find
	$(BIN)/python -m tests.benchmarks.conflicts
	$(BIN)/python -m tests.benchmarks.prompts
	$(BIN)/python -m tests.benchmarks.transcripts
	$(BIN)/python -m tests.benchmarks.planted
	$(BIN)/python -m tests.benchmarks.redaction
	$(BIN)/python -m tests.benchmarks.handoff

docs: $(DEVELOPS) ## write the generated pages of docs/, and the table of completions
	$(BIN)/python -m ricordo.settings.page > docs/settings.md.new
	mv docs/settings.md.new docs/settings.md
	$(BIN)/python -m tools.key_page > docs/keys.md.new
	mv docs/keys.md.new docs/keys.md
	$(BIN)/python -m tools.rule_page > docs/rules.md.new
	mv docs/rules.md.new docs/rules.md
	$(BIN)/python -m ricordo.cli.command_page > docs/commands.md.new
	mv docs/commands.md.new docs/commands.md
	$(BIN)/python -m ricordo.cli.man_page > docs/ricordo.1.new
	mv docs/ricordo.1.new docs/ricordo.1
	$(BIN)/python -m ricordo.cli.completion.table > table.json.new
	mv table.json.new app/ricordo/cli/completion/table.json
	$(BIN)/python -m tools.json_schemas
	$(BIN)/python -m tools.picture > docs/ricordo.svg.new
	mv docs/ricordo.svg.new docs/ricordo.svg

clean: ## remove what was built, .venv too
	rm -rf $(VENV) .soak .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf build dist snapshot_report.html
	find app tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Ricordo needs Python 3.11 or newer, and '$(PYTHON)' is missing or older." \
			"Name another one: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(RUNS): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e .
	@touch $@

$(DEVELOPS): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[dev]'
	@touch $(RUNS) $@
