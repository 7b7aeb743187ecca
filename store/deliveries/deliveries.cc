#include "store/deliveries/deliveries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "domain/job/webhook.h"
#include "store/endpoint_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr const char* kWebhookCleared = "webhook_cleared: the monitor has no webhook_url any more";
constexpr const char* kChannelDeleted = "channel_deleted: the channel is not there any more";

// The endpoints chosen by the scan, and how many of each one's deliveries may be taken.
struct Shares {
  std::map<base::Uuid, int> deliveries_max;
  std::set<base::Uuid> failing;
  std::vector<base::Uuid> passed_over;  // for lack of room
  bool full = false;                    // some were passed over because they have enough
};

// At most `n`, as far as the organisation's share goes; they are counted as held.
int TakeShare(const base::Uuid& org_id, int n, base::FairShares<base::Uuid>* held) {
  int taken = 0;
  for (; taken < n && held->MayTake(org_id); ++taken) held->Take(org_id);
  return taken;
}

// A row of delivery_scan.
struct ScannedEndpoint {
  base::Uuid id;
  bool due = false;
  int failures = 0;  // in a row
  base::Uuid org_id;
  std::optional<base::Timestamp> first_at;  // of its due deliveries
};

ScannedEndpoint ReadEndpoint(const pqxx::row& row, base::Timestamp* now) {
  ScannedEndpoint endpoint;
  Columns(row).Into("endpoint_id"_a = &endpoint.id, "due"_a = &endpoint.due,
                    "failures"_a = &endpoint.failures, "org_id"_a = &endpoint.org_id,
                    "first_at"_a = &endpoint.first_at, "now"_a = now);
  return endpoint;
}

using Bounds = ScanBounds<base::Uuid>;

// The endpoints behind the cursor, from where the bounds say; they learn what was found.
std::vector<ScannedEndpoint> ScanEndpoints(Transaction& tx, const base::Clock& clock,
                                           const base::Uuid& cursor, int endpoints_max,
                                           Bounds* bounds) {
  const auto began = clock.SinceBoot();
  const auto from = bounds ? bounds->Next(began) : Bounds::From::kBeginning;
  pqxx::result rows;
  if (from == Bounds::From::kBounds) {
    Rows<Column<"endpoint_ids", base::Uuid>, Column<"from_at", base::Timestamp>> known;
    for (const auto& [id, at] : bounds->Behind(cursor, endpoints_max, began)) known.Add(id, at);
    rows = tx.Exec<"delivery_scan_bounds">("cursor"_a = cursor, "endpoints_max"_a = endpoints_max,
                                           known);
  } else {
    rows = tx.Exec<"delivery_scan">("cursor"_a = cursor, "endpoints_max"_a = endpoints_max);
  }
  std::vector<ScannedEndpoint> endpoints;
  std::vector<Bounds::Seen> seen;
  base::Timestamp now{};
  for (const auto& row : rows) {
    const ScannedEndpoint& endpoint = endpoints.emplace_back(ReadEndpoint(row, &now));
    seen.push_back({endpoint.id, endpoint.first_at, now - kScanMargin, now - kScanMarginShort});
  }
  if (bounds) bounds->Scanned(from, began, clock.SinceBoot(), seen);
  return endpoints;
}

Shares ShareOutEndpoints(Transaction& tx, const std::vector<ScannedEndpoint>& scanned,
                         DeliveryClaimLimits limits, const std::vector<base::Uuid>& full,
                         const domain::PromptReceivers& prompt, base::Uuid* next_cursor) {
  Shares shares;
  std::vector<base::Uuid> to_try;
  for (const ScannedEndpoint& endpoint : scanned) {
    if (!endpoint.due) continue;
    if (std::binary_search(full.begin(), full.end(), endpoint.id)) {
      shares.full = true;
      continue;
    }
    const bool failing = endpoint.failures >= limits.breaker_failures;
    int n = 0;
    const auto it = std::lower_bound(prompt.begin(), prompt.end(), std::pair(endpoint.id, 0));
    if (!failing && it != prompt.end() && it->first == endpoint.id) {
      n = TakeShare(endpoint.org_id, it->second, &limits.held);
    } else if (limits.slow_in_flight.MayTake(endpoint.org_id)) {
      n = TakeShare(endpoint.org_id, failing ? 1 : limits.per_slow_max, &limits.slow_held);
    }
    if (n == 0) {
      shares.passed_over.push_back(endpoint.id);
    } else if (failing) {
      to_try.push_back(endpoint.id);
    } else {
      shares.deliveries_max.emplace(endpoint.id, n);
    }
  }
  if (static_cast<int>(scanned.size()) == limits.endpoints_max) *next_cursor = scanned.back().id;
  if (to_try.empty()) return shares;
  for (const base::Uuid& id : ReadEach<base::Uuid>(tx.Exec<"endpoint_try">("ids"_a = to_try,
                              "breaker_interval_ms"_a = limits.breaker_interval.count()))) {
    shares.failing.insert(id);
    shares.deliveries_max.emplace(id, 1);
  }
  return shares;
}

