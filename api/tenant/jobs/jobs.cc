#include <chrono>
#include <string>
#include <utility>

#include "api/kit/query_reader.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "api/tenant/jobs/waits.h"
#include "base/json.h"
#include "config/parts.h"
#include "store/jobs/read.h"

// Jobs of every kind: their status and their cancellation.
namespace vedette::api {
namespace {

// The job that the path's first parameter names, or a 404.
store::LookupView FindJob(Call& call) {
  const base::Uuid id = call.Id(0, "task");
  auto view = store::GetLookup(call.session(), call.caller.scope(), id);
  if (!view) throw rest::Refusal(rest::NotFound("task"));
  return std::move(*view);
}

rest::Reply StatusReply(const Dependencies& parts, store::Session& session,
                        const store::LookupView& view) {
  CheckJobIsHere(session, view.job.org_id, view.job.status_reason);
  base::Json status = StatusJson(view, parts.config.cents_per_credit);
  const bool has_findings =
      view.job.kind == domain::JobKind::kInvestigation && view.job.finished_at.has_value();
  if (has_findings) {
    if (const auto found = store::GetInvestigation(session, {}, view.job.id)) {
      status["result"] = {{"investigation_id", view.job.id.ToString()},
                          {"findings_count", found->findings}};
    }
  }
  return rest::JsonReply(200, status);
}

}  // namespace

rest::Handled ShowJobStatus(Call& call) {
  const auto view = FindJob(call);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const std::chrono::seconds wait_s(query.Integer("wait_s", 0, 0, kStatusWaitSecondsMax));
  query.Finish();
  problems.Check();
  const Dependencies& parts = call.parts;
  if (view.job.finished_at || wait_s.count() == 0) {
    return StatusReply(parts, call.session(), view);
  }
  auto place = parts.waits.Reserve(call.caller.org_id);
  if (!place) return StatusReply(parts, call.session(), view);
  Wait wait;
  wait.job_id = view.job.id;
  wait.org_id = call.caller.org_id;
  wait.until = parts.clock.SinceBoot() + wait_s;
  wait.reply = [&parts, scope = call.caller.scope(), id = view.job.id](store::Session& session,
                                                                       WaitEnd) {
    const auto now = store::GetLookup(session, scope, id);
    return now ? StatusReply(parts, session, *now) : rest::NotFound("task");
  };
  return parts.waits.Park(std::move(*place), std::move(wait), call.answer);
}

rest::Handled ShowAgeStatus(Call& call) {
  const auto view = FindJob(call);
  if (view.job.kind != domain::JobKind::kVerifyAge) return rest::NotFound("task");
  return StatusReply(call.parts, call.session(), view);
}

rest::Handled CancelJob(Call& call) {
  const auto found = FindJob(call);
  CheckEmptyBody(call);
  const base::Uuid id = found.job.id;
  const auto outcome =
      EndJob(call.parts, call.session(), call.caller.scope(), id,
             {domain::JobStatus::kCancelled, std::string(domain::kReasonCancelledByClient),
              "The job was cancelled through the API."},
             AuditOf(call, "job.cancel", id.ToString()));
  if (!outcome) return rest::NotFound("task");
  const auto view = store::GetLookup(call.session(), call.caller.scope(), id);
  if (!view) return rest::NotFound("task");
  return StatusReply(call.parts, call.session(), *view);
}

}  // namespace vedette::api
