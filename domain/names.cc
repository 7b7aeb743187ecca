#include "domain/names.h"

#include <array>
#include <cstddef>

namespace vedette::domain {
namespace {

// A table's index is the enumeration's number.
using namespace std::string_view_literals;
constexpr std::array kTiers{"micro"sv, "low"sv, "medium"sv, "high"sv};
constexpr std::array kSubjectTypes{"company"sv, "lead"sv};
constexpr std::array kMonitorStatuses{"starting"sv, "failed"sv, "active"sv, "paused"sv,
                                      "cancelled"sv};
constexpr std::array kTickTriggers{"schedule"sv, "manual"sv};
constexpr std::array kEventTypes{"change"sv, "error"sv, "completion"sv};
constexpr std::array kNotificationTypes{"monitor.field.changed"sv, "monitor.execution.completed"sv,
                                        "monitor.execution.failed"sv, "monitor.webhook.test"sv};
constexpr std::array kDeliveryStates{"pending"sv, "dead"sv, "delivered"sv};

// A number that is none of the enumeration's (a row written by a newer version) has no name.
template <std::size_t N, typename E>
std::string_view Name(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown"sv;
}

template <typename E, std::size_t N>
std::optional<E> Find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view TierName(Tier tier) {
  return Name(kTiers, tier);
}
std::optional<Tier> ParseTier(std::string_view name) {
  return Find<Tier>(kTiers, name);
}

std::string_view SubjectTypeName(SubjectType type) {
  return Name(kSubjectTypes, type);
}
std::optional<SubjectType> ParseSubjectType(std::string_view name) {
  return Find<SubjectType>(kSubjectTypes, name);
}

std::string_view MonitorStatusName(MonitorStatus status) {
  return Name(kMonitorStatuses, status);
}
std::optional<MonitorStatus> ParseMonitorStatus(std::string_view name) {
  return Find<MonitorStatus>(kMonitorStatuses, name);
}

std::string_view TickTriggerName(TickTrigger trigger) {
  return Name(kTickTriggers, trigger);
}

std::string_view EventTypeName(EventType type) {
  return Name(kEventTypes, type);
}

std::string_view NotificationTypeName(NotificationType type) {
  return Name(kNotificationTypes, type);
}
std::optional<NotificationType> ParseNotificationType(std::string_view name) {
  const auto type = Find<NotificationType>(kNotificationTypes, name);
  if (type == NotificationType::kTest) return std::nullopt;  // nobody can subscribe to it
  return type;
}

std::string_view DeliveryStateName(DeliveryState state) {
  return Name(kDeliveryStates, state);
}

}  // namespace vedette::domain
