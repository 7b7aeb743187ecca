#include "domain/ids.h"

#include <algorithm>
#include <string>

namespace vedette::domain {
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
