# Two commands: `make reproduce` and `make test`. They need only make and Python 3.11 or newer.

PROFILE ?= quick
CORES   ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
PYTHON  ?= python3
ONLY    ?=
CELL    ?=
FORCE   ?=
DATA    ?= yes
TESTS   ?= tests
SLOW    ?=
HASHES  ?= yes
GPU     ?=

VENV  := .venv
PY    := $(VENV)/bin/python
# Two sets of packages in one environment: for the notebooks, and with those for tests, book, lessons and clusters.
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
# Each file but PyTorch's must have a digest of *.hashes; PyTorch has other builds in other indexes. setuptools, also by its
# digest, comes first: it builds our two packages and those without a wheel. An index that builds its own files: HASHES=no.
INSTALL = $(PY) -m pip install --disable-pip-version-check --no-build-isolation
VERIFIED = $(if $(filter no,$(HASHES)),sed '/^torch==/d' $1.lock | $(INSTALL) --no-deps -r /dev/stdin,\
    $(INSTALL) --no-deps --require-hashes -r $1.hashes)
BUILDER = $(if $(filter no,$(HASHES)),sed -n '/^setuptools==/p' requirements.lock | $(INSTALL) --quiet -r /dev/stdin,\
    sed -n '/^setuptools==/,/[^\]$$/p' requirements.hashes | $(INSTALL) --quiet --no-deps --require-hashes -r /dev/stdin)
# On Linux, the public index has PyTorch with CUDA. Who has chosen an index gets its build, and GPU=yes asks for CUDA.
CPU_INDEX = https://download.pytorch.org/whl/cpu
TORCH = $$(sed -n 's/^\(torch==[0-9.]*\).*/\1/p' requirements.lock)
WANTS_CPU = [ "$(GPU)" != yes ] && [ "$$(uname -s)" = Linux ] && ! $(PY) -m pip config list | grep -Eq 'index|find-links'
export JUPYTER_PREFER_ENV_PATH = 1
# Compiled modules are kept: some machines turn this off, and then each process compiles the library again.
export PYTHONDONTWRITEBYTECODE =

# Jupyter, IPython, matplotlib and our data keep files in the home folder. In a container it may be absent or read-only.
ifneq ($(shell [ -n "$$HOME" ] && probe=$$(mktemp "$$HOME/.XXXXXX" 2>/dev/null) && rm "$$probe" && echo writable),writable)
HOMES := $(or $(SENSORPRIVACY_OUTPUT),$(CURDIR))/build/home
export IPYTHONDIR ?= $(HOMES)/ipythondir
export JUPYTER_CONFIG_DIR ?= $(HOMES)/jupyter_config_dir
export JUPYTER_DATA_DIR ?= $(HOMES)/jupyter_data_dir
export JUPYTER_RUNTIME_DIR ?= $(HOMES)/jupyter_runtime_dir
export MPLCONFIGDIR ?= $(HOMES)/mplconfigdir
export SENSORPRIVACY_CACHE ?= $(HOMES)/sensorprivacy_cache
endif

# Tests marked slow (pyproject.toml says which) run if somebody asks for them, or names what to test.
QUICKLY = $(if $(SLOW)$(filter-out tests,$(TESTS)),,-m "not slow")

COMPILE = $(PY) -m piptools compile --quiet --strip-extras --no-header --annotation-style=line --no-emit-index-url \
    --no-emit-find-links --no-emit-trusted-host --no-allow-unsafe \
    $(foreach name,pip sensorprivacy sensorprivacy-compendium,--unsafe-package $(name))

DIGESTS = $(VENV)/bin/uv pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate --no-emit-index-url - \
    --output-file

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help reproduce verify book review archive test lint bench notebook lessons data lock clean

help: ## show this help
	@echo "usage: make TARGET [PROFILE=quick|paper] [CORES=n] [PYTHON=python3] [GPU=yes]"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

reproduce: $(READY) ## run every notebook that is out of date, then the report (some: ONLY="RUN ..."; no downloads: DATA=no)
	@$(PY) -m compendium reproduce --profile $(PROFILE) --cores $(CORES) $(if $(filter no,$(DATA)),--no-data) $(ONLY)

verify: $(READY) ## check that every committed result belongs to this state of the code (runs nothing)
	@$(PY) -m compendium verify

book: $(TOOLS) ## build the book from what reproduce left behind: build/book/html/index.html
	@$(PY) -m compendium book

review: $(if $(CELL),$(READY),$(TOOLS)) ## pack the compendium for a review, or recompute one value (CELL=2-T10-r1-utility, FORCE=1)
	@$(PY) -m compendium review $(CELL) --profile $(PROFILE) --cores $(CORES) $(if $(FORCE),--force)

