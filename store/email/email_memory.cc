#include "store/email/email_memory.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::EmailFact;
using domain::EmailKnowledge;
using domain::EmailQuestion;

void ReadSuppressed(Transaction& tx, const std::vector<EmailQuestion>& questions,
                    std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, domain::SuppressionKind, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const auto& key : questions[i].keys) {
      rows.Add(static_cast<int>(i), questions[i].org_id, key.kind, Bytea(key.hash));
    }
  }
  if (rows.empty()) return;
  for (const auto& row : tx.Exec("email_suppressed", rows)) {
    std::size_t question = 0;
    domain::SuppressionKey key;
    Columns(row).Into(&question, &key.kind, BytesInto{&key.hash});
    out->at(question).suppressed.push_back(std::move(key));
  }
}

void ReadFacts(Transaction& tx, const std::vector<EmailQuestion>& questions,
               std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (one.person_key.empty() && one.address.empty()) continue;
    rows.Add(static_cast<int>(i), one.org_id, Bytea(one.person_key), one.address);
  }
  if (rows.empty()) return;
  for (const auto& row : tx.Exec("email_facts_read", rows, domain::kFactsMax)) {
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

void ReadPatterns(Transaction& tx, const std::vector<EmailQuestion>& questions,
                  std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!questions[i].domain.empty()) {
      rows.Add(static_cast<int>(i), questions[i].org_id, questions[i].domain);
    }
  }
  if (rows.empty()) return;
  for (const auto& row : tx.Exec("email_patterns_read", rows)) {
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

void ReadCompanyDomains(Transaction& tx, const std::vector<EmailQuestion>& questions,
                        std::vector<EmailKnowledge>* out) {
  Rows<int, base::Uuid, std::string> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const EmailQuestion& one = questions[i];
    if (one.company_key.empty()) continue;
    rows.Add(static_cast<int>(i), one.org_id, Bytea(one.company_key));
  }
  if (rows.empty()) return;
  for (const auto& row : tx.Exec("company_domains_read", rows, domain::kCompanyDomainsMax)) {
    std::size_t question = 0;
    domain::CompanyDomainCount count;
    Columns(row).Into(&question, &count.domain, &count.hits);
    out->at(question).company_domains.push_back(std::move(count));
  }
}

using FactRows = Rows<std::string, std::string, domain::Verdict, domain::VerdictReason, bool,
                      std::string, std::string, base::Timestamp, base::Timestamp>;

// Those facts whose address somebody may look up.
FactRows AllowedFacts(Transaction& tx, const base::Uuid& org_id,
                      const std::vector<EmailFact>& facts) {
  FactRows rows;
  Rows<int, base::Uuid, domain::SuppressionKind, std::string> asked;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto key = domain::AddressSuppression(facts[i].address);
    if (key) asked.Add(static_cast<int>(i), org_id, key->kind, Bytea(key->hash));
  }
  std::set<std::size_t> suppressed;
  if (!asked.empty()) {
    for (const auto& row : tx.Exec("email_suppressed", asked)) {
      std::size_t fact = 0;
      Columns(row).Into(&fact);
      suppressed.insert(fact);
    }
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const EmailFact& fact = facts[i];
    if (suppressed.contains(i)) continue;
    rows.Add(fact.address, Bytea(fact.person_key), fact.verdict, fact.reason, fact.stated,
             fact.provider, base::DumpJson(base::Json(fact.sources)), fact.checked_at, fact.until);
  }
  return rows;
}

}  // namespace

std::vector<EmailKnowledge> AskEmailMemory(Session& session,
                                           const std::vector<EmailQuestion>& questions) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<EmailKnowledge> out(questions.size());
    ReadSuppressed(tx, questions, &out);
    ReadFacts(tx, questions, &out);
    ReadPatterns(tx, questions, &out);
    ReadCompanyDomains(tx, questions, &out);
    return out;
  });
}

void LearnEmail(Session& session, const domain::EmailLesson& lesson) {
  // In the order of their keys, so that no two rows wait for each other.
  auto facts = lesson.facts;
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  facts.erase(std::unique(facts.begin(), facts.end(),
                          [](const auto& a, const auto& b) { return a.address == b.address; }),
              facts.end());
  auto patterns = lesson.patterns;
  std::sort(patterns.begin(), patterns.end(),
            [](const auto& a, const auto& b) { return a.pattern < b.pattern; });
  Rows<domain::AddressPattern, int, int> pattern_rows;
  for (const auto& count : patterns) pattern_rows.Add(count.pattern, count.hits, count.misses);
  if (lesson.empty()) return;
  RunInTransaction(session, Durability::kAsync, [&](Transaction& tx) {
    const FactRows fact_rows = AllowedFacts(tx, lesson.org_id, facts);
    if (!fact_rows.empty()) tx.Exec("email_fact_upsert", lesson.org_id, fact_rows);
    if (!pattern_rows.empty()) {
      tx.Exec("email_pattern_add", lesson.org_id, lesson.domain, pattern_rows);
    }
    if (!lesson.company_key.empty()) {
      tx.Exec("company_domain_add", lesson.org_id, Bytea(lesson.company_key), lesson.domain);
    }
  });
}

SuppressOutcome Suppress(Session& session, const base::Clock& clock,
                         const domain::SuppressionKey& key, const std::optional<base::Uuid>& org_id,
                         std::string_view reason, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    if (org_id && tx.Exec("org_exists", *org_id).empty()) return SuppressOutcome::kNoOrganisation;
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
