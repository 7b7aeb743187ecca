#pragma once

#include <chrono>

#include "store/checks/chunks.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {

// How far a read of pauses looks back at least: what a transaction changes carries the time of its
// beginning. Where one takes longer the read looks back to it (ControlChanges::complete_until).
inline constexpr std::chrono::milliseconds kPauseWindow{60000};

// A read of the last kPauseWindow that began at `began` (since boot) found these changes: they take
// effect on every chunk that is held, and what is known of it is as young as the read, because what
// changes during a read may not be in it. So a pause holds anywhere within the age that CheckRunner
// allows, also where the database is lost (G5). No I/O and no clock; one thread.
void ApplyControl(const store::ControlChanges& changes, std::chrono::nanoseconds began,
                  const CheckHoldings& holdings);

}  // namespace vedette::worker
