# libgfsmith.a and libgfsmith.so from runtime/ and the kernels in GFSMITH_GENERATED, and their installation: the common
# part of the Makefiles of a checkout and of an exported tree, which set WARNINGS.

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
GFSMITH_GENERATED := gen_out
# Names of targets are divided at blanks.
$(foreach each,BUILD GFSMITH_GENERATED,$(if $(filter 1,$(words $($(each)))),,\
  $(error $(each)=$($(each)): must be a folder without blanks)))

# The library, and the version of its binary interface: docs/hardening.md.
NAME := gfsmith
VERSION := $(shell sed -n 's/^project.gfsmith VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOVERSION := 0
REQUIRED_CFLAGS := -std=c11 -fPIC -fvisibility=hidden $(WARNINGS)
INCLUDES := -Iruntime/core/include -Iruntime/core/src -I$(GFSMITH_GENERATED)

-include $(GFSMITH_GENERATED)/sources.mk

# The target of the compiler, as a triple and by the generator's name.
TRIPLE := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq ($(CROSS),)
ifeq ($(TRIPLE),)
$(error CROSS=$(CROSS): the compiler $(CC) is missing; install it, or name another: CC="clang --target=$(CROSS)")
endif
endif
# begin facts: processors in Make
ARCH_OF_x86_64 := x86_64
ARCH_OF_amd64 := x86_64
ARCH_OF_aarch64 := aarch64
ARCH_OF_arm64 := aarch64
ARCH_OF_powerpc64le := power
ARCH_OF_ppc64le := power
ARCH_OF_powerpc64 := power
ARCH_OF_ppc64 := power
ARCH_OF_riscv64 := riscv
ARCH_OF_s390x := s390x
ARCH_OF_loongarch64 := loongarch
ARCH_OF_wasm32 := wasm
ARCH_OF_wasm64 := wasm
# end facts
ARCH := $(ARCH_OF_$(firstword $(subst -, ,$(TRIPLE))))

# The instruction sets of the target. All sets if the target is not in the table or the compiler is not installed yet:
# sources of other machines compile to nothing.
ISAS := $(strip $(if $(ARCH),$(foreach isa,$(GFSMITH_ISAS),$(if $(filter \
  portable $(ARCH),$(GFSMITH_ARCH_$(isa))),$(isa))),$(GFSMITH_ISAS)))
RUNTIME_SOURCES := $(wildcard runtime/core/src/*.c)
ifneq ($(ISA),)
ifeq ($(filter $(ISA),$(ISAS)),)
$(if $(ISAS),$(error ISA=$(ISA): allowed for $(TRIPLE): $(ISAS)))
endif
ISAS := $(ISA)
RUNTIME_SOURCES := $(filter-out runtime/core/src/cpu_%,$(RUNTIME_SOURCES))
REQUIRED_CFLAGS += -D GFSMITH_SINGLE_ISA=$(ISA)
endif
# The coordinator, if the build has kernels for it: docs/adaptive.md.
PUBLIC_HEADERS := $(wildcard runtime/core/include/*.h)
ifneq ($(GFSMITH_ADAPTIVE),)
RUNTIME_SOURCES += $(wildcard runtime/adaptive/src/*.c)
REQUIRED_CFLAGS += -D GFSMITH_WITH_ADAPTIVE
INCLUDES += -Iruntime/adaptive/include -Iruntime/adaptive/src
PUBLIC_HEADERS += $(wildcard runtime/adaptive/include/*.h)
endif
GFSMITH_GENERATED_SOURCES := $(foreach isa,$(ISAS),$(GFSMITH_SOURCES_$(isa)))
SOURCES := $(GFSMITH_GENERATED_SOURCES) $(RUNTIME_SOURCES)

# Hardening flags that the compiler accepts: docs/hardening.md. The kernels omit flags that would only complicate their
# proofs: they call no functions, and their stack frames have fixed sizes.
ifneq ($(findstring linux,$(TRIPLE)),)
accepted = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) -Werror $(1) \
  -include string.h -x c -S -o /dev/null - 2>/dev/null && echo yes),$(1))
HARDEN_RUNTIME := $(or $(call accepted,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),$(call \
  accepted,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)) $(call accepted,-fstack-protector-strong) \
  $(call accepted,-fstack-clash-protection)
HARDEN_KERNELS := $(call accepted,-fno-stack-protector)
ifeq ($(ARCH),riscv)
# The linker of binutils 2.40 for RISC-V ends with a memory fault on clang's DWARF 5. The flag has no effect without -g.
REQUIRED_CFLAGS += $(call accepted,-fdebug-default-version=4)
endif
ifeq ($(ARCH),x86_64)
HARDEN_RUNTIME += $(call accepted,-fcf-protection)
HARDEN_KERNELS += $(call accepted,-fcf-protection)
else ifeq ($(ARCH),aarch64)
HARDEN_RUNTIME += $(call accepted,-mbranch-protection=standard)
HARDEN_KERNELS += $(call accepted,-mbranch-protection=bti)
endif
HARDEN_LINK := -Wl,-z,noexecstack,-z,relro,-z,now
ifneq ($(findstring -fcf-protection,$(HARDEN_RUNTIME)),)
# The C library's crti.o may lack endbr64; the library has no constructors, so it does not need crti.o.
HARDEN_LINK += -nostartfiles
endif
endif

# Compares the kernels in a built file with the digests of the proved machine code: docs/build.md. Folder of the
# manifest: that of the kernels in a checkout, the top one in an exported tree.
PYTHON3 := $(firstword $(wildcard .venv/bin/python) $(shell command -v python3))
MANIFEST = $(firstword $(wildcard $(GFSMITH_GENERATED)/MANIFEST.json $(GFSMITH_GENERATED)/../MANIFEST.json) MANIFEST.json)
ifneq ($(PYTHON3),)
check_linked = $(PYTHON3) packaging/check_linked.py $(if $(ISA),--isa $(ISA)) $(MANIFEST) $(1)
else
check_linked = echo "$(1): not compared with $(MANIFEST): python3 is missing"
endif

OBJECTS := $(patsubst %,$(BUILD)/obj/%.o,$(basename $(SOURCES)))
HEADERS := $(wildcard $(foreach part,core adaptive,runtime/$(part)/include/*.h runtime/$(part)/src/*.h) \
  $(GFSMITH_GENERATED)/*.h $(GFSMITH_GENERATED)/*.inc)

LIBRARIES := $(BUILD)/lib$(NAME).a $(if $(findstring mingw,$(TRIPLE)),,$(BUILD)/lib$(NAME).so)

.PHONY: install check-linked ALWAYS
.DELETE_ON_ERROR:

$(BUILD)/obj/%.o: %.c $(HEADERS) $(BUILD)/obj/flags
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(REQUIRED_CFLAGS) $(if $(filter $(GFSMITH_GENERATED)/%,$<),$(HARDEN_KERNELS),$(HARDEN_RUNTIME)) \
	  $(INCLUDES) -MMD -MP -c $< -o $@

# The flags for C: the file is newer than the objects if they have changed.
$(BUILD)/obj/flags: ALWAYS
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(REQUIRED_CFLAGS) / $(HARDEN_RUNTIME) / $(HARDEN_KERNELS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/obj/%.o: %.S
	@mkdir -p $(@D)
	@$(CC) $(INCLUDES) -MMD -MP -c $< -o $@
-include $(wildcard $(OBJECTS:.o=.d))

$(BUILD)/lib$(NAME).a: $(OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^
	@echo "built $@"
	@$(call check_linked,$@)

# Programs that are linked with it load lib$(NAME).so.$(SOVERSION).
$(BUILD)/lib$(NAME).so: $(OBJECTS)
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,lib$(NAME).so.$(SOVERSION) $(HARDEN_LINK) -o $@ $^ -pthread
	@ln -sf lib$(NAME).so $@.$(SOVERSION)
	@echo "built $@"
	@$(call check_linked,$@)

# Compares existing libraries again.
check-linked: lib
	@$(call check_linked,$(LIBRARIES))

# PREFIX appears in programs and in the pkg-config file; DESTDIR is a staging folder that replaces / during
# installation.
PREFIX ?= /usr/local
# Programs read the pkg-config file in other folders.
ifneq ($(filter-out /%,$(firstword $(PREFIX) /)),)
$(error PREFIX=$(PREFIX): must be an absolute path, such as $(CURDIR)/$(PREFIX))
endif
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
# Characters that have a meaning in the shell, in sed or in the pkg-config file.
hash := \#
special := ' " ` | \ $(hash)
spoilt = $(strip $(foreach each,$(special),$(if $(findstring $(each),$(1)),$(each))))
$(foreach each,PREFIX LIBDIR INCLUDEDIR DESTDIR,$(if $(call spoilt,$($(each))),\
  $(error $(each)=$($(each)): must not contain $(call spoilt,$($(each))); allowed: a path without $(special))))
INSTALL ?= install
# Fills in these paths in a pkg-config file, whose flags are divided at blanks without a backslash. `stated` is such a path in
# a replacement by sed, below the prefix in the file if it is below PREFIX; a path with blanks is one word only without them.
empty :=
blank := $(empty) $(empty)
joined = $(subst $(blank),<blank>,$(1))
stated = $(subst <blank>,\\$(blank),$(subst &,\&,$(patsubst $(call joined,$(PREFIX))/%,$${prefix}/%,$(call joined,$(1)))))
STATED = sed -e 's|@NAME@|$(NAME)|; s|@VERSION@|$(VERSION)|' -e 's|@PREFIX@|$(call stated,$(PREFIX))|' \
  -e 's|@LIBDIR@|$(call stated,$(LIBDIR))|' -e 's|@INCLUDEDIR@|$(call stated,$(INCLUDEDIR))|'
# Writes a pkg-config file that all users can read, with any umask. 1: template, 2: file.
write_stated = $(STATED) $(1) >'$(2)' && chmod 644 '$(2)'

# Refuses folders that cannot be written before anything is built; the nearest folder that exists decides.
.PHONY: writable
writable:
	@for folder in '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(INCLUDEDIR)'; do \
	  there=$$folder; until test -e "$$there"; do there=$$(dirname "$$there"); done; \
	  test -d "$$there" && test -w "$$there" || { \
	    echo "make install: $$folder cannot be written; install as root, or below a folder of yours:" \
	      "PREFIX=$$HOME/.local" >&2; exit 1; }; done

install: writable lib
	$(INSTALL) -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig'
	$(INSTALL) -m 644 $(PUBLIC_HEADERS) '$(DESTDIR)$(INCLUDEDIR)'
	$(INSTALL) -m 644 $(BUILD)/lib$(NAME).a '$(DESTDIR)$(LIBDIR)'
ifneq ($(filter %.so,$(LIBRARIES)),)
	$(INSTALL) -m 755 $(BUILD)/lib$(NAME).so '$(DESTDIR)$(LIBDIR)/lib$(NAME).so.$(VERSION)'
	ln -sf lib$(NAME).so.$(VERSION) '$(DESTDIR)$(LIBDIR)/lib$(NAME).so.$(SOVERSION)'
	ln -sf lib$(NAME).so.$(SOVERSION) '$(DESTDIR)$(LIBDIR)/lib$(NAME).so'
endif
	@$(call write_stated,packaging/make/$(NAME).pc.in,$(DESTDIR)$(LIBDIR)/pkgconfig/$(NAME).pc)
