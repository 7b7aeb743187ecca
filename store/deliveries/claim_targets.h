#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "domain/job/webhook.h"
#include "store/deliveries/deliveries.h"
#include "store/endpoint.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/deliveries/.

// The places where monitors, channels, and jobs and their blocks send now, read for what one claim
// has taken: one statement for each kind that is there, however many deliveries there are of one of
// them. To join them to the claim costs each delivery a third of what its claim costs PostgreSQL.
class ClaimTargets {
 public:
  ClaimTargets(Transaction& tx, const std::vector<LeasedDelivery>& claimed);

  // Null where what it tells of is not there any more.
  const DeliveryTarget* Of(const domain::Notification& notification) const;

  // JSON that the client gave with the monitor.
  std::optional<std::string> Metadata(const base::Uuid& monitor_id) const;

 private:
  using Block = std::pair<base::Uuid, std::optional<int>>;  // a job; all of it without a number

  void ReadChannels(Transaction& tx, const std::set<base::Uuid>& ids);
  void ReadJobs(Transaction& tx, const std::set<Block>& blocks);

  DeliveryTargets monitors_;
  DeliveryTargets channels_;
  std::map<Block, DeliveryTarget> jobs_;
};

}  // namespace vedette::store
