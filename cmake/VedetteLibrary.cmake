# vedette_library(NAME SOURCES ... LINKS ...): one static library a folder, named vedette_NAME.
# Include paths start at the root of the source tree: #include "store/session.h".
# FUZZED: it has parsers that a fuzz target feeds, and libFuzzer wants to see their branches. That is a fifth of what compiling it
# costs, so the others go without.
function(vedette_library name)
  cmake_parse_arguments(ARG "FUZZED" "" "SOURCES;LINKS" ${ARGN})
  add_library(vedette_${name} STATIC ${ARG_SOURCES})
  target_include_directories(vedette_${name} PUBLIC "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated")
  target_link_libraries(vedette_${name} PUBLIC ${ARG_LINKS} Threads::Threads)
  if(ARG_FUZZED AND VEDETTE_FUZZ)
    target_compile_options(vedette_${name} PRIVATE ${VEDETTE_SEEN_BY_LIBFUZZER})
    precompiled_fuzzed(vedette_${name})
  else()
    precompiled(vedette_${name})
  endif()
  if(VEDETTE_UNITY)
    vedette_unity(vedette_${name})
  endif()
  if(VEDETTE_SANITIZE)
    # Built where a test needs it, as no sanitizer's build is run by anybody else.
    set_target_properties(vedette_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# vedette_embed(NAME FILES ...): compiles files into the binary as string constants.
# Generates ${CMAKE_BINARY_DIR}/generated/NAME.inc with one line a file:
#   {"file.ext", R"vedette(...)vedette"},
# The .inc is included inside the initialiser of an array of {name, text} pairs.
function(vedette_embed target name)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(out "${CMAKE_BINARY_DIR}/generated/${name}.inc")
  set(abs)
  foreach(f ${ARG_FILES})
    get_filename_component(a "${f}" ABSOLUTE)
    list(APPEND abs "${a}")
  endforeach()
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${out}" "-DFILES=${abs}" -P "${CMAKE_SOURCE_DIR}/cmake/Embed.cmake"
    DEPENDS ${abs} "${CMAKE_SOURCE_DIR}/cmake/Embed.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
  # `generated` makes these files alone: what clang-tidy needs of a build.
  if(NOT TARGET generated)
    add_custom_target(generated)
  endif()
  add_custom_target(${name}_inc DEPENDS "${out}")
  add_dependencies(generated ${name}_inc)
endfunction()
