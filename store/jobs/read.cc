#include "store/jobs/read.h"

#include "domain/job_wait.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

JobView ReadView(const pqxx::row& row) {
  JobView job;
  Columns(row).Into(&job.id, &job.org_id, &job.team_id, &job.kind, &job.status, &job.status_reason,
                    &job.error, &job.caller.kind, &job.caller.id, &job.estimate_mc,
                    &job.reserved_mc, &job.charged_mc, &job.created_at, &job.started_at,
                    &job.deadline_at, &job.finished_at, &job.rows_done, &job.rows_total,
                    &job.waiting_until);
  if (job.waiting_until) job.status_reason = domain::kReasonWaitingForMailBudget;
  return job;
}

std::optional<JobView> FindJob(Transaction& tx, const Scope& scope, const base::Uuid& job_id) {
  const auto found = tx.Exec("job_get", job_id, scope.org_id, scope.team_id);
  if (found.empty()) return std::nullopt;
  return ReadView(found[0]);
}

std::optional<LookupView> FindLookup(Transaction& tx, const Scope& scope,
                                     const base::Uuid& job_id) {
  auto job = FindJob(tx, scope, job_id);
  if (!job) return std::nullopt;
  LookupView lookup{std::move(*job), {}, {}};
  const auto found = tx.Exec("job_get_lookup", job_id);
  Columns(found.at(0)).Into(&lookup.params_json, &lookup.rows_json);
  // It ended between the two statements: the caller is told that it is still open.
  if (!lookup.job.finished_at) lookup.rows_json.reset();
  return lookup;
}

}  // namespace

std::optional<JobView> GetJob(Session& session, const Scope& scope, const base::Uuid& job_id) {
  return Read(session, [&](Transaction& tx) { return FindJob(tx, scope, job_id); });
}

std::optional<LookupView> GetLookup(Session& session, const Scope& scope,
                                    const base::Uuid& job_id) {
  return InTransaction(session, [&](Transaction& tx) { return FindLookup(tx, scope, job_id); });
}

std::optional<LookupView> GetLookup(Session& session, const base::Clock& clock,
                                    const base::Uuid& job_id, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    auto lookup = FindLookup(tx, {}, job_id);
    if (!lookup) return lookup;
    AuditEntry entry = audit;
    entry.org_id = lookup->job.org_id;
    InsertAudit(tx, clock, entry);
    return lookup;
  });
}

std::map<base::Uuid, domain::EndedLookup> ReadEndedLookups(Session& session,
                                                           const std::vector<base::Uuid>& job_ids) {
  return Read(session, [&](Transaction& tx) {
    std::map<base::Uuid, domain::EndedLookup> ended;
    for (const auto& row : tx.Exec("job_callbacks", job_ids)) {
      domain::EndedLookup lookup;
      Columns(row).Into(&lookup.id, &lookup.kind, &lookup.status, &lookup.status_reason,
                        &lookup.error, &lookup.charged_mc, &lookup.created_at, &lookup.finished_at,
                        &lookup.params_json, &lookup.rows_json);
      ended.emplace(lookup.id, std::move(lookup));
    }
    return ended;
  });
}

std::vector<base::Uuid> ReadEndedJobs(Session& session, const std::vector<base::Uuid>& job_ids) {
  return Read(session,
              [&](Transaction& tx) { return ReadEach<base::Uuid>(tx.Exec("job_ended", job_ids)); });
}

std::vector<JobBlockView> ReadJobBlocks(Session& session, const base::Uuid& job_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobBlockView> blocks;
    for (const auto& row : tx.Exec("job_blocks_read", job_id)) {
      JobBlockView& b = blocks.emplace_back();
      Columns(row).Into(&b.block, &b.type, &b.input, &b.lane, &b.status, &b.error, &b.last_error,
                        &b.rows_total, &b.parts_total, &b.opened, &b.parts_done, &b.part_window,
                        &b.rows_done, &b.rows_out, &b.row_errors, &b.rows_charged, &b.started_at,
                        &b.updated_at, &b.finished_at);
    }
    return blocks;
  });
}

std::vector<JobChunkView> ReadJobChunks(Session& session, const base::Uuid& job_id, int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobChunkView> chunks;
    for (const auto& row : tx.Exec("job_chunks_read", job_id, limit)) {
      JobChunkView& c = chunks.emplace_back();
      Columns(row).Into(&c.id, &c.lane, &c.rank, &c.block, &c.part, &c.claims, &c.progress,
                        &c.suspect, &c.leased, &c.available_at, &c.due_at, &c.last_error);
    }
    return chunks;
  });
}

std::vector<JobView> ListJobs(Session& session, const JobFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobView> jobs;
    for (const auto& row :
         tx.Exec("job_list", filter.before.value_or(base::Uuid::Last()), filter.scope.org_id,
                 filter.scope.team_id, filter.kind, filter.status, filter.limit)) {
      jobs.push_back(ReadView(row));
    }
    return jobs;
  });
}

std::set<domain::Lane> ReadServedLanes(Session& session) {
  return Read(session, [&](Transaction& tx) {
    std::set<domain::Lane> lanes;
    for (const auto& name :
         ReadEach<std::string>(tx.Exec("job_lane_served", kLaneMemberFresh.count()))) {
      if (const auto lane = domain::ParseLane(name)) lanes.insert(*lane);
    }
    return lanes;
  });
}

}  // namespace vedette::store
