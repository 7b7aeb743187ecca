#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/cursor.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "api/operator/job_json.h"
#include "base/json.h"
#include "base/uuid.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "domain/job/job.h"
#include "domain/workflow/result_file.h"
#include "store/jobs/end.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryJob{};

// What is shown of one job: the first chunks by block and part, the newest deliveries of each kind
// of state.
constexpr int kJobChunksShown = 200;
constexpr int kJobDeliveriesShown = 100;

// What is not delivered yet, or never will be, before what is.
std::vector<store::DeliveryView> DeliveriesOf(store::Session& session, const base::Uuid& job_id) {
  store::DeliveryQuery query;
  query.job_id = job_id;
  query.limit = kJobDeliveriesShown;
  auto deliveries = store::ListDeliveries(session, query);
  query.state = domain::DeliveryState::kDelivered;
  const auto delivered = store::ListDeliveries(session, query);
  deliveries.insert(deliveries.end(), delivered.begin(), delivered.end());
  return deliveries;
}

// A job of any organisation with its blocks, the first of its chunks and its newest deliveries;
// empty where there is none.
std::optional<JobDetail> ReadJobDetail(store::Session& session, const base::Uuid& id) {
  auto job = store::GetJob(session, kEveryJob, id);
  if (!job) return std::nullopt;
  return JobDetail{std::move(*job), store::ReadJobBlocks(session, id),
                   store::ReadJobChunks(session, id, kJobChunksShown), DeliveriesOf(session, id)};
}

// Ends a job of any organisation as the operator, and wakes and counts what follows from it. Its
// client reads that the operator ended it, and no more. Empty where there is none.
std::optional<store::JobEndOutcome> Terminate(const Call& call, const base::Uuid& id,
                                              const store::AuditEntry& audit) {
  auto outcome = store::EndJob(
      call.session(), call.parts.clock, kEveryJob, id,
      {domain::JobStatus::kTerminated, std::string(domain::kReasonCancelledByOperator),
       "The operator ended the job."},
      audit);
  if (!outcome) return std::nullopt;
  for (const store::Signal signal : outcome->raise) call.parts.signals.Raise(signal);
  if (const auto& ended = outcome->ended) {
    call.parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
  return outcome;
}

constexpr rest::CursorOf kJobList{'j'};

// A parameter with one of the names that `parse` knows; empty text is no filter.
template <typename Enum>
std::optional<Enum> ReadName(rest::QueryReader* input, std::string_view parameter,
                             std::optional<Enum> (*parse)(std::string_view),
                             std::string_view message) {
  const auto text = input->Text(parameter);
  if (!text || text->empty()) return std::nullopt;
  const auto value = parse(*text);
  if (!value) input->Refuse(parameter, "enum", std::string(message));
  return value;
}

}  // namespace

rest::Handled GetJobs(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::JobFilter filter;
  filter.kind = ReadName(&input, "kind", domain::ParseJobKind,
                         "Input should be find_email, find_email_bulk, reverse_email, "
                         "reverse_email_bulk, verify_age, investigation or workflow");
  filter.status = ReadName(&input, "status", domain::ParseJobStatus,
                           "Input should be queued, running, completed, failed, cancelled, "
                           "terminated or timed_out");
  filter.scope.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    filter.before = rest::DecodeIdCursor(kJobList, *list.cursor);
    if (!filter.before) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  const auto page =
      rest::CutPage(store::ListJobs(call.session(), filter), list.limit,
                    [](const store::JobView& job) { return rest::EncodeCursor(kJobList, job.id); });
  return ListReply(page, JobJson);
}

// With rows=true also whom it is about, which the audit keeps.
rest::Handled GetJob(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const bool with_rows = input.Boolean("rows", false);
  problems.Check();
  const auto detail = ReadJobDetail(call.session(), call.Id(0));
  if (!detail) return rest::NotFound("job");
  base::Json json = JobDetailJson(*detail);
  if (!with_rows) return rest::JsonReply(200, json);
  const auto lookup = store::GetLookup(call.session(), call.parts.clock, call.Id(0),
                                       AuditOf(call, "job.rows", std::nullopt));
  if (!lookup) return rest::NotFound("job");
  json["rows"] = LookupRowsJson(*lookup);
  return rest::JsonReply(200, json);
}

// The reason goes into the audit log only.
rest::Handled PostTerminate(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  body.Check();
  const auto outcome = Terminate(call, call.Id(0), AuditOf(call, "job.terminate", reason));
  if (!outcome) return rest::NotFound("job");
  return rest::JsonReply(200, {{"id", call.Id(0).ToString()},
                               {"status", domain::JobStatusName(outcome->status)},
                               {"status_reason", TextJson(outcome->status_reason)}});
}

// Runs of workflows: jobs of their kind, shown with their graphs.

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

// Every block that has made rows, each file once; with links, which need no credential, where they
// are asked for.
std::vector<RunFile> FilesOf(const Dependencies& parts, const RunShown& shown, bool with_links) {
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
    if (!with_links || address.empty()) continue;
    made.url = address + domain::DownloadPath(file, expires, parts.config.security.encryption_key) +
               domain::CellQuery(parts.config.cell.id);
  }
  return files;
}

}  // namespace

rest::Handled GetRuns(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::RunPageFilter filter;
  filter.statuses = ReadStatuses(&input);
  filter.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    filter.before = rest::DecodeIdCursor(kRunList, *list.cursor);
    if (!filter.before) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListRunsPage(call.session(), filter), list.limit,
      [](const store::RunItem& item) { return rest::EncodeCursor(kRunList, item.run.id); });
  return ListReply(page, RunJson);
}

// With rows=true also links to what its blocks have made, which the audit keeps.
rest::Handled GetRun(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const bool with_rows = input.Boolean("rows", false);
  problems.Check();
  auto run = store::GetRun(call.session(), std::nullopt, call.Id(0));
  if (!run) return rest::NotFound("run");
  // The run is read before its blocks, so that a run that has ended shows blocks that have, too.
  auto detail = ReadJobDetail(call.session(), call.Id(0));
  RunShown shown{std::move(run->run), domain::ReadRunGraph(run->params_json), {}, {}};
  if (!detail || detail->blocks.size() != shown.graph.blocks.size()) {
    return rest::NotFound("run");  // just forgotten
  }
  shown.detail = std::move(*detail);
  shown.files = FilesOf(call.parts, shown, with_rows);
  if (with_rows) AuditRows(call, "run.rows", shown.detail.job.org_id);
  return rest::JsonReply(200, RunShownJson(shown));
}

// The reason goes into the audit log only.
rest::Handled PostRunCancel(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  body.Check();
  if (!store::GetRun(call.session(), std::nullopt, call.Id(0))) return rest::NotFound("run");
  const auto outcome = Terminate(call, call.Id(0), AuditOf(call, "run.cancel", reason));
  if (!outcome) return rest::NotFound("run");
  return rest::JsonReply(200, {{"id", call.Id(0).ToString()},
                               {"status", domain::JobStatusName(outcome->status)},
                               {"status_reason", TextJson(outcome->status_reason)}});
}

}  // namespace vedette::admin
