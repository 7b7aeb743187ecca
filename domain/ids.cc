#include "domain/ids.h"

#include <string>

namespace vedette::domain {

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

}  // namespace vedette::domain