LeasedDelivery ReadClaimed(const pqxx::row& row) {
  LeasedDelivery d;
  domain::Notification& n = d.notification;
  int replayed_attempts = 0;
  std::optional<base::Uuid> monitor_id, row_id, job_id, channel_id, recipient_id;
  std::optional<int> block;
  std::optional<domain::JobStatus> job_status;
  std::optional<base::Timestamp> replayed_at;
  Columns(row).Into("id"_a = &n.delivery_id, "org_id"_a = &n.org_id,
                    "endpoint_id"_a = &n.endpoint_id, "monitor_id"_a = &monitor_id,
                    "row_id"_a = &row_id, "job_id"_a = &job_id, "block"_a = &block,
                    "job_status"_a = &job_status, "event_group_id"_a = &n.event_group_id,
                    "type"_a = &n.type, "created_at"_a = &n.created_at, "attempts"_a = &d.attempts,
                    "replayed_at"_a = &replayed_at, "replayed_attempts"_a = &replayed_attempts,
                    "channel_id"_a = &channel_id, "recipient_id"_a = &recipient_id);
  d.counted_from = replayed_at.value_or(n.created_at);
  if (job_id) {
    n.about = domain::JobNotice{*job_id, block, job_status.value()};
  } else {
    n.about = domain::CheckNotice{monitor_id.value(), row_id.value(), {}, channel_id, recipient_id};
  }
  d.schedule_attempts = d.attempts - replayed_attempts;
  return d;
}

// Whether an endpoint gave as many as it was asked for: then it may have more.
bool SomeGaveAll(const std::vector<LeasedDelivery>& claimed, const Shares& shares) {
  std::map<base::Uuid, int> given;
  for (const LeasedDelivery& d : claimed) ++given[d.notification.endpoint_id];
  for (const auto& [id, deliveries_max] : shares.deliveries_max) {
    if (!shares.failing.contains(id) && given[id] >= deliveries_max) return true;
  }
  return false;
}

std::vector<base::Uuid> Listed(const std::set<base::Uuid>& ids) {
  return {ids.begin(), ids.end()};
}

template <typename Targets, typename Key>
const DeliveryTarget* Find(const Targets& targets, const Key& key) {
  const auto found = targets.find(key);
  return found == targets.end() ? nullptr : &found->second;
}

// The places where monitors, channels, and jobs and their blocks send now, read for what one claim
// has taken: one statement for each kind that is there, however many deliveries there are of one of
// them. To join them to the claim costs each delivery a third of what its claim costs PostgreSQL.
class ClaimTargets {
 public:
  ClaimTargets(Transaction& tx, const std::vector<LeasedDelivery>& claimed);

  // Null where what it tells of is not there any more.
  const DeliveryTarget* Of(const domain::Notification& notification) const;

  // JSON that the client gave with the monitor.
  std::optional<std::string> Metadata(const base::Uuid& monitor_id) const;

 private:
  using Block = std::pair<base::Uuid, std::optional<int>>;  // a job; all of it without a number

  void ReadChannels(Transaction& tx, const std::set<base::Uuid>& ids);
  void ReadJobs(Transaction& tx, const std::set<Block>& blocks);

  DeliveryTargets monitors_;
  DeliveryTargets channels_;
  std::map<Block, DeliveryTarget> jobs_;
};

ClaimTargets::ClaimTargets(Transaction& tx, const std::vector<LeasedDelivery>& claimed) {
  std::set<base::Uuid> monitors, channels;
  std::set<Block> blocks;
  for (const LeasedDelivery& d : claimed) {
    if (const auto* job = std::get_if<domain::JobNotice>(&d.notification.about)) {
      blocks.emplace(job->job_id, job->block);
      continue;
    }
    const auto& check = std::get<domain::CheckNotice>(d.notification.about);
    monitors.insert(check.monitor_id);
    if (check.channel_id) channels.insert(*check.channel_id);
  }
  if (!monitors.empty()) {
    ReadTargets(tx.Exec<"delivery_targets">("monitor_ids"_a = Listed(monitors)), &monitors_);
  }
  if (!channels.empty()) ReadChannels(tx, channels);
  if (!blocks.empty()) ReadJobs(tx, blocks);
}

