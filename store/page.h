#pragma once

#include <vector>

namespace vedette::store {

// A part of a list: as many items as were asked for, or fewer where their bytes came to the limit
// that was asked for; at least one, unless there are none.
template <typename T>
struct Page {
  std::vector<T> items;
  // Whether it was cut short by count or bytes, so that more items may follow.
  bool more = false;
};

}  // namespace vedette::store
