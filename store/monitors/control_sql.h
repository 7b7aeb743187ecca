#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"
#include "store/monitors/control.h"
#include "store/sql.h"

// Internal to store/: the steps of store/monitors/control.h inside the caller's transaction.
namespace vedette::store {

// Locks the monitor (monitor, then monitor_sched: the order everybody keeps) and reads its status.
// Empty when it does not exist or is out of scope.
struct LockedMonitor {
  base::Uuid org_id;
  domain::MonitorStatus status = domain::MonitorStatus::kStarting;
  std::optional<std::string> disabled_reason;
};
std::optional<LockedMonitor> LockMonitor(Transaction& tx, const Scope& scope,
                                         const base::Uuid& monitor_id);

// Sets status and reason of a locked monitor, and everything that follows: live, next_run_at (the
// first anchored slot after now when it becomes live), control_changed_at, updated_at.
void SetMonitorStatus(Transaction& tx, const base::Uuid& monitor_id, domain::MonitorStatus status,
                      const std::optional<std::string>& disabled_reason);

// Writes the entry of a change to something of this organisation, where there is one.
void AuditIfGiven(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                  const std::optional<AuditEntry>& audit);

}  // namespace vedette::store
