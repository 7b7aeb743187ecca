#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "domain/monitor/clock_schedule.h"

// When a channel tells what it has gathered. Pure but for the tz database.
namespace vedette::domain {

inline constexpr std::string_view kNoDigest = "none";  // it is told at once

// "hourly": at each full hour; "daily at HH:MM ZONE": at a time of day, UTC where no zone is named;
// "weekly": on Mondays at 9:00 UTC.
class Digest {
 public:
  // A sentence where the text is none of these; kNoDigest is none either.
  static std::variant<Digest, std::string> Read(std::string_view text);

  base::Timestamp NextAfter(base::Timestamp after) const;

 private:
  explicit Digest(ClockSchedule schedule) : schedule_(std::move(schedule)) {}
  ClockSchedule schedule_;
};

}  // namespace vedette::domain
