#include "domain/monitor/timetable.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <variant>

#include "base/json.h"

namespace vedette::domain {
namespace {

base::Json CronJson(const ScheduleOrder& order) {
  if (order.is_list) return order.cron;
  return order.cron.at(0);
}

base::Json Shown(const ScheduleOrder& order) {
  return {{"cron", CronJson(order)},
          {"time_zone", order.time_zone},
          {"spread_s", order.spread.count()}};
}

}  // namespace

std::string ScheduleJson(const ScheduleOrder& order) {
  return base::DumpJson(Shown(order));
}

std::string StoredSchedule(const ScheduleOrder& order) {
  base::Json json = Shown(order);
  json["longest_s"] = order.distances.longest.count();
  return base::DumpJson(json);
}

ScheduleOrder ParseStoredSchedule(std::string_view text) {
  const base::Json json = base::ParseJsonOrThrow(text);
  ScheduleOrder order;
  order.is_list = json.at("cron").is_array();
  if (order.is_list) {
    order.cron = json.at("cron").get<std::vector<std::string>>();
  } else {
    order.cron = {json.at("cron").get<std::string>()};
  }
  order.time_zone = json.at("time_zone").get<std::string>();
  order.spread = std::chrono::seconds(json.at("spread_s").get<std::int64_t>());
  order.distances.longest = std::chrono::seconds(json.at("longest_s").get<std::int64_t>());
  return order;
}

std::chrono::microseconds SpreadOf(const base::Uuid& id, std::chrono::microseconds most) {
  // FNV-1a, and its end mixed: the low bits alone would follow the last byte.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::uint8_t byte : id.bytes) hash = (hash ^ byte) * 1099511628211ULL;
  hash ^= hash >> 32;
  return std::chrono::microseconds(
      static_cast<std::int64_t>(hash % (static_cast<std::uint64_t>(most.count()) + 1)));
}

std::chrono::microseconds AnchorLead(const base::Uuid& id, std::chrono::seconds frequency,
                                     double spread) {
  const std::chrono::microseconds share(
      static_cast<std::int64_t>(static_cast<double>(frequency.count()) * spread / 2 * 1e6));
  return SpreadOf(id, std::min<std::chrono::microseconds>(share, kAnchorLeadMax));
}

Timetable::Timetable(base::Timestamp anchor, std::chrono::seconds frequency,
                     const std::optional<std::string>& stored_schedule,
                     const base::Uuid& monitor_id)
    : anchor_(anchor), frequency_(frequency) {
  if (!stored_schedule) return;
  const ScheduleOrder order = ParseStoredSchedule(*stored_schedule);
  auto made = ClockSchedule::Make(order.cron, order.time_zone);
  if (auto* clock = std::get_if<ClockSchedule>(&made)) clock_ = std::move(*clock);
  // Whole seconds, each as often.
  const std::chrono::microseconds most(order.spread.count());
  later_ = std::chrono::seconds(SpreadOf(monitor_id, most).count());
}

Timetable Timetable::Since(base::Timestamp changed, std::chrono::seconds frequency,
                           const std::optional<std::string>& stored_schedule,
                           const base::Uuid& id) {
  Timetable made(changed, frequency, stored_schedule, id);
  made.since_ = changed;
  return made;
}

base::Timestamp Timetable::FirstAfter(base::Timestamp now) const {
  const base::Timestamp from = std::max(now, since_);
  if (clock_) {
    const auto slot = clock_->NextAfter(from - later_);
    if (slot) return *slot + later_;
  }
  return FirstSlotAfter(anchor_, frequency_, from);
}

DueSlots Timetable::CollapseDue(base::Timestamp next_run_at, base::Timestamp now) const {
  const base::Timestamp from = std::max(next_run_at, since_);
  if (clock_ && from <= now) {
    const ClockSchedule::Passed passed = clock_->PassedIn(from - later_, now - later_);
    return {next_run_at, 1 + passed.slots, passed.next ? *passed.next + later_ : FirstAfter(now)};
  }
  const base::Timestamp second = FirstAfter(next_run_at);
  if (second > now) return {next_run_at, 1, second};
  const DueSlots further = CollapseDueSlots(second, frequency_, now);
  return {next_run_at, 1 + further.slots, further.next_run_at};
}

std::vector<base::Timestamp> Timetable::NextTimes(base::Timestamp next_run_at, int count) const {
  std::vector<base::Timestamp> times;
  times.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    times.push_back(k == 0 ? next_run_at : FirstAfter(times.back()));
  }
  return times;
}

DueSlots CollapseDueSlots(base::Timestamp next_run_at, std::chrono::seconds frequency,
                          base::Timestamp now) {
  // A clock behind next_run_at is a caller's mistake; the slot asked about still stands for itself.
  const std::int64_t passed = now > next_run_at ? (now - next_run_at) / frequency : 0;
  return DueSlots{next_run_at, passed + 1, next_run_at + frequency * (passed + 1)};
}

base::Timestamp FirstSlotAfter(base::Timestamp anchor, std::chrono::seconds frequency,
                               base::Timestamp now) {
  if (now < anchor) return anchor;
  return anchor + frequency * ((now - anchor) / frequency + 1);
}

namespace {

std::int64_t UnitSeconds(char unit, bool seconds_allowed) {
  switch (unit) {
    case 's':
      return seconds_allowed ? 1 : 0;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    case 'w':
      return 7 * 86400;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::chrono::seconds> ParseDuration(std::string_view text, bool seconds_allowed) {
  constexpr std::int64_t kSecondsMax = std::int64_t{100} * 365 * 86400;
  if (text.size() < 2 || text[0] == '0') return std::nullopt;
  const std::int64_t unit = UnitSeconds(text.back(), seconds_allowed);
  if (unit == 0) return std::nullopt;
  std::int64_t count = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + (c - '0');
    if (count > kSecondsMax) return std::nullopt;  // before the sum can overflow
  }
  if (count > kSecondsMax / unit) return std::nullopt;
  return std::chrono::seconds(count * unit);
}

}  // namespace vedette::domain
