#include "domain/monitor/enums.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {
namespace {

TEST(Outcome, KeepsItsNumbersAndNames) {
  const std::vector<std::string_view> names{
      "changed",        "unchanged",       "failed",  "skipped_balance", "skipped_spend_limit",
      "skipped_paused", "skipped_overlap", "inactive"};
  ASSERT_EQ(static_cast<int>(names.size()), kOutcomeMax);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(OutcomeName(static_cast<Outcome>(i + 1)), names[i]);
  }
}

TEST(Outcome, G6OnlyAChangedOrUnchangedCheckIsCompleted) {
  for (int i = 1; i <= kOutcomeMax; ++i) {
    EXPECT_EQ(IsCompleted(static_cast<Outcome>(i)), i <= 2) << i;
  }
}

TEST(Outcome, G7EveryPackedByteIsCountedOnce) {
  std::string packed;
  for (int i = 0; i < 256; ++i) packed.push_back(static_cast<char>(i));
  packed += "\x01\x01\x08";
  OutcomeCounts counts{};
  CountOutcomes(packed, &counts);
  EXPECT_EQ(counts[1], 3);
  EXPECT_EQ(counts[2], 1);
  EXPECT_EQ(counts[8], 2);
  EXPECT_EQ(counts[0], 256 - kOutcomeMax);  // none yet, and what a newer version wrote
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}),
            static_cast<std::int64_t>(packed.size()));
  CountOutcomes("\x01", &counts);
  EXPECT_EQ(counts[1], 4) << "counts are added to";
}

}  // namespace
}  // namespace vedette::domain
