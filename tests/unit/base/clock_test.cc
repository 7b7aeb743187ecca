#include "base/clock.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace vedette::base {
namespace {

using std::chrono::microseconds;

TEST(Timestamp, IsWrittenAsUtcWithMicroseconds) {
  EXPECT_EQ(FormatTimestamp(Timestamp(microseconds(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatTimestamp(Timestamp(microseconds(1'795'253'400'000'042))),
            "2026-11-21T09:30:00.000042Z");
}

TEST(Timestamp, BeforeTheEpochIsWrittenRight) {
  EXPECT_EQ(FormatTimestamp(Timestamp(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Timestamp, ReadsWhatItWrites) {
  for (const std::int64_t us :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'795'253'400'000'042},
        std::int64_t{951'782'400'000'000}}) {
    const Timestamp t{microseconds(us)};
    EXPECT_EQ(ParseTimestamp(FormatTimestamp(t)), t) << us;
  }
}

TEST(Timestamp, ReadsFewerDigitsAndOffsets) {
  const Timestamp t = ParseTimestamp("2026-11-21T09:30:00Z");
  EXPECT_EQ(ParseTimestamp("2026-11-21T09:30:00.0Z"), t);
  EXPECT_EQ(ParseTimestamp("2026-11-21T10:30:00+01:00"), t);
  EXPECT_EQ(ParseTimestamp("2026-11-20T23:30:00-10:00"), t);
  EXPECT_EQ(ParseTimestamp("2026-11-21 09:30:00.5Z"), t + microseconds(500'000));
  EXPECT_EQ(ParseTimestamp("2026-11-21T09:30:00.123456789Z"), t + microseconds(123'456));
}

TEST(Timestamp, RefusesWhatIsNoTimeAndNamesIt) {
  for (const std::string text :
       {"", "2026-11-21", "2026-11-21T09:30:00", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T09:60:00Z", "2026-11-21T09:30:60Z",
        "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00+0100", "2026-11-21T09:30:00Zx",
        "26-11-21T09:30:00Z", "2026-11-21T09:30:00+24:00", "9999-12-31T23:59:59-14:00",
        "0000-01-01T00:00:00+00:01"}) {
    try {
      ParseTimestamp(text);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find('"' + text + '"'), std::string::npos) << e.what();
    }
  }
}

TEST(SystemClock, NeverRunsBackwardsSinceBoot) {
  const SystemClock clock;
  const auto earlier = clock.SinceBoot();
  EXPECT_GT(earlier.count(), 0);
  EXPECT_GE(clock.SinceBoot(), earlier);
  EXPECT_GT(clock.Now(), ParseTimestamp("2024-01-01T00:00:00Z"));
}

}  // namespace
}  // namespace vedette::base
