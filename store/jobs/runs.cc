#include "store/jobs/runs.h"

#include <utility>

#include "domain/job_wait.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

RunView ReadRun(Columns& in) {
  RunView run;
  std::optional<std::string> name;
  in.Into(&run.id, &run.org_id, &run.workflow_id, &name, &run.status, &run.status_reason,
          &run.error, &run.caller.kind, &run.caller.id, &run.caller.on_behalf_of, &run.charged_mc,
          &run.created_at, &run.started_at, &run.finished_at, &run.waiting_until);
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
    in.Into(&item.rows_in, &item.rows_out, &item.row_errors, &item.blocks);
  }
  return runs;
}

RunDetail ReadDetail(const pqxx::row& row) {
  Columns in(row);
  RunDetail detail{ReadRun(in), {}};
  in.Into(&detail.params_json);
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
    return ReadItems(tx.Exec("run_list", filter.org_id, filter.statuses, filter.workflow_id,
                             filter.limit, after, after_id));
  });
}

std::vector<RunItem> ListRunsPage(Session& session, const RunPageFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    return ReadItems(
        tx.Exec("run_admin_list", filter.before, filter.org_id, filter.statuses, filter.limit));
  });
}

std::optional<RunDetail> GetRun(Session& session, const std::optional<base::Uuid>& org_id,
                                const base::Uuid& run_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<RunDetail> {
    const auto found = tx.Exec("run_get", run_id, org_id);
    if (found.empty()) return std::nullopt;
    return ReadDetail(found[0]);
  });
}

std::optional<std::vector<std::string>> ReadRunColumns(Session& session, const base::Uuid& run_id,
                                                       int block) {
  return Read(session, [&](Transaction& tx) -> std::optional<std::vector<std::string>> {
    std::optional<std::vector<std::string>> columns;
    const auto found = tx.Exec("run_columns_of", run_id, block);
    if (!found.empty()) Columns(found[0]).Into(&columns);
    return columns;
  });
}

std::optional<std::string> ReadRunBlockSpecs(Session& session, const base::Uuid& run_id,
                                             int block) {
  return Read(session, [&](Transaction& tx) {
    return ReadFirst<std::string>(tx.Exec("run_block_specs", run_id, block));
  });
}

std::vector<RunPart> ReadRunParts(Session& session, const base::Uuid& run_id, int block, int from,
                                  std::size_t bytes_max, int parts_max) {
  return Read(session, [&](Transaction& tx) {
    std::vector<RunPart> parts;
    for (const auto& row : tx.Exec("run_parts", run_id, block, from, bytes_max, parts_max)) {
      RunPart& part = parts.emplace_back();
      Columns(row).Into(&part.part, &part.rows_json, &part.row_count);
    }
    return parts;
  });
}

BlockPaces ReadBlockPaces(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    BlockPaces paces;
    for (const auto& row : tx.Exec("run_paces", org_id, kPacedRuns)) {
      std::pair<std::string, std::string> block;
      domain::RowsTimed timed;
      Columns(row).Into(&block.first, &block.second, &timed.rows, &timed.took);
      paces.emplace(std::move(block), timed);
    }
    return paces;
  });
}

std::map<base::Uuid, RunDetail> ReadEndedRuns(Session& session,
                                              const std::vector<base::Uuid>& run_ids) {
  return Read(session, [&](Transaction& tx) {
    std::map<base::Uuid, RunDetail> ended;
    for (const auto& row : tx.Exec("runs_ended", run_ids)) {
      RunDetail detail = ReadDetail(row);
      const base::Uuid id = detail.run.id;
      ended.emplace(id, std::move(detail));
    }
    return ended;
  });
}

}  // namespace vedette::store
