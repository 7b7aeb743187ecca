#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "domain/names.h"
#include "rest/cursor.h"
#include "store/deliveries/delivery_views.h"

namespace vedette::admin {
namespace {

constexpr rest::CursorOf kDeliveryList{'d'};

std::optional<domain::DeliveryState> ReadState(rest::QueryReader* input) {
  const auto text = input->Text("state");
  if (!text) return std::nullopt;
  for (const auto state : {domain::DeliveryState::kPending, domain::DeliveryState::kDead,
                           domain::DeliveryState::kDelivered}) {
    if (*text == domain::DeliveryStateName(state)) return state;
  }
  input->Refuse("state", "enum", "Input should be pending, dead or delivered");
  return std::nullopt;
}

}  // namespace

rest::Reply GetDeliveries(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::DeliveryQuery query;
  query.state = ReadState(&input);
  query.org_id = input.Id("org_id");
  query.monitor_id = input.Id("monitor_id");
  query.job_id = input.Id("job_id");
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(kDeliveryList, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  const auto page = rest::CutPage(store::ListDeliveries(session, query), list.limit,
                                  [](const store::DeliveryView& delivery) {
                                    return rest::EncodeCursor(kDeliveryList, delivery.id);
                                  });
  return ListReply(page, DeliveryJson);
}

rest::Reply GetDelivery(const Parts&, store::Session& session, const Call& call) {
  const auto detail = store::ReadDelivery(session, call.ids[0]);
  if (!detail) return rest::NotFound("delivery");
  return rest::JsonReply(200, DeliveryDetailJson(*detail));
}

rest::Reply PostReplay(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  switch (store::ReplayDelivery(session, parts.clock, call.ids[0],
                                AuditOf(call, "delivery.replay", reason))) {
    case store::ReplayOutcome::kNotFound:
      return rest::NotFound("delivery");
    case store::ReplayOutcome::kNotDead:
      return rest::ErrorReply(409, "not_dead",
                              "only a dead delivery can be replayed; `send` tries a pending one "
                              "now and sends a delivered one again");
    case store::ReplayOutcome::kDone:
      break;
  }
  parts.signals.Raise(store::Signal::kDelivery);
  return rest::JsonReply(200, {{"replayed", 1}});
}

rest::Reply PostSendNow(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  using Outcome = store::SendNowOutcome;
  std::string_view was;
  switch (store::SendDeliveryNow(session, parts.clock, call.ids[0],
                                 AuditOf(call, "delivery.send", reason))) {
    case Outcome::kNotFound:
      return rest::NotFound("delivery");
    case Outcome::kBeingSent:
      return rest::ErrorReply(409, "being_sent",
                              "an attempt is under way: look in a few seconds what came of it");
    case Outcome::kNoReceiver:
      return rest::ErrorReply(409, "no_receiver",
                              "there is no webhook_url any more that it could go to");
    case Outcome::kHastened:
      was = domain::DeliveryStateName(domain::DeliveryState::kPending);
      break;
    case Outcome::kResent:
      was = domain::DeliveryStateName(domain::DeliveryState::kDelivered);
      break;
    case Outcome::kReplayed:
      was = domain::DeliveryStateName(domain::DeliveryState::kDead);
      break;
  }
  parts.signals.Raise(store::Signal::kDelivery);
  return rest::JsonReply(200, {{"id", call.ids[0].ToString()}, {"was", was}});
}

std::optional<rest::Reply> PostReplayMany(const Parts& parts, store::Session& session,
                                          const Call& call, store::ReplayProgress* progress) {
  CallBody body(parts, call);
  store::ReplayFilter filter;
  filter.org_id = body.Id("org_id", rest::Presence::kOptional);
  filter.monitor_id = body.Id("monitor_id", rest::Presence::kOptional);
  filter.since = body.Time("since", rest::Presence::kOptional);
  filter.until = body.Time("until", rest::Presence::kOptional);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const std::int64_t before = progress->replayed;
  store::ReplayDeliveries(session, parts.clock, filter,
                          AuditOf(call, "delivery.replay_many", reason), progress);
  if (progress->replayed > before) parts.signals.Raise(store::Signal::kDelivery);
  if (!progress->done) return std::nullopt;
  return rest::JsonReply(200, {{"replayed", progress->replayed}});
}

}  // namespace vedette::admin
