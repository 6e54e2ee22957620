# make help    this list
# make gen     install missing requirements, generate and prove the default set into gen_out/
# make lib     build/libgfsmith.a and build/libgfsmith.so; docs/cross.md:
#              make CROSS=aarch64-linux-gnu lib   for another machine, into build/aarch64-linux-gnu/
#              make ISA=avx2 lib                  one instruction set, no dispatch, into build/avx2/
# make adaptive build/adaptive/libgfsmith.a and .so: with the coordinator and its kernels; docs/adaptive.md
# make isal    build/libisal.so.2 and build/libisal_ec.a, which replace ISA-L's: docs/isal.md
# make jerasure build/libJerasure.so.2, which replaces Jerasure's: docs/migrate/jerasure.md
# make compose build/libgfsmith-compose.a and .so: primitives and graphs over libfabric; docs/compose/guide.md
# make check-linked compare the kernels in the libraries with gen_out/MANIFEST.json again; docs/build.md
# make install headers, libraries, gfsmith.pc, gfsmith-shards below PREFIX (/usr/local), or below DESTDIR/PREFIX; docs/build.md;
#              make install-compose installs libgfsmith-compose as well
# make tune    find this machine's fastest variants: make tune SPECS="cauchy:10x4 dot:nx4"; docs/tuning.md
# make test    tests that need this CPU, a C compiler and Python; times of both: docs/tests.md
# make test-all  all other tests: architectures, languages, browsers, stores, campaigns
# make test-long  checks of the other two, repeated with further parameters: docs/tests.md
# make docs    C reference and man pages: build/docs/html, build/man
# make site    all pages, the C reference and the Python reference as one searchable site: build/site; about 10 seconds
# make pictures draw the pictures of README and of bench/results/performance from measured data and PROOFS.json
# make facts   write lists (codes, architectures) and values (version) into the files that repeat them: tools/facts.py
# make check   format, lint, types, reproducibility of gen_out/
# make abi     record the binary interfaces of both shared libraries after an intended change; docs/hardening.md
# make analyze the C code around the kernels with Frama-C: no undefined behaviour, no access out of bounds;
#              docs/analysis.md
# make coverage  line and branch coverage of runtime/ by its tests: make coverage PART=core
# make fuzz    libFuzzer on the reader of gfsmith.toml, shard files and the C interface: make fuzz SECONDS=600
# make minio   MinIO on the replacement for klauspost/reedsolomon: its tests, and a server that loses four of eight
#              drives; docs/migrate/klauspost-replace.md
# make mutate  mutation campaign against the machine-code proof
# make python  the codec for .venv, and dist/gfsmith-VERSION-*.whl; docs/python.md
# make judge   replay the certificates of all x86 kernels with the second judge: docs/judge.md; about a minute
# make rust    kernels of the crate that replaces reed-solomon-erasure; docs/migrate/reed-solomon-erasure.md
# make shards  build/gfsmith-shards, the file tool, and build/libgfsmith-shards.a and .so; apps/shards/README.md
# make java    build/java/gfsmith-VERSION.jar: the codec for Java 17, and raw erasure coders for Hadoop and Ozone;
#              docs/migrate/hdfs.md, docs/migrate/ozone.md
# make demo    split, damage and repair a real file with gfsmith-shards
# make wasm    the WebAssembly package: bindings/wasm/dist, with proved kernels; docs/wasm.md
# make bench   measure against ISA-L, klauspost and others; bench-quick: under a minute
# make bench-threads  measure calls that several threads share; docs/threads.md
# make bench-adaptive  measure adaptive prefetching on this machine's memory, into bench/results/adaptive.json; docs/memory.md
# make bench-compose  measure composed primitives and the stripe store over loopback, into bench/results/compose.json;
#              docs/compose/measurements.md
# make bench-hadoop  measure the raw coders for Hadoop with Hadoop's own benchmark; docs/migrate/hdfs.md
# make bench-ozone   the same for Ozone; docs/migrate/ozone.md
# make verdicts prove or refute the GF(2^8) kernels of ISA-L, klauspost/reedsolomon and other libraries, into
#              bench/results/verdicts.md; docs/verdicts.md
# make predict predict cycles of kernels and of peers on CPUs that are not available, into bench/results/predicted.md
# make model-memory  simulate memory that we could not measure, into research/results; docs/memory.md
# make dist    build/gfsmith-VERSION.tar.xz and build/gfsmith-amalgamation-VERSION.tar.xz: sources that build without
#              gfsmith; DIST_FLAGS="-c other.toml --prefix acme" for another set; docs/sources.md
# make release every artifact of a release from a clean clone: build/release; about 16 minutes of CPU (AMD EPYC); docs/release.md;
#              make release PARTS="crate npm" builds single artifacts into build/release-parts
# make test-release  install each artifact of build/release without the checkout and run an example with it; PARTS as above

