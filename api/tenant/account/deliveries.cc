// Deliveries of the caller's organisation, whatever they are of: the list, one more attempt, and a
// replay of many; and its audit.
#include <algorithm>
#include <utility>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/api.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "domain/job/webhook.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "store/audit.h"
#include "store/deliveries/delivery_views.h"

namespace vedette::api {
namespace {

// Deliveries that one replay takes, at most and where nothing is said.
constexpr int kReplayMax = 10'000;

rest::CursorOf DeliveriesOf(const Call& call, const base::Uuid& org_id) {
  return {'D', org_id, CellOf(call)};
}
rest::CursorOf AuditOfOrganisation(const Call& call, const base::Uuid& org_id) {
  return {'A', org_id, CellOf(call)};
}

base::Json IdJson(const std::optional<base::Uuid>& id) {
  return id ? base::Json(id->ToString()) : base::Json(nullptr);
}

std::string DeliveryText(const store::DeliveryView& delivery) {
  base::Json json{{"id", delivery.id.ToString()},
                  {"state", domain::DeliveryStateName(delivery.state)},
                  {"event_type", nullptr},
                  {"monitor_id", IdJson(delivery.monitor_id)},
                  {"row_id", IdJson(delivery.row_id)},
                  {"job_id", IdJson(delivery.job_id)},
                  {"channel_id", IdJson(delivery.channel_id)},
                  {"event_group_id", delivery.event_group_id.ToString()},
                  {"attempts", delivery.attempts},
                  {"next_attempt_at", base::OrNull(delivery.next_attempt_at)},
                  {"waiting_for", nullptr},
                  {"last_error", nullptr},
                  {"created_at", base::FormatTimestamp(delivery.created_at)}};
  if (!delivery.job_id) {
    json["event_type"] = domain::DeliveredTypeName(delivery.type, delivery.names_channel);
  }
  if (delivery.waits_for) json["waiting_for"] = domain::DeliveryWaitName(*delivery.waits_for);
  if (delivery.last_error) json["last_error"] = *delivery.last_error;
  return base::DumpJson(json);
}

std::string AttemptText(const store::DeliveryAttemptView& attempt) {
  const std::chrono::duration<double, std::milli> duration = attempt.duration;
  return base::DumpJson({{"attempt", attempt.attempt},
                         {"attempted_at", base::FormatTimestamp(attempt.attempted_at)},
                         {"delivered", attempt.delivered},
                         {"status_code", base::OrNull(attempt.status_code)},
                         {"error", base::OrNull(attempt.error)},
                         {"answer", base::OrNull(attempt.answer)},
                         {"duration_ms", duration.count()}});
}

// What an operator did is told, but not who, why and from where: those are the operator's.
std::string AuditText(const store::AuditRecord& record) {
  const bool own =
      record.principal_kind.has_value() && !IsOperator(record.actor, record.principal_id);
  base::Json json{{"id", record.id.ToString()},
                  {"at", base::FormatTimestamp(record.at)},
                  {"actor", own ? record.actor : "operator"},
                  {"action", record.action},
                  {"target", record.target},
                  {"detail", record.detail ? record.detail->Value() : base::Json(nullptr)},
                  {"remote_address", nullptr},
                  {"on_behalf_of", nullptr}};
  if (own) json["remote_address"] = record.remote_address;
  if (record.on_behalf_of) json["on_behalf_of"] = *record.on_behalf_of;
  return base::DumpJson(json);
}

}  // namespace

rest::Handled ListOwnDeliveries(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const rest::CursorOf list = DeliveriesOf(call, call.caller.org_id);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  const auto state = query.Text("state");
  if (state && *state != domain::DeliveryStateName(domain::DeliveryState::kDead)) {
    query.Refuse("state", "enum",
                 "Input should be dead: what a monitor's deliveries wait for is told at "
                 "/monitors/{monitor_id}/deliveries");
  }
  query.Finish({"cursor"});
  problems.Check();
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListDeadDeliveries(call.session(), call.caller.org_id, before, limit + 1), limit,
      [&](const store::DeliveryView& delivery) { return rest::EncodeCursor(list, delivery.id); });
  return rest::Reply{
      200, rest::PageText("deliveries", page, [](const auto& delivery, std::string* text) {
        text->append(DeliveryText(delivery));
      })};
}

