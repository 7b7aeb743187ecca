#include "domain/monitor/clock_schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

namespace vedette::domain {
namespace {

using std::chrono::day;
using std::chrono::year;

CronExpression Cron(std::string_view text) {
  auto parsed = CronExpression::Parse(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed))
    ADD_FAILURE() << text << ": " << *wrong;
  return std::get<CronExpression>(parsed);
}

std::string RefusalOf(std::string_view text) {
  auto parsed = CronExpression::Parse(text);
  const auto* wrong = std::get_if<std::string>(&parsed);
  return wrong == nullptr ? "" : *wrong;
}

// The days of November 2026, which begins on a Sunday.
std::string DaysOfNovember(std::string_view text) {
  const CronExpression cron = Cron(text);
  std::string found;
  for (unsigned d = 1; d <= 30; ++d) {
    if (!cron.MatchesDay(year(2026) / 11 / day(d))) continue;
    found += (found.empty() ? "" : " ") + std::to_string(d);
  }
  return found;
}

TEST(Cron, ReadsNamesListsRangesAndSteps) {
  const CronExpression cron = Cron("*/15,7  0-4/2,22  *  JAN,nov-dec\tMon-Fri");
  std::string minute_bits;
  for (std::size_t m = 0; m < 60; ++m) minute_bits += cron.minutes().test(m) ? '1' : '0';
  EXPECT_EQ(minute_bits, "100000010000000100000000000000100000000000000100000000000000");
  std::string hour_bits;
  for (std::size_t h = 0; h < 24; ++h) hour_bits += cron.hours().test(h) ? '1' : '0';
  EXPECT_EQ(hour_bits, "101010000000000000000010");
  EXPECT_TRUE(cron.MatchesDay(year(2026) / 11 / 2));
  EXPECT_FALSE(cron.MatchesDay(year(2026) / 11 / 1));
  EXPECT_FALSE(cron.MatchesDay(year(2026) / 10 / 1));
}

TEST(Cron, DaysAreJoinedByOrOnlyWhereBothAreRestricted) {
  EXPECT_EQ(DaysOfNovember("0 0 1,15 * 5"), "1 6 13 15 20 27");
  EXPECT_EQ(DaysOfNovember("0 0 * * 5"), "6 13 20 27");
  EXPECT_EQ(DaysOfNovember("0 0 1,15 * *"), "1 15");
  EXPECT_EQ(DaysOfNovember("0 0 */2 * sun"), "1 15 29")
      << "a field that begins with * restricts not";
}

TEST(Cron, KnowsTheLastDayTheNthWeekdayAndBothSundays) {
  EXPECT_EQ(DaysOfNovember("0 0 L * *"), "30");
  EXPECT_EQ(DaysOfNovember("0 0 10,L * *"), "10 30");
  EXPECT_EQ(DaysOfNovember("0 0 * * fri#2"), "13");
  EXPECT_EQ(DaysOfNovember("0 0 * * 1#1,7#5"), "2 29");
  EXPECT_EQ(DaysOfNovember("0 0 * * 7"), DaysOfNovember("0 0 * * sun"));
  EXPECT_EQ(DaysOfNovember("0 0 * * sat-sun"), "1 7 8 14 15 21 22 28 29");
  EXPECT_TRUE(Cron("0 0 l * *").MatchesDay(year(2028) / 2 / 29));
  EXPECT_FALSE(Cron("0 0 L * *").MatchesDay(year(2028) / 2 / 28));
}

TEST(Cron, MacrosStandForWhatTheManualSays) {
  EXPECT_EQ(DaysOfNovember("@weekly"), "1 8 15 22 29");
  EXPECT_EQ(DaysOfNovember("@monthly"), "1");
  EXPECT_TRUE(Cron("@hourly").goes_by_elapsed_time());
  EXPECT_EQ(Cron("@hourly").minutes().count(), 1U);
  EXPECT_EQ(Cron("@daily").hours().to_ulong(), 1U);
  EXPECT_EQ(Cron("@midnight").hours().to_ulong(), 1U);
}

TEST(Cron, GoesByElapsedTimeWhereTheHourIsAStarOrAStep) {
  EXPECT_TRUE(Cron("30 * * * *").goes_by_elapsed_time());
  EXPECT_TRUE(Cron("30 */2 * * *").goes_by_elapsed_time());
  EXPECT_TRUE(Cron("30 0-23/3 * * *").goes_by_elapsed_time());
  EXPECT_FALSE(Cron("30 0-23 * * *").goes_by_elapsed_time());
  EXPECT_FALSE(Cron("*/5 2 * * *").goes_by_elapsed_time());
}

TEST(Cron, ARefusalNamesTheFieldAndTheRule) {
  EXPECT_EQ(RefusalOf("0 25 * * *"), "the hour 25 is not between 0 and 23");
  EXPECT_EQ(RefusalOf("60 0 * * *"), "the minute 60 is not between 0 and 59");
  EXPECT_EQ(RefusalOf("0 0 0 * *"), "the day of month 0 is not between 1 and 31");
  EXPECT_EQ(RefusalOf("0 0 * * 8"), "the day of week 8 is not between 0 and 7");
  EXPECT_EQ(RefusalOf("0 0 * 5-2 *"), "the month 5-2 ends before it begins");
  EXPECT_EQ(RefusalOf("0 5/2 * * *"), "the hour 5/2 has a step without a range: write 5-23/2");
  EXPECT_EQ(RefusalOf("*/0 * * * *"), "the step of the minute */0 is not a number from 1 to 59");
  EXPECT_EQ(RefusalOf("1,,2 * * * *"), "the minute \"1,,2\" has an empty item");
  EXPECT_EQ(RefusalOf("0 0 * * mon#6"),
            "the day of week mon#6: a month has the 1st to the 5th of one");
  EXPECT_EQ(RefusalOf("0 0 * * 9#1"), "the day of week 9 is not between 0 and 7");
  EXPECT_EQ(RefusalOf("0 nine * * *"),
            "the hour \"nine\" is not a number, \"*\", a range such as 0-23 or a step");
  for (const std::string item : {"1-", "-1", "2-nine"}) {
    EXPECT_EQ(
        RefusalOf("0 9 " + item + " * *"),
        "the day of month \"" + item + "\" is not a number, \"*\", a range such as 1-31 or a step");
  }
  EXPECT_NE(RefusalOf("0 9 * *").find("five fields"), std::string::npos);
  EXPECT_NE(RefusalOf("0 0 9 * * *").find("this has 6"), std::string::npos);
  EXPECT_NE(RefusalOf("@reboot").find("@hourly"), std::string::npos);
  for (const char* text :
       {"", "@", "* * * * L", "L * * * *", "0 0 ? * *", "-1 * * * *", "1- * * * *", "0 0 * * -",
        "*-3 * * * *", "0 0 32 * *", "99999999999 * * * *"}) {
    EXPECT_NE(RefusalOf(text), "") << text;
  }
  EXPECT_NE(RefusalOf(std::string(10'000, '1')), "");
}

}  // namespace
}  // namespace vedette::domain
