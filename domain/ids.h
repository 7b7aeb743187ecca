#pragma once

#include <cstdint>
#include <string_view>

#include "base/uuid.h"
#include "domain/job.h"
#include "domain/names.h"

namespace vedette::domain {

// A check's id, shown as event_group_id: UUIDv5(namespace: row id, name: decimal tick_id). The same
// check has the same id in every process that runs it, and each time.
base::Uuid EventGroupId(const base::Uuid& row_id, std::int64_t tick_id);

// An event's id: UUIDv5(namespace: event_group_id, name: event type), for a change
// "change:<field>".
base::Uuid EventId(const base::Uuid& event_group_id, EventType type, std::string_view field = {});

// The id of a row of a block of a job: UUIDv5(namespace: job id, name: "<block>/<row>"), where row
// = part x 256 + the row's index in its part. It is the Idempotency-Key of every call that is made
// for the row, also after a crash.
base::Uuid JobRowId(const base::Uuid& job_id, int block, std::int64_t part, int index);

// The id of the event that a job's callback tells of, the same in every attempt: UUIDv5(namespace:
// job id, name: the kind's name).
base::Uuid JobEventId(const base::Uuid& job_id, JobKind kind);

// The id of the event by which a block of a run tells of the run's end: UUIDv5(namespace: run id,
// name: "outgoing_webhook.<status>:<block_id>").
base::Uuid RunEventId(const base::Uuid& run_id, JobStatus status, std::string_view block_id);

// The id of the monitor that a block of a run makes: as UUIDv5(namespace: run id, name: block_id),
// but beginning with the time of the run's id, as monitors are listed by the order of their ids.
base::Uuid RunMonitorId(const base::Uuid& run_id, std::string_view block_id);

// The id of the row of such a monitor that has this key (RowValues::key_hash): as UUIDv5(namespace:
// monitor id, name: the key's bytes), but beginning as the monitor's does, so that its rows stand
// together in an index.
base::Uuid RunMonitorRowId(const base::Uuid& monitor_id, std::string_view key_hash);

}  // namespace vedette::domain
