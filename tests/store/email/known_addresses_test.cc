// What organisations know of addresses, and the suppression list.

#include "store/email/email_memory.h"

#include <gtest/gtest.h>

#include "domain/email/email_fact.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

using domain::EmailFact;
using domain::EmailQuestion;
using domain::Verdict;

class EmailMemoryTest : public PipelineTest {
 public:
  EmailFact Fact(const std::string& address, std::chrono::hours age = {}) {
    EmailFact fact;
    fact.address = address;
    fact.person_key = std::string("0123456789\0bcdef", 16);
    fact.verdict = Verdict::kOk;
    fact.provider = "pattern";
    fact.sources = {"https://acme.com/\"team\""};
    fact.checked_at = clock.Now() - age;
    fact.until = clock.Now() + std::chrono::hours(1);
    return fact;
  }
  void Learn(const base::Uuid& of, std::vector<EmailFact> facts,
             std::vector<domain::PatternCount> patterns = {}) {
    store::LearnEmail(session,
                      {domain::EmailLesson{of, std::move(facts), "acme.com", std::move(patterns)}});
  }
  domain::EmailKnowledge Ask(EmailQuestion question) {
    return store::AskEmailMemory(session, {std::move(question)}).at(0);
  }
  EmailQuestion Question(const base::Uuid& of) {
    EmailQuestion question;
    question.org_id = of;
    return question;
  }
  store::AuditEntry Audit(const char* action) {
    store::AuditEntry entry;
    entry.actor = "test";
    entry.action = action;
    return entry;
  }
};

TEST_F(EmailMemoryTest, G8_FactsAndPatternsAreAnOrganisationsOwn) {
  const base::Uuid other = NewOrganisation(0);
  Learn(org, {Fact("ann@acme.com")}, {{domain::AddressPattern::kFLast, 1, 0}});
  EmailQuestion question = Question(org);
  question.person_key = Fact("x").person_key;
  question.address = "ann@acme.com";
  question.domain = "acme.com";
  const auto known = Ask(question);
  ASSERT_EQ(known.facts.size(), 1U) << "found by both keys, and given once";
  EXPECT_EQ(known.facts[0].address, "ann@acme.com");
  EXPECT_EQ(known.facts[0].person_key, question.person_key);
  EXPECT_EQ(known.facts[0].sources, Fact("x").sources);
  ASSERT_EQ(known.patterns.size(), 1U);
  EXPECT_EQ(known.patterns[0].hits, 1);
  question.org_id = other;
  EXPECT_TRUE(Ask(question).facts.empty());
  EXPECT_TRUE(Ask(question).patterns.empty());
}

TEST_F(EmailMemoryTest, ANewerCheckWinsAndPatternsAdd) {
  Learn(org, {Fact("ann@acme.com")}, {{domain::AddressPattern::kFLast, 1, 0}});
  EmailFact refused = Fact("ann@acme.com", std::chrono::hours(1));
  refused.verdict = Verdict::kRefused;
  Learn(org, {refused}, {{domain::AddressPattern::kFLast, 1, 1}});
  EmailQuestion question = Question(org);
  question.address = "ann@acme.com";
  question.domain = "acme.com";
  const auto known = Ask(question);
  EXPECT_EQ(known.facts.at(0).verdict, Verdict::kOk) << "the refusal is older";
  EXPECT_EQ(known.patterns.at(0).hits, 2);
  EXPECT_EQ(known.patterns.at(0).misses, 1);
}

