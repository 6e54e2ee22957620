# The drop-in for ISA-L's erasure-code and RAID interface: docs/isal.md. Included by the Makefile.
#
#   build/libisal.so.2   replaces ISA-L's; exports its names only (libisal.map)
#   build/libisal_ec.a   the same as one object in which every other name is local, so that a program can
#                        also link libgfsmith.a or the rest of the original libisal
OBJCOPY ?= $(if $(CROSS),$(CROSS)-)objcopy
LD_R := $(CC) -r -nostdlib
ISAL_SOURCES := $(wildcard runtime/isal/src/*.c)
ISAL_HEADERS := $(wildcard runtime/isal/src/*.h runtime/isal/include/*.h runtime/isal/include/isa-l/*.h)
ISAL_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(ISAL_SOURCES))

.PHONY: isal
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
isal: gen
	@$(MAKE) --no-print-directory isal
else
isal: $(if $(wildcard tools/setup.sh),setup-lib) $(BUILD)/libisal.so.2 $(BUILD)/libisal_ec.a
endif

# The version script and objcopy hide all other symbols.
$(ISAL_OBJECTS): INCLUDES += -Iruntime/isal/include -Iruntime/isal/src -fvisibility=default
$(ISAL_OBJECTS): $(ISAL_HEADERS)

$(BUILD)/libisal.so.2: $(ISAL_OBJECTS) $(BUILD)/libgfsmith.a runtime/isal/libisal.map
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libisal.so.2 $(HARDEN_LINK) \
	  -Wl,--version-script=runtime/isal/libisal.map -o $@ $(ISAL_OBJECTS) $(BUILD)/libgfsmith.a
	@echo "built $@"
	@$(call check_linked,$@)

# The names of the version script, one pattern per line.
$(BUILD)/obj/runtime/isal/names: runtime/isal/libisal.map
	@mkdir -p $(@D)
	@sed -n '/global:/,/local:/{/:/d;s/;/\n/g;p;}' $< | tr -d ' ' | sed '/^$$/d' >$@

$(BUILD)/libisal_ec.a: $(ISAL_OBJECTS) $(BUILD)/libgfsmith.a $(BUILD)/obj/runtime/isal/names
	@rm -f $@
	@$(LD_R) -o $(BUILD)/obj/isal_ec.o $(ISAL_OBJECTS) $(BUILD)/libgfsmith.a
	@$(OBJCOPY) --wildcard --keep-global-symbols=$(BUILD)/obj/runtime/isal/names $(BUILD)/obj/isal_ec.o
	@$(AR) rcs $@ $(BUILD)/obj/isal_ec.o
	@echo "built $@"
	@$(call check_linked,$@)

# Compares with Debian's libisal and with our codec, alternately; ISAL_PEERS: further libraries. docs/isal.md
.PHONY: bench-isal
bench-isal: isal lib
	@mkdir -p $(BUILD)/bench
	@$(CC) -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror -Iruntime/core/include -o $(BUILD)/bench/dropin bench/isal/dropin.c \
	  $(BUILD)/libgfsmith.a -ldl
	@$(BUILD)/bench/dropin $(BUILD)/libisal.so.2 codec:$(BUILD)/libgfsmith.so /usr/lib/x86_64-linux-gnu/libisal.so.2 \
	  $(ISAL_PEERS)
