#include "store/deliveries.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/deliveries_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr const char* kWebhookCleared = "webhook_cleared: the monitor has no webhook_url any more";

// The endpoints chosen by the walk, and how many of each one's deliveries may be taken.
struct Shares {
  std::vector<base::Uuid> endpoint_ids;
  std::vector<int> deliveries_max;
  std::set<base::Uuid> failing;
  std::vector<base::Uuid> passed_over;  // for lack of room
  bool busy = false;                    // some were passed over because they have enough

  void Add(const base::Uuid& endpoint_id, int n) {
    endpoint_ids.push_back(endpoint_id);
    deliveries_max.push_back(n);
  }
};

// At most `n`, as far as the organisation's share goes; they are counted as held.
int TakeShare(const base::Uuid& org_id, int n, base::FairShares<base::Uuid>* held) {
  int taken = 0;
  for (; taken < n && held->MayTake(org_id); ++taken) held->Take(org_id);
  return taken;
}

Shares WalkEndpoints(Transaction& tx, const base::Uuid& cursor, DeliveryClaimLimits limits,
                     const std::vector<base::Uuid>& busy, const std::vector<base::Uuid>& prompt,
                     base::Uuid* next_cursor) {
  const auto rows = tx.Exec("delivery_walk", cursor, limits.endpoints_max);
  if (static_cast<int>(rows.size()) == limits.endpoints_max)
    *next_cursor = ReadUuid(rows.back()[0]);
  Shares shares;
  std::vector<base::Uuid> to_try;
  for (const auto& row : rows) {
    const base::Uuid id = ReadUuid(row[0]);
    if (!row[1].as<bool>()) continue;
    if (std::binary_search(busy.begin(), busy.end(), id)) {
      shares.busy = true;
      continue;
    }
    const base::Uuid org_id = ReadUuid(row[3]);
    const bool failing = row[2].as<int>() >= limits.breaker_failures;
    int n = 0;
    if (!failing && std::binary_search(prompt.begin(), prompt.end(), id)) {
      n = TakeShare(org_id, limits.per_endpoint_max, &limits.held);
    } else if (limits.slow_in_flight.MayTake(org_id)) {
      n = TakeShare(org_id, failing ? 1 : limits.per_slow_max, &limits.slow_held);
    }
    if (n == 0) {
      shares.passed_over.push_back(id);
    } else if (failing) {
      to_try.push_back(id);
    } else {
      shares.Add(id, n);
    }
  }
  if (to_try.empty()) return shares;
  for (const auto& row : tx.Exec("endpoint_try", to_try, limits.breaker_interval.count())) {
    shares.failing.insert(ReadUuid(row[0]));
    shares.Add(ReadUuid(row[0]), 1);
  }
  return shares;
}

// Whether an endpoint gave as many as it was asked for: then it may have more.
bool SomeGaveAll(const pqxx::result& rows, const Shares& shares) {
  std::map<base::Uuid, int> given;
  for (const auto& row : rows) ++given[ReadUuid(row[2])];
  for (std::size_t i = 0; i < shares.endpoint_ids.size(); ++i) {
    const base::Uuid& id = shares.endpoint_ids[i];
    if (!shares.failing.contains(id) && given[id] >= shares.deliveries_max[i]) return true;
  }
  return false;
}

}  // namespace

