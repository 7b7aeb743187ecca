#include "domain/monitor/clock_schedule.h"

#include <date/tz.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr std::size_t kZoneNameCharsMax = 64;

date::local_seconds ToDate(std::chrono::local_seconds local) {
  return date::local_seconds(local.time_since_epoch());
}

// Directories of the database that hold its zones once more, with and without leap seconds.
bool IsCopy(std::string_view name) {
  return name.starts_with("posix/") || name.starts_with("right/") || name == "localtime" ||
         name == "posixrules";
}

const date::tzdb* Database() {
  try {
    return &date::get_tzdb();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// How people write a name: "new york", "America/New_York".
std::string Folded(std::string_view name) {
  std::string folded = base::AsciiLower(name);
  std::replace(folded.begin(), folded.end(), ' ', '_');
  return folded;
}

std::string_view CityOf(std::string_view name) {
  return name.substr(name.rfind('/') + 1);
}

// Letters to change, leave out or put in (Levenshtein).
std::size_t Difference(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::optional<TimeZone> TimeZone::Find(std::string_view name) {
  const date::tzdb* database = Database();
  if (database == nullptr || IsCopy(name)) return std::nullopt;
  const auto& zones = database->zones;
  const auto found = std::lower_bound(
      zones.begin(), zones.end(), name,
      [](const date::time_zone& zone, std::string_view sought) { return zone.name() < sought; });
  if (found == zones.end() || found->name() != name) return std::nullopt;
  try {
    found->get_info(std::chrono::sys_seconds{});  // reads its file
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return TimeZone(&*found);
}

std::vector<std::string> TimeZone::Closest(std::string_view name, std::size_t count) {
  const date::tzdb* database = Database();
  if (database == nullptr) return {};
  const std::string sought = Folded(name.substr(0, kZoneNameCharsMax));
  std::vector<std::pair<std::size_t, std::string>> names;
  for (const date::time_zone& zone : database->zones) {
    if (IsCopy(zone.name())) continue;
    const std::string folded = Folded(zone.name());
    std::size_t difference = Difference(sought, folded);
    if (CityOf(folded) == CityOf(sought)) {
      difference = 0;
    } else {
      difference = std::min(difference, Difference(CityOf(sought), CityOf(folded)) + 1);
    }
    names.emplace_back(difference, zone.name());
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> closest;
  for (auto& [difference, zone] : names) {
    if (closest.size() < count) closest.push_back(std::move(zone));
  }
  return closest;
}

TimeZone::Instants TimeZone::At(std::chrono::local_seconds local) const {
  using Kind = Instants::Kind;
  const date::local_info info = zone_->get_info(ToDate(local));
  const std::chrono::sys_seconds as_utc(local.time_since_epoch());
  switch (info.result) {
    case date::local_info::nonexistent:
      return {Kind::kSkipped, info.first.end, {}};
    case date::local_info::ambiguous:
      return {Kind::kTwice, as_utc - info.first.offset, as_utc - info.second.offset};
    default:
      return {Kind::kOnce, as_utc - info.first.offset, {}};
  }
}

std::optional<std::chrono::seconds> TimeZone::OffsetOfDay(std::chrono::local_days day) const {
  const date::local_info info = zone_->get_info(ToDate(day));
  if (info.result != date::local_info::unique) return std::nullopt;
  const std::chrono::sys_seconds begin =
      std::chrono::sys_seconds(std::chrono::seconds(day.time_since_epoch())) - info.first.offset;
  // Two days: times just before a change may be those that come again after it.
  if (info.first.end < begin + std::chrono::days(2)) return std::nullopt;
  return info.first.offset;
}

std::chrono::local_seconds TimeZone::LocalOf(std::chrono::sys_seconds at) const {
  return std::chrono::local_seconds(at.time_since_epoch() + zone_->get_info(at).offset);
}

std::vector<TimeZone::Change> TimeZone::Changes(std::chrono::sys_seconds from,
                                                std::chrono::sys_seconds to) const {
  std::vector<Change> changes;
  date::sys_info info = zone_->get_info(from);
  while (info.end <= to) {
    const date::sys_info next = zone_->get_info(info.end);
    if (next.offset != info.offset) changes.push_back({info.end, info.offset, next.offset});
    info = next;
  }
  return changes;
}

}  // namespace vedette::domain
