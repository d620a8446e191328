# `make` lists the targets. Each of them does all the set-up it needs, on a bare machine with Python 3.11.

ifndef PYTHON
PYTHON := $(shell if python3.11 --version >/dev/null 2>&1; then echo python3.11; else echo python3; fi)
endif

environments := PYTHONPATH=src $(PYTHON) -m cometfuzz.execution.checkout

.DEFAULT_GOAL := help
.PHONY: help setup cluster python test test-browser test-cluster lint fuzz bugs conformance measurements picture release site

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: python ## build all environments (cached) and the checkout's .venv
	@$(environments) create
	@$(environments) link

test: setup lint ## run every check: lint, types, import rules, tests
	.venv/bin/python -m pytest -n auto --dist worksteal

cluster: python ## build what campaigns on a cluster and the live page need, beside the tool
	@$(environments) create tool cluster
	@$(environments) link

test-browser: python ## run the HTML report in headless Chromium (CHROMIUM=path names another one)
	@$(environments) link
	.venv/bin/python -m pytest tests/browser

test-cluster: cluster ## run campaigns on a Dask cluster in network namespaces, as root (needs iproute2, openssl)
	@$(environments) link
	.venv/bin/python -m pytest tests/cluster

lint: python ## check style, formatting, types and import rules
	@$(environments) link
	.venv/bin/python -m ruff check
	.venv/bin/python -m ruff format --check
	.venv/bin/python -m mypy
	.venv/bin/lint-imports --no-logo

minutes := 10
campaign := campaigns/$(shell date +%Y%m%d-%H%M%S)

fuzz: setup ## run a campaign of ten minutes (minutes=10) and write its report
	.venv/bin/cometfuzz run --minutes $(minutes) --out $(campaign)
	.venv/bin/cometfuzz triage $(campaign) --minutes $(minutes)
	.venv/bin/cometfuzz report $(campaign)
	@echo "Open that page in a browser; .venv/bin/cometfuzz bugs $(campaign) lists its bugs here."

bugs: setup ## run the scripts of all collected bugs (bugs/) again: still there or gone
	.venv/bin/cometfuzz verify bugs

conformance: setup ## hold all evidence of the ledger against the libraries: every case, every rule (half an hour)
	EVIDENCE=all .venv/bin/python -m pytest -n auto --dist worksteal tests/conformance

measurements: setup ## measure anew what costs little (names=make-test: what is named), and write docs/measurements.md
	.venv/bin/python experiments/measurements.py measure $(names)

picture: setup ## run a campaign of ninety seconds and keep its screen as README's picture
	.venv/bin/python experiments/screen_picture.py

release: python ## build wheel and sdist into dist/, check them, install them in clean venvs and use them
	@$(environments) link
	.venv/bin/python experiments/release.py

site: python ## build the docs as pages to browse: build/site/index.html
	@$(environments) create docs
	@$(environments) link
	.venv/bin/python experiments/site.py

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "expected Python 3.11 or newer; received PYTHON=$(PYTHON), $$($(PYTHON) --version 2>&1)" >&2; exit 2; }
