#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "lease/live.h"
#include "store/async.h"
#include "store/session.h"

namespace vedette::lease {

struct BatcherOptions {
  std::string delayed;                // what the log says when a batch has to be repeated
  std::string refused;                // and when the database refuses it
  std::chrono::milliseconds delay{};  // for which an item waits for others
  std::size_t weight_max = 1;         // a group goes at once when this much of it has gathered; a
                                      // batch ends with the item that reaches it
  std::size_t batches_max = 1;        // under way at once
  base::Backoff backoff{};            // between the tries of one batch
};

// Why an item was not written.
struct Loss {
  enum class Kind {
    kRefused,    // the database refuses the item even alone
    kAbandoned,  // Abandon was called
  };
  Kind kind;
  std::string message;     // of the refusal
  bool may_have_happened;  // an earlier try's COMMIT was not answered
};

// Gathers items and writes them in batches, one transaction each. An item's way:
//
//   Add, AddLater --> gathered -- its time, enough weight, Flush --> under way --> written
//
//   under way -- the database is away or busy, or did not answer the COMMIT --> waits --> under way
//   under way -- the database refuses the batch --> each item under way alone --> written, or lost
//
// Items are of groups. A batch has items of one group; a group other than nil has at most one batch
// under way, so that its batches do not wait for each other's locks; groups take turns by the time
// for which their items wait.
//
// An item that equals one that is gathered already (where Item has ==, and in the same group) is
// the same item: it is kept once, and goes at the earlier of the two times.
//
// The owner bounds what is gathered: it stops taking work when too much of it is unwritten. Loop
// thread only. Everything handed in must outlive this object, and so must the object that the hooks
// refer to: no hook is called after the destructor.
template <typename Item, typename Result>
class Batcher {
 public:
  // What runs on the pool, where the owner may be gone meanwhile: it refers to nothing of it. It
  // throws as store::InTransaction does.
  using Job = std::function<Result(store::Session&)>;

  struct Hooks {
    // The job that writes the batch; called for every try. `again`: an earlier try may have
    // happened (its COMMIT was not answered), and what it wrote must not be written twice.
    std::function<Job(const std::vector<Item>& batch, bool again)> begin;
    // The batch is written; it may no longer count as under way, and Add may be called.
    std::function<void(std::vector<Item> batch, Result result, bool again)> written;
    // The item is not written. Add may be called, unless it was abandoned.
    std::function<void(Item item, const Loss& loss)> lost;
    // How much the item counts towards `weight_max`. Empty: 1.
    std::function<std::size_t(const Item& item)> weight{};
    // Its group, as of Add. Empty: nil.
    std::function<base::Uuid(const Item& item)> group{};
    // The item goes into a batch now: completes it with what is to be written. False: it is not
    // wanted any more, and is forgotten. Empty: every item goes as it is.
    std::function<bool(Item* item)> take{};
  };

  Batcher(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
          BatcherOptions options, Hooks hooks)
      : loop_(loop),
        pool_(pool),
        clock_(clock),
        log_(log),
        options_(std::move(options)),
        hooks_(std::move(hooks)),
        timer_(loop, [this] { Collect(); }) {
    base::Assert(options_.weight_max > 0 && options_.batches_max > 0, "a batcher has limits");
  }

  // To be written within `delay`.
  void Add(Item item) { Gather(std::move(item), options_.delay, Urgency::kUrgent); }

  // To be written within `wait`; until then it stays behind when others of its group go.
  void AddLater(Item item, std::chrono::milliseconds wait) {
    Gather(std::move(item), wait, Urgency::kLater);
  }

  // Writes everything that is gathered without waiting for more.
  void Flush() {
    for (auto& [id, group] : groups_) {
      for (Entry& entry : group.entries) entry.due = {};
      group.due = {};
    }
    Collect();
  }

  // Loses everything that is not being sent at this moment; and what is, if that try fails.
  void Abandon() {
    abandoned_ = true;
    timer_.Stop();
    std::vector<std::pair<Item, bool>> lost;
    for (Single& single : std::exchange(alone_, {})) {
      lost.emplace_back(std::move(single.item), single.again);
    }
    for (auto batch = batches_.begin(); batch != batches_.end();) {
      const auto next = std::next(batch);
      if (batch->retry && batch->retry->active()) {
        for (Item& item : batch->items) lost.emplace_back(std::move(item), batch->again);
        End(batch);
      }
      batch = next;
    }
    for (auto& [id, group] : groups_) {
      for (Entry& entry : std::exchange(group.entries, {})) {
        lost.emplace_back(std::move(entry.item), false);
      }
    }
    std::erase_if(groups_, [](const auto& group) { return !group.second.busy; });
    for (auto& [item, again] : lost) {
      hooks_.lost(std::move(item), {Loss::Kind::kAbandoned, "", again});
    }
  }

  // Nothing is gathered, and nothing is under way.
  bool idle() const { return batches_.empty() && alone_.empty() && gathered() == 0; }

