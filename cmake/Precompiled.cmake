# Headers that most sources read, parsed once: half of what a build costs is reading them again for every source
# (docs/decisions/0050-light-to-build.md). What a source uses and does not include is noticed by clang-tidy, which reads each
# source for itself (the preset tidy).
#
# precompiled(TARGET), precompiled_fuzzed(TARGET) and precompiled_test(TARGET) let a target use them: a header that was precompiled
# with other instrumentation is refused.
set(VEDETTE_PCH_HEADERS
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstdlib> <deque> <functional>
    <map> <memory> <mutex> <optional> <random> <set> <stdexcept> <string> <string_view> <thread>
    <unordered_map> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# What a target that libFuzzer sees is compiled with.
set(VEDETTE_SEEN_BY_LIBFUZZER -fsanitize=fuzzer-no-link)

function(precompiled_from pch target)
  if(VEDETTE_PCH)
    if(NOT TARGET ${pch})
      add_library(${pch} OBJECT "${CMAKE_SOURCE_DIR}/cmake/pch/pch.cc")
      target_link_libraries(${pch} PRIVATE fmt::fmt Threads::Threads)
      target_compile_options(${pch} PRIVATE ${ARGN})
      target_precompile_headers(${pch} PRIVATE ${VEDETTE_PCH_HEADERS})
    endif()
    target_link_libraries(${target} PRIVATE fmt::fmt)  # its definitions, as the header was made with
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

function(precompiled target)
  precompiled_from(vedette_pch ${target})
endfunction()

function(precompiled_fuzzed target)
  precompiled_from(vedette_fuzzed_pch ${target} ${VEDETTE_SEEN_BY_LIBFUZZER})
endfunction()

function(precompiled_test target)
  if(VEDETTE_PCH)
    if(NOT TARGET vedette_test_pch)
      add_library(vedette_test_pch OBJECT "${CMAKE_SOURCE_DIR}/cmake/pch/test_pch.cc")
      target_link_libraries(vedette_test_pch PRIVATE fmt::fmt Threads::Threads GTest::gmock)
      target_precompile_headers(vedette_test_pch PRIVATE ${VEDETTE_PCH_HEADERS} <gmock/gmock.h>
                                <gtest/gtest.h>)
    endif()
    target_link_libraries(${target} PRIVATE fmt::fmt)
    target_precompile_headers(${target} REUSE_FROM vedette_test_pch)
  endif()
endfunction()
