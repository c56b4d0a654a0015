# Every target may be run twice. `make` finds its Python in this order: $PYTHON, python3.12, python3.11, the NPU image's own.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test lint bench soak shots real clean

setup: $(STAMP) weights

$(STAMP): Makefile requirements.txt requirements-rehearsal.txt requirements-rehearsal-nodeps.txt requirements-dev.txt
	@python=$$(for p in "$$PYTHON" python3.12 python3.11 /usr/local/python3.12.13/bin/python3; do \
	    [ -n "$$p" ] && "$$p" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done; true); \
	if [ -z "$$python" ]; then \
	    echo "No Python 3.11 or newer with venv was found: install python3.11 and python3.11-venv, or call make PYTHON=/path/to/python3." >&2; exit 1; fi; \
	[ -x $(BIN)/python ] || "$$python" -m venv $(VENV); \
	echo "Installing the packages into $(VENV): some minutes the first time."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-rehearsal.txt -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-rehearsal-nodeps.txt
	@touch $@

.PHONY: weights
weights: $(STAMP)
	@$(BIN)/python -m launch.rehearsal.weights

demo: setup
	$(BIN)/python app.py

test: setup
	@bash tests/chromium.sh || true
	$(BIN)/python -m pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: setup
	$(BIN)/python -m tests.bench

soak: setup
	$(BIN)/python -m tests.bench --soak

shots: setup
	$(BIN)/python -m tests.shots

real: $(STAMP)
	@[ -n "$$OMNI_REAL$$OMNI_VLLM" ] || { echo "Set OMNI_REAL to a running vLLM-Omni server, for example: make real OMNI_REAL=http://127.0.0.1:8091, or OMNI_VLLM to a server's vllm program" >&2; exit 2; }
	$(BIN)/python -m pytest $(if $(OMNI_REAL),tests/real,tests/real/test_start.py tests/real/test_up.py) -s --override-ini addopts=-ra

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache
