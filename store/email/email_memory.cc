#include "store/email/email_memory.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "store/audit.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::EmailFact;
using domain::EmailKnowledge;
using domain::EmailQuestion;

// The rows of one statement that reads, without the round trips of BEGIN and COMMIT.
template <NameText statement, typename... Args>
pqxx::result ReadRows(Session& session, const Args&... args) {
  return Read(session, [&](Transaction& tx) { return tx.Exec<statement>(args...); });
}

void ReadSuppressed(Session& session, const std::vector<EmailQuestion>& questions,
                    std::vector<EmailKnowledge>* out) {
  Rows<Column<"question", int>, Column<"org_id", base::Uuid>,
       Column<"kind", domain::SuppressionKind>, Column<"hash", std::string>>
      rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const auto& key : questions[i].keys) {
      rows.Add(static_cast<int>(i), questions[i].org_id, key.kind, Bytea(key.hash));
    }
  }
  if (rows.empty()) return;
  for (const auto& row : ReadRows<"email_suppressed">(session, rows)) {
    std::size_t question = 0;
    domain::SuppressionKey key;
    Columns(row).Into("question"_a = &question, "kind"_a = &key.kind,
                      "hash"_a = BytesInto{&key.hash});
    out->at(question).suppressed.push_back(std::move(key));
  }
}

void ReadFacts(Session& session, const std::vector<EmailQuestion>& questions,
               std::vector<EmailKnowledge>* out) {
  Rows<Column<"question", int>, Column<"org_id", base::Uuid>, Column<"person_key", std::string>,
       Column<"address", std::string>>
      rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (!one.person_key.empty() || !one.address.empty()) {
      rows.Add(static_cast<int>(i), one.org_id, Bytea(one.person_key), one.address);
    }
    if (!one.work_address.empty()) {
      rows.Add(static_cast<int>(i), one.org_id, Bytea(""), one.work_address);
    }
  }
  if (rows.empty()) return;
  for (const auto& row :
       ReadRows<"email_facts_read">(session, rows, "limit"_a = domain::kFactsMax)) {
    std::size_t question = 0;
    EmailFact fact;
    std::optional<std::string> person_key;
    std::string sources;
    Columns(row).Into("question"_a = &question, "address"_a = &fact.address,
                      "person_key"_a = OptionalBytesInto{&person_key}, "verdict"_a = &fact.verdict,
                      "reason"_a = &fact.reason, "stated"_a = &fact.stated,
                      "provider"_a = &fact.provider, "sources"_a = &sources,
                      "checked_at"_a = &fact.checked_at, "until"_a = &fact.until);
    fact.person_key = person_key.value_or("");
    for (const base::Json& source : base::ParseJsonOrThrow(sources)) {
      if (source.is_string()) fact.sources.push_back(source.get<std::string>());
    }
    out->at(question).facts.push_back(std::move(fact));
  }
}

void ReadPatterns(Session& session, const std::vector<EmailQuestion>& questions,
                  std::vector<EmailKnowledge>* out) {
  Rows<Column<"question", int>, Column<"org_id", base::Uuid>, Column<"domain", std::string>> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!questions[i].domain.empty()) {
      rows.Add(static_cast<int>(i), questions[i].org_id, questions[i].domain);
    }
  }
  if (rows.empty()) return;
  for (const auto& row : ReadRows<"email_patterns_read">(session, rows)) {
    std::size_t question = 0;
    int number = 0;
    domain::PatternCount count;
    Columns(row).Into("question"_a = &question, "pattern"_a = &number, "hits"_a = &count.hits,
                      "misses"_a = &count.misses);
    // A newer version may know more patterns.
    const auto pattern = domain::ReadAddressPattern(number);
    if (!pattern) continue;
    count.pattern = *pattern;
    out->at(question).patterns.push_back(count);
  }
}

