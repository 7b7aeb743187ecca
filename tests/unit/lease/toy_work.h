#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lease/claimer.h"
#include "lease/held_work.h"
#include "lease/holdings.h"
#include "lease/pipeline.h"
#include "lease/recorder.h"
#include "lease/share_out.h"
#include "lease/suspect_slot.h"
#include "lease/suspects.h"
#include "store/session.h"
#include "tests/unit/lease/toy_store.h"

// A kind of leased work as small as one can be. What stands here is what is particular to it: there
// is no polling, renewal, counting, draining or batching in it. A test keeps this file short.
namespace vedette::lease {

struct ToyTask : HeldWork {
  using OrgLoad = lease::OrgLoad;

  ToyStore::Claimed claimed;
  OrgLoad* org = nullptr;
  std::optional<ToyStore::End> unrecorded;

  bool HasUnrecorded() const { return unrecorded.has_value(); }
  bool CanEnd() const { return Finished(); }
};
using ToyTaskPtr = std::shared_ptr<ToyTask>;

struct ToyKind {
  using Work = ToyTask;
  using Lane = HeldWork::Lane;
  using Scan = std::vector<Asking>;
  using Share = store::ClaimShare;
  using Claimed = std::vector<ToyStore::Claimed>;
  using Taken = ToyStore::End;
  using Written = std::set<base::Uuid>;
};

struct ToyLimits {
  std::chrono::milliseconds lease{std::chrono::hours(1)};
  std::chrono::milliseconds poll{1};
  std::chrono::milliseconds drain_timeout{std::chrono::hours(1)};
  std::size_t held_max = 16;
  int claims_max = 2;  // a task that was claimed more often is tried alone
};

class ToyClaimer final : public Claimer<ToyKind> {
 public:
  using OnBrought = std::function<void(const std::vector<ToyStore::Claimed>&)>;
  ToyClaimer(base::EventLoop& loop, store::Pool& pool, base::Logger log, ToyStore& store,
             ToyLimits limits, const Holdings<ToyTask>& holdings, OnBrought brought)
      : Claimer(loop, pool, log, {.failed = "claiming tasks failed", .poll = limits.poll},
                {HeldWork::Lane::kOnly}),
        store_(store),
        limits_(limits),
        holdings_(holdings),
        brought_(std::move(brought)) {}

 private:
  bool HasRoom(HeldWork::Lane lane) const override {
    return holdings_.InLane(lane).chunks < limits_.held_max;
  }
  Job ScanFrom(const Cursors&) override {
    return [&store = store_](store::Session&) -> Found { return store.Scan(); };
  }
  std::vector<store::ClaimShare> ShareOut(const std::vector<Asking>& due) override {
    Room room{.rows_max = limits_.held_max, .slots_max = limits_.held_max, .newcomer_share = 0.1};
    room.rows_open = room.in_flight = holdings_.InLane().chunks;
    room.rows_left = room.rows_left_for_slots = limits_.held_max;
    return lease::ShareOut(due, room);
  }
  Job Claim(std::vector<store::ClaimShare> shares) override {
    return [&store = store_, shares, lease = limits_.lease](store::Session&) -> Found {
      return store.Claim(shares, lease);
    };
  }
  Brought OnClaimed(std::vector<ToyStore::Claimed> claimed) override {
    brought_(claimed);
    return claimed.empty() ? Brought::kNothing : Brought::kSome;
  }

  ToyStore& store_;
  const ToyLimits limits_;
  const Holdings<ToyTask>& holdings_;
  const OnBrought brought_;
};

class ToyRecorder final : public Recorder<ToyKind> {
 public:
  ToyRecorder(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
              ToyStore& store, Hooks hooks)
      : Recorder(loop, pool, clock, log,
                 {.delayed = "tasks could not be recorded yet",
                  .refused = "tasks could not be recorded",
                  .delay = std::chrono::milliseconds(1),
                  .weight_max = 8,
                  .batches_max = 2,
                  .backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(8)}},
                 std::chrono::milliseconds(0), std::move(hooks)),
        store_(store) {}

  std::size_t dropped() const { return dropped_; }

