#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vedette::test {

// The text `n` times.
inline std::string Repeated(std::string_view unit, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += unit;
  return out;
}

}  // namespace vedette::test
