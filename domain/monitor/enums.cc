#include "domain/monitor/enums.h"

#include <array>

#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

// A table's index is the enumeration's number.
using namespace std::string_view_literals;
constexpr std::array kTiers{"micro"sv, "low"sv, "medium"sv, "high"sv, "xhigh"sv};
constexpr std::array kSubjectTypes{"company"sv, "lead"sv};
constexpr std::array kMonitorStatuses{"starting"sv, "failed"sv, "active"sv, "paused"sv,
                                      "cancelled"sv};
constexpr std::array kTickTriggers{"schedule"sv, "manual"sv};
constexpr std::array kEventTypes{"change"sv, "error"sv, "completion"sv};
constexpr std::array kNotificationTypes{"monitor.field.changed"sv,
                                        "monitor.execution.completed"sv,
                                        "monitor.execution.failed"sv,
                                        "monitor.webhook.test"sv,
                                        "find_email"sv,
                                        "find_email_bulk"sv,
                                        "reverse_email"sv,
                                        "verify_age"sv,
                                        "outgoing_webhook"sv,
                                        "reverse_email_bulk"sv};
constexpr std::array kDeliveryStates{"pending"sv, "dead"sv, "delivered"sv};
constexpr std::array kDeliveryWaits{"turn"sv, "retry"sv, "receiver"sv, "signing_secret"sv};

}  // namespace

std::string_view TierName(Tier tier) {
  return NameIn(kTiers, tier);
}
std::optional<Tier> ParseTier(std::string_view name) {
  return FindIn<Tier>(kTiers, name);
}
std::optional<Tier> ParseMonitorTier(std::string_view name) {
  const auto tier = ParseTier(name);
  return tier == Tier::kXhigh ? std::nullopt : tier;
}

std::string_view SubjectTypeName(SubjectType type) {
  return NameIn(kSubjectTypes, type);
}
std::optional<SubjectType> ParseSubjectType(std::string_view name) {
  return FindIn<SubjectType>(kSubjectTypes, name);
}

std::string_view MonitorStatusName(MonitorStatus status) {
  return NameIn(kMonitorStatuses, status);
}
std::optional<MonitorStatus> ParseMonitorStatus(std::string_view name) {
  return FindIn<MonitorStatus>(kMonitorStatuses, name);
}

std::string_view TickTriggerName(TickTrigger trigger) {
  return NameIn(kTickTriggers, trigger);
}

std::string_view EventTypeName(EventType type) {
  return NameIn(kEventTypes, type);
}

std::string_view NotificationTypeName(NotificationType type) {
  return NameIn(kNotificationTypes, type);
}
std::optional<NotificationType> ParseNotificationType(std::string_view name) {
  const auto type = FindIn<NotificationType>(kNotificationTypes, name);
  if (!type || !IsCheckNotice(*type)) return std::nullopt;  // nobody can subscribe to it
  return type;
}

std::string_view DeliveryStateName(DeliveryState state) {
  return NameIn(kDeliveryStates, state);
}

std::string_view DeliveryWaitName(DeliveryWait wait) {
  return NameIn(kDeliveryWaits, wait);
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kChanged:
      return "changed";
    case Outcome::kUnchanged:
      return "unchanged";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kSkippedBalance:
      return "skipped_balance";
    case Outcome::kSkippedSpendLimit:
      return "skipped_spend_limit";
    case Outcome::kSkippedPaused:
      return "skipped_paused";
    case Outcome::kSkippedOverlap:
      return "skipped_overlap";
    case Outcome::kInactive:
      return "inactive";
  }
  return "unknown";
}

void CountOutcomes(std::string_view packed, OutcomeCounts* counts) {
  for (const char c : packed) {
    const auto value = static_cast<unsigned char>(c);
    ++(*counts)[value <= kOutcomeMax ? value : kNoOutcome];
  }
}

}  // namespace vedette::domain
