# Two commands do everything on a fresh machine with Python 3.11 and make:
#   make run     environment, verified weights, index; then the page at http://127.0.0.1:7860
#   make test    all checks; what .ci/run calls
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
# Of Debian's package linux-source-6.1.
KERNEL_SOURCE ?= /usr/src/linux-source-6.1.tar.xz

.PHONY: run test check fast fetch index book clean

run: $(VENV)/.run-ready
	$(BIN)/python app.py

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "osrag needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run-ready: requirements.txt $(VENV)/.made
	@echo "osrag: installing the packages (once, a few minutes)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.test-ready: requirements-dev.txt requirements-dev-nodeps.txt $(VENV)/.run-ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-dev-nodeps.txt
	@touch $@

# Lint and types, then one pytest run: fast tests first, then those with real weights and a browser.
test: $(VENV)/.test-ready
	sh tools/ensure.sh "chromium|chromium-browser|google-chrome" "chromium fonts-noto-cjk"
	sh tools/ensure.sh "bwrap gcc" "bubblewrap gcc libc6-dev"
	sh tools/ensure.sh nginx nginx-light
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/audit.py
	$(BIN)/python -m osrag fetch
	$(BIN)/python -m pytest

# While working: lint, types and the fast tests, some minutes on two cores.
check: $(VENV)/.test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not slow and not browser"

fetch: $(VENV)/.run-ready
	$(BIN)/python -m osrag fetch

# The course book from its Typst sources; and the index that is shipped, of the book and of the kernel.
book: $(VENV)/.test-ready
	$(BIN)/python tools/book.py build

index: $(VENV)/.run-ready
	$(BIN)/python -m osrag build textbook --out index/textbook --licence "CC BY 4.0" --version "2026 edition" $(wildcard examples/textbook/*-en.pdf examples/faq/*.en.md)
	$(BIN)/python -m osrag build textbook --out index/textbook --version "2026 年版" $(wildcard examples/textbook/*-zh.pdf examples/faq/*.zh.md)
	$(BIN)/python -m osrag build textbook --out index/textbook --version "Linux 6.1" $(wildcard examples/api/*.md examples/notes/*.md)
	$(BIN)/python -m osrag build textbook --out index/textbook $(wildcard examples/textbook/*.asks.jsonl examples/textbook/answers/*.jsonl)
	$(BIN)/python -m osrag build kernel --out index --source $(KERNEL_SOURCE) --subsystem kernel --subsystem mm

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build
