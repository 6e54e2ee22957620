# make gen     set up what is missing, generate and prove the default set into gen_out/
# make lib     build/libgfsmith.a and build/libgfsmith.so; docs/cross.md:
#              make CROSS=aarch64-linux-gnu lib   for another machine, into build/aarch64-linux-gnu/
#              make ISA=avx2 lib                  one instruction set, no dispatch, into build/avx2/
# make tune    find this machine's fastest variants: make tune SPECS="cauchy:10x4 dot:nx4"; docs/tuning.md
# make test    all tests
# make docs    C reference and man pages: build/docs/html, build/man
# make check   format, lint, types, reproducibility of gen_out/
# make mutate  mutation campaign against the machine-code proof
# make demo    split, damage and repair a real file with examples/stripe
# make wasm    the WebAssembly package: examples/wasm/dist; docs/wasm.md
# make bench   measure against ISA-L, klauspost and others; bench-quick: under a minute
# make predict predicted cycles beside peers on CPUs that are not here, into docs/predicted.md
# make dist    build/gfsmith-VERSION.tar.xz and build/gfsmith-amalgamation-VERSION.tar.xz: sources that build without
#              gfsmith; DIST_FLAGS="-c other.toml --prefix acme" for others than the default set; docs/sources.md

SHELL := /bin/sh
CROSS :=
ISA :=
BUILD := build$(if $(CROSS),/$(CROSS))$(if $(ISA),/$(ISA))
ifneq ($(CROSS),)
ifeq ($(origin CC),default)
CC := $(CROSS)-gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS)-ar
endif
endif
CFLAGS ?= -O2 -g
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
GFSMITH := .venv/bin/gfsmith
GFSMITH_GENERATED := gen_out

# The version of the binary interface: docs/hardening.md.
SOVERSION := 0
REQUIRED_CFLAGS := -std=c11 -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror
INCLUDES := -Iruntime/include -Iruntime/src -I$(GFSMITH_GENERATED)

-include $(GFSMITH_GENERATED)/sources.mk

# What the compiler compiles for, as triple and in the generator's words.
TRIPLE := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(CROSS),)
ifeq ($(TRIPLE),)
$(error CROSS=$(CROSS): there is no compiler $(CC); install it, or name one: CC="clang --target=$(CROSS)")
endif
endif
ARCH_OF_x86_64 := x86_64
ARCH_OF_amd64 := x86_64
ARCH_OF_aarch64 := aarch64
ARCH_OF_arm64 := aarch64
ARCH_OF_powerpc64le := power
ARCH_OF_riscv64 := riscv
ARCH_OF_s390x := s390x
ARCH_OF_loongarch64 := loongarch
ARCH_OF_wasm32 := wasm
ARCH := $(ARCH_OF_$(firstword $(subst -, ,$(TRIPLE))))

# The instruction sets for it; all of them for what is not in the table, and where the compiler is still to be
# installed: sources of other machines compile to nothing.
ISAS := $(strip $(if $(ARCH),$(foreach isa,$(GFSMITH_ISAS),$(if $(filter \
  portable $(ARCH),$(GFSMITH_ARCH_$(isa))),$(isa))),$(GFSMITH_ISAS)))
