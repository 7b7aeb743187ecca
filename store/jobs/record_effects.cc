#include "store/jobs/locked_job_sql.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/json.h"
#include "domain/investigation/finding.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/blocks/blocks.h"
#include "store/monitors/control.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::Finding;
using domain::FindingKind;
using domain::Subject;

struct Investigation {
  std::set<Subject> seeds;
  int depth = 1;
  std::int64_t findings_max = 0;
  std::optional<int> subjects_max;
  int subjects = 0;
  std::int64_t next_seq = 1;
  bool budget_reached = false;

  std::int64_t room() const { return findings_max - (next_seq - 1); }
};

Investigation LockInvestigation(Transaction& tx, const base::Uuid& id) {
  Investigation locked;
  std::string seeds;
  Columns(tx.Exec<"investigation_lock">("id"_a = id).at(0))
      .Into("seeds"_a = &seeds, "depth"_a = &locked.depth, "findings_max"_a = &locked.findings_max,
            "subjects_max"_a = &locked.subjects_max, "subjects"_a = &locked.subjects,
            "next_seq"_a = &locked.next_seq, "budget_reached"_a = &locked.budget_reached);
  for (const base::Json& seed : base::ParseJsonOrThrow(seeds)) {
    if (domain::IsErasedSubject(seed)) continue;
    locked.seeds.insert(domain::SubjectOf(seed));
  }
  return locked;
}

