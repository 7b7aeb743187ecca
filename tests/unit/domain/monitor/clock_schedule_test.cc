#include "domain/monitor/clock_schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace vedette::domain {
namespace {

using base::ParseTimestamp;
using base::Timestamp;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

ClockSchedule Schedule(const std::vector<std::string>& cron, const std::string& zone) {
  auto made = ClockSchedule::Make(cron, zone);
  if (const auto* fault = std::get_if<ClockSchedule::Fault>(&made))
    ADD_FAILURE() << fault->sentence;
  return std::get<ClockSchedule>(made);
}

std::vector<std::string> Times(const ClockSchedule& schedule, const std::string& after,
                               std::size_t count) {
  std::vector<std::string> texts;
  for (const auto& time : schedule.TimesAfter(ParseTimestamp(after), count)) {
    texts.push_back(base::FormatTimestamp(time).substr(0, 16));
  }
  return texts;
}
using Texts = std::vector<std::string>;

std::string Fault(const std::vector<std::string>& cron, const std::string& zone) {
  auto made = ClockSchedule::Make(cron, zone);
  const auto* fault = std::get_if<ClockSchedule::Fault>(&made);
  return fault == nullptr ? "" : fault->sentence;
}

TEST(ClockSchedule, NineOClockStaysNineOClock) {
  EXPECT_EQ(Times(Schedule({"0 9 * * 1-5"}, "Europe/Berlin"), "2026-03-26T08:00:00Z", 4),
            (Texts{"2026-03-27T08:00", "2026-03-30T07:00", "2026-03-31T07:00", "2026-04-01T07:00"}))
      << "strictly after, and an hour earlier by UTC once the clocks went forward";
}

TEST(ClockSchedule, ATimeThatIsSkippedComesAtTheFirstInstantAfterTheGap) {
  EXPECT_EQ(Times(Schedule({"30 2 * * *"}, "Europe/Berlin"), "2026-03-28T00:00:00Z", 3),
            (Texts{"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"}));
  // At midnight (Beirut), by half an hour (Lord Howe), and a whole day (Apia).
  EXPECT_EQ(Times(Schedule({"15 0 * * *"}, "Asia/Beirut"), "2026-03-28T12:00:00Z", 2),
            (Texts{"2026-03-28T22:00", "2026-03-29T21:15"}));
  EXPECT_EQ(Times(Schedule({"15 2 * * *"}, "Australia/Lord_Howe"), "2026-10-03T00:00:00Z", 2),
            (Texts{"2026-10-03T15:30", "2026-10-04T15:15"}));
  EXPECT_EQ(Times(Schedule({"0 12 * * *"}, "Pacific/Apia"), "2011-12-29T00:00:00Z", 3),
            (Texts{"2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"}));
}

TEST(ClockSchedule, ATimeThatComesTwiceCountsTheFirstTime) {
  EXPECT_EQ(Times(Schedule({"30 2 * * *"}, "Europe/Berlin"), "2026-10-24T12:00:00Z", 2),
            (Texts{"2026-10-25T00:30", "2026-10-26T01:30"}));
}

TEST(ClockSchedule, EveryHourGoesByElapsedTimeAndComesInBothHours) {
  const ClockSchedule hourly = Schedule({"30 * * * *"}, "Europe/Berlin");
  EXPECT_EQ(
      Times(hourly, "2026-10-24T23:00:00Z", 4),
      (Texts{"2026-10-24T23:30", "2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"}));
  EXPECT_EQ(Times(hourly, "2026-03-29T00:00:00Z", 3),
            (Texts{"2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"}));
  EXPECT_EQ(Times(Schedule({"0 */2 * * *"}, "Europe/Berlin"), "2026-03-28T22:00:00Z", 3),
            (Texts{"2026-03-28T23:00", "2026-03-29T02:00", "2026-03-29T04:00"}));
}

TEST(ClockSchedule, AListIsTheUnionOfItsExpressions) {
  EXPECT_EQ(
      Times(Schedule({"0 9 * * 1", "0 9,18 * * 1", "30 7 L * *"}, "UTC"), "2026-11-29T12:00:00Z",
            4),
      (Texts{"2026-11-30T07:30", "2026-11-30T09:00", "2026-11-30T18:00", "2026-12-07T09:00"}));
}

TEST(ClockSchedule, FindsTheLeapDayAndSaysWhereNothingComes) {
  EXPECT_EQ(Times(Schedule({"0 0 29 2 *"}, "UTC"), "2096-03-01T00:00:00Z", 1),
            (Texts{"2104-02-29T00:00"}));
  EXPECT_TRUE(Times(Schedule({"0 0 30 2 *"}, "UTC"), "2026-01-01T00:00:00Z", 1).empty());
  EXPECT_FALSE(Schedule({"0 0 30 2 *"}, "UTC").NextAfter(ParseTimestamp("2026-01-01T00:00:00Z")));
}

TEST(ClockSchedule, ARefusalNamesTheClosestZones) {
  EXPECT_NE(Fault({"0 9 * * *"}, "Europe/Berln").find("close to it are Europe/Berlin"),
            std::string::npos);
  EXPECT_NE(Fault({"0 9 * * *"}, "new york").find("America/New_York"), std::string::npos);
  EXPECT_NE(Fault({"0 9 * * *"}, "Germany/Berlin").find("Europe/Berlin"), std::string::npos);
  EXPECT_NE(Fault({"0 9 * * *"}, "Asia/Calcuta").find("Asia/Calcutta"), std::string::npos);
  for (const char* name :
       {"", "posix/Europe/Berlin", "right/UTC", "../../etc/passwd", "zone.tab"}) {
    EXPECT_NE(Fault({"0 9 * * *"}, name), "") << name;
  }
  EXPECT_NE(Fault({"0 9 * * *", "0 25 * * *"}, "UTC").find("cron \"0 25 * * *\": the hour 25"),
            std::string::npos);
  EXPECT_NE(Fault({}, "UTC"), "");
  EXPECT_NE(Fault(Texts(9, "0 9 * * *"), "UTC"), "");
}

TEST(ClockSchedule, DistancesAreThoseOfTheWallClock) {
  const Timestamp now = ParseTimestamp("2026-11-25T21:00:00Z");
  const auto of = [&](const Texts& cron, const char* zone) {
    const auto distances = Schedule(cron, zone).DistancesAfter(now);
    if (!distances) return std::string("none");
    return DurationText(distances->shortest) + " " + DurationText(distances->longest);
  };
  EXPECT_EQ(of({"0 9 * * *"}, "Europe/Berlin"), "1d 1d");
  EXPECT_EQ(of({"0 9 * * 1-5"}, "Europe/Berlin"), "1d 3d");
  EXPECT_EQ(of({"0 * * * *"}, "Europe/Berlin"), "1h 1h");
  EXPECT_EQ(of({"0 9 1 * *"}, "America/New_York"), "28d 31d");
  EXPECT_EQ(of({"*/5 * * * *"}, "UTC"), "5m 5m");
  EXPECT_EQ(of({"0 9,18 * * *"}, "UTC"), "9h 15h");
  EXPECT_EQ(of({"* * * * *"}, "UTC"), "1m 1m");
  EXPECT_EQ(of({"0 0 30 2 *"}, "UTC"), "none");
}

TEST(ClockSchedule, TellsTheChangesOfTheClocks) {
  const auto changes = Schedule({"30 2 * * *"}, "Europe/Berlin")
                           .ClockChanges(ParseTimestamp("2026-01-01T00:00:00Z"),
                                         ParseTimestamp("2026-12-31T00:00:00Z"));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].at, ParseTimestamp("2026-03-29T01:00:00Z"));
  EXPECT_EQ(changes[0].effect,
            "The clocks go forward from 02:00 to 03:00: a time between them comes at 03:00.");
  EXPECT_EQ(
      changes[1].effect,
      "The clocks go back from 03:00 to 02:00: a time between them comes once, the first time.");
  EXPECT_TRUE(Schedule({"0 9 * * *"}, "UTC")
                  .ClockChanges(ParseTimestamp("2026-01-01T00:00:00Z"),
                                ParseTimestamp("2026-12-31T00:00:00Z"))
                  .empty());
}

