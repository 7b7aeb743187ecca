#include "worker/checks/check_runner.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/job/job.h"
#include "domain/monitor/current_values.h"
#include "html/url_reference.h"
#include "lease/retries.h"
#include "net/url.h"
#include "worker/checks/check_effects.h"
#include "worker/checks/verdict.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

// One organisation occupies one of them; the other is there for the others (G10).
constexpr std::size_t kComparingThreads = 2;

// A value becomes what is known of its row: text that could not be read back must not get there.
bool Storable(const ProbeResult& result) {
  const auto* observation = std::get_if<Observation>(&result);
  if (observation == nullptr) return true;
  const auto storable = [](const auto& field) {
    const base::Json& value = field.second.value.Value();
    if (!value.is_string()) return true;
    const auto& text = value.template get_ref<const std::string&>();
    return text.find('\0') == std::string::npos && base::IsValidUtf8(text);
  };
  return std::all_of(observation->fields.begin(), observation->fields.end(), storable);
}

ProbeFailure Unreadable(const std::exception& e) {
  return {"row_unreadable", e.what(), false, std::nullopt};
}

ProbeFailure Unstorable() {
  return {std::string(kRecordFailedClass), std::string(kRecordFailedMessage), false, std::nullopt};
}

// Leaves out what was observed with descriptions that the monitor does not have any more.
void Forget(const domain::FieldVersions& versions, int row_version, KnownValues* known) {
  if (!domain::ForgetsAny(versions, row_version)) return;
  const auto kept = [&](const base::JsonText& values) {
    return base::JsonText(domain::WithoutForgotten(values.Value(), versions, row_version));
  };
  known->baseline = kept(known->baseline);
  if (known->known) known->known = kept(*known->known);
  if (known->pending) known->pending = kept(*known->pending);
  known->forgets = true;
}

// The outcome of a row that is not to be checked; nothing where a check of it may begin.
std::optional<domain::Outcome> BarredOf(const HeldChunk& chunk, RowRef ref) {
  if (!chunk.parts[ref.part].MayRun()) return domain::Outcome::kSkippedPaused;
  if (!chunk.claimed.parts[ref.part].rows[ref.row].is_active) return domain::Outcome::kInactive;
  return std::nullopt;
}

}  // namespace

// A check between its start and its result.
struct CheckRunner::Check {
  // What its turn at a busy host has come to.
  //
  //   kWaits --may start--> kBegun
  //     | ^
  //     | +-- tries again --+
  //     +-- must not start --> kRefused --> the check is withdrawn
  enum class Stage {
    kWaits,    // it has not begun: it may still be told not to
    kRefused,  // it was told so; the probe ends the attempt
    kBegun,
  };

  ChunkPtr chunk;
  RowRef ref;
  base::Uuid id;  // event_group_id
  KnownValues known;
  base::JsonText subject;
  std::string address;  // where the row is looked at, as in "https://shop.example"; once it failed
  base::JsonText context;
  std::shared_ptr<const domain::SeenPage> failed_page{};  // of the last attempt that has one
  int attempts = 0;
  Stage stage = Stage::kWaits;
  std::chrono::nanoseconds started{};   // or begun, where it waited for its turn
  std::chrono::nanoseconds deadline{};  // waits for turns excluded

  const store::LoadedPart& part() const { return chunk->claimed.parts[ref.part]; }
  const HeldPart& held() const { return chunk->parts[ref.part]; }
  const store::LoadedRow& row() const { return part().rows[ref.row]; }
  Verdict VerdictOn(const ProbeResult& result) const;
};

Verdict CheckRunner::Check::VerdictOn(const ProbeResult& result) const {
  const store::MonitorSpec& spec = *held().spec;
  const auto decide = [&](const ProbeResult& r) {
    return DecideVerdict(held().probe_spec->watched,
                         {spec.confirm_after, spec.missing_confirmations, &spec.rules}, known, r);
  };
  try {
    return decide(Storable(result) ? result : Unstorable());
  } catch (const std::invalid_argument& e) {
    return decide(Unreadable(e));
  }
}

