#pragma once

#include <optional>
#include <vector>

#include "base/uuid.h"
#include "domain/job/webhook.h"

namespace vedette::worker {

// The place where recorded notifications go at once, in a process that also delivers. Loop thread
// only.
class NotificationSink {
 public:
  virtual ~NotificationSink() = default;

  // Reserves room for one notification to this organisation's receiver and gives the lease token
  // under which it is to be committed; empty when there is no room: then it is left to the
  // process that claims it.
  virtual std::optional<base::Uuid> Reserve(const base::Uuid& org_id,
                                            const base::Uuid& endpoint_id) = 0;

  // A reserved one was committed: send it.
  virtual void Take(domain::Notification notification, const base::Uuid& lease_token) = 0;

  // A reserved one was not committed.
  virtual void Cancel(const base::Uuid& endpoint_id) = 0;
};

}  // namespace vedette::worker