  std::size_t gathered() const {
    std::size_t n = 0;
    for (const auto& [id, group] : groups_) n += group.entries.size();
    return n;
  }

 private:
  enum class Urgency { kUrgent, kLater };

  struct Entry {
    Item item;
    std::chrono::nanoseconds due;  // since boot
    Urgency urgency;
    std::size_t weight;  // as of Add; 0 while it is not urgent
  };
  struct Group {
    std::deque<Entry> entries;
    std::size_t weight = 0;                                          // of the urgent ones
    std::chrono::nanoseconds due = std::chrono::nanoseconds::max();  // the earliest entry's
    bool busy = false;                                               // a batch is under way
  };
  using Groups = std::map<base::Uuid, Group>;

  // An item of a batch that was refused, to be tried alone.
  struct Single {
    Item item;
    bool again;
  };

  struct Batch {
    std::vector<Item> items;
    base::Uuid group;
    bool again = false;
    int failures = 0;
    std::unique_ptr<base::Timer> retry{};  // active while the batch waits for its next try
  };
  using Batches = std::list<Batch>;

  base::Uuid GroupOf(const Item& item) const {
    return hooks_.group ? hooks_.group(item) : base::Uuid{};
  }
  std::size_t WeightOf(const Item& item) const { return hooks_.weight ? hooks_.weight(item) : 1; }

  // A batch of the group would wait for one that is under way.
  bool IsBusy(const base::Uuid& id) const {
    if (id.is_nil()) return false;
    const auto it = groups_.find(id);
    return it != groups_.end() && it->second.busy;
  }

  void Gather(Item item, std::chrono::milliseconds wait, Urgency urgency) {
    if (abandoned_) {
      hooks_.lost(std::move(item), {Loss::Kind::kAbandoned, "", false});
      return;
    }
    const base::Uuid id = GroupOf(item);
    Group& group = groups_[id];
    Entry& entry = Place(group, std::move(item));
    if (urgency == Urgency::kUrgent) {
      entry.urgency = Urgency::kUrgent;
      group.weight -= entry.weight;
      entry.weight = WeightOf(entry.item);
      group.weight += entry.weight;
    }
    entry.due = std::min(entry.due, clock_.SinceBoot() + wait);
    group.due = std::min(group.due, entry.due);
    if (group.weight >= options_.weight_max) {
      Collect();
    } else if (!IsBusy(id) && batches_.size() < options_.batches_max && group.due < timer_due_) {
      StartTimer(group.due);
    }
  }

  // The place of the item among the gathered ones: that of its equal, or a new one.
  Entry& Place(Group& group, Item item) {
    if constexpr (std::equality_comparable<Item>) {
      const auto it = std::find_if(group.entries.begin(), group.entries.end(),
                                   [&](const Entry& entry) { return entry.item == item; });
      if (it != group.entries.end()) return *it;
    }
    return group.entries.emplace_back(
        Entry{std::move(item), std::chrono::nanoseconds::max(), Urgency::kLater, 0});
  }

  void StartTimer(std::chrono::nanoseconds due) {
    timer_due_ = due;
    const auto wait = std::max(due - clock_.SinceBoot(), std::chrono::nanoseconds(0));
    timer_.Start(std::chrono::ceil<std::chrono::milliseconds>(wait));
  }

  // Sends as many batches as may be under way: first what has to be tried alone, then the groups
  // whose time has come, the one that waits longest first.
  void Collect() {
    timer_.Stop();
    timer_due_ = std::chrono::nanoseconds::max();
    if (abandoned_) return;
    while (batches_.size() < options_.batches_max && (SendSingle() || SendGroup())) {
    }
    if (batches_.size() >= options_.batches_max) return;  // the end of one collects again
    const auto next = NextGroup();
    if (next != groups_.end()) StartTimer(next->second.due);
  }

  bool SendSingle() {
    const auto it = std::find_if(alone_.begin(), alone_.end(), [this](const Single& single) {
      return !IsBusy(GroupOf(single.item));
    });
    if (it == alone_.end()) return false;
    Batch batch;
    batch.group = GroupOf(it->item);
    batch.again = it->again;
    batch.items.push_back(std::move(it->item));
    alone_.erase(it);
    Begin(std::move(batch));
    return true;
  }

  // The group, of those that may have a batch, whose earliest item is due first.
  typename Groups::iterator NextGroup() {
    auto next = groups_.end();
    for (auto it = groups_.begin(); it != groups_.end(); ++it) {
      if (it->second.entries.empty() || IsBusy(it->first)) continue;
      if (next == groups_.end() || SortKey(it->second) < SortKey(next->second)) next = it;
    }
    return next;
  }

  // A group of which enough has gathered goes like one whose time has come.
  std::chrono::nanoseconds SortKey(const Group& group) const {
    return group.weight >= options_.weight_max ? std::chrono::nanoseconds(0) : group.due;
  }

