#include "worker/providers/lookup_turns.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/assert.h"
#include "pages/http_failure.h"

namespace vedette::worker {

using std::chrono::milliseconds;

LookupTurns::LookupTurns(base::EventLoop& loop, const base::Clock& clock, Limits limits, Ask ask)
    : loop_(loop), clock_(clock), limits_(limits), ask_(std::move(ask)), next_turn_(loop, [this] {
        GiveTurns();
      }) {}

LookupTurns::~LookupTurns() = default;

int LookupTurns::Places(bool waited) const {
  const int all = limits_.in_flight_max;
  if (waited) return all;
  return std::max(all - static_cast<int>(std::floor(all * kPlacesKeptForWaited)), 1);
}

bool LookupTurns::HasTurn(bool waited) const {
  return in_flight_ < Places(waited) && clock_.SinceBoot() >= next_start_;
}

LookupTurns::Turns* LookupTurns::NextTurns() {
  for (const bool waited : {true, false}) {
    if (!TurnsOf(waited).empty() && HasTurn(waited)) return &TurnsOf(waited);
  }
  return nullptr;
}

void LookupTurns::Start(LookupRequest request, Done done) {
  const bool waited = request.waited;
  if (TurnsOf(waited).empty() && HasTurn(waited)) {
    return Run(std::move(request), std::move(done));
  }
  const WaitId id = ++last_id_;
  const base::Uuid org = request.org_id;
  Waiting entry;
  entry.deadline = clock_.SinceBoot() + request.timeout;
  entry.timer = std::make_unique<base::Timer>(loop_, [this, id] { OnTime(id); });
  entry.timer->Start(request.timeout);
  entry.request = std::move(request);
  entry.done = std::move(done);
  waiting_.emplace(id, std::move(entry));
  TurnsOf(waited).Push(org, id);
  GiveTurns();
}

void LookupTurns::OnTime(WaitId id) {
  const auto it = waiting_.find(id);
  base::Assert(it != waiting_.end(), "a lookup that waits has a timer, and no other has one");
  const auto done = std::move(it->second.done);
  Turns& turns = TurnsOf(it->second.request.waited);
  waiting_.erase(it);
  turns.EraseIf([&](WaitId other) { return other == id; });
  done(pages::OverloadedFailure());
}

void LookupTurns::Run(LookupRequest request, Done done) {
  ++in_flight_;
  next_start_ = clock_.SinceBoot() + limits_.gap;
  ask_(std::move(request), [this, done = std::move(done)](LookupAnswer answer) {
    --in_flight_;
    base::Assert(in_flight_ >= 0, "no more lookups are answered than were asked");
    GiveTurns();
    done(std::move(answer));
  });
}

void LookupTurns::GiveTurns() {
  while (Turns* turns = NextTurns()) {
    const auto next = turns->Pop();
    base::Assert(next.has_value(), "what waits has a turn to come");
    auto node = waiting_.extract(*next);
    Waiting& entry = node.mapped();
    if (!entry.request.MayCall()) {
      entry.done(domain::Failure{
          std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}});
      continue;
    }
    entry.request.timeout = std::max(
        std::chrono::floor<milliseconds>(entry.deadline - clock_.SinceBoot()), milliseconds(1));
    Run(std::move(entry.request), std::move(entry.done));
  }
  // An answer gives the next turn, where it is not the gap that holds them up.
  const auto wait = next_start_ - clock_.SinceBoot();
  if (!waiting_.empty() && wait.count() > 0) {
    next_turn_.Start(std::chrono::ceil<milliseconds>(wait));
  }
}

}  // namespace vedette::worker
