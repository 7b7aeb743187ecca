# Sources compiled several at once: most of what a build costs is reading the same headers, and making the same code of
# templates, for every source again (docs/decisions/0050-light-to-build.md).
#
# vedette_unity(TARGET) puts the sources of a target into groups (scripts/unity_groups), but for those that are said to be
# compiled alone (SKIP_UNITY_BUILD_INCLUSION). CMake's own groups cannot tell apart names that are local to two sources. The
# groups are made when CMake has read everything, each time that it runs, as each ./test lets it do: where a new name clashes
# in a build by hand, run cmake again.
set(VEDETTE_UNITY_LINES 1500 CACHE STRING "Lines of source that are compiled at once, where VEDETTE_UNITY is on")

function(vedette_unity target)
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL vedette_make_groups ${target})")
endfunction()

function(vedette_make_groups target)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  get_target_property(sources ${target} SOURCES)
  set(grouped "")
  foreach(source ${sources})
    get_source_file_property(alone "${folder}/${source}" TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    if(source MATCHES "^[^/$].*[.]cc$" AND NOT alone)
      list(APPEND grouped "${folder}/${source}")
    endif()
  endforeach()
  list(LENGTH grouped count)
  if(count LESS 2)
    return()
  endif()
  set(units "${binary}/${target}.units")
  execute_process(
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/unity_groups" ${VEDETTE_UNITY_LINES} "${units}" ${grouped}
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9]+) (.+)$" line "${line}")
    list(APPEND made "${units}/${CMAKE_MATCH_1}.cc")
    file(RELATIVE_PATH source "${folder}" "${CMAKE_MATCH_2}")
    list(REMOVE_ITEM sources "${source}")
  endforeach()
  list(REMOVE_DUPLICATES made)
  set_target_properties(${target} PROPERTIES SOURCES "${sources};${made}")
  # g++ gives it for a class of external linkage that has a member of a local one, wherever it is not in the file that is compiled;
  # here that file only includes others.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
