#include <utility>

#include "admin/handlers.h"
#include "admin/job_detail.h"
#include "admin/job_shapes.h"
#include "admin/shapes.h"
#include "domain/job.h"
#include "rest/cursor.h"
#include "store/jobs/read.h"

namespace vedette::admin {
namespace {

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

rest::Reply GetJobs(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::JobFilter filter;
  filter.kind = ReadName(&input, "kind", domain::ParseJobKind,
                         "Input should be find_email, find_email_bulk, reverse_email, "
                         "reverse_email_bulk, verify_age, investigation or workflow");
  filter.status = ReadName(&input, "status", domain::ParseJobStatus,
                           "Input should be queued, running, completed, failed, cancelled, "
                           "terminated or timed_out");
  filter.scope.org_id = input.Id("org_id");
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    filter.before = rest::DecodeIdCursor(kJobList, *list.cursor);
    if (!filter.before) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  const auto page =
      rest::CutPage(store::ListJobs(session, filter), list.limit,
                    [](const store::JobView& job) { return rest::EncodeCursor(kJobList, job.id); });
  return ListReply(page, JobJson);
}

// With rows=true also whom it is about, which the audit keeps.
rest::Reply GetJob(const Parts& parts, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const bool with_rows = input.Boolean("rows", false);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const auto detail = ReadJobDetail(session, call.ids[0]);
  if (!detail) return rest::NotFound("job");
  base::Json json = JobDetailJson(*detail);
  if (!with_rows) return rest::JsonReply(200, json);
  const auto lookup =
      store::GetLookup(session, parts.clock, call.ids[0], AuditOf(call, "job.rows", std::nullopt));
  if (!lookup) return rest::NotFound("job");
  json["rows"] = LookupRowsJson(*lookup);
  return rest::JsonReply(200, json);
}

// The reason is the audit's.
rest::Reply PostTerminate(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto outcome =
      Terminate(parts, session, call.ids[0], AuditOf(call, "job.terminate", reason));
  if (!outcome) return rest::NotFound("job");
  return rest::JsonReply(200, {{"id", call.ids[0].ToString()},
                               {"status", domain::JobStatusName(outcome->status)},
                               {"status_reason", TextJson(outcome->status_reason)}});
}

}  // namespace vedette::admin
