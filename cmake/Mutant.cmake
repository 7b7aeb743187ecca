# vedette_mutant(NAME SUITE suite FILE source FROM text TO text CASE case LINKS ...): a suite once more, with one place of
# the product broken, which a named case of it must notice. The object that is made of the broken source stands before the
# libraries, so that the sound one is not taken out of them. It is where the suite is, but for ThreadSanitizer's build, which has
# no more to say of it.
function(vedette_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SUITE;FILE;FROM;TO;CASE" "LINKS")
  if(NOT TARGET ${ARG_SUITE} OR VEDETTE_SANITIZE STREQUAL "thread")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${ARG_FILE}")
  # The sound source has an object of its own in its library, so that the linker takes the broken one instead of it alone.
  string(REGEX MATCH "^[^/]+" folder "${ARG_FILE}")
  set_source_files_properties("${CMAKE_SOURCE_DIR}/${ARG_FILE}" TARGET_DIRECTORY vedette_${folder}
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  file(READ "${CMAKE_SOURCE_DIR}/${ARG_FILE}" sound)
  string(REPLACE "${ARG_FROM}" "${ARG_TO}" broken "${sound}")
  if("x${broken}" STREQUAL "x${sound}")
    message(FATAL_ERROR "${name}: ${ARG_FILE} does not have what is to be broken: ${ARG_FROM}")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
  set(before "")
  if(EXISTS "${source}")
    file(READ "${source}" before)
  endif()
  if(NOT "x${before}" STREQUAL "x${broken}")
    file(WRITE "${source}" "${broken}")
  endif()
  add_executable(${name} "${source}" $<TARGET_OBJECTS:${ARG_SUITE}>)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gtest_main GTest::gmock)
  precompiled_test(${name})
  add_test(NAME ${of_build}${name} COMMAND ${name} "--gtest_filter=${ARG_CASE}")
  set_tests_properties(${of_build}${name} PROPERTIES LABELS unit TIMEOUT 120 ${sanitizer_properties}
                       PASS_REGULAR_EXPRESSION "FAILED  . ${ARG_CASE}")
endfunction()
