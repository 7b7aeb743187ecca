#include "domain/people/people_answer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/candidate.h"
#include "domain/email/email_fact.h"
#include "domain/email/lead.h"
#include "domain/people/words.h"
#include "domain/text/letters.h"

namespace vedette::domain {
namespace {

std::string DateText(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

base::Json DetailsJson(const PeopleEnd& end, const std::string& reason, bool charged) {
  base::Json details = base::Json::object();
  details["reason"] = base::OrNull(reason);
  details["tries"] = TriesJson(end.tries);
  details["charged"] = charged;
  details["duplicate_of"] = nullptr;
  return details;
}

constexpr std::string PersonFound::*kTexts[] = {
    &PersonFound::first_name, &PersonFound::last_name, &PersonFound::title,
    &PersonFound::company,    &PersonFound::location,  &PersonFound::linkedin,
};

void AddEach(const std::vector<std::string>& from, std::vector<std::string>* to) {
  for (const std::string& text : from) {
    if (to->size() == kPersonUrlsMax) return;
    if (std::find(to->begin(), to->end(), text) == to->end()) to->push_back(text);
  }
}

// Adds what another provider knows of the same person.
void Fill(const PersonFound& other, PersonFound* person) {
  for (const auto field : kTexts) {
    if ((person->*field).empty()) person->*field = other.*field;
  }
  AddEach(other.profiles, &person->profiles);
  AddEach(other.sources, &person->sources);
}

void AddCandidate(NameCandidate candidate, PersonFound* person) {
  if (candidate.name.empty() || person->candidates.size() == kPersonCandidatesMax) return;
  person->candidates.push_back(std::move(candidate));
}

// The answer whose name is the person's; empty where none is sure enough, or two that are equally
// sure name different people.
const PersonAnswer* Surest(const std::vector<PersonAnswer>& answers) {
  const PersonAnswer* surest = nullptr;
  bool is_disputed = false;
  for (const PersonAnswer& answer : answers) {
    const PersonFound& person = answer.second;
    if (person.name.empty() || person.confidence < kNameConfidenceMin) continue;
    if (surest == nullptr || person.confidence > surest->second.confidence) {
      surest = &answer;
      is_disputed = false;
    } else if (person.confidence == surest->second.confidence) {
      is_disputed = is_disputed || !IsSameName(person.name, surest->second.name);
    }
  }
  return is_disputed ? nullptr : surest;
}

// The sources that were asked and had nothing, as a sentence behind the evidence.
std::string InVain(const PeopleEnd& end) {
  std::vector<std::string_view> names;
  for (const ProviderTry& one : end.tries) {
    if (one.outcome == TryOutcome::kNothing) names.push_back(one.provider);
  }
  return names.empty() ? "" : fmt::format("Looked at in vain: {}.", fmt::join(names, ", "));
}

std::string AgeEvidence(const AgeResult& result, const PeopleEnd& end) {
  const std::string in_vain = result.is_withheld ? "" : InVain(end);
  if (result.evidence.empty() || in_vain.empty()) return result.evidence + in_vain;
  return base::CutCharacters(result.evidence + " " + in_vain, kAgeEvidenceCharactersMax);
}

}  // namespace

std::string CleanName(std::string_view given) {
  const std::string composed = Nfc(given);
  std::string_view name = composed;
  std::string clean;
  while (!name.empty()) {
    std::uint32_t code = 0;
    const std::size_t size = std::max<std::size_t>(base::DecodeUtf8(name, &code), 1);
    const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (is_control) clean += ' ';
    if (!is_control && !IsDirectionMark(code)) clean += name.substr(0, size);
    name.remove_prefix(size);
  }
  return base::CutCharacters(base::FoldSpace(clean), kPersonNameCharactersMax);
}

bool IsSameName(std::string_view a, std::string_view b) {
  return base::FoldSpace(FoldLetters(a)) == base::FoldSpace(FoldLetters(b));
}

std::optional<ReverseAnswer> ReverseAtOnce(const std::string& address) {
  const auto parsed = ParseAddress(address);
  ReverseAnswer answer;
  answer.end.end = FindEnd::kAtOnce;
  if (!parsed) {
    answer.end.error = kErrorInvalidEmail;
    return answer;
  }
  if (IsPersons(*parsed)) return std::nullopt;
  answer.person.domain = CompanyDomainOf(*parsed);
  answer.reason = ClassOf(*parsed) == MailboxClass::kRole ? "role" : "disposable";
  return answer;
}

ReverseAnswer DecideReverse(const std::string& address, std::vector<PersonAnswer> answers,
                            PeopleEnd end) {
  ReverseAnswer reverse;
  reverse.end = std::move(end);
  const auto parsed = ParseAddress(address);
  const PersonAnswer* surest = Surest(answers);
  if (surest != nullptr) {
    reverse.person = surest->second;
    reverse.is_own = surest->first == kStoreProvider;
  }
  PersonFound& person = reverse.person;
  std::vector<NameCandidate> stated = std::move(person.candidates);
  person.candidates.clear();
  for (const PersonAnswer& answer : answers) {
    if (&answer == surest) continue;
    const auto& [provider, other] = answer;
    if (surest != nullptr && IsSameName(other.name, person.name)) {
      Fill(other, &person);
      reverse.is_own = reverse.is_own && provider == kStoreProvider;
      if (other.confidence >= kNameConfidenceMin) {
        person.confidence = std::min(person.confidence + 1, kConfidenceMax);
      }
    } else {
      AddCandidate({other.name, other.confidence, provider, other.evidence}, &person);
      stated.insert(stated.end(), other.candidates.begin(), other.candidates.end());
    }
  }
  for (NameCandidate& candidate : stated) AddCandidate(std::move(candidate), &person);
  if (parsed) person.domain = CompanyDomainOf(*parsed);
  if (!person.name.empty()) return reverse;
  reverse.reason = "nothing_found";
  if (reverse.end.end == FindEnd::kOutOfTime) reverse.end.error = kErrorTimedOut;
  if (reverse.end.end == FindEnd::kNoneAnswered) reverse.end.error = kErrorProvidersFailed;
  return reverse;
}

bool IsReverseCharged(const ReverseAnswer& answer, ChargeRule rule) {
  if (!answer.end.error.empty() || answer.end.end == FindEnd::kAtOnce) return false;
  if (answer.is_own) return false;
  if (rule == ChargeRule::kAlways) return true;
  const int confidence_min = rule == ChargeRule::kOk ? kNameConfidenceSure : 0;
  return !answer.person.name.empty() && answer.person.confidence >= confidence_min;
}

base::Json ReverseCell(const std::string& address, const ReverseAnswer& answer, bool charged) {
  const bool has_result = answer.end.error.empty();
  const PersonFound& person = has_result ? answer.person : PersonFound();
  base::Json cell = base::Json::object();
  cell["email"] = address;
  cell["name"] = base::OrNull(person.name);
  cell["first_name"] = base::OrNull(person.first_name);
  cell["last_name"] = base::OrNull(person.last_name);
  cell["title"] = base::OrNull(person.title);
  cell["company"] = base::OrNull(person.company);
  cell["domain"] = base::OrNull(person.domain);
  cell["location"] = base::OrNull(person.location);
  cell["linkedin"] = base::OrNull(person.linkedin);
  cell["profiles"] = person.profiles;
  cell["confidence"] = person.name.empty() ? 0 : person.confidence;
  cell["evidence"] = base::OrNull(person.evidence);
  cell["sources"] = person.sources;
  base::Json& candidates = cell["candidates"] = base::Json::array();
  for (const NameCandidate& candidate : person.candidates) {
    base::Json one = base::Json::object();
    one["name"] = candidate.name;
    one["confidence"] = candidate.confidence;
    one["provider"] = base::OrNull(candidate.provider);
    one["evidence"] = base::OrNull(candidate.evidence);
    candidates.push_back(std::move(one));
  }
  cell["error"] = base::OrNull(answer.end.error);
  cell["details"] = DetailsJson(answer.end, has_result ? answer.reason : "", charged);
  return cell;
}

bool IsAgeCharged(const AgeResult& result, const PeopleEnd& end, ChargeRule rule) {
  if (!end.error.empty() || result.is_withheld) return false;
  const PartialDate& date = result.date_of_birth;
  switch (rule) {
    case ChargeRule::kAlways:
      return true;
    case ChargeRule::kFound:
      return date.year.has_value() || result.age.has_value();
    case ChargeRule::kOk:
      break;
  }
  return date.year && date.month && date.day;
}

base::Json AgeCell(const AgeResult& result, const PeopleEnd& end, bool charged) {
  const PartialDate& date = result.date_of_birth;
  base::Json cell = base::Json::object();
  base::Json& birth = cell["date_of_birth"] = base::Json::object();
  birth["day"] = base::OrNull(date.day);
  birth["month"] = base::OrNull(date.month);
  birth["year"] = base::OrNull(date.year);
  birth["confidence"] = result.date_confidence;
  base::Json& age = cell["age"] = base::Json::object();
  age["value"] = base::OrNull(result.age);
  age["as_of"] = DateText(result.as_of);
  age["confidence"] = result.age_confidence;
  cell["evidence"] = AgeEvidence(result, end);
  cell["sources"] = result.sources;
  cell["error"] = base::OrNull(end.error);
  const bool is_found = date.year || result.age;
  std::string reason;
  if (result.is_withheld) {
    reason = "withheld";
  } else if (!is_found && end.error.empty()) {
    reason = "nothing_found";
  }
  cell["details"] = DetailsJson(end, reason, charged);
  return cell;
}

base::Json FailedPeopleCell(PeopleQuestion question, const base::Json& lead,
                            std::string_view error_code) {
  ReverseAnswer failed;
  failed.end.end = FindEnd::kError;
  failed.end.error = error_code;
  if (question == PeopleQuestion::kReverseEmail) {
    return ReverseCell(AddressOf(lead), failed, false);
  }
  AgeResult nothing;
  nothing.as_of = std::chrono::year_month_day(std::chrono::sys_days());
  base::Json cell = AgeCell(nothing, failed.end, false);
  cell["age"]["as_of"] = nullptr;
  return cell;
}

base::Json PeopleResults(PeopleQuestion question, const PeopleRequest& request,
                         const std::optional<std::string>& rows_json,
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
    if (cell.is_null()) cell = FailedPeopleCell(question, row.lead.Value(), unrecorded_error);
    results.push_back(MergeFound(base::Json::object(), cell, row.copy_of));
  }
  return results;
}

namespace {

void Add(std::vector<SuppressionKey> some, std::vector<SuppressionKey>* keys) {
  for (SuppressionKey& key : some) {
    if (std::find(keys->begin(), keys->end(), key) == keys->end()) keys->push_back(std::move(key));
  }
}

// The keys of the person alone, without the candidates.
std::vector<SuppressionKey> KeysOf(const PersonFound& person, const std::string& domain) {
  std::vector<SuppressionKey> keys;
  Add(PersonSuppressions(person.name, domain), &keys);
  Add(ProfileSuppressions(person.linkedin), &keys);
  for (const std::string& profile : person.profiles) Add(ProfileSuppressions(profile), &keys);
  return keys;
}

}  // namespace

std::vector<SuppressionKey> KeysOfFound(const std::vector<PersonAnswer>& answers,
                                        const std::string& domain) {
  std::vector<SuppressionKey> keys;
  for (const auto& [provider, person] : answers) {
    Add(KeysOf(person, domain), &keys);
    for (const NameCandidate& candidate : person.candidates) {
      Add(PersonSuppressions(candidate.name, domain), &keys);
    }
  }
  return keys;
}

void DropSuppressed(const std::vector<SuppressionKey>& suppressed, const std::string& domain,
                    std::vector<PersonAnswer>* answers, std::vector<ProviderTry>* tries) {
  const auto is_listed = [&](const SuppressionKey& key) {
    return std::find(suppressed.begin(), suppressed.end(), key) != suppressed.end();
  };
  for (auto& [provider, person] : *answers) {
    std::erase_if(person.candidates, [&](const NameCandidate& candidate) {
      const auto keys = PersonSuppressions(candidate.name, domain);
      return std::any_of(keys.begin(), keys.end(), is_listed);
    });
    const auto keys = KeysOf(person, domain);
    if (std::any_of(keys.begin(), keys.end(), is_listed)) {
      std::vector<NameCandidate> candidates = std::move(person.candidates);
      person = PersonFound();
      person.candidates = std::move(candidates);
    }
  }
  const auto is_empty = [](const PersonAnswer& answer) {
    return answer.second.name.empty() && answer.second.candidates.empty();
  };
  for (ProviderTry& one : *tries) {
    const bool is_dropped = std::any_of(answers->begin(), answers->end(), [&](const auto& answer) {
      return answer.first == one.provider && is_empty(answer);
    });
    if (is_dropped && one.outcome == TryOutcome::kFound) one.outcome = TryOutcome::kNothing;
  }
  std::erase_if(*answers, is_empty);
}

}  // namespace vedette::domain
