#include "store/jobs/runs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "domain/job/block_progress.h"
#include "domain/job/job.h"
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
          "schedule_id"_a = &run.schedule_id, "scheduled_at"_a = &run.scheduled_at,
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

bool AreRowsKept(Session& session, const base::Uuid& run_id, int block) {
  return !ReadRunParts(session, run_id, block, 0, 1, 1).empty();
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

std::vector<int> RunPerMille(const domain::RunGraph& graph,
                             const std::vector<JobBlockView>& blocks) {
  std::vector<domain::BlockRows> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const JobBlockView& block = blocks[i];
    domain::BlockRows& of_block = rows.emplace_back();
    of_block.input = block.input;
    of_block.rows_total = block.rows_total;
    of_block.rows_done = block.rows_done;
    of_block.rows_out = block.rows_out;
    of_block.parts_total = block.parts_total;
    of_block.parts_done = block.parts_done;
    of_block.drops_rows = domain::DropsRows(graph.blocks.at(i));
    of_block.completed = block.status == domain::BlockStatus::kCompleted;
  }
  const std::vector<int> own = domain::PerMille(rows);
  std::vector<int> shown = own;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto of_rows = static_cast<std::size_t>(domain::RowsOf(graph, static_cast<int>(i)));
    if (of_rows != i && !rows[i].completed)
      shown[i] = std::min(own[of_rows], domain::kPerMilleWhole - 1);
  }
  return shown;
}

std::optional<RunUpload> FindRunUpload(Session& session, const base::Uuid& org_id,
                                       const base::Uuid& upload_id, int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<RunUpload> {
    const auto found = tx.Exec<"run_upload">("upload_id"_a = upload_id, "org_id"_a = org_id,
                                             "part_rows"_a = part_rows);
    if (found.empty()) return std::nullopt;
    RunUpload upload;
    Columns(found[0]).Into("columns"_a = &upload.columns, "row_count"_a = &upload.row_count,
                           "part_count"_a = &upload.units, "parts"_a = &upload.parts);
    return upload;
  });
}

std::optional<UploadUnit> ReadUploadUnit(Session& session, const base::Uuid& upload_id, int unit,
                                         int part_rows) {
  return Read(session, [&](Transaction& tx) -> std::optional<UploadUnit> {
    const auto found = tx.Exec<"run_upload_unit">("upload_id"_a = upload_id, "unit"_a = unit,
                                                  "part_rows"_a = part_rows);
    if (found.empty()) return std::nullopt;
    UploadUnit read;
    Columns(found[0]).Into("first_line"_a = &read.first_line, "text"_a = &read.text,
                           "first_part"_a = &read.first_part);
    return read;
  });
}

std::set<std::string> ReadSeenKeys(Session& session, const base::Uuid& job_id, int block,
                                   const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<Column<"key_hashes", std::string>> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> seen;
    for (const auto& row :
         tx.Exec<"run_keys_seen">("job_id"_a = job_id, "block"_a = block, asked)) {
      std::string key;
      Columns(row).Into("key_hash"_a = BytesInto{&key});
      seen.insert(std::move(key));
    }
    return seen;
  });
}

std::set<std::string> ReadMonitorKeys(Session& session, const base::Uuid& monitor_id,
                                      const std::vector<std::string>& keys) {
  return Read(session, [&](Transaction& tx) {
    Rows<Column<"key_hashes", std::string>> asked;
    for (const std::string& key : keys) asked.Add(Bytea(key));
    std::set<std::string> known;
    for (const auto& row : tx.Exec<"run_monitor_keys_known">("monitor_id"_a = monitor_id, asked)) {
      std::string key;
      Columns(row).Into("key_hash"_a = BytesInto{&key});
      known.insert(std::move(key));
    }
    return known;
  });
}

}  // namespace vedette::store
