#include "domain/monitor/clock_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::size_t kClosestZones = 3;
constexpr std::size_t kZoneCharsShown = 64;

struct Slot {
  sys_seconds at;
  local_seconds wall;  // what the expression says

  bool operator<(const Slot& other) const { return at < other.at; }
};

std::string WallTime(local_seconds local, bool with_date) {
  const std::string text = base::FormatTimestamp(base::Timestamp(local.time_since_epoch()));
  const std::string clock = text.substr(text.find('T') + 1, 5);
  return with_date ? text.substr(0, text.find('T')) + ' ' + clock : clock;
}

}  // namespace

// Goes from slot to slot, and makes those of one local day at a time. A day ahead is always made
// before a slot is given: where a change of the clocks comes around midnight, times of two days
// mix.
class SlotWalk {
 public:
  SlotWalk(const ClockSchedule& schedule, base::Timestamp after)
      : schedule_(schedule), after_(after) {
    const auto local = schedule.zone_.LocalOf(std::chrono::floor<seconds>(after));
    day_ = std::chrono::floor<days>(local) - days(1);
    last_ = day_ + kComesWithin;
  }

  std::optional<Slot> Next() {
    while (slots_.empty() || slots_.front().wall >= day_ - days(1)) {
      if (day_ > last_) break;
      AddDay();
    }
    if (slots_.empty()) return std::nullopt;
    const Slot slot = slots_.front();
    while (!slots_.empty() && slots_.front().at == slot.at) slots_.pop_front();
    after_ = slot.at;
    last_ = std::max(last_, std::chrono::floor<days>(slot.wall) + kComesWithin);
    return slot;
  }

 private:
  void AddDay() {
    const std::chrono::year_month_day date{day_};
    const auto offset = schedule_.zone_.OffsetOfDay(day_);
    const std::size_t before = slots_.size();
    for (const CronExpression& cron : schedule_.expressions_) {
      if (cron.MatchesDay(date)) AddTimes(cron, offset);
    }
    if (slots_.size() > before) std::stable_sort(slots_.begin(), slots_.end());
    day_ += days(1);
  }

  void AddTimes(const CronExpression& cron, const std::optional<seconds>& offset) {
    for (std::size_t hour = 0; hour < cron.hours().size(); ++hour) {
      if (!cron.hours().test(hour)) continue;
      for (std::size_t minute = 0; minute < cron.minutes().size(); ++minute) {
        if (!cron.minutes().test(minute)) continue;
        const local_seconds local = day_ + hours(hour) + minutes(minute);
        if (offset) {
          Add({sys_seconds(local.time_since_epoch() - *offset), local});
        } else {
          AddOnDayOfChange(cron, local);
        }
      }
    }
  }

  void AddOnDayOfChange(const CronExpression& cron, local_seconds local) {
    using Kind = TimeZone::Instants::Kind;
    const TimeZone::Instants at = schedule_.zone_.At(local);
    if (at.kind != Kind::kSkipped || !cron.goes_by_elapsed_time()) Add({at.first, local});
    if (at.kind == Kind::kTwice && cron.goes_by_elapsed_time()) Add({at.second, local});
  }

  void Add(const Slot& slot) {
    if (slot.at > after_) slots_.push_back(slot);
  }

  const ClockSchedule& schedule_;
  base::Timestamp after_;
  local_days day_;   // to be made next
  local_days last_;  // that is made
  std::deque<Slot> slots_;
};

std::variant<ClockSchedule, ClockSchedule::Fault> ClockSchedule::Make(
    const std::vector<std::string>& cron, const std::string& time_zone) {
  if (cron.empty() || cron.size() > kCronExpressionsMax) {
    return Fault{Fault::Field::kCron, fmt::format("cron has {} expressions: 1 to {} are possible",
                                                  cron.size(), kCronExpressionsMax)};
  }
  std::vector<CronExpression> expressions;
  for (const std::string& text : cron) {
    auto parsed = CronExpression::Parse(text);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
      return Fault{Fault::Field::kCron,
                   fmt::format("cron \"{}\": {}", base::CutCharacters(text, 64), *wrong)};
    }
    expressions.push_back(std::get<CronExpression>(parsed));
  }
  const auto zone = TimeZone::Find(time_zone);
  if (zone) return ClockSchedule(std::move(expressions), *zone);
  std::string sentence =
      fmt::format("time_zone \"{}\" is not a name of the IANA tz database, such as Europe/Berlin",
                  base::CutCharacters(time_zone, kZoneCharsShown));
  const auto closest = TimeZone::Closest(time_zone, kClosestZones);
  for (std::size_t i = 0; i < closest.size(); ++i) {
    sentence += (i == 0 ? "; close to it are " : ", ") + closest[i];
  }
  return Fault{Fault::Field::kTimeZone, std::move(sentence)};
}

