#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "lease/batcher.h"
#include "lease/held_work.h"
#include "store/session.h"

namespace vedette::lease {

// Between the tries of one record.
inline constexpr base::Backoff kRecordRetry{std::chrono::milliseconds(100),
                                            std::chrono::milliseconds(5000)};

// Records what becomes of held chunks: gathers the results of many, and records them in batches,
// one transaction each (lease/batcher.h). Results of chunks that go on wait longer than those of
// chunks that can end. What cannot be recorded now is tried again with backoff. What a record says,
// and what follows from a refusal, is the kind's, which derives from this.
//
//   Add --> gathered --its batch goes: Take--> under way
//   under way --> written --> ended, recorded, or gathered again
//   under way --> refused: OnRefused, or given back
//
// Kind::Work is a HeldWork with HasUnrecorded() and CanEnd() (a record can end it); Kind::Taken is
// what a record takes of a chunk; Kind::Written is what the store says of a batch.
//
// Loop thread only; everything handed in must outlive this object. No virtual function is called
// before Add.
template <typename Kind>
class Recorder {
 public:
  using Work = typename Kind::Work;
  using Ptr = std::shared_ptr<Work>;

  struct Hooks {
    // The chunk is recorded to its end, or its lease was lost: it is to be held no more.
    std::function<void(const Ptr&)> ended;
    // Everything of the chunk that was to be recorded is, and it goes on.
    std::function<void(const Ptr&)> recorded;
    // The chunk cannot be recorded here, and is to be given back: the process that claims it next
    // goes on from what is recorded.
    std::function<void(const Ptr&)> give_back;
  };

  virtual ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The chunk may have nothing more to come: records what is left, or its end. Where nothing is to
  // be recorded, nothing happens.
  void Add(const Ptr& work) {
    if (work->Lost() || work->BeingRecorded()) return;  // OnWritten adds what came meanwhile
    if (!work->CanEnd() && !work->HasUnrecorded()) return;
    if (const auto wait = WaitOf(*work)) {
      batcher_.AddLater({work}, std::max(*wait, std::chrono::milliseconds(0)));
    } else {
      batcher_.Add({work});
    }
  }

  // Records everything gathered without waiting for more.
  void Flush() { batcher_.Flush(); }

  // The chunk is not held any more: those of its results that are not being recorded never will be.
  virtual void Drop(const Ptr& /*work*/) {}

  // Gives up what cannot be recorded now, and what fails from here on.
  void Abandon() { batcher_.Abandon(); }

 protected:
  using Taken = typename Kind::Taken;
  using Written = typename Kind::Written;
  // A record of a chunk. Only the chunk is set until it goes into a batch.
  struct Item {
    Ptr work;
    Taken taken{};
    bool ends = false;  // it ends the chunk

    bool operator==(const Item& other) const { return work == other.work; }
  };
  using Job = typename Batcher<Item, Written>::Job;

  // `partial_delay`: for how long the oldest result of a chunk that goes on waits.
  Recorder(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
           BatcherOptions options, std::chrono::milliseconds partial_delay, Hooks hooks)
      : clock_(clock),
        partial_delay_(partial_delay),
        hooks_(std::move(hooks)),
        batcher_(loop, pool, clock, log, std::move(options), BatcherHooks()) {}

  // A result comes now: to be called before it counts as unrecorded.
  void NoteUnrecorded(Work& work) const {
    if (!work.HasUnrecorded()) work.unrecorded_since = clock_.SinceBoot();
  }
  // What is left of `partial_delay`; negative where it is over.
  std::chrono::milliseconds PartialWait(const Work& work) const {
    const auto waited = clock_.SinceBoot() - work.unrecorded_since;
    return std::chrono::ceil<std::chrono::milliseconds>(partial_delay_ - waited);
  }