const DeliveryTarget* ClaimTargets::Of(const domain::Notification& notification) const {
  if (const auto* job = std::get_if<domain::JobNotice>(&notification.about)) {
    return Find(jobs_, Block(job->job_id, job->block));
  }
  if (const auto channel_id = domain::ChannelOf(notification)) return Find(channels_, *channel_id);
  return Find(monitors_, std::get<domain::CheckNotice>(notification.about).monitor_id);
}

std::optional<std::string> ClaimTargets::Metadata(const base::Uuid& monitor_id) const {
  const DeliveryTarget* target = Find(monitors_, monitor_id);
  return target == nullptr ? std::nullopt : target->metadata;
}

void ClaimTargets::ReadChannels(Transaction& tx, const std::set<base::Uuid>& ids) {
  for (const auto& row : tx.Exec<"delivery_targets_of_channels">("channel_ids"_a = Listed(ids))) {
    base::Uuid id;
    DeliveryTarget target;
    Columns(row).Into("id"_a = &id, "webhook_url"_a = &target.url,
                      "endpoint_id"_a = &target.endpoint_id);
    channels_.emplace(id, std::move(target));
  }
}

void ClaimTargets::ReadJobs(Transaction& tx, const std::set<Block>& blocks) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", std::optional<int>>> asked;
  for (const auto& [job_id, block] : blocks) asked.Add(job_id, block);
  for (const auto& row : tx.Exec<"delivery_targets_of_jobs">(asked)) {
    Block block;
    DeliveryTarget target;
    Columns(row).Into("job_id"_a = &block.first, "block"_a = &block.second,
                      "webhook_url"_a = &target.url, "endpoint_id"_a = &target.endpoint_id);
    jobs_.emplace(block, std::move(target));
  }
}

// Takes the deliveries that go where they were meant to. Those whose monitor has no webhook_url any
// more, or whose channel was deleted, die; those whose URL moved to another endpoint move along.
void TakeClaimed(Transaction& tx, std::vector<LeasedDelivery> claimed, DeliveryClaim* claim) {
  if (claimed.empty()) return;
  const ClaimTargets targets(tx, claimed);
  std::vector<base::Uuid> cleared;
  std::vector<base::Uuid> deleted;  // of channels that are not there any more
  Rows<Column<"id", base::Uuid>, Column<"endpoint_id", base::Uuid>> moved;
  for (LeasedDelivery& d : claimed) {
    domain::Notification& n = d.notification;
    const DeliveryTarget* target = targets.Of(n);
    if (target == nullptr || !target->url) {
      (domain::ChannelOf(n) ? deleted : cleared).push_back(n.delivery_id);
      continue;
    }
    if (target->endpoint_id.value() != n.endpoint_id) {
      moved.Add(n.delivery_id, *target->endpoint_id);
      continue;
    }
    n.url = *target->url;
    if (auto* check = std::get_if<domain::CheckNotice>(&n.about)) {
      check->metadata = targets.Metadata(check->monitor_id);
    }
    claim->deliveries.push_back(std::move(d));
  }
  if (!cleared.empty())
    tx.Exec<"delivery_die">("ids"_a = cleared, "last_error"_a = kWebhookCleared);
  if (!deleted.empty())
    tx.Exec<"delivery_die">("ids"_a = deleted, "last_error"_a = kChannelDeleted);
  if (!moved.empty()) tx.Exec<"delivery_move">(moved);
  claim->more = claim->more || !moved.empty();
}

}  // namespace

