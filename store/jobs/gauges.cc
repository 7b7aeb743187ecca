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
  for (const auto& row : tx.Exec("job_lane_gauges")) {
    LaneGauges lane;
    Columns(row).Into(&lane.lane, &lane.due, &lane.leased, &lane.waiting, &lane.oldest_due);
    lanes.at(static_cast<std::size_t>(lane.lane)) = lane;
  }
  return lanes;
}

JobGauges Jobs(Transaction& tx) {
  JobGauges gauges;
  for (const auto& row : tx.Exec("job_gauges", kOpenJobsCountedMax)) {
    OpenJobs& open = gauges.open.emplace_back();
    Columns(row).Into(&open.kind, &open.status, &open.jobs, &gauges.overdue);
  }
  return gauges;
}

std::vector<WaitingOrganisation> Waiting(Transaction& tx, int limit) {
  std::vector<WaitingOrganisation> waiting;
  for (const auto& row : tx.Exec("job_waiting_orgs", kOpenJobsCountedMax, limit)) {
    WaitingOrganisation& org = waiting.emplace_back();
    Columns(row).Into(&org.org_id, &org.name, &org.jobs);
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
    return ReadOne<std::chrono::microseconds>(tx.Exec("run_oldest_queued", kOpenJobsCountedMax));
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
