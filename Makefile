# Works from a fresh clone with Python 3.11 or newer and make. Variables: PYTHON, PORT.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
HOME_FOLDER := $(or $(ASSISTANT_HOME),.assistant)
CORPUS := $(or $(ASSISTANT_CORPUS),corpus)
ifdef PORT
export ASSISTANT_PORT := $(PORT)
endif

.DEFAULT_GOAL := help
.PHONY: help run test setup check eval bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

# An environment without pip is one whose making was interrupted.
define ENVIRONMENT
@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer is needed, and '$(PYTHON)' is none; name one with make PYTHON=…" >&2; exit 1; }; \
	$(PYTHON) -m venv --clear $(VENV); }
endef

# A stamp says what is installed: without torch for serving, or everything (which includes serving).
$(VENV)/serving: pyproject.toml constraints.txt
	$(ENVIRONMENT)
	@echo "Installing what serving needs (about a minute, once) …" >&2
	@$(PIP) install -c constraints.txt -e '.[staff]'
	@touch $@

$(VENV)/everything: pyproject.toml constraints.txt
	$(ENVIRONMENT)
	@echo "Installing everything, for development (a few minutes, once) …" >&2
	@$(PIP) install -c constraints.txt -e '.[staff,oidc,huggingface,postgres,slack,evals,dev]'
	@touch $(VENV)/serving $@

run: $(VENV)/serving  ## install, build the model, ingest the articles, serve them with the demo page
	@mkdir -p "$(HOME_FOLDER)"; stamp="$(HOME_FOLDER)/ingested"; \
	if [ ! -e "$$stamp" ] || [ -n "$$(find "$(CORPUS)" -newer "$$stamp" -print -quit)" ]; then \
		touch "$$stamp.new" && $(BIN)/assistant ingest "$(CORPUS)" && mv "$$stamp.new" "$$stamp"; \
	fi
	@exec $(BIN)/assistant serve

setup: $(VENV)/everything  ## install everything

test: setup  ## install everything, run the tests
	@$(BIN)/python -m pytest

check: setup  ## format, lint, types, parity of the corpus
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/assistant check corpus

eval: setup  ## measure the answers by language, compare with the baseline
	@$(BIN)/python -m evals

bench: setup  ## measure the speed against the tutorial stack
	@$(BIN)/python -m evals bench

clean:  ## remove what is built here; the model and the index stay
	rm -rf $(VENV) build dist evals/report .mypy_cache .ruff_cache .pytest_cache
