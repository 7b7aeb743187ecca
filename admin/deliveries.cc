#include <utility>

#include "admin/handlers.h"
#include "admin/input.h"
#include "admin/shapes.h"
#include "domain/names.h"
#include "store/delivery_admin.h"

namespace vedette::admin {
namespace {

std::optional<domain::DeliveryState> ReadState(QueryReader* input) {
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

Answer GetDeliveries(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  store::DeliveryQuery query;
  query.state = ReadState(&input);
  query.org_id = input.Id("org_id");
  query.monitor_id = input.Id("monitor_id");
  const int limit = input.Limit();
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  if (cursor_text) {
    const auto cursor = ReadCursor('d', *cursor_text);
    if (!cursor) return BadCursor();
    query.before = cursor->id;
  }
  query.limit = limit + 1;
  auto deliveries = store::ListDeliveries(session, query);
  std::optional<std::string> next;
  if (deliveries.size() > static_cast<std::size_t>(limit)) {
    deliveries.resize(static_cast<std::size_t>(limit));
    next = MakeCursor('d', deliveries.back().id);
  }
  base::Json items = base::Json::array();
  for (const auto& delivery : deliveries) items.push_back(DeliveryJson(delivery));
  return JsonAnswer(200, ListJson(std::move(items), next));
}

Answer GetDelivery(const Parts&, store::Session& session, const Call& call) {
  const auto detail = store::ReadDelivery(session, call.ids[0]);
  if (!detail) return NotFound("delivery");
  return JsonAnswer(200, DeliveryDetailJson(*detail));
}

Answer PostReplay(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  switch (store::ReplayDelivery(session, parts.clock, call.ids[0],
                                AuditOf(call, "delivery.replay", reason))) {
    case store::ReplayOutcome::kNotFound:
      return NotFound("delivery");
    case store::ReplayOutcome::kNotDead:
      return Conflict("not_dead", "only a dead delivery can be replayed");
    case store::ReplayOutcome::kDone:
      break;
  }
  parts.signals.Raise(store::Signal::kDelivery);
  return JsonAnswer(200, {{"replayed", 1}});
}

std::optional<Answer> PostReplayMany(const Parts& parts, store::Session& session, const Call& call,
                                     store::ReplayProgress* progress) {
  BodyReader body(call.request);
  store::ReplayFilter filter;
  filter.org_id = body.Id("org_id", Presence::kOptional);
  filter.monitor_id = body.Id("monitor_id", Presence::kOptional);
  filter.since = body.Time("since", Presence::kOptional);
  filter.until = body.Time("until", Presence::kOptional);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
  const std::int64_t before = progress->replayed;
  store::ReplayDeliveries(session, parts.clock, filter,
                          AuditOf(call, "delivery.replay_many", reason), progress);
  if (progress->replayed > before) parts.signals.Raise(store::Signal::kDelivery);
  if (!progress->done) return std::nullopt;
  return JsonAnswer(200, {{"replayed", progress->replayed}});
}

}  // namespace vedette::admin
