# The component shards of an installed gfsmith: the target gfsmith::shards, which needs only the core. docs/build.md
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-shards-targets.cmake")
set(gfsmith_shards_FOUND TRUE)
