# libgfsmith-shards, as "make shards" builds it: docs/shard-format.md. Included by CMakeLists.txt if GFSMITH_SHARDS is on.
find_path(GFSMITH_XXHASH_INCLUDE xxhash.h REQUIRED DOC "The folder of xxHash's header")
mark_as_advanced(GFSMITH_XXHASH_INCLUDE)
file(GLOB shards CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/src/*.c")
add_library(gfsmith_shards ${shards})
add_library(gfsmith::shards ALIAS gfsmith_shards)
target_include_directories(gfsmith_shards
  PUBLIC
    "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  PRIVATE "${GFSMITH_XXHASH_INCLUDE}")
target_compile_features(gfsmith_shards PRIVATE c_std_11)
target_compile_definitions(gfsmith_shards PRIVATE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_link_libraries(gfsmith_shards PUBLIC gfsmith)
set_target_properties(gfsmith_shards PROPERTIES C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  C_VISIBILITY_PRESET hidden OUTPUT_NAME gfsmith-shards EXPORT_NAME shards VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_options(gfsmith_shards PRIVATE "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:${link}>")
set_source_files_properties(${shards} PROPERTIES COMPILE_OPTIONS "${harden_runtime}")

# Installed with the core library, for find_package(gfsmith COMPONENTS shards) and pkg-config. docs/build.md
if(GFSMITH_INSTALL)
  install(TARGETS gfsmith_shards EXPORT gfsmith-shards)
  install(EXPORT gfsmith-shards FILE gfsmith-shards-targets.cmake NAMESPACE gfsmith:: DESTINATION "${package}")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/component.cmake" DESTINATION "${package}" RENAME gfsmith-shards.cmake)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/gfsmith-shards.pc.in" gfsmith-shards.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gfsmith-shards.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/include/gfsmith_shards.h" TYPE INCLUDE)
endif()
