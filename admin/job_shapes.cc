#include "admin/job_shapes.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "admin/shapes.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "domain/job.h"
#include "domain/money.h"
#include "domain/names.h"
#include "domain/people/people_request.h"
#include "domain/principal.h"

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

// As the start of a waited job sees it: alive, and staying.
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
    json.push_back({{"lead", rows[i].lead}, {"result", cells[i]}});
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

}  // namespace vedette::admin
