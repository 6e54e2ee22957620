# make              the library, static and shared, in build/
# make install      headers, libraries and a file for pkg-config below PREFIX (/usr/local), or below DESTDIR/PREFIX
# make check-linked compare the kernels in the libraries with MANIFEST.json again, as each build does
# make CROSS=aarch64-linux-gnu, make ISA=avx2: for another machine, for one instruction set
# Only in a tree with gfsmith's own prefix:
# make isal         build/libisal.so.2 and build/libisal_ec.a, which replace ISA-L's
# make jerasure     build/libJerasure.so.2, which replaces Jerasure's
# make shards       build/libgfsmith-shards.a and .so: files as shards; needs xxHash's header; make install-shards

SHELL := /bin/sh
.DEFAULT_GOAL := lib
include packaging/make/library.mk
-include runtime/isal/isal.mk
-include runtime/jerasure/jerasure.mk
-include runtime/shards/shards.mk

.PHONY: lib clean

lib: $(LIBRARIES)

clean:
	rm -rf $(BUILD)
