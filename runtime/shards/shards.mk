# Shard streams and the file tool: docs/shard-format.md, apps/shards/README.md. Included by the Makefile.
#
#   build/libgfsmith-shards.a, build/libgfsmith-shards.so
#   build/gfsmith-shards            the tool, linked statically with both libraries
#   build/static/gfsmith-shards     the same with a static C library, for the wheel
#
# The sources include xxHash's header; there is no other requirement than the core library.
SHARDS_SOURCES := $(wildcard runtime/shards/src/*.c)
SHARDS_HEADERS := $(wildcard runtime/shards/src/*.h runtime/shards/include/*.h)
SHARDS_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(SHARDS_SOURCES))
SHARDS_TOOL_SOURCES := $(wildcard apps/shards/*.c)
SHARDS_TOOL_HEADERS := $(wildcard apps/shards/*.h)
SHARDS_TOOL_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(SHARDS_TOOL_SOURCES))

.PHONY: shards
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
shards: gen
	@$(MAKE) --no-print-directory shards
else
shards: setup-lib $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith-shards.so $(BUILD)/gfsmith-shards
endif

# The objects use only the public headers of the core.
$(SHARDS_OBJECTS) $(SHARDS_TOOL_OBJECTS): INCLUDES := -Iruntime/core/include -Iruntime/shards/include \
  -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wconversion
$(SHARDS_OBJECTS): $(SHARDS_HEADERS)
$(SHARDS_TOOL_OBJECTS): $(SHARDS_TOOL_HEADERS) runtime/shards/include/gfsmith_shards.h

$(BUILD)/libgfsmith-shards.a: $(SHARDS_OBJECTS)
	@rm -f $@
	@$(AR) rcs $@ $^
	@echo "built $@"

$(BUILD)/libgfsmith-shards.so: $(SHARDS_OBJECTS) $(BUILD)/libgfsmith.so
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,libgfsmith-shards.so.$(SOVERSION) $(HARDEN_LINK) -o $@ \
	  $(SHARDS_OBJECTS) -L$(BUILD) -lgfsmith
	@ln -sf libgfsmith-shards.so $@.$(SOVERSION)
	@echo "built $@"

$(BUILD)/gfsmith-shards: $(SHARDS_TOOL_OBJECTS) $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith.a
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,noexecstack,-z,relro,-z,now -o $@ $^ -lpthread
	@echo "built $@"

# The tool of the wheel, which must run with any C library.
$(BUILD)/static/gfsmith-shards: $(SHARDS_TOOL_OBJECTS) $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith.a
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(LDFLAGS) -static -s -Wl,-z,noexecstack,-z,relro,-z,now -o $@ $^ -lpthread
	@echo "built $@"

# Installed with the core library by "make install", in the same folders.
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
SHARDS_INSTALLED = $(DESTDIR)$(LIBDIR)/libgfsmith-shards

.PHONY: install-shards
install: install-shards
install-shards: shards
	$(INSTALL) -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1'
	$(INSTALL) -m 644 runtime/shards/include/gfsmith_shards.h '$(DESTDIR)$(INCLUDEDIR)'
	$(INSTALL) -m 644 $(BUILD)/libgfsmith-shards.a '$(SHARDS_INSTALLED).a'
	$(INSTALL) -m 755 $(BUILD)/libgfsmith-shards.so '$(SHARDS_INSTALLED).so.$(VERSION)'
	ln -sf libgfsmith-shards.so.$(VERSION) '$(SHARDS_INSTALLED).so.$(SOVERSION)'
	ln -sf libgfsmith-shards.so.$(SOVERSION) '$(SHARDS_INSTALLED).so'
	$(INSTALL) -m 755 $(BUILD)/gfsmith-shards '$(DESTDIR)$(BINDIR)'
	$(INSTALL) -m 644 apps/shards/gfsmith-shards.1 '$(DESTDIR)$(MANDIR)/man1'
	@$(STATED) runtime/shards/gfsmith-shards.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/gfsmith-shards.pc'
