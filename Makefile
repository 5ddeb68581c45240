# The recipes set up what they need in .venv, which takes a minute or two the first time. `make help` lists them.

BIN := .venv/bin
SOURCES := compiler dfa_router viz tests examples benchmarks scripts conftest.py

DEMO := examples/demo
LOG := build/demo/messages.parquet
ROUTED := build/demo/routed.parquet

# Where it is set, as in many images, each of hundreds of processes compiles all it imports: 12 s instead of 8 to collect the tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test slow long bounds check bench lock lowest newest dist clean

help:  ## list the recipes
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.ready-demo $(LOG)  ## route ten million messages through a RabbitMQ topology on Spark
	rm -rf $(ROUTED)
	$(BIN)/dfa-router route --definitions $(DEMO)/definitions.json --messages $(LOG) --out $(ROUTED)

test: .venv/.ready-dev  ## run the tests on all cores; ARGS="-k trie" is passed on to pytest, and ARGS="-n 0" takes one process
	$(BIN)/python -m pytest -n auto $(ARGS)

slow: .venv/.ready-dev  ## run those that take long, of the benchmarks, of Java and brokers of their own; ARGS goes to pytest
	$(BIN)/python -m pytest -n auto -m "slow and not long" $(ARGS)

long: .venv/.ready-dev  ## run those that show at full size what shorter ones show in small; ARGS goes to pytest
	$(BIN)/python -m pytest -n auto -m long $(ARGS)

# The switch is no part of the names in numba's cache, so these kernels have a folder of their own, made anew.
bounds: .venv/.ready-dev  ## run tests with kernels that check each index; ARGS="tests/compiler" takes a part of them
	rm -rf build/kernels-bounds
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/kernels-bounds $(BIN)/python -m pytest -n auto -m "not long" $(ARGS)

check: .venv/.ready-dev  ## style, types, and who imports what
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports
	$(BIN)/python scripts/structure.py --check

bench: .venv/.ready-bench  ## measure the engines beside what people use today, into benchmarks/results
	$(BIN)/python -m benchmarks engine $(ARGS)
	$(BIN)/python -m benchmarks seeds $(ARGS)
	$(BIN)/python -m benchmarks growth

lock: .venv/.ready-dev  ## write requirements-dev.lock; versions in it stay if they may, ARGS=--upgrade takes the newest
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --generate-hashes \
		--custom-compile-command "make lock" --output-file requirements-dev.lock $(ARGS) pyproject.toml

lowest: .venv/.ready-dev  ## run tests with the lowest versions that pyproject.toml allows; ARGS goes to pytest
	scripts/try_versions.sh lowest $(ARGS)

newest: .venv/.ready-dev  ## run tests with the newest versions that pyproject.toml allows; ARGS goes to pytest
	scripts/try_versions.sh newest $(ARGS)

dist: .venv/.ready-dev  ## build HEAD's sdist and wheel twice, and keep them in dist/ if they are equal
	$(BIN)/python scripts/dist.py

clean:  ## remove what was made, all but .venv
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}"/dfa-router/kernels-*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A new version of any of these files means a new installation, into the same environment.
SETUP := pyproject.toml scripts/setup.sh $(if $(LOCKED),requirements-dev.lock)

.venv/.ready-demo: $(SETUP)
	scripts/setup.sh cli spark
	@touch $@

.venv/.ready-bench: $(SETUP)
	scripts/setup.sh cli bench
	@touch $@

.venv/.ready-dev: $(SETUP)
	scripts/setup.sh all
	@touch $@

$(LOG): .venv/.ready-demo $(DEMO)/make_log.py $(DEMO)/vocabulary.py $(DEMO)/definitions.json
	$(BIN)/python -m examples.demo.make_log --out $@
