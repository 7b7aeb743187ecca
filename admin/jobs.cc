#include <utility>

#include "admin/handlers.h"
#include "admin/job_shapes.h"
#include "admin/shapes.h"
#include "domain/job.h"
#include "rest/cursor.h"
#include "store/jobs/end.h"
#include "store/jobs/read.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryJob{};

constexpr rest::CursorOf kJobList{'j'};
// Of one job: the first chunks by block and part, the newest deliveries of each kind of state.
constexpr int kJobChunksShown = 200;
constexpr int kJobDeliveriesShown = 100;

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

rest::Reply GetJob(const Parts&, store::Session& session, const Call& call) {
  const base::Uuid& id = call.ids[0];
  auto job = store::GetJob(session, kEveryJob, id);
  if (!job) return rest::NotFound("job");
  return rest::JsonReply(200, JobDetailJson({std::move(*job), store::ReadJobBlocks(session, id),
                                             store::ReadJobChunks(session, id, kJobChunksShown),
                                             DeliveriesOf(session, id)}));
}

// The reason is the audit's; the client reads that the operator ended the job, and no more.
rest::Reply PostTerminate(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto outcome = store::EndJob(
      session, parts.clock, kEveryJob, call.ids[0],
      {domain::JobStatus::kTerminated, std::string(domain::kReasonCancelledByOperator),
       "The operator ended the job."},
      AuditOf(call, "job.terminate", reason));
  if (!outcome) return rest::NotFound("job");
  for (const store::Signal signal : outcome->raise) parts.signals.Raise(signal);
  if (const auto& ended = outcome->ended) {
    parts.metrics.AddJobEnded(ended->kind, ended->status, ended->took);
  }
  return rest::JsonReply(200, {{"id", call.ids[0].ToString()},
                               {"status", domain::JobStatusName(outcome->status)},
                               {"status_reason", TextJson(outcome->status_reason)}});
}

}  // namespace vedette::admin
