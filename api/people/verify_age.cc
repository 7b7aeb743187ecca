#include <optional>
#include <string>
#include <utility>

#include "api/handlers.h"
#include "api/idempotency.h"
#include "api/jobs/lookup_start.h"
#include "api/people/people_body.h"
#include "config/config.h"
#include "domain/people/people_request.h"

// The route that starts a lookup of a person's age.
namespace vedette::api {
namespace {

constexpr std::string_view kRoute = "/verify-age";

store::NewJob Compose(const Call& call, AgeBody body) {
  const config::Config& config = call.parts.config;
  domain::PeopleRequest request;
  request.providers = std::move(body.common.providers);
  request.charge = config.age_price.charge;
  request.minimum_age = config.lookups.minimum_result_age;
  request.rows.push_back({std::move(*body.subject), std::nullopt});
  store::NewJob job;
  job.kind = domain::JobKind::kVerifyAge;
  job.part_rows = 1;
  job.params_json = domain::PeopleParamsJson(request);
  job.estimate_mc = config.age_price.row_mc;
  store::NewJobBlock& block = job.blocks.emplace_back();
  block.type = "verify_age";
  block.specs_json = domain::PeopleSpecsJson(request);
  block.lane = domain::Lane::kResearch;
  block.price_mc = config.age_price.row_mc;
  block.columns = std::vector<std::string>{"age"};
  block.rows_total = 1;
  return job;
}

}  // namespace

rest::Handled VerifyAge(Call& call) {
  rest::Judged<rest::JsonBody> json = ReadJsonObject(call, BodyRulesOf(call));
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  AgeBody body = ReadAgeBody(std::get<rest::JsonBody>(json).members, &problems);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  auto idempotency = ReadIdempotency(call, kRoute);
  if (auto* reply = std::get_if<rest::Reply>(&idempotency)) return std::move(*reply);
  call.answer->DropBody();
  if (body.breach) return rest::ErrorReply(400, body.breach->code, body.breach->message);
  auto webhook = JudgePeopleCommon(call, domain::PeopleQuestion::kVerifyAge, body.common);
  if (auto* reply = std::get_if<rest::Reply>(&webhook)) return std::move(*reply);
  const auto& key = std::get<std::optional<store::Idempotency>>(idempotency);
  if (auto repeated = RepeatLookup(call, Answering::kStarted, key)) return std::move(*repeated);
  store::NewJob job = Compose(call, std::move(body));
  job.webhook = std::get<std::optional<store::Webhook>>(std::move(webhook));
  job.idempotency = key;
  return StartLookup(call, Answering::kStarted, call.parts.config.lookups.age_deadline_ms,
                     std::move(job));
}

}  // namespace vedette::api
