#include "domain/monitor/timetable.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(ParseDuration("5m", false), minutes(5));
  EXPECT_EQ(ParseDuration("1h", false), hours(1));
  EXPECT_EQ(ParseDuration("30d", false), days(30));
  EXPECT_EQ(ParseDuration("2w", false), days(14));
  EXPECT_EQ(ParseDuration("5s", true), seconds(5));
}

TEST(ParseDuration, SecondsOnlyWhereAllowed) {
  EXPECT_EQ(ParseDuration("5s", false), std::nullopt);
}

TEST(ParseDuration, RefusesEveryOtherForm) {
  for (const char* text : {"", "h", "1", "0h", "01h", "-1h", "+1h", "1.5h", " 1h", "1h ", "1 h",
                           "1H", "1hh", "1h30m", "1y", "1ms", "\xD9\xA1h"}) {
    EXPECT_EQ(ParseDuration(text, true), std::nullopt) << text;
  }
}

TEST(ParseDuration, RefusesMoreThanAHundredYears) {
  EXPECT_EQ(ParseDuration("36500d", false), days(36500));
  EXPECT_EQ(ParseDuration("36501d", false), std::nullopt);
  EXPECT_EQ(ParseDuration("3153600000s", true), days(36500));
  EXPECT_EQ(ParseDuration("3153600001s", true), std::nullopt);
  EXPECT_EQ(ParseDuration("99999999999999999999999999w", false), std::nullopt);
}

}  // namespace
}  // namespace vedette::domain
