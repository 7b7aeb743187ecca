#include "lease/lease_keeper.h"

#include <set>
#include <utility>

namespace vedette::lease {

std::function<void(store::Session& session, const std::vector<store::GiveBack>& leases)>
GiveBackAtOnce(std::function<void(store::Session& session, const std::vector<store::Lease>& leases)>
                   statement) {
  return [statement = std::move(statement)](store::Session& session,
                                            const std::vector<store::GiveBack>& given_back) {
    std::vector<store::Lease> leases;
    leases.reserve(given_back.size());
    for (const store::GiveBack& back : given_back) leases.push_back(back.lease);
    statement(session, leases);
  };
}

LeaseKeeper::LeaseKeeper(base::EventLoop& loop, store::Pool& pool, base::Logger log,
                         std::chrono::milliseconds lease, Hooks hooks)
    : lease_(lease),
      hooks_(std::move(hooks)),
      renew_(loop, pool, log,
             {.failed = "renewing leases failed", .poll = lease / kRenewalsPerLease},
             {.begin = [this] { return Renew(); },
              .finish =
                  [this](const Renewal& renewal) {
                    OnRenewed(renewal);
                    return kAtPoll;
                  }}),
      give_back_(loop, pool, log, {.failed = "giving leases back failed"},
                 {.begin = [this] { return SendBack(); },
                  .finish =
                      [this](bool /*done*/) {
                        if (hooks_.offered) hooks_.offered();
                        return kAtPoll;
                      },
                  .rested =
                      [this] {
                        if (hooks_.given_back) hooks_.given_back();
                      }}) {}

void LeaseKeeper::Start() {
  renew_.Start();
}

void LeaseKeeper::Hold(const store::Lease& lease, std::chrono::nanoseconds from) {
  held_[lease.id] = {lease.token, from};
  if (SinceBoot() - from >= lease_ / kRenewalsPerLease) renew_.Wake();
}

std::chrono::nanoseconds LeaseKeeper::SinceBoot() const {
  return hooks_.since_boot ? hooks_.since_boot() : std::chrono::nanoseconds{};
}

bool LeaseKeeper::IsCertain(const base::Uuid& id) const {
  const auto it = held_.find(id);
  return it != held_.end() && SinceBoot() - it->second.from < lease_;
}

std::optional<store::Lease> LeaseKeeper::Drop(const base::Uuid& id) {
  const auto it = held_.find(id);
  if (it == held_.end()) return std::nullopt;
  const store::Lease lease{id, it->second.token};
  held_.erase(it);
  return lease;
}

void LeaseKeeper::GiveBack(const std::vector<base::Uuid>& ids, std::chrono::milliseconds delay,
                           domain::JobWait waits_for) {
  for (const base::Uuid& id : ids) {
    if (const auto lease = Drop(id)) giving_back_.push_back({*lease, delay, waits_for});
  }
  if (!giving_back_.empty()) give_back_.Wake();
}

Step<LeaseKeeper::Renewal>::Job LeaseKeeper::Renew() {
  if (held_.empty()) return nullptr;
  Renewal renewal;
  renewal.asked.reserve(held_.size());
  for (const auto& [id, held] : held_) renewal.asked.push_back({id, held.token});
  renewal.began = SinceBoot();
  return [renewal = std::move(renewal), renew = hooks_.renew,
          lease = lease_](store::Session& session) {
    return Renewal{renewal.asked, renew(session, renewal.asked, lease), renewal.began};
  };
}

void LeaseKeeper::OnRenewed(const Renewal& renewal) {
  const std::set<base::Uuid> kept(renewal.kept.begin(), renewal.kept.end());
  for (const store::Lease& lease : renewal.asked) {
    const auto it = held_.find(lease.id);
    // Dropped, given back or claimed again while the renewal was under way: its answer is about a
    // lease that is not held here any more.
    if (it == held_.end() || it->second.token != lease.token) continue;
    if (kept.contains(lease.id)) {
      it->second.from = renewal.began;
      continue;
    }
    held_.erase(it);
    if (hooks_.lost) hooks_.lost(lease.id);
  }
}

Step<bool>::Job LeaseKeeper::SendBack() {
  if (giving_back_.empty()) return nullptr;
  return [leases = std::exchange(giving_back_, {}),
          give_back = hooks_.give_back](store::Session& session) {
    give_back(session, leases);
    return true;
  };
}

}  // namespace vedette::lease