DeliveryClaim ClaimDeliveries(Session& session, const base::Uuid& cursor, const base::Uuid& token,
                              const DeliveryClaimLimits& limits,
                              const std::vector<base::Uuid>& full,
                              const domain::PromptReceivers& prompt,
                              ScanBounds<base::Uuid>* bounds) {
  return InTransaction(session, [&](Transaction& tx) {
    const base::Clock& clock = session.impl().clock;
    const auto read_at = clock.SinceBoot();
    DeliveryClaim claim;
    const auto scanned = ScanEndpoints(tx, clock, cursor, limits.endpoints_max, bounds);
    Shares shares = ShareOutEndpoints(tx, scanned, limits, full, prompt, &claim.next_cursor);
    claim.more = shares.full || !shares.passed_over.empty() || !claim.next_cursor.is_nil();
    claim.passed_over = std::move(shares.passed_over);
    if (shares.deliveries_max.empty()) return claim;
    Rows<Column<"endpoint_id", base::Uuid>, Column<"deliveries_max", int>,
         Column<"from_at", std::optional<base::Timestamp>>>
        asked;
    for (const auto& [id, deliveries_max] : shares.deliveries_max) {
      asked.Add(id, deliveries_max, bounds ? bounds->Found(id) : std::nullopt);
    }
    std::vector<LeasedDelivery> claimed;
    for (const auto& row :
         tx.Exec<"delivery_claim">(asked, "token"_a = token, "lease_ms"_a = limits.lease.count())) {
      claimed.push_back(ReadClaimed(row));
    }
    claim.more = claim.more || SomeGaveAll(claimed, shares);
    for (LeasedDelivery& d : claimed) {
      d.lease_token = token;
      d.notification.read_at = read_at;
      d.endpoint_failing = shares.failing.contains(d.notification.endpoint_id);
    }
    TakeClaimed(tx, std::move(claimed), &claim);
    return claim;
  });
}

DeliveryTargets ReadDeliveryTargets(Session& session, const std::vector<base::Uuid>& monitor_ids) {
  return Read(session, [&](Transaction& tx) {
    DeliveryTargets targets;
    for (const base::Uuid& id : monitor_ids) targets[id];
    ReadTargets(tx.Exec<"delivery_targets">("monitor_ids"_a = monitor_ids), &targets);
    return targets;
  });
}

namespace {

void InsertAttempts(Transaction& tx, const std::vector<AttemptRecord>& attempts) {
  using Text = std::optional<std::string>;
  using Id = std::optional<base::Uuid>;
  Rows<Column<"delivery_id", base::Uuid>, Column<"attempt", int>, Column<"org_id", base::Uuid>,
       Column<"monitor_id", Id>, Column<"row_id", Id>, Column<"job_id", Id>,
       Column<"block", std::optional<int>>, Column<"job_status", std::optional<domain::JobStatus>>,
       Column<"event_group_id", base::Uuid>, Column<"type", domain::NotificationType>,
       Column<"created_at", std::int64_t>, Column<"attempted_at", std::int64_t>,
       Column<"delivered", bool>, Column<"status_code", std::optional<int>>, Column<"error", Text>,
       Column<"answer", Text>, Column<"duration_us", std::int64_t>, Column<"channel_id", Id>,
       Column<"recipient_id", Id>>
      rows;
  for (const AttemptRecord& a : attempts) {
    const domain::Notification& n = a.notification;
    const auto* check = std::get_if<domain::CheckNotice>(&n.about);
    const auto* job = std::get_if<domain::JobNotice>(&n.about);
    rows.Add(n.delivery_id, a.attempt, n.org_id, check ? Id(check->monitor_id) : std::nullopt,
             check ? Id(check->row_id) : std::nullopt, job ? Id(job->job_id) : std::nullopt,
             job ? job->block : std::nullopt, job ? std::optional(job->status) : std::nullopt,
             n.event_group_id, n.type, Micros(n.created_at), Micros(a.attempted_at),
             a.end == domain::AttemptEnd::kDelivered, a.status_code, a.error,
             a.answer ? Text(Bytea(*a.answer)) : std::nullopt, a.duration.count(),
             check ? check->channel_id : std::nullopt, check ? check->recipient_id : std::nullopt);
  }
  tx.Exec<"attempt_insert">(rows);
}

// Recipients whom the relay refuses for good are told nothing more.
void SuspendBounced(Transaction& tx, const std::vector<AttemptRecord>& attempts) {
  std::map<base::Uuid, std::string> bounced;  // in id order, which everybody keeps
  for (const AttemptRecord& a : attempts) {
    const auto* check = std::get_if<domain::CheckNotice>(&a.notification.about);
    if (!a.error || domain::ErrorClass(*a.error) != domain::kHardBounce) continue;
    if (check != nullptr && check->recipient_id) bounced.emplace(*check->recipient_id, *a.error);
  }
  Rows<Column<"id", base::Uuid>, Column<"reason", std::string>> rows;
  for (const auto& [id, reason] : bounced) rows.Add(id, reason);
  if (!rows.empty()) tx.Exec<"recipient_bounced">(rows);
}

// Those that are not in history: where an earlier settlement may have happened.
std::vector<AttemptRecord> NotRecorded(Transaction& tx, const std::vector<AttemptRecord>& batch) {
  Rows<Column<"id", base::Uuid>, Column<"attempted_at", base::Timestamp>> made;
  for (const AttemptRecord& a : batch) made.Add(a.notification.delivery_id, a.attempted_at);
  const auto places = ReadEach<std::size_t>(tx.Exec<"attempts_recorded">(made));
  const std::set<std::size_t> recorded(places.begin(), places.end());
  std::vector<AttemptRecord> left;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!recorded.contains(i)) left.push_back(batch[i]);
  }
  return left;
}