std::vector<sys_seconds> ClockSchedule::TimesAfter(base::Timestamp after, std::size_t count) const {
  std::vector<sys_seconds> times;
  SlotWalk walk(*this, after);
  while (times.size() < count) {
    const auto slot = walk.Next();
    if (!slot) break;
    times.push_back(slot->at);
  }
  return times;
}

std::optional<sys_seconds> ClockSchedule::NextAfter(base::Timestamp after) const {
  const auto slot = SlotWalk(*this, after).Next();
  if (!slot) return std::nullopt;
  return slot->at;
}

ClockSchedule::Passed ClockSchedule::PassedIn(base::Timestamp after, base::Timestamp until) const {
  Passed passed;
  SlotWalk walk(*this, after);
  auto slot = walk.Next();
  for (; slot && slot->at <= until; slot = walk.Next()) ++passed.slots;
  if (slot) passed.next = slot->at;
  return passed;
}

std::optional<ClockSchedule::Distances> ClockSchedule::DistancesAfter(base::Timestamp after) const {
  std::optional<Distances> distances;
  SlotWalk walk(*this, after);
  auto earlier = walk.Next();
  while (earlier && earlier->at <= after + kDistancesOver) {
    const auto slot = walk.Next();
    if (!slot) break;
    const seconds elapsed = slot->at - earlier->at;
    const seconds on_the_wall = slot->wall - earlier->wall;
    if (!distances) distances = {std::max(elapsed, on_the_wall), seconds(0)};
    distances->shortest = std::min(distances->shortest, std::max(elapsed, on_the_wall));
    distances->longest = std::max(distances->longest, std::min(elapsed, on_the_wall));
    // Nothing is shorter, and a year of minutes takes long.
    if (distances->shortest <= minutes(1) && distances->longest > seconds(0)) break;
    earlier = slot;
  }
  return distances;
}

std::vector<ClockSchedule::ClockChange> ClockSchedule::ClockChanges(base::Timestamp from,
                                                                    base::Timestamp to) const {
  const bool elapses =
      std::any_of(expressions_.begin(), expressions_.end(),
                  [](const CronExpression& cron) { return cron.goes_by_elapsed_time(); });
  std::vector<ClockChange> changes;
  for (const TimeZone::Change& change :
       zone_.Changes(std::chrono::floor<seconds>(from), std::chrono::floor<seconds>(to))) {
    // Samoa has left out a day.
    const bool names_days = std::chrono::abs(change.after - change.before) >= days(1);
    const local_seconds at(change.at.time_since_epoch());
    const std::string before = WallTime(at + change.before, names_days);
    const std::string after = WallTime(at + change.after, names_days);
    if (change.after > change.before) {
      changes.push_back(
          {change.at,
           fmt::format("The clocks go forward from {} to {}: a time between them {}.", before,
                       after,
                       elapses ? "is left out where the hour is \"*\" or a step, else comes at once"
                               : fmt::format("comes at {}", after))});
    } else {
      changes.push_back(
          {change.at,
           fmt::format("The clocks go back from {} to {}: a time between them {}.", before, after,
                       elapses ? "comes in both hours where the hour is \"*\" or a step, else once"
                               : "comes once, the first time")});
    }
  }
  return changes;
}

std::string DurationText(seconds length) {
  if (length % days(1) == seconds(0)) return fmt::format("{}d", length / days(1));
  if (length % hours(1) == seconds(0)) return fmt::format("{}h", length / hours(1));
  if (length % minutes(1) == seconds(0)) return fmt::format("{}m", length / minutes(1));
  return fmt::format("{}s", length.count());
}

}  // namespace vedette::domain
