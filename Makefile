# `make` lists the targets. Each of them does all the set-up it needs, on a bare machine with Python 3.11.

ifndef PYTHON
PYTHON := $(shell if python3.11 --version >/dev/null 2>&1; then echo python3.11; else echo python3; fi)
endif

environments := PYTHONPATH=src $(PYTHON) -m cometfuzz.execution.environments

.DEFAULT_GOAL := help
.PHONY: help setup python test test-browser lint fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: python ## build all environments (cached) and the checkout's .venv
	@$(environments) create
	@$(environments) link

test: setup lint ## run every check: lint, types, import rules, tests
	.venv/bin/python -m pytest -n auto --dist worksteal

test-browser: python ## run the HTML report in headless Chromium (CHROMIUM=path names another one)
	@$(environments) link
	.venv/bin/python -m pytest tests/browser

lint: python ## check style, formatting, types and import rules
	@$(environments) link
	.venv/bin/python -m ruff check
	.venv/bin/python -m ruff format --check
	.venv/bin/python -m mypy
	.venv/bin/lint-imports --no-logo

# Campaigns come later; until then this is the best hunt there is.
fuzz: setup ## run drawn calls of every layer on Keras with TensorFlow and PyTorch
	.venv/bin/cometfuzz conformance --draws 20

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "expected Python 3.11 or newer; received PYTHON=$(PYTHON), $$($(PYTHON) --version 2>&1)" >&2; exit 2; }
