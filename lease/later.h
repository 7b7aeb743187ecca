#pragma once

#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"

namespace vedette::lease {

// What waits for its time: rows between two attempts, chunks ahead of their slot. Loop thread only;
// everything handed in must outlive this object.
template <typename Item>
class Later {
 public:
  // `due` is called with each item once its wait is over; it may call Add.
  Later(base::EventLoop& loop, const base::Clock& clock, std::function<void(const Item&)> due)
      : clock_(clock), due_(std::move(due)), alarm_(loop, [this] { Run(); }) {}

  void Add(Item item, std::chrono::nanoseconds wait) {
    items_.emplace(clock_.SinceBoot() + wait, std::move(item));
    SetAlarm();
  }

  bool empty() const { return items_.empty(); }

  // Takes the items of which `drop(item)` holds out of those that wait.
  template <typename Drop>
  std::vector<Item> TakeIf(Drop drop) {
    std::vector<Item> taken;
    for (auto it = items_.begin(); it != items_.end();) {
      const bool drops = drop(std::as_const(it->second));
      if (drops) taken.push_back(std::move(it->second));
      it = drops ? items_.erase(it) : std::next(it);
    }
    return taken;
  }

 private:
  void Run() {
    const auto now = clock_.SinceBoot();
    std::vector<Item> due;
    while (!items_.empty() && items_.begin()->first <= now) {
      due.push_back(std::move(items_.begin()->second));
      items_.erase(items_.begin());
    }
    for (const Item& item : due) due_(item);
    SetAlarm();
  }

  void SetAlarm() {
    if (!items_.empty()) alarm_.Start(items_.begin()->first - clock_.SinceBoot());
  }

  const base::Clock& clock_;
  const std::function<void(const Item&)> due_;
  std::multimap<std::chrono::nanoseconds, Item> items_;  // by time since boot
  base::Alarm alarm_;
};

}  // namespace vedette::lease
