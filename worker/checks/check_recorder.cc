#include "worker/checks/check_recorder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "config/delivery_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "domain/job/webhook.h"
#include "lease/health_log.h"
#include "store/signals.h"
#include "worker/checks/check_effects.h"

namespace vedette::worker {
namespace {

// Records under way at once: the next batch is gathered and sent while one commits.
constexpr std::size_t kUnderWayMax = 2;
// So many bytes of pages that are kept fill a transaction as much as one check more.
constexpr std::size_t kPageBytesACheck = 8192;

// New outcomes as ranges: runs of results in consecutive positions of one part.
std::vector<store::OutcomeRange> Ranges(const HeldChunk& chunk,
                                        const std::vector<CheckResult>& results) {
  std::vector<const CheckResult*> sorted;
  sorted.reserve(results.size());
  for (const CheckResult& r : results) sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(), [](const CheckResult* a, const CheckResult* b) {
    return std::pair(a->ref.part, a->ref.row) < std::pair(b->ref.part, b->ref.row);
  });
  std::vector<store::OutcomeRange> ranges;
  std::size_t last_part = 0;
  for (const CheckResult* r : sorted) {
    const domain::ChunkPart& part = chunk.claimed.parts[r->ref.part].part;
    const int position = part.first + static_cast<int>(r->ref.row);
    if (ranges.empty() || last_part != r->ref.part) {
      ranges.push_back(
          {part.monitor_id, part.tick_id, position, {}, chunk.parts[r->ref.part].looked_until});
      last_part = r->ref.part;
    }
    // Holes stay 0: no outcome.
    ranges.back().outcomes.resize(static_cast<std::size_t>(position - ranges.back().first), 0);
    ranges.back().outcomes.push_back(static_cast<char>(r->outcome));
  }
  return ranges;
}

store::ChunkRecord MakeRecord(const HeldChunk& chunk, const std::vector<CheckResult>& results,
                              std::int64_t rebate_mc, bool finished) {
  store::ChunkRecord record;
  record.lease = chunk.lease;
  record.org_id = chunk.org_id;
  record.team_id = chunk.claimed.team_id;
  record.tier = chunk.claimed.tier;
  record.large = chunk.claimed.large;
  record.price_mc = chunk.claimed.price_mc;
  record.ranges = Ranges(chunk, results);
  for (const CheckResult& r : results) {
    if (domain::IsCompleted(r.outcome)) {
      ++record.completed;
      if (!r.rendered) record.rebate_mc += rebate_mc;
    }
    if (!r.effects) continue;
    record.events.insert(record.events.end(), r.effects->events.begin(), r.effects->events.end());
    if (r.effects->row) record.rows.push_back(*r.effects->row);
    if (r.effects->delivery) record.deliveries.push_back(*r.effects->delivery);
    if (r.effects->snapshot) record.snapshots.push_back(*r.effects->snapshot);
    record.channel_deliveries.insert(record.channel_deliveries.end(),
                                     r.effects->channel_deliveries.begin(),
                                     r.effects->channel_deliveries.end());
  }
  record.finished = finished;
  if (finished) {
    for (std::size_t i = 0; i < chunk.parts.size(); ++i) {
      record.parts.push_back({chunk.claimed.parts[i].part, chunk.parts[i].outcomes,
                              chunk.parts[i].spec, chunk.parts[i].CheckMs()});
    }
  }
  return record;
}

// What stands for a check whose result the database refuses. Its notification is left to the claims
// of the delivery.
void MakeUnrecordable(HeldChunk* chunk, CheckResult* result, const base::Clock& clock) {
  result->outcome = domain::Outcome::kFailed;
  result->origin = Origin::kUnrecordable;
  chunk->parts[result->ref.part].outcomes[result->ref.row] =
      static_cast<char>(domain::Outcome::kFailed);
  result->effects = FailureEffects(
      *chunk, result->ref,
      std::string(kRecordFailedClass) + ": " + std::string(kRecordFailedMessage), clock, nullptr);
}

lease::BatcherOptions Options(const config::WorkerConfig& config) {
  lease::BatcherOptions options;
  options.delayed = "checks could not be recorded yet";
  options.refused = "recording failed";
  options.delay = config.record_delay_ms;
  options.weight_max = static_cast<std::size_t>(config.record_checks_max);
  options.batches_max = kUnderWayMax;
  options.backoff = lease::kRecordRetry;
  return options;
}

// What a failed check says of why its monitor fails: nothing that tells of a person.
void Explain(const CheckEffects& effects, store::HealthChange* change) {
  for (const store::EventRecord& event : effects.events) {
    if (event.type != domain::EventType::kError || !event.message) continue;
    change->failure_class = domain::ErrorClass(*event.message);
    change->address = effects.address;
  }
}

}  // namespace

