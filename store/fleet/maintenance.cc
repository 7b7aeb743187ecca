#include "store/fleet/maintenance.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "config/limits_config.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr int kWeeks = 5;        // this one and four more
constexpr int kJobPartDays = 9;  // this one and eight more
// Rows deleted by one transaction, and such transactions in one run of a task.
constexpr int kBatchRows = 1000;
constexpr int kBatchesMax = 100;
// Expired files deleted in one run; the rest waits for the next.
constexpr int kUploadsMax = 100;
// Between two runs of tasks that look through whole tables.
constexpr std::chrono::hours kSeldom{1};
// How long documents of imports that nobody sees are kept after their last change.
constexpr std::chrono::hours kSearchImportsKept{24};

// One run of one task.
struct Run {
  Session& session;
  const config::RetentionConfig& retention;
  MaintenanceState& state;
  bool mine = true;

  // A transaction under the lock. False when another process has the lock, or this one is to end.
  template <typename F>
  bool Locked(F&& body) {
    if (state.stopping) return false;
    const bool done = InTransaction(session, [&](Transaction& tx) {
      if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return false;
      body(tx);
      return true;
    });
    mine = mine && done;
    return done;
  }

  // Runs a statement that deletes at most @limit rows, and tells how many, until it finds fewer.
  template <NameText statement, typename... Args>
  void InBatches(const Args&... args) {
    for (int i = 0; i < kBatchesMax; ++i) {
      std::int64_t deleted = 0;
      const bool locked = Locked([&](Transaction& tx) {
        deleted = ReadOne<std::int64_t>(tx.Exec<statement>(args..., "limit"_a = kBatchRows));
      });
      if (!locked || deleted < kBatchRows) return;
    }
  }
};

// The tables of the history, each with what empties its default partition.
struct History {
  const char* table;
  void (*expire_default)(Run&, std::chrono::hours kept);
  std::chrono::hours config::RetentionConfig::*age;
};

template <NameText statement>
void ExpireDefault(Run& run, std::chrono::hours kept) {
  run.InBatches<statement>("kept_h"_a = kept.count());
}

constexpr History kHistory[] = {
    {"event", ExpireDefault<"event_default_expire">, &config::RetentionConfig::events},
    {"check_log", ExpireDefault<"check_log_default_expire">, &config::RetentionConfig::check_log},
    {"tick", ExpireDefault<"tick_default_expire">, &config::RetentionConfig::check_log},
    {"delivery_attempt", ExpireDefault<"delivery_attempt_default_expire">,
     &config::RetentionConfig::attempts},
    {"snapshot", ExpireDefault<"snapshot_default_expire">, &config::RetentionConfig::snapshots}};

