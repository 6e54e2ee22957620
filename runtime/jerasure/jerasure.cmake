# libJerasure.so.2, as built by "make jerasure": docs/migrate/jerasure.md. Included by CMakeLists.txt if GFSMITH_JERASURE is
# on.
gfsmith_replacement(jerasure Jerasure)
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/src/planes.c" PROPERTIES COMPILE_OPTIONS "${harden_runtime};-O3")
