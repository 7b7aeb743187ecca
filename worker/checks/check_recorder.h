#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/recorder.h"
#include "metrics/metrics.h"
#include "store/checks/record.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"

namespace vedette::worker {

// Records the results of checks (lease/recorder.h): row states, events, charges, deliveries. A
// chunk that the database refuses is recorded one result at a time, and a result that it refuses
// becomes a failed check.
class CheckRecorder final : public lease::Recorder<CheckKind> {
 public:
  // `sink` may be null.
  CheckRecorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
                NotificationSink* sink, base::Logger log, CheckHoldings& holdings, Hooks hooks);

  // A row of a held chunk that had no outcome has this one. To be recorded.
  void AddResult(const ChunkPtr& chunk, CheckResult result);

  void Drop(const ChunkPtr& chunk) override;

 private:
  std::size_t WeightOf(const Item& item) const override;
  base::Uuid GroupOf(const HeldChunk& chunk) const override;
  void Take(Item* item) override;
  Job Write(const std::vector<Item>& batch) override;
  void OnBatch(const std::vector<Item>& batch, const store::RecordResult& result,
               bool again) override;
  bool IsDropped(const store::RecordResult& result, const Item& item, std::size_t n) const override;
  void OnItem(const Item& item, const store::RecordResult& result) override;
  void OnDropped(Item& item) override;
  bool OnRefused(Item& item) override;

  static std::vector<store::HealthChange> Explained(std::vector<store::HealthChange> changes,
                                                    const std::vector<Item>& items);
  // What a check of the chunk costs less whose page was not rendered.
  std::int64_t RebateOf(const HeldChunk& chunk) const;
  void Deliver(const std::vector<CheckResult>& results, const store::RecordResult& result);
  void CancelReserved(const std::vector<CheckResult>& results);

  store::Signals& signals_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  const std::chrono::milliseconds delivery_lease_;
  // The price of a check whose page was not rendered, by tier, of those where pages may be.
  std::map<domain::Tier, std::int64_t> unrendered_mc_;
  NotificationSink* const sink_;  // may be null
  CheckHoldings& holdings_;
};

}  // namespace vedette::worker
