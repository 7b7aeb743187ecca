#include "api/operator/job_json.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/operator/admin_json.h"
#include "base/json.h"
#include "domain/auth/principal.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "domain/job/block_progress.h"
#include "domain/job/job.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"
#include "domain/people/people_request.h"
#include "store/jobs/runs.h"

namespace vedette::admin {
namespace {

template <typename Number>
base::Json NumberJson(const std::optional<Number>& number) {
  return number ? base::Json(*number) : base::Json(nullptr);
}

base::Json BlockJson(const store::JobBlockView& block) {
  return {
      {"block", block.block},
      {"type", block.type},
      {"lane", domain::LaneName(block.lane)},
      {"input", NumberJson(block.input)},
      {"status", domain::BlockStatusName(block.status)},
      {"parts_total", block.parts_total},
      {"parts_opened", block.opened},
      {"parts_done", block.parts_done},
      {"rows_total", NumberJson(block.rows_total)},
      {"rows_done", block.rows_done},
      {"rows_out", block.rows_out},
      {"row_errors", block.row_errors},
      {"rows_charged", block.rows_charged},
      {"started_at", TimeJson(block.started_at)},
      {"updated_at", TimeJson(block.updated_at)},
      {"error", TextJson(block.error)},
      {"last_error", TextJson(block.last_error)},
  };
}

base::Json ChunkJson(const store::JobChunkView& chunk) {
  return {
      {"id", chunk.id.ToString()},
      {"block", chunk.block},
      {"part", chunk.part},
      {"lane", domain::LaneName(chunk.lane)},
      {"rank", chunk.rank},
      {"leased", chunk.leased},
      {"claims", chunk.claims},
      {"progress", chunk.progress},
      {"suspect", NumberJson(chunk.suspect)},
      {"due_at", TimeJson(chunk.due_at)},
      {"available_at", TimeJson(chunk.available_at)},
      {"last_error", TextJson(chunk.last_error)},
  };
}

// Without what is the same for all deliveries of one job.
base::Json DeliveryOfJobJson(const store::DeliveryView& delivery) {
  return {
      {"id", delivery.id.ToString()},
      {"state", domain::DeliveryStateName(delivery.state)},
      {"type", domain::NotificationTypeName(delivery.type)},
      {"attempts", delivery.attempts},
      {"next_attempt_at", TimeJson(delivery.next_attempt_at)},
      {"waiting_for", WaitingForJson(delivery)},
      {"created_at", TimeJson(delivery.created_at)},
      {"last_error", TextJson(delivery.last_error)},
  };
}

template <typename T>
base::Json ListJson(const std::vector<T>& items, base::Json (*to_json)(const T&)) {
  base::Json list = base::Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

// Alive and staying, as the start of a waited job sees it.
bool Serves(const store::MemberView& member, std::string_view lane) {
  return !member.draining && member.heartbeat_age < store::kLaneMemberFresh &&
         std::find(member.lanes.begin(), member.lanes.end(), lane) != member.lanes.end();
}

base::Json WaitsOf(const store::MemberView& member) {
  const base::Json counters = base::ParseJsonOrThrow(member.counters);
  const auto waits = counters.find("waits");  // none, before the member has counted
  return waits == counters.end() ? base::Json(nullptr) : *waits;
}

}  // namespace

base::Json JobJson(const store::JobView& job) {
  return {
      {"id", job.id.ToString()},
      {"kind", domain::JobKindName(job.kind)},
      {"status", domain::JobStatusName(job.status)},
      {"status_reason", TextJson(job.status_reason)},
      {"waiting_until", TimeJson(job.waiting_until)},
      {"error", TextJson(job.error)},
      {"org_id", job.org_id.ToString()},
      {"team_id", IdJson(job.team_id)},
      {"caller",
       {{"kind", domain::PrincipalKindName(job.caller.kind)}, {"id", job.caller.id.ToString()}}},
      {"estimate", domain::CreditsToJson(job.estimate_mc)},
      {"reserved", domain::CreditsToJson(job.reserved_mc)},
      {"charged", domain::CreditsToJson(job.charged_mc)},
      {"created_at", TimeJson(job.created_at)},
      {"started_at", TimeJson(job.started_at)},
      {"deadline_at", TimeJson(job.deadline_at)},
      {"finished_at", TimeJson(job.finished_at)},
  };
}

base::Json LookupRowsJson(const store::LookupView& lookup) {
  std::vector<domain::FindRow> rows;
  switch (lookup.job.kind) {
    case domain::JobKind::kFindEmail:
    case domain::JobKind::kFindEmailBulk:
      rows = domain::ReadFindRequest(lookup.params_json).rows;
      break;
    case domain::JobKind::kReverseEmail:
    case domain::JobKind::kReverseEmailBulk:
    case domain::JobKind::kVerifyAge:
      rows = domain::ReadPeopleRequest(lookup.params_json).rows;
      break;
    case domain::JobKind::kInvestigation:
    case domain::JobKind::kWorkflow:
      return nullptr;
  }
  const base::Json cells = domain::RecordedCells(lookup.rows_json, rows.size());
  base::Json json = base::Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.push_back({{"lead", rows[i].lead.Value()}, {"result", cells[i]}});
  }
  return json;
}

base::Json JobDetailJson(const JobDetail& detail) {
  base::Json json = JobJson(detail.job);
  json["blocks"] = ListJson(detail.blocks, BlockJson);
  json["chunks"] = ListJson(detail.chunks, ChunkJson);
  json["deliveries"] = ListJson(detail.deliveries, DeliveryOfJobJson);
  return json;
}

base::Json JobsOverviewJson(const store::JobOverview& jobs,
                            const std::vector<store::MemberView>& members) {
  base::Json open = base::Json::array();
  for (const store::OpenJobs& some : jobs.jobs.open) {
    open.push_back({{"kind", domain::JobKindName(some.kind)},
                    {"status", domain::JobStatusName(some.status)},
                    {"jobs", some.jobs}});
  }
  base::Json lanes = base::Json::array();
  for (const store::LaneGauges& lane : jobs.lanes) {
    const std::string_view name = domain::LaneName(lane.lane);
    const auto oldest = std::chrono::duration_cast<std::chrono::milliseconds>(lane.oldest_due);
    lanes.push_back(
        {{"lane", name},
         {"due", lane.due},
         {"leased", lane.leased},
         {"waiting", lane.waiting},
         {"oldest_due_age_ms", lane.due > 0 ? base::Json(oldest.count()) : base::Json()},
         {"members", std::count_if(members.begin(), members.end(),
                                   [&](const auto& m) { return Serves(m, name); })}});
  }
  const auto overdue = std::chrono::duration_cast<std::chrono::milliseconds>(jobs.jobs.overdue);
  return {{"overdue_ms", overdue.count()}, {"open", std::move(open)}, {"lanes", std::move(lanes)}};
}

base::Json WaitsOverviewJson(const store::JobOverview& jobs,
                             const std::vector<store::MemberView>& members) {
  std::int64_t used = 0;
  std::int64_t max = 0;
  for (const store::MemberView& member : members) {
    if (member.heartbeat_age >= store::kLaneMemberFresh) continue;  // nobody waits in it any more
    const base::Json waits = WaitsOf(member);
    if (waits.is_null()) continue;
    used += waits.value("used", std::int64_t{0});
    max += waits.value("max", std::int64_t{0});
  }
  base::Json organisations = base::Json::array();
  for (const store::WaitingOrganisation& org : jobs.waiting) {
    organisations.push_back(
        {{"org_id", org.org_id.ToString()}, {"name", org.name}, {"jobs", org.jobs}});
  }
  return {{"used", used}, {"max", max}, {"organisations", std::move(organisations)}};
}

base::Json MemberJobsJson(const store::MemberView& member) {
  return {{"lanes", member.lanes}, {"waits", WaitsOf(member)}};
}

namespace {

// The block whose rows the block shows as its own.
const store::JobBlockView& RowsOf(const RunShown& shown, std::size_t block) {
  const int rows = domain::RowsOf(shown.graph, static_cast<int>(block));
  return shown.detail.blocks.at(static_cast<std::size_t>(rows));
}

// What the block is called beside what a job's block has.
void AddGraph(const RunShown& shown, std::size_t block, int per_mille, base::Json* json) {
  const domain::ShownBlock& in_graph = shown.graph.blocks.at(block);
  const domain::BlockStatus status = shown.detail.blocks.at(block).status;
  const bool unfinished =
      status == domain::BlockStatus::kPending || status == domain::BlockStatus::kRunning;
  base::Json previous = base::Json::array();
  if (in_graph.input) {
    previous.push_back(shown.graph.blocks.at(static_cast<std::size_t>(*in_graph.input)).id);
  }
  if (unfinished && shown.run.finished_at) (*json)["status"] = "cancelled";
  (*json)["block_id"] = in_graph.id;
  (*json)["type"] = in_graph.name;  // a lookup's own is that of its runner, "row_find_email"
  (*json)["sequence_number"] = in_graph.sequence_number;
  (*json)["previous_block_ids"] = std::move(previous);
  (*json)["progress_percentage"] = per_mille / domain::kPerMilleInPercent;
  (*json)["rows_out"] = RowsOf(shown, block).rows_out;
}

base::Json FilesJson(const RunShown& shown) {
  base::Json files = base::Json::array();
  for (const RunFile& file : shown.files) {
    const auto block = static_cast<std::size_t>(file.block);
    files.push_back({{"block", file.block},
                     {"block_name", shown.graph.blocks.at(block).name},
                     {"rows", shown.detail.blocks.at(block).rows_out},
                     {"filename", file.filename},
                     {"url", TextJson(file.url)}});
  }
  return files;
}

}  // namespace

base::Json RunJson(const store::RunItem& item) {
  const store::RunView& run = item.run;
  return {
      {"id", run.id.ToString()},
      {"workflow_id", run.workflow_id.ToString()},
      {"workflow_name", run.workflow_name},
      {"status", domain::JobStatusName(run.status)},
      {"status_reason", TextJson(run.status_reason)},
      {"error", TextJson(run.error)},
      {"org_id", run.org_id.ToString()},
      {"blocks", item.blocks},
      {"rows_in", item.rows_in},
      {"rows_out", item.rows_out},
      {"row_errors", item.row_errors},
      {"charged", domain::CreditsToJson(run.charged_mc)},
      {"created_at", TimeJson(run.created_at)},
      {"started_at", TimeJson(run.started_at)},
      {"finished_at", TimeJson(run.finished_at)},
      {"schedule_id", base::OrNull(run.schedule_id)},
      {"scheduled_at", TimeJson(run.scheduled_at)},
  };
}

base::Json RunShownJson(const RunShown& shown) {
  base::Json json = JobDetailJson(shown.detail);
  const std::vector<int> per_mille = store::RunPerMille(shown.graph, shown.detail.blocks);
  for (std::size_t block = 0; block < shown.graph.blocks.size(); ++block) {
    AddGraph(shown, block, per_mille.at(block), &json["blocks"][block]);
  }
  json["workflow_id"] = shown.run.workflow_id.ToString();
  json["workflow_name"] = shown.run.workflow_name;
  json["schedule_id"] = base::OrNull(shown.run.schedule_id);
  json["scheduled_at"] = TimeJson(shown.run.scheduled_at);
  json["progress_percentage"] = domain::MeanPerMille(per_mille) / domain::kPerMilleInPercent;
  json["files"] = FilesJson(shown);
  return json;
}

}  // namespace vedette::admin
