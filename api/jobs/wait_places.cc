#include "api/jobs/wait_places.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include "base/fair_share.h"

namespace vedette::api {
namespace {

// The least that stays free beside an organisation that is alone.
constexpr double kReserveMin = 0.001;

}  // namespace

struct WaitPlaces::Counts {
  Counts(std::size_t places_max, double reserve, metrics::Metrics& m)
      : shares(places_max, reserve), metrics(m) {}

  std::mutex mutex;
  base::FairShares<base::Uuid> shares;  // guarded by mutex
  metrics::Metrics& metrics;
};

WaitPlaces::Place::Place(std::shared_ptr<Counts> counts, const base::Uuid& org_id)
    : counts_(std::move(counts)), org_id_(org_id) {}

WaitPlaces::Place::~Place() {
  if (!counts_) return;
  const std::lock_guard lock(counts_->mutex);
  counts_->shares.GiveBack(org_id_);
  counts_->metrics.SetWaits(static_cast<std::int64_t>(counts_->shares.used()));
}

WaitPlaces::WaitPlaces(int places_max, double share, metrics::Metrics& metrics)
    : counts_(std::make_shared<Counts>(static_cast<std::size_t>(places_max),
                                       std::max(1 - share, kReserveMin), metrics)) {
  metrics.SetWaitsMax(places_max);
}

std::optional<WaitPlaces::Place> WaitPlaces::Reserve(const base::Uuid& org_id) {
  const std::lock_guard lock(counts_->mutex);
  if (!counts_->shares.MayTake(org_id)) return std::nullopt;
  counts_->shares.Take(org_id);
  counts_->metrics.SetWaits(static_cast<std::int64_t>(counts_->shares.used()));
  return Place(counts_, org_id);
}

}  // namespace vedette::api