// The tables do not depend on each other either: what fails for one is thrown at the end.
void ForEachHistory(const std::function<void(const History&)>& work) {
  std::exception_ptr failure;
  for (const History& history : kHistory) {
    try {
      work(history);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// `span` is week or day: what a partition of the table holds.
void EnsurePartitionsOf(Run& run, const char* table, const char* span, int spans) {
  std::vector<base::Timestamp> weeks;
  run.Locked([&](Transaction& tx) {
    weeks = ReadEach<base::Timestamp>(
        tx.Exec<"partitions_missing">("table"_a = table, "spans"_a = spans, "span"_a = span));
  });
  for (const base::Timestamp week : weeks) {
    const std::string name = std::string(table) + " " + base::FormatTimestamp(week);
    if (run.state.weeks_left.contains(name)) continue;
    bool made = true;
    run.Locked([&](Transaction& tx) {
      made = ReadOne<bool>(tx.Exec<"partition_ensure">("table"_a = table, "week"_a = week,
                                                       "moved_rows_max"_a = kMovedRowsMax));
    });
    if (!made) run.state.weeks_left.insert(name);
  }
}

void EnsurePartitions(Run& run) {
  // What jobs have made is no history: it is dropped with them (store/jobs/keeper.h).
  EnsurePartitionsOf(run, "job_part", "day", kJobPartDays);
  EnsurePartitionsOf(run, "run_key", "day", kJobPartDays);
  ForEachHistory(
      [&](const History& history) { EnsurePartitionsOf(run, history.table, "week", kWeeks); });
}

void DropOldPartitions(Run& run) {
  ForEachHistory([&](const History& history) {
    std::vector<std::string> old;
    run.Locked([&](Transaction& tx) {
      old = ReadEach<std::string>(tx.Exec<"partitions_old">(
          "table"_a = history.table, "kept_h"_a = (run.retention.*history.age).count()));
    });
    for (const std::string& partition : old) {
      if (run.state.stopping) return;
      if (!DropPartition(run.session, history.table, partition, &run.state.in_use)) return;
    }
  });
}

void EmptyDefaultPartitions(Run& run) {
  ForEachHistory(
      [&](const History& history) { history.expire_default(run, run.retention.*history.age); });
}

void ForgetEndpoints(Run& run) {
  base::Uuid after;
  for (bool more = true; more;) {
    more = false;
    run.Locked([&](Transaction& tx) {
      std::vector<base::Uuid> unused;
      const auto page = tx.Exec<"endpoint_page">("after"_a = after, "limit"_a = kBatchRows);
      base::Uuid last;
      for (const auto& row : page) {
        bool used = false;
        Columns(row).Into("id"_a = &last, "used"_a = &used);
        if (!used) unused.push_back(last);
      }
      if (!unused.empty()) tx.Exec<"endpoint_forget">("ids"_a = unused);
      if (page.size() < static_cast<std::size_t>(kBatchRows)) return;
      after = last;
      more = true;
    });
  }
}

// What a monitor has seen goes with its history's partitions; then the monitor itself may go.
void ForgetDeletedMonitors(Run& run) {
  const auto kept =
      std::max({run.retention.events, run.retention.check_log, run.retention.snapshots});
  run.InBatches<"deleted_rows_expire">("kept_h"_a = kept.count());
  run.InBatches<"deleted_monitors_expire">("kept_h"_a = kept.count());
}

struct Task {
  std::string_view name;
  std::chrono::hours every;  // 0: each time
  void (*run)(Run&);
};

constexpr Task kTasks[] = {
    {"partitions", {}, EnsurePartitions},
    {"retention", {}, DropOldPartitions},
    {"default_partitions", kSeldom, EmptyDefaultPartitions},
    {"idempotency_keys",
     {},
     [](Run& run) {
       run.InBatches<"idempotency_expire_all">("kept_h"_a = run.retention.idempotency_keys.count());
     }},
    {"renders", {}, [](Run& run) { run.InBatches<"render_expire">(); }},
    {"rate_windows", {}, [](Run& run) { run.InBatches<"rate_window_expire">(); }},
    {"tokens",
     {},
     [](Run& run) {
       run.InBatches<"access_token_expire">();
       run.InBatches<"invitation_expire">();
       run.InBatches<"onetime_expire">();
       run.InBatches<"console_session_expire">();
       run.InBatches<"assertion_expire">();
     }},
    {"dead_deliveries",
     {},
     [](Run& run) {
       run.InBatches<"dead_expire">("kept_h"_a = run.retention.dead.count());
       run.InBatches<"digest_expire">("kept_h"_a = run.retention.dead.count());
       run.InBatches<"notice_expire">("kept_h"_a = run.retention.dead.count());
     }},
    {"audit",
     {},
     [](Run& run) { run.InBatches<"audit_expire">("kept_h"_a = run.retention.audit.count()); }},
    {"uploads", {}, [](Run& run) { DeleteExpiredUploads(run.session, kUploadsMax); }},
    {"deleted_monitors", kSeldom, ForgetDeletedMonitors},
    {"snapshot_contents", kSeldom,
     [](Run& run) {
       run.InBatches<"snapshot_content_expire">("kept_h"_a = run.retention.snapshots.count());
       run.InBatches<"failed_page_expire">("kept_h"_a = run.retention.snapshots.count());
     }},
    {"endpoints", kSeldom, ForgetEndpoints},
    {"search_imports",
     {},
     [](Run& run) { run.InBatches<"search_expire">("kept_h"_a = kSearchImportsKept.count()); }},
    {"email_facts", {}, [](Run& run) { run.InBatches<"email_fact_expire">(); }},
    {"domain_patterns", kSeldom,
     [](Run& run) {
       run.InBatches<"domain_pattern_expire">("kept_h"_a = run.retention.domain_patterns.count());
       run.InBatches<"company_domain_expire">("kept_h"_a = run.retention.domain_patterns.count());
     }},
    {"mail_facts", kSeldom,
     [](Run& run) {
       run.InBatches<"mail_domain_expire">("kept_h"_a = run.retention.mail_facts.count());
       run.InBatches<"mail_host_expire">("kept_h"_a = run.retention.mail_facts.count());
       run.InBatches<"mail_budget_expire">();
     }},
};

constexpr auto kTaskNames = [] {
  std::array<std::string_view, std::size(kTasks)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kTasks[i].name;
  return names;
}();

}  // namespace

int DeleteExpiredUploads(Session& session, int uploads_max) {
  return InTransaction(session, [&](Transaction& tx) {
    return static_cast<int>(
        tx.Exec<"upload_delete_expired">("limit"_a = uploads_max).affected_rows());
  });
}

MaintenanceRun Maintain(Session& session, const config::RetentionConfig& retention,
                        MaintenanceState* state) {
  MaintenanceRun result;
  for (const Task& task : kTasks) {
    if (state->stopping) break;
    const auto now = session.impl().clock.SinceBoot();
    const auto ran = state->ran_at.find(task.name);
    if (task.every.count() > 0 && ran != state->ran_at.end() && now - ran->second < task.every) {
      continue;
    }
    Run run{session, retention, *state};
    try {
      task.run(run);
      if (task.every.count() > 0 && run.mine) state->ran_at[task.name] = now;
    } catch (const std::exception&) {
      if (session.impl().connection == nullptr) throw;
      result.failures.push_back({task.name, CurrentFailure()});
    }
    result.mine = result.mine && run.mine;
  }
  return result;
}

std::span<const std::string_view> MaintenanceTasks() {
  return kTaskNames;
}

}  // namespace vedette::store
