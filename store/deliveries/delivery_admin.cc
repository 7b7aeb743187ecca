#include "store/deliveries/delivery_admin.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "domain/notification.h"
#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Each attempt is signed again, so that there is no one signature to show.
constexpr const char* kSignatureShown = "t=<seconds>,v1=<made at each attempt>";

// From :delivery_view or :delivered_view.
DeliveryView ReadView(const pqxx::row& row) {
  DeliveryView view;
  bool receiver_fails = false;
  Columns(row).Into(&view.id, &view.state, &view.type, &view.org_id, &view.monitor_id, &view.row_id,
                    &view.job_id, &view.event_group_id, &view.attempts, &view.next_attempt_at,
                    &view.last_error, &view.created_at, &receiver_fails);
  if (view.next_attempt_at) {
    view.waits_for = domain::WaitOf(receiver_fails, view.attempts, view.last_error);
  }
  return view;
}

DeliveryAttemptView ReadAttempt(const pqxx::row& row) {
  DeliveryAttemptView view;
  Columns(row).Into(&view.attempt, &view.attempted_at, &view.delivered, &view.status_code,
                    &view.error, OptionalBytesInto{&view.answer}, &view.duration);
  return view;
}

pqxx::result ListRows(Transaction& tx, const DeliveryQuery& query) {
  if (query.state != domain::DeliveryState::kDelivered) {
    return tx.Exec("delivery_admin_list", query.state, query.org_id, query.monitor_id, query.job_id,
                   query.before, query.limit);
  }
  if (query.job_id) {
    return tx.Exec("delivery_admin_list_delivered_of_job", query.org_id, query.monitor_id,
                   query.job_id, query.before, query.limit);
  }
  return tx.Exec("delivery_admin_list_delivered", query.org_id, query.monitor_id, query.before,
                 query.limit);
}

base::Json FilterJson(const ReplayFilter& filter) {
  base::Json json = base::Json::object();
  if (filter.org_id) json["org_id"] = filter.org_id->ToString();
  if (filter.monitor_id) json["monitor_id"] = filter.monitor_id->ToString();
  if (filter.since) json["since"] = base::FormatTimestamp(*filter.since);
  if (filter.until) json["until"] = base::FormatTimestamp(*filter.until);
  return json;
}

std::string FilterTarget(const ReplayFilter& filter) {
  if (filter.monitor_id) return filter.monitor_id->ToString();
  if (filter.org_id) return filter.org_id->ToString();
  return "deliveries";
}

// The request of a notification of a check, as it would be made now.
std::optional<DeliveryRequest> RequestOf(Transaction& tx, const DeliveryView& view) {
  if (!view.monitor_id) return std::nullopt;
  const pqxx::result found = tx.Exec("delivery_admin_target", *view.monitor_id, view.org_id);
  if (found.empty()) return std::nullopt;
  std::optional<std::string> url;
  domain::CheckNotice about{*view.monitor_id, *view.row_id, {}};
  bool signs = false;
  Columns(found[0]).Into(&url, &about.metadata, &signs);
  if (!url) return std::nullopt;
  domain::Notification n;
  n.event_group_id = view.event_group_id;
  n.type = view.type;
  n.created_at = view.created_at;
  n.about = std::move(about);
  const bool delivered = view.state == domain::DeliveryState::kDelivered;
  DeliveryRequest request{std::move(*url),
                          domain::NotificationHeaders(n, view.attempts + (delivered ? 0 : 1)),
                          domain::NotificationBody(n)};
  if (signs) request.headers.emplace_back("Service-Signature", kSignatureShown);
  return request;
}

// The state of a delivery that is locked, or that is known to be delivered; empty for none.
std::optional<domain::DeliveryState> LockState(Transaction& tx, const base::Uuid& delivery_id) {
  const pqxx::result locked = tx.Exec("delivery_admin_lock", delivery_id);
  if (!locked.empty()) return ReadFirst<domain::DeliveryState>(locked);
  if (tx.Exec("delivery_admin_was_delivered", delivery_id).empty()) return std::nullopt;
  return domain::DeliveryState::kDelivered;
}

}  // namespace

