#pragma once

#include <cstdint>

#include "base/uuid.h"

namespace vedette::test {

// The id of a number, of which other numbers have others; in the order of the numbers.
inline base::Uuid Id(int n) {
  base::Uuid id;
  id.bytes[14] = static_cast<std::uint8_t>(n >> 8);
  id.bytes[15] = static_cast<std::uint8_t>(n);
  return id;
}

}  // namespace vedette::test
