#include "worker/active_chunk.h"

#include <algorithm>

namespace vedette::worker {
namespace {

std::optional<domain::NotificationType> NotificationFor(domain::Outcome outcome) {
  switch (outcome) {
    case domain::Outcome::kChanged:
      return domain::NotificationType::kChanged;
    case domain::Outcome::kUnchanged:
      return domain::NotificationType::kCompleted;
    case domain::Outcome::kFailed:
      return domain::NotificationType::kFailed;
    default:
      return std::nullopt;
  }
}

}  // namespace

store::EventRecord EventOf(const ActiveChunk& chunk, RowRef ref, domain::EventType type) {
  const store::LoadedPart& part = chunk.claimed.parts[ref.part];
  store::EventRecord event;
  event.row_id = part.rows[ref.row].row_id;
  event.monitor_id = part.part.monitor_id;
  event.org_id = chunk.claimed.org_id;
  event.tick_id = part.part.tick_id;
  event.event_group_id = domain::EventGroupId(event.row_id, event.tick_id);
  event.type = type;
  return event;
}

std::optional<store::DeliveryRecord> NotificationOf(const ActiveChunk& chunk, RowRef ref,
                                                    domain::Outcome outcome,
                                                    const base::Clock& clock,
                                                    NotificationSink* sink) {
  const store::MonitorSpec& spec = *chunk.parts[ref.part].spec;
  const store::LoadedPart& part = chunk.claimed.parts[ref.part];
  const auto type = NotificationFor(outcome);
  const auto& subscribed = spec.webhook_event_types;
  if (!spec.webhook_url || !type ||
      std::find(subscribed.begin(), subscribed.end(), *type) == subscribed.end()) {
    return std::nullopt;
  }
  store::DeliveryRecord d;
  d.id = base::Uuid::V7(clock);
  d.org_id = chunk.claimed.org_id;
  d.endpoint_id = *spec.endpoint_id;
  d.monitor_id = part.part.monitor_id;
  d.row_id = part.rows[ref.row].row_id;
  d.event_group_id = domain::EventGroupId(d.row_id, part.part.tick_id);
  d.type = *type;
  // A receiver that is known to be down is left to the claims, which try it once an interval.
  if (sink != nullptr && !spec.endpoint_open)
    d.lease_token = sink->Reserve(d.org_id, d.endpoint_id);
  return d;
}

std::unique_ptr<CheckEffects> FailureEffects(const ActiveChunk& chunk, RowRef ref,
                                             std::string message, const base::Clock& clock,
                                             NotificationSink* sink) {
  auto effects = std::make_unique<CheckEffects>();
  effects->events.push_back(EventOf(chunk, ref, domain::EventType::kError));
  effects->events.back().message = std::move(message);
  effects->delivery = NotificationOf(chunk, ref, domain::Outcome::kFailed, clock, sink);
  return effects;
}

}  // namespace vedette::worker
