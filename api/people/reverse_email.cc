#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/jobs/lookup_start.h"
#include "api/people/people_body.h"
#include "config/config.h"
#include "domain/people/people_request.h"

// The four routes that ask who is behind addresses. They differ in the shape of the leads and in
// whether the client waits for the job's end.
namespace vedette::api {
namespace {

struct ReverseRoute {
  std::string_view pattern;
  LeadShape shape;
  Answering answering;
};

// A request that was judged.
struct Ask {
  domain::PeopleRequest request;
  std::optional<store::Webhook> webhook;
  std::optional<store::Idempotency> idempotency;
};

// A lead of a single request that has no address, or none that is one.
std::optional<rest::Reply> JudgeAddress(const ReverseRoute& route, const FindBody& body) {
  if (route.shape == LeadShape::kBulk) return std::nullopt;
  if (domain::ParseAddress(domain::AddressOf(body.leads.front()))) return std::nullopt;
  return rest::ErrorReply(400, "invalid_email", "lead has no email that is an address");
}

rest::Judged<Ask> JudgeAsk(Call& call, const ReverseRoute& route) {
  rest::Judged<rest::JsonBody> json = ReadJsonObject(call, BodyRulesOf(call));
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  FindBody body =
      ReadReverseBody(std::move(std::get<rest::JsonBody>(json).members), route.shape, &problems);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  auto idempotency = ReadIdempotency(call, route.pattern);
  if (auto* reply = std::get_if<rest::Reply>(&idempotency)) return std::move(*reply);
  call.answer->DropBody();
  if (auto reply = JudgeLeads(body)) return std::move(*reply);
  if (auto reply = JudgeAddress(route, body)) return std::move(*reply);
  auto webhook = JudgePeopleCommon(call, domain::PeopleQuestion::kReverseEmail,
                                   {body.providers, body.webhook_url});
  if (auto* reply = std::get_if<rest::Reply>(&webhook)) return std::move(*reply);
  Ask ask;
  ask.request.providers = std::move(body.providers);
  ask.request.charge = call.parts.config.reverse_email_price.charge;
  ask.request.rows = domain::MakeFindRows(std::move(body.leads));
  ask.webhook = std::get<std::optional<store::Webhook>>(std::move(webhook));
  ask.idempotency = std::get<std::optional<store::Idempotency>>(std::move(idempotency));
  return ask;
}

store::NewJob Compose(const Call& call, const ReverseRoute& route, const Ask& ask) {
  const config::Config& config = call.parts.config;
  const bool single = route.shape == LeadShape::kSingle;
  const auto rows = static_cast<int>(ask.request.rows.size());
  store::NewJob job;
  job.kind = single ? domain::JobKind::kReverseEmail : domain::JobKind::kReverseEmailBulk;
  job.part_rows = rows;
  job.params_json = domain::PeopleParamsJson(ask.request);
  job.estimate_mc = domain::ReverseEstimateMc(ask.request, config.reverse_email_price.row_mc);
  job.webhook = ask.webhook;
  job.idempotency = ask.idempotency;
  store::NewJobBlock& block = job.blocks.emplace_back();
  block.type = "reverse_email";
  block.specs_json = domain::PeopleSpecsJson(ask.request);
  block.lane = domain::Lane::kLookup;
  block.price_mc = config.reverse_email_price.row_mc;
  block.columns = std::vector<std::string>{"person"};
  block.rows_total = rows;
  return job;
}

std::chrono::milliseconds TimeOf(const Call& call, const ReverseRoute& route) {
  const config::LookupsConfig& lookups = call.parts.config.lookups;
  const bool single = route.shape == LeadShape::kSingle;
  if (route.answering == Answering::kWaited) {
    return single ? lookups.wait_single_ms : lookups.wait_bulk_ms;
  }
  return single ? lookups.reverse_deadline_ms : lookups.bulk_deadline_ms;
}

rest::Handled Reverse(Call& call, const ReverseRoute& route) {
  rest::Judged<Ask> judged = JudgeAsk(call, route);
  if (auto* reply = std::get_if<rest::Reply>(&judged)) return std::move(*reply);
  const Ask& ask = std::get<Ask>(judged);
  if (auto repeated = RepeatLookup(call, route.answering, ask.idempotency)) {
    return std::move(*repeated);
  }
  return StartLookup(call, route.answering, TimeOf(call, route), Compose(call, route, ask));
}

}  // namespace

rest::Handled ReverseEmail(Call& call) {
  return Reverse(call, {"/reverse-email", LeadShape::kSingle, Answering::kWaited});
}

rest::Handled ReverseEmailAsync(Call& call) {
  return Reverse(call, {"/reverse-email-async", LeadShape::kSingle, Answering::kStarted});
}

rest::Handled ReverseEmailBulk(Call& call) {
  return Reverse(call, {"/reverse-email-bulk", LeadShape::kBulk, Answering::kWaited});
}

rest::Handled ReverseEmailBulkAsync(Call& call) {
  return Reverse(call, {"/reverse-email-bulk-async", LeadShape::kBulk, Answering::kStarted});
}

}  // namespace vedette::api
