# make run: set up what is missing and open the window (arguments: make run ARGS="--workspace DIR").
# make test: every check and test. make test-long: the long tests. make lint, make format, make bench, make clean.

# The environment's own Python once there is one: it starts faster than a version manager's stand-in.
KEEPSAKE_PYTHON ?=
export KEEPSAKE_PYTHON
VENV_PYTHON := .venv/bin/python
ANY_PYTHON = $(shell for name in python3 python3.13 python3.12 python3.11; do command -v $$name && break; done)
STARTER := $(if $(shell test -x $(VENV_PYTHON) && echo yes),$(VENV_PYTHON),$(or $(KEEPSAKE_PYTHON),$(ANY_PYTHON)))
BENCHMARKS ?= startup engine recall store ui

.PHONY: run test test-long lint format bench clean

run:
	@$(STARTER) tools/set_up.py run $(ARGS)
	@$(VENV_PYTHON) -m assistant $(ARGS)

test:
	@$(STARTER) tools/set_up.py test
	@$(VENV_PYTHON) tools/check.py $(ARGS)

test-long:
	@$(STARTER) tools/set_up.py test
	@$(VENV_PYTHON) tools/check.py long $(ARGS)

lint:
	@$(STARTER) tools/set_up.py lint
	@$(VENV_PYTHON) tools/check.py lint

format:
	@$(STARTER) tools/set_up.py lint
	@$(VENV_PYTHON) tools/check.py format

bench:
	@$(STARTER) tools/set_up.py run $(ARGS)
	@for name in $(BENCHMARKS); do $(VENV_PYTHON) -m assistant bench $$name $(ARGS) || exit 1; done

# What was compiled or fetched stays in the cache outside the clone.
clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find assistant tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