DeliveryClaim ClaimDeliveries(Session& session, const base::Uuid& cursor, const base::Uuid& token,
                              const DeliveryClaimLimits& limits,
                              const std::vector<base::Uuid>& busy,
                              const std::vector<base::Uuid>& prompt) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto read_at = session.impl().clock.SinceBoot();
    DeliveryClaim claim;
    Shares shares = WalkEndpoints(tx, cursor, limits, busy, prompt, &claim.next_cursor);
    claim.more = shares.busy || !shares.passed_over.empty() || !claim.next_cursor.is_nil();
    claim.passed_over = std::move(shares.passed_over);
    if (shares.endpoint_ids.empty()) return claim;
    const auto rows = tx.Exec("delivery_claim", shares.endpoint_ids, shares.deliveries_max, token,
                              limits.lease.count());
    claim.more = claim.more || SomeGaveAll(rows, shares);
    std::vector<base::Uuid> cleared;
    std::vector<base::Uuid> moved;
    std::vector<base::Uuid> moved_to;
    for (const auto& row : rows) {
      claim.now = ReadTime(row[13]);
      LeasedDelivery d;
      domain::Notification& n = d.notification;
      n.delivery_id = ReadUuid(row[0]);
      n.org_id = ReadUuid(row[1]);
      n.endpoint_id = ReadUuid(row[2]);
      if (row[10].is_null()) {
        cleared.push_back(n.delivery_id);
        continue;
      }
      if (ReadUuid(row[11]) != n.endpoint_id) {
        moved.push_back(n.delivery_id);
        moved_to.push_back(ReadUuid(row[11]));
        continue;
      }
      n.monitor_id = ReadUuid(row[3]);
      n.row_id = ReadUuid(row[4]);
      n.event_group_id = ReadUuid(row[5]);
      n.type = static_cast<domain::NotificationType>(row[6].as<int>());
      n.created_at = ReadTime(row[7]);
      n.url = row[10].c_str();
      n.metadata = ReadTextOrNull(row[12]);
      n.read_at = read_at;
      d.lease_token = token;
      d.attempts = row[8].as<int>();
      d.schedule_attempts = d.attempts - row[14].as<int>();
      d.counted_from = ReadTime(row[9]);
      d.endpoint_failing = shares.failing.contains(n.endpoint_id);
      claim.deliveries.push_back(std::move(d));
    }
    if (!cleared.empty()) tx.Exec("delivery_die", cleared, kWebhookCleared);
    if (!moved.empty()) tx.Exec("delivery_move", moved, moved_to);
    claim.more = claim.more || !moved.empty();
    return claim;
  });
}

void ReadTargets(const pqxx::result& rows, DeliveryTargets* targets) {
  for (const auto& row : rows) {
    (*targets)[ReadUuid(row[0])] = {ReadUuidOrNull(row[2]), ReadTextOrNull(row[1]),
                                    ReadTextOrNull(row[3])};
  }
}

DeliveryTargets ReadDeliveryTargets(Session& session, const std::vector<base::Uuid>& monitor_ids) {
  return Read(session, [&](Transaction& tx) {
    DeliveryTargets targets;
    for (const base::Uuid& id : monitor_ids) targets[id];
    ReadTargets(tx.Exec("delivery_targets", monitor_ids), &targets);
    return targets;
  });
}

namespace {

void InsertAttempts(Transaction& tx, const std::vector<AttemptRecord>& attempts) {
  std::vector<base::Uuid> ids, org_ids, monitor_ids, row_ids, groups;
  std::vector<int> numbers;
  std::vector<domain::NotificationType> types;
  std::vector<base::Timestamp> created_at, attempted_at;
  std::vector<bool> delivered;
  std::vector<std::optional<int>> status_codes;
  std::vector<std::optional<std::string>> errors, answers;
  std::vector<std::int64_t> durations;
  for (const AttemptRecord& a : attempts) {
    ids.push_back(a.notification.delivery_id);
    numbers.push_back(a.attempt);
    org_ids.push_back(a.notification.org_id);
    monitor_ids.push_back(a.notification.monitor_id);
    row_ids.push_back(a.notification.row_id);
    groups.push_back(a.notification.event_group_id);
    types.push_back(a.notification.type);
    created_at.push_back(a.notification.created_at);
    attempted_at.push_back(a.attempted_at);
    delivered.push_back(a.kind == AttemptRecord::Kind::kDelivered);
    status_codes.push_back(a.status_code);
    errors.push_back(a.error);
    answers.push_back(a.answer ? std::optional(Bytea(*a.answer)) : std::nullopt);
    durations.push_back(a.duration.count());
  }
  tx.Exec("attempt_insert", ids, numbers, org_ids, monitor_ids, row_ids, groups, types, created_at,
          attempted_at, delivered, status_codes, errors, answers, durations);
}

// Those that are not in history: where an earlier settlement may have happened.
std::vector<AttemptRecord> NotRecorded(Transaction& tx, const std::vector<AttemptRecord>& batch) {
  std::vector<base::Uuid> ids;
  std::vector<base::Timestamp> attempted_at;
  for (const AttemptRecord& a : batch) {
    ids.push_back(a.notification.delivery_id);
    attempted_at.push_back(a.attempted_at);
  }
  std::set<std::size_t> recorded;
  for (const auto& row : tx.Exec("attempts_recorded", ids, attempted_at)) {
    recorded.insert(row[0].as<std::size_t>());
  }
  std::vector<AttemptRecord> left;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!recorded.contains(i)) left.push_back(batch[i]);
  }
  return left;
}

