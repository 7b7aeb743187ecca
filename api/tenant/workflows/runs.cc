#include "store/jobs/runs.h"
#include "base/json.h"
#include "config/parts.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "api/tenant/workflows/workflow_json.h"
#include "store/jobs/read.h"
#include "store/workflows/workflows.h"

// Runs: their list, what one is doing, and its cancellation.
namespace vedette::api {
namespace {

using domain::JobStatus;

constexpr int kRunsDefault = 100;
constexpr int kRunsMax = 500;

// The statuses that a word of the filter stands for.
struct StatusWord {
  std::string_view word;
  std::array<JobStatus, 2> statuses;
};
constexpr std::array kStatusWords{
    StatusWord{"queued", {JobStatus::kQueued, JobStatus::kQueued}},
    StatusWord{"running", {JobStatus::kRunning, JobStatus::kRunning}},
    StatusWord{"active", {JobStatus::kQueued, JobStatus::kRunning}},
    StatusWord{"completed", {JobStatus::kCompleted, JobStatus::kCompleted}},
    StatusWord{"cancelled", {JobStatus::kCancelled, JobStatus::kTerminated}},
    StatusWord{"failed", {JobStatus::kFailed, JobStatus::kTimedOut}}};

void ReadStatus(rest::QueryReader* query, store::RunFilter* filter) {
  const auto word = query->Text("status");
  if (!word) return;
  for (const StatusWord& known : kStatusWords) {
    if (known.word != *word) continue;
    filter->statuses = {known.statuses[0], known.statuses[1]};
    return;
  }
  query->Refuse("status", "enum",
                "Input should be queued, running, active, completed, cancelled or failed");
}

}  // namespace

rest::Handled ListRuns(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::RunFilter filter;
  filter.org_id = call.caller.org_id;
  ReadStatus(&query, &filter);
  filter.limit = query.Integer("limit", kRunsDefault, 1, kRunsMax);
  const auto workflow = query.Text("workflow_id");
  const auto cursor = query.Text("cursor");
  query.Finish();
  problems.Check();
  if (workflow) {
    filter.workflow_id = base::Uuid::Parse(*workflow);
    const bool exists =
        filter.workflow_id && store::GetWorkflow(call.session(), call.caller.org_id,
                                                 *filter.workflow_id, store::Deleted::kShown);
    if (!exists) return rest::NotFound("workflow");
  }
  if (cursor) {
    const auto place = rest::DecodeTimedCursor(RunsOf(call, filter.org_id), *cursor);
    if (!place) return rest::InvalidCursor();
    filter.after = store::RunPlace{place->at, place->id};
  }
  const int limit = std::exchange(filter.limit, filter.limit + 1);
  auto page = rest::CutPage(
      store::ListRuns(call.session(), filter), limit, [&](const store::RunItem& last) {
        return rest::EncodeCursor(RunsOf(call, filter.org_id),
                                  rest::TimedPlace{last.run.created_at, last.run.id});
      });
  std::string text = "[";
  for (const store::RunItem& item : page.items) {
    if (text.size() > 1) text.push_back(',');
    base::AppendJson(RunItemJson(item, call.parts.config.cents_per_credit, call.parts.clock.Now()),
                     &text);
  }
  return SendArray(call, text + ']', std::move(page.next_cursor));
}

rest::Handled ShowLiveStatus(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  const auto run = id ? store::GetRun(call.session(), call.caller.org_id, *id) : std::nullopt;
  if (!run) return rest::NotFound("run");
  // The run is read before its blocks, so that a run that has ended shows blocks that have, too.
  const auto blocks = store::ReadJobBlocks(call.session(), *id);
  const domain::RunGraph graph = domain::ReadRunGraph(run->params_json);
  if (blocks.size() != graph.blocks.size()) return rest::NotFound("run");  // just forgotten
  CheckJobIsHere(call.session(), run->run.org_id, run->run.status_reason);
  return rest::JsonReply(200, LiveStatusJson(run->run, graph, blocks));
}

rest::Handled CancelRun(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const auto given = query.Text("job_id");
  if (!given) problems.Add(base::Json::array({"query", "job_id"}), "missing", "Field required");
  query.Finish();
  problems.Check();
  const auto id = base::Uuid::Parse(*given);
  if (!id || !store::GetRun(call.session(), call.caller.org_id, *id)) return rest::NotFound("run");
  CheckEmptyBody(call);
  const auto outcome = EndJob(call.parts, call.session(), {call.caller.org_id, std::nullopt}, *id,
                              {JobStatus::kCancelled, std::string(domain::kReasonCancelledByClient),
                               "The run was cancelled through the API."},
                              AuditOf(call, "run.cancel", id->ToString()));
  const auto now = store::GetRun(call.session(), call.caller.org_id, *id);
  if (!outcome || !now) return rest::NotFound("run");
  const store::RunView& run = now->run;
  return rest::JsonReply(
      200, {{"job_id", run.id.ToString()},
            {"status", domain::JobStatusName(domain::RunStatus(run.status))},
            {"status_reason", run.status_reason ? base::Json(*run.status_reason) : base::Json()},
            {"completed_at", run.finished_at ? base::Json(base::FormatTimestamp(*run.finished_at))
                                             : base::Json()}});
}

}  // namespace vedette::api
