#include "worker/checks/check_suspects.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "store/async.h"
#include "store/checks/chunks.h"
#include "worker/checks/check_effects.h"

namespace vedette::worker {

PoisonStep PoisonStepOf(int claims, bool counted, std::size_t rows_open, int claims_max) {
  if (rows_open == 0) return PoisonStep::kNone;
  if (claims <= claims_max) return counted ? PoisonStep::kNone : PoisonStep::kCareful;
  if (rows_open > 1) return PoisonStep::kHalve;
  // CountTry raises `claims` before the first last try, and each claim after a death counts one
  // more.
  const bool tried_out = claims >= store::kLastTryClaims + claims_max;
  return tried_out ? PoisonStep::kQuarantine : PoisonStep::kLastTry;
}

int CarefulFrom(int claims_max) {
  return std::max(claims_max, 2);
}

CheckSuspects::CheckSuspects(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                             base::Logger log, int claims_max, NotificationSink* sink,
                             lease::SuspectSlot& slot, Hooks hooks)
    : lease::Suspects<HeldChunk>(loop, pool, log, slot, hooks.forget),
      clock_(clock),
      claims_max_(claims_max),
      sink_(sink),
      hooks_(std::move(hooks)) {}

bool CheckSuspects::Take(const ChunkPtr& chunk) {
  const store::ClaimedChunk& claimed = chunk->claimed;
  const PoisonStep step =
      PoisonStepOf(claimed.claims, claimed.counted, chunk->rows_open, claims_max_);
  if (step == PoisonStep::kNone) return false;
  log_.Warn(
      "a chunk's workers died repeatedly",
      {{"chunk", claimed.id.ToString()}, {"claims", claimed.claims}, {"rows", chunk->rows_open}});
  if (step == PoisonStep::kHalve) {
    Halve(chunk);
  } else if (step == PoisonStep::kQuarantine) {
    Quarantine(chunk);
  } else {
    Try(chunk, step == PoisonStep::kCareful ? lease::SuspectSlot::Try::kWithOthers
                                            : lease::SuspectSlot::Try::kAlone);
  }
  return true;
}

void CheckSuspects::Halve(const ChunkPtr& chunk) {
  hooks_.forget(chunk);
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = chunk->lease, clock = &clock_](store::Session& session) {
        return store::SplitChunk(session, *clock, lease);
      },
      live_.Guard([this](const std::variant<bool, store::Failure>&) { hooks_.claim(); }));
}

void CheckSuspects::Try(const ChunkPtr& chunk, lease::SuspectSlot::Try how) {
  const store::CarefulTry careful{chunk->claimed.counted, how == lease::SuspectSlot::Try::kAlone};
  TryRow(
      chunk, how,
      [lease = chunk->lease, careful](store::Session& session) {
        return store::CountTry(session, lease, careful);
      },
      [this, chunk] {
        chunk->claimed.counted = true;
        hooks_.start(chunk);
      });
}

void CheckSuspects::Quarantine(const ChunkPtr& chunk) {
  base::Assert(chunk->rows_open == 1, "The row that is quarantined is alone.");
  for (std::size_t p = 0; p < chunk->parts.size(); ++p) {
    const std::size_t r = chunk->parts[p].outcomes.find('\0');
    if (r == std::string::npos) continue;
    auto effects = FailureEffects(
        *chunk, {p, r}, "probe_crashed: this check ended its process each time it was tried",
        clock_, sink_);
    hooks_.result(chunk, {{p, r}, domain::Outcome::kFailed, std::move(effects)});
    return;
  }
}

}  // namespace vedette::worker
