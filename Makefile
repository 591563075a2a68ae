# Everything a developer types. `make` alone says what there is. Works with an empty environment: uv is fetched if it is not there.
# Setup compiles Python once: where PYTHONDONTWRITEBYTECODE is set, as in many images, each of the processes of a proof would do it anew.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
ONLY ?= *+*
UV := $(shell command -v uv 2>/dev/null || echo .tools/uv/bin/uv)
RUN := $(UV) run --locked --all-extras --no-sync
export UV_SYSTEM_CERTS ?= 1
export UV_PYTHON_DOWNLOADS ?= never
ifeq ($(origin PYTHON), command line)
export UV_PYTHON := $(PYTHON)
endif

.PHONY: help setup prerequisites demo demo-services test check full beyond mutants random-jobs versions benchmarks nexmark soak docs wheel clean

help:
	@echo "make setup        fetch uv and the libraries, compile the Java classes"
	@echo "make demo         prove a job with a mistake planted, then the correct one; leaves reports/demo/report.html; QUICK=1 and FULL=1 take fewer and all crash points"
	@echo "make demo-services  an incident on Redis is caught, three examples are proved on real services, started for it; QUICK=1 by the quick plan"
	@echo "make check        format, lint, types, architecture and unit tests: a minute and a quarter, no Spark"
	@echo "make test         the tests, proofs and services included; FULL=1 takes the full tables too, PROCESSES=1 less memory; MEASURE=1 writes down how long they took"
	@echo "make full         the full plan on a small run: both recordings, all cuts, machine death, kill -9"
	@echo "make beyond       of the full plan what the standard one does not have; ONLY='*@2:*+*' takes one batch of it"
	@echo "make mutants      break Streamproof on purpose: each mutant must turn a proof red; ONLY='late-*', SERVICES=1 takes those on services too"
	@echo "make random-jobs  500 random jobs on Spark and in a model in plain Python, compared batch by batch; SEEDS=100, from FIRST=0 on, or SEED=17 alone; SPARK=4.1"
	@echo "make versions     install the wheel beside PySpark 3.5 and 4.0 to 4.3, run and prove jobs there; SPARK=3.5,4.1, ONLY='sessions*', PARTS=plain,ours,services,upgrades,inspect"
	@echo "make benchmarks   what a start, an event and a proof cost"
	@echo "make soak         jobs of each kind run for 2,000 batches: what grows without end? BATCHES=200, ONLY=sessions; the curves are in reports/soak"
	@echo "make nexmark      the queries of Nexmark as jobs of ours and as PySpark by hand: rows compared, time per event; ONLY='q1 q5', COMPARE=1 for rows alone"
	@echo "make docs         build the documentation site into build/site"
	@echo "make wheel        build the wheel into dist/"
	@echo "make clean        remove what was built; downloads stay"