void SettleEndpoints(Transaction& tx, const std::vector<AttemptRecord>& attempts,
                     int breaker_failures, std::chrono::milliseconds breaker_interval) {
  std::map<base::Uuid, int> failures;  // in id order, which everybody keeps
  std::set<base::Uuid> succeeded;
  for (const AttemptRecord& a : attempts) {
    if (a.kind == AttemptRecord::Kind::kDelivered) {
      succeeded.insert(a.notification.endpoint_id);
    } else if (a.endpoint_failed) {
      ++failures[a.notification.endpoint_id];
    }
  }
  std::vector<base::Uuid> ids;
  std::vector<int> counts;
  for (const auto& [id, count] : failures) {
    if (succeeded.contains(id)) continue;
    ids.push_back(id);
    counts.push_back(count);
  }
  if (!succeeded.empty()) {
    tx.Exec("endpoints_succeeded", std::vector<base::Uuid>(succeeded.begin(), succeeded.end()));
  }
  if (!ids.empty()) {
    tx.Exec("endpoints_failed", ids, counts, breaker_failures, breaker_interval.count());
  }
}

}  // namespace

void SettleAttempts(Session& session, const std::vector<AttemptRecord>& batch, bool again,
                    int breaker_failures, std::chrono::milliseconds breaker_interval) {
  InTransaction(session, [&](Transaction& tx) {
    const std::vector<AttemptRecord> attempts = again ? NotRecorded(tx, batch) : batch;
    if (attempts.empty()) return;
    std::vector<base::Uuid> delivered, delivered_tokens, failed, failed_tokens;
    std::vector<domain::DeliveryState> states;
    std::vector<int> numbers;
    std::vector<std::optional<std::string>> errors;
    std::vector<std::int64_t> retry_ms;
    for (const AttemptRecord& a : attempts) {
      if (a.kind == AttemptRecord::Kind::kDelivered) {
        delivered.push_back(a.notification.delivery_id);
        delivered_tokens.push_back(a.lease_token);
        continue;
      }
      failed.push_back(a.notification.delivery_id);
      failed_tokens.push_back(a.lease_token);
      states.push_back(a.kind == AttemptRecord::Kind::kDead ? domain::DeliveryState::kDead
                                                            : domain::DeliveryState::kPending);
      numbers.push_back(a.attempt);
      errors.push_back(a.error);
      retry_ms.push_back(a.retry_in.count());
    }
    if (!delivered.empty()) tx.Exec("delivery_settle_delivered", delivered, delivered_tokens);
    if (!failed.empty()) {
      tx.Exec("delivery_settle_failed", failed, failed_tokens, states, numbers, errors, retry_ms);
    }
    InsertAttempts(tx, attempts);
    SettleEndpoints(tx, attempts, breaker_failures, breaker_interval);
  });
}

namespace {

void ForLeases(Transaction& tx, const char* statement, const std::vector<DeliveryLease>& leases,
               std::optional<std::chrono::milliseconds> lease) {
  std::vector<base::Uuid> ids;
  std::vector<base::Uuid> tokens;
  for (const DeliveryLease& l : leases) {
    ids.push_back(l.delivery_id);
    tokens.push_back(l.lease_token);
  }
  if (lease) {
    tx.Exec(statement, ids, tokens, lease->count());
  } else {
    tx.Exec(statement, ids, tokens);
  }
}

}  // namespace

void RenewDeliveries(Session& session, const std::vector<DeliveryLease>& leases,
                     std::chrono::milliseconds lease) {
  InTransaction(session, [&](Transaction& tx) { ForLeases(tx, "delivery_renew", leases, lease); });
}

void ReleaseDeliveries(Session& session, const std::vector<DeliveryLease>& leases) {
  InTransaction(session,
                [&](Transaction& tx) { ForLeases(tx, "delivery_release", leases, std::nullopt); });
}

}  // namespace vedette::store
