#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// The enumerations that clients and the database know, and their names. The numbers are stored:
// never renumber. Each Parse gives nothing for an unknown name.
namespace vedette::domain {

enum class Tier : std::uint8_t { kMicro = 0, kLow = 1, kMedium = 2, kHigh = 3, kXhigh = 4 };
inline constexpr std::size_t kTierCount = 5;
std::string_view TierName(Tier tier);
std::optional<Tier> ParseTier(std::string_view name);
// The tiers of monitors, which have no xhigh: it is one of enrichment alone.
std::optional<Tier> ParseMonitorTier(std::string_view name);

enum class SubjectType : std::uint8_t { kCompany = 0, kLead = 1 };
std::string_view SubjectTypeName(SubjectType type);
std::optional<SubjectType> ParseSubjectType(std::string_view name);

enum class MonitorStatus : std::uint8_t {
  kStarting = 0,
  kFailed = 1,
  kActive = 2,
  kPaused = 3,
  kCancelled = 4,
};
std::string_view MonitorStatusName(MonitorStatus status);
std::optional<MonitorStatus> ParseMonitorStatus(std::string_view name);

enum class TickTrigger : std::uint8_t { kSchedule = 0, kManual = 1 };
std::string_view TickTriggerName(TickTrigger trigger);

// Types of records in the answers to row-events.
enum class EventType : std::uint8_t { kChange = 0, kError = 1, kCompletion = 2 };
std::string_view EventTypeName(EventType type);

// Types of notifications, the test notification, and the callbacks of jobs.
enum class NotificationType : std::uint8_t {
  kChanged = 0,
  kCompleted = 1,
  kFailed = 2,
  kTest = 3,
  kFindEmail = 4,
  kFindEmailBulk = 5,
  kReverseEmail = 6,
  kVerifyAge = 7,
  kOutgoingWebhook = 8,
  kReverseEmailBulk = 9,
};
std::string_view NotificationTypeName(NotificationType type);  // "monitor.field.changed", ...
// Parses what a monitor can subscribe to: not the test, and no callback of a job.
std::optional<NotificationType> ParseNotificationType(std::string_view name);
// Whether it tells of a check, to which a monitor can subscribe.
constexpr bool IsCheckNotice(NotificationType type) {
  return type < NotificationType::kTest;
}

enum class DeliveryState : std::uint8_t { kPending = 0, kDead = 1, kDelivered = 2 };
std::string_view DeliveryStateName(DeliveryState state);

// What a pending delivery waits for before its next attempt.
enum class DeliveryWait : std::uint8_t {
  kTurn = 0,           // it has not been tried, and is due
  kRetry = 1,          // an attempt failed: the next one
  kReceiver = 2,       // its receiver failed several times in a row and is left alone (its breaker)
  kSigningSecret = 3,  // the organisation's signing secret cannot be read: nothing goes unsigned
};
std::string_view DeliveryWaitName(DeliveryWait wait);

// Features of an organisation.
inline constexpr std::string_view kFeatureMonitors = "monitors";
inline constexpr std::string_view kFeatureTestingMonitors = "testing_monitors";
inline constexpr std::string_view kFeatureHighTier = "high_tier";
inline constexpr std::string_view kFeatureXhigh = "xhigh";

// How a check ended. The numbers are stored, one byte a check, in state_block, tick and check_log:
// never renumber.
enum class Outcome : std::uint8_t {
  kChanged = 1,
  kUnchanged = 2,
  kFailed = 3,
  kSkippedBalance = 4,
  kSkippedSpendLimit = 5,
  kSkippedPaused = 6,
  kSkippedOverlap = 7,
  kInactive = 8,
};

inline constexpr int kOutcomeMax = 8;

// In the packed form: no outcome yet.
inline constexpr std::uint8_t kNoOutcome = 0;

// "changed", "skipped_balance", ...
std::string_view OutcomeName(Outcome outcome);

// Completed checks, and only they, advance last_run_at, are charged and have a completion event.
constexpr bool IsCompleted(Outcome outcome) {
  return outcome == Outcome::kChanged || outcome == Outcome::kUnchanged;
}

// Counts by outcome; index = the enum's number, [0] = without an outcome.
using OutcomeCounts = std::array<std::int64_t, kOutcomeMax + 1>;

// Adds one for every byte of the packed form. Unknown bytes count as "without an outcome".
void CountOutcomes(std::string_view packed, OutcomeCounts* counts);

}  // namespace vedette::domain
