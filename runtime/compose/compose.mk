# Coding and communication chained, over libfabric: docs/compose.md. Included by the Makefile.
#   build/libgfsmith-compose.a, build/libgfsmith-compose.so
# Both need the core library, libfabric, libsodium and libxxhash.
COMPOSE_SOURCES := $(wildcard runtime/compose/src/*.c)
COMPOSE_HEADERS := $(wildcard runtime/compose/src/*.h runtime/compose/include/*.h)
COMPOSE_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(COMPOSE_SOURCES))
COMPOSE_LIBS := -lfabric -lsodium -lxxhash -lpthread

.PHONY: compose
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
compose: gen
	@$(MAKE) --no-print-directory compose
else
compose: setup-compose $(BUILD)/libgfsmith-compose.a $(BUILD)/libgfsmith-compose.so
endif

# The core's public headers only.
$(COMPOSE_OBJECTS): INCLUDES := -Iruntime/include -Iruntime/compose/include -D_GNU_SOURCE
$(COMPOSE_OBJECTS): $(COMPOSE_HEADERS)

$(BUILD)/libgfsmith-compose.a: $(COMPOSE_OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^
	@echo "built $@"

$(BUILD)/libgfsmith-compose.so: $(COMPOSE_OBJECTS) $(BUILD)/libgfsmith.so
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libgfsmith-compose.so.$(SOVERSION) $(HARDEN_LINK) -o $@ \
	  $(COMPOSE_OBJECTS) -L$(BUILD) -lgfsmith $(COMPOSE_LIBS)
	@ln -sf libgfsmith-compose.so $@.$(SOVERSION)
	@echo "built $@"
