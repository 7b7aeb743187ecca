# Sources compiled several at once: most of what a build costs is reading the same headers, and making the same code of
# templates, for every source again (docs/decisions/0050-light-to-build.md).
#
# vedette_unity(TARGET SOURCES ...) puts the sources, relative to this folder, into groups in which names that are local to one
# source do not meet those of another (scripts/unity_groups). The groups are made when CMake runs, as each ./test lets it do:
# where a new name clashes in a build by hand, run cmake again.
set(VEDETTE_UNITY_LINES 1500 CACHE STRING "Lines of source that are compiled at once, where VEDETTE_UNITY is on")

function(vedette_unity target)
  list(LENGTH ARGN count)
  if(count LESS 2)
    return()
  endif()
  execute_process(
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/unity_groups" ${VEDETTE_UNITY_LINES} ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9]+) (.+)$" line "${line}")
    set_source_files_properties("${CMAKE_MATCH_2}" PROPERTIES UNITY_GROUP "${target}_${CMAKE_MATCH_1}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ gives it for a class of external linkage that has a member of a local one, wherever it is not in the file that is compiled;
  # here that file only includes others.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
