#include "domain/email/found.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

#include "base/json.h"
#include "domain/email/address.h"
#include "domain/email/email_fact.h"
#include "domain/email/lead.h"
#include "domain/email/suppression.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kNotVerified = "not_verified";
constexpr std::string_view kRefused = "refused";
constexpr std::string_view kInvalidAddress = "invalid_address";
constexpr std::string_view kNothingFound = "nothing_found";
constexpr std::string_view kPatternRefused = "pattern_refused";
constexpr std::string_view kFreeMailboxDomain = "free_mailbox_domain";

constexpr std::string_view kCompany = "COMPANY";
constexpr std::string_view kPersonal = "PERSONAL";

// A professional address is taken for the company's where nobody knows the company's domain.
std::string_view TypeOf(const std::string& text, FindMode mode, const std::string& company_domain) {
  const auto address = ParseAddress(text);
  const bool is_known = !company_domain.empty() || mode == FindMode::kPersonal;
  if (!address) return mode == FindMode::kPersonal ? kPersonal : kCompany;
  if (IsFreeMailboxDomain(address->domain)) return kPersonal;
  return is_known && !IsOfCompany(*address, company_domain) ? kPersonal : kCompany;
}

// An address that the lead came with: nobody has verified it.
FoundAddress OwnAddress(const std::string& text) {
  FoundAddress own;
  own.candidate.address = text;
  const bool is_valid = ParseAddress(text).has_value();
  own.candidate.status = is_valid ? AddressStatus::kUnknown : AddressStatus::kNotFound;
  own.candidate.confidence = is_valid ? kConfidenceStated : 0;
  own.reason = is_valid ? kNotVerified : kInvalidAddress;
  return own;
}

Found AtOnce(const std::string& own_address) {
  Found found;
  found.end = FindEnd::kAtOnce;
  found.addresses.push_back(OwnAddress(own_address));
  found.reason = found.addresses.front().reason;
  return found;
}

// Whether the client is given the address. One that its server refuses is only told of in the
// details, unless it is the lead's own.
bool IsReturned(const FoundAddress& address) {
  return address.provider.empty() || address.candidate.status != AddressStatus::kNotFound;
}

base::Json Tuple(const FoundAddress& address, FindMode mode, const std::string& company_domain) {
  return base::Json::array({address.candidate.address, AddressStatusName(address.candidate.status),
                            TypeOf(address.candidate.address, mode, company_domain)});
}

// The list that the client asked for.
base::Json AskedList(FindMode mode, const Found& found, const std::string& company_domain) {
  base::Json list = base::Json::array();
  if (!found.error.empty()) return list;
  for (const FoundAddress& address : found.addresses) {
    if (IsReturned(address)) list.push_back(Tuple(address, mode, company_domain));
  }
  if (list.empty()) {
    list.push_back(base::Json::array({"", AddressStatusName(AddressStatus::kNotFound),
                                      mode == FindMode::kPersonal ? kPersonal : kCompany}));
  }
  return list;
}

base::Json AddressesJson(FindMode mode, const Found& found, const std::string& company_domain) {
  base::Json list = base::Json::array();
  for (const FoundAddress& address : found.addresses) {
    const Candidate& candidate = address.candidate;
    base::Json json = base::Json::object();
    json["address"] = candidate.address;
    json["status"] = AddressStatusName(candidate.status);
    json["type"] = TypeOf(candidate.address, mode, company_domain);
    json["reason"] = base::OrNull(address.reason);
    json["stated"] = candidate.stated;
    json["provider"] = base::OrNull(address.provider);
    json["confidence"] = candidate.confidence;
    json["sources"] = candidate.sources;
    json["quote"] = base::OrNull(candidate.quote);
    json["checked_at"] =
        address.checked_at ? base::Json(base::FormatTimestamp(*address.checked_at)) : nullptr;
    list.push_back(std::move(json));
  }
  return list;
}