TEST(ClockSchedule, ADayThatIsLeftOutIsToldByItsDate) {
  const auto changes = Schedule({"0 9 * * *"}, "Pacific/Apia")
                           .ClockChanges(ParseTimestamp("2011-12-28T00:00:00Z"),
                                         ParseTimestamp("2012-01-05T00:00:00Z"));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].effect,
            "The clocks go forward from 2011-12-30 00:00 to 2011-12-31 00:00: a time between them "
            "comes at 2011-12-31 00:00.");
}

// What a clock on the wall shows, minute by minute: the slots are told from it alone.
struct Minute {
  sys_seconds at;
  std::chrono::local_seconds local;
  bool again;  // it showed the same an hour before
};
std::vector<Minute> TheWall(const TimeZone& zone, sys_seconds from, sys_seconds to) {
  std::vector<Minute> wall;
  std::set<std::chrono::local_seconds> shown;
  for (sys_seconds at = from - minutes(1); at < to; at += minutes(1)) {
    const auto local = zone.LocalOf(at);
    wall.push_back({at, local, !shown.insert(local).second});
  }
  return wall;
}

bool Fits(const CronExpression& cron, std::chrono::local_seconds local) {
  const auto day = std::chrono::floor<days>(local);
  const auto minute = std::chrono::floor<minutes>(local - day);
  return cron.minutes().test(static_cast<std::size_t>((minute % hours(1)).count())) &&
         cron.hours().test(static_cast<std::size_t>(minute / hours(1))) &&
         cron.MatchesDay(std::chrono::year_month_day{day});
}

