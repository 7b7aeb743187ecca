#include "lease/held_work.h"

#include "base/assert.h"

namespace vedette::lease {
namespace {

using Phase = HeldWork::Phase;

bool MayFollow(Phase from, Phase to) {
  switch (to) {
    case Phase::kWorking:
      return false;
    case Phase::kGivingBack:
      return from == Phase::kWorking;
    case Phase::kAbandoned:
      return from == Phase::kGivingBack;
    case Phase::kLost:
      return from != Phase::kLost;
  }
  return false;
}

}  // namespace

void HeldWork::Enter(Phase next) {
  base::Assert(MayFollow(phase, next), "A chunk enters a phase only from one before it.");
  phase = next;
  Stop();
}

void HeldWork::Enter(Recording next) {
  base::Assert(recording != next, "A chunk has at most one record under way.");
  recording = next;
}

}  // namespace vedette::lease