RUNTIME_SOURCES := $(wildcard runtime/src/*.c)
ifneq ($(ISA),)
ifeq ($(filter $(ISA),$(ISAS)),)
$(if $(ISAS),$(error ISA=$(ISA): allowed for $(TRIPLE): $(ISAS)))
endif
ISAS := $(ISA)
RUNTIME_SOURCES := $(filter-out runtime/src/cpu_%,$(RUNTIME_SOURCES))
REQUIRED_CFLAGS += -DGFSMITH_SINGLE_ISA=$(ISA)
endif
GFSMITH_GENERATED_SOURCES := $(foreach isa,$(ISAS),$(GFSMITH_SOURCES_$(isa)))
SOURCES := $(GFSMITH_GENERATED_SOURCES) $(RUNTIME_SOURCES)

# Hardening, as far as the compiler knows it: docs/hardening.md. The kernels do without what would only stand in
# the way of their proofs: they call nothing, and what they have on the stack is of a fixed size.
ifneq ($(findstring linux,$(TRIPLE)),)
accepted = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) -Werror $(1) \
  -include string.h -x c -S -o /dev/null - 2>/dev/null && echo yes),$(1))
HARDEN_RUNTIME := $(or $(call accepted,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),$(call \
  accepted,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)) $(call accepted,-fstack-protector-strong) \
  $(call accepted,-fstack-clash-protection)
HARDEN_KERNELS := $(call accepted,-fno-stack-protector)
ifeq ($(ARCH),x86_64)
HARDEN_RUNTIME += $(call accepted,-fcf-protection)
HARDEN_KERNELS += $(call accepted,-fcf-protection)
else ifeq ($(ARCH),aarch64)
HARDEN_RUNTIME += $(call accepted,-mbranch-protection=standard)
HARDEN_KERNELS += $(call accepted,-mbranch-protection=bti)
endif
HARDEN_LINK := -Wl,-z,noexecstack,-z,relro,-z,now
ifneq ($(findstring -fcf-protection,$(HARDEN_RUNTIME)),)
# The C library's crti.o may be without endbr64; there are no constructors that it would run.
HARDEN_LINK += -nostartfiles
endif
endif

OBJECTS := $(patsubst %,$(BUILD)/obj/%.o,$(basename $(SOURCES)))
HEADERS := $(wildcard runtime/include/*.h runtime/src/*.h $(GFSMITH_GENERATED)/*.h $(GFSMITH_GENERATED)/*.inc)

.PHONY: gen lib tune test check docs pictures mutate demo wasm bench bench-quick predict dist clean setup-gen setup-lib setup-wasm setup-tune setup-test setup-bench ALWAYS
.DELETE_ON_ERROR:

gen: setup-gen
	$(GFSMITH) gen

setup-gen setup-lib setup-wasm setup-tune setup-test setup-bench: setup-%:
	@tools/setup.sh $*

# The library needs generated kernels: generate them if no one has.
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
lib: gen
	@$(MAKE) --no-print-directory lib
else
lib: setup-lib $(BUILD)/libgfsmith.a $(if $(findstring mingw,$(TRIPLE)),,$(BUILD)/libgfsmith.so)
endif

$(BUILD)/obj/%.o: %.c $(HEADERS) $(BUILD)/obj/flags
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(REQUIRED_CFLAGS) $(if $(filter $(GFSMITH_GENERATED)/%,$<),$(HARDEN_KERNELS),$(HARDEN_RUNTIME)) \
	  $(INCLUDES) -c $< -o $@

# What C is compiled with: newer than the objects if that has changed.
$(BUILD)/obj/flags: ALWAYS
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(REQUIRED_CFLAGS) / $(HARDEN_RUNTIME) / $(HARDEN_KERNELS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/obj/%.o: %.S $(GFSMITH_GENERATED)/gfsmith_asm.h
	@mkdir -p $(@D)
	@$(CC) $(INCLUDES) -c $< -o $@

$(BUILD)/libgfsmith.a: $(OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^
	@echo "built $@"

# Programs that are linked with it ask for libgfsmith.so.$(SOVERSION).
$(BUILD)/libgfsmith.so: $(OBJECTS)
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libgfsmith.so.$(SOVERSION) $(HARDEN_LINK) -o $@ $^
	@ln -sf libgfsmith.so $@.$(SOVERSION)
	@echo "built $@"

tune: setup-tune
	@$(GFSMITH) tune $(TUNE_FLAGS) $(SPECS)

test: setup-test gen
	@$(MAKE) --no-print-directory -j$(JOBS) lib
	.venv/bin/python -m pytest -n $(JOBS) $(PYTEST_FLAGS)

check: setup-test gen
	tools/check.sh

docs: setup-test
	@.venv/bin/python tools/reference.py $(BUILD)/docs
	@.venv/bin/python tools/manpages.py $(BUILD)/man
	@echo "built $(BUILD)/docs/html/index.html and $(BUILD)/man"

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

predict: setup-bench
	@.venv/bin/python -m bench.predict

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' generator/gfsmith/__init__.py)

dist: setup-gen
	@$(GFSMITH) export $(DIST_FLAGS) --form tree -o $(BUILD)/gfsmith-$(VERSION).tar.xz
	@$(GFSMITH) export $(DIST_FLAGS) --form amalgamation -o $(BUILD)/gfsmith-amalgamation-$(VERSION).tar.xz

clean:
	rm -rf $(BUILD)
