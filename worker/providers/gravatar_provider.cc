#include "worker/providers/gravatar_provider.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/crypto.h"
#include "base/json_members.h"
#include "base/text.h"
#include "domain/people/stated_name.h"

namespace vedette::worker {
namespace {

constexpr std::size_t kAnswerBytesMax = 256 * 1024;
constexpr base::JsonLimits kAnswerLimits{.values_max = 20'000};

std::string TextOf(const base::Json& object, const char* name) {
  return base::CutCharacters(domain::CleanName(base::TextMember(object, name)),
                             domain::kPersonFieldCharactersMax);
}

void AddProfiles(const base::Json& profile, domain::PersonFound* person) {
  const auto accounts = profile.find("verified_accounts");
  if (accounts == profile.end() || !accounts->is_array()) return;
  for (const base::Json& account : *accounts) {
    if (!account.is_object() || person->profiles.size() == domain::kPersonUrlsMax) continue;
    std::string url = TextOf(account, "url");
    if (!base::HasWebScheme(url)) continue;
    if (person->linkedin.empty() && url.find("linkedin.com/in/") != std::string::npos) {
      person->linkedin = url;
    }
    person->profiles.push_back(std::move(url));
  }
}

}  // namespace

std::string GravatarUrl(std::string_view base_url, std::string_view address) {
  while (base_url.ends_with('/')) base_url.remove_suffix(1);
  const std::string key = base::AsciiLower(base::Trim(address));
  return std::string(base_url) + "/profiles/" + base::HexEncode(base::Sha256(key));
}

LookupAnswer ReadGravatarProfile(std::string_view body) {
  base::Json profile;
  if (base::ParseJson(body, &profile, kAnswerLimits) || !profile.is_object()) {
    return domain::Failure{"invalid_answer", "Gravatar's answer is not a JSON object.", false, {}};
  }
  domain::PersonFound person;
  const std::string first = TextOf(profile, "first_name");
  const std::string last = TextOf(profile, "last_name");
  person.name = domain::StatedName(first + " " + last);
  if (!person.name.empty()) {
    person.first_name = first;
    person.last_name = last;
  } else {
    person.name = domain::StatedName(TextOf(profile, "display_name"));
  }
  if (person.name.empty()) return Nothing{};
  person.confidence = GravatarProvider::kConfidence;
  person.title = TextOf(profile, "job_title");
  person.company = TextOf(profile, "company");
  person.location = TextOf(profile, "location");
  std::string url = TextOf(profile, "profile_url");
  if (base::HasWebScheme(url)) person.sources = {std::move(url)};
  AddProfiles(profile, &person);
  person.evidence = base::CutCharacters("The profile at Gravatar: " + person.name,
                                        domain::kPersonEvidenceCharactersMax);
  return person;
}

GravatarProvider::GravatarProvider(net::HttpClient& client, const ServiceBudgets& budgets,
                                   const base::Clock& clock, const config::GravatarConfig& config,
                                   const std::string& user_agent)
    : config_(config),
      getter_(client, budgets.answers, clock,
              {"Gravatar", config.api_key, user_agent, kAnswerBytesMax}) {}

void GravatarProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  if (request.lookup != Lookup::kReverseEmail) return done(Nothing{});
  GetQuestion question;
  question.org_id = request.org_id;
  question.url = GravatarUrl(config_.url, request.address);
  question.timeout = std::min(request.timeout, config_.timeout_ms);
  question.may_call = std::move(request.may_call);
  const auto given = question.timeout;
  const auto limit = config_.timeout_ms;
  getter_.Get(std::move(question), [given, limit, done = std::move(done)](GetAnswer raw) {
    auto answer = JudgedByTime(std::move(raw), given, limit);
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    const auto& response = std::get<net::HttpResponse>(answer);
    if (response.status == 404) return done(Nothing{});
    done(ReadGravatarProfile(response.body));
  });
}

}  // namespace vedette::worker
