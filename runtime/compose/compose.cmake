# libgfsmith-compose, as "make compose" builds it: docs/compose/guide.md. Included by CMakeLists.txt if GFSMITH_COMPOSE is on.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(compose_needs REQUIRED IMPORTED_TARGET libfabric libsodium libcrypto libxxhash)
gfsmith_component(compose)
target_link_libraries(gfsmith_compose PRIVATE PkgConfig::compose_needs Threads::Threads)
