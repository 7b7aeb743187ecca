// The people behind an address of an investigation, the domain of a company, as lookups say; and
// the suppression list.
#include "tests/unit/worker/providers/findings.h"
#include "worker/providers/lookup_expanders.h"

#include <gmock/gmock.h>

#include <future>
#include <utility>

#include "domain/email/suppression.h"
#include "tests/unit/worker/blocks/people_fixture.h"

namespace vedette::worker::test {
namespace {

using domain::Finding;
using domain::PersonFound;
using domain::Subject;
using domain::SubjectKind;
using testing::ElementsAre;
using testing::IsEmpty;

const Subject kAda{SubjectKind::kEmail, "ada@engines.example"};
const Subject kEngines{SubjectKind::kCompany, "Analytical Engines"};

// Answers every lookup with the same, and keeps what it was asked.
class ScriptedProvider final : public Provider {
 public:
  ScriptedProvider(std::string id, LookupAnswer answer, std::vector<LookupRequest>* asked)
      : id_(std::move(id)), answer_(std::move(answer)), asked_(asked) {}
  std::string_view id() const override { return id_; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override {
    asked_->push_back(std::move(request));
    done(answer_);
  }

 private:
  const std::string id_;
  const LookupAnswer answer_;
  std::vector<LookupRequest>* const asked_;
};

PersonFound Ada() {
  PersonFound person;
  person.name = "Ada Lovelace";
  person.title = "Programmer";
  person.company = "Analytical Engines";
  person.domain = "engines.example";
  person.linkedin = "https://www.linkedin.com/in/ada";
  person.profiles = {person.linkedin, "https://people.example/ada"};
  person.confidence = 8;
  person.evidence = "Ada Lovelace, Programmer";
  person.sources = {"https://engines.example/team"};
  return person;
}

class LookupExpanderTest : public PeopleFixture {
 protected:
  ~LookupExpanderTest() override {
    loop_.Run([this] { expander_.reset(); });
  }
  void Provide(const std::string& id, LookupAnswer answer) {
    Add<ScriptedProvider>(id, std::move(answer), &asked_);
    order_.push_back(id);
  }
  ExpandAnswer Expand(std::function<bool()> may_call = {}) {
    return ExpandBy(kAda, std::make_unique<LookupExpander>(*providers_, known_, order_),
                    std::move(may_call));
  }
  ExpandAnswer ExpandCompany(std::function<bool()> may_call = {}) {
    return ExpandBy(kEngines, std::make_unique<CompanyExpander>(*providers_, order_),
                    std::move(may_call));
  }
  ExpandAnswer ExpandBy(const Subject& subject, std::unique_ptr<Expander> expander,
                        std::function<bool()> may_call) {
    auto promise = std::make_shared<std::promise<ExpandAnswer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      expander_ = std::move(expander);
      ExpandRequest request;
      request.investigation_id = id_;
      request.subject = subject;
      request.timeout = std::chrono::seconds(20);
      request.may_call = std::move(may_call);
      expander_->Start(std::move(request),
                       [promise](ExpandAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future.get();
  }
  std::vector<std::string> Found() { return Said(std::get<std::vector<Finding>>(Expand())); }

  const base::Uuid id_ = base::Uuid::V4();
  std::vector<LookupRequest> asked_;
  std::vector<std::string> order_;
  std::unique_ptr<Expander> expander_;
};

TEST_F(LookupExpanderTest, TheFirstSourceThatKnowsThePersonIsTheLastOneAsked) {
  Provide("empty", Nothing{});
  Provide("broken", domain::Failure{"timeout", "It did not answer.", true, {}});
  Provide("knows", Ada());
  Provide("unasked", Ada());
  EXPECT_THAT(Found(), ElementsAre("person Ada Lovelace", "company Analytical Engines",
                                   "company_domain engines.example", "title Programmer",
                                   "profile https://www.linkedin.com/in/ada",
                                   "profile https://people.example/ada"));
  ASSERT_EQ(asked_.size(), 3U);
  for (const LookupRequest& request : asked_) {
    EXPECT_EQ(request.lookup, Lookup::kReverseEmail);
    EXPECT_EQ(request.address, kAda.value);
    EXPECT_EQ(request.person->email, kAda.value);
    EXPECT_EQ(request.row_id, asked_.front().row_id) << "one key for the whole question";
  }
}

TEST_F(LookupExpanderTest, AFindingSaysFromWhereItIs) {
  Provide("knows", Ada());
  const auto findings = std::get<std::vector<Finding>>(Expand());
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.provider, "knows");
    EXPECT_EQ(finding.confidence, 8);
    EXPECT_THAT(finding.sources, ElementsAre("https://engines.example/team"));
  }
}

TEST_F(LookupExpanderTest, NothingIsSaidOfThoseWhomNobodyLooksUp) {
  Provide("knows", Ada());
  known_.listed = {*domain::PersonSuppression("Ada Lovelace", "engines.example")};
  EXPECT_THAT(Found(), IsEmpty());
  known_.listed = {*domain::ProfileSuppression("https://people.example/ada")};
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(LookupExpanderTest, WhereNobodyKnowsNothingIsFound) {
  EXPECT_THAT(Found(), IsEmpty());
  Provide("empty", Nothing{});
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_FALSE(expander_->Takes(SubjectKind::kDomain));
  EXPECT_TRUE(expander_->Takes(SubjectKind::kEmail));
}

TEST_F(LookupExpanderTest, NobodyIsAskedOnceTheRowIsNotHeld) {
  Provide("knows", Ada());
  const ExpandAnswer answer = Expand([] { return false; });
  EXPECT_EQ(std::get<domain::Failure>(answer).error_class, kLookupUnheld);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(LookupExpanderTest, ACompanyLeadsToTheDomainThatTheFirstSourceKnows) {
  Provide("empty", Nothing{});
  Provide("broken", domain::Failure{"timeout", "It did not answer.", true, {}});
  Provide("strange", CompanyDomainFound{"no domain"});
  Provide("knows", CompanyDomainFound{"engines.example"});
  Provide("unasked", CompanyDomainFound{"other.example"});
  const auto findings = std::get<std::vector<Finding>>(ExpandCompany());
  EXPECT_THAT(Said(findings), ElementsAre("company_domain engines.example"));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].provider, "knows");
  EXPECT_EQ(findings[0].subject, kEngines);
  EXPECT_EQ(findings[1].kind, domain::FindingKind::kEntity);
  EXPECT_EQ(findings[1].subject, (Subject{SubjectKind::kDomain, "engines.example"}));
  ASSERT_EQ(asked_.size(), 4U);
  for (const LookupRequest& request : asked_) {
    EXPECT_EQ(request.lookup, Lookup::kCompanyDomain);
    EXPECT_EQ(request.person->company, kEngines.value);
    EXPECT_EQ(request.row_id, asked_.front().row_id) << "one key for the whole question";
  }
  EXPECT_TRUE(expander_->Takes(SubjectKind::kCompany));
  EXPECT_FALSE(expander_->Takes(SubjectKind::kPerson))
      << "a name alone says of nobody who is meant";
  EXPECT_EQ(expander_->id(), LookupExpander::kId);
}

TEST_F(LookupExpanderTest, OfACompanyNobodyIsAskedWithoutSourcesOrOnceTheRowIsNotHeld) {
  EXPECT_THAT(std::get<std::vector<Finding>>(ExpandCompany()), IsEmpty());
  EXPECT_FALSE(expander_->Takes(SubjectKind::kCompany));
  Provide("knows", CompanyDomainFound{"engines.example"});
  const ExpandAnswer answer = ExpandCompany([] { return false; });
  EXPECT_EQ(std::get<domain::Failure>(answer).error_class, kLookupUnheld);
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace vedette::worker::test