rest::Handled ListOwnAttempts(Call& call) {
  const auto found = store::ReadDelivery(call.session(), call.Id(0, "delivery"));
  if (!found || found->delivery.org_id != call.caller.org_id) return rest::NotFound("delivery");
  std::string text = R"({"attempts":[)";
  for (const auto& attempt : found->attempts) {
    if (text.back() != '[') text += ',';
    text += AttemptText(attempt);
  }
  return rest::Reply{200, text + "]}"};
}

rest::Handled ResendDelivery(Call& call) {
  using Outcome = store::SendNowOutcome;
  const base::Uuid id = call.Id(0, "delivery");
  const auto found = store::ReadDelivery(call.session(), id);
  if (!found || found->delivery.org_id != call.caller.org_id) return rest::NotFound("delivery");
  CheckEmptyBody(call);
  store::AuditEntry audit = AuditOf(call, "delivery.send");
  switch (store::SendDeliveryNow(call.session(), call.parts.clock, id, std::move(audit))) {
    case Outcome::kNotFound:
      return rest::NotFound("delivery");
    case Outcome::kBeingSent:
      return rest::ErrorReply(409, "being_sent",
                              "an attempt is under way: look in a few seconds what came of it");
    case Outcome::kNoReceiver:
      return rest::ErrorReply(409, "no_receiver",
                              "there is no webhook_url any more that it could go to");
    case Outcome::kHastened:
    case Outcome::kResent:
    case Outcome::kReplayed:
      break;
  }
  call.parts.signals.Raise(store::Signal::kDelivery);
  return rest::JsonReply(
      200, {{"id", id.ToString()}, {"was", domain::DeliveryStateName(found->delivery.state)}});
}

rest::Handled ReplayOwnDeliveries(Call& call) {
  rest::BodyReader body(call.request(), OptionalBodyRulesOf(call), rest::Nulls::kAbsent);
  store::ReplayFilter filter;
  filter.org_id = call.caller.org_id;
  filter.monitor_id = body.Id("monitor_id", rest::Presence::kOptional);
  filter.since = body.Time("since", rest::Presence::kOptional);
  filter.until = body.Time("until", rest::Presence::kOptional);
  const auto state = body.Text("state", rest::Presence::kOptional, 0, 32);
  if (state && *state != domain::DeliveryStateName(domain::DeliveryState::kDead)) {
    body.Refuse("state",
                "Only dead deliveries are replayed; one that is pending or delivered is "
                "sent again at /account/deliveries/{id}/resend");
  }
  const int max =
      body.Integer("max", rest::Presence::kOptional, 1, kReplayMax).value_or(kReplayMax);
  body.Check();
  store::ReplayProgress progress;
  while (!progress.done && progress.replayed < max) {
    filter.limit = std::min<int>(store::kReplayBatch, max - static_cast<int>(progress.replayed));
    store::ReplayDeliveries(call.session(), call.parts.clock, filter,
                            AuditOf(call, "delivery.replay_many"), &progress);
    call.parts.signals.Raise(store::Signal::kDelivery);
  }
  return rest::JsonReply(200, {{"replayed", progress.replayed}});
}

rest::Handled ListOwnAudit(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const rest::CursorOf list = AuditOfOrganisation(call, call.caller.org_id);
  store::AuditFilter filter;
  filter.org_id = call.caller.org_id;
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  filter.limit = limit + 1;
  if (const auto cursor = query.Text("cursor")) {
    const auto place = rest::DecodeTimedCursor(list, *cursor);
    if (!place) return rest::InvalidCursor();
    filter.before = store::AuditPlace{place->at, place->id};
  }
  const auto page = rest::CutPage(
      store::ListAudit(call.session(), filter), limit, [&](const store::AuditRecord& record) {
        return rest::EncodeCursor(list, rest::TimedPlace{record.at, record.id});
      });
  return rest::Reply{200, rest::PageText("audit", page, [](const auto& record, std::string* text) {
                       text->append(AuditText(record));
                     })};
}

}  // namespace vedette::api