  bool SendGroup() {
    const auto next = NextGroup();
    if (next == groups_.end()) return false;
    const auto now = clock_.SinceBoot();
    if (SortKey(next->second) > now) return false;
    Batch batch;
    batch.group = next->first;
    TakeFrom(next->second, now, &batch);
    if (!batch.items.empty()) {
      Begin(std::move(batch));
    } else if (next->second.entries.empty() && !next->second.busy) {
      groups_.erase(next);  // nothing of it was wanted any more, and no batch of it is under way
    }
    return true;
  }

  // Moves what is to go from the group into the batch, up to `weight_max`.
  void TakeFrom(Group& group, std::chrono::nanoseconds now, Batch* batch) {
    std::size_t weight = 0;
    std::deque<Entry> later;
    for (Entry& entry : std::exchange(group.entries, {})) {
      const bool goes = entry.urgency == Urgency::kUrgent || entry.due <= now;
      if (!goes || weight >= options_.weight_max) {
        later.push_back(std::move(entry));
        continue;
      }
      if (hooks_.take && !hooks_.take(&entry.item)) continue;
      weight += WeightOf(entry.item);
      batch->items.push_back(std::move(entry.item));
    }
    group.entries = std::move(later);
    group.weight = 0;
    group.due = std::chrono::nanoseconds::max();
    for (const Entry& entry : group.entries) {
      group.weight += entry.weight;
      group.due = std::min(group.due, entry.due);
    }
  }

  void Begin(Batch batch) {
    groups_[batch.group].busy = true;
    batches_.push_back(std::move(batch));
    Send(std::prev(batches_.end()));
  }

  void Send(typename Batches::iterator batch) {
    store::RunAsync<Result>(pool_, loop_, hooks_.begin(batch->items, batch->again),
                            live_.Guard([this, batch](std::variant<Result, store::Failure> result) {
                              if (const auto* failure = std::get_if<store::Failure>(&result)) {
                                OnFailed(batch, *failure);
                              } else {
                                Batch ended = End(batch);
                                hooks_.written(std::move(ended.items),
                                               std::move(std::get<Result>(result)), ended.again);
                              }
                              Collect();
                            }));
  }

  // Takes the batch out of those that are under way.
  Batch End(typename Batches::iterator batch) {
    Batch ended = std::move(*batch);
    batches_.erase(batch);
    const bool others = std::any_of(batches_.begin(), batches_.end(),
                                    [&](const Batch& other) { return other.group == ended.group; });
    const auto group = groups_.find(ended.group);
    base::Assert(group != groups_.end(), "a group is known while a batch of it is under way");
    group->second.busy = others;
    if (!others && group->second.entries.empty()) groups_.erase(group);
    return ended;
  }

  void OnFailed(typename Batches::iterator batch, const store::Failure& failure) {
    if (failure.kind == store::Failure::Kind::kCommitUnknown) batch->again = true;
    if (abandoned_) {
      Batch ended = End(batch);
      for (Item& item : ended.items) {
        hooks_.lost(std::move(item), {Loss::Kind::kAbandoned, "", ended.again});
      }
    } else if (failure.kind == store::Failure::Kind::kFault) {
      OnRefused(batch, failure);
    } else {
      RepeatLater(batch, failure);
    }
  }

  void OnRefused(typename Batches::iterator batch, const store::Failure& failure) {
    Batch ended = End(batch);
    const base::Logger::Fields what{{"items", ended.items.size()}, {"error", failure.message}};
    if (ended.again) {  // an earlier try may have happened, and this one be refused as a repetition
      log_.Warn(options_.refused, what);
    } else {
      log_.Error(options_.refused, what);
    }
    if (ended.items.size() == 1) {
      hooks_.lost(std::move(ended.items.front()),
                  {Loss::Kind::kRefused, failure.message, ended.again});
      return;
    }
    for (Item& item : ended.items) alone_.push_back({std::move(item), ended.again});
  }

  void RepeatLater(typename Batches::iterator batch, const store::Failure& failure) {
    const auto wait = options_.backoff.Wait(++batch->failures);
    log_.Warn(
        options_.delayed,
        {{"items", batch->items.size()}, {"error", failure.message}, {"retry_ms", wait.count()}});
    if (!batch->retry) {
      batch->retry = std::make_unique<base::Timer>(loop_, [this, batch] { Send(batch); });
    }
    batch->retry->Start(wait);
  }

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  const base::Logger log_;
  const BatcherOptions options_;
  const Hooks hooks_;
  base::Timer timer_;
  std::chrono::nanoseconds timer_due_ = std::chrono::nanoseconds::max();  // since boot
  Groups groups_;             // that have gathered something, or have a batch under way
  std::deque<Single> alone_;  // from batches that were refused
  Batches batches_;           // under way, at most `batches_max`
  bool abandoned_ = false;
  Live live_;
};

}  // namespace vedette::lease
