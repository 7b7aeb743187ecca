#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/email/candidate.h"
#include "domain/email/found.h"
#include "domain/email/suppression.h"
#include "domain/email/verdict.h"

// What an organisation knows of addresses, of what it has looked up itself (G8).
namespace vedette::domain {

// Facts that one question is answered with.
inline constexpr std::size_t kFactsMax = 8;

struct EmailFact {
  std::string address;  // in lower case
  // The PersonKey of the person for whom it was learnt. A fact that is read has that of the person
  // who was asked for, where the address is known to be theirs, too. Empty: nobody's.
  std::string person_key;
  Verdict verdict = Verdict::kUnknown;
  VerdictReason reason = VerdictReason::kNone;
  bool stated = true;
  std::string provider;
  std::vector<std::string> sources;  // URLs
  base::Timestamp checked_at{};
  base::Timestamp until{};  // it is not used after it
};

// One question, answered in one read with those of other rows.
struct EmailQuestion {
  base::Uuid org_id;
  std::vector<SuppressionKey> keys;  // asked against the suppression list
  std::string person_key;            // the person whose facts are asked for; empty: none
  std::string address;               // the address whose fact is asked for, in lower case; or empty
  std::string domain;                // the domain whose patterns are asked for; or empty
  std::string work_address{};        // a second address whose fact is asked for; or empty
  std::string company_key{};         // CompanyKey of the company whose domains are; or empty
};

// How many leads of the organisation have named a domain for a company.
struct CompanyDomainCount {
  std::string domain;
  int hits = 0;
};
// Domains of one company that one question is answered with.
inline constexpr std::size_t kCompanyDomainsMax = 8;

// The domain that leads agree on: named twice as often as all others together. Empty without one.
std::string AgreedDomain(const std::vector<CompanyDomainCount>& counts);

struct EmailKnowledge {
  std::vector<SuppressionKey> suppressed;  // those of the keys that are on the list
  std::vector<EmailFact> facts;            // the newest first, at most kFactsMax
  std::vector<PatternCount> patterns;
  std::vector<CompanyDomainCount>
      company_domains;  // the most named first, at most kCompanyDomainsMax
};

// What a row has learnt.
struct EmailLesson {
  base::Uuid org_id;
  std::vector<EmailFact> facts;
  std::string domain;                  // of the patterns
  std::vector<PatternCount> patterns;  // hits and misses to add
  std::string company_key{};           // of the company for which the lead named `domain`

  bool empty() const { return facts.empty() && patterns.empty() && company_key.empty(); }
};

// The id of the provider that answers with an organisation's own facts.
inline constexpr std::string_view kStoreProvider = "store";

// What an organisation learns from the addresses that a lead's work has checked: facts about those
// that may be relied on for a while (VerdictLife), and hits and misses of the company's patterns.
// What came from its own facts teaches nothing new. A lead that names a company and its domain
// teaches that. Pure.
EmailLesson LessonOf(const base::Uuid& org_id, const Person& person,
                     const std::vector<FoundAddress>& seen, base::Timestamp now);

// The address whose status an organisation's own fact gives, as its facts have it: the one that the
// lead came with. Empty where it came with none, or with none that is one.
std::string KnownAddress(FindMode mode, const Person& person);
// The lead's own address where another one is asked for, in mode PERSONAL: it is returned with what
// an organisation knows of it. As the facts have it; empty where there is none.
std::string WorkAddress(FindMode mode, const Person& person);

// Gives the addresses that the lead came with the status of their facts, where they are known.
// `found`: of AnswerAtOnce.
void ApplyFacts(FindMode mode, const Person& person, const EmailKnowledge& known, Found* found);
// What is known of the lead's WorkAddress.
std::optional<AddressVerdict> WorkVerdict(FindMode mode, const Person& person,
                                          const EmailKnowledge& known);

// A fact as an answer: OK, UNKNOWN or NOT_FOUND with its reason, as it was checked then.
AddressVerdict VerdictOf(const EmailFact& fact);

}  // namespace vedette::domain