TEST_F(EmailMemoryTest, AVerifiedMailboxIsNeverTakenFromAPersonByAnother) {
  const EmailFact tomas = Fact("tlindqvist@acme.com", std::chrono::hours(1));
  EmailFact tom = Fact("tlindqvist@acme.com");
  tom.person_key = std::string(16, 't');
  Learn(org, {tomas});
  Learn(org, {tom});
  const auto known_of = [&](const std::string& person_key) {
    EmailQuestion question = Question(org);
    question.person_key = person_key;
    return Ask(question).facts;
  };
  for (const EmailFact& one : {tomas, tom}) {
    const auto facts = known_of(one.person_key);
    ASSERT_EQ(facts.size(), 1U);
    EXPECT_EQ(facts[0].address, "tlindqvist@acme.com");
    EXPECT_EQ(facts[0].person_key, one.person_key);
    EXPECT_EQ(facts[0].verdict, Verdict::kOk);
  }
  EXPECT_TRUE(known_of(std::string(16, 'x')).empty());
  EmailQuestion by_address = Question(org);
  by_address.address = "tlindqvist@acme.com";
  EXPECT_EQ(Ask(by_address).facts.at(0).person_key, "") << "nobody was asked for";
  // Both in one lesson come to the same.
  Sql("delete from email_fact");
  EXPECT_EQ(Sql("select count(*) from email_owner"), "0") << "who has it goes with the fact";
  Learn(org, {tom, tomas});
  EXPECT_EQ(known_of(tomas.person_key).size(), 1U);
  EXPECT_EQ(known_of(tom.person_key).size(), 1U);
}

TEST_F(EmailMemoryTest, WhatIsTooOldIsNotKnown) {
  EmailFact old = Fact("ann@acme.com");
  old.until = clock.Now() - std::chrono::hours(1);
  Learn(org, {old});
  EmailQuestion question = Question(org);
  question.address = "ann@acme.com";
  EXPECT_TRUE(Ask(question).facts.empty());
}

TEST_F(EmailMemoryTest, QuestionsOfManyRowsAreAnsweredTogetherEachItsOwn) {
  Learn(org, {Fact("a@acme.com"), Fact("b@acme.com")});
  std::vector<EmailQuestion> questions(3, Question(org));
  questions[0].address = "b@acme.com";
  questions[2].address = "a@acme.com";
  const auto known = store::AskEmailMemory(session, questions);
  ASSERT_EQ(known.size(), 3U);
  EXPECT_EQ(known[0].facts.at(0).address, "b@acme.com");
  EXPECT_TRUE(known[1].facts.empty());
  EXPECT_EQ(known[2].facts.at(0).address, "a@acme.com");
}

TEST_F(EmailMemoryTest, TheListIsEverybodysOrAnOrganisationsOwnAndHoldsDigestsAlone) {
  const base::Uuid other = NewOrganisation(0);
  const auto everybody = *domain::AddressSuppression("ann@acme.com");
  const auto own = *domain::DomainSuppression("acme.com");
  using Outcome = store::SuppressOutcome;
  EXPECT_EQ(store::Suppress(session, clock, everybody, std::nullopt, "asked", Audit("add")),
            Outcome::kDone);
  EXPECT_EQ(store::Suppress(session, clock, everybody, std::nullopt, "asked", Audit("add")),
            Outcome::kThereAlready);
  EXPECT_EQ(store::Suppress(session, clock, own, org, "asked", Audit("add")), Outcome::kDone);
  EXPECT_EQ(store::Suppress(session, clock, own, base::Uuid::V4(), "asked", Audit("add")),
            Outcome::kNoOrganisation);
  EmailQuestion question = Question(org);
  question.keys = {everybody, own, *domain::DomainSuppression("other.com")};
  EXPECT_EQ(Ask(question).suppressed.size(), 2U);
  question.org_id = other;
  EXPECT_EQ(Ask(question).suppressed, std::vector<domain::SuppressionKey>{everybody});
  EXPECT_EQ(Sql("select count(*) from suppression where encode(hash, 'escape') like '%acme%'"),
            "0");
  EXPECT_TRUE(store::Unsuppress(session, clock, everybody, std::nullopt, Audit("remove")));
  EXPECT_FALSE(store::Unsuppress(session, clock, everybody, std::nullopt, Audit("remove")));
  EXPECT_TRUE(Ask(question).suppressed.empty());
}

