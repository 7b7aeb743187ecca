#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/assert.h"

// Counts of what a pipeline holds, which never go below zero.
namespace vedette::lease {

// `n` fewer. `sentence`: what is broken where there are not so many.
inline void TakeFrom(std::size_t* count, std::size_t n, std::string_view sentence) {
  base::Assert(*count >= n, sentence);
  *count -= n;
}

// What is free of `total`; nothing where more is used.
inline std::size_t LeftOf(std::size_t total, std::size_t used) {
  return total - std::min(total, used);
}

}  // namespace vedette::lease
