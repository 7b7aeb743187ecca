#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "domain/job/webhook.h"
#include "store/endpoint.h"
#include "store/lease.h"
#include "store/scan_bounds.h"
#include "store/session.h"

// Leasing due deliveries, settling attempts. All functions throw as InTransaction.
namespace vedette::store {

// A delivery leased to this process.
struct LeasedDelivery {
  domain::Notification notification;
  base::Uuid lease_token;
  int attempts = 0;                // made before
  int schedule_attempts = 0;       // of them, those of the present retry schedule
  base::Timestamp counted_from{};  // when the retry schedule began: creation, or the replay
  bool endpoint_failing = false;   // its breaker is open: this is the one attempt that tries it
};

struct DeliveryClaim {
  std::vector<LeasedDelivery> deliveries;
  base::Uuid next_cursor;  // where the next scan over endpoints goes on (nil: this was the end)
  // Due endpoints that got nothing for lack of room, in order.
  std::vector<base::Uuid> passed_over;
  bool more = false;  // something due was left: a limit, a full receiver
};

struct DeliveryClaimLimits {
  int endpoints_max;  // visited in one scan
  int per_slow_max;   // taken of one that does not answer promptly, or is not known yet
  // By organisation, what this process holds of the first kind and of the second; one that may not
  // take more of it gets none.
  base::FairShares<base::Uuid> held;
  base::FairShares<base::Uuid> slow_held;
  // What is under way of the second kind. An organisation that may have no more attempts under way
  // has no use for more deliveries, and gets none.
  base::FairShares<base::Uuid> slow_in_flight;
  int breaker_failures;  // an endpoint with so many in a row gets one attempt ...
  std::chrono::milliseconds breaker_interval;  // ... an interval
  std::chrono::milliseconds lease;
};

// Due receivers from behind `cursor` on, none of the `full` ones, and their oldest due deliveries.
// The `full` ones are sorted. What organisations hold is shared out
// as they are met (base/fair_share.h), so that receivers of one leave room for those of the next
// (G10). `bounds` say where the scans begin, and learn from them; null: always at the beginning.
// Deliveries whose monitor has no webhook_url any more die here (webhook_cleared), and those
// of a channel that was deleted (channel_deleted); those whose URL moved to another endpoint move
// along. The url of one of a channel is what may be shown of it: the sender reads the real one.
DeliveryClaim ClaimDeliveries(Session& session, const base::Uuid& cursor, const base::Uuid& token,
                              const DeliveryClaimLimits& limits,
                              const std::vector<base::Uuid>& full,
                              const domain::PromptReceivers& prompt,
                              ScanBounds<base::Uuid>* bounds = nullptr);

// The targets to which the monitors send now; every id has an entry in the answer.
DeliveryTargets ReadDeliveryTargets(Session& session, const std::vector<base::Uuid>& monitor_ids);

// How one attempt ended.
struct AttemptRecord {
  domain::AttemptEnd end = domain::AttemptEnd::kRetry;
  domain::Notification notification;
  base::Uuid lease_token;
  int attempt = 1;  // its number
  base::Timestamp attempted_at{};
  std::chrono::microseconds duration{};
  std::optional<int> status_code;
  std::optional<std::string> error;      // class and sentence; empty when delivered
  std::optional<std::string> answer;     // the first bytes of the body
  std::chrono::milliseconds retry_in{};  // kRetry
  domain::ReceiverState receiver = domain::ReceiverState::kUnknown;
};

// A receiver whose breaker opened, or closed again.
struct BreakerChange {
  base::Uuid endpoint_id;
  base::Uuid org_id;
  std::string receiver;  // "https://hooks.example.com:443", of which there is one a path
  bool opened = false;
};

// Writes attempts in one transaction: history always; the delivery itself only where the lease
// still holds. Counts the endpoint's failures in a row; at `breaker_failures` it is closed for an
// interval. `again`: an earlier call with the same attempts may have happened (its COMMIT's outcome
// is unknown), and what it wrote is not written twice. Tells whose breaker changed.
std::vector<BreakerChange> SettleAttempts(Session& session, const std::vector<AttemptRecord>& batch,
                                          bool again, int breaker_failures,
                                          std::chrono::milliseconds breaker_interval);

// Extends the leases; returns those that are still held.
std::vector<base::Uuid> RenewDeliveries(Session& session, const std::vector<Lease>& leases,
                                        std::chrono::milliseconds lease);
// Gives deliveries back at once, without an attempt.
void ReleaseDeliveries(Session& session, const std::vector<Lease>& leases);

}  // namespace vedette::store
