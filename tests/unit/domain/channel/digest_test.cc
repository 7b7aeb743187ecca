#include "domain/channel/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vedette::domain {
namespace {

using testing::HasSubstr;

std::string Next(const std::string& digest, const std::string& after) {
  const auto read = Digest::Read(digest);
  if (const auto* fault = std::get_if<std::string>(&read)) return *fault;
  return base::FormatTimestamp(std::get<Digest>(read).NextAfter(base::ParseTimestamp(after)));
}

TEST(ChannelDigest, ComesByTheHourTheDayOfAZoneOrTheWeek) {
  EXPECT_EQ(Next("hourly", "2026-11-25T09:00:00Z"), "2026-11-25T10:00:00.000000Z");
  EXPECT_EQ(Next("hourly", "2026-11-25T09:59:59Z"), "2026-11-25T10:00:00.000000Z");
  EXPECT_EQ(Next("daily at 09:30", "2026-11-25T09:30:00Z"), "2026-11-26T09:30:00.000000Z");
  EXPECT_EQ(Next("daily at 09:00 Europe/Berlin", "2026-11-25T00:00:00Z"),
            "2026-11-25T08:00:00.000000Z");
  EXPECT_EQ(Next("daily at 02:30 Europe/Berlin", "2026-03-29T00:00:00Z"),
            "2026-03-29T01:00:00.000000Z")
      << "what the clocks skip comes right after the gap";
  EXPECT_EQ(Next("weekly", "2026-11-25T00:00:00Z"), "2026-11-30T09:00:00.000000Z") << "a Monday";
}

TEST(ChannelDigest, AnythingElseIsRefusedWithTheRule) {
  for (const char* bad : {"", "none", "daily", "daily at 9:00", "daily at 24:00", "daily at 09:60",
                          "daily at 09:00Europe/Berlin", "daily at 09:00 ", "Hourly", "monthly"}) {
    EXPECT_THAT(Next(bad, "2026-11-25T00:00:00Z"), HasSubstr("Input should be")) << bad;
  }
  EXPECT_THAT(Next("daily at 09:00 Europe/Berlim", "2026-11-25T00:00:00Z"),
              HasSubstr("Europe/Berlin"));
}

}  // namespace
}  // namespace vedette::domain
