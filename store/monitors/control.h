#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "store/audit.h"
#include "store/checks/ticks.h"
#include "store/scope.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// Switching monitors and organisations on and off, and triggering. Every change is one transaction,
// with its audit entry where one is given. All functions throw as InTransaction does
// (store/session.h).

struct ControlOutcome {
  enum class Kind {
    kDone,
    kNotFound,
    kConflict,
    kChanged,  // others have updated the monitor since it was read: nothing is written
  };
  Kind kind = Kind::kDone;
  // The status as stored, after the change or, at a conflict, as it stands.
  domain::MonitorStatus status = domain::MonitorStatus::kActive;
  std::optional<std::string> disabled_reason;
  // The fields whose values are forgotten by a change of struct.
  std::vector<std::string> forgotten{};
};

// Active or paused -> paused with this reason. Cancelled, starting, failed: conflict.
ControlOutcome PauseMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                            const base::Uuid& monitor_id, const std::string& reason,
                            const std::optional<AuditEntry>& audit);

// Paused or cancelled -> active, disabled_reason cleared; the next anchored slot comes first and no
// tick is opened. Active stays as it is. Starting, failed: conflict.
ControlOutcome ResumeMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::optional<AuditEntry>& audit);

// Active, paused or cancelled -> cancelled with this reason. Starting, failed: conflict.
ControlOutcome CancelMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::string& reason,
                             const std::optional<AuditEntry>& audit);

// Takes the monitor out of the lists, and cancels it unless it failed; it is still found by its id.
// Resuming it brings it back. Starting: conflict.
ControlOutcome ArchiveMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                              const base::Uuid& monitor_id, const std::string& reason,
                              const std::optional<AuditEntry>& audit);

// Takes the monitor out of everything that shows or changes monitors, for good: from now on it is
// not found. It is cancelled unless it failed; its rows and what it has seen are kept as long as
// history is, and then deleted (store/fleet/maintenance.h). Its name stays known to what was spent.
// Starting: conflict.
ControlOutcome DeleteMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::string& reason,
                             const std::optional<AuditEntry>& audit);

struct TriggerOutcome {
  enum class Kind { kDone, kNotFound, kConflict };
  Kind kind = Kind::kDone;
  domain::MonitorStatus status = domain::MonitorStatus::kActive;  // at a conflict
  bool organisation_stopped = false;  // at a conflict: locked, or without the feature
  std::int64_t tick_id = 0;
  std::int64_t rows = 0;
  bool joined = false;
  // The caller raises it: kChunk where chunks were written, kDue where the scheduler has to cut
  // them. Empty for one that joined: all that is known of its tick already.
  std::optional<Signal> raise{};
};

// Opens a tick outside the schedule, or joins the open one. A tick that one chunk holds is written
// whole: no scheduler has a part in it.
//
// Its commit does not wait for the disk: the caller raises `raise`, so that workers begin, and then
// waits with ConfirmTrigger before it answers (docs/decisions/0046).
TriggerOutcome TriggerMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                              const base::Uuid& monitor_id, const MaterialiseLimits& limits,
                              const std::optional<AuditEntry>& audit);

// After a TriggerMonitor in the same session: what it did will survive a crash. Throws
// CommitUnknown where that cannot be known any more.
void ConfirmTrigger(Session& session);

struct OrganisationChange {
  std::optional<bool> locked;
  std::optional<std::vector<std::string>> features;
};

// False when there is no such organisation. Stops or restores its monitors' schedules accordingly.
// Throws OrganisationAway (store/place.h): who moves it unlocks it.
bool ChangeOrganisation(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const OrganisationChange& change, const std::optional<AuditEntry>& audit);

// Internal to store/: the steps of these changes inside the caller's transaction.

// Locks the monitor (monitor, then monitor_sched: the order everybody keeps) and reads its status.
// Empty when it does not exist or is out of scope.
struct LockedMonitor {
  base::Uuid org_id;
  domain::MonitorStatus status = domain::MonitorStatus::kStarting;
  std::optional<std::string> disabled_reason;
  int struct_version = 0;
  base::Timestamp updated_at{};
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
