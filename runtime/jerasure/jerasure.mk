# The drop-in for Jerasure: docs/migrate/jerasure.md. Included by the Makefile.
#
#   build/libJerasure.so.2   replaces Jerasure's; exports its names only (libJerasure.map)
JERASURE_SOURCES := $(wildcard runtime/jerasure/src/*.c)
JERASURE_HEADERS := $(wildcard runtime/jerasure/src/*.h runtime/jerasure/include/*.h runtime/jerasure/include/jerasure/*.h)
JERASURE_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(JERASURE_SOURCES))

.PHONY: jerasure
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
jerasure: gen
	@$(MAKE) --no-print-directory jerasure
else
jerasure: $(if $(wildcard tools/setup.sh),setup-lib) $(BUILD)/libJerasure.so.2
endif

# The version script hides all other symbols.
$(JERASURE_OBJECTS): INCLUDES += -Iruntime/jerasure/include -Iruntime/jerasure/src -fvisibility=default
$(JERASURE_OBJECTS): $(JERASURE_HEADERS)
$(BUILD)/obj/runtime/jerasure/src/planes.o: INCLUDES += -O3

$(BUILD)/libJerasure.so.2: $(JERASURE_OBJECTS) $(BUILD)/libgfsmith.a runtime/jerasure/libJerasure.map
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libJerasure.so.2 $(HARDEN_LINK) \
	  -Wl,--version-script=runtime/jerasure/libJerasure.map -o $@ $(JERASURE_OBJECTS) $(BUILD)/libgfsmith.a
	@echo "built $@"
	@$(call check_linked,$@)

# Compares with Debian's libJerasure, alternately: docs/migrate/jerasure.md
.PHONY: bench-jerasure
bench-jerasure: jerasure
	@mkdir -p $(BUILD)/bench
	@$(CC) -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror -o $(BUILD)/bench/jerasure bench/jerasure/dropin.c -ldl
	@$(BUILD)/bench/jerasure $(BUILD)/libJerasure.so.2 /usr/lib/x86_64-linux-gnu/libJerasure.so.2
