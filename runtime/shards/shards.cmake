# libgfsmith-shards, as "make shards" builds it: docs/shard-format.md. Included by CMakeLists.txt if GFSMITH_SHARDS is on.
find_path(GFSMITH_XXHASH_INCLUDE xxhash.h REQUIRED DOC "The folder of xxHash's header")
mark_as_advanced(GFSMITH_XXHASH_INCLUDE)
gfsmith_component(shards)
target_include_directories(gfsmith_shards PRIVATE "${GFSMITH_XXHASH_INCLUDE}")
target_compile_definitions(gfsmith_shards PRIVATE _FILE_OFFSET_BITS=64)