// Whether the organisation's own facts alone are the answer: all that is returned, or, where
// nothing is, all that was seen.
bool IsKnownAlready(const Found& found) {
  const auto& all = found.addresses;
  if (all.empty()) return false;
  const bool is_any = IsReturned(all.front());
  return std::all_of(all.begin(), all.end(), [&](const FoundAddress& address) {
    return address.provider == kStoreProvider || (is_any && !IsReturned(address));
  });
}

// The pattern of the best address, where it is known.
base::Json PatternJson(const Found& found) {
  if (found.addresses.empty() || !found.error.empty()) return nullptr;
  const auto& pattern = found.addresses.front().candidate.pattern;
  return pattern ? base::Json(AddressPatternName(*pattern)) : base::Json(nullptr);
}

}  // namespace

base::Json TriesJson(const std::vector<ProviderTry>& tries) {
  base::Json list = base::Json::array();
  for (const ProviderTry& one : tries) {
    base::Json json = base::Json::object();
    json["provider"] = one.provider;
    json["outcome"] = TryOutcomeName(one.outcome);
    json["error_class"] = base::OrNull(one.error_class);
    json["elapsed_ms"] = one.elapsed.count();
    list.push_back(std::move(json));
  }
  return list;
}

base::Json RecordedCells(const std::optional<std::string>& rows_json, std::size_t rows) {
  base::Json cells = base::Json::array();
  if (rows_json) {
    base::Json recorded = base::ParseJsonOrThrow(*rows_json);
    if (!recorded.is_array()) throw std::invalid_argument("recorded rows are no array");
    for (base::Json& row : recorded) {
      const bool is_recorded = row.is_array() && !row.empty() && row[0].is_object();
      cells.push_back(is_recorded ? std::move(row[0]) : base::Json(nullptr));
    }
  }
  while (cells.size() < rows) cells.push_back(nullptr);
  return cells;
}

std::string_view TryOutcomeName(TryOutcome outcome) {
  constexpr std::string_view kNames[] = {"found", "nothing", "skipped", "failed", "later"};
  return kNames[static_cast<std::size_t>(outcome)];
}

int ConfidenceOf(const Candidate& candidate) {
  switch (candidate.status) {
    case AddressStatus::kOk:
      if (candidate.stated) return kConfidenceOk;
      if (candidate.seen == PatternSeen::kLearned) return kConfidenceOkLearned;
      return !candidate.pattern || UsesBothNames(*candidate.pattern) ? kConfidenceOkBothNames
                                                                     : kConfidenceOkOneName;
    case AddressStatus::kUnknown:
      if (candidate.stated) return kConfidenceStated;
      return candidate.seen == PatternSeen::kLearned ? kConfidenceGuessedLearned
                                                     : kConfidenceGuessed;
    case AddressStatus::kNotFound:
      return 0;
  }
  return 0;
}

void ApplyVerdict(const AddressVerdict& verdict, FoundAddress* address) {
  Candidate& candidate = address->candidate;
  address->check = AddressCheck::kVerified;
  address->checked_at = verdict.checked_at;
  address->reason = VerdictReasonName(verdict.reason);
  switch (verdict.verdict) {
    case Verdict::kOk:
      candidate.status = AddressStatus::kOk;
      break;
    case Verdict::kUnknown:
      // What its provider thought of the address still holds.
      candidate.status = AddressStatus::kUnknown;
      return;
    case Verdict::kRefused:
      candidate.status = AddressStatus::kNotFound;
      break;
  }
  candidate.confidence = ConfidenceOf(candidate);
}

std::optional<FoundAddress> OwnAddressToVerify(FindMode mode, const Person& person) {
  if (mode != FindMode::kProfessional || person.email.empty()) return std::nullopt;
  FoundAddress own = OwnAddress(person.email);
  if (own.candidate.status != AddressStatus::kUnknown) return std::nullopt;
  return own;
}

