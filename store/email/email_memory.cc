#include "store/email/email_memory.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::EmailFact;
using domain::EmailKnowledge;
using domain::EmailQuestion;

// The rows of one statement that reads, without the round trips of BEGIN and COMMIT.
template <typename... Args>
pqxx::result ReadRows(Session& session, std::string_view name, const Args&... args) {
  return Read(session, [&](Transaction& tx) { return tx.Exec(name, args...); });
}

void ReadSuppressed(Session& session, const std::vector<EmailQuestion>& questions,
                    std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, domain::SuppressionKind, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const auto& key : questions[i].keys) {
      rows.Add(static_cast<int>(i), questions[i].org_id, key.kind, Bytea(key.hash));
    }
  }
  if (rows.empty()) return;
  for (const auto& row : ReadRows(session, "email_suppressed", rows)) {
    std::size_t question = 0;
    domain::SuppressionKey key;
    Columns(row).Into(&question, &key.kind, BytesInto{&key.hash});
    out->at(question).suppressed.push_back(std::move(key));
  }
}

void ReadFacts(Session& session, const std::vector<EmailQuestion>& questions,
               std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (one.person_key.empty() && one.address.empty()) continue;
    rows.Add(static_cast<int>(i), one.org_id, Bytea(one.person_key), one.address);
  }
  if (rows.empty()) return;
  for (const auto& row : ReadRows(session, "email_facts_read", rows, domain::kFactsMax)) {
    std::size_t question = 0;
    EmailFact fact;
    std::optional<std::string> person_key;
    std::string sources;
    Columns(row).Into(&question, &fact.address, OptionalBytesInto{&person_key}, &fact.verdict,
                      &fact.reason, &fact.stated, &fact.provider, &sources, &fact.checked_at,
                      &fact.until);
    fact.person_key = person_key.value_or("");
    for (const base::Json& source : base::ParseJsonOrThrow(sources)) {
      if (source.is_string()) fact.sources.push_back(source.get<std::string>());
    }
    out->at(question).facts.push_back(std::move(fact));
  }
}

void ReadPatterns(Session& session, const std::vector<EmailQuestion>& questions,
                  std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!questions[i].domain.empty()) {
      rows.Add(static_cast<int>(i), questions[i].org_id, questions[i].domain);
    }
  }
  if (rows.empty()) return;
  for (const auto& row : ReadRows(session, "email_patterns_read", rows)) {
    std::size_t question = 0;
    int number = 0;
    domain::PatternCount count;
    Columns(row).Into(&question, &number, &count.hits, &count.misses);
    // A newer version may know more patterns.
    const auto pattern = domain::ReadAddressPattern(number);
    if (!pattern) continue;
    count.pattern = *pattern;
    out->at(question).patterns.push_back(count);
  }
}

void ReadCompanyDomains(Session& session, const std::vector<EmailQuestion>& questions,
                        std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (one.company_key.empty()) continue;
    rows.Add(static_cast<int>(i), one.org_id, Bytea(one.company_key));
  }
  if (rows.empty()) return;
  for (const auto& row :
       ReadRows(session, "company_domains_read", rows, domain::kCompanyDomainsMax)) {
    std::size_t question = 0;
    domain::CompanyDomainCount count;
    Columns(row).Into(&question, &count.domain, &count.hits);
    out->at(question).company_domains.push_back(std::move(count));
  }
}

// What lessons come to, in the order of the keys, so that no two transactions wait for each other.
using FactsByAddress = std::map<std::pair<base::Uuid, std::string>, EmailFact>;
using PatternKey = std::tuple<base::Uuid, std::string, domain::AddressPattern>;
using CompanyKey = std::tuple<base::Uuid, std::string, std::string>;  // with the domain
using Owner = std::tuple<base::Uuid, std::string, std::string>;       // of an address, by PersonKey
struct Learnt {
  FactsByAddress facts;
  std::set<Owner> owners;
  std::map<PatternKey, domain::PatternCount> patterns;
  std::map<CompanyKey, int> companies;
};

// Of two facts about one address the newer one counts, as in email_fact_upsert.
void AddFact(const base::Uuid& org_id, const EmailFact& fact, FactsByAddress* facts) {
  const auto [at, is_new] = facts->try_emplace({org_id, fact.address}, fact);
  if (is_new) return;
  EmailFact older = fact;
  if (older.checked_at > at->second.checked_at) std::swap(older, at->second);
  at->second.stated = at->second.stated || older.stated;
}

