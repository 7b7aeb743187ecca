#include "base/closest_word.h"

#include <algorithm>
#include <numeric>

namespace vedette::base {
namespace {

// How many insertions, deletions and replacements lie between two words.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> ClosestWord(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t typos_max) {
  std::optional<std::string> closest;
  std::size_t fewest = typos_max + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance >= fewest) continue;
    fewest = distance;
    closest = candidate;
  }
  return closest;
}

}  // namespace vedette::base
