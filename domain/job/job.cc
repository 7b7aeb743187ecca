#include "domain/job/job.h"

#include <algorithm>
#include <array>
#include <string>

#include "domain/text/name_table.h"

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

namespace {

// The milliseconds with which a version 7 begins.
constexpr std::size_t kTimeBytes = 6;

base::Uuid WithTimeOf(const base::Uuid& from, base::Uuid id) {
  std::copy_n(from.bytes.begin(), kTimeBytes, id.bytes.begin());
  return id;
}

}  // namespace

base::Uuid EventGroupId(const base::Uuid& row_id, std::int64_t tick_id) {
  return base::Uuid::V5(row_id, std::to_string(tick_id));
}

base::Uuid EventId(const base::Uuid& event_group_id, EventType type, std::string_view field) {
  std::string name(EventTypeName(type));
  if (type == EventType::kChange) name.append(":").append(field);
  return base::Uuid::V5(event_group_id, name);
}

base::Uuid JobRowId(const base::Uuid& job_id, int block, std::int64_t part, int index) {
  const std::int64_t row = part * kPartRowsMax + index;
  return base::Uuid::V5(job_id, std::to_string(block) + "/" + std::to_string(row));
}

base::Uuid JobEventId(const base::Uuid& job_id, JobKind kind) {
  return base::Uuid::V5(job_id, JobKindName(kind));
}

base::Uuid RunEventId(const base::Uuid& run_id, JobStatus status, std::string_view block_id) {
  std::string name(NotificationTypeName(NotificationType::kOutgoingWebhook));
  name.append(".").append(JobStatusName(RunStatus(status))).append(":").append(block_id);
  return base::Uuid::V5(run_id, name);
}

base::Uuid RunMonitorId(const base::Uuid& run_id, std::string_view block_id) {
  return WithTimeOf(run_id, base::Uuid::V5(run_id, block_id));
}

base::Uuid RunMonitorRowId(const base::Uuid& monitor_id, std::string_view key_hash) {
  return WithTimeOf(monitor_id, base::Uuid::V5(monitor_id, key_hash));
}

}  // namespace vedette::domain
