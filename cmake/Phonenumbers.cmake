# vedette_phonenumbers(TARGET): libphonenumber and what its headers include, as an interface library TARGET.
# There is no such target where any of it is missing.
function(vedette_phonenumbers target)
  # The library's own package of headers, where it can be installed, or the headers alone (scripts/phonenumbers).
  # Shared by all build directories of this tree.
  set(vendor "${CMAKE_SOURCE_DIR}/build/vendor/phonenumbers")
  find_library(PHONENUMBERS_LIBRARY NAMES phonenumber libphonenumber.so.8)
  find_path(PHONENUMBERS_INCLUDE phonenumbers/phonenumberutil.h HINTS "${vendor}")
  if(PHONENUMBERS_LIBRARY AND NOT PHONENUMBERS_INCLUDE)
    execute_process(COMMAND "${CMAKE_SOURCE_DIR}/scripts/phonenumbers" "${vendor}"
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    find_path(PHONENUMBERS_INCLUDE phonenumbers/phonenumberutil.h HINTS "${vendor}")
  endif()
  find_path(ABSL_INCLUDE absl/container/node_hash_set.h)
  pkg_check_modules(PROTOBUF IMPORTED_TARGET protobuf)
  if(NOT PHONENUMBERS_LIBRARY OR NOT PHONENUMBERS_INCLUDE OR NOT ABSL_INCLUDE OR NOT PROTOBUF_FOUND)
    message(STATUS "libphonenumber or its headers are missing: there will be no block verify_phone")
    return()
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${PHONENUMBERS_INCLUDE}")
  target_link_libraries(${target} INTERFACE "${PHONENUMBERS_LIBRARY}" PkgConfig::PROTOBUF)
endfunction()
