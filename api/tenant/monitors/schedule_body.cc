#include "api/tenant/monitors/schedule_body.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "config/limits_config.h"
#include "domain/monitor/enums.h"
#include "domain/text/json_schema.h"
#include "domain/text/limits.h"

namespace vedette::api {
namespace {

constexpr std::chrono::seconds kDistanceMax = std::chrono::days(31);
constexpr const char* kInvalidSchedule = "invalid_schedule";

base::Json Inside(base::Json loc, std::string_view name) {
  loc.push_back(name);
  return loc;
}

// The texts of a list of 1 to kCronExpressionsMax.
void ReadCronList(const base::Json& cron, const base::Json& loc, rest::Problems* problems,
                  domain::ScheduleOrder* order) {
  order->is_list = true;
  order->cron.clear();
  if (cron.empty() || cron.size() > domain::kCronExpressionsMax) {
    problems->Add(loc, cron.empty() ? "too_short" : "too_long",
                  fmt::format("A list has 1 to {} expressions", domain::kCronExpressionsMax), cron);
    return;
  }
  for (const base::Json& item : cron) {
    if (item.is_string()) {
      order->cron.push_back(item.get<std::string>());
    } else {
      problems->Add(loc, "string_type", "An expression should be a string", item);
    }
  }
}

rest::Refusal Invalid(std::string sentence) {
  return {400, kInvalidSchedule, std::move(sentence)};
}

}  // namespace

void ReadCronAndZone(const base::Json& object, const base::Json& loc, rest::Problems* problems,
                     domain::ScheduleOrder* order) {
  const auto cron = object.find("cron");
  const base::Json cron_loc = Inside(loc, "cron");
  if (cron == object.end() || cron->is_null()) {
    if (order->cron.empty()) problems->Add(cron_loc, "missing", "Field required");
  } else if (cron->is_array()) {
    ReadCronList(*cron, cron_loc, problems, order);
  } else if (cron->is_string()) {
    order->is_list = false;
    order->cron = {cron->get<std::string>()};
  } else {
    problems->Add(cron_loc, "string_type", "Input should be an expression or a list of them",
                  *cron);
  }
  const auto zone = object.find("time_zone");
  if (zone == object.end() || zone->is_null()) return;
  if (zone->is_string()) {
    order->time_zone = zone->get<std::string>();
  } else {
    problems->Add(Inside(loc, "time_zone"), "string_type", "Input should be a string", *zone);
  }
}

std::optional<domain::ScheduleOrder> ReadScheduleMember(rest::BodyReader* reader,
                                                        rest::Problems* problems) {
  const base::Json* object = reader->Member("schedule", rest::Presence::kOptional);
  if (object == nullptr) return std::nullopt;
  const base::Json loc = rest::BodyReader::Loc("schedule");
  if (!object->is_object()) {
    problems->Add(loc, "dict_type", "Input should be an object", *object);
    return std::nullopt;
  }
  domain::ScheduleOrder order;
  ReadCronAndZone(*object, loc, problems, &order);
  for (const auto& [name, value] : object->items()) {
    if (name == "spread_s" && !value.is_null()) {
      const auto seconds = domain::IntegerOf(value);
      const bool fits = seconds && *seconds >= 0 && *seconds <= kSpreadSecondsMax;
      if (fits) order.spread = std::chrono::seconds(*seconds);
      if (!fits) {
        problems->Add(Inside(loc, name), "int_range",
                      fmt::format("Input should be an integer from 0 to {}", kSpreadSecondsMax),
                      value);
      }
    } else if (name != "cron" && name != "time_zone" && name != "spread_s") {
      problems->Add(Inside(loc, rest::Shortened(name).get<std::string>()), "extra_forbidden",
                    "There is no such field", value);
    }
  }
  return order;
}

domain::ClockSchedule MakeSchedule(const domain::ScheduleOrder& order, base::Timestamp now) {
  using Fault = domain::ClockSchedule::Fault;
  auto made = domain::ClockSchedule::Make(order.cron, order.time_zone);
  if (auto* fault = std::get_if<Fault>(&made)) {
    if (fault->field == Fault::Field::kCron) throw Invalid(std::move(fault->sentence));
    throw rest::Refusal(400, "invalid_time_zone", std::move(fault->sentence));
  }
  auto& schedule = std::get<domain::ClockSchedule>(made);
  // Each, as one that never comes among others is a mistake too.
  for (const std::string& cron : order.cron) {
    auto alone = domain::ClockSchedule::Make({cron}, order.time_zone);
    if (!std::get<domain::ClockSchedule>(alone).NextAfter(now)) {
      throw Invalid(fmt::format("cron {} never comes: no day of the next nine years has that date",
                                rest::Quoted(cron)));
    }
  }
  return std::move(schedule);
}

NeedsTesting CheckDistances(const config::LimitsConfig& limits, base::Timestamp now,
                            domain::ScheduleOrder* order) {
  const auto distances = MakeSchedule(*order, now).DistancesAfter(now);
  const auto refusal = [](std::string sentence) {
    return rest::Refusal(400, "invalid_frequency", std::move(sentence));
  };
  if (!distances || distances->longest > kDistanceMax) {
    throw refusal("schedule: two of its times are further apart than 31 days");
  }
  order->distances = *distances;
  const std::chrono::seconds shortest = distances->shortest;
  const std::string given = domain::DurationText(shortest);
  const auto too_near = [&](const std::string& limit) {
    return refusal(fmt::format(
        "schedule: two of its times are {} apart, and the shortest distance is {}", given, limit));
  };
  if (limits.frequency_min) {
    if (shortest < *limits.frequency_min) {
      throw too_near(domain::DurationText(*limits.frequency_min));
    }
    return std::nullopt;
  }
  if (shortest >= domain::kFrequencyMin) return std::nullopt;
  if (shortest < domain::kFrequencyTesting) {
    throw too_near(fmt::format(
        "{}, or {} with the feature {}", domain::DurationText(domain::kFrequencyMin),
        domain::DurationText(domain::kFrequencyTesting), domain::kFeatureTestingMonitors));
  }
  return fmt::format("a schedule of which two times are {} apart, nearer than {},", given,
                     domain::DurationText(domain::kFrequencyMin));
}

}  // namespace vedette::api