CheckRecorder::CheckRecorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                             const base::Clock& clock, metrics::Metrics& metrics,
                             const config::Config& config, NotificationSink* sink, base::Logger log,
                             CheckHoldings& holdings, Hooks hooks)
    : lease::Recorder<CheckKind>(loop, pool, clock, log, Options(config.worker),
                                 config.worker.record_partial_delay_ms, std::move(hooks)),
      signals_(signals),
      metrics_(metrics),
      log_(log),
      delivery_lease_(config.delivery.lease_ms),
      sink_(sink),
      holdings_(holdings) {
  for (const auto& [name, probe] : config.probes) {
    if (config::Renders(probe))
      unrendered_mc_[*domain::ParseTier(name)] = config.prices_mc.at(name);
  }
}

// The chunk's price is that of a page that is rendered, as it was when the chunk was admitted, and
// the rest follows from the tier's present price.
std::int64_t CheckRecorder::RebateOf(const HeldChunk& chunk) const {
  const auto unrendered = unrendered_mc_.find(chunk.claimed.tier);
  if (unrendered == unrendered_mc_.end()) return 0;
  return std::max<std::int64_t>(chunk.claimed.price_mc - unrendered->second, 0);
}

void CheckRecorder::AddResult(const ChunkPtr& chunk, CheckResult result) {
  chunk->parts[result.ref.part].outcomes[result.ref.row] = static_cast<char>(result.outcome);
  holdings_.CloseRow(*chunk);
  NoteUnrecorded(*chunk);
  chunk->unrecorded.push_back(std::move(result));
  // Between its first result and its last a chunk is gathered already.
  if (chunk->unrecorded.size() == 1 || chunk->Finished() || chunk->Leaving()) Add(chunk);
}

std::size_t CheckRecorder::WeightOf(const Item& item) const {
  const auto& results = item.taken.empty() ? item.work->unrecorded : item.taken;
  std::size_t weight = results.size();
  for (const CheckResult& r : results) {
    if (!r.effects || !r.effects->snapshot) continue;
    const domain::SeenPage& page = *r.effects->snapshot->page;
    weight += (page.text.size() + page.picture.size()) / kPageBytesACheck;
  }
  return weight;
}

// A chunk that is recorded one by one shares no batch with others.
base::Uuid CheckRecorder::GroupOf(const HeldChunk& chunk) const {
  return chunk.record_mode == HeldChunk::RecordMode::kOneByOne ? chunk.id() : base::Uuid();
}

void CheckRecorder::Take(Item* item) {
  HeldChunk& chunk = *item->work;
  if (chunk.record_mode == HeldChunk::RecordMode::kOneByOne && chunk.unrecorded.size() > 1) {
    item->taken.push_back(std::move(chunk.unrecorded.back()));
    chunk.unrecorded.pop_back();
  } else {
    item->taken = std::exchange(chunk.unrecorded, {});
  }
  item->ends = chunk.Finished() && chunk.unrecorded.empty();
}

CheckRecorder::Job CheckRecorder::Write(const std::vector<Item>& batch) {
  std::vector<store::ChunkRecord> records;
  records.reserve(batch.size());
  for (const Item& item : batch) {
    records.push_back(MakeRecord(*item.work, item.taken, RebateOf(*item.work), item.ends));
  }
  return [records = std::move(records), lease = delivery_lease_](store::Session& session) {
    return store::RecordChecks(session, records, lease);
  };
}