Learnt SumOf(const std::vector<domain::EmailLesson>& lessons) {
  Learnt sum;
  for (const domain::EmailLesson& lesson : lessons) {
    for (const EmailFact& fact : lesson.facts) {
      AddFact(lesson.org_id, fact, &sum.facts);
      if (fact.person_key.empty()) continue;
      sum.owners.emplace(lesson.org_id, fact.address, fact.person_key);
    }
    for (const domain::PatternCount& count : lesson.patterns) {
      auto& total = sum.patterns[{lesson.org_id, lesson.domain, count.pattern}];
      total.hits += count.hits;
      total.misses += count.misses;
    }
    if (!lesson.company_key.empty()) {
      ++sum.companies[{lesson.org_id, lesson.company_key, lesson.domain}];
    }
  }
  return sum;
}

}  // namespace

std::vector<EmailKnowledge> AskEmailMemory(Session& session,
                                           const std::vector<EmailQuestion>& questions) {
  std::vector<EmailKnowledge> out(questions.size());
  ReadSuppressed(session, questions, &out);
  ReadFacts(session, questions, &out);
  ReadPatterns(session, questions, &out);
  ReadCompanyDomains(session, questions, &out);
  return out;
}

void LearnEmail(Session& session, const std::vector<domain::EmailLesson>& lessons) {
  const Learnt learnt = SumOf(lessons);
  Rows<base::Uuid, std::string, domain::Verdict, domain::VerdictReason, bool, std::string,
       std::string, base::Timestamp, base::Timestamp, std::optional<domain::SuppressionKind>,
       std::string>
      facts;
  for (const auto& [key, fact] : learnt.facts) {
    const auto suppression = domain::AddressSuppression(fact.address);
    std::optional<domain::SuppressionKind> kind;
    if (suppression) kind = suppression->kind;
    facts.Add(key.first, fact.address, fact.verdict, fact.reason, fact.stated, fact.provider,
              base::DumpJson(base::Json(fact.sources)), fact.checked_at, fact.until, kind,
              Bytea(suppression ? suppression->hash : ""));
  }
  Rows<base::Uuid, std::string, std::string> owners;
  for (const auto& [org_id, address, person_key] : learnt.owners) {
    owners.Add(org_id, address, Bytea(person_key));
  }
  Rows<base::Uuid, std::string, domain::AddressPattern, int, int> patterns;
  for (const auto& [key, count] : learnt.patterns) {
    patterns.Add(std::get<0>(key), std::get<1>(key), std::get<2>(key), count.hits, count.misses);
  }
  Rows<base::Uuid, std::string, std::string, int> companies;
  for (const auto& [key, hits] : learnt.companies) {
    companies.Add(std::get<0>(key), Bytea(std::get<1>(key)), std::get<2>(key), hits);
  }
  if (facts.empty() && patterns.empty() && companies.empty()) return;
  RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
    if (!facts.empty()) tx.Exec("email_fact_upsert", facts);
    if (!owners.empty()) tx.Exec("email_owner_add", owners);
    if (!patterns.empty()) tx.Exec("email_pattern_add", patterns);
    if (!companies.empty()) tx.Exec("company_domain_add", companies);
  });
}

SuppressOutcome Suppress(Session& session, const base::Clock& clock,
                         const domain::SuppressionKey& key, const std::optional<base::Uuid>& org_id,
                         std::string_view reason, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    if (org_id && tx.Exec<"org_exists">("org_id"_a = *org_id).empty())
      return SuppressOutcome::kNoOrganisation;
    const bool is_new =
        !tx.Exec("email_suppress", key.kind, Bytea(key.hash), org_id, reason).empty();
    InsertAudit(tx, clock, audit);
    return is_new ? SuppressOutcome::kDone : SuppressOutcome::kThereAlready;
  });
}

std::vector<SuppressionView> ListSuppressions(Session& session, const SuppressionFilter& filter) {
  std::optional<base::Timestamp> at;
  std::optional<base::Uuid> id;
  if (filter.before) {
    at = filter.before->first;
    id = filter.before->second;
  }
  return Read(session, [&](Transaction& tx) {
    std::vector<SuppressionView> entries;
    for (const auto& row :
         tx.Exec("suppressions_list", at, id, filter.kind, filter.org_id, filter.limit)) {
      SuppressionView& entry = entries.emplace_back();
      Columns(row).Into(&entry.id, &entry.kind, &entry.org_id, &entry.reason, &entry.created_at);
    }
    return entries;
  });
}

bool Unsuppress(Session& session, const base::Clock& clock, const domain::SuppressionKey& key,
                const std::optional<base::Uuid>& org_id, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const bool was_there = !tx.Exec("email_unsuppress", key.kind, Bytea(key.hash), org_id).empty();
    if (was_there) InsertAudit(tx, clock, audit);
    return was_there;
  });
}

}  // namespace vedette::store
