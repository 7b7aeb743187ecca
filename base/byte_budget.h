#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/uuid.h"

namespace vedette::base {

// The bytes that a process holds for others at once: request bodies, answers, pages (G11). A holder
// that is about to read on takes first and waits where nothing is free; those who wait take turns
// by organisation, and one organisation may hold what MayTakeMore (fair_share.h) leaves it.
//
// Holders grow while others grow, so all of them could wait for each other. One of them at a time
// may therefore always go on: it is the privileged one until it lets go. So the process holds at
// most `total` bytes and what the privileged holder takes, which its own limit bounds.
//
// Any thread. The budget outlives every holding.
class ByteBudget {
 public:
  // `reserve`: the share of `total` that an organisation that is alone leaves free, 0 < reserve
  // < 1.
  ByteBudget(std::size_t total, double reserve);
  ~ByteBudget();
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  // What one body, answer or page holds. Used by one thread at a time; destroying it gives
  // everything back and ends its wait.
  class Holding {
   public:
    Holding() = default;  // holds nothing and may not take
    Holding(Holding&& other) noexcept;
    Holding& operator=(Holding&& other) noexcept;
    ~Holding();

    // Takes `bytes` more. True: done, and `then` is dropped. False: `then` runs once they are
    // taken, on the thread that gave bytes back, so it should only post. It may still begin while
    // the holding is destroyed on another thread. One Take at a time.
    [[nodiscard]] bool Take(std::size_t bytes, std::function<void()> then);

    // Takes `bytes` more or nothing; never waits, and is never privileged.
    [[nodiscard]] bool TryTake(std::size_t bytes);

    // Gives part of it back.
    void GiveBack(std::size_t bytes);

    std::size_t bytes() const;
    // Whether it belongs to a budget, so that it may take.
    explicit operator bool() const { return state_ != nullptr; }

   private:
    friend class ByteBudget;
    struct State;
    explicit Holding(std::shared_ptr<State> state) : state_(std::move(state)) {}
    void Release();
    std::shared_ptr<State> state_;
  };

  // A holding of nothing yet, for `org` (nil: of no organisation).
  Holding Open(const Uuid& org);

  struct Usage {
    std::size_t used = 0;
    std::size_t waiting = 0;  // holders that wait
  };
  Usage usage() const;
  std::size_t total() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::base
