#include "worker/checks/recorder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "config/config.h"
#include "domain/notification.h"
#include "lease/health_log.h"
#include "store/signals.h"
#include "worker/checks/check_effects.h"

namespace vedette::worker {
namespace {

// Records under way at once: the next batch is gathered and sent while one commits.
constexpr std::size_t kUnderWayMax = 2;
constexpr base::Backoff kRetry{std::chrono::milliseconds(100), std::chrono::milliseconds(5000)};

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
      ranges.push_back({part.monitor_id, part.tick_id, position, {}});
      last_part = r->ref.part;
    }
    // Holes stay 0: no outcome.
    ranges.back().outcomes.resize(static_cast<std::size_t>(position - ranges.back().first), 0);
    ranges.back().outcomes.push_back(static_cast<char>(r->outcome));
  }
  return ranges;
}

store::ChunkRecord MakeRecord(const HeldChunk& chunk, const std::vector<CheckResult>& results,
                              bool finished) {
  store::ChunkRecord record;
  record.lease = chunk.lease();
  record.org_id = chunk.claimed.org_id;
  record.team_id = chunk.claimed.team_id;
  record.tier = chunk.claimed.tier;
  record.large = chunk.claimed.large;
  record.price_mc = chunk.claimed.price_mc;
  record.looked_until = chunk.looked_until;
  record.ranges = Ranges(chunk, results);
  for (const CheckResult& r : results) {
    if (domain::IsCompleted(r.outcome)) ++record.completed;
    if (!r.effects) continue;
    record.events.insert(record.events.end(), r.effects->events.begin(), r.effects->events.end());
    if (r.effects->row) record.rows.push_back(*r.effects->row);
    if (r.effects->delivery) record.deliveries.push_back(*r.effects->delivery);
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
  options.backoff = kRetry;
  return options;
}

// What a failed check says of why its monitor fails: nothing that tells of a person.
void Explain(const CheckEffects& effects, store::HealthTurn* turn) {
  for (const store::EventRecord& event : effects.events) {
    if (event.type != domain::EventType::kError || !event.message) continue;
    turn->failure_class = domain::ErrorClass(*event.message);
    turn->address = effects.address;
  }
}

}  // namespace

Recorder::Recorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                   const base::Clock& clock, metrics::Metrics& metrics,
                   const config::Config& config, NotificationSink* sink, base::Logger log,
                   Holdings& holdings, Hooks hooks)
    : signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config.worker),
      log_(log),
      delivery_lease_(config.delivery.lease_ms),
      sink_(sink),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      batcher_(loop, pool, clock, log, Options(config.worker), BatcherHooks()) {}

Recorder::Batcher::Hooks Recorder::BatcherHooks() {
  Batcher::Hooks hooks;
  hooks.begin = [this](const std::vector<Item>& batch, bool /*again*/) -> Batcher::Job {
    std::vector<store::ChunkRecord> records;
    records.reserve(batch.size());
    for (const Item& item : batch) {
      records.push_back(MakeRecord(*item.chunk, item.results, item.finished));
    }
    return [records = std::move(records), lease = delivery_lease_](store::Session& session) {
      return store::RecordChecks(session, records, lease);
    };
  };
  hooks.written = [this](const std::vector<Item>& batch, const store::RecordResult& result,
                         bool again) { OnWritten(batch, result, again); };
  hooks.lost = [this](Item item, const lease::Loss& loss) { OnLost(std::move(item), loss); };
  hooks.weight = [](const Item& item) {
    return item.results.empty() ? item.chunk->unrecorded.size() : item.results.size();
  };
  // A chunk that is recorded one by one shares no batch with others.
  hooks.group = [](const Item& item) {
    const bool alone = item.chunk->record_mode == HeldChunk::RecordMode::kOneByOne;
    return alone ? item.chunk->claimed.id : base::Uuid();
  };
  hooks.take = Take;
  return hooks;
}

void Recorder::AddResult(const ChunkPtr& chunk, CheckResult result) {
  chunk->parts[result.ref.part].outcomes[result.ref.row] = static_cast<char>(result.outcome);
  holdings_.CloseRow(*chunk);
  if (chunk->unrecorded.empty()) chunk->unrecorded_since = clock_.SinceBoot();
  chunk->unrecorded.push_back(std::move(result));
  // Between its first result and its last a chunk is gathered already.
  if (chunk->unrecorded.size() == 1 || chunk->Finished() || chunk->Leaving()) Add(chunk);
}

void Recorder::Add(const ChunkPtr& chunk) {
  if (chunk->Lost() || chunk->BeingRecorded()) return;  // OnItemWritten adds what came meanwhile
  if (chunk->Finished() || chunk->Leaving()) {
    batcher_.Add({chunk, {}, false});
  } else if (!chunk->unrecorded.empty()) {
    const auto waited = clock_.SinceBoot() - chunk->unrecorded_since;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(config_.record_partial_delay_ms - waited);
    batcher_.AddLater({chunk, {}, false}, std::max(wait, std::chrono::milliseconds(0)));
  }
}