 private:
  void Take(Item* item) override {
    item->taken = *std::exchange(item->work->unrecorded, std::nullopt);
    item->ends = true;
  }
  Job Write(const std::vector<Item>& batch) override {
    ToyStore::Ended ended;
    for (const Item& item : batch) ended.emplace_back(item.work->lease, item.taken);
    return [&store = store_, ended](store::Session&) { return store.Record(ended); };
  }
  bool IsDropped(const std::set<base::Uuid>& dropped, const Item& item,
                 std::size_t) const override {
    return dropped.contains(item.work->id());
  }
  void OnDropped(Item&) override { ++dropped_; }
  bool OnRefused(Item&) override { return false; }

  ToyStore& store_;
  std::size_t dropped_ = 0;
};

// Claims tasks, works on each by calling `work`, and records them in batches. A task whose workers
// died repeatedly is tried alone, and is quarantined where its worker dies once more.
class ToyPipeline final : public Pipeline<ToyKind> {
 public:
  // Does the task, and says so by `Done`, at once or later.
  using DoWork = std::function<void(const base::Uuid& id)>;

  ToyPipeline(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
              ToyStore& store, ToyLimits limits, DoWork work)
      : Pipeline(loop, pool, log,
                 {.lease = limits.lease,
                  .drain_time_max = limits.drain_timeout,
                  .abandoned = "draining without the store"},
                 {.renew = [&store](auto&, const auto& leases,
                                    auto lease) { return store.Renew(leases, lease); },
                  .give_back = [&store](auto&, const auto& leases) { store.Return(leases); }}),
        store_(store),
        limits_(limits),
        work_(std::move(work)),
        recorder_(loop, pool, clock, log, store, RecorderHooks()),
        suspects_(loop, pool, log, slot_, [this](const ToyTaskPtr& task) { Forget(task); }),
        claimer_(loop, pool, log, store, limits, holdings_,
                 [this](const auto& claimed) { OnClaimed(claimed); }) {}

  void Start() { StartEngine(); }

  void Done(const base::Uuid& id) {
    const ToyTaskPtr task = started_.extract(id).mapped();
    holdings_.LeaveFlight(*task);
    if (task->WantsResults()) End(task, ToyStore::End::kDone);
  }

  int lost() const { return lost_; }
  std::size_t dropped() const { return recorder_.dropped(); }
  std::size_t held() const { return holdings_.InLane().chunks; }

 private:
  Claimer<ToyKind>& claimer() override { return claimer_; }
  Recorder<ToyKind>& recorder() override { return recorder_; }
  Suspects<ToyTask>& suspects() override { return suspects_; }
  void OnLeaseLost(const ToyTaskPtr&) override { ++lost_; }

  void OnClaimed(const std::vector<ToyStore::Claimed>& claimed) {
    for (const ToyStore::Claimed& one : claimed) {
      const auto task = std::make_shared<ToyTask>();
      task->claimed = one;
      task->lease = one.lease;
      task->org_id = one.org_id;
      task->row_count = task->rows_open = 1;
      Hold(task);
    }
    AllHeld();
  }

  void Begin(const ToyTaskPtr& task) override {
    if (task->claimed.suspect) {
      End(task, ToyStore::End::kQuarantined);
    } else if (task->claimed.claims > limits_.claims_max) {
      suspects_.TryRow(
          task, SuspectSlot::Try::kAlone,
          [&store = store_, lease = task->lease](auto&) { return store.MarkSuspect(lease); },
          [this, task] { StartTask(task); });
    } else {
      waiting_.push_back(task);
    }
  }
  void Pump() override {
    for (const ToyTaskPtr& task : std::exchange(waiting_, {})) {
      if (task->Working()) StartTask(task);
    }
  }
  void DropWaiting() override { waiting_.clear(); }

  void StartTask(const ToyTaskPtr& task) {
    holdings_.EnterFlight(*task);
    started_[task->id()] = task;
    work_(task->id());
  }
  void End(const ToyTaskPtr& task, ToyStore::End end) {
    task->unrecorded = end;
    holdings_.CloseRow(*task);
    recorder_.Add(task);
  }

  ToyStore& store_;
  const ToyLimits limits_;
  const DoWork work_;
  std::deque<ToyTaskPtr> waiting_;
  std::map<base::Uuid, ToyTaskPtr> started_;
  int lost_ = 0;
  SuspectSlot slot_;
  ToyRecorder recorder_;
  Suspects<ToyTask> suspects_;
  ToyClaimer claimer_;
};

}  // namespace vedette::lease
