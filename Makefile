# make gen     set up what is missing, generate and prove the default set into gen_out/
# make lib     build/libgfsmith.a and build/libgfsmith.so; docs/cross.md:
#              make CROSS=aarch64-linux-gnu lib   for another machine, into build/aarch64-linux-gnu/
#              make ISA=avx2 lib                  one instruction set, no dispatch, into build/avx2/
# make adaptive build/adaptive/libgfsmith.a and .so: with the coordinator and its kernels; docs/adaptive.md
# make isal    build/libisal.so.2 and build/libisal_ec.a in place of ISA-L's: docs/isal.md
# make compose build/libgfsmith-compose.a and .so: primitives and graphs over libfabric; docs/compose.md
# make install headers, libraries, gfsmith.pc below PREFIX (/usr/local), or below DESTDIR/PREFIX; docs/build.md;
#              make install-compose installs libgfsmith-compose as well
# make tune    find this machine's fastest variants: make tune SPECS="cauchy:10x4 dot:nx4"; docs/tuning.md
# make test    all tests
# make docs    C reference and man pages: build/docs/html, build/man
# make pictures draw README's pictures from measured data and PROOFS.json
# make check   format, lint, types, reproducibility of gen_out/
# make abi     record the binary interface of libgfsmith.so, if it was changed on purpose; docs/hardening.md
# make fuzz    libFuzzer on the reader of gfsmith.toml, shard files and the C interface: make fuzz SECONDS=600
# make mutate  mutation campaign against the machine-code proof
# make python the codec for .venv, and dist/gfsmith-VERSION-*.whl; docs/python.md
# make demo    split, damage and repair a real file with examples/stripe
# make wasm    the WebAssembly package: examples/wasm/dist; docs/wasm.md
# make bench   measure against ISA-L, klauspost and others; bench-quick: under a minute
# make bench-adaptive  measure adaptive prefetching on this machine's memory, into bench/adaptive/results.json; docs/memory.md
# make bench-compose  measure composed primitives and the stripe store over loopback, into bench/compose/results.json;
#              docs/compose.md
# make predict predicted cycles beside peers on CPUs that are not here, into docs/predicted.md
# make model-memory  model of memory that is not here: bench/memory, docs/memory.md
# make dist    build/gfsmith-VERSION.tar.xz and build/gfsmith-amalgamation-VERSION.tar.xz: sources that build without
#              gfsmith; DIST_FLAGS="-c other.toml --prefix acme" for others than the default set; docs/sources.md

SHELL := /bin/sh
.DEFAULT_GOAL := gen
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
GFSMITH := .venv/bin/gfsmith
WARNINGS := -Wall -Wextra -Wpedantic -Werror
include make/library.mk

.PHONY: gen lib adaptive python tune test check abi fuzz docs pictures mutate demo wasm bench bench-quick bench-adaptive bench-compose predict model-memory dist clean setup-gen setup-lib setup-compose setup-python setup-wasm setup-tune setup-test setup-bench setup-bench-compose

gen: setup-gen
	$(GFSMITH) gen

setup-gen setup-lib setup-compose setup-python setup-wasm setup-tune setup-test setup-bench setup-bench-compose: setup-%:
	@tools/setup.sh $*

# The library needs generated kernels: generate them if no one has.
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
lib: gen
	@$(MAKE) --no-print-directory lib
else
lib: setup-lib $(LIBRARIES)
endif

# The whole library with a coordinator, beside the default one.
adaptive: setup-gen setup-lib
	@$(GFSMITH) gen --adaptive -o build/adaptive/gen
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/adaptive GFSMITH_GENERATED=build/adaptive/gen lib

-include runtime/isal/isal.mk
-include runtime/compose/compose.mk

# The codec for Python, made anew if anything that goes into the wheel changed.
PYTHON_FILES := setup.py pyproject.toml tools/python.sh $(shell find generator/gfsmith templates runtime \
  cmake make meson bazel docs -name __pycache__ -prune -o -type f ! -name '*.so' -print)

python: setup-python
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@test -e generator/gfsmith/codec/_native.abi3.so && ls dist/gfsmith-*.whl >/dev/null 2>&1 || rm -f build/python/made
	@$(MAKE) --no-print-directory build/python/made

build/python/made: build/libgfsmith.a $(PYTHON_FILES)
	@CC='$(CC)' CFLAGS='$(HARDEN_RUNTIME)' LDFLAGS='$(HARDEN_LINK)' tools/python.sh $<
	@touch $@

tune: setup-tune
	@$(GFSMITH) tune $(TUNE_FLAGS) $(SPECS)

test: setup-test gen
	@$(MAKE) --no-print-directory -j$(JOBS) python
	.venv/bin/python -m pytest -n $(JOBS) $(PYTEST_FLAGS)

check: setup-test gen
	tools/check.sh

docs: setup-test
	@.venv/bin/python tools/reference.py $(BUILD)/docs
	@.venv/bin/python tools/manpages.py $(BUILD)/man
	@echo "built $(BUILD)/docs/html/index.html and $(BUILD)/man"

# README's pictures, from docs/performance.md and gen_out/PROOFS.json.
pictures: setup-test gen
	@.venv/bin/python -m tools.pictures

abi: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@tools/abi.sh record

SECONDS := 60
fuzz: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python tests/fuzz/run.py --seconds $(SECONDS)

mutate: setup-test
	.venv/bin/python tools/mutate.py

demo: setup-lib
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	$(MAKE) --no-print-directory -C examples/stripe
	examples/stripe/demo.sh $(BUILD)/stripe $(BUILD)/demo

wasm: setup-wasm
	@test -f gen_out/sources.mk || $(MAKE) --no-print-directory gen
	@$(MAKE) --no-print-directory -j$(JOBS) -C examples/wasm

# Results: bench/out/index.html, report.json, PNG. More: .venv/bin/python -m bench --help
bench: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m bench $(BENCH_FLAGS)

bench-quick: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	@.venv/bin/python -m bench --quick $(BENCH_FLAGS)

# Goes on where it was interrupted. BENCH_FLAGS: --quick, --cells '100+4/*', --fresh; see --help.
bench-adaptive: setup-bench
	@$(MAKE) --no-print-directory -j$(JOBS) adaptive
	@.venv/bin/python -m bench.adaptive $(BENCH_FLAGS)

# Goes on where it was interrupted. BENCH_FLAGS: --quick, --cells 'latency/ppr/*', --fresh; see --help.
bench-compose: setup-bench-compose
	@$(MAKE) --no-print-directory -j$(JOBS) lib compose
	@.venv/bin/python -m bench.compose $(BENCH_FLAGS)

predict: setup-bench
	@.venv/bin/python -m bench.predict

# A model, nothing measured: bench/memory/results.json, docs/pictures/memory-*.svg, docs/memory.md.
model-memory: setup-tune
	@.venv/bin/python -m bench.memory $(MODEL_FLAGS)

dist: setup-gen
	@$(GFSMITH) export $(DIST_FLAGS) --form tree -o $(BUILD)/gfsmith-$(VERSION).tar.xz
	@$(GFSMITH) export $(DIST_FLAGS) --form amalgamation -o $(BUILD)/gfsmith-amalgamation-$(VERSION).tar.xz

clean:
	rm -rf $(BUILD)
