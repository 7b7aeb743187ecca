#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/uuid.h"
#include "domain/monitor/enums.h"

// The words of the job engine that the database and clients know. A job is what one request asks
// for that takes longer than a request should; its steps are blocks, numbered from 0; the rows of a
// block are cut into parts; a job chunk is one block over one part, leased to one worker. The
// numbers are stored: never renumber. Each Parse gives nothing for an unknown name.
namespace vedette::domain {

enum class JobKind : std::uint8_t {
  kFindEmail = 0,
  kFindEmailBulk = 1,
  kReverseEmail = 2,
  kVerifyAge = 3,
  kInvestigation = 4,
  kWorkflow = 5,
  kReverseEmailBulk = 6,
};
inline constexpr std::size_t kJobKindCount = 7;
std::string_view JobKindName(JobKind kind);  // "find_email", ...: the task_type of clients
std::optional<JobKind> ParseJobKind(std::string_view name);

// The type of the callback that tells of the job's end. Empty for an investigation, which has no
// callback; a run's are those of its outgoing_webhook blocks.
std::optional<NotificationType> CallbackType(JobKind kind);

// The life of a job. An end is final: an ended job never changes, and store::EndJob alone reaches
// the ends (a record that finishes the last part goes the same way).
//
//   kQueued --first chunk claimed--> kRunning --last part recorded----------------> kCompleted
//      |                                |
//      +--------------------------------+--a block cannot go on, money, the keeper-> kFailed
//                                       +--a cancel route, a client that is gone---> kCancelled
//                                       +--the operator----------------------------> kTerminated
//                                       +--its deadline----------------------------> kTimedOut
enum class JobStatus : std::uint8_t {
  kQueued = 0,
  kRunning = 1,
  kCompleted = 2,
  kFailed = 3,
  kCancelled = 4,
  kTerminated = 5,
  kTimedOut = 6,
};
std::string_view JobStatusName(JobStatus status);
std::optional<JobStatus> ParseJobStatus(std::string_view name);
// The status of a run as clients see it: what the operator ended is cancelled, a deadline is a
// failure.
JobStatus RunStatus(JobStatus status);
constexpr bool IsEnd(JobStatus status) {
  return status >= JobStatus::kCompleted;
}

// What a chunk needs of the worker that takes it. `kTransform` takes the processor; `kLookup` makes
// HTTP requests that take seconds; `kSmtp` needs port 25; `kResearch` takes minutes.
enum class Lane : std::uint8_t { kTransform = 0, kLookup = 1, kSmtp = 2, kResearch = 3 };
inline constexpr std::size_t kLaneCount = 4;
std::string_view LaneName(Lane lane);
std::optional<Lane> ParseLane(std::string_view name);

enum class BlockStatus : std::uint8_t { kPending = 0, kRunning = 1, kCompleted = 2, kFailed = 3 };
std::string_view BlockStatusName(BlockStatus status);

// Why a job ended (status_reason). A 402's codes are reasons too.
inline constexpr std::string_view kReasonBlockFailed = "block_failed";
inline constexpr std::string_view kReasonSourceUnavailable = "source_unavailable";
inline constexpr std::string_view kReasonStalled = "stalled";
inline constexpr std::string_view kReasonInsufficientCredits = "insufficient_credits";
inline constexpr std::string_view kReasonSpendLimitReached = "spend_limit_reached";
inline constexpr std::string_view kReasonRunDataLimitReached = "run_data_limit_reached";
inline constexpr std::string_view kReasonCancelledByClient = "cancelled_by_client";
inline constexpr std::string_view kReasonClientGone = "client_gone";
inline constexpr std::string_view kReasonCancelledByOperator = "cancelled_by_operator";
inline constexpr std::string_view kReasonDeadlineExceeded = "deadline_exceeded";

inline constexpr int kPartRowsMax = 256;  // rows of a part
inline constexpr int kBlocksMax = 64;     // blocks of a job
// Open jobs of kind kInvestigation of one organisation.
inline constexpr int kOpenInvestigationsMax = 5;
// A job without a chunk that has not ended for this long is stalled: the store opens further chunks
// in the transaction that records a part, so there is always one.
inline constexpr std::chrono::seconds kStalledAfter{60};

// What rows wait for that are to be tried later, as far as clients are told. Their numbers are
// stored (job_chunk.waits_for, and "for" in job_chunk.done): never renumber.

enum class JobWait : std::uint8_t {
  kUntold = 0,      // a greylist and the like; a chunk that nobody gave back has null
  kMailBudget = 1,  // permits to ask mail servers are used up, until their window ends
};

// The status_reason of a job that stands still for that, and goes on by itself.
inline constexpr std::string_view kReasonWaitingForMailBudget = "waiting_for_mail_budget";

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
