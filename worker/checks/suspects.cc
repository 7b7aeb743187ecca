#include "worker/checks/suspects.h"

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
  return tried_out ? PoisonStep::kCondemn : PoisonStep::kLastTry;
}

int CarefulFrom(int claims_max) {
  return std::max(claims_max, 2);
}

Suspects::Suspects(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                   base::Logger log, int claims_max, NotificationSink* sink, SuspectSlot& slot,
                   Hooks hooks)
    : loop_(loop),
      pool_(pool),
      clock_(clock),
      log_(log),
      claims_max_(claims_max),
      sink_(sink),
      slot_(slot),
      hooks_(std::move(hooks)) {}

bool Suspects::Take(const ChunkPtr& chunk) {
  const store::ClaimedChunk& claimed = chunk->claimed;
  const PoisonStep step =
      PoisonStepOf(claimed.claims, claimed.counted, chunk->rows_open, claims_max_);
  if (step == PoisonStep::kNone) return false;
  log_.Warn(
      "a chunk's workers died repeatedly",
      {{"chunk", claimed.id.ToString()}, {"claims", claimed.claims}, {"rows", chunk->rows_open}});
  if (step == PoisonStep::kHalve) {
    Halve(chunk);
  } else if (step == PoisonStep::kCondemn) {
    Condemn(chunk);
  } else {
    EnterSlot(chunk,
              step == PoisonStep::kCareful ? SuspectSlot::Try::kBeside : SuspectSlot::Try::kAlone);
  }
  return true;
}

void Suspects::EnterSlot(const ChunkPtr& chunk, SuspectSlot::Try how) {
  slot_.Enter(chunk.get(), chunk->claimed.org_id, how,
              live_.Guard([this, chunk, how] { Try(chunk, how); }));
}

void Suspects::Halve(const ChunkPtr& chunk) {
  hooks_.forget(chunk);
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = chunk->lease(), clock = &clock_](store::Session& session) {
        return store::SplitChunk(session, *clock, lease);
      },
      live_.Guard([this](const std::variant<bool, store::Failure>&) { hooks_.claim(); }));
}

// The database hears of the try before it begins: a claim after a death in it counts it.
void Suspects::Try(const ChunkPtr& chunk, SuspectSlot::Try how) {
  if (!chunk->Working()) return;  // a drain gives it back, and with that frees the slot
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = chunk->lease(),
       careful = store::CarefulTry{chunk->claimed.counted, how == SuspectSlot::Try::kAlone}](
          store::Session& session) { return store::CountTry(session, lease, careful); },
      live_.Guard([this, chunk](const std::variant<bool, store::Failure>& result) {
        if (!chunk->Working()) return;
        const bool* counted = std::get_if<bool>(&result);
        if (counted != nullptr && *counted) {
          chunk->claimed.counted = true;
          hooks_.start(chunk);
        } else {
          hooks_.forget(chunk);  // the process that claims it when its lease ends goes on
        }
      }));
}

void Suspects::Condemn(const ChunkPtr& chunk) {
  base::Assert(chunk->rows_open == 1, "The row that is condemned is alone.");
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
