# vedette_commit(TARGET): adds the source that says which commit the build is of (base/version.h). CMake runs again when
# the checkout has another commit, and no other source is compiled again.
set(VEDETTE_COMMIT "" CACHE STRING "The commit of sources that are without git, as those of an image are")

function(vedette_commit target)
  set(found "${VEDETTE_COMMIT}")
  find_package(Git QUIET)
  if(NOT found AND GIT_FOUND)
    # The commit of this checkout, and not of one that it lies in.
    execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --show-prefix --git-path logs/HEAD HEAD
                    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE said ERROR_QUIET)
    if(said MATCHES "^\n([^\n]+)\n([0-9a-f]+)\n$")
      set(found "${CMAKE_MATCH_2}")
      get_filename_component(log "${CMAKE_MATCH_1}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
      if(EXISTS "${log}")
        set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
      endif()
    endif()
  endif()
  string(SUBSTRING "${found}" 0 12 VEDETTE_COMMIT_FOUND)
  if(NOT VEDETTE_COMMIT_FOUND MATCHES "^[0-9a-f]+$")
    set(VEDETTE_COMMIT_FOUND "unknown")
  endif()
  configure_file("${CMAKE_SOURCE_DIR}/base/version.cc.in" "${CMAKE_BINARY_DIR}/generated/version.cc" @ONLY)
  target_sources(${target} PRIVATE "${CMAKE_BINARY_DIR}/generated/version.cc")
endfunction()