std::vector<BreakerChange> SettleEndpoints(Transaction& tx,
                                           const std::vector<AttemptRecord>& attempts,
                                           int breaker_failures,
                                           std::chrono::milliseconds breaker_interval) {
  std::map<base::Uuid, int> failures;  // in id order, which everybody keeps
  std::set<base::Uuid> succeeded;
  for (const AttemptRecord& a : attempts) {
    const base::Uuid& endpoint = a.notification.endpoint_id;
    switch (a.receiver) {
      case domain::ReceiverState::kWorks:
        succeeded.insert(endpoint);
        break;
      case domain::ReceiverState::kFails:
        ++failures[endpoint];
        break;
      case domain::ReceiverState::kUnknown:
        break;
    }
  }
  for (const base::Uuid& id : succeeded) failures[id] = 0;
  if (failures.empty()) return {};
  Rows<Column<"id", base::Uuid>, Column<"failures", int>> rows;
  for (const auto& [id, count] : failures) rows.Add(id, count);
  std::vector<BreakerChange> changes;
  for (const auto& row :
       tx.Exec<"endpoints_settled">(rows, "breaker_failures"_a = breaker_failures,
                                          "breaker_interval_ms"_a = breaker_interval.count())) {
    BreakerChange& change = changes.emplace_back();
    Columns(row).Into("id"_a = &change.endpoint_id, "org_id"_a = &change.org_id,
                      "receiver"_a = &change.receiver, "opened"_a = &change.opened);
  }
  return changes;
}

}  // namespace

std::vector<BreakerChange> SettleAttempts(Session& session, const std::vector<AttemptRecord>& batch,
                                          bool again, int breaker_failures,
                                          std::chrono::milliseconds breaker_interval) {
  return InTransaction(session, [&](Transaction& tx) {
    const std::vector<AttemptRecord> attempts = again ? NotRecorded(tx, batch) : batch;
    if (attempts.empty()) return std::vector<BreakerChange>();
    Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>> delivered;
    Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>,
         Column<"state", domain::DeliveryState>, Column<"attempts", int>,
         Column<"error", std::optional<std::string>>, Column<"retry_ms", std::int64_t>>
        failed;
    for (const AttemptRecord& a : attempts) {
      if (a.end == domain::AttemptEnd::kDelivered) {
        delivered.Add(a.notification.delivery_id, a.lease_token);
        continue;
      }
      const bool dead = a.end == domain::AttemptEnd::kDead;
      failed.Add(a.notification.delivery_id, a.lease_token,
                 dead ? domain::DeliveryState::kDead : domain::DeliveryState::kPending, a.attempt,
                 a.error, a.retry_in.count());
    }
    if (!delivered.empty()) tx.Exec<"delivery_settle_delivered">(delivered);
    if (!failed.empty()) tx.Exec<"delivery_settle_failed">(failed);
    InsertAttempts(tx, attempts);
    SuspendBounced(tx, attempts);
    return SettleEndpoints(tx, attempts, breaker_failures, breaker_interval);
  });
}

std::vector<base::Uuid> RenewDeliveries(Session& session, const std::vector<Lease>& leases,
                                        std::chrono::milliseconds lease) {
  return InTransaction(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(
        tx.Exec<"delivery_renew">(LeaseRows(leases), "lease_ms"_a = lease.count()));
  });
}

void ReleaseDeliveries(Session& session, const std::vector<Lease>& leases) {
  InTransaction(session, [&](Transaction& tx) { tx.Exec<"delivery_release">(LeaseRows(leases)); });
}

}  // namespace vedette::store
