#include "domain/email/email_fact.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "domain/email/address.h"
#include "domain/email/finders.h"
#include "domain/email/person_name.h"

namespace vedette::domain {
namespace {

AddressVerdict VerdictOfAddress(const FoundAddress& address) {
  AddressVerdict verdict;
  verdict.checked_at = address.checked_at;
  switch (address.candidate.status) {
    case AddressStatus::kOk:
      verdict.verdict = Verdict::kOk;
      verdict.reason = VerdictReason::kNone;
      break;
    case AddressStatus::kUnknown:
      verdict.verdict = Verdict::kUnknown;
      verdict.reason = ParseVerdictReason(address.reason).value_or(VerdictReason::kNotVerified);
      break;
    case AddressStatus::kNotFound:
      verdict.verdict = Verdict::kRefused;
      verdict.reason = ParseVerdictReason(address.reason).value_or(VerdictReason::kRefused);
      break;
  }
  return verdict;
}

std::optional<EmailFact> FactOf(const FoundAddress& address, const std::string& person_key,
                                base::Timestamp now) {
  // A provider's own word is kept where it is OK, as it was paid for.
  const bool is_ours = address.check == AddressCheck::kVerified && address.checked_at;
  if (!is_ours && address.candidate.status != AddressStatus::kOk) return std::nullopt;
  const auto parsed = ParseAddress(address.candidate.address);
  const AddressVerdict verdict = VerdictOfAddress(address);
  const auto life = VerdictLife(verdict);
  if (!parsed || !life || address.provider == kStoreProvider) return std::nullopt;
  EmailFact fact;
  fact.address = parsed->Key();
  // A refused guess is a fact about an address, and about nobody.
  const bool is_persons = verdict.verdict != Verdict::kRefused || address.candidate.stated;
  if (is_persons) fact.person_key = person_key;
  fact.verdict = verdict.verdict;
  fact.reason = verdict.reason;
  fact.stated = address.candidate.stated;
  fact.provider = address.provider;
  fact.sources = address.candidate.sources;
  fact.checked_at = address.checked_at.value_or(now);
  fact.until = fact.checked_at + *life;
  return fact;
}

}  // namespace

EmailLesson LessonOf(const base::Uuid& org_id, const Person& person,
                     const std::vector<FoundAddress>& seen, base::Timestamp now) {
  EmailLesson lesson;
  lesson.org_id = org_id;
  lesson.domain = CompanyDomain(person);
  if (!lesson.domain.empty() && !IsFreeMailboxDomain(lesson.domain)) {
    lesson.company_key = CompanyKey(person.company);
  }
  const std::string person_key = PersonKey(person);
  const auto names = RenderName(person, lesson.domain);
  const auto* renderings = std::get_if<std::vector<NameRendering>>(&names);
  std::map<AddressPattern, PatternCount> counts;
  for (const FoundAddress& address : seen) {
    if (address.provider == kNullProvider) continue;  // what is invented is no fact
    if (auto fact = FactOf(address, person_key, now)) lesson.facts.push_back(std::move(*fact));
    if (address.check != AddressCheck::kVerified || lesson.domain.empty()) continue;
    const auto parsed = ParseAddress(address.candidate.address);
    if (!parsed || AsciiDomain(parsed->domain) != lesson.domain) continue;
    auto pattern = address.candidate.pattern;
    if (!pattern && renderings != nullptr) pattern = PatternOf(parsed->local, *renderings);
    if (!pattern) continue;
    PatternCount& count = counts.try_emplace(*pattern, PatternCount{*pattern}).first->second;
    if (address.candidate.status == AddressStatus::kOk) ++count.hits;
    if (address.reason == VerdictReasonName(VerdictReason::kRefused)) ++count.misses;
  }
  for (const auto& [pattern, count] : counts) {
    if (count.hits == 0 && count.misses == 0) continue;
    // Several renderings of one name are one name: it hit, or it missed.
    lesson.patterns.push_back({pattern, std::min(count.hits, 1), count.hits > 0 ? 0 : 1});
  }
  return lesson;
}

std::string AgreedDomain(const std::vector<CompanyDomainCount>& counts) {
  constexpr int kTimesOthers = 2;
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.hits < b.hits; });
  if (most == counts.end()) return "";
  int others = -most->hits;
  for (const CompanyDomainCount& count : counts) others += count.hits;
  return most->hits >= kTimesOthers * others ? most->domain : std::string();
}

std::string KnownAddress(FindMode mode, const Person& person) {
  const std::string* text = &person.email;
  if (mode == FindMode::kPersonal && !person.personal_email.empty()) text = &person.personal_email;
  const auto address = ParseAddress(*text);
  if (!address) return "";
  const bool is_asked_for = mode == FindMode::kProfessional || text != &person.email ||
                            IsFreeMailboxDomain(address->domain);
  return is_asked_for ? address->Key() : std::string();
}

std::string WorkAddress(FindMode mode, const Person& person) {
  const auto address = ParseAddress(person.email);
  if (mode != FindMode::kPersonal || !address) return "";
  const std::string key = address->Key();
  return key == KnownAddress(mode, person) ? std::string() : key;
}

namespace {

std::optional<AddressVerdict> VerdictAbout(const std::string& address,
                                           const EmailKnowledge& known) {
  for (const EmailFact& fact : known.facts) {
    if (fact.address == address) return VerdictOf(fact);
  }
  return std::nullopt;
}

}  // namespace

void ApplyFacts(FindMode mode, const Person& person, const EmailKnowledge& known, Found* found) {
  found->work_verdict = WorkVerdict(mode, person, known);
  const auto verdict = VerdictAbout(KnownAddress(mode, person), known);
  if (!verdict) return;
  FoundAddress& own = found->addresses.front();
  ApplyVerdict(*verdict, &own);
  found->reason = own.reason;
}

std::optional<AddressVerdict> WorkVerdict(FindMode mode, const Person& person,
                                          const EmailKnowledge& known) {
  return VerdictAbout(WorkAddress(mode, person), known);
}

AddressVerdict VerdictOf(const EmailFact& fact) {
  AddressVerdict verdict;
  verdict.verdict = fact.verdict;
  verdict.reason = fact.reason;
  verdict.checked_at = fact.checked_at;
  return verdict;
}

}  // namespace vedette::domain
