#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "api/kit/body.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/schedule_body.h"
#include "base/json.h"
#include "domain/text/limits.h"

namespace vedette::api {
namespace {

constexpr int kTimesMax = 100;
// Years of which the tz database says when the clocks change; the last one is for times alone, so
// that what is asked for has some.
constexpr base::Timestamp kFromMin{};
constexpr base::Timestamp kFromEnd = std::chrono::sys_days(std::chrono::year(2037) / 1 / 1);
constexpr std::chrono::sys_seconds kTimesEnd =
    std::chrono::sys_days(std::chrono::year(2038) / 1 / 1);

// Without fractions, which no slot has.
std::string TimeText(std::chrono::sys_seconds at) {
  std::string text = base::FormatTimestamp(at);
  return text.substr(0, text.find('.')) + 'Z';
}

}  // namespace

rest::Handled PreviewSchedule(Call& call) {
  const rest::JsonBody body = ReadJsonObject(call, {.bytes_max = call.body_bytes_max});
  rest::Problems problems;
  rest::BodyReader reader(body.members, &problems);
  reader.Has("cron");
  reader.Has("time_zone");
  domain::ScheduleOrder order;
  ReadCronAndZone(body.members, base::Json::array({"body"}), &problems, &order);
  const int count = reader.Integer("count", rest::Presence::kOptional, 1, kTimesMax)
                        .value_or(domain::kNextRunTimesShown);
  const base::Timestamp from =
      reader.Time("from", rest::Presence::kOptional).value_or(call.parts.clock.Now());
  if (from < kFromMin || from >= kFromEnd) {
    reader.Refuse("from", "Input should be a time from 1970 to 2036");
  }
  reader.Finish();
  problems.Check();
  const domain::ClockSchedule schedule = MakeSchedule(order, from);
  auto times = schedule.TimesAfter(from, static_cast<std::size_t>(count));
  times.erase(std::lower_bound(times.begin(), times.end(), kTimesEnd), times.end());
  base::Json json{{"times", base::Json::array()}, {"clock_changes", base::Json::array()}};
  for (const auto& time : times) json["times"].push_back(TimeText(time));
  if (times.empty()) return rest::JsonReply(200, json);
  for (auto& change : schedule.ClockChanges(from, times.back())) {
    json["clock_changes"].push_back(
        {{"at", TimeText(change.at)}, {"effect", std::move(change.effect)}});
  }
  return rest::JsonReply(200, json);
}

}  // namespace vedette::api
