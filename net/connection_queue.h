#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fair_queue.h"
#include "base/uuid.h"
#include "net/host_limit.h"

namespace vedette::net {

// Which waiting request gets the next connection. Internal to the client; pure: the time is handed
// in.
//
// There are places for `total` requests under way, `per_host` of them to one host, or as many as
// follow from the host's answers (net/host_limit.h), up to `per_host`. A free place
// goes to the organisation that holds fewest: among those that wait at one host to the one that
// holds fewest there (then: fewest in all), and among several hosts' candidates to the one that
// holds fewest in all. Equals take turns, and so do the hosts of one organisation. So one that is
// alone uses everything, and beside others each gets an equal share as places become free, whatever
// its backlog (G10).
class ConnectionQueue {
 public:
  using Id = std::uint64_t;
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Limits {
    int total;
    int per_host;
    std::chrono::milliseconds gap;  // the least time between two starts at one host
  };

  // What is known of idle hosts is kept of this many at most.
  static constexpr std::size_t kHostsRememberedMax = 256;
  // Told a host's limit when it is first asked, and whenever the limit has changed.
  using OnLimit = std::function<void(const std::string& host, int limit)>;

  // `on_limit`: if set, limits follow the answers of hosts.
  explicit ConnectionQueue(const Limits& limits, OnLimit on_limit = nullptr)
      : limits_(limits), on_limit_(std::move(on_limit)) {}

  // Takes a place at once, where one is free and nobody waits for it.
  bool TryTake(const std::string& host, const base::Uuid& org, TimePoint now);
  // Waits for a place.
  void Push(const std::string& host, const base::Uuid& org, Id id, TimePoint now);
  // The next request that may go on now; it has its place.
  std::optional<Id> Pop(TimePoint now);
  // Gives a place back that TryTake or Pop gave. `ended`: what became of the request.
  void Release(const std::string& host, const base::Uuid& org, TimePoint now,
               const HostLimit::Ended& ended = {});

  // Takes those out that wait at `host` and are `gone`.
  void EraseIf(const std::string& host, const std::function<bool(Id)>& gone, TimePoint now);
  // Takes everybody out who waits.
  void Clear(TimePoint now);

  // When Pop may have another answer although no place was given back: a host's gap is over.
  std::optional<TimePoint> next_wake() const;

 private:
  //            Push, a place is free at the host
  //   kQuiet ─────────────────────────────────────▶ kReady
  //     ▲  ▲ ◀─── nobody waits, or no place is free ─── │ Pop
  //     │  └────────────────────────────────────────────┤
  //     └────── the gap is over ──── kResting ◀─────────┘ where there is a gap
  enum class State { kQuiet, kReady, kResting };
  struct Host {
    const std::string* key = nullptr;
    State state = State::kQuiet;
    int active = 0;
    std::vector<std::pair<base::Uuid, int>> active_by;  // places by organisation, none of 0
    base::FairQueue<base::Uuid, Id> waiting;
    TimePoint next_start{};          // not before; only with a gap
    std::optional<HostLimit> limit;  // where limits follow
    // In kReady: whose turn it is here, and where the host stands among that one's ready hosts.
    base::Uuid candidate;
    std::list<Host*>::iterator place;
  };
  struct Org {
    int active = 0;
    std::uint64_t turn = 0;  // when it got its last place
    std::list<Host*> ready;  // where it is the candidate
  };
  using Order = std::tuple<int, std::uint64_t, base::Uuid>;

  Host& At(const std::string& host);
  int LimitOf(const Host& host) const {
    return host.limit ? host.limit->value() : limits_.per_host;
  }
  static int ActiveAt(const Host& host, const base::Uuid& org);
  int Active(const base::Uuid& org) const;
  base::Uuid Candidate(Host& host) const;
  void Give(Host& host, const base::Uuid& org, TimePoint now);
  void Count(const base::Uuid& org, int places);
  void MakeReady(Host& host);
  void Withdraw(Host& host);
  void Settle(Host& host, TimePoint now);
  void Forget(const base::Uuid& org);
  static Order OrderOf(const base::Uuid& id, const Org& org) { return {org.active, org.turn, id}; }

  const Limits limits_;
  const OnLimit on_limit_;
  int active_ = 0;
  std::uint64_t turns_ = 0;
  // With something under way, waiting or resting; and those whose limits are remembered.
  std::unordered_map<std::string, Host> hosts_;
  std::unordered_map<base::Uuid, Org> orgs_;  // with a place, or a candidate somewhere
  std::set<Order> order_;                     // those with a ready host
  std::multimap<TimePoint, std::string> resting_;
};

}  // namespace vedette::net
