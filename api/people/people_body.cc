#include "api/people/people_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "api/limits.h"
#include "api/webhook.h"
#include "config/config.h"
#include "config/rules.h"
#include "domain/email/provider_ids.h"
#include "domain/people/people_request.h"
#include "domain/people/source_ids.h"
#include "domain/recipe/recipe.h"

namespace vedette::api {
namespace {

using rest::Presence;

constexpr std::size_t kUrlReadCharsMax = 65536;  // longer is a 422, up to here a 400 by the rule
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

std::optional<rest::Reply> JudgeProviders(const config::Config& config,
                                          domain::PeopleQuestion question,
                                          const std::vector<std::string>& providers) {
  const KnownProviders known = KnownTo(config, question);
  for (const std::string& id : providers) {
    if (!Has(known.all, id)) {
      return rest::ErrorReply(400, "unknown_provider",
                              fmt::format("{} is no provider here; the providers are: {}",
                                          rest::Quoted(id), fmt::join(known.all, ", ")));
    }
    if (!Has(known.serving, id)) {
      return rest::ErrorReply(400, "provider_not_for_this",
                              fmt::format("{} answers no lookup of this kind; these do: {}",
                                          rest::Quoted(id), fmt::join(known.serving, ", ")));
    }
  }
  return std::nullopt;
}

}  // namespace

PeopleCommon ReadPeopleCommon(rest::BodyReader* reader) {
  PeopleCommon common;
  common.providers =
      reader->Texts("providers", Presence::kOptional).value_or(std::vector<std::string>());
  if (common.providers.size() > kProvidersMax) {
    reader->Refuse("providers", fmt::format("Input should have at most {} items", kProvidersMax));
  }
  common.webhook_url = reader->Text("webhook_url", Presence::kOptional, 0, kUrlReadCharsMax);
  return common;
}

rest::Judged<std::optional<store::Webhook>> JudgePeopleCommon(const Call& call,
                                                              domain::PeopleQuestion question,
                                                              const PeopleCommon& common) {
  if (auto reply = JudgeProviders(call.parts.config, question, common.providers)) {
    return std::move(*reply);
  }
  if (!common.webhook_url) return std::optional<store::Webhook>();
  auto url = JudgeJobWebhook(*common.webhook_url, call.parts.policy);
  if (auto* reply = std::get_if<rest::Reply>(&url)) return std::move(*reply);
  return std::optional(ToWebhook(std::get<net::TenantUrl>(url)));
}

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
  problems->Add(std::move(loc), "value_error", "Input " + fault->message);
  return body;
}

}  // namespace vedette::api
