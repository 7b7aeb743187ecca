#include "domain/job/block_progress.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace vedette::domain {
namespace {

constexpr std::int64_t kNone = 0;

// Below the whole, which is kept for what is completed.
int Share(std::int64_t done, std::int64_t total) {
  if (total == 0) return 0;
  return static_cast<int>(
      std::min<std::int64_t>(kPerMilleWhole * done / total, kPerMilleWhole - 1));
}

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

std::vector<int> PerMille(const std::vector<BlockRows>& blocks) {
  std::vector<int> per_mille;
  std::vector<std::optional<std::int64_t>> at_most;  // rows that can come to each
  for (const BlockRows& block : blocks) {
    std::optional<std::int64_t> rows = block.rows_total;
    if (block.input) {
      const auto input = static_cast<std::size_t>(*block.input);
      const BlockRows& before = blocks.at(input);
      rows = at_most.at(input);
      if (rows && before.drops_rows) *rows -= std::max(before.rows_done - before.rows_out, kNone);
    }
    at_most.push_back(rows);
    if (block.completed) {
      per_mille.push_back(kPerMilleWhole);
    } else if (rows.value_or(0) > 0) {
      per_mille.push_back(Share(block.rows_done, *rows));
    } else {
      per_mille.push_back(Share(block.parts_done, block.parts_total));
    }
  }
  return per_mille;
}

int MeanPerMille(const std::vector<int>& per_mille) {
  if (per_mille.empty()) return 0;
  return static_cast<int>(std::accumulate(per_mille.begin(), per_mille.end(), std::int64_t{0}) /
                          static_cast<std::int64_t>(per_mille.size()));
}

std::chrono::milliseconds PaceOf(const RowsTimed& measured, std::chrono::milliseconds guess) {
  base::Assert(measured.rows >= 0 && measured.took.count() >= 0, "What was measured was there.");
  const std::chrono::microseconds together = measured.took + kPaceGuessRows * guess;
  const std::int64_t rows = measured.rows + kPaceGuessRows;
  const std::chrono::microseconds each{(together.count() + rows - 1) / rows};
  return std::chrono::ceil<std::chrono::milliseconds>(each);
}

}  // namespace vedette::domain