SHELL := /bin/sh
# Python keeps the compiled modules, also those whose assertions pytest rewrites: each process of the tests, and each command
# that they call, would compile all of them again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := gen
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
GFSMITH := .venv/bin/gfsmith
WARNINGS := -Wall -Wextra -Wpedantic -Werror
include packaging/make/library.mk

# The levels of generator/gfsmith/build/requirements.py.
SETUPS := $(addprefix setup-,gen lib packages compose python java wasm tune docs site check analyze test test-all bench bench-compose release verdicts)

.PHONY: help gen judge lib adaptive python rust tune named-specs test test-all test-long check abi analyze coverage fuzz minio docs site facts pictures mutate demo wasm bench bench-quick bench-adaptive bench-threads bench-compose verdicts predict model-memory dist release test-release clean $(SETUPS)

help:
	@sed -n '/^# make /,/^$$/{s/^# \{0,1\}//p}' Makefile

gen: setup-gen
	$(GFSMITH) gen

$(SETUPS): setup-%:
	@tools/setup.sh $*

# The library needs generated kernels: generate them if there are none. `make gen lib` reads their list again.
ifneq ($(filter gen,$(MAKECMDGOALS))$(if $(wildcard $(GFSMITH_GENERATED)/sources.mk),,none),)
lib: gen
	@$(MAKE) --no-print-directory lib
else
lib: setup-lib $(LIBRARIES)
endif

# The whole library with a coordinator, next to the default one.
adaptive: setup-gen setup-lib
	@$(GFSMITH) gen --adaptive -o build/adaptive/gen
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/adaptive GFSMITH_GENERATED=build/adaptive/gen lib

-include runtime/isal/isal.mk
-include runtime/jerasure/jerasure.mk
-include runtime/compose/compose.mk
-include runtime/shards/shards.mk
-include apps/shards/tool.mk
-include bindings/java/java.mk

# The codec for Python, built again if any file of the wheel has changed.
PYTHON_FILES := setup.py pyproject.toml tools/python.sh $(shell find generator/gfsmith bindings/python templates runtime \
  packaging docs -name __pycache__ -prune -o -type f ! -name '*.so' -print)

python: setup-python
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@test -e bindings/python/gfsmith/codec/_native.abi3.so && ls dist/gfsmith-*.whl >/dev/null 2>&1 || rm -f build/python/made
	@$(MAKE) --no-print-directory build/python/made

build/python/made: build/libgfsmith.a build/static/gfsmith-shards $(PYTHON_FILES)
	@CC='$(CC)' CFLAGS='$(HARDEN_RUNTIME)' LDFLAGS='$(HARDEN_LINK)' tools/python.sh $<
	@touch $@

tune: named-specs setup-tune
	@$(GFSMITH) tune $(TUNE_FLAGS) $(SPECS)

named-specs:
	@test -n '$(strip $(SPECS)$(TUNE_FLAGS))' || { echo 'make tune: SPECS is missing; allowed: make tune SPECS="dot:10x4 cauchy:10x4", or make tune TUNE_FLAGS=--all for all shapes of the build (docs/tuning.md)' >&2; exit 2; }

# Tests: docs/tests.md. Durations are in build/test.xml and build/test-all.xml.
# The tests of stores, nodes and the coordinator wait for timers and peers for up to half of their time, so one process more
# than CPUs keeps the CPUs busy. The threads of OpenBLAS wait busily; one for each process suffices.
PYTEST = OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n $(shell expr $(JOBS) + 1) --dist worksteal --durations=20 --junitxml=$(BUILD)/$@.xml

test: setup-test gen
	@$(MAKE) --no-print-directory -j$(JOBS) python
	$(PYTEST) --level test $(PYTEST_FLAGS)

test-all: LEVEL = rest
test-long: LEVEL = long
test-all test-long: setup-test-all gen
	@$(MAKE) --no-print-directory -j$(JOBS) python
	$(PYTEST) --level $(LEVEL) $(PYTEST_FLAGS)

check: setup-check gen
	@$(MAKE) --no-print-directory -j$(JOBS) python
	tools/check.sh

docs: setup-docs
	@.venv/bin/python tools/reference.py $(BUILD)/docs
	@.venv/bin/python tools/manpages.py $(BUILD)/man
	@echo "built $(BUILD)/docs/html/index.html and $(BUILD)/man"

