# find_package(gfsmith): the target gfsmith::gfsmith where the library is installed, and the function
# gfsmith_generate, which makes a library of one's own. docs/build.md
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-targets.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-generate.cmake" OPTIONAL)
# Each component is a file beside this one, which finds what it needs: compose, docs/compose.md.
foreach(component IN LISTS gfsmith_FIND_COMPONENTS)
  set(gfsmith_${component}_FOUND FALSE)
  include("${CMAKE_CURRENT_LIST_DIR}/gfsmith-${component}.cmake" OPTIONAL)
  if(gfsmith_FIND_REQUIRED_${component} AND NOT gfsmith_${component}_FOUND)
    set(gfsmith_FOUND FALSE)
    set(gfsmith_NOT_FOUND_MESSAGE "component ${component}: it is not installed here, or not all that it needs")
  endif()
endforeach()
