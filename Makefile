# Everything that `make` builds lies in .venv, dist and target; `make clean` removes all three.
#
#   make demo     a hospital and a lab on real data: two processes, then five with helpers
#   make test     all tests of Rust, then those of Python against the built wheel
#   make wheel    the package, in dist
#   make site     the documentation as a site, in target/site
#   make bench    all benchmarks
#   make nightly  what takes too long for every change: fuzzing guided by coverage, secrets under
#                 valgrind, times against secrets, networks that fail
#   make clean    as after a fresh clone
#
# It needs Python 3.11 or newer, rustup's cargo 1.89 or newer, and a C compiler, and says so if one
# of them is missing. PYTHON=... and CARGO=... choose others than those it finds.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMPS := $(VENV)/.stamps

# What the wheel is made of. A change in any of it builds the package again.
RUST := Cargo.toml Cargo.lock $(shell find crates bench -name '*.rs' -o -name Cargo.toml)
PACKAGE := pyproject.toml README.md $(shell find python/sealane -name '*.py*' -not -name '*.pyc')

.PHONY: demo test test-rust test-python wheel site bench nightly clean FORCE

demo: $(STAMPS)/package
	@$(BIN)/python examples/hospital/demo.py

test: test-rust test-python

# The binding crate is left out: its tests are those of the wheel, and an extension module links
# against the interpreter that loads it, not against one that is there at build time.
test-rust: $(STAMPS)/machine
	@echo "make: testing the Rust workspace (the first build takes minutes)"
	@. $(STAMPS)/machine && "$$CARGO" test --quiet --locked --workspace --exclude sealane-py

test-python: $(STAMPS)/dev
	@echo "make: testing the package as installed from the wheel"
	@$(BIN)/python -m pytest --quiet

wheel: $(STAMPS)/wheel
	@ls -l dist/*.whl

# Warnings are errors: links that lead nowhere, pages that none leads to, notebooks that fail.
site: $(STAMPS)/docs
	@rm -rf target/site
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 --fresh-env \
	    --conf-dir docs --doctree-dir target/site-work . target/site
	@$(BIN)/python tools/site.py target/site

bench: $(STAMPS)/package
	@$(BIN)/sealane bench all

nightly: $(STAMPS)/machine
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/fuzz.sh 60
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/secrets.sh
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/timing.sh
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/networks.sh 100000

clean:
	rm -rf $(VENV) dist target

# The tools of this machine, looked for every time; later recipes read their paths from here, and
# the file changes only when they do.
$(STAMPS)/machine: FORCE
	@mkdir -p $(@D)
	@PYTHON='$(PYTHON)' CARGO='$(CARGO)' sh tools/machine.sh > $@.found
	@cmp -s $@.found $@ && rm $@.found || mv $@.found $@

$(STAMPS)/venv: $(STAMPS)/machine
	@echo "make: making the virtual environment $(VENV)"
	@. $(STAMPS)/machine && "$$PYTHON" -m venv $(VENV)
	@touch $@

# The packages that build the wheel, as pyproject.toml lists them.
$(STAMPS)/build: $(STAMPS)/venv pyproject.toml
	@echo "make: installing maturin"
	@$(BIN)/python -c "import tomllib; \
	    print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
	    > $(STAMPS)/requires.txt
	@$(PIP) install --requirement $(STAMPS)/requires.txt
	@touch $@

$(STAMPS)/wheel: $(STAMPS)/build $(RUST) $(PACKAGE)
	@echo "make: building the package (the first build takes minutes)"
	@rm -rf dist
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" $(BIN)/python -m maturin build \
	    --release --locked --interpreter $(BIN)/python --out dist
	@touch $@

# First the package alone, even if its version stands; then what it depends on.
$(STAMPS)/package: $(STAMPS)/wheel
	@$(PIP) install --force-reinstall --no-deps dist/*.whl
	@$(PIP) install dist/*.whl
	@touch $@

$(STAMPS)/dev: $(STAMPS)/package pyproject.toml
	@echo "make: installing the tools of the tests"
	@wheel=$$(echo dist/*.whl) && $(PIP) install "$$wheel[dev]"
	@touch $@

$(STAMPS)/docs: $(STAMPS)/package pyproject.toml
	@echo "make: installing what makes the site"
	@wheel=$$(echo dist/*.whl) && $(PIP) install "$$wheel[docs]"
	@touch $@
