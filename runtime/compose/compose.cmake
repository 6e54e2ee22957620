# libgfsmith-compose, as "make compose" builds it: docs/compose/guide.md. Included by CMakeLists.txt if GFSMITH_COMPOSE is on.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(compose_needs REQUIRED IMPORTED_TARGET libfabric libsodium libxxhash)
file(GLOB compose CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/src/*.c")
add_library(gfsmith_compose ${compose})
add_library(gfsmith::compose ALIAS gfsmith_compose)
target_include_directories(gfsmith_compose
  PUBLIC
    "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(gfsmith_compose PRIVATE c_std_11)
target_compile_definitions(gfsmith_compose PRIVATE _GNU_SOURCE)
target_link_libraries(gfsmith_compose PUBLIC gfsmith PRIVATE PkgConfig::compose_needs Threads::Threads)
set_target_properties(gfsmith_compose PROPERTIES C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  C_VISIBILITY_PRESET hidden OUTPUT_NAME gfsmith-compose EXPORT_NAME compose VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_options(gfsmith_compose PRIVATE "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:${link}>")
set_source_files_properties(${compose} PROPERTIES COMPILE_OPTIONS "${harden_runtime}")

# Installed with the core library, for find_package(gfsmith COMPONENTS compose) and pkg-config. docs/build.md
if(GFSMITH_INSTALL)
  install(TARGETS gfsmith_compose EXPORT gfsmith-compose)
  install(EXPORT gfsmith-compose FILE gfsmith-compose-targets.cmake NAMESPACE gfsmith:: DESTINATION "${package}")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/component.cmake" DESTINATION "${package}" RENAME gfsmith-compose.cmake)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/gfsmith-compose.pc.in" gfsmith-compose.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gfsmith-compose.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/include/gfsmith_compose.h" TYPE INCLUDE)
endif()
