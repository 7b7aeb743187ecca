#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/ids.h"
#include "domain/notification.h"
#include "domain/outcome.h"
#include "store/chunks.h"
#include "store/record.h"
#include "worker/notification_sink.h"
#include "worker/probes/probe.h"

// A leased chunk inside a worker. Loop thread only.
namespace vedette::worker {

// The error of a check whose result cannot be stored.
inline constexpr std::string_view kRecordFailedClass = "record_failed";
inline constexpr std::string_view kRecordFailedMessage =
    "the result of this check could not be stored";

// Which row of a chunk.
struct RowRef {
  std::size_t part = 0;
  std::size_t row = 0;
};

// What a check writes besides its outcome. Most checks have none.
struct CheckEffects {
  std::vector<store::EventRecord> events;
  std::optional<store::RowUpdate> row;
  std::optional<store::DeliveryRecord> delivery;
};

// A check that ended and is not recorded yet.
struct CheckResult {
  RowRef ref;
  domain::Outcome outcome;
  std::unique_ptr<CheckEffects> effects;  // null = none
};

struct ActivePart {
  std::shared_ptr<const store::MonitorSpec> spec;
  std::shared_ptr<const ProbeSpec> probe_spec;
  // As far as is known; control reads change them. Only with both a check may start.
  bool monitor_active = true;
  bool org_runs = true;
  std::string outcomes;  // one byte a row, 0 = none yet
  // Checks that were made, and how long they took, all together: its next tick is cut by that.
  int checks = 0;
  std::chrono::nanoseconds took{};

  int CheckMs() const {
    return checks == 0 ? 0
                       : static_cast<int>(
                             std::chrono::ceil<std::chrono::milliseconds>(took / checks).count());
  }
};

// What a worker holds of one organisation.
struct OrgLoad {
  std::size_t chunks = 0;
  std::size_t rows_open = 0;  // of these chunks, without an outcome
  std::size_t in_flight = 0;
  std::map<base::Uuid, std::size_t> large_chunks;  // chunks of large ticks, by monitor
};

struct ActiveChunk {
  store::ClaimedChunk claimed;
  OrgLoad* org = nullptr;  // the worker's; there while the chunk is held or has a check in flight
  base::Timestamp looked_until{};           // the claim's time, by the database's clock
  std::chrono::nanoseconds loaded_began{};  // since boot, when the read of its monitors began
  std::vector<ActivePart> parts;            // parallel to claimed.parts
  RowRef next;                              // the first row that may not have been started
  std::size_t in_flight = 0;                // probes started and not done
  std::size_t rows_open = 0;                // rows without an outcome
  std::vector<CheckResult> unrecorded;
  std::chrono::nanoseconds unrecorded_since{};  // since boot, of the oldest
  bool recording = false;                       // a record of it is under way
  bool isolating = false;        // a record failed: one row at a time finds the culprit
  bool commit_unknown = false;   // a record of it may have happened
  bool last_try_marked = false;  // of one suspect row: whoever claims it after this condemns it
  bool lost = false;             // its lease is gone: nothing of it counts any more
  bool giving_back = false;      // draining: no further row is started
  bool deaf = false;             // draining took too long: what is in flight is ignored

  // Every row was started, or had an outcome before.
  bool AllStarted() const {
    return next.part >= parts.size() ||
           (next.part + 1 == parts.size() && next.row >= parts.back().outcomes.size());
  }
  bool Finished() const { return rows_open == 0 && in_flight == 0; }
  store::LeaseRef lease() const { return {claimed.id, claimed.lease_token}; }
  // Whose turn its checks take among those of its organisation: a large tick's chunks share one.
  const base::Uuid& flow() const {
    return claimed.large ? claimed.parts.front().part.monitor_id : claimed.id;
  }
};

// An event of the row's check, with what it is about.
store::EventRecord EventOf(const ActiveChunk& chunk, RowRef ref, domain::EventType type);

// The notification of the row's check, if its outcome has one and the monitor wants it; leased to
// the sink, if there is one, where that has room. Skipped checks send nothing.
std::optional<store::DeliveryRecord> NotificationOf(const ActiveChunk& chunk, RowRef ref,
                                                    domain::Outcome outcome,
                                                    const base::Clock& clock,
                                                    NotificationSink* sink);

// What a check writes that failed without an answer: its error event and its notification.
std::unique_ptr<CheckEffects> FailureEffects(const ActiveChunk& chunk, RowRef ref,
                                             std::string message, const base::Clock& clock,
                                             NotificationSink* sink);

}  // namespace vedette::worker
