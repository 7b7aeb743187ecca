#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "store/audit.h"
#include "store/session.h"

namespace vedette::store {

// Deliveries as operators and tenants see them, and their replay. All functions throw as
// InTransaction does (store/session.h).

struct DeliveryView {
  base::Uuid id;
  domain::DeliveryState state = domain::DeliveryState::kPending;
  domain::NotificationType type = domain::NotificationType::kChanged;
  base::Uuid org_id;
  // The monitor of a notification of a check: its own id, unlike in the notification. What names
  // its channel alone has none, nor a row.
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Uuid> row_id;
  std::optional<base::Uuid> job_id;      // of a callback
  std::optional<base::Uuid> channel_id;  // of a channel that is told
  bool names_channel = false;            // see MonitorDelivery
  base::Uuid event_group_id;
  int attempts = 0;
  // When it is due, its endpoint's breaker considered. Empty where nothing is planned: delivered,
  // dead, or being sent now.
  std::optional<base::Timestamp> next_attempt_at;
  std::optional<domain::DeliveryWait> waits_for;  // where an attempt is planned
  std::optional<std::string> last_error;
  base::Timestamp created_at;
};

struct DeliveryAttemptView {
  int attempt = 0;
  base::Timestamp attempted_at;
  bool delivered = false;
  std::optional<int> status_code;
  std::optional<std::string> error;
  std::optional<std::string> answer;  // raw bytes, as received
  std::chrono::microseconds duration{};
};

struct DeliveryQuery {
  std::optional<domain::DeliveryState> state;  // empty: pending and dead
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Uuid> job_id;
  std::optional<base::Uuid> before;  // the last id of the page before
  int limit = 0;
};
// Newest first, at most `limit`. Delivered ones are known for as long as their attempts are kept;
// those of a job for as long as the job is.
std::vector<DeliveryView> ListDeliveries(Session& session, const DeliveryQuery& query);

// Those of an organisation that were given up, newest first, at most `limit`, behind `before`.
std::vector<DeliveryView> ListDeadDeliveries(Session& session, const base::Uuid& org_id,
                                             const std::optional<base::Uuid>& before, int limit);

// What a notification of a check is sent as.
struct DeliveryRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct DeliveryDetail {
  DeliveryView delivery;
  // The request as the next attempt would be made (of a delivered one: as the last one was, but for
  // what its monitor has changed since), with a signature that stands for the real one. Empty for
  // callbacks of jobs and for channels, whose body is made of what is read at every attempt, and
  // where the monitor has no webhook_url any more.
  std::optional<DeliveryRequest> request;
  std::vector<DeliveryAttemptView> attempts;  // the newest kDeliveryAttemptsShown, oldest first
};
inline constexpr int kDeliveryAttemptsShown = 200;
std::optional<DeliveryDetail> ReadDelivery(Session& session, const base::Uuid& delivery_id);

enum class SendNowOutcome {
  kHastened,    // it was pending: it is due at once
  kResent,      // it was delivered: it is sent again, with the same ids
  kReplayed,    // it was dead
  kBeingSent,   // nothing to do: an attempt is under way
  kNoReceiver,  // there is no webhook_url any more
  kNotFound,
};
// Has a delivery sent now, whatever its state. The numbering of attempts goes on; a new schedule
// begins unless it was pending. The caller raises Signal::kDelivery after the first three.
SendNowOutcome SendDeliveryNow(Session& session, const base::Clock& clock,
                               const base::Uuid& delivery_id, AuditEntry audit);

enum class ReplayOutcome { kDone, kNotFound, kNotDead };
// Makes a dead delivery pending and due, with a new schedule, for the monitor's current receiver.
// The numbering of attempts goes on. The caller raises Signal::kDelivery after it.
ReplayOutcome ReplayDelivery(Session& session, const base::Clock& clock,
                             const base::Uuid& delivery_id, AuditEntry audit);

// Deliveries that one transaction replays at most.
inline constexpr int kReplayBatch = 5000;

struct ReplayFilter {
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Timestamp> since;  // made at or after
  std::optional<base::Timestamp> until;  // made before
  int limit = kReplayBatch;              // of one transaction
};
// How far a replay of many has come.
struct ReplayProgress {
  std::int64_t replayed = 0;
  std::optional<base::Uuid> after;  // the last id that was looked at
  bool done = false;
};
// Replays the next dead deliveries that the filter lets through, up to its limit, in one
// transaction with an audit entry of its own. To repeat it from the start is safe. Deliveries that
// die meanwhile behind the last id are replayed too.
void ReplayDeliveries(Session& session, const base::Clock& clock, const ReplayFilter& filter,
                      const AuditEntry& audit, ReplayProgress* progress);

// A notification of a monitor that has not arrived, as its owner sees it.
struct MonitorDelivery {
  base::Uuid id;
  domain::DeliveryState state = domain::DeliveryState::kPending;
  domain::NotificationType type = domain::NotificationType::kChanged;
  base::Uuid row_id;
  std::optional<base::Uuid> channel_id;  // empty: it goes to the monitor's own webhook_url
  base::Uuid event_group_id;
  int attempts = 0;
  // When it is due, its receiver's breaker considered. Empty where nothing is planned: dead, or
  // being sent now.
  std::optional<base::Timestamp> next_attempt_at;
  std::optional<domain::DeliveryWait> waits_for;  // where an attempt is planned
  std::optional<std::string> last_error;
  base::Timestamp created_at;
  // In the list of a channel alone: the address, of kind email, and whether the channel stands in
  // the place of the monitor, as in a digest (domain/job/webhook.h).
  std::optional<std::string> recipient{};
  bool names_channel = false;
};

// The pending and dead ones (or those of `state`) of a monitor that the caller found in scope:
// newest first, at most `limit`, behind `before`. Throws as InTransaction (store/session.h).
std::vector<MonitorDelivery> ListMonitorDeliveries(
    Session& session, const base::Uuid& monitor_id,
    const std::optional<domain::DeliveryState>& state, const std::optional<base::Uuid>& before,
    int limit);

// All that a channel which the caller found in scope was told or is to be told, questions to owners
// of addresses among it: newest first, at most `limit`, behind `before`. Those that arrived are
// known for as long as their attempts are kept.
std::vector<MonitorDelivery> ListChannelDeliveries(Session& session, const base::Uuid& channel_id,
                                                   const std::optional<base::Uuid>& before,
                                                   int limit);

}  // namespace vedette::store
