# The library of shard streams: docs/shard-format.md. Included by the Makefiles of a checkout and of an exported tree.
#
#   build/libgfsmith-shards.a, build/libgfsmith-shards.so
#
# The sources include xxHash's header; there is no other requirement than the core library. "make install-shards"
# installs the libraries and their header, in the folders of the core library.
SHARDS_SOURCES := $(wildcard runtime/shards/src/*.c)
SHARDS_HEADERS := $(wildcard runtime/shards/src/*.h runtime/shards/include/*.h)
SHARDS_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(SHARDS_SOURCES))
SHARDS_INCLUDES := -Iruntime/core/include -Iruntime/shards/include -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wconversion

.PHONY: shards install-shards
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
shards: gen
	@$(MAKE) --no-print-directory shards
else
shards: $(if $(wildcard tools/setup.sh),setup-lib) $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith-shards.so
endif

# The objects use only the public headers of the core.
$(SHARDS_OBJECTS): INCLUDES := $(SHARDS_INCLUDES)
$(SHARDS_OBJECTS): $(SHARDS_HEADERS)

$(BUILD)/libgfsmith-shards.a: $(SHARDS_OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^
	@echo "built $@"

$(BUILD)/libgfsmith-shards.so: $(SHARDS_OBJECTS) $(BUILD)/libgfsmith.so
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libgfsmith-shards.so.$(SOVERSION) $(HARDEN_LINK) -o $@ \
	  $(SHARDS_OBJECTS) -L$(BUILD) -lgfsmith
	@ln -sf libgfsmith-shards.so $@.$(SOVERSION)
	@echo "built $@"

SHARDS_INSTALLED = $(DESTDIR)$(LIBDIR)/libgfsmith-shards
install-shards: writable shards
	$(INSTALL) -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig'
	$(INSTALL) -m 644 runtime/shards/include/gfsmith_shards.h '$(DESTDIR)$(INCLUDEDIR)'
	$(INSTALL) -m 644 $(BUILD)/libgfsmith-shards.a '$(SHARDS_INSTALLED).a'
	$(INSTALL) -m 755 $(BUILD)/libgfsmith-shards.so '$(SHARDS_INSTALLED).so.$(VERSION)'
	ln -sf libgfsmith-shards.so.$(VERSION) '$(SHARDS_INSTALLED).so.$(SOVERSION)'
	ln -sf libgfsmith-shards.so.$(SOVERSION) '$(SHARDS_INSTALLED).so'
	@$(call write_stated,runtime/shards/gfsmith-shards.pc.in,$(DESTDIR)$(LIBDIR)/pkgconfig/gfsmith-shards.pc)
