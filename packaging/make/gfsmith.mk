# Libraries that gfsmith generates and proves during the build, for GNU make:
#
#     include $(shell gfsmith where make)
#     $(eval $(call gfsmith_generate,NAME,FLAGS))
#
# defines $(GFSMITH_BUILD)/NAME/libNAME.a with NAME.h next to it, and NAME_CFLAGS and NAME_LIBS for programs:
#
#     program: main.o $(NAME_LIBS)
#     main.o: CFLAGS += $(NAME_CFLAGS)
#     main.o: $(NAME_LIBS)
#
# All symbols begin with NAME: NAME_encode, NAME.h; "gfsmith" gives the default names. Libraries of different names link
# into one program. FLAGS are those of `gfsmith export`, for example --code cauchy --k 10 --m 4 --isa avx2. The library
# is generated again when FLAGS, the configuration or the generator change.
GFSMITH ?= gfsmith
GFSMITH_BUILD ?= build/gfsmith
# Compares each library with the digests of the proved machine code; one that differs is removed.
GFSMITH_PYTHON ?= python3

# 1: name, 2: flags, 3: folder, 4: prefix of symbols. gfsmith does not rewrite unchanged files, so they are touched.
define gfsmith_rules
$(1)_CFLAGS := -I$(3)
$(1)_LIBS := $(3)/lib$(1).a

$(3)/$(1).c: $(3).flags
	$$(GFSMITH) export $(2) --prefix $(4) -o $(3) --depfile $(3).d
	@touch $(3)/$(1).c $(3)/$(1).h

$(3)/$(1).h: $(3)/$(1).c

$(3)/$(1).o: $(3)/$(1).c
	$$(CC) -std=c11 -fPIC -fvisibility=hidden $$(CPPFLAGS) $$(CFLAGS) -c $$< -o $$@

$(3)/lib$(1).a: $(3)/$(1).o
	rm -f $$@
	$$(AR) rcs $$@ $$<
	$$(GFSMITH_PYTHON) $(3)/check_linked.py $(3)/MANIFEST.json $$@ || { rm -f $$@; exit 1; }

$(3).flags: gfsmith-always
	@mkdir -p $$(@D)
	@echo '$$(GFSMITH) $(2)' | cmp -s - $$@ || echo '$$(GFSMITH) $(2)' >$$@

-include $(3).d
endef

gfsmith_generate = $(call gfsmith_rules,$(strip $(1)),$(strip $(2)),$(GFSMITH_BUILD)/$(strip \
  $(1)),$(patsubst gfsmith,gfs,$(strip $(1))))

.PHONY: gfsmith-always
