// From a row to its result.

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "domain/ids.h"
#include "worker/probes/text.h"
#include "worker/verdict.h"
#include "worker/worker.h"

namespace vedette::worker {
namespace {

// One check's share in the moving average of durations.
constexpr int kDurationWeight = 32;
// The wait before the second attempt; doubles, plus up to half of it as jitter.
constexpr std::chrono::milliseconds kRetryFirst{500};
// The wait of a check whose turn came while it was not known whether its monitor is live.
constexpr std::chrono::milliseconds kTurnAgain{500};

std::optional<std::string> DumpIf(const std::optional<base::Json>& value) {
  if (!value) return std::nullopt;
  return base::DumpJson(*value);
}

// A value becomes what is known of its row: text that could not be read back must not get there.
bool Storable(const ProbeResult& result) {
  const auto* observation = std::get_if<Observation>(&result);
  if (observation == nullptr) return true;
  const auto storable = [](const auto& field) {
    const base::Json& value = field.second.value;
    if (!value.is_string()) return true;
    const auto& text = value.template get_ref<const std::string&>();
    return text.find('\0') == std::string::npos && IsValidUtf8(text);
  };
  return std::all_of(observation->fields.begin(), observation->fields.end(), storable);
}

ProbeFailure Unreadable(const std::exception& e) {
  return {"row_unreadable", e.what(), false, std::nullopt};
}

ProbeFailure Unstorable() {
  return {std::string(kRecordFailedClass), std::string(kRecordFailedMessage), false, std::nullopt};
}

}  // namespace

// A check between its start and its result.
struct Worker::Check {
  std::shared_ptr<ActiveChunk> chunk;
  RowRef ref;
  base::Uuid id;  // event_group_id
  KnownValues known;
  base::JsonText subject;
  base::JsonText context;
  int attempts = 0;
  // A check that waits for its turn at a busy host has not begun: it may still be told not to.
  enum class Stage { kWaits, kRefused, kBegun } stage = Stage::kWaits;
  std::chrono::nanoseconds started{};   // or begun
  std::chrono::nanoseconds deadline{};  // waits for turns excluded