# Opens from build/site/index.html without a server; loads nothing from other hosts.
site: setup-site
	@.venv/bin/python -m tools.site $(BUILD)/site
	@echo "built $(BUILD)/site/index.html"

# README's pictures, from bench/results/performance and gen_out/PROOFS.json.
pictures: setup-check gen
	@$(MAKE) --no-print-directory -j$(JOBS) python
	@.venv/bin/python -m tools.pictures

# Generated lists between markers in hand-written files, from the generator's tables.
facts: setup-gen
	@.venv/bin/python -m tools.facts

abi: setup-check
	@$(MAKE) --no-print-directory -j$(JOBS) lib shards
	@tools/abi.sh record

# Writes tests/system/analysis/results.json, from which make facts takes the table of docs/analysis.md.
analyze: setup-analyze
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@.venv/bin/python -m tests.system.analysis.run $(ANALYZE_FLAGS)

SECONDS := 60
coverage: setup-test-all
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m tools.coverage $(PART)

minio: setup-test-all gen
	@.venv/bin/python -m tests.system.bindings.go.minio.run

rust: setup-packages
	@$(GFSMITH) export --form rust -c bindings/rust/reed-solomon-erasure/gfsmith.toml --cache .gfsmith-cache -o bindings/rust/reed-solomon-erasure/src/kernels

fuzz: setup-test-all
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m tests.system.fuzz.run '--seconds=$(SECONDS)'

judge: gen
	@.venv/bin/python -m judge --jobs $(JOBS)

mutate: setup-test
	.venv/bin/python -m tools.mutate

demo: setup-lib
	@$(MAKE) --no-print-directory -j$(JOBS) shards
	apps/shards/demo.sh $(BUILD)/gfsmith-shards $(BUILD)/demo

#: The modules with vectors, whose kernels are proved.
WASM_PROVED := simd128 relaxed
wasm: setup-wasm
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@$(MAKE) --no-print-directory -j$(JOBS) -C bindings/wasm
	@$(GFSMITH) verify $(WASM_PROVED:%=--objects bindings/wasm/dist/gfsmith-%.wasm)

# Results: bench/out/index.html, report.json, PNG. More: .venv/bin/python -m bench --help
bench: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m bench $(BENCH_FLAGS)

bench-quick: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m bench --quick $(BENCH_FLAGS)

# Encoding over a pool of threads and without, alternately: docs/threads.md. THREADS_FLAGS: ROUNDS [CODE K M]
bench-threads: lib
	@mkdir -p $(BUILD)/bench
	@$(CC) -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror -Iruntime/core/include -o $(BUILD)/bench/threads \
	  bench/threads/threads.c $(BUILD)/libgfsmith.a -pthread
	@$(BUILD)/bench/threads $(THREADS_FLAGS)

# Continues an interrupted run. BENCH_FLAGS: --quick, --cells '100+4/*', --fresh; see --help.
bench-adaptive: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) adaptive
	@.venv/bin/python -m bench.adaptive $(BENCH_FLAGS)

# Continues an interrupted run. BENCH_FLAGS: --quick, --cells 'latency/ppr/*', --fresh; see --help.
bench-compose: setup-bench-compose
	@$(MAKE) --no-print-directory -j$(JOBS) lib compose
	@.venv/bin/python -m bench.compose $(BENCH_FLAGS)

# VERDICTS_FLAGS: --libraries isal --functions '*mad*'; see --help.
verdicts: setup-verdicts
	@.venv/bin/python -m bench.verdicts --jobs $(JOBS) $(VERDICTS_FLAGS)

predict: setup-bench
	@.venv/bin/python -m bench.predict

# Simulated, not measured: tables, pictures and figures in research/results, which docs/memory.md describes.
model-memory: setup-tune
	@.venv/bin/python -m research.memory $(MODEL_FLAGS)

dist: setup-gen
	@$(GFSMITH) export $(DIST_FLAGS) --form tree -o $(BUILD)/gfsmith-$(VERSION).tar.xz
	@$(GFSMITH) export $(DIST_FLAGS) --form amalgamation -o $(BUILD)/gfsmith-amalgamation-$(VERSION).tar.xz

# PARTS="crate npm": these artifacts alone, into a folder that is no release; an unknown name lists the known ones.
RELEASE := $(BUILD)/release$(if $(PARTS),-parts)
release: setup-release
	@PYTHONPATH=packaging .venv/bin/python -m release . --out $(RELEASE) --work $(RELEASE)-work \
	  $(if $(PARTS),--only $(PARTS))

test-release: setup-release
	@RELEASE=$(RELEASE) PARTS='$(PARTS)' .venv/bin/python -m pytest packaging/release/tests -v

clean:
	rm -rf $(BUILD)
