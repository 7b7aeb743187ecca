#include "store/jobs/read.h"

#include "domain/job/job.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

JobView ReadView(const pqxx::row& row) {
  JobView job;
  Columns(row).Into("id"_a = &job.id, "org_id"_a = &job.org_id, "team_id"_a = &job.team_id,
                    "kind"_a = &job.kind, "status"_a = &job.status,
                    "status_reason"_a = &job.status_reason, "error"_a = &job.error,
                    "caller_kind"_a = &job.caller.kind, "caller_id"_a = &job.caller.id,
                    "estimate_mc"_a = &job.estimate_mc, "reserved_mc"_a = &job.reserved_mc,
                    "charged_mc"_a = &job.charged_mc, "created_at"_a = &job.created_at,
                    "started_at"_a = &job.started_at, "deadline_at"_a = &job.deadline_at,
                    "finished_at"_a = &job.finished_at, "rows_done"_a = &job.rows_done,
                    "rows_total"_a = &job.rows_total, "waiting_until"_a = &job.waiting_until);
  if (job.waiting_until) job.status_reason = domain::kReasonWaitingForMailBudget;
  return job;
}

std::optional<JobView> FindJob(Transaction& tx, const Scope& scope, const base::Uuid& job_id) {
  const auto found = tx.Exec<"job_get">("job_id"_a = job_id, "org_id"_a = scope.org_id,
                                        "team_id"_a = scope.team_id);
  if (found.empty()) return std::nullopt;
  return ReadView(found[0]);
}

std::optional<LookupView> FindLookup(Transaction& tx, const Scope& scope,
                                     const base::Uuid& job_id) {
  auto job = FindJob(tx, scope, job_id);
  if (!job) return std::nullopt;
  LookupView lookup{std::move(*job), {}, {}};
  const auto found = tx.Exec<"job_get_lookup">("job_id"_a = job_id);
  Columns(found.at(0)).Into("params"_a = &lookup.params_json, "rows"_a = &lookup.rows_json);
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
    for (const auto& row : tx.Exec<"job_callbacks">("job_ids"_a = job_ids)) {
      domain::EndedLookup lookup;
      Columns(row).Into("id"_a = &lookup.id, "kind"_a = &lookup.kind, "status"_a = &lookup.status,
                        "status_reason"_a = &lookup.status_reason, "error"_a = &lookup.error,
                        "charged_mc"_a = &lookup.charged_mc, "created_at"_a = &lookup.created_at,
                        "finished_at"_a = &lookup.finished_at, "params"_a = &lookup.params_json,
                        "rows"_a = &lookup.rows_json);
      ended.emplace(lookup.id, std::move(lookup));
    }
    return ended;
  });
}

std::vector<base::Uuid> ReadEndedJobs(Session& session, const std::vector<base::Uuid>& job_ids) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"job_ended">("job_ids"_a = job_ids));
  });
}

std::vector<JobBlockView> ReadJobBlocks(Session& session, const base::Uuid& job_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobBlockView> blocks;
    for (const auto& row : tx.Exec<"job_blocks_read">("job_id"_a = job_id)) {
      JobBlockView& b = blocks.emplace_back();
      Columns(row).Into(
          "block"_a = &b.block, "type"_a = &b.type, "input"_a = &b.input, "lane"_a = &b.lane,
          "status"_a = &b.status, "error"_a = &b.error, "last_error"_a = &b.last_error,
          "rows_total"_a = &b.rows_total, "parts_total"_a = &b.parts_total, "opened"_a = &b.opened,
          "parts_done"_a = &b.parts_done, "part_window"_a = &b.part_window,
          "rows_done"_a = &b.rows_done, "rows_out"_a = &b.rows_out, "row_errors"_a = &b.row_errors,
          "rows_charged"_a = &b.rows_charged, "started_at"_a = &b.started_at,
          "updated_at"_a = &b.updated_at, "finished_at"_a = &b.finished_at);
    }
    return blocks;
  });
}

std::vector<JobChunkView> ReadJobChunks(Session& session, const base::Uuid& job_id, int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobChunkView> chunks;
    for (const auto& row : tx.Exec<"job_chunks_read">("job_id"_a = job_id, "limit"_a = limit)) {
      JobChunkView& c = chunks.emplace_back();
      Columns(row).Into("id"_a = &c.id, "lane"_a = &c.lane, "rank"_a = &c.rank,
                        "block"_a = &c.block, "part"_a = &c.part, "claims"_a = &c.claims,
                        "progress"_a = &c.progress, "suspect"_a = &c.suspect,
                        "leased"_a = &c.leased, "available_at"_a = &c.available_at,
                        "due_at"_a = &c.due_at, "last_error"_a = &c.last_error);
    }
    return chunks;
  });
}

std::vector<JobView> ListJobs(Session& session, const JobFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobView> jobs;
    for (const auto& row :
         tx.Exec<"job_list">("before"_a = filter.before.value_or(base::Uuid::Last()),
         "org_id"_a = filter.scope.org_id, "team_id"_a = filter.scope.team_id,
         "kind"_a = filter.kind, "status"_a = filter.status, "limit"_a = filter.limit)) {
      jobs.push_back(ReadView(row));
    }
    return jobs;
  });
}

std::set<domain::Lane> ReadServedLanes(Session& session) {
  return Read(session, [&](Transaction& tx) {
    std::set<domain::Lane> lanes;
    for (const auto& name : ReadEach<std::string>(
             tx.Exec<"job_lane_served">("fresh_s"_a = kLaneMemberFresh.count()))) {
      if (const auto lane = domain::ParseLane(name)) lanes.insert(*lane);
    }
    return lanes;
  });
}

std::optional<InvestigationView> GetInvestigation(Session& session, const Scope& scope,
                                                  const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) -> std::optional<InvestigationView> {
    const auto found = tx.Exec<"investigation_get">("id"_a = id, "org_id"_a = scope.org_id,
                                                    "team_id"_a = scope.team_id);
    if (found.empty()) return std::nullopt;
    InvestigationView view;
    Columns(found.at(0))
        .Into("seeds"_a = &view.seeds_json, "depth"_a = &view.depth,
              "findings_max"_a = &view.findings_max, "credits_mc_max"_a = &view.credits_mc_max,
              "findings"_a = &view.findings, "budget_reached"_a = &view.budget_reached,
              "examined"_a = &view.subjects_examined, "failed"_a = &view.subjects_failed,
              "name"_a = &view.name);
    return view;
  });
}

std::vector<FindingView> ListFindings(Session& session, const base::Uuid& id, std::int64_t after,
                                      int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<FindingView> findings;
    for (const auto& row : tx.Exec<"findings_page">("investigation_id"_a = id, "after"_a = after,
                           "limit"_a = limit)) {
      FindingView& f = findings.emplace_back();
      Columns(row).Into(
          "seq"_a = &f.seq, "id"_a = &f.id, "kind"_a = &f.kind, "subject"_a = &f.subject_json,
          "predicate"_a = &f.predicate, "object"_a = &f.object_json, "confidence"_a = &f.confidence,
          "evidence"_a = &f.evidence, "sources"_a = &f.sources_json, "provider"_a = &f.provider,
          "derived_from"_a = &f.derived_from, "created_at"_a = &f.created_at);
    }
    return findings;
  });
}

}  // namespace vedette::store