std::optional<Found> AnswerAtOnce(FindMode mode, const Person& person, bool verify_emails) {
  if (mode == FindMode::kProfessional) {
    if (!person.email.empty()) {
      if (verify_emails && OwnAddressToVerify(mode, person)) return std::nullopt;
      return AtOnce(person.email);
    }
    if (!IsFreeMailboxDomain(person.domain)) return std::nullopt;
    Found nothing;
    nothing.end = FindEnd::kAtOnce;
    nothing.reason = kFreeMailboxDomain;
    return nothing;
  }
  if (!person.personal_email.empty()) return AtOnce(person.personal_email);
  const auto address = ParseAddress(person.email);
  if (address && IsFreeMailboxDomain(address->domain)) return AtOnce(person.email);
  return std::nullopt;
}

Found DecideFound(std::vector<FoundAddress> seen, std::vector<ProviderTry> tries, FindEnd end,
                  std::string_view nothing_reason) {
  Found found;
  found.end = end;
  found.tries = std::move(tries);
  for (FoundAddress& address : seen) {
    switch (address.candidate.status) {
      case AddressStatus::kOk:
        address.reason.clear();
        break;
      case AddressStatus::kUnknown:
        if (address.reason.empty()) address.reason = kNotVerified;
        break;
      case AddressStatus::kNotFound:
        if (address.reason.empty()) address.reason = kRefused;
        break;
    }
  }
  const auto rank = [](const FoundAddress& a) {
    return std::tuple(a.candidate.status, !a.candidate.stated, -a.candidate.confidence);
  };
  std::stable_sort(seen.begin(), seen.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (seen.size() > kFoundAddressesMax) seen.resize(kFoundAddressesMax);
  found.addresses = std::move(seen);
  const bool is_found = !found.addresses.empty() && IsReturned(found.addresses.front());
  if (found.addresses.empty()) {
    found.reason = nothing_reason.empty() ? kNothingFound : nothing_reason;
  } else {
    found.reason = found.addresses.front().reason;
  }
  if (!found.addresses.empty() && !is_found &&
      found.addresses.front().candidate.seen == PatternSeen::kLearned) {
    found.reason = kPatternRefused;
  }
  if (!is_found && end == FindEnd::kOutOfTime) found.error = kErrorTimedOut;
  if (!is_found && end == FindEnd::kNoneAnswered) found.error = kErrorProvidersFailed;
  if (!found.error.empty()) found.reason.clear();
  return found;
}

Found FailedFound(std::string_view error_code) {
  Found found;
  found.end = FindEnd::kError;
  found.error = error_code;
  return found;
}

bool IsCharged(FindMode mode, const Person& person, const Found& found, ChargeRule rule) {
  if (!found.error.empty() || found.end == FindEnd::kAtOnce) return false;
  if (rule == ChargeRule::kAlways) return !IsKnownAlready(found);
  // A lead's own address: that it is refused is an answer, too.
  if (found.end == FindEnd::kOwnVerified && rule == ChargeRule::kFound) {
    return !found.addresses.empty() &&
           found.addresses.front().candidate.status != AddressStatus::kUnknown;
  }
  const std::string company_domain = CompanyDomain(person);
  const bool counts_types = mode == FindMode::kProfessional && found.end != FindEnd::kOwnVerified;
  return std::any_of(found.addresses.begin(), found.addresses.end(), [&](const auto& address) {
    const Candidate& candidate = address.candidate;
    // What the organisation knew already was paid for when it was found.
    if (!IsReturned(address) || address.provider == kStoreProvider) return false;
    if (counts_types && TypeOf(candidate.address, mode, company_domain) != kCompany) return false;
    if (candidate.status == AddressStatus::kOk) return true;
    return rule == ChargeRule::kFound && candidate.status == AddressStatus::kUnknown &&
           candidate.stated;
  });
}

std::string_view FoundOutcome(const Found& found) {
  if (!found.error.empty()) return found.error;
  if (found.addresses.empty()) return "not_found";
  constexpr std::string_view kNames[] = {"ok", "unknown", "not_found"};
  return kNames[static_cast<std::size_t>(found.addresses.front().candidate.status)];
}

base::Json ShortFoundCell(FindMode mode, const Person& person, const Found& found) {
  const std::string company_domain = CompanyDomain(person);
  base::Json asked = AskedList(mode, found, company_domain);
  base::Json existing = base::Json::array();
  if (!person.email.empty()) {
    const bool is_verified = !found.addresses.empty() && found.addresses.front().provider.empty() &&
                             found.addresses.front().candidate.address == person.email;
    FoundAddress own = is_verified ? found.addresses.front() : OwnAddress(person.email);
    if (!is_verified && found.work_verdict) ApplyVerdict(*found.work_verdict, &own);
    existing.push_back(Tuple(own, mode, company_domain));
  }
  base::Json cell = base::Json::object();
  if (mode == FindMode::kProfessional) {
    // A lead keeps the address that it came with, even where its row has an error.
    cell["email"] = existing.empty() ? std::move(asked) : std::move(existing);
    cell["personal_email"] = base::Json::array();
  } else {
    cell["email"] = std::move(existing);
    cell["personal_email"] = std::move(asked);
  }
  cell["error"] = base::OrNull(found.error);
  cell["details"] = {{"reason", base::OrNull(found.reason)}};
  return cell;
}

base::Json FoundCell(FindMode mode, const Person& person, const Found& found, bool charged) {
  const std::string company_domain = CompanyDomain(person);
  base::Json cell = ShortFoundCell(mode, person, found);
  base::Json& details = cell["details"];
  details["addresses"] = AddressesJson(mode, found, company_domain);
  details["tries"] = TriesJson(found.tries);
  details["domain"] = base::OrNull(company_domain);
  details["pattern"] = PatternJson(found);
  details["charged"] = charged;
  details["duplicate_of"] = nullptr;
  return cell;
}

base::Json CopyCell(std::size_t copy_of) {
  base::Json cell = base::Json::object();
  cell["duplicate_of"] = copy_of;
  return cell;
}

base::Json MergeFound(const base::Json& lead, const base::Json& cell,
                      std::optional<std::size_t> copy_of) {
  base::Json merged = lead;
  for (const auto& [key, value] : cell.items()) {
    // A personal address that nobody was asked about stays as the lead has it.
    const bool is_kept =
        key == "personal_email" && value.empty() && merged.contains(key) && merged[key].is_string();
    if (!is_kept) merged[key] = value;
  }
  if (copy_of) {
    base::Json& details = merged["details"];
    details["charged"] = false;
    details["duplicate_of"] = *copy_of;
  }
  return merged;
}

base::Json FindResults(const FindRequest& request, const std::optional<std::string>& rows_json,
                       std::string_view unrecorded_error) {
  base::Json cells = RecordedCells(rows_json, request.rows.size());
  base::Json results = base::Json::array();
  for (std::size_t i = 0; i < request.rows.size(); ++i) {
    const FindRow& row = request.rows[i];
    const std::size_t source = row.copy_of.value_or(i);
    if (source > i) throw std::invalid_argument("a stored lookup copies a later row");
    if (IsErasedLead(row.lead.Value())) {
      results.push_back(nullptr);
      continue;
    }
    base::Json& cell = cells[source];
    if (cell.is_null()) {
      const auto read = ReadLead(row.lead.Value());
      const auto* person = std::get_if<Person>(&read);
      cell = FoundCell(request.mode, person != nullptr ? *person : Person(),
                       FailedFound(unrecorded_error), false);
    }
    results.push_back(MergeFound(row.lead.Value(), cell, row.copy_of));
  }
  return results;
}

}  // namespace vedette::domain