void ReadCompanyDomains(Session& session, const std::vector<EmailQuestion>& questions,
                        std::vector<EmailKnowledge>* out) {
  Rows<Column<"question", int>, Column<"org_id", base::Uuid>, Column<"company_key", std::string>>
      rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (one.company_key.empty()) continue;
    rows.Add(static_cast<int>(i), one.org_id, Bytea(one.company_key));
  }
  if (rows.empty()) return;
  for (const auto& row :
       ReadRows<"company_domains_read">(session, rows, "limit"_a = domain::kCompanyDomainsMax)) {
    std::size_t question = 0;
    domain::CompanyDomainCount count;
    Columns(row).Into("question"_a = &question, "domain"_a = &count.domain, "hits"_a = &count.hits);
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

// The newer one of two facts about one address counts, as in email_fact_upsert.
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
  Rows<Column<"org_id", base::Uuid>, Column<"address", std::string>,
       Column<"verdict", domain::Verdict>, Column<"reason", domain::VerdictReason>,
       Column<"stated", bool>, Column<"provider", std::string>, Column<"sources", std::string>,
       Column<"checked_at", base::Timestamp>, Column<"until", base::Timestamp>,
       Column<"kind", std::optional<domain::SuppressionKind>>, Column<"hash", std::string>>
      facts;
  for (const auto& [key, fact] : learnt.facts) {
    const auto suppression = domain::AddressSuppression(fact.address);
    std::optional<domain::SuppressionKind> kind;
    if (suppression) kind = suppression->kind;
    facts.Add(key.first, fact.address, fact.verdict, fact.reason, fact.stated, fact.provider,
              base::DumpJson(base::Json(fact.sources)), fact.checked_at, fact.until, kind,
              Bytea(suppression ? suppression->hash : ""));
  }
  Rows<Column<"org_id", base::Uuid>, Column<"address", std::string>,
       Column<"person_key", std::string>>
      owners;
  for (const auto& [org_id, address, person_key] : learnt.owners) {
    owners.Add(org_id, address, Bytea(person_key));
  }
  Rows<Column<"org_id", base::Uuid>, Column<"domain", std::string>,
       Column<"pattern", domain::AddressPattern>, Column<"hits", int>, Column<"misses", int>>
      patterns;
  for (const auto& [key, count] : learnt.patterns) {
    patterns.Add(std::get<0>(key), std::get<1>(key), std::get<2>(key), count.hits, count.misses);
  }
  Rows<Column<"org_id", base::Uuid>, Column<"company_key", std::string>,
       Column<"domain", std::string>, Column<"hits", int>>
      companies;
  for (const auto& [key, hits] : learnt.companies) {
    companies.Add(std::get<0>(key), Bytea(std::get<1>(key)), std::get<2>(key), hits);
  }
  if (facts.empty() && patterns.empty() && companies.empty()) return;
  RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
    if (!facts.empty()) tx.Exec<"email_fact_upsert">(facts);
    if (!owners.empty()) tx.Exec<"email_owner_add">(owners);
    if (!patterns.empty()) tx.Exec<"email_pattern_add">(patterns);
    if (!companies.empty()) tx.Exec<"company_domain_add">(companies);
  });
}

SuppressOutcome Suppress(Session& session, const base::Clock& clock,
                         const domain::SuppressionKey& key, const std::optional<base::Uuid>& org_id,
                         std::string_view reason, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    if (org_id && !HoldHere(tx, *org_id)) return SuppressOutcome::kNoOrganisation;
    const bool is_new = !tx.Exec<"email_suppress">("kind"_a = key.kind, "hash"_a = Bytea(key.hash),
                                                   "org_id"_a = org_id, "reason"_a = reason)
                             .empty();
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
         tx.Exec<"suppressions_list">("after_at"_a = at, "after"_a = id, "kind"_a = filter.kind,
         "org_id"_a = filter.org_id, "limit"_a = filter.limit)) {
      SuppressionView& entry = entries.emplace_back();
      Columns(row).Into("id"_a = &entry.id, "kind"_a = &entry.kind, "org_id"_a = &entry.org_id,
                        "reason"_a = &entry.reason, "created_at"_a = &entry.created_at);
    }
    return entries;
  });
}

bool Unsuppress(Session& session, const base::Clock& clock, const domain::SuppressionKey& key,
                const std::optional<base::Uuid>& org_id, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    if (org_id) HoldHere(tx, *org_id);
    const bool was_there =
        !tx.Exec<"email_unsuppress">("kind"_a = key.kind, "hash"_a = Bytea(key.hash),
                                     "org_id"_a = org_id)
             .empty();
    if (was_there) InsertAudit(tx, clock, audit);
    return was_there;
  });
}

}  // namespace vedette::store
