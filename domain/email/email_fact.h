#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/email/address_pattern.h"
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

}  // namespace vedette::domain
