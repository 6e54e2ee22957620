# find_package(gfsmith): the target gfsmith::gfsmith if the library is installed, and the function gfsmith_generate,
# which generates further libraries. docs/build.md
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/gfsmith-targets.cmake")
  include(CMakeFindDependencyMacro)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_dependency(Threads)
  include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-targets.cmake")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-generate.cmake" OPTIONAL)
# Each component is a file in this folder, which finds its requirements: compose (docs/compose/guide.md),
# shards (docs/shard-format.md).
foreach(component IN LISTS gfsmith_FIND_COMPONENTS)
  set(gfsmith_${component}_FOUND FALSE)
  include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-${component}.cmake" OPTIONAL)
  if(gfsmith_FIND_REQUIRED_${component} AND NOT gfsmith_${component}_FOUND)
    set(gfsmith_FOUND FALSE)
    set(gfsmith_NOT_FOUND_MESSAGE "component ${component}: it or one of its requirements is not installed")
  endif()
endforeach()
