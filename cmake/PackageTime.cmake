# cpack reads this before it packs (cmake/Package.cmake): every file of the package has the time of the commit, so that what
# was built twice is packed into the same bytes. SOURCE_DATE_EPOCH in the environment overrides it; without git and without
# it, files keep the times of the build.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}"
                  OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(committed MATCHES "^[0-9]+$")
    set(ENV{SOURCE_DATE_EPOCH} "${committed}")
  endif()
endif()
