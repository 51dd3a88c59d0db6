# Two commands do all set-up: `make demo` and `make test`. Both need only Python 3.11 or later.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check lint clean

demo: $(STAMP)
	$(BIN)/bumpgate demo

# A file's tests run in one worker, one after another; those with a real vLLM come first, in two (tests/conftest.py).
test: $(STAMP)
	$(BIN)/python -m pytest tests -rs --timeout 1800 -n 2 --dist loadfile --no-loadscope-reorder --durations 20 $(PYTEST_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint
	$(BIN)/python -m pytest tests -rs --timeout 300 -n 2 -m "not engine and not docker and not slow" $(PYTEST_ARGS)

# uv makes the install quick; it comes from PyPI like everything else. It compiles nothing unless told to, and where Python may
# write no bytecode, each of the hundred processes that the tests start would compile pandas, lm-eval and the rest anew.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV)