// The chunk's results move into the batch here, and from here on it is being recorded.
bool Recorder::Take(Item* item) {
  HeldChunk& chunk = *item->chunk;
  const bool nothing = chunk.unrecorded.empty() && !chunk.Finished();
  if (chunk.Lost() || chunk.BeingRecorded() || nothing) return false;
  if (chunk.record_mode == HeldChunk::RecordMode::kOneByOne && chunk.unrecorded.size() > 1) {
    item->results.push_back(std::move(chunk.unrecorded.back()));
    chunk.unrecorded.pop_back();
  } else {
    item->results = std::exchange(chunk.unrecorded, {});
  }
  item->finished = chunk.Finished() && chunk.unrecorded.empty();
  chunk.Enter(HeldChunk::Recording::kUnderWay);
  return true;
}

// With what the last checks said of the monitors that fail, whose ticks end with them.
std::vector<store::HealthTurn> Recorder::Explained(std::vector<store::HealthTurn> turns,
                                                   const std::vector<Item>& items) {
  std::map<base::Uuid, store::HealthTurn*> unexplained;
  for (store::HealthTurn& turn : turns) {
    if (turn.fails) unexplained.emplace(turn.monitor_id, &turn);
  }
  for (const Item& item : items) {
    for (const CheckResult& result : item.results) {
      if (unexplained.empty()) return turns;
      if (result.outcome != domain::Outcome::kFailed || !result.effects) continue;
      const auto turn =
          unexplained.find(item.chunk->claimed.parts[result.ref.part].part.monitor_id);
      if (turn == unexplained.end()) continue;
      Explain(*result.effects, turn->second);
      unexplained.erase(turn);
    }
  }
  return turns;
}

void Recorder::OnWritten(const std::vector<Item>& items, const store::RecordResult& result,
                         bool again) {
  lease::LogTurns(log_, Explained(result.turns, items));
  for (const Item& item : items) {
    item.chunk->Enter(HeldChunk::Recording::kNone);
    const bool dropped = std::find(result.dropped.begin(), result.dropped.end(),
                                   item.chunk->claimed.id) != result.dropped.end();
    if (!dropped) {
      OnItemWritten(item, result);
      continue;
    }
    // After an unknown COMMIT this is how a record that did happen looks, too.
    if (!again) metrics_.AddLeaseLost(1);
    CancelReserved(item.results);
    hooks_.ended(item.chunk);
  }
}

void Recorder::OnItemWritten(const Item& item, const store::RecordResult& result) {
  const ChunkPtr& chunk = item.chunk;
  std::int64_t completed = 0;
  std::int64_t never_observed = 0;
  for (const CheckResult& r : item.results) {
    metrics_.AddChecks(r.outcome, chunk->claimed.tier, 1);
    never_observed += r.never_observed;
    if (domain::IsCompleted(r.outcome)) ++completed;
  }
  if (completed > 0) {
    metrics_.AddCreditsCharged(chunk->claimed.tier, completed * chunk->claimed.price_mc);
  }
  metrics_.AddFieldsNeverObserved(chunk->claimed.tier, never_observed);
  Deliver(item.results, result);
  if (item.finished) {
    hooks_.ended(chunk);
  } else if (!chunk->unrecorded.empty() || chunk->Finished()) {
    Add(chunk);
  } else if (chunk->Leaving() && chunk->Quiet()) {
    hooks_.give_back(chunk);
  }
}

void Recorder::Deliver(const std::vector<CheckResult>& results, const store::RecordResult& result) {
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

void Recorder::CancelReserved(const std::vector<CheckResult>& results) {
  for (const CheckResult& r : results) {
    if (r.effects && r.effects->delivery && r.effects->delivery->lease_token) {
      sink_->Cancel(r.effects->delivery->endpoint_id);
    }
  }
}

void Recorder::Drop(const ChunkPtr& chunk) {
  CancelReserved(std::exchange(chunk->unrecorded, {}));
}

// The item is refused even alone, or was abandoned. Where an earlier try may have happened, the
// chunk is loaded afresh: the refusal may be that of a repetition.
void Recorder::OnLost(Item item, const lease::Loss& loss) {
  const ChunkPtr chunk = item.chunk;
  if (chunk->BeingRecorded()) chunk->Enter(HeldChunk::Recording::kNone);
  const bool abandoned = loss.kind == lease::Loss::Kind::kAbandoned;
  if (abandoned || chunk->Lost() || loss.may_have_happened || item.results.empty() ||
      item.results.front().origin == Origin::kUnrecordable) {
    CancelReserved(item.results);
    if (!abandoned && !chunk->Lost()) hooks_.give_back(chunk);
    return;
  }
  RecordOneByOne(std::move(item));
}

void Recorder::RecordOneByOne(Item item) {
  const ChunkPtr chunk = item.chunk;
  chunk->record_mode = HeldChunk::RecordMode::kOneByOne;
  if (item.results.size() == 1) {
    CancelReserved(item.results);
    MakeUnrecordable(chunk.get(), &item.results.front(), clock_);
  }
  for (CheckResult& r : item.results) chunk->unrecorded.push_back(std::move(r));
  Add(chunk);
}

}  // namespace vedette::worker