prerequisites:
	@command -v $(PYTHON) >/dev/null || { echo "error  No $(PYTHON) found; Streamproof needs Python 3.11 or later. Debian: apt install python3 python3-venv. macOS: brew install python@3.12."; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error  $$($(PYTHON) --version) found; Streamproof needs Python 3.11 or later. Another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@for tool in java javac; do \
	  found="$${JAVA_HOME:+$$JAVA_HOME/bin/$$tool}"; [[ -x "$$found" ]] || found="$$(command -v $$tool || true)"; \
	  [[ -n "$$found" ]] || { echo "error  No $$tool found (JAVA_HOME=$${JAVA_HOME:-not set}); a JDK, 17 or later, is needed. Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."; exit 2; }; \
	  version="$$("$$found" -version 2>&1 | grep -E 'version|^javac' | head -1 | grep -oE '[0-9]+' | head -1 || true)"; \
	  [[ "$${version:-0}" -ge 17 ]] || { echo "error  $$tool $${version:-of an unknown version} found at $$found; Spark 4.3 needs 17 or later. Debian: apt install openjdk-17-jdk-headless. macOS: brew install openjdk@17."; exit 2; }; \
	done

.tools/uv/bin/uv:
	@echo "fetching uv into .tools/uv"
	@$(PYTHON) -m venv .tools/uv || { echo "error  $(PYTHON) cannot make a virtual environment. Debian: apt install python3-venv."; exit 2; }
	@.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.6"

setup: prerequisites $(if $(filter .tools/%,$(UV)),.tools/uv/bin/uv)
	@[[ "$(MAKECMDGOALS)" != setup && -d .venv ]] || echo "installing the libraries of uv.lock into .venv: the first time some minutes, as it fetches PySpark and others"
	@$(UV) sync $(if $(filter setup,$(MAKECMDGOALS)),,$(if $(wildcard .venv),--quiet)) --locked --all-extras --compile-bytecode
	@$(RUN) python -m compileall -q src
	@[[ "$(MAKECMDGOALS)" != setup && -d src/streamproof/_jars ]] || echo "compiling the Java classes, as far as they have changed"
	@$(RUN) python hatch_build.py
	@[[ "$(MAKECMDGOALS)" != setup ]] || echo "ready: .venv/bin/streamproof --help"

demo: setup
	@$(RUN) python examples/demo.py --plan '$(if $(FULL),all,$(if $(QUICK),quick,two batches))'

demo-services: setup
	@$(RUN) python examples/demo_services.py $(if $(QUICK),--quick)

check: setup
	@$(RUN) ruff format --check --quiet .
	@$(RUN) ruff check --quiet .
	@$(RUN) mypy
	@$(RUN) pytest -q -n 2 tests/architecture tests/unit tests/docs

# In three processes, each with a JVM of its own: small jobs, and services that are waited for, leave one of two cores idle. A fourth would take
# some 20 GB. JVMs of tests live for minutes: what the second compiler takes it does not give back. A test that hangs is ended, and says where.
test: export PYTEST_TIMEOUT ?= $(if $(FULL),3600,900)
test: export SPARK_SUBMIT_OPTS ?= -XX:TieredStopAtLevel=1
test: export FULL ?=
test: setup
	@$(RUN) pytest -n $(or $(PROCESSES),3) --dist loadfile --durations=60 $(if $(MEASURE),--measure)

full: setup
	@$(RUN) streamproof prove tests/proofs/jobs/full_plan --full --report reports/full

beyond: setup
	@$(RUN) streamproof prove tests/proofs/jobs/full_plan --full --only '$(ONLY)' --report reports/beyond

# One after the other; SIDE_BY_SIDE=2 takes some 10 GB.
mutants: export SPARK_SUBMIT_OPTS ?= -XX:TieredStopAtLevel=1
mutants: setup
	@PYTHONPATH=tests $(RUN) python -m mutants --only '$(if $(filter file,$(origin ONLY)),*,$(ONLY))' $(if $(SERVICES),--services) --side-by-side $(or $(SIDE_BY_SIDE),1)

# It goes on behind what reports/random_jobs.jsonl has; AGAIN=1 begins anew.
random-jobs: export SPARK_SUBMIT_OPTS ?= -XX:TieredStopAtLevel=1
random-jobs: $(if $(SPARK),wheel,setup)
	@PYTHONPATH=tests $(RUN) python -m random_jobs $(if $(SEED),--seed $(SEED),--first $(or $(FIRST),0) --seeds $(or $(SEEDS),500)) $(if $(AGAIN),--again) $(if $(SPARK),--spark $(SPARK))

# Environments are made below build/versions, and kept.
versions: export SPARK_SUBMIT_OPTS ?= -XX:TieredStopAtLevel=1
versions: wheel
	@PYTHONPATH=tests $(RUN) python -m versions $(if $(SPARK),--spark '$(SPARK)') $(if $(PARTS),--parts '$(PARTS)') --only '$(if $(filter file,$(origin ONLY)),*,$(ONLY))'

benchmarks: setup
	@$(RUN) python -m benchmarks

nexmark: setup
	@$(RUN) python -m benchmarks.nexmark $(if $(filter file,$(origin ONLY)),,$(ONLY)) $(if $(COMPARE),--compare) --write docs/reference/nexmark.md

soak: setup
	@PYTHONPATH=tests $(RUN) python -m soak --batches $(or $(BATCHES),2000) --only '$(if $(filter file,$(origin ONLY)),*,$(ONLY))'

docs: setup
	@$(RUN) python docs/pictures/draw.py
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict
	@echo "build/site/index.html"

wheel: setup
	@$(RUN) python -m build --wheel --no-isolation --outdir dist > /dev/null
	@ls dist/*.whl

clean:
	rm -rf build dist reports src/streamproof/_jars .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -not -path './.venv/*' -not -path './.tools/*' -prune -exec rm -rf {} +
	find . -name .streamproof -not -path './.venv/*' -prune -exec rm -rf {} +
