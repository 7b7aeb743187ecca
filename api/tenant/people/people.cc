#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/kit/body.h"
#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "api/tenant/email/find_body.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "config/rules.h"
#include "domain/email/finders.h"
#include "domain/email/recipe.h"
#include "domain/people/people_answer.h"
#include "domain/people/people_request.h"
#include "domain/text/limits.h"
#include "store/jobs/start.h"

namespace vedette::api {
namespace {

// The bodies of requests about people. Pure, but for the configuration that they are validated by.

// What all of them have beside their leads.
struct PeopleCommon {
  std::vector<std::string> providers;  // empty: the configured order
  std::optional<std::string> webhook_url;
};

struct AgeBody {
  std::optional<base::Json> subject;  // of exactly one of subject, lead_info and input
  std::optional<FindBody::LeadBreach> breach;
  PeopleCommon common;
};

using rest::Presence;

constexpr const char* kSubjectNames[] = {"subject", "lead_info", "input"};

// Every id that a request may name, and those of them that serve the question. A third party that
// the operator has not switched on is none of them.
struct KnownProviders {
  std::vector<std::string> all;
  std::vector<std::string> serving;
};

bool Has(const std::vector<std::string>& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

KnownProviders KnownTo(const config::Config& config, domain::PeopleQuestion question) {
  KnownProviders known;
  const auto add = [&](std::string_view id, bool serves) {
    if (Has(known.all, id) || !config::IsOn(config, id)) return;
    known.all.emplace_back(id);
    if (serves) known.serving.emplace_back(id);
  };
  using Ids = std::span<const std::string_view>;
  for (const Ids own :
       {Ids(domain::kOwnFinders), Ids(domain::kReverseSources), Ids(domain::kAgeSources)}) {
    for (const std::string_view id : own) add(id, domain::AnswersPeople(id, question));
  }
  for (const auto& [id, provider] : config.providers.http) add(id, true);
  const auto wanted = question == domain::PeopleQuestion::kReverseEmail
                          ? domain::RecipeLookup::kReverseEmail
                          : domain::RecipeLookup::kVerifyAge;
  for (const auto& [id, recipe] : config.providers.recipes) add(id, recipe->lookup == wanted);
  for (const auto& [id, model] : config.providers.llm) add(id, true);
  return known;
}

void CheckProviders(const config::Config& config, domain::PeopleQuestion question,
                    const std::vector<std::string>& providers) {
  const KnownProviders known = KnownTo(config, question);
  for (const std::string& id : providers) {
    if (!Has(known.all, id)) {
      throw rest::Refusal(400, "unknown_provider",
                          fmt::format("{} is no provider here; those of such lookups are: {}",
                                      rest::Quoted(id), fmt::join(known.serving, ", ")));
    }
    if (!Has(known.serving, id)) {
      throw rest::Refusal(400, "provider_not_for_this",
                          fmt::format("{} answers no lookup of this kind; these do: {}",
                                      rest::Quoted(id), fmt::join(known.serving, ", ")));
    }
  }
}

PeopleCommon ReadPeopleCommon(rest::BodyReader* reader) {
  PeopleCommon common;
  common.providers =
      reader->Texts("providers", Presence::kOptional).value_or(std::vector<std::string>());
  if (common.providers.size() > kProvidersMax) {
    reader->Refuse("providers", fmt::format("Input should have at most {} items", kProvidersMax));
  }
  common.webhook_url =
      reader->Text("webhook_url", Presence::kOptional, 0, domain::kUrlReadCharsMax);
  return common;
}

// 400 unknown_provider, which names the known ones, provider_not_for_this, invalid_webhook_url.
std::optional<store::Webhook> ReadPeopleWebhook(const Call& call, domain::PeopleQuestion question,
                                                const PeopleCommon& common) {
  CheckProviders(call.parts.config, question, common.providers);
  if (!common.webhook_url) return std::optional<store::Webhook>();
  const auto url = ReadJobWebhook(*common.webhook_url, call.parts.policy);
  return std::optional(ToWebhook(url));
}

// What has the wrong form becomes a problem (422), unknown members too. The breach is a 400 of
// empty_subject or ambiguous_subject.
AgeBody ReadAgeBody(const base::Json& members, rest::Problems* problems) {
  AgeBody body;
  rest::BodyReader reader(members, problems);
  std::size_t given = 0;
  std::string name = kSubjectNames[0];
  for (const char* candidate : kSubjectNames) {
    const base::Json* subject = reader.Member(candidate, Presence::kOptional);
    if (subject == nullptr) continue;
    if (++given > 1) continue;
    name = candidate;
    body.subject = *subject;
  }
  body.common = ReadPeopleCommon(&reader);
  reader.Finish();
  if (given == 0) {
    body.breach = FindBody::LeadBreach{"empty_subject", "subject, lead_info or input is needed"};
    return body;
  }
  if (given > 1) {
    body.breach =
        FindBody::LeadBreach{"ambiguous_subject", "one of subject, lead_info and input is taken"};
    return body;
  }
  const auto read = domain::ReadSubject(*body.subject);
  const auto* fault = std::get_if<domain::LeadFault>(&read);
  if (fault == nullptr) return body;
  if (fault->kind == domain::LeadFault::Kind::kEmpty) {
    body.breach = FindBody::LeadBreach{"empty_subject", name + " " + fault->message};
    return body;
  }
  base::Json loc = rest::BodyReader::Loc(name);
  if (!fault->key.empty()) loc.push_back(fault->key);
  problems->Add(loc, "value_error", "Input " + fault->message);
  return body;
}

// The four routes that ask who is behind addresses. They differ in the shape of the leads and in
// whether the client waits for the job's end.

struct ReverseRoute {
  std::string_view pattern;
  LeadShape shape;
  Answering answering;
};

// A validated request.
struct Ask {
  domain::PeopleRequest request;
  std::optional<store::Webhook> webhook;
  std::optional<store::Idempotency> idempotency;
};

// A lead of a single request that has no address, or none that is one.
void CheckAddress(const ReverseRoute& route, const FindBody& body) {
  if (route.shape == LeadShape::kBulk) return;
  if (domain::ParseAddress(domain::AddressOf(body.leads.front()))) return;
  throw rest::Refusal(400, "invalid_email", "lead has no email that is an address");
}

Ask ReadAsk(Call& call, const ReverseRoute& route) {
  auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  FindBody body = ReadReverseBody(std::move(json.members), route.shape, &problems);
  problems.Check();
  auto idempotency = ReadIdempotency(call, route.pattern);
  call.answer->DropBody();
  CheckLeads(body);
  CheckAddress(route, body);
  auto webhook = ReadPeopleWebhook(call, domain::PeopleQuestion::kReverseEmail,
                                   {body.providers, body.webhook_url});
  Ask ask;
  ask.request.providers = std::move(body.providers);
  ask.request.charge = call.parts.config.reverse_email_price.charge;
  ask.request.rows = domain::MakeFindRows(std::move(body.leads));
  ask.webhook = std::move(webhook);
  ask.idempotency = std::move(idempotency);
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
  const auto ask = ReadAsk(call, route);
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

// The route that starts a lookup of a person's age.

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
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  AgeBody body = ReadAgeBody(json.members, &problems);
  problems.Check();
  const auto key = ReadIdempotency(call, kRoute);
  call.answer->DropBody();
  if (body.breach) return rest::ErrorReply(400, body.breach->code, body.breach->message);
  auto webhook = ReadPeopleWebhook(call, domain::PeopleQuestion::kVerifyAge, body.common);
  if (auto repeated = RepeatLookup(call, Answering::kStarted, key)) return std::move(*repeated);
  store::NewJob job = Compose(call, std::move(body));
  job.webhook = std::move(webhook);
  job.idempotency = key;
  return StartLookup(call, Answering::kStarted, call.parts.config.lookups.age_deadline_ms,
                     std::move(job));
}

}  // namespace vedette::api
