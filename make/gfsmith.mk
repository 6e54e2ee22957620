# Libraries that are generated and proved when they are built, for GNU make:
#
#     include $(shell gfsmith where make)
#     $(eval $(call gfsmith_generate,NAME,FLAGS))
#
# gives $(GFSMITH_BUILD)/NAME/libNAME.a and NAME.h beside it, and NAME_CFLAGS and NAME_LIBS for programs:
#
#     program: main.o $(NAME_LIBS)
#     main.o: CFLAGS += $(NAME_CFLAGS)
#     main.o: $(NAME_LIBS)
#
# NAME begins every name: NAME_encode, NAME.h; gfsmith is gfsmith itself. Libraries of different names link into one
# program. FLAGS are those of `gfsmith export`, such as --code cauchy --k 10 --m 4 --isa avx2. It is generated again
# when FLAGS, the configuration or the generator change.
GFSMITH ?= gfsmith
GFSMITH_BUILD ?= build/gfsmith

# 1: name, 2: flags, 3: folder, 4: prefix of symbols. What did not change keeps its time, so it is touched.
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

$(3).flags: gfsmith-always
	@mkdir -p $$(@D)
	@echo '$$(GFSMITH) $(2)' | cmp -s - $$@ || echo '$$(GFSMITH) $(2)' >$$@

-include $(3).d
endef

gfsmith_generate = $(call gfsmith_rules,$(strip $(1)),$(strip $(2)),$(GFSMITH_BUILD)/$(strip \
  $(1)),$(patsubst gfsmith,gfs,$(strip $(1))))

.PHONY: gfsmith-always
