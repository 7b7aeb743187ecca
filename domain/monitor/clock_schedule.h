#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "domain/monitor/cron.h"
#include "domain/monitor/time_zone.h"

// A schedule by the clock of a place: its slots are the times that any of its expressions names, in
// one zone. Pure but for the tz database (time_zone.h). A value; safe on any thread.
//
// Over a change of the clocks each slot of the wall clock counts once. A local time that is skipped
// comes at the first instant after the gap, beside what stands there already; one that comes twice
// counts the first time. An expression that goes by elapsed time (cron.h) has no time in the gap,
// and one in both of the repeated hours.
namespace vedette::domain {

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
