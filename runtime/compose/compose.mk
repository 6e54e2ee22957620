# Distributed erasure coding over libfabric: docs/compose/guide.md. Included by the Makefile.
#
#   build/libgfsmith-compose.a, build/libgfsmith-compose.so
#
# Both need the core library, libfabric, libsodium, libcrypto (OpenSSL) and libxxhash. "make install-compose" installs the
# libraries and the core, but not the packages of Debian: docs/build.md.
COMPOSE_SOURCES := $(wildcard runtime/compose/src/*.c)
COMPOSE_HEADERS := $(wildcard runtime/compose/src/*.h runtime/compose/include/*.h)
COMPOSE_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(COMPOSE_SOURCES))
COMPOSE_LIBS := -lfabric -lsodium -lcrypto -lxxhash -lpthread

.PHONY: compose
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
compose: gen
	@$(MAKE) --no-print-directory compose
else
compose: setup-compose $(BUILD)/libgfsmith-compose.a $(BUILD)/libgfsmith-compose.so
endif

# The objects use only the public headers of the core.
$(COMPOSE_OBJECTS): INCLUDES := -Iruntime/core/include -Iruntime/compose/include -D_GNU_SOURCE
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

# Installed with the core library, which "make install" installs alone, in the same folders.
COMPOSE_INSTALLED = $(DESTDIR)$(LIBDIR)/libgfsmith-compose

.PHONY: install-compose
install-compose: install compose
	$(INSTALL) -m 644 runtime/compose/include/gfsmith_compose.h '$(DESTDIR)$(INCLUDEDIR)'
	$(INSTALL) -m 644 $(BUILD)/libgfsmith-compose.a '$(COMPOSE_INSTALLED).a'
	$(INSTALL) -m 755 $(BUILD)/libgfsmith-compose.so '$(COMPOSE_INSTALLED).so.$(VERSION)'
	ln -sf libgfsmith-compose.so.$(VERSION) '$(COMPOSE_INSTALLED).so.$(SOVERSION)'
	ln -sf libgfsmith-compose.so.$(SOVERSION) '$(COMPOSE_INSTALLED).so'
	@$(call write_stated,runtime/compose/gfsmith-compose.pc.in,$(DESTDIR)$(LIBDIR)/pkgconfig/gfsmith-compose.pc)
