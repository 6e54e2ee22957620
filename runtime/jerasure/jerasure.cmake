# libJerasure.so.2, a replacement of Jerasure's, as built by "make jerasure": docs/migrate/jerasure.md. Included by
# CMakeLists.txt if GFSMITH_JERASURE is on; for systems with ELF and a linker that supports version scripts.
set(map "${CMAKE_CURRENT_LIST_DIR}/libJerasure.map")
file(GLOB shim CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/src/*.c")
add_library(gfsmith_jerasure SHARED ${shim} ${runtime} ${kernels})
target_include_directories(gfsmith_jerasure
  PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/include>"
  PRIVATE runtime/core/include runtime/core/src "${GFSMITH_GENERATED}")
target_compile_features(gfsmith_jerasure PRIVATE c_std_11)
target_compile_definitions(gfsmith_jerasure PRIVATE $<$<BOOL:${GFSMITH_SINGLE_ISA}>:GFSMITH_SINGLE_ISA=${GFSMITH_SINGLE_ISA}>)
target_link_options(gfsmith_jerasure PRIVATE "LINKER:--version-script=${map}" ${link})
set_source_files_properties(${shim} PROPERTIES COMPILE_OPTIONS "${harden_runtime}")
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/src/planes.c" PROPERTIES COMPILE_OPTIONS "${harden_runtime};-O3")
set_target_properties(gfsmith_jerasure PROPERTIES
  C_EXTENSIONS OFF OUTPUT_NAME Jerasure VERSION 2 SOVERSION 2 LINK_DEPENDS "${map}")
gfsmith_check_linked(gfsmith_jerasure)
