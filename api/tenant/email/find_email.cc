#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "api/tenant/email/find_body.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "config/rules.h"
#include "domain/email/email_fact.h"
#include "domain/email/found.h"
#include "domain/email/lead.h"
#include "domain/email/suppression.h"
#include "store/email/email_memory.h"
#include "store/jobs/read.h"
#include "store/jobs/start.h"

// The four routes that look for addresses. They differ in the shape of the leads and in whether the
// client waits for the job's end.
namespace vedette::api {
namespace {

struct FindRoute {
  std::string_view pattern;
  LeadShape shape;
  Answering answering;

  bool waited() const { return answering == Answering::kWaited; }
};

// A validated request: what it asks, and how it may be repeated.
struct Ask {
  domain::FindRequest request;
  std::optional<store::Webhook> webhook;
  std::optional<store::Idempotency> idempotency;
};

Ask ReadAsk(Call& call, const FindRoute& route) {
  const config::Config& config = call.parts.config;
  auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  FindBody body = ReadFindBody(std::move(json.members), route.shape, &problems);
  problems.Check();
  auto idempotency = ReadIdempotency(call, route.pattern);
  call.answer->DropBody();
  CheckFindBody(body, config::FindersOf(config));
  Ask ask;
  if (body.webhook_url) {
    const auto url = ReadJobWebhook(*body.webhook_url, call.parts.policy);
    ask.webhook = ToWebhook(url);
  }
  ask.idempotency = std::move(idempotency);
  ask.request = {.mode = body.mode,
                 .verify_emails = body.verify_emails,
                 .providers = std::move(body.providers),
                 .charge = config.find_email_prices.charge,
                 .verify_mc = config.find_email_prices.verify_mc,
                 .rows = domain::MakeFindRows(std::move(body.leads))};
  return ask;
}

// Gives the lead's own addresses the status that the organisation knows, unless nobody looks them
// up.
void ApplyKnown(const Call& call, const domain::Person& person, domain::Found* found) {
  domain::EmailQuestion question;
  question.org_id = call.caller.org_id;
  question.keys = domain::SuppressionKeys(person);
  question.address = domain::KnownAddress(domain::FindMode::kPersonal, person);
  question.work_address = domain::WorkAddress(domain::FindMode::kPersonal, person);
  if (question.address.empty() && question.work_address.empty()) return;
  const domain::EmailKnowledge known = store::AskEmailMemory(call.session(), {question}).front();
  if (!known.suppressed.empty()) {
    const auto kind = known.suppressed.front().kind;
    return call.parts.metrics.AddSuppressed(domain::SuppressionKindName(kind));
  }
  domain::ApplyFacts(domain::FindMode::kPersonal, person, known, found);
}

// The answer to a single personal lead that came with its address: no job is made, and nothing is
// charged. One with a webhook_url has a job, as its receiver is told of an end.
std::optional<rest::Reply> AnswerWithoutJob(const Call& call, const FindRoute& route,
                                            const Ask& ask) {
  const bool may = route.waited() && route.shape == LeadShape::kSingle && !ask.webhook &&
                   ask.request.mode == domain::FindMode::kPersonal;
  if (!may) return std::nullopt;
  const base::Json& lead = ask.request.rows[0].lead.Value();
  const auto person = domain::ReadLead(lead);
  const auto& read = std::get<domain::Person>(person);
  auto found = domain::AnswerAtOnce(ask.request.mode, read, ask.request.verify_emails);
  if (!found) return std::nullopt;
  ApplyKnown(call, read, &*found);
  base::Json answer =
      domain::MergeFound(lead, domain::FoundCell(ask.request.mode, read, *found, false));
  answer["details"]["task_id"] = nullptr;
  answer["details"]["charge_amount"] = 0;
  return rest::JsonReply(200, answer);
}

// How long the client is kept that waits, and the job that nobody waits for.
std::chrono::milliseconds TimeOf(const Call& call, const FindRoute& route) {
  const config::LookupsConfig& lookups = call.parts.config.lookups;
  const bool single = route.shape == LeadShape::kSingle;
  if (route.waited()) return single ? lookups.wait_single_ms : lookups.wait_bulk_ms;
  return single ? lookups.find_deadline_ms : lookups.bulk_deadline_ms;
}

store::NewJob Compose(const Call& call, const FindRoute& route, const Ask& ask, domain::Lane lane) {
  const config::Config& config = call.parts.config;
  const bool single = route.shape == LeadShape::kSingle;
  const auto rows = static_cast<int>(ask.request.rows.size());
  store::NewJob job;
  job.kind = single ? domain::JobKind::kFindEmail : domain::JobKind::kFindEmailBulk;
  job.part_rows = rows;
  job.params_json = domain::FindParamsJson(ask.request);
  job.estimate_mc = domain::FindEstimateMc(ask.request, config.find_email_prices);
  job.webhook = ask.webhook;
  job.idempotency = ask.idempotency;
  store::NewJobBlock& block = job.blocks.emplace_back();
  block.type = "find_email";
  block.specs_json = domain::FindSpecsJson(ask.request);
  block.lane = lane;
  block.price_mc = domain::FindPriceMc(ask.request.mode, config.find_email_prices);
  block.columns = std::vector<std::string>{"found"};
  block.rows_total = rows;
  return job;
}

rest::Handled Find(Call& call, const FindRoute& route) {
  const auto ask = ReadAsk(call, route);
  if (auto repeated = RepeatLookup(call, route.answering, ask.idempotency)) {
    return std::move(*repeated);
  }
  if (auto answer = AnswerWithoutJob(call, route, ask)) return std::move(*answer);
  const domain::Lane lane = ask.request.verify_emails
                                ? VerifyingLane(call.parts.config, call.session())
                                : domain::Lane::kLookup;
  return StartLookup(call, route.answering, TimeOf(call, route), Compose(call, route, ask, lane));
}

}  // namespace

rest::Handled FindEmail(Call& call) {
  return Find(call, {"/find-email", LeadShape::kSingle, Answering::kWaited});
}

rest::Handled FindEmailAsync(Call& call) {
  return Find(call, {"/find-email-async", LeadShape::kSingle, Answering::kStarted});
}

rest::Handled FindEmailBulk(Call& call) {
  return Find(call, {"/find-email-bulk", LeadShape::kBulk, Answering::kWaited});
}

rest::Handled FindEmailBulkAsync(Call& call) {
  return Find(call, {"/find-email-bulk-async", LeadShape::kBulk, Answering::kStarted});
}

}  // namespace vedette::api
