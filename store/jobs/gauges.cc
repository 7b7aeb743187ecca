#include "store/jobs/gauges.h"

#include <cstddef>
#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

// The database tells of the lanes that have chunks.
std::vector<LaneGauges> Lanes(Transaction& tx) {
  std::vector<LaneGauges> lanes(domain::kLaneCount);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].lane = static_cast<domain::Lane>(i);
  for (const auto& row : tx.Exec<"job_lane_gauges">()) {
    LaneGauges lane;
    Columns(row).Into("lane"_a = &lane.lane, "due"_a = &lane.due, "leased"_a = &lane.leased,
                      "waiting"_a = &lane.waiting, "oldest_due"_a = &lane.oldest_due);
    lanes.at(static_cast<std::size_t>(lane.lane)) = lane;
  }
  return lanes;
}

JobGauges Jobs(Transaction& tx) {
  JobGauges gauges;
  for (const auto& row : tx.Exec<"job_gauges">("limit"_a = kOpenJobsCountedMax)) {
    OpenJobs& open = gauges.open.emplace_back();
    Columns(row).Into("kind"_a = &open.kind, "status"_a = &open.status, "jobs"_a = &open.jobs,
                      "overdue"_a = &gauges.overdue);
  }
  return gauges;
}

std::vector<WaitingOrganisation> Waiting(Transaction& tx, int limit) {
  std::vector<WaitingOrganisation> waiting;
  for (const auto& row :
       tx.Exec<"job_waiting_orgs">("jobs_max"_a = kOpenJobsCountedMax, "limit"_a = limit)) {
    WaitingOrganisation& org = waiting.emplace_back();
    Columns(row).Into("id"_a = &org.org_id, "name"_a = &org.name, "jobs"_a = &org.jobs);
  }
  return waiting;
}

}  // namespace

std::vector<LaneGauges> ReadLaneGauges(Session& session) {
  return Read(session, Lanes);
}

JobGauges ReadJobGauges(Session& session) {
  return Read(session, Jobs);
}

std::chrono::microseconds ReadOldestQueuedRun(Session& session) {
  return Read(session, [](Transaction& tx) {
    return ReadOne<std::chrono::microseconds>(
        tx.Exec<"run_oldest_queued">("limit"_a = kOpenJobsCountedMax));
  });
}

std::vector<WaitingOrganisation> ReadWaitingOrganisations(Session& session, int limit) {
  return Read(session, [&](Transaction& tx) { return Waiting(tx, limit); });
}

JobOverview ReadJobOverview(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    return JobOverview{Lanes(tx), Jobs(tx), Waiting(tx, JobOverview::kWaitingShown)};
  });
}

}  // namespace vedette::store
