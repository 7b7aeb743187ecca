#include "store/deliveries/delivery_views.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "domain/job/webhook.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Each attempt is signed again, so that there is no one signature to show.
constexpr const char* kSignatureShown = "t=<seconds>,v1=<made at each attempt>";
constexpr const char* kSecondsShown = "<seconds>";
constexpr const char* kStandardSignatureShown = "v1,<made at each attempt>";

// Reads :delivery_view or :delivered_view.
DeliveryView ReadView(const pqxx::row& row) {
  DeliveryView view;
  bool receiver_fails = false;
  Columns(row).Into("id"_a = &view.id, "state"_a = &view.state, "type"_a = &view.type,
                    "org_id"_a = &view.org_id, "monitor_id"_a = &view.monitor_id,
                    "row_id"_a = &view.row_id, "job_id"_a = &view.job_id,
                    "channel_id"_a = &view.channel_id, "event_group_id"_a = &view.event_group_id,
                    "attempts"_a = &view.attempts, "next_attempt_at"_a = &view.next_attempt_at,
                    "last_error"_a = &view.last_error, "created_at"_a = &view.created_at,
                    "receiver_fails"_a = &receiver_fails);
  view.names_channel = view.channel_id && view.channel_id == view.monitor_id;
  if (view.names_channel) view.monitor_id = view.row_id = std::nullopt;
  if (view.next_attempt_at) {
    view.waits_for = domain::WaitOf(receiver_fails, view.attempts, view.last_error);
  }
  return view;
}

DeliveryAttemptView ReadAttempt(const pqxx::row& row) {
  DeliveryAttemptView view;
  Columns(row).Into("attempt"_a = &view.attempt, "attempted_at"_a = &view.attempted_at,
                    "delivered"_a = &view.delivered, "status_code"_a = &view.status_code,
                    "error"_a = &view.error, "answer"_a = OptionalBytesInto{&view.answer},
                    "duration_us"_a = &view.duration);
  return view;
}

pqxx::result ListRows(Transaction& tx, const DeliveryQuery& query) {
  if (query.state != domain::DeliveryState::kDelivered) {
    return tx.Exec<"delivery_admin_list">(
        "state"_a = query.state, "org_id"_a = query.org_id, "monitor_id"_a = query.monitor_id,
        "job_id"_a = query.job_id, "before"_a = query.before, "limit"_a = query.limit);
  }
  if (query.job_id) {
    return tx.Exec<"delivery_admin_list_delivered_of_job">(
        "org_id"_a = query.org_id, "monitor_id"_a = query.monitor_id, "job_id"_a = query.job_id,
        "before"_a = query.before, "limit"_a = query.limit);
  }
  return tx.Exec<"delivery_admin_list_delivered">(
      "org_id"_a = query.org_id, "monitor_id"_a = query.monitor_id, "before"_a = query.before,
      "limit"_a = query.limit);
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
  if (!view.monitor_id || view.channel_id) return std::nullopt;
  const pqxx::result found =
      tx.Exec<"delivery_admin_target">("monitor_id"_a = *view.monitor_id, "org_id"_a = view.org_id);
  if (found.empty()) return std::nullopt;
  std::optional<std::string> url;
  domain::CheckNotice about{*view.monitor_id, *view.row_id, {}};
  bool signs = false;
  Columns(found[0]).Into("webhook_url"_a = &url, "metadata"_a = &about.metadata,
                         "signs"_a = &signs);
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
  if (signs) {
    request.headers.emplace_back("Service-Signature", kSignatureShown);
    request.headers.emplace_back("webhook-id", n.event_group_id.ToString());
    request.headers.emplace_back("webhook-timestamp", kSecondsShown);
    request.headers.emplace_back("webhook-signature", kStandardSignatureShown);
  }
  return request;
}