CheckRunner::CheckRunner(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                         const RoomLimits& limits, std::map<domain::Tier, TierProbe> probes,
                         NotificationSink* sink, CheckHoldings& holdings,
                         std::chrono::milliseconds age_max, base::Logger log, Hooks hooks)
    : loop_(loop),
      clock_(clock),
      metrics_(metrics),
      limits_(limits),
      probes_(std::move(probes)),
      sink_(sink),
      holdings_(holdings),
      age_max_(age_max),
      log_(log),
      hooks_(std::move(hooks)),
      random_(std::random_device{}()),
      early_(loop, clock,
             [this](const ChunkPtr& chunk) {
               Enqueue(chunk);
               Pump();
             }),
      retries_(loop, clock, [this](const std::shared_ptr<Check>& check) { Retry(check); }),
      comparing_("compare", {kComparingThreads, 1, limits.slots_max}) {}

void CheckRunner::Enqueue(const ChunkPtr& chunk) {
  startable_.Push(chunk->org_id, chunk->flow(), chunk->AloneOfItsFlow(), chunk);
}

void CheckRunner::Pump() {
  if (pumping_) return;  // a probe that answers at once comes back here
  pumping_ = true;
  const auto may = [this](const ChunkPtr& chunk, bool newcomer) {
    if (!chunk->Working()) return true;  // it is dropped below; its load may be gone
    return lease::MayStart(chunk->org->in_flight, RoomOf(limits_, holdings_, 0), newcomer);
  };
  while (FreeSlots(limits_, holdings_) > 0) {
    auto turn = startable_.Next(may);
    if (!turn) break;
    const ChunkPtr chunk = turn->item();
    if (!chunk->Working()) {
      startable_.Drop(*turn);
      continue;
    }
    const auto now = clock_.SinceBoot();
    if (!chunk->Fresh(now, age_max_)) {
      hooks_.stale();
      break;  // goes on with what the read brings
    }
    const Start start = StartNext(chunk, now);
    if (start == Start::kEarly) early_.Add(chunk, chunk->parts[chunk->next.part].starts_from - now);
    if (start == Start::kBegun) startable_.Took(*turn);
    if (start != Start::kBegun || chunk->AllStarted()) startable_.Drop(*turn);
  }
  pumping_ = false;
  metrics_.SetChecksInFlight(static_cast<std::int64_t>(holdings_.InLane().in_flight));
}

// Starts the chunk's next row that has no outcome.
CheckRunner::Start CheckRunner::StartNext(const ChunkPtr& chunk, std::chrono::nanoseconds now) {
  RowRef& next = chunk->next;
  while (next.part < chunk->parts.size()) {
    const HeldPart& part = chunk->parts[next.part];
    if (next.row >= part.outcomes.size()) {
      next = {next.part + 1, 0};
      continue;
    }
    if (part.starts_from > now) return Start::kEarly;
    const RowRef ref{next.part, next.row++};
    if (part.outcomes[ref.row] != 0) continue;
    if (const auto barred = BarredOf(*chunk, ref)) {
      hooks_.result(chunk, {ref, *barred, nullptr});
      continue;
    }
    StartCheck(chunk, ref);
    return Start::kBegun;
  }
  return Start::kNone;
}

