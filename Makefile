# Everything that `make` builds lies in .venv, dist and target; `make clean` removes all three.
#
#   make demo     a hospital and a lab on real data: two processes, then five with helpers
#   make test     all tests of Rust, then those of Python against the built wheel
#   make wheel    the package, in dist
#   make site     the documentation as a site, in target/site
#   make bench    all benchmarks
#   make hardware the command sealane-hw, in target/release
#   make test-rtl the hardware of hardware/rtl under Verilator, in all its forms and on the long netlists
#   make nightly  what takes too long for every change: fuzzing guided by coverage, secrets under
#                 valgrind, times against secrets, crate `block` under Miri, the oldest Rust, all
#                 tests of Rust where overflows end a program in kernels too,
#                 networks that fail, numbers (all arguments, all proofs, fixed point, on shares), faults that tests have
#                 to find, memory of runs, the second party in every role, trials of operators,
#                 faults on the wire that vectors have to name
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

# Everything the wheel is made of: all files of the crates but their tests, whose styles and texts are
# compiled in as well as their code; the pages of errors, which the command prints; the package. A
# change in any of it builds the package again; `tools/house.py` holds this list to `include_str!`.
RUST := Cargo.toml Cargo.lock .cargo/config.toml docs/errors \
    $(shell find crates docs/errors -type f -not -path '*/tests/*')
PACKAGE := pyproject.toml README.md python/sealane \
    $(shell find python/sealane -type f -not -name '*.pyc' -not -name '*.so')

.PHONY: demo test test-rust test-python test-second hardware test-rtl wheel site bench nightly clean FORCE

demo: $(STAMPS)/package
	@$(BIN)/python examples/hospital/demo.py

test: test-rust test-python test-second

# The binding crate is left out: its tests are those of the wheel, and an extension module links
# against the interpreter that loads it, not against one that is there at build time.
test-rust: $(STAMPS)/machine
	@echo "make: testing the Rust workspace; the first build takes about 8 minutes on two cores"
	@mkdir -p target && : > target/skipped
	@. $(STAMPS)/machine && SEALANE_SKIPPED='$(CURDIR)/target/skipped' CARGO="$$CARGO" \
	    "$$PYTHON" tools/tests.py
	@echo "make: $$(grep -c '' target/skipped) times a test of Rust left something out"
	@sort target/skipped

hardware: $(STAMPS)/machine
	@. $(STAMPS)/machine && "$$CARGO" build --release --locked --package sealane-hw
	@echo "make: the command is target/release/sealane-hw"

test-python: $(STAMPS)/dev
	@echo "make: testing the package as installed from the wheel"
	@$(BIN)/python -m pytest --quiet --numprocesses 2

# It needs nothing of the package; the tests run by what tests the package.
test-second: $(STAMPS)/dev
	@echo "make: testing the second implementation of the wire, and the vectors"
	@$(BIN)/python -m pytest --quiet --numprocesses 2 second
	@$(BIN)/python second/vectors.py check

# Each form of the machine is a build of its own; the longest netlist takes 26 million cycles.
test-rtl: $(STAMPS)/machine
	@$(MAKE) --no-print-directory -C hardware/rtl all insecure plain mi banked two banked_mi two_mi
	@. $(STAMPS)/machine && CARGO="$$CARGO" "$$PYTHON" tools/tests.py rtl

wheel: $(STAMPS)/wheel
	@ls -l dist/*.whl

# Warnings are errors: links that lead nowhere, pages that none leads to, notebooks that fail.
site: $(STAMPS)/docs
	@rm -rf target/site
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 --fresh-env \
	    --conf-dir docs --doctree-dir target/site-work . target/site
	@$(BIN)/python tools/site.py target/site

# The program is no part of the package; runs of examples are those of the installed command.
bench: $(STAMPS)/package
	@. $(STAMPS)/machine && "$$CARGO" build --quiet --release --locked -p sealane-bench
	@target/release/sealane-bench all --sealane $(BIN)/sealane

nightly: $(STAMPS)/machine $(STAMPS)/dev
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/fuzz.sh 60
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/secrets.sh
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/timing.sh
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/miri.sh || \
	    { [ $$? -eq 77 ] && echo "SKIPPED 1: crate block under Miri"; }
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/oldest.sh || \
	    { [ $$? -eq 77 ] && echo "SKIPPED 1: a check with the oldest Rust"; }
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/networks.sh 100000
	@. $(STAMPS)/machine && CARGO="$$CARGO" "$$PYTHON" tools/tests.py checked
	@. $(STAMPS)/machine && SEALANE_NIGHTLY=1 "$$CARGO" test --release --quiet --locked -p sealane-mixed numbers::
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" sh tools/numbers.sh || \
	    { [ $$? -eq 77 ] && echo "SKIPPED 1: proofs of circuits of numbers"; }
	@. $(STAMPS)/machine && CARGO="$$CARGO" $(BIN)/python tools/mutants.py
	@$(BIN)/python tools/fixed_points.py --seed $$(date +%j)
	@$(BIN)/python tools/memory.py 1000000
	@$(BIN)/python tools/twenty.py --networks lan,wan > /dev/null
	@$(BIN)/python tools/second.py --runs 133 --seed $$(date +%j)
	@$(BIN)/python tools/trials.py all --seed $$(date +%j%H%M) --count 200
	@. $(STAMPS)/machine && CARGO="$$CARGO" $(BIN)/python tools/faults.py --faults 30 --drawn 500 \
	    --seed $$(date +%j)

clean:
	rm -rf $(VENV) dist target

# The tools of this machine, looked for every time; later recipes read their paths from here, and
# the file changes only when they do.
$(STAMPS)/machine: FORCE
	@mkdir -p $(@D)
	@found=$@.$$$$ && PYTHON='$(PYTHON)' CARGO='$(CARGO)' sh tools/machine.sh > $$found && \
	    { cmp -s $$found $@ && rm $$found || mv $$found $@; }

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
	@echo "make: building the package: the first time about 5 minutes on two cores, most of them for" \
	    "the kernels and the readers of Parquet"
	@rm -rf dist
	@. $(STAMPS)/machine && PATH="$$(dirname "$$CARGO"):$$PATH" $(BIN)/python -m maturin build \
	    --release --locked --compression-level 9 --interpreter $(BIN)/python --out dist
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
