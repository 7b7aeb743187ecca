#include "net/connection_queue.h"

#include <algorithm>

#include "base/assert.h"

namespace vedette::net {

ConnectionQueue::Host& ConnectionQueue::At(const std::string& host) {
  const auto [it, added] = hosts_.try_emplace(host);
  if (added) {
    it->second.key = &it->first;
    if (on_limit_) {
      it->second.limit.emplace(limits_.per_host);
      on_limit_(host, it->second.limit->value());
    }
  }
  return it->second;
}

int ConnectionQueue::ActiveAt(const Host& host, const base::Uuid& org) {
  const auto it = std::find_if(host.active_by.begin(), host.active_by.end(),
                               [&](const auto& entry) { return entry.first == org; });
  return it == host.active_by.end() ? 0 : it->second;
}

int ConnectionQueue::Active(const base::Uuid& org) const {
  const auto it = orgs_.find(org);
  return it == orgs_.end() ? 0 : it->second.active;
}

bool ConnectionQueue::TryTake(const std::string& key, const base::Uuid& org, TimePoint now) {
  if (active_ >= limits_.total) return false;
  const auto it = hosts_.find(key);
  if (it != hosts_.end()) {
    const Host& host = it->second;
    const bool rests = limits_.gap.count() > 0 && now < host.next_start;
    if (rests || !host.waiting.empty() || host.active >= LimitOf(host)) return false;
  }
  Host& host = At(key);
  Give(host, org, now);
  Settle(host, now);
  return true;
}

void ConnectionQueue::Push(const std::string& key, const base::Uuid& org, Id id, TimePoint now) {
  Host& host = At(key);
  host.waiting.Push(org, id);
  Settle(host, now);
}

std::optional<ConnectionQueue::Id> ConnectionQueue::Pop(TimePoint now) {
  while (!resting_.empty() && resting_.begin()->first <= now) {
    Host& host = hosts_.at(resting_.begin()->second);
    resting_.erase(resting_.begin());
    host.state = State::kQuiet;
    Settle(host, now);
  }
  if (active_ >= limits_.total || order_.empty()) return std::nullopt;
  const base::Uuid org = std::get<base::Uuid>(*order_.begin());
  Host& host = *orgs_.at(org).ready.front();
  Withdraw(host);  // to the end of this organisation's ready hosts, if it stays ready
  const auto id = host.waiting.PopIf([&](const base::Uuid& key, Id) { return key == org; });
  Give(host, org, now);
  Settle(host, now);
  return id;
}

void ConnectionQueue::Release(const std::string& key, const base::Uuid& org, TimePoint now,
                              const HostLimit::Ended& ended) {
  Host& host = hosts_.at(key);
  const auto it = std::find_if(host.active_by.begin(), host.active_by.end(),
                               [&](const auto& entry) { return entry.first == org; });
  base::Assert(it != host.active_by.end() && host.active > 0 && active_ > 0,
               "a place is given back by the organisation that has it");
  if (host.limit && host.limit->Take(ended, host.active, now)) on_limit_(key, host.limit->value());
  --host.active;
  --active_;
  if (--it->second == 0) {
    *it = host.active_by.back();
    host.active_by.pop_back();
  }
  Count(org, -1);
  Settle(host, now);
}

void ConnectionQueue::EraseIf(const std::string& key, const std::function<bool(Id)>& gone,
                              TimePoint now) {
  const auto it = hosts_.find(key);
  if (it == hosts_.end()) return;
  it->second.waiting.EraseIf(gone);
  Settle(it->second, now);
}

void ConnectionQueue::Clear(TimePoint now) {
  std::vector<std::string> keys;
  for (const auto& [key, host] : hosts_) keys.push_back(key);
  for (const std::string& key : keys)
    EraseIf(
        key, [](Id) { return true; }, now);
}

std::optional<ConnectionQueue::TimePoint> ConnectionQueue::next_wake() const {
  if (resting_.empty()) return std::nullopt;
  return resting_.begin()->first;
}

// Fewest places at this host, then fewest in all, then the turns of the queue.
base::Uuid ConnectionQueue::Candidate(Host& host) const {
  std::optional<std::pair<int, int>> least;
  base::Uuid candidate;
  // This only looks: a queue from which nothing may go stays as it is.
  host.waiting.PopIf([&](const base::Uuid& org, Id) {
    const std::pair<int, int> holds{ActiveAt(host, org), Active(org)};
    if (!least || holds < *least) {
      least = holds;
      candidate = org;
    }
    return false;
  });
  return candidate;
}

void ConnectionQueue::Give(Host& host, const base::Uuid& org, TimePoint now) {
  ++host.active;
  ++active_;
  const auto it = std::find_if(host.active_by.begin(), host.active_by.end(),
                               [&](const auto& entry) { return entry.first == org; });
  if (it == host.active_by.end()) {
    host.active_by.emplace_back(org, 1);
  } else {
    ++it->second;
  }
  Count(org, 1);
  host.next_start = now + limits_.gap;
}

void ConnectionQueue::Count(const base::Uuid& id, int places) {
  Org& org = orgs_[id];
  const bool stands = !org.ready.empty();
  if (stands) order_.erase(OrderOf(id, org));
  org.active += places;
  base::Assert(org.active >= 0, "an organisation gives back no more places than it has");
  if (places > 0) org.turn = ++turns_;
  if (stands) order_.insert(OrderOf(id, org));
  Forget(id);
}

void ConnectionQueue::MakeReady(Host& host) {
  host.state = State::kReady;
  host.candidate = Candidate(host);
  Org& org = orgs_[host.candidate];
  host.place = org.ready.insert(org.ready.end(), &host);
  order_.insert(OrderOf(host.candidate, org));
}

void ConnectionQueue::Withdraw(Host& host) {
  Org& org = orgs_.at(host.candidate);
  org.ready.erase(host.place);
  if (org.ready.empty()) order_.erase(OrderOf(host.candidate, org));
  host.state = State::kQuiet;
  Forget(host.candidate);
}

void ConnectionQueue::Forget(const base::Uuid& id) {
  const auto it = orgs_.find(id);
  if (it != orgs_.end() && it->second.active == 0 && it->second.ready.empty()) orgs_.erase(it);
}

// Puts a host where it belongs after something has changed there. It may be gone afterwards.
void ConnectionQueue::Settle(Host& host, TimePoint now) {
  if (host.state == State::kResting) return;
  const bool full = host.active >= LimitOf(host);
  if (full && host.limit && !host.waiting.empty()) host.limit->Wanted();
  const bool may_start = !host.waiting.empty() && !full;
  const bool rests = limits_.gap.count() > 0 && now < host.next_start;
  if (host.state == State::kReady) {
    // It keeps its place among the ready ones while its candidate is the same.
    if (may_start && !rests && host.candidate == Candidate(host)) return;
    Withdraw(host);
  }
  if (rests) {
    host.state = State::kResting;
    resting_.emplace(host.next_start, *host.key);
  } else if (may_start) {
    MakeReady(host);
  } else if (host.waiting.empty() && host.active == 0 &&
             (!host.limit || hosts_.size() > kHostsRememberedMax)) {
    hosts_.erase(hosts_.find(*host.key));
  }
}

}  // namespace vedette::net
