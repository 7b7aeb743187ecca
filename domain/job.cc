#include "domain/job.h"

#include <array>

#include "domain/name_table.h"

namespace vedette::domain {
namespace {

// A table's index is the enumeration's number.
using namespace std::string_view_literals;
constexpr std::array kKinds{"find_email"sv,        "find_email_bulk"sv, "reverse_email"sv,
                            "verify_age"sv,        "investigation"sv,   "workflow"sv,
                            "reverse_email_bulk"sv};
constexpr std::array kStatuses{"queued"sv,    "running"sv,    "completed"sv, "failed"sv,
                               "cancelled"sv, "terminated"sv, "timed_out"sv};
constexpr std::array kLanes{"transform"sv, "lookup"sv, "smtp"sv, "research"sv};
constexpr std::array kBlockStatuses{"pending"sv, "running"sv, "completed"sv, "failed"sv};
static_assert(kKinds.size() == kJobKindCount && kLanes.size() == kLaneCount);

}  // namespace

std::string_view JobKindName(JobKind kind) {
  return NameIn(kKinds, kind);
}
std::optional<JobKind> ParseJobKind(std::string_view name) {
  return FindIn<JobKind>(kKinds, name);
}

std::optional<NotificationType> CallbackType(JobKind kind) {
  switch (kind) {
    case JobKind::kFindEmail:
      return NotificationType::kFindEmail;
    case JobKind::kFindEmailBulk:
      return NotificationType::kFindEmailBulk;
    case JobKind::kReverseEmail:
      return NotificationType::kReverseEmail;
    case JobKind::kVerifyAge:
      return NotificationType::kVerifyAge;
    case JobKind::kReverseEmailBulk:
      return NotificationType::kReverseEmailBulk;
    case JobKind::kInvestigation:
    case JobKind::kWorkflow:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view JobStatusName(JobStatus status) {
  return NameIn(kStatuses, status);
}
std::optional<JobStatus> ParseJobStatus(std::string_view name) {
  return FindIn<JobStatus>(kStatuses, name);
}

JobStatus RunStatus(JobStatus status) {
  if (status == JobStatus::kTerminated) return JobStatus::kCancelled;
  return status == JobStatus::kTimedOut ? JobStatus::kFailed : status;
}

std::string_view LaneName(Lane lane) {
  return NameIn(kLanes, lane);
}
std::optional<Lane> ParseLane(std::string_view name) {
  return FindIn<Lane>(kLanes, name);
}

std::string_view BlockStatusName(BlockStatus status) {
  return NameIn(kBlockStatuses, status);
}

}  // namespace vedette::domain
