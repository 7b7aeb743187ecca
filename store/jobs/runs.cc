#include "store/jobs/runs.h"

#include <utility>

#include "domain/job_wait.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

RunView ReadRun(Columns& in) {
  RunView run;
  std::optional<std::string> name;
  in.Into("id"_a = &run.id, "org_id"_a = &run.org_id, "workflow_id"_a = &run.workflow_id,
          "name"_a = &name, "status"_a = &run.status, "status_reason"_a = &run.status_reason,
          "error"_a = &run.error, "caller_kind"_a = &run.caller.kind,
          "caller_id"_a = &run.caller.id, "on_behalf_of"_a = &run.caller.on_behalf_of,
          "charged_mc"_a = &run.charged_mc, "created_at"_a = &run.created_at,
          "started_at"_a = &run.started_at, "finished_at"_a = &run.finished_at,
          "waiting_until"_a = &run.waiting_until);
  if (run.waiting_until) run.status_reason = domain::kReasonWaitingForMailBudget;
  run.workflow_name = std::move(name).value_or("");
  return run;
}

std::vector<RunItem> ReadItems(const pqxx::result& rows) {
  std::vector<RunItem> runs;
  for (const auto& row : rows) {
    Columns in(row);
    RunItem& item = runs.emplace_back();
    item.run = ReadRun(in);
    in.Into("rows_in"_a = &item.rows_in, "rows_out"_a = &item.rows_out,
            "row_errors"_a = &item.row_errors, "blocks"_a = &item.blocks);
  }
  return runs;
}

RunDetail ReadDetail(const pqxx::row& row) {
  Columns in(row);
  RunDetail detail{ReadRun(in), {}};
  in.Into("params"_a = &detail.params_json);
  return detail;
}

}  // namespace

std::vector<RunItem> ListRuns(Session& session, const RunFilter& filter) {
  std::optional<base::Timestamp> after;
  std::optional<base::Uuid> after_id;
  if (filter.after) {
    after = filter.after->created_at;
    after_id = filter.after->id;
  }
  return Read(session, [&](Transaction& tx) {
    return ReadItems(tx.Exec<"run_list">("org_id"_a = filter.org_id, "statuses"_a = filter.statuses,
                                         "workflow_id"_a = filter.workflow_id,
                                         "limit"_a = filter.limit, "after_at"_a = after,
                                         "after"_a = after_id));
  });
}

std::vector<RunItem> ListRunsPage(Session& session, const RunPageFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    return ReadItems(
        tx.Exec<"run_admin_list">("before"_a = filter.before, "org_id"_a = filter.org_id,
                                  "statuses"_a = filter.statuses, "limit"_a = filter.limit));
  });
}

std::optional<RunDetail> GetRun(Session& session, const std::optional<base::Uuid>& org_id,
                                const base::Uuid& run_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<RunDetail> {
    const auto found = tx.Exec<"run_get">("run_id"_a = run_id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    return ReadDetail(found[0]);
  });
}

std::optional<std::vector<std::string>> ReadRunColumns(Session& session, const base::Uuid& run_id,
                                                       int block) {
  return Read(session, [&](Transaction& tx) -> std::optional<std::vector<std::string>> {
    std::optional<std::vector<std::string>> columns;
    const auto found = tx.Exec<"run_columns_of">("run_id"_a = run_id, "block"_a = block);
    if (!found.empty()) Columns(found[0]).Into("columns"_a = &columns);
    return columns;
  });
}

std::optional<std::string> ReadRunBlockSpecs(Session& session, const base::Uuid& run_id,
                                             int block) {
  return Read(session, [&](Transaction& tx) {
    return ReadFirst<std::string>(
        tx.Exec<"run_block_specs">("run_id"_a = run_id, "block"_a = block));
  });
}

std::vector<RunPart> ReadRunParts(Session& session, const base::Uuid& run_id, int block, int from,
                                  std::size_t bytes_max, int parts_max) {
  return Read(session, [&](Transaction& tx) {
    std::vector<RunPart> parts;
    for (const auto& row : tx.Exec<"run_parts">("run_id"_a = run_id, "block"_a = block,
                           "from"_a = from, "bytes_max"_a = bytes_max, "parts_max"_a = parts_max)) {
      RunPart& part = parts.emplace_back();
      Columns(row).Into("part"_a = &part.part, "rows"_a = &part.rows_json,
                        "row_count"_a = &part.row_count);
    }
    return parts;
  });
}

BlockPaces ReadBlockPaces(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    BlockPaces paces;
    for (const auto& row : tx.Exec<"run_paces">("org_id"_a = org_id, "limit"_a = kPacedRuns)) {
      std::pair<std::string, std::string> block;
      domain::RowsTimed timed;
      Columns(row).Into("type"_a = &block.first, "tier"_a = &block.second, "rows"_a = &timed.rows,
                        "took"_a = &timed.took);
      paces.emplace(std::move(block), timed);
    }
    return paces;
  });
}

std::map<base::Uuid, RunDetail> ReadEndedRuns(Session& session,
                                              const std::vector<base::Uuid>& run_ids) {
  return Read(session, [&](Transaction& tx) {
    std::map<base::Uuid, RunDetail> ended;
    for (const auto& row : tx.Exec<"runs_ended">("run_ids"_a = run_ids)) {
      RunDetail detail = ReadDetail(row);
      const base::Uuid id = detail.run.id;
      ended.emplace(id, std::move(detail));
    }
    return ended;
  });
}

}  // namespace vedette::store
