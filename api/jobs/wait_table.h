#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/uuid.h"

namespace vedette::api {

// Who waits for which job, and until when: decides which waits are over. Times are since boot. No
// clock, no I/O; one thread. Every call costs O(log waits) for each wait that it gives or takes.
class WaitTable {
 public:
  using Id = std::uint64_t;

  // An id is used once. Several may wait for one job.
  void Add(Id id, const base::Uuid& job_id, std::chrono::nanoseconds until);
  // False where the wait is over already.
  bool Take(Id id);
  // Those that wait for one of these jobs; they are taken out, as are those of the calls below.
  std::vector<Id> TakeEnded(const std::vector<base::Uuid>& job_ids);
  // Those whose time is over, the earliest first.
  std::vector<Id> TakeDue(std::chrono::nanoseconds now);
  std::vector<Id> TakeAll();

  // The end of the wait that ends next by time.
  std::optional<std::chrono::nanoseconds> Earliest() const;
  // The jobs that somebody waits for, each once.
  std::vector<base::Uuid> Jobs() const;
  bool empty() const { return waits_.empty(); }

 private:
  struct Wait {
    base::Uuid job_id;
    std::chrono::nanoseconds until;
  };

  std::map<Id, Wait> waits_;
  std::map<base::Uuid, std::set<Id>> by_job_;
  std::set<std::pair<std::chrono::nanoseconds, Id>> by_time_;
};

}  // namespace vedette::api
