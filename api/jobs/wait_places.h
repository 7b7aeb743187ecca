#pragma once

#include <memory>
#include <optional>

#include "base/uuid.h"
#include "metrics/metrics.h"

namespace vedette::api {

// The places of requests that wait for the end of a job: [api] waits_max in one process, of which
// one organisation that is alone may have waits_share; several greedy ones have equal shares, and
// some stay free for the next one (base/fair_share.h). Any thread. `metrics` must outlive the
// places.
class WaitPlaces {
 public:
  struct Counts;

  // One place, given back with the object. May outlive WaitPlaces.
  class Place {
   public:
    Place(std::shared_ptr<Counts> counts, const base::Uuid& org_id);
    ~Place();
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&&) = delete;

   private:
    std::shared_ptr<Counts> counts_;  // null once it was moved from
    base::Uuid org_id_;
  };

  WaitPlaces(int places_max, double share, metrics::Metrics& metrics);
  // Nothing where no place is free, or where the organisation has its share.
  std::optional<Place> Reserve(const base::Uuid& org_id);

 private:
  std::shared_ptr<Counts> counts_;
};

}  // namespace vedette::api