std::set<sys_seconds> ByTheWall(const Texts& texts, const std::vector<Minute>& wall) {
  std::set<sys_seconds> slots;
  for (const std::string& text : texts) {
    auto parsed = CronExpression::Parse(text);
    const auto& cron = std::get<CronExpression>(parsed);
    for (std::size_t i = 1; i < wall.size(); ++i) {
      const Minute& now = wall[i];
      if (Fits(cron, now.local) && (!now.again || cron.goes_by_elapsed_time()))
        slots.insert(now.at);
      if (cron.goes_by_elapsed_time()) continue;
      for (auto left = wall[i - 1].local + minutes(1); left < now.local; left += minutes(1)) {
        if (Fits(cron, left)) slots.insert(now.at);
      }
    }
  }
  return slots;
}

TEST(ClockSchedule, G7EachSlotOfTheWallClockComesOnceOverBothChangesInTwentyZones) {
  const Texts zones{
      "Europe/Berlin",     "Europe/Dublin",       "America/New_York", "America/Havana",
      "America/Sao_Paulo", "America/St_Johns",    "America/Nuuk",     "Asia/Beirut",
      "Asia/Gaza",         "Asia/Tehran",         "Asia/Kolkata",     "Africa/Cairo",
      "Africa/Casablanca", "Atlantic/Azores",     "Pacific/Apia",     "Pacific/Chatham",
      "Pacific/Easter",    "Australia/Lord_Howe", "Australia/Sydney", "UTC"};
  const std::vector<Texts> crons{
      {"30 2 * * *"},   {"0 0 * * *"},      {"*/20 0-4 * * *"},    {"15 * * * *"},
      {"45 */2 * * *"}, {"0 1-3,23 * * *"}, {"10 23,0 * * 6,0,1"}, {"30 1 * * *", "0 */3 * * *"}};
  int compared = 0;
  for (const std::string& name : zones) {
    const auto zone = TimeZone::Find(name);
    ASSERT_TRUE(zone) << name;
    const sys_seconds begin = std::chrono::sys_days(std::chrono::year(2023) / 1 / 1);
    std::vector<sys_seconds> around{begin};
    for (const auto& change : zone->Changes(begin, begin + days(3 * 365))) {
      around.push_back(change.at);
    }
    for (const sys_seconds at : around) {
      const sys_seconds from = std::chrono::floor<days>(at) - days(1);
      const sys_seconds to = from + days(2);
      const auto wall = TheWall(*zone, from, to);
      for (const Texts& cron : crons) {
        std::set<sys_seconds> slots;
        const ClockSchedule schedule = Schedule(cron, name);
        for (const sys_seconds slot : schedule.TimesAfter(from - seconds(1), 400)) {
          if (slot < to) slots.insert(slot);
        }
        ASSERT_EQ(slots, ByTheWall(cron, wall))
            << cron[0] << " in " << name << " from " << base::FormatTimestamp(from);
        compared += static_cast<int>(slots.size());
      }
    }
  }
  EXPECT_GT(compared, 10'000);
}

}  // namespace
}  // namespace vedette::domain