// A batch of leads is learnt from in one transaction; it must come to what one after another does.
TEST_F(EmailMemoryTest, LessonsTogetherComeToWhatTheyComeToOneAfterAnother) {
  const base::Uuid other = NewOrganisation(0);
  EmailFact stated = Fact("ann@acme.com", std::chrono::hours(2));
  stated.stated = true;
  stated.verdict = Verdict::kUnknown;
  EmailFact nobody_asks = Fact("bob@acme.com");
  ASSERT_EQ(store::Suppress(session, clock, *domain::AddressSuppression("bob@acme.com"), org,
                            "asked us", Audit("add")),
            store::SuppressOutcome::kDone);
  const domain::PatternCount hit{domain::AddressPattern::kFLast, 1, 0};
  const domain::PatternCount miss{domain::AddressPattern::kFLast, 0, 1};
  const std::string company = domain::CompanyKey("Acme");
  const std::vector<domain::EmailLesson> lessons{
      {org, {Fact("ann@acme.com"), nobody_asks}, "acme.com", {hit}, company},
      {other, {Fact("bob@acme.com")}, "acme.com", {hit}, company},
      {org, {stated}, "acme.com", {hit, miss}, company}};
  const auto told = [&] {
    return Sql(
        "select (select json_agg(f order by f.org_id, f.address) from email_fact f)::text || "
        "(select json_agg((p.org_id, p.pattern, p.hits, p.misses) order by p.org_id, p.pattern) "
        "from domain_pattern p)::text || (select json_agg((c.org_id, c.domain, c.hits) "
        "order by c.org_id) from company_domain c)::text");
  };
  for (const domain::EmailLesson& lesson : lessons) store::LearnEmail(session, {lesson});
  const std::string one_by_one = told();
  Sql("delete from email_fact");
  Sql("delete from domain_pattern");
  Sql("delete from company_domain");
  store::LearnEmail(session, lessons);
  EXPECT_EQ(told(), one_by_one);
  EXPECT_EQ(Sql("select string_agg(address || verdict || stated, ' ' order by address) "
                "from email_fact where org_id = '" +
                org.ToString() + "'"),
            "ann@acme.com0true");
  EXPECT_EQ(Sql("select sum(hits) from domain_pattern"), "3");
  EXPECT_EQ(Sql("select max(hits) from company_domain"), "2");
}

TEST_F(EmailMemoryTest, G8_TheDomainsThatLeadsNamedForACompanyAreAnOrganisationsOwn) {
  const std::string key = domain::CompanyKey("Acme Widgets");
  const auto name = [&](const char* domain) {
    domain::EmailLesson lesson;
    lesson.org_id = org;
    lesson.domain = domain;
    lesson.company_key = key;
    store::LearnEmail(session, {lesson});
  };
  name("acme.com");
  name("acme.com");
  name("acme.org");
  EmailQuestion question = Question(org);
  question.company_key = domain::CompanyKey("ACME  widgets");
  const auto known = Ask(question).company_domains;
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].domain, "acme.com");
  EXPECT_EQ(known[0].hits, 2);
  EXPECT_EQ(domain::AgreedDomain(known), "acme.com");
  question.company_key = domain::CompanyKey("Acme");
  EXPECT_TRUE(Ask(question).company_domains.empty());
  question.company_key = key;
  question.org_id = NewOrganisation(0);
  EXPECT_TRUE(Ask(question).company_domains.empty());
}

// A row that was under way when its person was erased tells what it knows behind that.
TEST_F(EmailMemoryTest, NothingIsLearntOfAnAddressThatNobodyLooksUp) {
  store::Suppress(session, clock, *domain::AddressSuppression("ann@acme.com"), std::nullopt,
                  "asked", Audit("add"));
  Learn(org, {Fact("ann@acme.com"), Fact("Ann+x@acme.com"), Fact("bob@acme.com")},
        {{domain::AddressPattern::kFirst, 1, 0}});
  EXPECT_EQ(Sql("select string_agg(address, ' ') from email_fact"), "bob@acme.com");
  EXPECT_EQ(Sql("select count(*) from domain_pattern"), "1");
}

}  // namespace
}  // namespace vedette::test