std::vector<DeliveryView> ListDeliveries(Session& session, const DeliveryQuery& query) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<DeliveryView> views;
    for (const auto& row : ListRows(tx, query)) views.push_back(ReadView(row));
    return views;
  });
}

std::optional<DeliveryDetail> ReadDelivery(Session& session, const base::Uuid& delivery_id) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<DeliveryDetail> {
    pqxx::result found = tx.Exec("delivery_admin_read", delivery_id);
    if (found.empty()) found = tx.Exec("delivery_admin_read_delivered", delivery_id);
    if (found.empty()) return std::nullopt;
    DeliveryDetail detail{ReadView(found[0]), {}, {}};
    detail.request = RequestOf(tx, detail.delivery);
    for (const auto& row :
         tx.Exec("delivery_admin_attempts", delivery_id, kDeliveryAttemptsShown)) {
      detail.attempts.push_back(ReadAttempt(row));
    }
    std::reverse(detail.attempts.begin(), detail.attempts.end());
    return detail;
  });
}

SendNowOutcome SendDeliveryNow(Session& session, const base::Clock& clock,
                               const base::Uuid& delivery_id, AuditEntry audit) {
  audit.target = delivery_id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    const auto state = LockState(tx, delivery_id);
    if (!state) return SendNowOutcome::kNotFound;
    SendNowOutcome done = SendNowOutcome::kHastened;
    SendNowOutcome otherwise = SendNowOutcome::kBeingSent;
    if (*state == domain::DeliveryState::kPending) {
      audit.org_id = ReadFirst<base::Uuid>(tx.Exec("delivery_admin_hasten", delivery_id));
    } else if (*state == domain::DeliveryState::kDelivered) {
      done = SendNowOutcome::kResent;
      otherwise = SendNowOutcome::kNoReceiver;
      audit.org_id = ReadFirst<base::Uuid>(tx.Exec("delivery_admin_resend", delivery_id));
    } else {
      done = SendNowOutcome::kReplayed;
      audit.org_id = ReadFirst<base::Uuid>(
          tx.Exec("delivery_admin_replay", std::vector<base::Uuid>{delivery_id}));
    }
    if (!audit.org_id) return otherwise;
    InsertAudit(tx, clock, audit);
    return done;
  });
}

ReplayOutcome ReplayDelivery(Session& session, const base::Clock& clock,
                             const base::Uuid& delivery_id, AuditEntry audit) {
  audit.target = delivery_id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    const pqxx::result locked = tx.Exec("delivery_admin_lock", delivery_id);
    if (locked.empty()) {
      return tx.Exec("delivery_admin_was_delivered", delivery_id).empty() ? ReplayOutcome::kNotFound
                                                                          : ReplayOutcome::kNotDead;
    }
    audit.org_id = ReadFirst<base::Uuid>(
        tx.Exec("delivery_admin_replay", std::vector<base::Uuid>{delivery_id}));
    if (!audit.org_id) return ReplayOutcome::kNotDead;
    InsertAudit(tx, clock, audit);
    return ReplayOutcome::kDone;
  });
}

void ReplayDeliveries(Session& session, const base::Clock& clock, const ReplayFilter& filter,
                      const AuditEntry& audit, ReplayProgress* progress) {
  const std::vector<base::Uuid> ids = InTransaction(session, [&](Transaction& tx) {
    const auto batch =
        ReadEach<base::Uuid>(tx.Exec("delivery_admin_dead_batch", filter.org_id, filter.monitor_id,
                                     filter.since, filter.until, progress->after, kReplayBatch));
    if (batch.empty()) return batch;
    tx.Exec("delivery_admin_replay", batch);
    AuditEntry entry = audit;
    entry.target = FilterTarget(filter);
    entry.org_id = filter.org_id;
    base::Json detail = FilterJson(filter);
    detail["replayed"] = batch.size();
    entry.detail = std::move(detail);
    InsertAudit(tx, clock, entry);
    return batch;
  });
  progress->replayed += static_cast<std::int64_t>(ids.size());
  progress->done = ids.size() < static_cast<std::size_t>(kReplayBatch);
  if (!ids.empty()) progress->after = ids.back();
}

}  // namespace vedette::store
