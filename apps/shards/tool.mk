# The file tool: apps/shards/README.md. Included by the Makefile after runtime/shards/shards.mk, which it extends.
#
#   build/gfsmith-shards            linked statically with both libraries
#   build/static/gfsmith-shards     the same with a static C library, for the wheel
SHARDS_TOOL_SOURCES := $(wildcard apps/shards/*.c)
SHARDS_TOOL_HEADERS := $(wildcard apps/common/*.h apps/shards/*.h)
SHARDS_TOOL_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(SHARDS_TOOL_SOURCES))

ifneq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
shards: $(BUILD)/gfsmith-shards
endif

$(SHARDS_TOOL_OBJECTS): INCLUDES := $(SHARDS_INCLUDES)
$(SHARDS_TOOL_OBJECTS): $(SHARDS_TOOL_HEADERS) runtime/shards/include/gfsmith_shards.h

# Nettle, which has the MD5 of PAR2, is optional: without it, the commands of par2 refuse to run.
nettle = $(shell echo 'int main(void) { struct md5_ctx c; md5_init(&c); }' | \
  $(CC) -include nettle/md5.h -x c - -o /dev/null -lnettle 2>/dev/null && echo yes)
MD5_OBJECT := $(BUILD)/obj/apps/shards/md5.o
$(MD5_OBJECT): INCLUDES += $(if $(nettle),-DGFSMITH_NETTLE)

$(BUILD)/gfsmith-shards: $(SHARDS_TOOL_OBJECTS) $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith.a
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,noexecstack,-z,relro,-z,now -o $@ $^ $(if $(nettle),-lnettle) -lpthread
	@echo "built $@"

# The tool of the wheel, which must run with any C library.
STATIC_MD5 := $(BUILD)/static/obj/md5.o
$(STATIC_MD5): apps/shards/md5.c apps/shards/md5.h
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(REQUIRED_CFLAGS) $(HARDEN_RUNTIME) $(SHARDS_INCLUDES) -c $< -o $@

$(BUILD)/static/gfsmith-shards: $(filter-out $(MD5_OBJECT),$(SHARDS_TOOL_OBJECTS)) $(STATIC_MD5) $(BUILD)/libgfsmith-shards.a $(BUILD)/libgfsmith.a
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(LDFLAGS) -static -s -Wl,-z,noexecstack,-z,relro,-z,now -o $@ $^ -lpthread
	@echo "built $@"

# Installed with the core library by "make install", in the same folders.
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man

.PHONY: install-shards-tool
install: install-shards
install-shards: install-shards-tool
install-shards-tool: shards
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1'
	$(INSTALL) -m 755 $(BUILD)/gfsmith-shards '$(DESTDIR)$(BINDIR)'
	$(INSTALL) -m 644 apps/shards/gfsmith-shards.1 '$(DESTDIR)$(MANDIR)/man1'
