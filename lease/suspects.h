#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "base/event_loop.h"
#include "base/log.h"
#include "lease/live.h"
#include "lease/suspect_slot.h"
#include "store/async.h"
#include "store/session.h"

namespace vedette::lease {

// Takes chunks whose workers died repeatedly out of the ordinary work. One row of such a chunk is
// tried in the process's SuspectSlot, and the database hears of the try before it begins, so that a
// claim after a death in it knows which row was tried:
//
//   TryRow --the slot is free--> committed as a suspect --> `start`: the row's try is under way
//                                   |
//                                   +--the lease was lost, or the database is away--> `forget`
//
// Which rows are tried, and when one is given up, is the kind's. Loop
// thread only; everything handed in must outlive this object.
template <typename Work>
class Suspects {
 public:
  using Ptr = std::shared_ptr<Work>;

  Suspects(const Suspects&) = delete;
  Suspects& operator=(const Suspects&) = delete;

  // On the pool: commits the try. False: the lease was lost.
  using Mark = std::function<bool(store::Session&)>;

  // `forget`: the chunk is to be held no more; the process that claims it when its lease ends goes
  // on.
  Suspects(base::EventLoop& loop, store::Pool& pool, base::Logger log, SuspectSlot& slot,
           std::function<void(const Ptr&)> forget)
      : loop_(loop), pool_(pool), log_(log), slot_(slot), forget_(std::move(forget)) {}

  // Tries a row of the chunk once the slot is free. A chunk that is given back while it waits frees
  // the slot by Leave.
  void TryRow(const Ptr& work, SuspectSlot::Try how, Mark mark, std::function<void()> start) {
    slot_.Enter(work.get(), work->org_id, how,
                live_.Guard([this, work, mark = std::move(mark), start = std::move(start)] {
                  if (work->Working()) Commit(work, mark, start);
                }));
  }

  // The chunk is not held any more, or its row's try is recorded: the slot is free of it.
  void Leave(const Ptr& work) { slot_.Leave(work.get()); }

 protected:
  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Logger log_;
  Live live_;

 private:
  void Commit(const Ptr& work, const Mark& mark, const std::function<void()>& start) {
    store::RunAsync<bool>(
        pool_, loop_, mark,
        live_.Guard([this, work, start](const std::variant<bool, store::Failure>& result) {
          if (!work->Working()) return;
          const bool* marked = std::get_if<bool>(&result);
          if (marked != nullptr && *marked) {
            start();
          } else {
            forget_(work);
          }
        }));
  }

  SuspectSlot& slot_;
  const std::function<void(const Ptr&)> forget_;
};

}  // namespace vedette::lease
