# make ready | check | demo | test | attack | wheel | lint | docs | gallery | bench | browser | opensm | simgrid: each sets up what it needs first (Python >= 3.11).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: ready check demo test attack wheel browser opensm simgrid lint docs gallery bench clean

ready: $(READY)

# after an edit: lint, types, floors, prose and the nearest tests, within some 20 CPU seconds
check: $(READY)
	@$(BIN)/python -m tests.check

# a real fabric: what is wrong with its tables, and better ones; meanwhile a program's mapping, which
# is shown after it
demo: $(READY)
	@mkdir -p out
	@{ $(BIN)/netloom analyze examples/lammps-64.mtx \
	    --messages examples/lammps-64.messages.mtx --on torus:8x8 --plot out/lammps-64-torus.png \
	  && echo \
	  && $(BIN)/netloom analyze examples/lammps-64.mtx \
	    --messages examples/lammps-64.messages.mtx --on mesh:8x8 --plot out/lammps-64-mesh.png \
	  && echo \
	  && $(BIN)/netloom map examples/lammps-64.mtx --on mesh:8x8 --rounds 4 \
	    --rankfile out/ranks.txt --save-mapping out/better.json --plot out/lammps-64-mapped.png; \
	} > out/lammps-64.txt 2>&1 & lammps=$$!; \
	$(BIN)/netloom fabric examples/dgx-40.ibnetdiscover \
	  --routing lfts:examples/dgx-40-minhop.lfts --plot out/dgx-40.png \
	&& echo \
	&& $(BIN)/netloom route examples/dgx-40.ibnetdiscover \
	  --routing lfts:examples/dgx-40-minhop.lfts --out out/dgx-40-better.lfts \
	  --plot out/dgx-40-better.png --explore out/dgx-40.html; \
	fabric=$$?; wait $$lammps; mapped=$$?; echo; cat out/lammps-64.txt; \
	[ $$((fabric + mapped)) -eq 0 ] || exit 1; \
	echo; echo "Look at the fabric, and ask it with the mouse: out/dgx-40.html"

# all processors; the tests of one file stay together
test: lint wheel
	$(BIN)/pytest -n auto --dist loadfile

# the wheel with the lowest versions allowed, and on other Pythons
wheel: $(READY)
	@UV=$(BIN)/uv .ci/wheel

# thousands of nonsensical commands and broken files; a few hundred of them are among the tests
CASES ?= 3000
attack: $(READY)
	$(BIN)/python -m tests.attack $(CASES)

# for the tests of pages; where there is none, and it cannot be installed, these are skipped
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium)

# for the tests of tables: OpenSM on simulated subnets; where it cannot be installed, these are skipped
opensm:
	@ls /usr/sbin/opensm /usr/bin/ibsim /usr/sbin/dump_fts /usr/lib/*/umad2sim/libumad2sim.so \
	  >/dev/null 2>&1 || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends \
	  opensm ibsim-utils libumad2sim0 infiniband-diags)

# for the tests of flows: SimGrid and a compiler; without them, recorded finish times are compared
simgrid:
	@{ command -v g++ && ls /usr/include/simgrid/s4u.hpp; } >/dev/null 2>&1 || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends g++ libsimgrid-dev)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# tests/docs/ builds it too, as strictly
docs: $(READY)
	@$(BIN)/python docs/build.py out/site
	@echo "out/site/index.html"

# every kind of picture on one page, to be looked at before a release
gallery: $(READY)
	$(BIN)/python -m tests.gallery out/gallery.html

bench: $(READY)
	$(BIN)/python benchmarks/contention.py
	$(BIN)/python benchmarks/switches.py
	$(BIN)/python benchmarks/network.py
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/programs.py
	$(BIN)/python benchmarks/combining.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/phases.py
	$(BIN)/python benchmarks/mapping.py
	$(BIN)/python benchmarks/experiments.py
	$(BIN)/python benchmarks/fabrics.py
	$(BIN)/python benchmarks/few_lanes.py
	$(BIN)/python benchmarks/flows.py
	$(BIN)/python benchmarks/collectives.py

clean:
	rm -rf $(VENV) out

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "netloom needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
