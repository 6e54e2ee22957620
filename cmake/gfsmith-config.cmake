# find_package(gfsmith): the target gfsmith::gfsmith where the library is installed, and the function
# gfsmith_generate, which makes a library of one's own. docs/build.md
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-targets.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-generate.cmake" OPTIONAL)
