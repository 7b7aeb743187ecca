#include "worker/recorder.h"

#include <algorithm>
#include <utility>

namespace vedette::worker {
namespace {

// Records under way at once: the next batch is gathered and sent while one commits.
constexpr int kUnderWayMax = 2;
constexpr std::chrono::milliseconds kRetryFirst{100};
constexpr std::chrono::milliseconds kRetryMax{5000};

// New outcomes as ranges: runs of results in consecutive positions of one part.
std::vector<store::OutcomeRange> Ranges(const ActiveChunk& chunk,
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

store::ChunkRecord MakeRecord(const ActiveChunk& chunk, const std::vector<CheckResult>& results,
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

// What stands for a check whose result the database refuses.
// Its notification is left to the claims.
void MakeUnrecordable(ActiveChunk* chunk, CheckResult* result, const base::Clock& clock) {
  result->outcome = domain::Outcome::kFailed;
  chunk->parts[result->ref.part].outcomes[result->ref.row] =
      static_cast<char>(domain::Outcome::kFailed);
  result->effects = FailureEffects(
      *chunk, result->ref,
      std::string(kRecordFailedClass) + ": " + std::string(kRecordFailedMessage), clock, nullptr);
}

}  // namespace

// Some results of some chunks, in one transaction.
struct Recorder::Batch {
  struct Item {
    std::shared_ptr<ActiveChunk> chunk;
    std::vector<CheckResult> results;
    bool finished = false;
  };
  std::vector<Item> items;
  std::chrono::milliseconds backoff = kRetryFirst;
};

Recorder::Recorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                   const base::Clock& clock, metrics::Metrics& metrics,
                   const config::WorkerConfig& config, std::chrono::milliseconds delivery_lease,
                   NotificationSink* sink, base::Logger log, Done done)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      delivery_lease_(delivery_lease),
      sink_(sink),
      log_(log),
      done_(std::move(done)),
      timer_(loop, [this] { Collect(false); }),
      retry_timer_(loop,
                   [this] {
                     auto batches = std::exchange(waiting_, {});
                     for (auto& batch : batches) Send(std::move(batch));
                   }),
      alive_(std::make_shared<bool>(true)) {}

Recorder::~Recorder() {
  *alive_ = false;
}

bool Recorder::idle() const {
  return dirty_.empty() && under_way_ == 0 && waiting_.empty();
}

void Recorder::Add(const std::shared_ptr<ActiveChunk>& chunk) {
  if (chunk->lost || chunk->recording) return;
  if (std::find(dirty_.begin(), dirty_.end(), chunk) == dirty_.end()) dirty_.push_back(chunk);
  Schedule();
}

void Recorder::Schedule() {
  if (dirty_.empty()) return;
  std::size_t gathered = 0;
  for (const auto& chunk : dirty_) {
    if (chunk->Finished()) gathered += chunk->unrecorded.size();
  }
  if (gathered >= static_cast<std::size_t>(config_.record_checks_max)) {
    Collect(false);
  } else if (!timer_.active()) {
    timer_.Start(config_.record_delay_ms);
  }
}

void Recorder::Flush() {
  Collect(true);
}

// Takes chunks that are finished, and those whose oldest result has waited long enough.
void Recorder::Collect(bool everything) {
  while (under_way_ < kUnderWayMax && !dirty_.empty()) {
    auto batch = std::make_shared<Batch>();
    std::size_t results = 0;
    std::vector<std::shared_ptr<ActiveChunk>> later;
    const auto now = clock_.SinceBoot();
    for (auto& chunk : dirty_) {
      if (chunk->lost) continue;
      const bool due = everything || chunk->Finished() || chunk->giving_back ||
                       now - chunk->unrecorded_since >= config_.record_partial_delay_ms;
      const bool alone = chunk->isolating && !batch->items.empty();
      if (!due || alone || results >= static_cast<std::size_t>(config_.record_checks_max)) {
        later.push_back(std::move(chunk));
        continue;
      }
      Batch::Item item;
      if (chunk->isolating && chunk->unrecorded.size() > 1) {
        item.results.push_back(std::move(chunk->unrecorded.back()));
        chunk->unrecorded.pop_back();
      } else {
        item.results = std::exchange(chunk->unrecorded, {});
      }
      item.finished = chunk->Finished() && chunk->unrecorded.empty();
      chunk->recording = true;
      results += item.results.size();
      if (chunk->isolating) results = static_cast<std::size_t>(config_.record_checks_max);
      item.chunk = std::move(chunk);
      batch->items.push_back(std::move(item));
    }
    dirty_ = std::move(later);
    if (batch->items.empty()) break;
    ++under_way_;
    Send(std::move(batch));
  }
  if (!dirty_.empty() && !timer_.active()) timer_.Start(config_.record_delay_ms);
}

void Recorder::Send(std::shared_ptr<Batch> batch) {
  std::vector<store::ChunkRecord> records;
  for (const Batch::Item& item : batch->items) {
    records.push_back(MakeRecord(*item.chunk, item.results, item.finished));
  }
  store::RunAsync<store::RecordResult>(
      pool_, loop_,
      [records = std::move(records), lease = delivery_lease_](store::Session& session) {
        return store::RecordChecks(session, records, lease);
      },
      [this, batch, alive = alive_](std::variant<store::RecordResult, store::Failure> result) {
        if (!*alive) return;
        if (const auto* failure = std::get_if<store::Failure>(&result)) {
          OnFailed(batch, *failure);
        } else {
          OnRecorded(batch, std::get<store::RecordResult>(result));
        }
      });
}

void Recorder::OnRecorded(const std::shared_ptr<Batch>& batch, const store::RecordResult& result) {
  --under_way_;
  for (std::size_t i = 0; i < batch->items.size(); ++i) {
    const auto& item = batch->items[i];
    const auto& chunk = item.chunk;
    chunk->recording = false;
    const bool dropped = std::find(result.dropped.begin(), result.dropped.end(),
                                   chunk->claimed.id) != result.dropped.end();
    if (dropped) {
      // After an unknown COMMIT this is how a record that did happen looks, too.
      if (!chunk->commit_unknown) metrics_.AddLeaseLost(1);
      CancelReserved(*batch, i);
      chunk->lost = true;
      done_(chunk);
      continue;
    }
    for (const CheckResult& r : item.results) metrics_.AddChecks(r.outcome, chunk->claimed.tier, 1);
    const auto completed =
        std::count_if(item.results.begin(), item.results.end(),
                      [](const CheckResult& r) { return domain::IsCompleted(r.outcome); });
    if (completed > 0) {
      metrics_.AddCreditsCharged(chunk->claimed.tier, completed * chunk->claimed.price_mc);
    }
    Deliver(batch, i, result);
    if (item.finished) {
      done_(chunk);
    } else if (!chunk->unrecorded.empty() || chunk->Finished()) {
      Add(chunk);
    } else if (chunk->giving_back && chunk->in_flight == 0) {
      GiveBack(chunk);
    }
  }
  Collect(false);
}

void Recorder::Deliver(const std::shared_ptr<Batch>& batch, std::size_t i,
                       const store::RecordResult& result) {
  bool unleased = false;
  for (const CheckResult& r : batch->items[i].results) {
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
    n.monitor_id = d.monitor_id;
    n.row_id = d.row_id;
    n.event_group_id = d.event_group_id;
    n.type = d.type;
    n.created_at = result.recorded_at;
    n.url = *target.url;
    n.metadata = target.metadata;
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

void Recorder::CancelReserved(const Batch& batch, std::size_t i) {
  CancelReserved(batch.items[i].results);
}

void Recorder::Drop(const std::shared_ptr<ActiveChunk>& chunk) {
  CancelReserved(std::exchange(chunk->unrecorded, {}));
}

void Recorder::Abandon() {
  abandoned_ = true;
  for (const auto& batch : std::exchange(waiting_, {})) {
    --under_way_;
    for (const auto& item : batch->items) CancelReserved(item.results);
  }
}

void Recorder::OnFailed(const std::shared_ptr<Batch>& batch, const store::Failure& failure) {
  if (abandoned_) {
    waiting_.push_back(batch);
    Abandon();
    return;
  }
  if (failure.kind == store::Failure::Kind::kFault) {
    OnFault(batch, failure);
    return;
  }
  if (failure.kind == store::Failure::Kind::kCommitUnknown) {
    for (auto& item : batch->items) item.chunk->commit_unknown = true;
  }
  log_.Warn("checks could not be recorded yet", {{"chunks", batch->items.size()},
                                                 {"error", failure.message},
                                                 {"retry_ms", batch->backoff.count()}});
  if (!retry_timer_.active()) retry_timer_.Start(batch->backoff);
  batch->backoff = std::min(batch->backoff * 2, kRetryMax);
  waiting_.push_back(batch);
}

// The database refuses the batch: its chunks are recorded alone, a chunk alone row by row, and a
// row alone becomes a failed check. A chunk of which a record may have happened is loaded afresh
// instead.
void Recorder::OnFault(const std::shared_ptr<Batch>& batch, const store::Failure& failure) {
  --under_way_;
  const bool may_have_happened =
      std::all_of(batch->items.begin(), batch->items.end(),
                  [](const Batch::Item& item) { return item.chunk->commit_unknown; });
  if (may_have_happened) {
    log_.Warn("checks whose COMMIT was not answered are loaded afresh",
              {{"chunks", batch->items.size()}, {"error", failure.message}});
  } else {
    log_.Error("recording failed", {{"chunks", batch->items.size()}, {"error", failure.message}});
  }
  for (std::size_t i = 0; i < batch->items.size(); ++i) {
    auto& item = batch->items[i];
    const auto chunk = item.chunk;
    chunk->recording = false;
    if (chunk->commit_unknown || (item.results.empty() && chunk->isolating)) {
      CancelReserved(*batch, i);
      GiveBack(chunk);
      continue;
    }
    if (chunk->isolating && item.results.size() == 1) {
      CancelReserved(*batch, i);
      const bool again =
          item.results[0].effects && item.results[0].effects->events.size() == 1 &&
          item.results[0].effects->events[0].message.value_or("").starts_with(kRecordFailedClass);
      if (again) {
        GiveBack(chunk);
        continue;
      }
      MakeUnrecordable(chunk.get(), &item.results[0], clock_);
    }
    chunk->isolating = true;
    for (auto& r : item.results) chunk->unrecorded.push_back(std::move(r));
    Add(chunk);
  }
  Collect(false);
}

void Recorder::GiveBack(const std::shared_ptr<ActiveChunk>& chunk) {
  chunk->lost = true;
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = chunk->lease()](store::Session& session) {
        store::ReleaseChunks(session, {lease});
        return true;
      },
      // A chunk that could not be given back is found when its lease ends.
      [this, alive = alive_](std::variant<bool, store::Failure>) {
        if (*alive) signals_.Raise(store::Signal::kChunk);
      });
  done_(chunk);
}

}  // namespace vedette::worker
