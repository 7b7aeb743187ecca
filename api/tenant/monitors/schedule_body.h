#pragma once

#include <optional>
#include <string>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "base/clock.h"
#include "config/config_fwd.h"
#include "domain/monitor/timetable.h"

namespace vedette::api {

// The schedules by the clock in bodies: first types and limits (422), which become problems, then
// rules, of which the first that is broken is refused (400).

inline constexpr int kSpreadSecondsMax = 3600;

// The members `cron` (an expression, or a list of them) and `time_zone` of the object at `loc`.
// What `order` has already stays where the object does not have it.
void ReadCronAndZone(const base::Json& object, const base::Json& loc, rest::Problems* problems,
                     domain::ScheduleOrder* order);

// The member `schedule`; nothing where it is absent. Only valid without problems.
std::optional<domain::ScheduleOrder> ReadScheduleMember(rest::BodyReader* reader,
                                                        rest::Problems* problems);

// Refuses expressions that are none (`invalid_schedule`), an unknown zone (`invalid_time_zone`,
// with the closest names), and what never comes (`invalid_schedule`).
domain::ClockSchedule MakeSchedule(const domain::ScheduleOrder& order, base::Timestamp now);

// What the feature of testing monitors is needed for, as a sentence begins; nothing where it is
// not.
using NeedsTesting = std::optional<std::string>;

// Refuses likewise, and with `invalid_frequency` where slots are too near to each other or too far
// apart; fills the order's distances.
NeedsTesting CheckDistances(const config::LimitsConfig& limits, base::Timestamp now,
                            domain::ScheduleOrder* order);

}  // namespace vedette::api
