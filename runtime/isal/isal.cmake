# libisal.so.2, a replacement of ISA-L's, as built by "make isal": docs/isal.md. Included by CMakeLists.txt if
# GFSMITH_ISAL is on; for systems with ELF and a linker that supports version scripts.
set(map "${CMAKE_CURRENT_LIST_DIR}/libisal.map")
file(GLOB shim CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/src/*.c")
add_library(gfsmith_isal SHARED ${shim} ${runtime} ${kernels})
target_include_directories(gfsmith_isal
  PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/include>"
  PRIVATE runtime/core/include runtime/core/src "${GFSMITH_GENERATED}")
target_compile_features(gfsmith_isal PRIVATE c_std_11)
target_compile_definitions(gfsmith_isal PRIVATE $<$<BOOL:${GFSMITH_SINGLE_ISA}>:GFSMITH_SINGLE_ISA=${GFSMITH_SINGLE_ISA}>)
target_link_options(gfsmith_isal PRIVATE "LINKER:--version-script=${map}" ${link})
set_source_files_properties(${shim} PROPERTIES COMPILE_OPTIONS "${harden_runtime}")
set_target_properties(gfsmith_isal PROPERTIES C_EXTENSIONS OFF OUTPUT_NAME isal VERSION 2 SOVERSION 2 LINK_DEPENDS "${map}")
gfsmith_check_linked(gfsmith_isal)
