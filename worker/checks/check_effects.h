#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "domain/job/webhook.h"
#include "domain/monitor/enums.h"
#include "store/checks/record.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"
#include "worker/checks/verdict.h"

// What a check writes besides its outcome: events, its row, a notification. Loop thread only,
// because notifications may reserve room with the sink; `sink` may be null.
namespace vedette::worker {

// The error of a check whose result cannot be stored.
inline constexpr std::string_view kRecordFailedClass = "record_failed";
inline constexpr std::string_view kRecordFailedMessage =
    "the result of this check could not be stored";

// What the verdict on a row's check writes; null where that is nothing. The page of `seen`, which
// may be null, is kept at the row's first check, and where a change is told; where it failed the
// picture of `failed_page` is, which may be null.
std::unique_ptr<CheckEffects> EffectsOf(const HeldChunk& chunk, RowRef ref, const Verdict& verdict,
                                        const Observation* seen,
                                        const std::shared_ptr<const domain::SeenPage>& failed_page,
                                        const base::Clock& clock, NotificationSink* sink);

// What a check writes that failed without an answer of a probe: an error event that says `message`,
// and its notification.
std::unique_ptr<CheckEffects> FailureEffects(const HeldChunk& chunk, RowRef ref,
                                             std::string message, const base::Clock& clock,
                                             NotificationSink* sink);

}  // namespace vedette::worker