// With what the last checks said of the monitors that fail, whose ticks end with them.
std::vector<store::HealthChange> CheckRecorder::Explained(std::vector<store::HealthChange> changes,
                                                          const std::vector<Item>& items) {
  std::map<base::Uuid, store::HealthChange*> unexplained;
  for (store::HealthChange& change : changes) {
    if (change.fails) unexplained.emplace(change.monitor_id, &change);
  }
  for (const Item& item : items) {
    for (const CheckResult& result : item.taken) {
      if (unexplained.empty()) return changes;
      if (result.outcome != domain::Outcome::kFailed || !result.effects) continue;
      const auto change =
          unexplained.find(item.work->claimed.parts[result.ref.part].part.monitor_id);
      if (change == unexplained.end()) continue;
      Explain(*result.effects, change->second);
      unexplained.erase(change);
    }
  }
  return changes;
}

void CheckRecorder::OnBatch(const std::vector<Item>& batch, const store::RecordResult& result,
                            bool again) {
  lease::LogHealthChanges(log_, Explained(result.changes, batch));
  // After an unknown COMMIT this is how a record that did happen looks, too.
  if (!again) metrics_.AddLeaseLost(static_cast<std::int64_t>(result.dropped.size()));
  if (result.tells_channels) signals_.Raise(store::Signal::kDelivery);
}

bool CheckRecorder::IsDropped(const store::RecordResult& result, const Item& item,
                              std::size_t /*n*/) const {
  return std::find(result.dropped.begin(), result.dropped.end(), item.work->id()) !=
         result.dropped.end();
}

void CheckRecorder::OnItem(const Item& item, const store::RecordResult& result) {
  const ChunkPtr& chunk = item.work;
  std::int64_t charged_mc = 0;
  std::int64_t never_observed = 0;
  for (const CheckResult& r : item.taken) {
    metrics_.AddChecks(r.outcome, chunk->claimed.tier, 1);
    never_observed += r.never_observed;
    if (!domain::IsCompleted(r.outcome)) continue;
    charged_mc += chunk->claimed.price_mc - (r.rendered ? 0 : RebateOf(*chunk));
  }
  if (charged_mc > 0) metrics_.AddCreditsCharged(chunk->claimed.tier, charged_mc);
  metrics_.AddFieldsNeverObserved(chunk->claimed.tier, never_observed);
  Deliver(item.taken, result);
}

void CheckRecorder::OnDropped(Item& item) {
  CancelReserved(item.taken);
}

void CheckRecorder::Deliver(const std::vector<CheckResult>& results,
                            const store::RecordResult& result) {
  bool unleased = false;
  for (const CheckResult& r : results) {
    if (!r.effects || !r.effects->delivery) continue;
    const store::DeliveryRecord& d = *r.effects->delivery;
    if (!d.lease_token) {
      unleased = true;
      continue;
    }
    const store::DeliveryTarget& target = result.targets.at(d.monitor_id);
    if (target.endpoint_id != d.endpoint_id) {  // cleared or changed since the claim
      sink_->Cancel(d.endpoint_id);
      unleased = true;
      continue;
    }
    domain::Notification n;
    n.delivery_id = d.id;
    n.org_id = d.org_id;
    n.endpoint_id = d.endpoint_id;
    n.event_group_id = d.event_group_id;
    n.type = d.type;
    n.created_at = result.recorded_at;
    n.url = *target.url;
    n.about = domain::CheckNotice{d.monitor_id, d.row_id, target.metadata};
    n.read_at = result.read_at;
    sink_->Take(std::move(n), *d.lease_token);
  }
  if (unleased) signals_.Raise(store::Signal::kDelivery);
}

void CheckRecorder::CancelReserved(const std::vector<CheckResult>& results) {
  for (const CheckResult& r : results) {
    if (r.effects && r.effects->delivery && r.effects->delivery->lease_token) {
      sink_->Cancel(r.effects->delivery->endpoint_id);
    }
  }
}

void CheckRecorder::Drop(const ChunkPtr& chunk) {
  CancelReserved(std::exchange(chunk->unrecorded, {}));
}

bool CheckRecorder::OnRefused(Item& item) {
  if (item.taken.empty() || item.taken.front().origin == Origin::kUnrecordable) return false;
  const ChunkPtr& chunk = item.work;
  chunk->record_mode = HeldChunk::RecordMode::kOneByOne;
  if (item.taken.size() == 1) {
    CancelReserved(item.taken);
    MakeUnrecordable(chunk.get(), &item.taken.front(), clock_);
  }
  for (CheckResult& r : item.taken) chunk->unrecorded.push_back(std::move(r));
  Add(chunk);
  return true;
}

}  // namespace vedette::worker
