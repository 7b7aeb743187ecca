#include "lease/share_out.h"

#include <algorithm>
#include <cmath>

#include "base/fair_share.h"

namespace vedette::lease {
namespace {

// Chunks of one organisation in one claim. Its rows are bounded by its share; this bounds the
// leases where chunks are of one row.
constexpr std::size_t kChunksPerShareMax = 512;

// How many rows each may hold after this: what MayTakeMore leaves one of them when all have taken
// up to there. Those who hold more than that take nothing and do not count.
double Level(const std::vector<Asking>& asking, std::size_t free, double reserve) {
  std::vector<std::size_t> held;
  held.reserve(asking.size());
  for (const Asking& a : asking) held.push_back(a.rows_open);
  std::sort(held.begin(), held.end());
  const double times = (1.0 - reserve) / reserve;
  double level = 0;
  auto room = static_cast<double>(free);  // free, and held by those that take
  for (std::size_t k = 0; k < held.size(); ++k) {
    const auto own = static_cast<double>(held[k]);
    if (k > 0 && own >= level) break;
    room += own;
    level = times * room / (1.0 + times * static_cast<double>(k + 1));
  }
  return level;
}

}  // namespace

bool MayStart(std::size_t org_in_flight, const Room& room, bool newcomer) {
  const double reserve = newcomer ? room.newcomer_share / 2 : room.newcomer_share;
  return base::MayTakeMore(org_in_flight, room.in_flight, room.slots_max, reserve);
}

std::vector<store::ClaimShare> ShareOut(const std::vector<Asking>& asking, const Room& room) {
  std::size_t free =
      std::min(room.rows_max - std::min(room.rows_max, room.rows_open), room.rows_left);
  std::size_t slots =
      std::min(room.slots_max - std::min(room.slots_max, room.in_flight), room.rows_left_for_slots);
  const double level = Level(asking, free, room.newcomer_share);
  std::vector<store::ClaimShare> shares;
  for (const Asking& org : asking) {
    if (free == 0 && slots == 0) break;
    const double more = std::floor(level) - static_cast<double>(org.rows_open);
    std::size_t rows = more > 0 ? std::min(static_cast<std::size_t>(more), free) : 0;
    if (rows == 0) {
      // A chunk that fills slots which nobody's rows are there for.
      const bool starts =
          org.rows_open == 0 || (org.newcomer && MayStart(org.in_flight, room, /*newcomer=*/true));
      if (!starts || slots == 0) continue;
      rows = 1;
    }
    const std::size_t first = std::max<std::size_t>(org.first_rows, 1);
    const std::size_t chunks = std::min((rows + first - 1) / first, kChunksPerShareMax);
    shares.push_back({org.org_id, static_cast<int>(chunks), static_cast<int>(rows)});
    const std::size_t taken = std::max(rows, first);
    free -= std::min(free, taken);
    slots -= std::min(slots, taken);
  }
  return shares;
}

}  // namespace vedette::lease