archive: $(TOOLS) ## pack sources, results, environment and licences into one file in build/
	@$(PY) -m compendium archive

test: $(TOOLS) ## check style and types, run the tests (the slow ones, too: SLOW=1; some: TESTS=path)
	@# Beside the check of types: the shared forest is compiled, and the assertions of the tests, once for all workers.
	@{ $(PY) tests/compiled.py; $(PY) -m pytest --collect-only -qq $(TESTS) >/dev/null; } & $(MAKE) --no-print-directory lint && wait
	@# Many tests wait for other processes, so three workers keep two cores busy. A file's tests share trained networks.
	@$(PY) -m compendium.run.processes pytest -n 3 --dist loadfile --no-loadscope-reorder $(QUICKLY) $(TESTS)
	@$(if $(QUICKLY),echo "The slow tests were left out. make test SLOW=1 runs them")

lint: $(TOOLS) ## check style and types only
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m mypy --no-error-summary

bench: $(TOOLS) ## run the benchmarks, one file for each claim (minutes)
	@for file in bench/*.py; do [ -f "$$file" ] || continue; echo "== $$file"; $(PY) "$$file" || exit 1; done

notebook: $(TOOLS) ## open the notebooks in JupyterLab
	@$(PY) -m compendium.run.processes jupyterlab $$([ "$$(id -u)" != 0 ] || echo --allow-root) --ServerApp.root_dir="$(CURDIR)" \
	    notebooks/00_start_here.ipynb

lessons: $(TOOLS) ## make the student versions of the lessons: build/lessons/student
	@$(PY) -m compendium lessons

data: $(READY) ## download every available data set, also the large ones
	@$(PY) -m compendium data fetch --all

lock: $(TOOLS) ## resolve requirements.lock and requirements-dev.lock again, with the digests of their files
	@printf '%s\n' '-e .' '-e lib' | $(COMPILE) --output-file=requirements.lock -
	@printf '%s\n' '-c $(CURDIR)/requirements.lock' '-e .' '-e lib[lab,book,lessons,cluster,dev]' \
	    | $(COMPILE) --output-file=requirements-dev.lock -
	@# Remove torch's local version (+cpu, +cu...), which other machines lack, and our own two packages.
	@for file in requirements.lock requirements-dev.lock; do \
	    sed -e 's/^\(torch==[0-9.]*\)+[a-z0-9.]*/\1/' -e '/^-e /d' -e '/^ *#/d' -e '/./!d' -e 's/-[rc] [^ ,]*, *//' $$file > $$file.part && mv $$file.part $$file; done
	@sed 's/ .*//' requirements.lock | grep -v '^torch==' | $(DIGESTS) requirements.hashes
	@sed 's/ .*//' requirements-dev.lock | grep -vxF "$$(sed 's/ .*//' requirements.lock)" | $(DIGESTS) requirements-dev.hashes

clean: ## remove results of runs: build/, figures/quick/, caches (not the environment, not the data)
	rm -rf build figures/quick .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find lib tests bench notebooks \( -name __pycache__ -o -name .ipynb_checkpoints \) -type d -prune -exec rm -rf {} +

# The environment is made once, and again when its requirements change.
$(READY): requirements.lock requirements.hashes pyproject.toml lib/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "error: $(PYTHON) is not Python 3.11 or newer; name one that is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@[ -x $(PY) ] || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "error: $(PYTHON) cannot make an environment; on Debian and Ubuntu install python3-venv" >&2; exit 1; }
	@echo "installing the packages of requirements.lock into $(VENV), once"
	@echo "about 0.6 GB to download and 2.5 GB on disk, 2 to 6 minutes; with CUDA (GPU=yes) 6.8 GB and 10 minutes"
	@$(BUILDER)
	@$(call VERIFIED,requirements)
	@if $(WANTS_CPU); then $(INSTALL) --retries 2 --no-deps --index-url $(CPU_INDEX) "$(TORCH)" || \
	    echo "$(CPU_INDEX) did not answer: PyTorch now comes with CUDA, 6.8 GB on disk"; fi
	@$(INSTALL) --constraint requirements.lock "$(TORCH)"
	@$(INSTALL) --quiet -r requirements.lock
	@$(INSTALL) --quiet --no-deps --editable . --editable lib
	@touch $@

$(TOOLS): requirements-dev.lock requirements-dev.hashes $(READY)
	@echo "installing the other packages of requirements-dev.lock into $(VENV), once: 0.6 GB on disk, about 2 minutes"
	@$(call VERIFIED,requirements-dev)
	@$(INSTALL) --quiet -r requirements-dev.lock
	@touch $@
