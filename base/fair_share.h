#pragma once

#include <cstddef>

namespace vedette::base {

// How much one of several keys (organisations) may hold of `total` units of a shared resource:
// slots of a worker, threads, bytes. A key may take one more while it holds less than (1 - reserve)
// / reserve times what is free. So a key that is alone holds all but the `reserve` (0.1: nine
// tenths); n greedy keys hold equal shares, and the share of 1 / (1 + 9 n) of the whole stays free
// for the next one, however greedy they are (G10). This is the dynamic threshold of Choudhury and
// Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
//
// `held`: by this key; `used`: by all keys together; 0 < reserve < 1. A key that holds nothing may
// always take a unit that is free.
inline bool MayTakeMore(std::size_t held, std::size_t used, std::size_t total, double reserve) {
  if (used >= total) return false;
  if (held == 0) return true;
  const auto free = static_cast<double>(total - used);
  return static_cast<double>(held) < (1.0 - reserve) / reserve * free;
}

}  // namespace vedette::base
