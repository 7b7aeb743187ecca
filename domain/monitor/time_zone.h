#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace date {
class time_zone;
}

namespace vedette::domain {

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

}  // namespace vedette::domain
