#include "domain/block_progress.h"

#include <algorithm>
#include <numeric>

namespace vedette::domain {
namespace {

constexpr int kWhole = 1000;

}  // namespace

int PartsToOpen(const BlockProgress& block, const std::vector<std::int64_t>& input_parts) {
  const int room =
      std::max(std::min(block.part_window - PartsOpen(block), block.parts_total - block.opened), 0);
  if (!block.input) return room;
  int n = 0;
  auto part = std::lower_bound(input_parts.begin(), input_parts.end(), block.opened);
  while (n < room && part != input_parts.end() && *part == block.opened + n) {
    ++n;
    ++part;
  }
  return n;
}

int PerMille(const BlockProgress& block, bool completed) {
  if (completed) return kWhole;
  if (block.parts_total == 0) return 0;
  const auto tenths = std::int64_t{kWhole} * block.parts_done / block.parts_total;
  return static_cast<int>(std::min<std::int64_t>(tenths, kWhole - 1));
}

int MeanPerMille(const std::vector<int>& per_mille) {
  if (per_mille.empty()) return 0;
  return static_cast<int>(std::accumulate(per_mille.begin(), per_mille.end(), std::int64_t{0}) /
                          static_cast<std::int64_t>(per_mille.size()));
}

}  // namespace vedette::domain
