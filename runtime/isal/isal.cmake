# libisal.so.2, as built by "make isal": docs/isal.md. Included by CMakeLists.txt if GFSMITH_ISAL is on.
gfsmith_replacement(isal isal)
