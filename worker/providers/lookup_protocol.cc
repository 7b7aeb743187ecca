#include "worker/providers/lookup_protocol.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/lead.h"
#include "domain/people/date_mention.h"

namespace vedette::worker {
namespace {

using domain::AddressStatus;
using domain::Candidate;

// Values in all: about 20 MB of memory.
constexpr base::JsonLimits kAnswerLimits{.values_max = 200'000};

// The object of an answer, or the failure of one that is none.
std::variant<base::Json, domain::Failure> ReadBody(std::string_view body) {
  base::Json answer;
  if (base::ParseJson(body, &answer, kAnswerLimits)) return InvalidLookupAnswer("it is not JSON");
  if (!answer.is_object()) return InvalidLookupAnswer("it is not an object");
  return answer;
}

// Reads what a candidate may have beside its address. What is wrong with it, or nothing.
std::optional<std::string_view> ReadMembers(const base::Json& entry, bool trust, Candidate* out) {
  if (const base::Json* status = base::PresentMember(entry, "status")) {
    const auto parsed = status->is_string()
                            ? domain::ParseAddressStatus(status->get_ref<const std::string&>())
                            : std::optional<AddressStatus>();
    if (!parsed) return "a candidate's status is none of OK, UNKNOWN and NOT_FOUND";
    out->status = *parsed;
  }
  if (!trust && out->status == AddressStatus::kOk) out->status = AddressStatus::kUnknown;
  out->confidence = DefaultConfidence(out->status);
  if (const base::Json* confidence = base::PresentMember(entry, "confidence")) {
    if (!confidence->is_number()) return "a candidate's confidence is not a number";
    out->confidence = static_cast<int>(std::lround(
        std::clamp(confidence->get<double>(), 0.0, static_cast<double>(domain::kConfidenceMax))));
  }
  if (const base::Json* sources = base::PresentMember(entry, "sources")) {
    if (!sources->is_array()) return "a candidate's sources are not an array";
    for (const base::Json& source : *sources) {
      if (!source.is_string()) return "a candidate's source is not a string";
      const auto& url = source.get_ref<const std::string&>();
      if (out->sources.size() < domain::kCandidateSourcesMax && IsSource(url)) {
        out->sources.push_back(url);
      }
    }
  }
  if (const base::Json* quote = base::PresentMember(entry, "quote")) {
    if (!quote->is_string()) return "a candidate's quote is not a string";
    out->quote = base::CutCharacters(quote->get_ref<const std::string&>(),
                                     domain::kCandidateQuoteCharactersMax);
  }
  return std::nullopt;
}

}  // namespace

domain::Failure InvalidLookupAnswer(std::string_view what) {
  return {"invalid_answer",
          fmt::format("The lookup service's answer is not valid: {}.", what),
          false,
          {}};
}

std::string_view LookupName(Lookup lookup) {
  constexpr std::string_view kNames[] = {"find_email", "verify_email", "reverse_email",
                                         "verify_age", "company_domain"};
  return kNames[static_cast<std::size_t>(lookup)];
}

int DefaultConfidence(AddressStatus status) {
  if (status == AddressStatus::kNotFound) return 0;
  return status == AddressStatus::kOk ? domain::kConfidenceOk : domain::kConfidenceStated;
}

bool IsSource(std::string_view url) {
  return url.size() <= domain::kCandidateSourceBytesMax && base::HasWebScheme(url);
}

std::string LookupBody(const LookupRequest& request) {
  base::Json body = base::Json::object();
  body["lookup"] = LookupName(request.lookup);
  body["row_id"] = request.row_id.ToString();
  body["task_id"] = request.job_id.ToString();
  body["mode"] = domain::FindModeName(request.mode);
  if (request.lookup == Lookup::kVerifyEmail) {
    body["address"] = request.address;
  } else {
    body["person"] = domain::PersonJson(*request.person);
    body["verify"] = request.verify_emails;
    if (!request.address.empty()) body["address"] = request.address;
    if (!request.urls.empty()) body["urls"] = request.urls;
  }
  body["timeout_ms"] = request.timeout.count();
  return base::DumpJson(body);
}

LookupAnswer ParseLookupAnswer(std::string_view body, bool trust) {
  auto read = ReadBody(body);
  if (auto* failure = std::get_if<domain::Failure>(&read)) return std::move(*failure);
  const auto& answer = std::get<base::Json>(read);
  const base::Json* list = base::PresentMember(answer, "candidates");
  if (list == nullptr) return Nothing{};
  if (!list->is_array()) return InvalidLookupAnswer("candidates is not an array");
  domain::Candidates candidates;
  for (const base::Json& entry : *list) {
    if (candidates.size() == kAnswerCandidatesMax) break;
    if (!entry.is_object()) return InvalidLookupAnswer("a candidate is not an object");
    const base::Json* email = base::PresentMember(entry, "email");
    if (email == nullptr || !email->is_string()) {
      return InvalidLookupAnswer("a candidate has no email");
    }
    Candidate candidate;
    candidate.address = base::Trim(email->get_ref<const std::string&>());
    if (const auto fault = ReadMembers(entry, trust, &candidate)) {
      return InvalidLookupAnswer(*fault);
    }
    if (domain::ParseAddress(candidate.address)) candidates.push_back(std::move(candidate));
  }
  if (candidates.empty()) return Nothing{};
  return candidates;
}

LookupAnswer ParseVerdictAnswer(std::string_view body, base::Timestamp now) {
  auto read = ReadBody(body);
  if (auto* failure = std::get_if<domain::Failure>(&read)) return std::move(*failure);
  const auto& answer = std::get<base::Json>(read);
  domain::AddressVerdict verdict;
  const base::Json* status = base::PresentMember(answer, "status");
  if (status == nullptr) return verdict;
  const auto parsed = status->is_string()
                          ? domain::ParseAddressStatus(status->get_ref<const std::string&>())
                          : std::optional<AddressStatus>();
  if (!parsed) return InvalidLookupAnswer("status is none of OK, UNKNOWN and NOT_FOUND");
  // A reason that we do not know says no more than the status.
  const base::Json* given = base::PresentMember(answer, "reason");
  const auto reason = given != nullptr && given->is_string()
                          ? domain::ParseVerdictReason(given->get_ref<const std::string&>())
                          : std::nullopt;
  verdict.checked_at = now;
  switch (*parsed) {
    case AddressStatus::kOk:
      verdict.verdict = domain::Verdict::kOk;
      verdict.reason = domain::VerdictReason::kNone;
      break;
    case AddressStatus::kUnknown:
      verdict.reason = reason.value_or(domain::VerdictReason::kUnverifiedByServer);
      break;
    case AddressStatus::kNotFound:
      verdict.verdict = domain::Verdict::kRefused;
      verdict.reason = reason.value_or(domain::VerdictReason::kRefused);
      break;
  }
  return verdict;
}

LookupAnswer DomainAnswer(std::string_view text) {
  const auto domain = domain::FindDomain(base::Trim(text));
  if (!domain || domain::IsFreeMailboxDomain(*domain)) return Nothing{};
  return CompanyDomainFound{*domain};
}

LookupAnswer ParseDomainAnswer(std::string_view body) {
  auto read = ReadBody(body);
  if (auto* failure = std::get_if<domain::Failure>(&read)) return std::move(*failure);
  const auto& answer = std::get<base::Json>(read);
  const base::Json* domain = base::PresentMember(answer, "domain");
  if (domain == nullptr) return Nothing{};
  if (!domain->is_string()) return InvalidLookupAnswer("domain is not a string");
  return DomainAnswer(domain->get_ref<const std::string&>());
}

namespace {

using domain::AgeClaim;
using domain::PersonFound;

constexpr int kDefaultConfidence = 6;
// What an untrusted service's name is worth: too little to be an answer.
constexpr int kUntrustedConfidence = 2;

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
