#include "store/jobs/monitor_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "domain/workflow/bound_specs.h"
#include "domain/workflow/monitor_rows.h"
#include "store/monitors/control.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::MonitorStatus;

// A row of run_monitor_block.
struct MonitorBlock {
  std::string specs_json;
  std::optional<std::string> webhook_url;
  std::optional<base::Uuid> endpoint_id;
  std::optional<base::Uuid> monitor_id;
  std::string frame;
};
MonitorBlock ReadMonitorBlock(Transaction& tx, const base::Uuid& job_id, int block) {
  MonitorBlock read;
  Columns(tx.Exec<"run_monitor_block">("job_id"_a = job_id, "block"_a = block).at(0))
      .Into("specs"_a = &read.specs_json, "webhook_url"_a = &read.webhook_url,
            "endpoint_id"_a = &read.endpoint_id, "monitor_id"_a = &read.monitor_id,
            "frame"_a = &read.frame);
  return read;
}

NewMonitor Compose(const LockedJob& job, const MonitorBlock& block) {
  domain::MonitorOrder order =
      domain::ReadMonitorOrder(domain::ReadBoundSpecs(block.specs_json).specs);
  NewMonitor monitor;
  monitor.org_id = job.payer.org_id;
  monitor.team_id = job.payer.team_id;
  monitor.name = std::move(order.name);
  monitor.frequency_text = std::move(order.frequency_text);
  monitor.frequency = order.frequency;
  monitor.tier = order.tier;
  monitor.subject_type = domain::ParseFrame(block.frame) == domain::Frame::kLead
                             ? domain::SubjectType::kLead
                             : domain::SubjectType::kCompany;
  monitor.key_columns = std::move(order.key_columns);
  monitor.struct_json = std::move(order.struct_json);
  monitor.research_plan = std::move(order.research_plan);
  monitor.metadata_json = std::move(order.metadata_json);
  if (block.webhook_url) monitor.webhook = Webhook{*block.webhook_url, {}};
  monitor.endpoint_id = block.endpoint_id;
  monitor.webhook_event_types = std::move(order.webhook_event_types);
  monitor.confirm_after = order.confirm_after;
  monitor.missing_confirmations = order.missing_confirmations;
  monitor.run_id = job.id.ToString();
  return monitor;
}

const JobMonitorRows* RowsIn(const JobChunkRecord& record) {
  const auto* end = std::get_if<JobPartEnd>(&record.what);
  return end == nullptr || !end->monitor ? nullptr : &*end->monitor;
}

}  // namespace

void AddMonitorRows(Transaction& tx, const base::Clock& clock, const LockedJob& job,
                    const std::vector<const JobChunkRecord*>& records) {
  for (const JobChunkRecord* record : records) {
    const JobMonitorRows* made = RowsIn(*record);
    if (made == nullptr) continue;
    const MonitorBlock block = ReadMonitorBlock(tx, job.id, record->block);
    if (!block.monitor_id) {
      AddMonitor(tx, clock, Compose(job, block), made->monitor_id, MonitorStatus::kStarting);
      tx.Exec<"run_monitor_made">("job_id"_a = job.id, "block"_a = record->block,
                                  "monitor_id"_a = made->monitor_id);
    }
    if (made->rows.empty()) continue;
    LockMonitor(tx, Scope{}, made->monitor_id);
    const int first = ReadOne<int>(tx.Exec<"row_counts">("monitor_id"_a = made->monitor_id));
    InsertRows(tx, made->monitor_id, job.payer.org_id, made->rows, made->row_ids, first);
    tx.Exec<"row_counts_add">("monitor_id"_a = made->monitor_id, "added"_a = made->rows.size());
  }
}

bool ActivateMonitors(Transaction& tx, const LockedJob& job,
                      const std::vector<const JobChunkRecord*>& records,
                      const std::vector<int>& completed) {
  bool any = false;
  for (const JobChunkRecord* record : records) {
    const JobMonitorRows* made = RowsIn(*record);
    const bool is_completed =
        std::find(completed.begin(), completed.end(), record->block) != completed.end();
    if (made == nullptr || !is_completed) continue;
    const auto monitor = LockMonitor(tx, Scope{}, made->monitor_id);
    if (!monitor || monitor->status != MonitorStatus::kStarting) continue;
    if (ReadOne<int>(tx.Exec<"row_counts">("monitor_id"_a = made->monitor_id)) == 0) {
      SetMonitorStatus(tx, made->monitor_id, MonitorStatus::kFailed,
                       fmt::format("no row of the run {} came to it", job.id.ToString()));
      continue;
    }
    SetMonitorStatus(tx, made->monitor_id, MonitorStatus::kActive, std::nullopt);
    tx.Exec<"import_start_schedule">("monitor_id"_a = made->monitor_id);
    any = true;
  }
  return any;
}

void FailMonitors(Transaction& tx, const LockedJob& job) {
  for (const auto& id : ReadEach<base::Uuid>(tx.Exec<"run_monitors_of">("job_id"_a = job.id))) {
    const auto monitor = LockMonitor(tx, Scope{}, id);
    if (!monitor || monitor->status != MonitorStatus::kStarting) continue;
    SetMonitorStatus(
        tx, id, MonitorStatus::kFailed,
        fmt::format("the run {} ended as {} before all of its rows were here", job.id.ToString(),
                    domain::JobStatusName(domain::RunStatus(job.status))));
  }
}

}  // namespace vedette::store
