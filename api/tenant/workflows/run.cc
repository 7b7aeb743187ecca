#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/workflows/run_body.h"
#include "api/tenant/workflows/run_calls.h"
#include "api/tenant/workflows/run_start.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "base/json.h"
#include "store/jobs/start.h"

// POST /workflows/run.
namespace vedette::api {
namespace {

using domain::Definition;

void CheckQuery(const Call& call, rest::Problems* problems) {
  rest::QueryReader query(call.request().query, problems);
  query.Boolean("save_json", false);
  for (const std::string& format : query.All("result_formats")) {
    if (format == "csv" || format == "ndjson") continue;
    query.Refuse("result_formats", "enum", "Input should be csv or ndjson");
  }
}

// 413, 415, 400 and 422 of form.
RunRequest ReadRequest(Call& call, const RunContext& context,
                       const store::WorkflowToRun& workflow) {
  const auto json = ReadJsonObject(call, RunBodyRules(BodyRulesOf(call)));
  rest::Problems problems;
  CheckQuery(call, &problems);
  const RunBody body = ReadRunBody(json, &problems);
  Definition definition = *call.parts.definitions.Read(workflow.definition_json);
  RunRequest request = BeginRequest(context, std::move(definition), body.specs_override);
  if (body.payload) {
    auto records = *body.payload;
    if (!body.record.empty()) records.push_back(body.record);
    GiveRecords(context, records, &request, &problems);
  }
  problems.Check();
  return request;
}

}  // namespace

rest::Handled RunWorkflow(Call& call) {
  const base::Uuid id = IdOfWorkflowToRun(call);
  const auto idempotency = ReadIdempotency(call, "/workflows/run?" + id.ToString());
  if (idempotency) {
    // A repetition gets the first answer, whatever has become of the workflow.
    const auto known = store::FindJobStart(call.session(), call.caller.org_id, *idempotency);
    if (known) return RunReply(call, id, *known);
  }
  const auto workflow = FindWorkflowToRun(call, id);
  const RunContext context = RunContextOf(call);
  auto request = ReadRequest(call, context, workflow);
  call.answer->DropBody();
  if (request.has_payload) CheckMaySendPayload(call);
  store::NewJob job = PlanJob(context, workflow, std::move(request));
  job.idempotency = idempotency;
  return StartRun(call, workflow.id, job);
}

}  // namespace vedette::api
