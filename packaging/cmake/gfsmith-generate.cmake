# gfsmith_generate(TARGET name [CODE name K n M n [L n R n]] [CONFIG file] [ISA name...] [PREFIX name] [ADAPTIVE]):
#
# A static library `name` that is generated and proved during the build: the runtime, kernels with the known matrix of
# CODE for K data shards and M parities (L and R: groups and global parities of lrc), and a small set of kernels for any
# matrix, or those of the configuration CONFIG. ISA: only these instruction sets. PREFIX: the header is PREFIX.h
# instead of gfsmith.h, and its functions are PREFIX_encode and so on; it replaces the prefix in CONFIG. Libraries with
# different prefixes link into one program. ADAPTIVE: with the coordinator and its kernels (docs/adaptive.md). The
# library is generated again when CONFIG or the generator changes.
#
# The configuration step of CMake does not run gfsmith. GFSMITH_EXECUTABLE is the path of the program if it is not
# found. GFSMITH_CACHE, a CMake or environment variable, is the cache of proofs (`gfsmith export --help`).
find_program(GFSMITH_EXECUTABLE gfsmith
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../.venv/bin" # a checkout
        "${CMAKE_CURRENT_LIST_DIR}/../../../../../../../bin" # lib/python3.x/site-packages/gfsmith/share/packaging/cmake
  NO_CMAKE_FIND_ROOT_PATH
  DOC "The program gfsmith, for gfsmith_generate")
mark_as_advanced(GFSMITH_EXECUTABLE)
set(GFSMITH_CACHE "" CACHE PATH "Cache of gfsmith's proofs; empty: the default")
mark_as_advanced(GFSMITH_CACHE)
find_program(GFSMITH_PYTHON python3 DOC "Python 3, which compares linked kernels with the proved ones; optional")
mark_as_advanced(GFSMITH_PYTHON)
if(POLICY CMP0116) # the functions below run with the policies of this file
  cmake_policy(SET CMP0116 NEW)
endif()

function(gfsmith_generate)
  set(single TARGET CODE K M L R CONFIG PREFIX)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ADAPTIVE" "${single}" "ISA")
  _gfsmith_check()
  if(NOT arg_PREFIX)
    set(arg_PREFIX gfs)
  endif()
  set(library "${arg_PREFIX}")
  if(arg_PREFIX STREQUAL "gfs")
    set(library gfsmith)
  endif()

  set(parent "${CMAKE_CURRENT_BINARY_DIR}/gfsmith")
  set(folder "${parent}/${arg_TARGET}")
  set(sources "${folder}/${library}.c" "${folder}/${library}.h")
  set(command "${GFSMITH_EXECUTABLE}" export -o "${folder}" --prefix "${arg_PREFIX}")
  set(needed "${GFSMITH_EXECUTABLE}")
  foreach(flag CODE K M L R)
    if(DEFINED arg_${flag})
      string(TOLOWER "--${flag}" option)
      list(APPEND command ${option} "${arg_${flag}}")
    endif()
  endforeach()
  foreach(isa IN LISTS arg_ISA)
    list(APPEND command --isa "${isa}")
  endforeach()
  if(arg_CONFIG)
    get_filename_component(config "${arg_CONFIG}" ABSOLUTE)
    list(APPEND command --config "${config}")
    list(APPEND needed "${config}")
  endif()
  if(arg_ADAPTIVE)
    list(APPEND command --adaptive)
  endif()
  if(GFSMITH_CACHE)
    list(APPEND command --cache "${GFSMITH_CACHE}")
  endif()

  set(depfile "")
  if(CMAKE_GENERATOR MATCHES "Ninja" OR NOT CMAKE_VERSION VERSION_LESS 3.20)
    list(APPEND command --depfile "${parent}/${arg_TARGET}.d")
    set(depfile DEPFILE "${parent}/${arg_TARGET}.d")
  endif()
  # gfsmith does not rewrite unchanged files, which make would then regard as out of date.
  set(touch "")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    set(touch COMMAND "${CMAKE_COMMAND}" -E touch ${sources})
  endif()

  file(MAKE_DIRECTORY "${parent}")
  add_custom_command(OUTPUT ${sources}
    COMMAND ${command}
    ${touch}
    DEPENDS ${needed}
    BYPRODUCTS "${folder}/PROOFS.json" "${folder}/MANIFEST.json" "${folder}/check_linked.py"
    WORKING_DIRECTORY "${parent}"
    ${depfile}
    COMMENT "Generating and proving ${arg_TARGET}"
    VERBATIM)
  add_library(${arg_TARGET} STATIC ${sources})
  target_include_directories(${arg_TARGET} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  target_compile_features(${arg_TARGET} PRIVATE c_std_11)
  find_package(Threads QUIET)
  if(Threads_FOUND)
    target_link_libraries(${arg_TARGET} PRIVATE Threads::Threads)
  else()
    string(TOUPPER "${library}" macros)
    target_compile_definitions(${arg_TARGET} PRIVATE ${macros}_NO_THREADS)
  endif()
  set_target_properties(${arg_TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  # Compares the kernels in the library with the digests of the proved machine code.
  if(GFSMITH_PYTHON)
    add_custom_command(TARGET ${arg_TARGET} POST_BUILD
      COMMAND "${GFSMITH_PYTHON}" "${folder}/check_linked.py" "${folder}/MANIFEST.json" "$<TARGET_FILE:${arg_TARGET}>"
      VERBATIM)
  endif()
endfunction()

# Checks before the generator runs, with errors in one line. The macro reads the caller's variables.
macro(_gfsmith_check)
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gfsmith_generate: '${arg_UNPARSED_ARGUMENTS}': allowed: ${single};ISA;ADAPTIVE")
  elseif(DEFINED arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "gfsmith_generate: ${arg_KEYWORDS_MISSING_VALUES} has no value")
  elseif(NOT DEFINED arg_TARGET)
    message(FATAL_ERROR "gfsmith_generate: TARGET is missing")
  elseif(NOT DEFINED arg_CODE AND NOT DEFINED arg_CONFIG)
    message(FATAL_ERROR "gfsmith_generate(${arg_TARGET}): CODE or CONFIG is missing")
  elseif(TARGET ${arg_TARGET})
    message(FATAL_ERROR "gfsmith_generate(${arg_TARGET}): a target of this name exists already")
  elseif(NOT CMAKE_C_COMPILER_LOADED)
    message(FATAL_ERROR "gfsmith_generate(${arg_TARGET}): C is needed: project(... LANGUAGES C)")
  elseif(NOT GFSMITH_EXECUTABLE)
    message(FATAL_ERROR
      "gfsmith_generate(${arg_TARGET}): the program gfsmith is not found; install it or set GFSMITH_EXECUTABLE")
  endif()
endmacro()
