#include "delivery/settler.h"

#include <string>
#include <utility>
#include <vector>

#include "config/role_config.h"

namespace vedette::delivery {
namespace {

// Settlements under way at once: the next one gathers while these commit.
constexpr std::size_t kUnderWayMax = 4;
constexpr base::Backoff kRetries{std::chrono::milliseconds(100), std::chrono::milliseconds(5000)};

using Attempts = std::vector<store::AttemptRecord>;
using Turns = std::vector<store::BreakerTurn>;
using AttemptBatcher = lease::Batcher<store::AttemptRecord, Turns>;

lease::BatcherOptions OptionsOf(const config::DeliveryConfig& config) {
  return {.delayed = "attempts could not be recorded yet",
          .refused = "attempts could not be recorded",
          .delay = config.settle_delay_ms,
          .weight_max = static_cast<std::size_t>(config.settle_max),
          .batches_max = kUnderWayMax,
          .backoff = kRetries};
}

AttemptBatcher::Job Settlement(const Attempts& attempts, bool again,
                               const config::DeliveryConfig& config) {
  return [attempts, again, failures = config.breaker_failures,
          interval = config.breaker_interval_ms](store::Session& session) {
    return store::SettleAttempts(session, attempts, again, failures, interval);
  };
}

// The class of the last failure of the receiver among them.
std::string FailureClass(const Attempts& attempts, const base::Uuid& endpoint_id) {
  std::string error;
  for (const store::AttemptRecord& attempt : attempts) {
    if (attempt.notification.endpoint_id != endpoint_id || !attempt.error) continue;
    error = domain::ErrorClass(*attempt.error);
  }
  return error;
}

void Note(const Attempts& attempts, const Turns& turns, const base::Logger& log) {
  for (const store::BreakerTurn& turn : turns) {
    const std::string id = turn.endpoint_id.ToString();
    const std::string org = turn.org_id.ToString();
    if (!turn.opened) {
      log.Info("a receiver works again", {{"receiver", turn.receiver}, {"id", id}, {"org", org}});
      continue;
    }
    log.Info("a receiver fails: it is tried once an interval",
             {{"receiver", turn.receiver},
              {"id", id},
              {"org", org},
              {"class", FailureClass(attempts, turn.endpoint_id)}});
  }
}

}  // namespace

Settler::Settler(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                 const config::DeliveryConfig& config, base::Logger log,
                 std::function<void()> settled)
    : batcher_(loop, pool, clock, log, OptionsOf(config),
               {.begin = [&config](const Attempts& attempts,
                                   bool again) { return Settlement(attempts, again, config); },
                .written =
                    [settled, log](const Attempts& attempts, const Turns& turns, bool /*again*/) {
                      Note(attempts, turns, log);
                      settled();
                    },
                .lost = [settled](const store::AttemptRecord& /*attempt*/,
                                  const lease::Loss& /*loss*/) { settled(); }}) {}

void Settler::Add(store::AttemptRecord attempt) {
  batcher_.Add(std::move(attempt));
}

void Settler::Flush() {
  batcher_.Flush();
}

}  // namespace vedette::delivery
