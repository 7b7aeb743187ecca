#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace date {
class time_zone;
}

// A schedule by the clock of a place: its slots are the times that any of its expressions names, in
// one zone. Pure but for the tz database. A value; safe on any thread.
//
// Over a change of the clocks each slot of the wall clock counts once. A local time that is skipped
// comes at the first instant after the gap, beside what stands there already; one that comes twice
// counts the first time. An expression that goes by elapsed time has no time in the gap, and one in
// both of the repeated hours.
namespace vedette::domain {

// An expression of crontab(5): minute, hour, day of month, month, day of week. Which days and which
// times of a day it names; no zone and no clock. Pure.
class CronExpression {
 public:
  // The expression, or what is wrong with it: a sentence without its first words that names the
  // field and the rule ("the hour 25 is not between 0 and 23").
  //
  // A field is `*`, a number, a range, or a list of those; `/n` takes every n-th of `*` or of a
  // range. Months and days of the week also have the names of their first three letters, 7 is
  // Sunday too, `L` is the last day of a month and `fri#2` its second Friday. @hourly, @daily,
  // @midnight, @weekly, @monthly, @yearly and @annually stand for what crontab(5) says.
  static std::variant<CronExpression, std::string> Parse(std::string_view text);

  // Day of month and day of week: both have to fit where one of them begins with `*`, else one.
  bool MatchesDay(std::chrono::year_month_day day) const;

  const std::bitset<24>& hours() const { return hours_; }
  const std::bitset<60>& minutes() const { return minutes_; }

  // The hour is `*` or a step: the expression means "every hour", and the hour that a change of
  // the clocks repeats has its times twice, the one that is left out none.
  bool goes_by_elapsed_time() const { return elapsed_; }

 private:
  friend class CronReader;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;  // Sunday first
  // By the day of the week, whether its 1st to 5th of a month counts.
  std::array<std::bitset<6>, 7> nth_weekdays_{};
  bool last_day_ = false;
  bool elapsed_ = false;
  enum class Join { kBoth, kEither };
  Join join_ = Join::kBoth;
};

// A zone of the system's tz database (Debian's tzdata), which is read once and then stays: an
// update of it counts from the next start of the process on. A value; safe on any thread.
class TimeZone {
 public:
  // By its IANA name, in its letters' case. Empty where the database has none of that name, or
  // where there is no database.
  static std::optional<TimeZone> Find(std::string_view name);

  // Up to `count` names of zones that may have been meant: of the same city, then of the least
  // difference.
  static std::vector<std::string> Closest(std::string_view name, std::size_t count);

  // What a local time stands for.
  struct Instants {
    enum class Kind { kOnce, kSkipped, kTwice };
    Kind kind = Kind::kOnce;
    std::chrono::sys_seconds first{};   // of a time that is skipped: the first after the gap
    std::chrono::sys_seconds second{};  // of a time that comes twice
  };
  Instants At(std::chrono::local_seconds local) const;

  // How far the clock is ahead of UTC all day; empty where it changes on this day or the next.
  std::optional<std::chrono::seconds> OffsetOfDay(std::chrono::local_days day) const;

  std::chrono::local_seconds LocalOf(std::chrono::sys_seconds at) const;

  // A change of the clocks.
  struct Change {
    std::chrono::sys_seconds at{};
    std::chrono::seconds before{};  // ahead of UTC
    std::chrono::seconds after{};
  };
  // Those in (from, to].
  std::vector<Change> Changes(std::chrono::sys_seconds from, std::chrono::sys_seconds to) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}

  const date::time_zone* zone_;  // of the database, which is never freed
};

inline constexpr std::size_t kCronExpressionsMax = 8;
// How far a slot is looked for: the 29th of February of any year comes within it.
inline constexpr std::chrono::days kComesWithin{9 * 366};
// Over which distances of slots are looked at.
inline constexpr std::chrono::days kDistancesOver{366};

class ClockSchedule {
 public:
  struct Fault {
    enum class Field { kCron, kTimeZone };
    Field field = Field::kCron;
    std::string sentence;  // names the field and the rule
  };
  // The schedule of 1 to kCronExpressionsMax expressions.
  static std::variant<ClockSchedule, Fault> Make(const std::vector<std::string>& cron,
                                                 const std::string& time_zone);

  // The slots after `after`, strictly ascending: `count` of them, fewer where no further one comes
  // within kComesWithin.
  std::vector<std::chrono::sys_seconds> TimesAfter(base::Timestamp after, std::size_t count) const;
  std::optional<std::chrono::sys_seconds> NextAfter(base::Timestamp after) const;

  // How many slots come in (after, until], and the first one behind them.
  struct Passed {
    std::int64_t slots = 0;
    std::optional<std::chrono::sys_seconds> next{};
  };
  Passed PassedIn(base::Timestamp after, base::Timestamp until) const;

  // Between slots of which the earlier one comes within kDistancesOver. What a change of the clocks
  // takes or adds does not count: nine o'clock every day is a day apart.
  struct Distances {
    std::chrono::seconds shortest{};
    std::chrono::seconds longest{};
  };
  // Empty where fewer than two slots come.
  std::optional<Distances> DistancesAfter(base::Timestamp after) const;

  struct ClockChange {
    std::chrono::sys_seconds at{};
    std::string effect;  // on the slots around it, a sentence
  };
  // Those in (from, to].
  std::vector<ClockChange> ClockChanges(base::Timestamp from, base::Timestamp to) const;

 private:
  friend class SlotWalk;

  ClockSchedule(std::vector<CronExpression> expressions, TimeZone zone)
      : expressions_(std::move(expressions)), zone_(zone) {}

  std::vector<CronExpression> expressions_;
  TimeZone zone_;
};

// A length of time as clients write it, in the largest unit of s, m, h and d that it is whole in.
std::string DurationText(std::chrono::seconds length);

}  // namespace vedette::domain
