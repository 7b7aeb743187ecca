#pragma once

#include <cstdlib>

namespace vedette::test {

// How many of what is long by its number alone: all in a nightly run, which sets
// VEDETTE_TEST_IN_FULL (./test), and fewer in a run of each change.
inline int InFull(int all, int fewer) {
  return std::getenv("VEDETTE_TEST_IN_FULL") != nullptr ? all : fewer;
}

}  // namespace vedette::test
