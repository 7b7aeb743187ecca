#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/handlers.h"
#include "admin/job_detail.h"
#include "admin/run_shapes.h"
#include "admin/shapes.h"
#include "config/config.h"
#include "domain/job.h"
#include "domain/workflow/download_link.h"
#include "rest/cursor.h"
#include "store/jobs/runs.h"

// Runs of workflows: jobs of their kind, shown with their graphs.
namespace vedette::admin {
namespace {

using domain::JobStatus;

constexpr rest::CursorOf kRunList{'w'};

// "active" stands for the two statuses of an open run.
std::optional<std::vector<JobStatus>> ReadStatuses(rest::QueryReader* input) {
  const auto word = input->Text("status");
  if (!word || word->empty()) return std::nullopt;
  if (*word == "active") return std::vector{JobStatus::kQueued, JobStatus::kRunning};
  if (const auto status = domain::ParseJobStatus(*word)) return std::vector{*status};
  input->Refuse("status", "enum",
                "Input should be active, queued, running, completed, failed, cancelled, "
                "terminated or timed_out");
  return std::nullopt;
}

// Every block that has made rows, each file once.
std::vector<RunFile> FilesOf(const Parts& parts, const RunShown& shown) {
  std::vector<RunFile> files;
  const std::string& address = parts.config.public_url;
  const base::Timestamp expires = parts.clock.Now() + domain::kDownloadLifetime;
  for (const store::JobBlockView& block : shown.detail.blocks) {
    if (block.rows_out == 0 || domain::RowsOf(shown.graph, block.block) != block.block) continue;
    const auto& in_graph = shown.graph.blocks.at(static_cast<std::size_t>(block.block));
    const domain::ResultFile file{shown.run.id, block.block, domain::ResultFormat::kCsv};
    RunFile& made = files.emplace_back();
    made.block = block.block;
    made.filename = domain::ResultFileName(shown.run.workflow_name, in_graph.sequence_number,
                                           in_graph.name, file);
    if (address.empty()) continue;
    made.url = address + domain::DownloadPath(file, expires, parts.config.security.encryption_key);
  }
  return files;
}

}  // namespace

rest::Reply GetRuns(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::RunPageFilter filter;
  filter.statuses = ReadStatuses(&input);
  filter.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    filter.before = rest::DecodeIdCursor(kRunList, *list.cursor);
    if (!filter.before) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListRunsPage(session, filter), list.limit,
      [](const store::RunItem& item) { return rest::EncodeCursor(kRunList, item.run.id); });
  return ListReply(page, RunJson);
}

rest::Reply GetRun(const Parts& parts, store::Session& session, const Call& call) {
  auto run = store::GetRun(session, std::nullopt, call.ids[0]);
  if (!run) return rest::NotFound("run");
  // The run is read before its blocks, so that a run that has ended shows blocks that have, too.
  auto detail = ReadJobDetail(session, call.ids[0]);
  RunShown shown{std::move(run->run), domain::ReadRunGraph(run->params_json), {}, {}};
  if (!detail || detail->blocks.size() != shown.graph.blocks.size()) {
    return rest::NotFound("run");  // just forgotten
  }
  shown.detail = std::move(*detail);
  shown.files = FilesOf(parts, shown);
  return rest::JsonReply(200, RunShownJson(shown));
}

// The reason is the audit's.
rest::Reply PostRunCancel(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::GetRun(session, std::nullopt, call.ids[0])) return rest::NotFound("run");
  const auto outcome = Terminate(parts, session, call.ids[0], AuditOf(call, "run.cancel", reason));
  if (!outcome) return rest::NotFound("run");
  return rest::JsonReply(200, {{"id", call.ids[0].ToString()},
                               {"status", domain::JobStatusName(outcome->status)},
                               {"status_reason", TextJson(outcome->status_reason)}});
}

}  // namespace vedette::admin