  // How long the chunk waits for its record; empty: with others for the batcher's delay.
  virtual std::optional<std::chrono::milliseconds> WaitOf(const Work& work) const {
    if (work.CanEnd() || work.Leaving()) return std::nullopt;
    return PartialWait(work);
  }
  // How much the item fills of BatcherOptions::weight_max.
  virtual std::size_t WeightOf(const Item& /*item*/) const { return 1; }
  // Chunks of one group share batches, of which one is under way at a time; nil: several.
  virtual base::Uuid GroupOf(const Work& /*work*/) const { return {}; }
  // Moves what is to be recorded now out of the chunk. `ends` is false so far.
  virtual void Take(Item* item) = 0;
  // The transaction that writes these.
  virtual Job Write(const std::vector<Item>& batch) = 0;
  // Says what the batch came to. `again`: an earlier try of it may have happened.
  virtual void OnBatch(const std::vector<Item>& /*batch*/, const Written& /*written*/,
                       bool /*again*/) {}
  // Whether the store dropped the n-th item of the batch, as its lease was lost.
  virtual bool IsDropped(const Written& written, const Item& item, std::size_t n) const = 0;
  virtual void OnItem(const Item& /*item*/, const Written& /*written*/) {}
  // The item will never be written: it was dropped, abandoned, or goes back with its chunk.
  virtual void OnDropped(Item& /*item*/) {}
  // The database refuses the item even alone, and no earlier try of it can have happened. False:
  // there is no other way, and the chunk is given back.
  virtual bool OnRefused(Item& item) = 0;

  const base::Clock& clock_;

 private:
  typename Batcher<Item, Written>::Hooks BatcherHooks() {
    typename Batcher<Item, Written>::Hooks hooks;
    hooks.begin = [this](const std::vector<Item>& batch, bool /*again*/) { return Write(batch); };
    hooks.written = [this](std::vector<Item> batch, const Written& written, bool again) {
      OnWritten(batch, written, again);
    };
    hooks.lost = [this](Item item, const Loss& loss) { OnLost(std::move(item), loss); };
    hooks.weight = [this](const Item& item) { return WeightOf(item); };
    hooks.group = [this](const Item& item) { return GroupOf(*item.work); };
    hooks.take = [this](Item* item) { return TakeItem(item); };
    return hooks;
  }

  // The item goes into a batch: the chunk is being recorded until the batch ends.
  bool TakeItem(Item* item) {
    Work& work = *item->work;
    if (work.Lost() || work.BeingRecorded()) return false;
    if (!work.CanEnd() && !work.HasUnrecorded()) return false;
    Take(item);
    work.Enter(HeldWork::Recording::kUnderWay);
    return true;
  }

  void OnWritten(std::vector<Item>& batch, const Written& written, bool again) {
    OnBatch(batch, written, again);
    for (std::size_t n = 0; n < batch.size(); ++n) {
      Item& item = batch[n];
      item.work->Enter(HeldWork::Recording::kNone);
      if (IsDropped(written, item, n)) {
        // Its lease was lost; or, after a COMMIT that was not answered, the record did happen.
        OnDropped(item);
        hooks_.ended(item.work);
        continue;
      }
      OnItem(item, written);
      if (item.ends) {
        hooks_.ended(item.work);
      } else if (item.work->HasUnrecorded() || item.work->CanEnd()) {
        Add(item.work);
      } else {
        hooks_.recorded(item.work);
      }
    }
  }

  // The item is refused even alone, or was abandoned. Where an earlier try may have happened, the
  // next holder looks what is recorded: the refusal may be that of a repetition.
  void OnLost(Item item, const Loss& loss) {
    const Ptr work = item.work;
    if (work->BeingRecorded()) work->Enter(HeldWork::Recording::kNone);
    const bool goes_on = loss.kind != Loss::Kind::kAbandoned && !work->Lost();
    if (goes_on && !loss.may_have_happened && OnRefused(item)) return;
    OnDropped(item);
    if (goes_on) hooks_.give_back(work);
  }

  const std::chrono::milliseconds partial_delay_;
  const Hooks hooks_;
  Batcher<Item, Written> batcher_;
};

}  // namespace vedette::lease
