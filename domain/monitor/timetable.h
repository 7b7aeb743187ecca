#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/clock_schedule.h"

// When a monitor is due: at a frequency from an anchor on, or by the clock of a place
// (clock_schedule.h). Pure.
namespace vedette::domain {

// The schedule of a monitor by a frequency: slots at anchor + k x frequency for k = 0, 1, 2, ... No
// drift, whatever runs late. `now` is the database's clock.

// Ticks are cut, and their chunks claimed, this long before their slot, so that a check begins with
// its slot and not some round trips behind it.
inline constexpr std::chrono::milliseconds kCutAhead{20};
// The scheduler sleeps until the next slot is this near, and cuts all that is due within kCutAhead
// together: small monitors that are due at times of their own share a hundred cuts a second at
// most.
inline constexpr std::chrono::milliseconds kCutAheadMin{10};

struct DueSlots {
  // The earliest slot not yet accounted for: the tick's due_at.
  base::Timestamp due_at;
  // Slots from next_run_at to now, both included, collapsed into this one tick. At least 1.
  std::int64_t slots;
  // The first slot after now.
  base::Timestamp next_run_at;
};

// What is due of a monitor whose next unaccounted slot is `next_run_at`. Requires next_run_at <=
// now.
DueSlots CollapseDueSlots(base::Timestamp next_run_at, std::chrono::seconds frequency,
                          base::Timestamp now);

// The first slot strictly after `now`: after a resume or a changed frequency. The anchor is in the
// past or the future; slots before the anchor do not exist.
base::Timestamp FirstSlotAfter(base::Timestamp anchor, std::chrono::seconds frequency,
                               base::Timestamp now);

// A duration as the API and the configuration write it: ^[1-9][0-9]*(m|h|d|w)$, also "s" where
// `seconds_allowed`. Empty for anything else and for more than 100 years.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text, bool seconds_allowed);

// A schedule by the clock as a client gives it, and what follows from it.
struct ScheduleOrder {
  std::vector<std::string> cron;
  bool is_list = false;  // `cron` was given as a list
  std::string time_zone = "UTC";
  std::chrono::seconds spread{0};  // the slots come up to that much later, by the monitor's id
  ClockSchedule::Distances distances{};
};

// {"cron", "time_zone", "spread_s"}, as clients see it.
std::string ScheduleJson(const ScheduleOrder& order);
// The same with the longest distance, as the database keeps it; and what is read of that.
std::string StoredSchedule(const ScheduleOrder& order);
ScheduleOrder ParseStoredSchedule(std::string_view json);

// A time from 0 to `most`, the same for an id always, and evenly over ids.
std::chrono::microseconds SpreadOf(const base::Uuid& id, std::chrono::microseconds most);

// How much earlier than its creation a monitor's anchor is, so that those that are made together do
// not come together for good: up to half of `spread` (a share of the frequency), at most
// kAnchorLeadMax.
inline constexpr std::chrono::minutes kAnchorLeadMax{10};
std::chrono::microseconds AnchorLead(const base::Uuid& id, std::chrono::seconds frequency,
                                     double spread);

class Timetable {
 public:
  // By `stored_schedule` (StoredSchedule) where there is one. A schedule that cannot be read any
  // more, because its zone has left the tz database, goes on by its shortest distance, which is
  // what `frequency` is then.
  Timetable(base::Timestamp anchor, std::chrono::seconds frequency,
            const std::optional<std::string>& stored_schedule, const base::Uuid& monitor_id);
  // The same of times that hold since `changed`, which is their anchor: whatever was due before,
  // the slots after it come after the change.
  static Timetable Since(base::Timestamp changed, std::chrono::seconds frequency,
                         const std::optional<std::string>& stored_schedule, const base::Uuid& id);

  bool by_clock() const { return clock_.has_value(); }

  // The first slot strictly after `now`, and after the change that made these times.
  base::Timestamp FirstAfter(base::Timestamp now) const;
  // The first slot that is not accounted for at `now`: those before it are cut (kCutAhead), or are
  // passed over.
  base::Timestamp FirstToCut(base::Timestamp now) const { return FirstAfter(now + kCutAhead); }

  // What is due of a monitor whose next unaccounted slot is `next_run_at`: that and the slots after
  // it up to `now`. It need not be a slot of this timetable: the first check of a monitor comes at
  // once, and one that came due under another timetable stays due. Requires next_run_at <= now.
  DueSlots CollapseDue(base::Timestamp next_run_at, base::Timestamp now) const;

  // `count` slots from `next_run_at` on.
  std::vector<base::Timestamp> NextTimes(base::Timestamp next_run_at, int count) const;

 private:
  base::Timestamp anchor_;
  std::chrono::seconds frequency_;
  std::optional<ClockSchedule> clock_;
  std::chrono::microseconds later_{0};              // than the clock's slots
  base::Timestamp since_ = base::Timestamp::min();  // no slot of its own comes earlier, or then
};

}  // namespace vedette::domain