  const store::LoadedPart& part() const { return chunk->claimed.parts[ref.part]; }
  const ActivePart& active() const { return chunk->parts[ref.part]; }
  const store::LoadedRow& row() const { return part().rows[ref.row]; }
  Verdict Judged(const ProbeResult& result) const;
};

Verdict Worker::Check::Judged(const ProbeResult& result) const {
  const store::MonitorSpec& spec = *active().spec;
  const auto judge = [&](const ProbeResult& r) {
    return Judge(active().probe_spec->watched, {spec.confirm_after, spec.missing_confirmations},
                 known, r);
  };
  try {
    return judge(result);
  } catch (const std::invalid_argument& e) {
    return judge(Unreadable(e));
  }
}

// Starts checks while there is room, one of each chunk in turn, so that no chunk stands before
// another, and of each organisation up to its share of the slots (G10).
void Worker::Pump() {
  if (pumping_) return;  // a probe that answers at once comes back here
  pumping_ = true;
  const auto org_max = std::max<std::size_t>(
      1, static_cast<std::size_t>(config_.worker.org_share *
                                  static_cast<double>(config_.worker.checks_in_flight_max)));
  std::size_t passed = 0;  // chunks in a row whose organisation has its share
  while (FreeSlots() > 0 && passed < startable_.size()) {
    auto chunk = std::move(startable_.front());
    startable_.pop_front();
    if (chunk->lost || chunk->giving_back) continue;
    if (chunk->org->in_flight >= org_max) {
      startable_.push_back(std::move(chunk));
      ++passed;
      continue;
    }
    passed = 0;
    if (!ControlFresh(*chunk)) {
      startable_.push_front(std::move(chunk));
      ReadControl();
      break;  // goes on with what the read brings
    }
    if (StartNext(chunk)) startable_.push_back(std::move(chunk));
  }
  pumping_ = false;
  metrics_.SetChecksInFlight(static_cast<std::int64_t>(in_flight_));
}

// Starts the chunk's next row that has no outcome. False when there is none left.
bool Worker::StartNext(const std::shared_ptr<ActiveChunk>& chunk) {
  RowRef& next = chunk->next;
  while (next.part < chunk->parts.size()) {
    ActivePart& part = chunk->parts[next.part];
    if (next.row >= part.outcomes.size()) {
      next = {next.part + 1, 0};
      continue;
    }
    const RowRef ref{next.part, next.row++};
    if (part.outcomes[ref.row] != 0) continue;
    if (!part.monitor_active || !part.org_runs) {
      AddResult(chunk, ref, domain::Outcome::kSkippedPaused, nullptr);
      continue;
    }
    StartCheck(chunk, ref);
    return true;
  }
  return false;
}

void Worker::StartCheck(const std::shared_ptr<ActiveChunk>& chunk, RowRef ref) {
  auto check = std::make_shared<Check>();
  check->chunk = chunk;
  check->ref = ref;
  store::LoadedRow& row = chunk->claimed.parts[ref.part].rows[ref.row];
  check->id = domain::EventGroupId(row.row_id, check->part().part.tick_id);
  check->started = clock_.SinceBoot();
  const TierProbe& probe = probes_.at(chunk->claimed.tier);
  check->deadline = check->started + probe.config.deadline_ms;
  ++chunk->in_flight;
  ++chunk->org->in_flight;
  ++in_flight_;
  // A row is started once a claim: the check takes what it says.
  check->subject = base::JsonText(std::move(row.subject));
  if (row.context) check->context = base::JsonText(std::move(*row.context));
  check->known.baseline = base::JsonText(std::move(row.baseline));
  if (row.known) check->known.known.emplace(std::move(*row.known));
  if (row.pending) check->known.pending.emplace(std::move(*row.pending));
  try {
    check->known.Current().Value();
    if (probe.probe->ReadsSubject()) {
      check->subject.Value();
      check->context.Value();
    }
  } catch (const std::invalid_argument& e) {
    Finish(check, Unreadable(e));
    return;
  }
  Attempt(check);
}

void Worker::Attempt(const std::shared_ptr<Check>& check) {
  const TierProbe& probe = probes_.at(check->chunk->claimed.tier);
  ++check->attempts;
  const auto left =
      std::chrono::floor<std::chrono::milliseconds>(check->deadline - clock_.SinceBoot());
  ProbeRequest request;
  request.org_id = check->chunk->claimed.org_id;
  request.check_id = check->id;
  request.row_id = check->row().row_id;
  request.spec = check->active().probe_spec;
  request.subject = check->subject;
  request.context = check->context;
  request.known = check->known.Current();
  request.since = check->row().last_run_at;
  request.until = check->chunk->looked_until;
  request.timeout = std::max(std::chrono::milliseconds(1), std::min(probe.config.timeout_ms, left));
  request.deadline_left = std::max(std::chrono::milliseconds(1), left);
  request.on_turn = [this, check, alive = alive_](std::chrono::milliseconds waited) {
    return *alive && OnTurn(*check, waited);
  };
  probe.probe->Start(std::move(request), [this, check, alive = alive_](ProbeResult result) {
    if (*alive) OnProbed(check, std::move(result));
  });
}

// Waiting for a turn costs a check none of its time. Whether it may start is looked at again when
// it has waited: a monitor that was paused meanwhile is asked nothing any more (G5).
bool Worker::OnTurn(Check& check, std::chrono::milliseconds waited) {
  check.deadline += waited;
  if (check.stage == Check::Stage::kBegun) return true;
  const ActiveChunk& chunk = *check.chunk;
  const bool fresh = ControlFresh(chunk);
  const bool live = check.active().monitor_active && check.active().org_runs;
  const bool may = fresh && live && !chunk.lost && !chunk.giving_back && !chunk.deaf;
  check.stage = may ? Check::Stage::kBegun : Check::Stage::kRefused;
  if (may) check.started = clock_.SinceBoot();
  if (!fresh) ReadControl();
  return may;
}

// Of a check that has been refused its turn: it was not made.
void Worker::Withdraw(const std::shared_ptr<Check>& check) {
  const auto chunk = check->chunk;
  const ActivePart& part = check->active();
  if (!chunk->lost && !chunk->giving_back && part.monitor_active && part.org_runs) {
    check->stage = Check::Stage::kWaits;
    --check->attempts;
    RetryLater(check, kTurnAgain);
    return;
  }
  LeaveFlight(*chunk);
  if (!chunk->deaf) {
    --chunk->in_flight;
    if (chunk->lost || chunk->giving_back) {
      GiveBackIfIdle(chunk);
    } else {
      AddResult(chunk, check->ref, domain::Outcome::kSkippedPaused, nullptr);
    }
  }
  Pump();
}

void Worker::OnProbed(const std::shared_ptr<Check>& check, ProbeResult result) {
  if (check->stage == Check::Stage::kRefused) return Withdraw(check);
  const TierProbe& probe = probes_.at(check->chunk->claimed.tier);
  const auto* failure = std::get_if<ProbeFailure>(&result);
  if (failure != nullptr) metrics_.AddProbeFailure(probe.kind, failure->error_class);
  if (failure != nullptr && failure->retryable && check->attempts < probe.config.attempts_max &&
      !check->chunk->lost && !check->chunk->giving_back) {
    auto delay = kRetryFirst * (1 << std::min(check->attempts - 1, 10));
    delay +=
        std::chrono::milliseconds(random_() % static_cast<std::uint64_t>(delay.count() / 2 + 1));
    if (failure->retry_after) delay = std::max(delay, *failure->retry_after);
    if (clock_.SinceBoot() + delay < check->deadline) {
      RetryLater(check, delay);
      return;
    }
  }
  Finish(check, result);
}

void Worker::RetryLater(const std::shared_ptr<Check>& check, std::chrono::milliseconds delay) {
  retries_.emplace(clock_.SinceBoot() + delay, check);
  RunRetries();
}

void Worker::RunRetries() {
  const auto now = clock_.SinceBoot();
  bool freed = false;
  while (!retries_.empty() && retries_.begin()->first <= now) {
    const auto check = retries_.begin()->second;
    retries_.erase(retries_.begin());
    if (check->chunk->lost || check->chunk->giving_back) {
      LeaveFlight(*check->chunk);
      freed = true;
      if (check->chunk->deaf) continue;
      --check->chunk->in_flight;
      GiveBackIfIdle(check->chunk);
    } else {
      Attempt(check);
    }
  }
  if (!retries_.empty()) {
    retry_timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(retries_.begin()->first - now));
  }
  if (freed) Pump();
}