// The findings of the rows that have ended, in their order.
std::vector<Finding> FindingsOf(const JobChunkRecord& record) {
  base::Json rows = base::Json::array();
  if (const auto* end = std::get_if<JobPartEnd>(&record.what)) {
    rows = base::ParseJsonOrThrow(end->rows_json);
  } else if (const auto* progress = std::get_if<JobPartProgress>(&record.what)) {
    rows = base::ParseJsonOrThrow(progress->done_json)["rows"];
  }
  std::vector<Finding> findings;
  for (const base::Json& row : rows) {
    // Nothing is left of a row that was erased.
    if (row.is_null() || row.at(0).is_null()) continue;
    for (Finding& finding : domain::ReadFindings(base::DumpJson(row.at(0)))) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// Findings by id, of which each is there once.
struct Named {
  base::Uuid id;
  const Finding* finding = nullptr;
};
std::vector<Named> Distinct(const base::Uuid& investigation_id,
                            const std::vector<Finding>& findings) {
  std::vector<Named> named;
  std::set<base::Uuid> seen;
  for (const Finding& finding : findings) {
    const base::Uuid id = domain::FindingId(investigation_id, finding);
    if (seen.insert(id).second) named.push_back({id, &finding});
  }
  return named;
}

constexpr const char* kFullNote =
    " (The investigation ended here: it has as many findings as it may.)";

void InsertFindings(Transaction& tx, const base::Uuid& id, const JobChunkRecord& record,
                    const std::vector<Named>& fresh, Investigation* investigation) {
  Rows<Column<"seq", std::int64_t>, Column<"id", base::Uuid>, Column<"kind", FindingKind>,
       Column<"subject", std::string>, Column<"predicate", std::string>,
       Column<"object", std::optional<std::string>>, Column<"confidence", std::optional<double>>,
       Column<"evidence", std::string>, Column<"sources", std::string>,
       Column<"provider", std::string>, Column<"derived_from", std::vector<base::Uuid>>,
       Column<"block", int>, Column<"part", int>>
      rows;
  for (const Named& one : fresh) {
    const Finding& f = *one.finding;
    std::optional<std::string> object;
    if (f.object) {
      object = base::DumpJson(base::Json{{"type", f.object->type}, {"value", f.object->value}});
    }
    const bool is_last = investigation->next_seq == investigation->findings_max;
    rows.Add(investigation->next_seq++, one.id, f.kind,
             base::DumpJson(domain::SubjectJson(f.subject)), f.predicate, object, f.confidence,
             f.evidence + (is_last ? kFullNote : ""), base::DumpJson(base::Json(f.sources)),
             f.provider, f.derived_from, record.block, record.part);
  }
  if (!rows.empty()) tx.Exec<"finding_insert">("investigation_id"_a = id, rows);
}

// Keeps what is new of one record. Returns the entities that its part has found first, in order.
std::vector<Subject> Keep(Transaction& tx, const base::Uuid& id, const JobChunkRecord& record,
                          Investigation* investigation) {
  const std::vector<Finding> findings = FindingsOf(record);
  const std::vector<Named> named = Distinct(id, findings);
  std::vector<base::Uuid> ids;
  ids.reserve(named.size());
  for (const Named& one : named) ids.push_back(one.id);
  std::set<base::Uuid> known;
  std::set<base::Uuid> own;
  for (const auto& row : tx.Exec<"findings_known">("investigation_id"_a = id, "ids"_a = ids,
                         "block"_a = record.block, "part"_a = record.part)) {
    base::Uuid found;
    bool is_own = false;
    Columns(row).Into("id"_a = &found, "is_own"_a = &is_own);
    known.insert(found);
    if (is_own) own.insert(found);
  }
  std::vector<Named> fresh;
  std::vector<Subject> entities;
  for (const Named& one : named) {
    const bool is_known = known.contains(one.id);
    if (!is_known && static_cast<std::int64_t>(fresh.size()) == investigation->room()) {
      investigation->budget_reached = true;
      break;
    }
    if (!is_known) fresh.push_back(one);
    const Finding& finding = *one.finding;
    const bool is_first = !is_known || own.contains(one.id);
    const bool is_next =
        is_first && finding.kind == FindingKind::kEntity &&
        finding.is_expandable.value_or(domain::IsExpandable(finding.subject.type)) &&
        !investigation->seeds.contains(finding.subject);
    if (is_next) entities.push_back(finding.subject);
  }
  InsertFindings(tx, id, record, fresh, investigation);
  return entities;
}

// What the next block looks at: as many as a part and the budget have room for.
void PassOn(std::vector<Subject> entities, Investigation* investigation, JobChunkRecord* record) {
  auto& end = std::get<JobPartEnd>(record->what);
  if (record->block + 1 >= investigation->depth) entities.clear();
  std::size_t room = domain::kPartRowsMax;
  if (investigation->subjects_max) {
    room = std::min(room, static_cast<std::size_t>(
                              std::max(0, *investigation->subjects_max - investigation->subjects)));
    if (entities.size() > room) investigation->budget_reached = true;
  }
  if (entities.size() > room) entities.resize(room);
  investigation->subjects += static_cast<int>(entities.size());
  base::Json rows = base::Json::array();
  for (const Subject& subject : entities) {
    rows.push_back(base::Json::array({domain::SubjectJson(subject)}));
  }
  end.row_count = static_cast<int>(rows.size());
  end.rows_json = base::DumpJson(rows);
}

}  // namespace

RecordedFindings RecordFindings(Transaction& tx, const base::Uuid& job_id,
                                const std::vector<const JobChunkRecord*>& records) {
  Investigation investigation = LockInvestigation(tx, job_id);
  RecordedFindings recorded;
  for (const JobChunkRecord* record : records) {
    JobChunkRecord& copy = recorded.records.emplace_back(*record);
    std::vector<Subject> entities = Keep(tx, job_id, copy, &investigation);
    if (std::holds_alternative<JobPartEnd>(copy.what)) {
      PassOn(std::move(entities), &investigation, &copy);
    }
  }
  if (investigation.room() == 0) {
    investigation.budget_reached = true;
    recorded.ending = JobEnding{domain::JobStatus::kCompleted, std::nullopt, std::nullopt};
  }
  tx.Exec<"investigation_save">("job_id"_a = job_id, "subjects"_a = investigation.subjects,
                                "next_seq"_a = investigation.next_seq,
                                "budget_reached"_a = investigation.budget_reached);
  return recorded;
}

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
  monitor.org_id = job.account.org_id;
  monitor.team_id = job.account.team_id;
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
    InsertRows(tx, made->monitor_id, job.account.org_id, made->rows, made->row_ids, first);
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
