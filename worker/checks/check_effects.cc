#include "worker/checks/check_effects.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "domain/job/job.h"
#include "domain/monitor/current_values.h"

namespace vedette::worker {
namespace {

std::optional<std::string> DumpIf(const std::optional<base::Json>& value) {
  if (!value) return std::nullopt;
  return base::DumpJson(*value);
}

// What the row keeps about its new values; nothing where it has none.
std::optional<std::string> SeenOf(const Verdict& verdict, base::Timestamp since) {
  if (verdict.seen.empty()) return std::nullopt;
  base::Json seen = base::Json::object();
  for (const auto& [field, observed] : verdict.seen) {
    seen[field] = observed ? domain::FactsOf(*observed, since) : base::Json(nullptr);
  }
  return base::DumpJson(seen);
}

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

// An event of the row's check, with what it is about.
store::EventRecord EventOf(const HeldChunk& chunk, RowRef ref, domain::EventType type) {
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

// The notification of the row's check, if its outcome has one and the monitor wants it. It is
// leased to the sink where that has room. Skipped checks send nothing.
std::optional<store::DeliveryRecord> NotificationOf(const HeldChunk& chunk, RowRef ref,
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

// What the monitor's channels are told, if the outcome has a notification; they choose its types
// themselves, when it is recorded.
std::vector<store::ChannelDeliveryRecord> ChannelDeliveriesOf(const HeldChunk& chunk, RowRef ref,
                                                              domain::Outcome outcome,
                                                              const base::Clock& clock) {
  const store::LoadedPart& part = chunk.claimed.parts[ref.part];
  std::vector<store::ChannelDeliveryRecord> deliveries;
  const auto type = NotificationFor(outcome);
  if (!type) return deliveries;
  for (const base::Uuid& channel_id : chunk.parts[ref.part].spec->channel_ids) {
    const base::Uuid row_id = part.rows[ref.row].row_id;
    deliveries.push_back({base::Uuid::V7(clock), channel_id, chunk.claimed.org_id,
                          part.part.monitor_id, row_id,
                          domain::EventGroupId(row_id, part.part.tick_id), *type});
  }
  return deliveries;
}

using FailedPage = std::shared_ptr<const domain::SeenPage>;  // null: there is no picture

// Null where the page is not kept.
std::shared_ptr<const domain::SeenPage> KeptPage(const HeldChunk& chunk, RowRef ref,
                                                 const Verdict& verdict, const Observation* seen,
                                                 const FailedPage& failed_page) {
  if (verdict.outcome == domain::Outcome::kFailed) return failed_page;
  if (seen == nullptr) return nullptr;
  const store::LoadedPart& part = chunk.claimed.parts[ref.part];
  const bool is_first = !part.rows[ref.row].last_run_at && domain::IsCompleted(verdict.outcome);
  if (!is_first && verdict.outcome != domain::Outcome::kChanged) return nullptr;
  return seen->page;
}

std::optional<store::SnapshotRecord> SnapshotOf(const HeldChunk& chunk, RowRef ref,
                                                const Verdict& verdict, const Observation* seen,
                                                const FailedPage& failed_page) {
  auto page = KeptPage(chunk, ref, verdict, seen, failed_page);
  if (page == nullptr) return std::nullopt;
  const store::LoadedPart& part = chunk.claimed.parts[ref.part];
  store::SnapshotRecord snapshot;
  snapshot.is_failure = verdict.outcome == domain::Outcome::kFailed;
  snapshot.org_id = chunk.claimed.org_id;
  snapshot.monitor_id = part.part.monitor_id;
  snapshot.row_id = part.rows[ref.row].row_id;
  snapshot.tick_id = part.part.tick_id;
  snapshot.id = domain::EventGroupId(snapshot.row_id, snapshot.tick_id);
  snapshot.is_rendered = snapshot.is_failure || seen->rendered;
  snapshot.page = std::move(page);
  return snapshot;
}

}  // namespace

std::unique_ptr<CheckEffects> EffectsOf(const HeldChunk& chunk, RowRef ref, const Verdict& verdict,
                                        const Observation* seen, const FailedPage& failed_page,
                                        const base::Clock& clock, NotificationSink* sink) {
  const domain::ChunkPart& part = chunk.claimed.parts[ref.part].part;
  auto effects = std::make_unique<CheckEffects>();
  const auto event = [&](domain::EventType type) -> store::EventRecord& {
    return effects->events.emplace_back(EventOf(chunk, ref, type));
  };
  for (const FieldChange& change : verdict.changes) {
    store::EventRecord& e = event(domain::EventType::kChange);
    e.field = change.field;
    e.previous_value = base::DumpJson(change.previous_value);
    e.current_value = base::DumpJson(change.current_value);
    if (!change.evidence.empty()) e.evidence = change.evidence;
    if (!change.sources.empty()) e.sources = base::DumpJson(base::Json(change.sources));
    e.confidence = change.confidence;
  }
  if (verdict.error) event(domain::EventType::kError).message = *verdict.error;
  if (verdict.row_changed) {
    effects->row = store::RowUpdate{.monitor_id = part.monitor_id,
                                    .position = part.first + static_cast<int>(ref.row),
                                    .baseline = DumpIf(verdict.baseline),
                                    .known = DumpIf(verdict.known),
                                    .pending = DumpIf(verdict.pending),
                                    .seen = SeenOf(verdict, chunk.parts[ref.part].looked_until),
                                    .struct_version = chunk.parts[ref.part].spec->struct_version};
  }
  effects->delivery = NotificationOf(chunk, ref, verdict.outcome, clock, sink);
  effects->channel_deliveries = ChannelDeliveriesOf(chunk, ref, verdict.outcome, clock);
  effects->snapshot = SnapshotOf(chunk, ref, verdict, seen, failed_page);
  const bool nothing = effects->events.empty() && !effects->row && !effects->delivery &&
                       effects->channel_deliveries.empty() && !effects->snapshot;
  return nothing ? nullptr : std::move(effects);
}

std::unique_ptr<CheckEffects> FailureEffects(const HeldChunk& chunk, RowRef ref,
                                             std::string message, const base::Clock& clock,
                                             NotificationSink* sink) {
  auto effects = std::make_unique<CheckEffects>();
  effects->events.push_back(EventOf(chunk, ref, domain::EventType::kError));
  effects->events.back().message = std::move(message);
  effects->delivery = NotificationOf(chunk, ref, domain::Outcome::kFailed, clock, sink);
  effects->channel_deliveries = ChannelDeliveriesOf(chunk, ref, domain::Outcome::kFailed, clock);
  return effects;
}

}  // namespace vedette::worker
