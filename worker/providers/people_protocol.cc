#include "worker/providers/people_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "base/text.h"
#include "domain/age/date_mention.h"
#include "worker/providers/lookup_protocol.h"

namespace vedette::worker {
namespace {

using domain::AgeClaim;
using domain::PersonFound;

// Values in all: about 20 MB of memory.
constexpr base::JsonLimits kPeopleAnswerLimits{.values_max = 200'000};
constexpr int kDefaultConfidence = 6;
// What an untrusted service's name is worth: too little to be an answer.
constexpr int kUntrustedConfidence = 2;

// Absent and null mean the same.
// The object of a body, or a failure.
std::variant<base::Json, domain::Failure> ReadBody(std::string_view body) {
  base::Json answer;
  if (base::ParseJson(body, &answer, kPeopleAnswerLimits))
    return InvalidLookupAnswer("it is not JSON");
  if (!answer.is_object()) return InvalidLookupAnswer("it is not an object");
  return answer;
}

// Empty where the member is no text.
std::string TextOf(const base::Json& object, const char* name) {
  return base::CutCharacters(base::FoldSpace(base::TextMember(object, name)),
                             domain::kPersonFieldCharactersMax);
}

std::vector<std::string> UrlsOf(const base::Json& object, const char* name) {
  std::vector<std::string> urls;
  const base::Json* list = base::PresentMember(object, name);
  if (list == nullptr || !list->is_array()) return urls;
  for (const base::Json& url : *list) {
    if (urls.size() == domain::kPersonUrlsMax) break;
    if (url.is_string() && domain::IsClaimUrl(url.get_ref<const std::string&>())) {
      urls.push_back(url.get<std::string>());
    }
  }
  return urls;
}

int ConfidenceOf(const base::Json& object) {
  const base::Json* confidence = base::PresentMember(object, "confidence");
  if (confidence == nullptr || !confidence->is_number()) return kDefaultConfidence;
  return static_cast<int>(std::lround(std::clamp(confidence->get<double>(), 0.0, 10.0)));
}

// Empty where the member is no whole number that a date may have.
std::optional<int> NumberOf(const base::Json& object, const char* name) {
  const base::Json* number = base::PresentMember(object, name);
  if (number == nullptr || !number->is_number_unsigned()) return std::nullopt;
  constexpr unsigned kNumberMax = 9999;
  const auto value = number->get<std::uint64_t>();
  return value <= kNumberMax ? std::optional(static_cast<int>(value)) : std::nullopt;
}

std::optional<std::chrono::year_month_day> DayOf(const base::Json& object, const char* name) {
  const auto date = domain::ReadDateValue(TextOf(object, name));
  if (!date || !date->month || !date->day) return std::nullopt;
  return std::chrono::year(*date->year) / *date->month / *date->day;
}

// Empty where the entry proves nothing.
std::optional<AgeClaim> ReadClaim(const base::Json& entry) {
  AgeClaim claim;
  claim.standing = AgeClaim::Standing::kService;
  claim.url = TextOf(entry, "url");
  claim.quote = base::CutCharacters(TextOf(entry, "quote"), domain::kClaimQuoteCharactersMax);
  if (!domain::IsClaimUrl(claim.url) || claim.quote.empty()) return std::nullopt;
  claim.confidence = ConfidenceOf(entry);
  claim.date = {NumberOf(entry, "year"), NumberOf(entry, "month"), NumberOf(entry, "day")};
  if (claim.date.year) return claim;
  const auto age = NumberOf(entry, "age");
  claim.as_of = DayOf(entry, "as_of");
  if (!age || !claim.as_of) return std::nullopt;
  claim.kind = AgeClaim::Kind::kAge;
  claim.age = *age;
  return claim;
}

}  // namespace

LookupAnswer ParsePersonAnswer(std::string_view body, bool trust) {
  auto read = ReadBody(body);
  if (auto* failure = std::get_if<domain::Failure>(&read)) return std::move(*failure);
  const auto& answer = std::get<base::Json>(read);
  const base::Json* given = base::PresentMember(answer, "person");
  if (given == nullptr) return Nothing{};
  if (!given->is_object()) return InvalidLookupAnswer("person is not an object");
  PersonFound person;
  person.first_name = domain::CleanName(TextOf(*given, "first_name"));
  person.last_name = domain::CleanName(TextOf(*given, "last_name"));
  person.name = domain::CleanName(TextOf(*given, "name"));
  if (person.name.empty()) {
    person.name = base::FoldSpace(person.first_name + " " + person.last_name);
  }
  if (person.name.empty()) return Nothing{};
  person.title = domain::CleanName(TextOf(*given, "title"));
  person.company = domain::CleanName(TextOf(*given, "company"));
  person.location = domain::CleanName(TextOf(*given, "location"));
  person.linkedin = TextOf(*given, "linkedin");
  if (!domain::IsClaimUrl(person.linkedin)) person.linkedin.clear();
  person.profiles = UrlsOf(*given, "profiles");
  person.sources = UrlsOf(*given, "sources");
  person.evidence =
      base::CutCharacters(TextOf(*given, "evidence"), domain::kPersonEvidenceCharactersMax);
  person.confidence = ConfidenceOf(*given);
  if (!trust) person.confidence = std::min(person.confidence, kUntrustedConfidence);
  return person;
}

LookupAnswer ParseClaimsAnswer(std::string_view body, const std::string& provider, bool trust) {
  auto read = ReadBody(body);
  if (auto* failure = std::get_if<domain::Failure>(&read)) return std::move(*failure);
  const auto& answer = std::get<base::Json>(read);
  const base::Json* list = base::PresentMember(answer, "claims");
  if (list == nullptr) return Nothing{};
  if (!list->is_array()) return InvalidLookupAnswer("claims is not an array");
  domain::AgeClaims claims;
  for (const base::Json& entry : *list) {
    if (claims.size() == kAnswerClaimsMax) break;
    if (!entry.is_object()) return InvalidLookupAnswer("a claim is not an object");
    auto claim = ReadClaim(entry);
    if (!claim) continue;
    claim->identity = trust ? domain::Identity::kSame : domain::Identity::kUnproven;
    claim->provider = provider;
    claims.push_back(std::move(*claim));
  }
  if (claims.empty()) return Nothing{};
  return claims;
}

}  // namespace vedette::worker
