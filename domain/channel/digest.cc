#include "domain/channel/digest.h"

#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr const char* kRule =
    "Input should be 'none', 'hourly', 'weekly' or 'daily at HH:MM ZONE', such as 'daily at 09:00 "
    "Europe/Berlin'";

struct Daily {
  int hour = 0;
  int minute = 0;
  std::string zone;
};

// Two digits.
std::optional<int> ReadPair(std::string_view text, int max) {
  if (text.size() != 2 || !base::IsAsciiDigit(text[0]) || !base::IsAsciiDigit(text[1])) {
    return std::nullopt;
  }
  const int value = (text[0] - '0') * 10 + (text[1] - '0');
  return value <= max ? std::optional(value) : std::nullopt;
}

std::optional<Daily> ReadDaily(std::string_view text) {
  constexpr std::string_view kBegin = "daily at ";
  constexpr std::size_t kTimeChars = 5;
  if (!text.starts_with(kBegin)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  if (text.size() < kTimeChars || text[2] != ':') return std::nullopt;
  const auto hour = ReadPair(text.substr(0, 2), 23);
  const auto minute = ReadPair(text.substr(3, 2), 59);
  if (!hour || !minute) return std::nullopt;
  text.remove_prefix(kTimeChars);
  if (text.empty()) return Daily{*hour, *minute, "UTC"};
  if (!text.starts_with(' ') || text.size() == 1) return std::nullopt;
  return Daily{*hour, *minute, std::string(text.substr(1))};
}

}  // namespace

std::variant<Digest, std::string> Digest::Read(std::string_view text) {
  std::string cron;
  std::string zone = "UTC";
  if (text == "hourly") {
    cron = "0 * * * *";
  } else if (text == "weekly") {
    cron = "0 9 * * 1";
  } else if (const auto daily = ReadDaily(text)) {
    cron = fmt::format("{} {} * * *", daily->minute, daily->hour);
    zone = daily->zone;
  } else {
    return std::string(kRule);
  }
  auto made = ClockSchedule::Make({cron}, zone);
  if (auto* fault = std::get_if<ClockSchedule::Fault>(&made)) return std::move(fault->sentence);
  return Digest(std::get<ClockSchedule>(std::move(made)));
}

base::Timestamp Digest::NextAfter(base::Timestamp after) const {
  const auto next = schedule_.NextAfter(after);
  base::Assert(next.has_value(), "each of these comes within a week");
  return *next;
}

}  // namespace vedette::domain
