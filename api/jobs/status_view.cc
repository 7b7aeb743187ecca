#include "api/jobs/status_view.h"

#include "base/assert.h"
#include "base/json_or_null.h"

namespace vedette::api {

domain::EndedLookup EndedLookupOf(const store::LookupView& view) {
  const store::JobView& job = view.job;
  base::Assert(job.finished_at.has_value(), "the result of a job is read after its end");
  domain::EndedLookup ended;
  ended.id = job.id;
  ended.kind = job.kind;
  ended.status = job.status;
  ended.status_reason = job.status_reason;
  ended.error = job.error;
  ended.charged_mc = job.charged_mc;
  ended.created_at = job.created_at;
  ended.finished_at = *job.finished_at;
  ended.params_json = view.params_json;
  ended.rows_json = view.rows_json;
  return ended;
}

base::Json StatusJson(const store::LookupView& view, double cents_per_credit) {
  const store::JobView& job = view.job;
  base::Json json{{"task_id", job.id.ToString()},
                  {"task_type", domain::JobKindName(job.kind)},
                  {"status", domain::ShownJobStatus(job.status)},
                  {"result", nullptr},
                  {"error", domain::JobErrorOf(job.status, job.status_reason, job.error)},
                  {"status_reason", base::OrNull(job.status_reason)},
                  {"waiting_until", base::OrNull(job.waiting_until)},
                  {"charge_amount", nullptr},
                  {"progress", {{"done", job.rows_done}, {"total", job.rows_total}}},
                  {"created_at", base::FormatTimestamp(job.created_at)},
                  {"started_at", base::OrNull(job.started_at)},
                  {"finished_at", base::OrNull(job.finished_at)},
                  {"deadline_at", base::FormatTimestamp(job.deadline_at)}};
  if (!job.finished_at) return json;
  json["result"] = domain::LookupResult(EndedLookupOf(view), cents_per_credit);
  json["charge_amount"] = domain::CentsOf(job.charged_mc, cents_per_credit);
  const bool has_rows = job.kind != domain::JobKind::kInvestigation;
  if (has_rows && job.status == domain::JobStatus::kCompleted && json["result"].is_null()) {
    json["error"] = {{"error", domain::kResultExpired},
                     {"message", "The result was kept for its time and is gone."}};
  }
  return json;
}

}  // namespace vedette::api
