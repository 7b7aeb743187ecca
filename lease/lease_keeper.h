#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "lease/step.h"
#include "store/lease.h"
#include "store/session.h"

namespace vedette::lease {

// Renewals in the time of one lease: two may fail before the lease ends.
inline constexpr int kRenewalsPerLease = 3;

// LeaseKeeper::Hooks::give_back of a kind that gives everything back without a delay.
std::function<void(store::Session& session, const std::vector<store::GiveBack>& leases)>
GiveBackAtOnce(std::function<void(store::Session& session, const std::vector<store::Lease>& leases)>
                   statement);

// The leases that a process holds of one kind of work: renews all of them with one statement, tells
// which are lost, and gives back. What it does not hold any more it forgets, so that it is the one
// place that knows what is held under which token.
//
//   Hold --> held -- Drop: recorded to its end, or not of interest any more ----> forgotten
//             | \--- the renewal did not find it: `lost` is called -------------> forgotten
//             \----- GiveBack --> one statement at a time gives back what gathered --> forgotten
//
// Loop thread only. Everything handed in must outlive this object, and so must the object that the
// hooks refer to: no hook is called after the destructor.
class LeaseKeeper {
 public:
  struct Hooks {
    // On the pool. Extends the leases by `lease`; gives the ids of those that are still held.
    std::function<std::vector<base::Uuid>(store::Session& session,
                                          const std::vector<store::Lease>& leases,
                                          std::chrono::milliseconds lease)>
        renew;
    // On the pool. Makes available to others what is still held under these tokens.
    std::function<void(store::Session& session, const std::vector<store::GiveBack>& leases)>
        give_back;
    // The lease is another process's, or nobody's: it is forgotten here already. May be empty.
    std::function<void(const base::Uuid& id)> lost{};
    // Something was given back, which others may claim. May be empty.
    std::function<void()> offered{};
    // Everything that was to be given back is, or could not be: then the leases end by themselves.
    // May be empty.
    std::function<void()> given_back{};
    // The time since boot, for who asks IsCertain. Else empty.
    std::function<std::chrono::nanoseconds()> since_boot{};
  };

  LeaseKeeper(base::EventLoop& loop, store::Pool& pool, base::Logger log,
              std::chrono::milliseconds lease, Hooks hooks);

  // Begins to renew, kRenewalsPerLease times in the time of a lease.
  void Start();

  // Keeps the lease from now on. What is held already goes on under the new token. `from`: since
  // boot, a moment before the transaction began that gave the lease; it is renewed at once where
  // that was long ago.
  void Hold(const store::Lease& lease, std::chrono::nanoseconds from = {});

  // Forgets the lease without a word to the database. Empty: it was not held.
  std::optional<store::Lease> Drop(const base::Uuid& id);

  // Gives back those of these that are held. They count as not held from here on.
  void GiveBack(const std::vector<base::Uuid>& ids, std::chrono::milliseconds delay = {},
                domain::JobWait waits_for = domain::JobWait::kUntold);

  bool holds(const base::Uuid& id) const { return held_.contains(id); }
  // Whether the lease lasts now, as far as this process's clock can tell. It may be held and be
  // over where its transaction, or the process, took long: then another process may have it
  // already.
  bool IsCertain(const base::Uuid& id) const;
  std::size_t held() const { return held_.size(); }
  // Nothing is held, and nothing is being given back.
  bool idle() const { return held_.empty() && giving_back_.empty() && !give_back_.running(); }

 private:
  struct Held {
    base::Uuid token;
    std::chrono::nanoseconds from;  // since boot
  };
  struct Renewal {
    std::vector<store::Lease> asked;
    std::vector<base::Uuid> kept;
    std::chrono::nanoseconds began;  // since boot
  };

  Step<Renewal>::Job Renew();
  void OnRenewed(const Renewal& renewal);
  Step<bool>::Job SendBack();
  std::chrono::nanoseconds SinceBoot() const;

  const std::chrono::milliseconds lease_;
  const Hooks hooks_;
  std::map<base::Uuid, Held> held_;
  std::vector<store::GiveBack> giving_back_;  // for the next statement
  Step<Renewal> renew_;
  Step<bool> give_back_;
};

}  // namespace vedette::lease
