#include "worker/providers/lookup_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/json_members.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/free_mailbox.h"
#include "domain/email/lead.h"

namespace vedette::worker {
namespace {

using domain::AddressStatus;
using domain::Candidate;

// Values in all: about 20 MB of memory.
constexpr base::JsonLimits kAnswerLimits{.values_max = 200'000};

// Absent and null mean the same.
std::optional<AddressStatus> ParseStatus(const std::string& name) {
  if (name == "OK") return AddressStatus::kOk;
  if (name == "UNKNOWN") return AddressStatus::kUnknown;
  if (name == "NOT_FOUND") return AddressStatus::kNotFound;
  return std::nullopt;
}

// Reads what a candidate may have beside its address. What is wrong with it, or nothing.
std::optional<std::string_view> ReadMembers(const base::Json& entry, bool trust, Candidate* out) {
  if (const base::Json* status = base::PresentMember(entry, "status")) {
    const auto parsed = status->is_string() ? ParseStatus(status->get_ref<const std::string&>())
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
  base::Json answer;
  if (const auto error = base::ParseJson(body, &answer, kAnswerLimits)) {
    return InvalidLookupAnswer("it is not JSON");
  }
  if (!answer.is_object()) return InvalidLookupAnswer("it is not an object");
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
  base::Json answer;
  if (base::ParseJson(body, &answer, kAnswerLimits)) return InvalidLookupAnswer("it is not JSON");
  if (!answer.is_object()) return InvalidLookupAnswer("it is not an object");
  domain::AddressVerdict verdict;
  const base::Json* status = base::PresentMember(answer, "status");
  if (status == nullptr) return verdict;
  const auto parsed = status->is_string() ? ParseStatus(status->get_ref<const std::string&>())
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
  base::Json answer;
  if (base::ParseJson(body, &answer, kAnswerLimits)) return InvalidLookupAnswer("it is not JSON");
  if (!answer.is_object()) return InvalidLookupAnswer("it is not an object");
  const base::Json* domain = base::PresentMember(answer, "domain");
  if (domain == nullptr) return Nothing{};
  if (!domain->is_string()) return InvalidLookupAnswer("domain is not a string");
  return DomainAnswer(domain->get_ref<const std::string&>());
}

}  // namespace vedette::worker