// The state of a delivery that is locked, or that is known to be delivered; empty for none.
std::optional<domain::DeliveryState> LockState(Transaction& tx, const base::Uuid& delivery_id) {
  const pqxx::result locked = tx.Exec<"delivery_admin_lock">("delivery_id"_a = delivery_id);
  if (!locked.empty()) return ReadFirst<domain::DeliveryState>(locked);
  if (tx.Exec<"delivery_admin_was_delivered">("delivery_id"_a = delivery_id).empty())
    return std::nullopt;
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
    pqxx::result found = tx.Exec<"delivery_admin_read">("delivery_id"_a = delivery_id);
    if (found.empty())
      found = tx.Exec<"delivery_admin_read_delivered">("delivery_id"_a = delivery_id);
    if (found.empty()) return std::nullopt;
    DeliveryDetail detail{ReadView(found[0]), {}, {}};
    detail.request = RequestOf(tx, detail.delivery);
    for (const auto& row : tx.Exec<"delivery_admin_attempts">("delivery_id"_a = delivery_id,
                           "limit"_a = kDeliveryAttemptsShown)) {
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
      audit.org_id =
          ReadFirst<base::Uuid>(tx.Exec<"delivery_admin_hasten">("delivery_id"_a = delivery_id));
    } else if (*state == domain::DeliveryState::kDelivered) {
      done = SendNowOutcome::kResent;
      otherwise = SendNowOutcome::kNoReceiver;
      audit.org_id =
          ReadFirst<base::Uuid>(tx.Exec<"delivery_admin_resend">("delivery_id"_a = delivery_id));
    } else {
      done = SendNowOutcome::kReplayed;
      audit.org_id = ReadFirst<base::Uuid>(tx.Exec<"delivery_admin_replay">(
          "delivery_ids"_a = std::vector<base::Uuid>{delivery_id}));
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
    const pqxx::result locked = tx.Exec<"delivery_admin_lock">("delivery_id"_a = delivery_id);
    if (locked.empty()) {
      return tx.Exec<"delivery_admin_was_delivered">("delivery_id"_a = delivery_id).empty()
                 ? ReplayOutcome::kNotFound
                 : ReplayOutcome::kNotDead;
    }
    audit.org_id = ReadFirst<base::Uuid>(
        tx.Exec<"delivery_admin_replay">("delivery_ids"_a = std::vector<base::Uuid>{delivery_id}));
    if (!audit.org_id) return ReplayOutcome::kNotDead;
    InsertAudit(tx, clock, audit);
    return ReplayOutcome::kDone;
  });
}

void ReplayDeliveries(Session& session, const base::Clock& clock, const ReplayFilter& filter,
                      const AuditEntry& audit, ReplayProgress* progress) {
  const std::vector<base::Uuid> ids = InTransaction(session, [&](Transaction& tx) {
    const auto batch = ReadEach<base::Uuid>(
        filter.org_id
            ? tx.Exec<"delivery_admin_dead_batch_of_org">(
                  "org_id"_a = *filter.org_id, "monitor_id"_a = filter.monitor_id,
                  "since"_a = filter.since, "until"_a = filter.until, "after"_a = progress->after,
                  "limit"_a = filter.limit)
            : tx.Exec<"delivery_admin_dead_batch">(
                  "monitor_id"_a = filter.monitor_id, "since"_a = filter.since,
                  "until"_a = filter.until, "after"_a = progress->after, "limit"_a = filter.limit));
    if (batch.empty()) return batch;
    tx.Exec<"delivery_admin_replay">("delivery_ids"_a = batch);
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
  progress->done = ids.size() < static_cast<std::size_t>(filter.limit);
  if (!ids.empty()) progress->after = ids.back();
}

std::vector<DeliveryView> ListDeadDeliveries(Session& session, const base::Uuid& org_id,
                                             const std::optional<base::Uuid>& before, int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<DeliveryView> views;
    for (const auto& row : tx.Exec<"delivery_admin_dead_of_org">("org_id"_a = org_id,
                           "before"_a = before, "limit"_a = limit)) {
      views.push_back(ReadView(row));
    }
    return views;
  });
}

namespace {

MonitorDelivery ReadListed(Columns& in) {
  MonitorDelivery d;
  bool receiver_fails = false;
  in.Into("id"_a = &d.id, "state"_a = &d.state, "type"_a = &d.type, "row_id"_a = &d.row_id,
          "channel_id"_a = &d.channel_id, "event_group_id"_a = &d.event_group_id,
          "attempts"_a = &d.attempts, "next_attempt_at"_a = &d.next_attempt_at,
          "last_error"_a = &d.last_error, "created_at"_a = &d.created_at,
          "receiver_fails"_a = &receiver_fails);
  if (d.next_attempt_at) {
    d.waits_for = domain::WaitOf(receiver_fails, d.attempts, d.last_error);
  }
  return d;
}

}  // namespace

std::vector<MonitorDelivery> ListMonitorDeliveries(
    Session& session, const base::Uuid& monitor_id,
    const std::optional<domain::DeliveryState>& state, const std::optional<base::Uuid>& before,
    int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<MonitorDelivery> deliveries;
    for (const auto& row : tx.Exec<"delivery_list_monitor">("monitor_id"_a = monitor_id,
                           "state"_a = state, "before"_a = before, "limit"_a = limit)) {
      Columns in(row);
      deliveries.push_back(ReadListed(in));
    }
    return deliveries;
  });
}

std::vector<MonitorDelivery> ListChannelDeliveries(Session& session, const base::Uuid& channel_id,
                                                   const std::optional<base::Uuid>& before,
                                                   int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<MonitorDelivery> deliveries;
    for (const auto& row : tx.Exec<"delivery_list_channel">("channel_id"_a = channel_id,
                           "before"_a = before, "limit"_a = limit)) {
      Columns in(row);
      MonitorDelivery d = ReadListed(in);
      std::optional<base::Uuid> recipient_id;
      in.Into("recipient_id"_a = &recipient_id, "names_channel"_a = &d.names_channel,
              "recipient"_a = &d.recipient);
      deliveries.push_back(std::move(d));
    }
    return deliveries;
  });
}

}  // namespace vedette::store