void CheckRunner::StartCheck(const ChunkPtr& chunk, RowRef ref) {
  auto check = std::make_shared<Check>();
  check->chunk = chunk;
  check->ref = ref;
  store::LoadedRow& row = chunk->claimed.parts[ref.part].rows[ref.row];
  check->id = domain::EventGroupId(row.row_id, check->part().part.tick_id);
  check->started = clock_.SinceBoot();
  const TierProbe& probe = probes_.at(chunk->claimed.tier);
  check->deadline = check->started + probe.deadline;
  holdings_.EnterFlight(*chunk);
  // A row is started once a claim: the check takes what it says.
  check->subject = base::JsonText(std::move(row.subject));
  check->known.baseline = base::JsonText(std::move(row.baseline));
  if (row.known) check->known.known.emplace(std::move(*row.known));
  if (row.pending) check->known.pending.emplace(std::move(*row.pending));
  try {
    const domain::FieldVersions& versions = check->held().spec->field_versions;
    const auto& watched = check->held().probe_spec->watched;
    const auto is_watched = [&](std::string_view name) {
      return std::any_of(watched.begin(), watched.end(),
                         [&](const WatchedField& field) { return field.name == name; });
    };
    auto context = domain::ContextOf(std::move(row.context), versions, is_watched);
    if (context) check->context = base::JsonText(std::move(*context));
    Forget(versions, row.struct_version, &check->known);
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

void CheckRunner::Attempt(const std::shared_ptr<Check>& check) {
  const TierProbe& probe = probes_.at(check->chunk->claimed.tier);
  ++check->attempts;
  const auto left = std::chrono::floor<milliseconds>(check->deadline - clock_.SinceBoot());
  ProbeRequest request;
  request.org_id = check->chunk->org_id;
  request.check_id = check->id;
  request.row_id = check->row().row_id;
  request.spec = check->held().probe_spec;
  request.subject = check->subject;
  request.context = check->context;
  request.known = check->known.Current();
  request.since = check->row().last_run_at;
  request.until = check->held().looked_until;
  request.timeout = std::max(milliseconds(1), std::min(probe.timeout, left));
  request.deadline_left = std::max(milliseconds(1), left);
  request.on_failed_page = [check](std::shared_ptr<const domain::SeenPage> page) {
    check->failed_page = std::move(page);
  };
  request.on_turn =
      live_.Guard([this, check](milliseconds waited) { return OnTurn(*check, waited); });
  probe.probe->Start(std::move(request), live_.Guard([this, check](const ProbeResult& result) {
    OnProbed(check, result);
  }));
}

// Waiting for a turn costs a check none of its time. Whether it may start is looked at again when
// it has waited: for a monitor that was paused, or a row that was switched off, meanwhile nothing
// is asked any more (G5).
bool CheckRunner::OnTurn(Check& check, milliseconds waited) {
  check.deadline += waited;
  if (check.stage == Check::Stage::kBegun) return true;
  const auto now = clock_.SinceBoot();
  const bool fresh = check.chunk->Fresh(now, age_max_);
  const bool may = fresh && !BarredOf(*check.chunk, check.ref) && check.chunk->Working();
  check.stage = may ? Check::Stage::kBegun : Check::Stage::kRefused;
  if (may) check.started = now;
  if (!fresh) hooks_.stale();
  return may;
}

// The check has been refused its turn: it was not made.
void CheckRunner::Withdraw(const std::shared_ptr<Check>& check) {
  const ChunkPtr chunk = check->chunk;
  const auto barred = BarredOf(*chunk, check->ref);
  if (chunk->Working() && !barred) {
    check->stage = Check::Stage::kWaits;
    --check->attempts;
    retries_.Add(check, lease::kLookAgain);
    return;
  }
  holdings_.LeaveFlight(*chunk);
  if (chunk->Working()) {
    hooks_.result(chunk, {check->ref, *barred, nullptr});
  } else {
    hooks_.dropped(chunk);
  }
  Pump();
}

void CheckRunner::OnProbed(const std::shared_ptr<Check>& check, const ProbeResult& result) {
  if (check->stage == Check::Stage::kRefused) return Withdraw(check);
  const TierProbe& probe = probes_.at(check->chunk->claimed.tier);
  const auto* failure = std::get_if<ProbeFailure>(&result);
  if (failure != nullptr) {
    metrics_.AddProbeFailure(probe.kind, failure->error_class);
    NoteFailure(check.get(), *failure);
  }
  if (failure != nullptr && check->chunk->Working()) {
    const auto left = check->deadline - clock_.SinceBoot();
    const double random = std::uniform_real_distribution<double>()(random_);
    const auto wait =
        lease::WaitForRetry(*failure, check->attempts, probe.attempts_max, left, random);
    if (wait) return retries_.Add(check, *wait);
  }
  Finish(check, result);
}

// Without the sentence and the address's path, which may tell of a person.
void CheckRunner::NoteFailure(Check* noted, const ProbeFailure& failure) const {
  const Check& check = *noted;
  const TierProbe& probe = probes_.at(check.chunk->claimed.tier);
  if (probe.probe->ReadsSubject()) {
    const auto page = html::PageAddress(check.subject.Value(), check.context.Value());
    noted->address = net::OriginOf(page.value_or(""));
  }
  log_.Debug("an attempt at a check failed", {{"monitor", check.part().part.monitor_id.ToString()},
                                              {"row", check.row().row_id.ToString()},
                                              {"check", check.id.ToString()},
                                              {"attempt", check.attempts},
                                              {"class", failure.error_class},
                                              {"address", check.address}});
}

void CheckRunner::Retry(const std::shared_ptr<Check>& check) {
  if (check->chunk->Working()) {
    Attempt(check);
    return;
  }
  holdings_.LeaveFlight(*check->chunk);
  hooks_.dropped(check->chunk);
  Pump();
}

void CheckRunner::DropWaiting() {
  early_.TakeIf([](const ChunkPtr&) { return true; });
  startable_.Clear();
  const auto left =
      retries_.TakeIf([](const std::shared_ptr<Check>& check) { return !check->chunk->Working(); });
  for (const auto& check : left) Retry(check);
}

void CheckRunner::Finish(const std::shared_ptr<Check>& check, const ProbeResult& result) {
  // A chunk that is abandoned or lost has no use for the result.
  if (check->chunk->WantsResults() && domain::HavePatterns(check->held().spec->rules)) {
    return CompareOnAThread(check, result);
  }
  Conclude(check, result, check->chunk->WantsResults() ? check->VerdictOn(result) : Verdict());
}

// The check stays in flight until its values have been compared, so that its queue has room for it.
void CheckRunner::CompareOnAThread(const std::shared_ptr<Check>& check, const ProbeResult& result) {
  auto conclude = live_.Guard([this](const std::shared_ptr<Check>& ended, const ProbeResult& seen,
                                     const Verdict& verdict) { Conclude(ended, seen, verdict); });
  // The thread keeps nothing of the check: what is held of its chunk ends on the loop.
  const bool posted = comparing_.Post(
      check->chunk->org_id,
      [&loop = loop_, check = check, result = result, conclude = std::move(conclude)]() mutable {
        auto verdict = check->VerdictOn(result);
        loop.Post([check = std::move(check), result = std::move(result),
                   verdict = std::move(verdict),
                   conclude = std::move(conclude)]() mutable { conclude(check, result, verdict); });
      });
  base::Assert(posted, "no more checks are compared than are in flight");
}

void CheckRunner::Conclude(const std::shared_ptr<Check>& check, const ProbeResult& result,
                           const Verdict& verdict) {
  const ChunkPtr chunk = check->chunk;
  holdings_.LeaveFlight(*chunk);
  CountDuration(*check);
  if (chunk->WantsResults()) {
    const auto* seen = std::get_if<domain::Observation>(&result);
    auto effects = EffectsOf(*chunk, check->ref, verdict, seen, check->failed_page, clock_, sink_);
    if (effects && verdict.outcome == domain::Outcome::kFailed) effects->address = check->address;
    hooks_.result(chunk, {check->ref, verdict.outcome, std::move(effects), Origin::kProbed,
                          verdict.never_observed, seen != nullptr && seen->rendered});
  }
  Pump();
}

void CheckRunner::CountDuration(Check& check) {
  const auto took = clock_.SinceBoot() - check.started;
  metrics_.ObserveCheckDuration(probes_.at(check.chunk->claimed.tier).kind,
                                std::chrono::duration_cast<std::chrono::microseconds>(took));
  HeldPart& part = check.chunk->parts[check.ref.part];
  ++part.checks;
  part.took += took;
}

bool CheckRunner::RanOut() const {
  return startable_.empty() && early_.empty() && FreeSlots(limits_, holdings_) > 0;
}

std::size_t CheckRunner::RowsWaiting() const {
  std::size_t waiting = 0;
  startable_.ForEach(
      [&waiting](const ChunkPtr& chunk) { waiting += chunk->rows_open - chunk->in_flight; });
  return waiting;
}

}  // namespace vedette::worker
