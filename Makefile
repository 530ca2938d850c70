# make run    environment from the lock, then the studies that come with the project; offline after the install
# make test   what one waits for;  make verify: what a change must show beyond that;  make evidence: the rest, for hours
# make schema what describes YAMLs, results and questions
PYTHON ?= python3
UV ?= uv
VENV := .venv
BIN := $(VENV)/bin
# tests have an environment of their own: what is installed is part of what a result depends on
TEST_VENV := .venv-test
TEST_BIN := $(TEST_VENV)/bin
# whole files, in the order of tests/conftest.py: what the tests of a file share is made once
TESTS := -m pytest -n 2 --dist loadfile --no-loadscope-reorder
EVIDENCE := PYTHONPATH=src:tests $(TEST_BIN)/python tests/evidence/renew.py
# one sentinel a lock: another lock makes the environment anew
digest = $(shell $(PYTHON) -c "import hashlib; print(hashlib.sha256(open('$(1)', 'rb').read()).hexdigest()[:16])" 2>/dev/null)
READY := $(VENV)/installed-$(call digest,requirements.lock)
TEST_READY := $(TEST_VENV)/installed-$(call digest,requirements-test.lock)
LINT := .venv-lint/bin
CRATE := .venv-crate/bin
# what `lock` and `pylock.toml` are resolved from
RESOLVE = $(UV) pip compile pyproject.toml --extra excel --python-version 3.11 --universal \
  --no-emit-index-url --custom-compile-command "make lock" --upgrade --quiet

.PHONY: run test verify evidence same fuzz lint lock wheels docs gallery schema validate benchmarks clean

run: $(READY)
	$(BIN)/python run_all.py

test: $(TEST_READY)
	$(TEST_BIN)/python $(TESTS) -m "not verify and not evidence"

# what every change must show beyond that: whole runs and the most telling simulations; then the part of the long evidence
# that the sources have left behind, as far as EVIDENCE_SECONDS of CPU time reach, and a little random input
verify: $(TEST_READY)
	$(TEST_BIN)/python $(TESTS) -m verify
	$(MAKE) fuzz FUZZ_SECONDS=20
	$(EVIDENCE) --budget $(or $(EVIDENCE_SECONDS),400)

# simulations at full size, all public studies, kills, the kernels of other processors, an hour of random input: hours. The
# record is to be committed; STALE=1 runs what the record does not vouch for, CHECK=1 nothing
evidence: $(TEST_READY)
	$(EVIDENCE) $(if $(STALE),--stale) $(if $(CHECK),--check)

# what a change moves in results, tables and figures since BASE, or since this branch left main; ONLY="03 07": of these
# notebooks
same: $(TEST_READY)
	PYTHONPATH=src:tests $(TEST_BIN)/python tests/same.py $(if $(BASE),--base $(BASE)) $(if $(FULL),--full) \
	  $(if $(STUDIES),--study $(STUDIES)) $(if $(ONLY),--only $(ONLY)) $(if $(JOBS),--jobs $(JOBS))

# random YAMLs, tables and JSON for a minute, or FUZZ_SECONDS; what is found ends the run, with the seed that finds it again
fuzz: $(TEST_READY)
	$(if $(FUZZ_SECONDS),FUZZ_SECONDS=$(FUZZ_SECONDS)) PYTHONPATH=src:tests $(TEST_BIN)/python tests/fuzz.py

# the documentation as a site, to be opened at build/docs/index.html; a link that leads nowhere is an error
docs: $(TEST_READY)
	$(TEST_BIN)/python -m sphinx -q -W --keep-going -E -n -b html -c docs -d build/doctrees . build/docs

gallery: $(READY)
	$(BIN)/python run_all.py gallery

schema: $(READY)
	$(BIN)/python run_all.py schema

benchmarks: $(READY)
	$(BIN)/python benchmarks/benchmark.py
	$(BIN)/python benchmarks/pipeline.py

$(READY): requirements.lock
$(TEST_READY): requirements-test.lock
$(READY) $(TEST_READY):
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --disable-pip-version-check --require-hashes -r $<
	touch $@

# pylock.toml (PEP 751) names files in wheels/ instead of addresses: no registry stands in it, and installing needs none.
# Files for Pythons that the project does not run on are left out: 3.15, PyPy, free-threaded builds
#
# requirements.lock is what running needs; requirements-test.lock is that, in the same versions, and all extras but dev
lock:
	$(RESOLVE) --generate-hashes -o requirements.lock
	$(RESOLVE) --extra lab --extra metrics --extra cluster --extra test -c requirements.lock \
	  --generate-hashes -o requirements-test.lock
	mkdir -p build
	$(RESOLVE) -c requirements.lock --format pylock.toml -o build/pylock.toml
	sed -E -e 's#url = "[^"]*/([^"/]+)", #path = "wheels/\1", #g; s#upload-time = [^,]*, ##g' \
	  -e '/^    \{ path = "[^"]*-(cp315|cp3[0-9]+t|pp3[0-9]+[^"]*)-/d' build/pylock.toml > pylock.toml

# all files of this platform, to carry to a machine without network; setuptools builds what comes as source
wheels: $(READY)
	$(BIN)/python -m pip download --disable-pip-version-check --require-hashes -r requirements.lock -d wheels
	$(BIN)/python -m pip download --disable-pip-version-check setuptools -d wheels

# apart from the environment notebooks run in: what is installed there is part of what a result depends on. NumPy, pydantic
# and stubs are there for mypy
lint: $(LINT)/ruff
	$(LINT)/ruff check .
	$(LINT)/ruff format --check .
	$(LINT)/nbstripout --keep-id --verify notebooks/*.ipynb examples/*.ipynb
	$(LINT)/mypy

$(LINT)/ruff: .pre-commit-config.yaml
	$(PYTHON) -m venv --clear .venv-lint
	$(LINT)/python -m pip install --quiet --disable-pip-version-check \
	  $$(sed -n -e 's/.*rev: v\{0,1\}\([0-9.]*\)  # \(.*\)/\2==\1/p' \
	    -e '/additional_dependencies/{s/.*\[//; s/\].*//; s/, / /g; p;}' .pre-commit-config.yaml)
	touch $@

# a bundle is an RO-Crate, says roc-validator; apart, because it needs other versions of what the tests need
validate: $(READY) $(CRATE)/rocrate-validator
	$(BIN)/python run_all.py --study ji2022 --set pseudonyms=shuffled --out build/validate
	$(BIN)/python run_all.py bundle ji2022 --with-judgements --out build/validate
	$(CRATE)/python tests/extras/bundle/validate.py build/validate/bundles/ji2022.zip

$(CRATE)/rocrate-validator:
	$(PYTHON) -m venv --clear .venv-crate
	$(CRATE)/python -m pip install --quiet --disable-pip-version-check roc-validator==0.13.0 rocrate==0.16.0 mlcroissant==1.1.1

clean:
	rm -rf $(VENV) $(TEST_VENV) .venv-lint .venv-crate build data/processed data/raw/demo figures tables reports sweeps bundles
