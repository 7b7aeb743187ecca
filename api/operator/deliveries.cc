#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/kit/cursor.h"
#include "api/kit/reply.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "domain/monitor/enums.h"
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

// An order to replay many, which is carried out in portions, each a job of its own: between them
// others get the connection.
struct ManyReplay {
  store::ReplayFilter filter;
  store::AuditEntry audit;
  store::ReplayProgress progress;
};

rest::Parked ReplayNext(const Call& call, const std::shared_ptr<ManyReplay>& replay) {
  // What was done before a failure stays done, and the answer says so.
  auto failed = [replay, request_id = call.answer->request_id()](const store::Failure& failure) {
    if (replay->progress.replayed == 0) return rest::FailureReply(failure, request_id);
    return rest::Unavailable(
        "incomplete", fmt::format("{} deliveries were replayed before the database could not go "
                                  "on; repeat the request for the rest",
                                  replay->progress.replayed));
  };
  const auto portion = [replay](Call& again) -> rest::Handled {
    store::ReplayProgress& progress = replay->progress;
    const std::int64_t before = progress.replayed;
    store::ReplayDeliveries(again.session(), again.parts.clock, replay->filter, replay->audit,
                            &progress);
    if (progress.replayed > before) again.parts.signals.Raise(store::Signal::kDelivery);
    if (!progress.done) return ReplayNext(again, replay);
    return rest::JsonReply(200, {{"replayed", progress.replayed}});
  };
  return rest::ServeLater<Call>(call.parts.pool, std::nullopt, call, portion, std::move(failed));
}

}  // namespace

rest::Handled GetDeliveries(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::DeliveryQuery query;
  query.state = ReadState(&input);
  query.org_id = input.Id("org_id");
  query.monitor_id = input.Id("monitor_id");
  query.job_id = input.Id("job_id");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(kDeliveryList, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  const auto page = rest::CutPage(store::ListDeliveries(call.session(), query), list.limit,
                                  [](const store::DeliveryView& delivery) {
                                    return rest::EncodeCursor(kDeliveryList, delivery.id);
                                  });
  return ListReply(page, DeliveryJson);
}

rest::Handled GetDelivery(Call& call) {
  const auto detail = store::ReadDelivery(call.session(), call.Id(0));
  if (!detail) return rest::NotFound("delivery");
  return rest::JsonReply(200, DeliveryDetailJson(*detail));
}

rest::Handled PostReplay(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  switch (store::ReplayDelivery(call.session(), call.parts.clock, call.Id(0),
                                AuditOf(call, "delivery.replay", reason))) {
    case store::ReplayOutcome::kNotFound:
      return rest::NotFound("delivery");
    case store::ReplayOutcome::kNotDead:
      return rest::ErrorReply(409, "not_dead",
                              "only a dead delivery can be replayed; `delivery-send` tries a "
                              "pending one now and sends a delivered one again");
    case store::ReplayOutcome::kDone:
      break;
  }
  call.parts.signals.Raise(store::Signal::kDelivery);
  return rest::JsonReply(200, {{"replayed", 1}});
}

rest::Handled PostSendNow(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  using Outcome = store::SendNowOutcome;
  std::string_view was;
  switch (store::SendDeliveryNow(call.session(), call.parts.clock, call.Id(0),
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
  call.parts.signals.Raise(store::Signal::kDelivery);
  return rest::JsonReply(200, {{"id", call.Id(0).ToString()}, {"was", was}});
}

rest::Handled PostReplayMany(Call& call) {
  CallBody body(call);
  const auto replay = std::make_shared<ManyReplay>();
  store::ReplayFilter& filter = replay->filter;
  filter.org_id = body.Id("org_id", rest::Presence::kOptional);
  filter.monitor_id = body.Id("monitor_id", rest::Presence::kOptional);
  filter.since = body.Time("since", rest::Presence::kOptional);
  filter.until = body.Time("until", rest::Presence::kOptional);
  const auto reason = body.Reason();
  body.Check();
  replay->audit = AuditOf(call, "delivery.replay_many", reason);
  return ReplayNext(call, replay);
}

}  // namespace vedette::admin