void Worker::LeaveFlight(const ActiveChunk& chunk) {
  --in_flight_;
  if (--chunk.org->in_flight == 0 && chunk.org->rows_held == 0) orgs_.erase(chunk.claimed.org_id);
}

void Worker::Finish(const std::shared_ptr<Check>& check, const ProbeResult& result) {
  const auto chunk = check->chunk;
  LeaveFlight(*chunk);
  const auto took = clock_.SinceBoot() - check->started;
  metrics_.ObserveCheckDuration(probes_.at(chunk->claimed.tier).kind,
                                std::chrono::duration_cast<std::chrono::microseconds>(took));
  auto& average = check_durations_[static_cast<std::size_t>(chunk->claimed.tier)];
  average = average.count() == 0 ? took : average + (took - average) / kDurationWeight;
  if (!chunk->deaf) {
    --chunk->in_flight;
    if (!chunk->lost) {
      const Verdict verdict =
          Storable(result) ? check->Judged(result) : check->Judged(Unstorable());
      AddResult(chunk, check->ref, verdict.outcome, MakeEffects(*check, verdict));
    }
  }
  Pump();
}

// What the verdict writes besides the outcome: null where it is nothing.
std::unique_ptr<CheckEffects> Worker::MakeEffects(const Check& check, const Verdict& verdict) {
  const store::LoadedPart& part = check.part();
  auto effects = std::make_unique<CheckEffects>();
  const auto event = [&](domain::EventType type) -> store::EventRecord& {
    return effects->events.emplace_back(EventOf(*check.chunk, check.ref, type));
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
    effects->row =
        store::RowUpdate{part.part.monitor_id, part.part.first + static_cast<int>(check.ref.row),
                         DumpIf(verdict.baseline), DumpIf(verdict.known), DumpIf(verdict.pending)};
  }
  effects->delivery = NotificationOf(*check.chunk, check.ref, verdict.outcome, clock_, sink_);
  const bool nothing = effects->events.empty() && !effects->row && !effects->delivery;
  return nothing ? nullptr : std::move(effects);
}

std::vector<std::int64_t> Worker::CheckDurationsMs() const {
  std::vector<std::int64_t> out;
  for (const auto& average : check_durations_) {
    out.push_back(std::chrono::ceil<std::chrono::milliseconds>(average).count());
  }
  return out;
}

void Worker::AddResult(const std::shared_ptr<ActiveChunk>& chunk, RowRef ref,
                       domain::Outcome outcome, std::unique_ptr<CheckEffects> effects) {
  chunk->parts[ref.part].outcomes[ref.row] = static_cast<char>(outcome);
  --chunk->rows_open;
  if (chunk->unrecorded.empty()) chunk->unrecorded_since = clock_.SinceBoot();
  chunk->unrecorded.push_back({ref, outcome, std::move(effects)});
  recorder_.Add(chunk);
}

}  // namespace vedette::worker
