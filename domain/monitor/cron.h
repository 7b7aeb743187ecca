#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>

// An expression of crontab(5): minute, hour, day of month, month, day of week. Which days and which
// times of a day it names; no zone and no clock. Pure.
namespace vedette::domain {

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

}  // namespace vedette::domain
