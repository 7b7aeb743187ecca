#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_fwd.h"
#include "store/async.h"
#include "store/session.h"

// Partitions of the history, retention, and what nobody refers to any more.
namespace vedette::store {

// What one process remembers from run to run.
struct MaintenanceState {
  // Weeks that get no partition, because the default partition holds too many rows of them.
  std::set<std::string> weeks_left;
  // Since boot, of tasks that do not run every time.
  std::map<std::string_view, std::chrono::nanoseconds> ran_at;
  std::set<std::string> in_use;  // store/sql.h: TablesInUse
  // The process is to end: the run that is under way does after its present transaction. From any
  // thread.
  std::atomic<bool> stopping = false;
};

struct MaintenanceFailure {
  std::string_view task;  // one of MaintenanceTasks()
  Failure failure;
};

struct MaintenanceRun {
  bool mine = true;  // false: another process was at some of it
  std::vector<MaintenanceFailure> failures;
};

// Runs every task whose time has come:
//   partitions  makes those of this week and four more (of job_part: of this day and eight more);
//               rows of such a time in the default partition move into it, unless there are more
//               than kMovedRowsMax: they stay
//   retention   drops partitions wholly older than their retention; those that are in use, as by a
//               backup, are left for later
//   default_partitions, idempotency_keys, rate_windows, tokens, dead_deliveries, audit, uploads
//               delete what has outlived its retention
//   renders     deletes pages to render whose asker is gone
//   deleted_monitors  deletes monitors that were deleted as long ago as their history is kept, rows
//               first
//   snapshot_contents  deletes what no snapshot has had for as long as snapshots are kept
//   endpoints   deletes receivers that no monitor and no pending delivery names
//   search_imports  deletes documents of imports that were abandoned or replaced a day ago
//   email_facts, domain_patterns, mail_facts
//               delete what organisations know of addresses and may not rely on any more, patterns
//               and companies' domains that no lead has taught for long, and what is known of mail
//               servers that nobody has asked for long
// Tasks do not depend on each other: each works in small transactions of its own, and one that
// fails stops none of the others, and this says so. An advisory lock lets one process of the fleet
// at each transaction. Throws Unavailable or CommitUnknown where the connection is lost: then no
// task can run.
MaintenanceRun Maintain(Session& session, const config::RetentionConfig& retention,
                        MaintenanceState* state);

std::span<const std::string_view> MaintenanceTasks();

// The task `uploads`: deletes expired uploads that no import needs, at most `uploads_max`. Returns
// how many.
int DeleteExpiredUploads(Session& session, int uploads_max);

}  // namespace vedette::store
