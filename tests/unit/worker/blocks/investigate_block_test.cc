// One subject of an investigation: who looks at it, what is left out, what it costs, and what is
// said of where it leads.
#include "worker/blocks/investigate_block.h"
#include "base/json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "domain/email/suppression.h"
#include "domain/investigation/finding.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::FindingKind;
using domain::Subject;
using domain::SubjectKind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kPrice = 5000;
const Subject kSite{SubjectKind::kDomain, "a.example"};

// Answers at once with the same, and keeps what it was asked.
class ScriptedExpander final : public Expander {
 public:
  ScriptedExpander(std::string id, std::vector<SubjectKind> takes, ExpandAnswer answer,
                   std::vector<std::string>* asked)
      : id_(std::move(id)), takes_(std::move(takes)), answer_(std::move(answer)), asked_(asked) {}
  std::string_view id() const override { return id_; }
  bool Takes(SubjectKind type) const override {
    return std::find(takes_.begin(), takes_.end(), type) != takes_.end();
  }
  void Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) override {
    asked_->push_back(id_ + " " + request.subject.value);
    done(answer_);
  }

 private:
  const std::string id_;
  const std::vector<SubjectKind> takes_;
  const ExpandAnswer answer_;
  std::vector<std::string>* const asked_;
};

// The suppression list; or no database.
class ListMemory final : public EmailMemory {
 public:
  void Ask(domain::EmailQuestion question,
           std::function<void(std::optional<domain::EmailKnowledge>)> done) override {
    if (!is_there) return done(std::nullopt);
    domain::EmailKnowledge known;
    const bool is_empty = questions++ < empty_for;
    for (const auto& key : question.keys) {
      if (!is_empty && std::find(listed.begin(), listed.end(), key) != listed.end()) {
        known.suppressed.push_back(key);
      }
    }
    done(std::move(known));
  }
  void Learn(domain::EmailLesson, std::function<void()> done) override { done(); }

  std::vector<domain::SuppressionKey> listed;
  int empty_for = 0;  // so many questions
  int questions = 0;
  bool is_there = true;
};

class InvestigateBlockTest : public testing::Test {
 public:
  void Expand(const std::string& id, std::vector<SubjectKind> takes, ExpandAnswer answer) {
    expanders_.push_back(
        std::make_unique<ScriptedExpander>(id, std::move(takes), std::move(answer), &asked_));
  }
  // What leads from the site to the subject.
  static std::vector<Finding> LinkTo(SubjectKind type, const std::string& value) {
    return domain::RelationTo(base::Uuid(), kSite, "links_to", {type, value}, {});
  }
  RowResult Look(const base::Json& subject = domain::SubjectJson(kSite),
                 std::function<bool()> may_call = {}) {
    InvestigateBlock block(clock_, metrics_, memory_, std::move(expanders_));
    auto runner = std::get<std::shared_ptr<RowRunner>>(block.Bind("{}", kPrice));
    RowRequest request;
    request.cells = {base::DumpJson(subject)};
    request.timeout = std::chrono::seconds(20);
    request.may_call = std::move(may_call);
    std::optional<RowResult> ended;
    runner->Start(std::move(request), [&](RowResult result) { ended = std::move(result); });
    return ended.value();
  }
  // "type value" of the entities; each is paid for whatever was found.
  std::vector<std::string> Entities(const RowResult& result) {
    const auto& done = std::get<RowDone>(result);
    EXPECT_EQ(done.charge_mc, kPrice);
    std::vector<std::string> entities;
    findings_ = domain::ReadFindings(done.cells.at(0));
    for (const Finding& finding : findings_) {
      if (finding.kind != FindingKind::kEntity) continue;
      entities.push_back(std::string(domain::SubjectKindName(finding.subject.type)) + " " +
                         finding.subject.value);
    }
    return entities;
  }

  const base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  ListMemory memory_;
  std::vector<std::unique_ptr<Expander>> expanders_;
  std::vector<std::string> asked_;
  std::vector<Finding> findings_;
};

TEST_F(InvestigateBlockTest, ThoseWhoTakeTheSubjectAreAskedInTheirOrder) {
  Expand("first", {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "b.example"));
  Expand("other", {SubjectKind::kIp}, LinkTo(SubjectKind::kDomain, "x.example"));
  Expand("last", {SubjectKind::kDomain, SubjectKind::kUrl}, LinkTo(SubjectKind::kIp, "192.0.2.7"));
  EXPECT_THAT(Entities(Look()), ElementsAre("domain b.example", "ip 192.0.2.7"));
  EXPECT_THAT(asked_, ElementsAre("first a.example", "last a.example"));
}

TEST_F(InvestigateBlockTest, WhatNobodyHereLooksAtIsKeptAndNotLookedAt) {
  std::vector<Finding> found = LinkTo(SubjectKind::kDomain, "b.example");
  for (const auto& [type, value] : std::initializer_list<std::pair<SubjectKind, const char*>>{
           {SubjectKind::kCompany, "Acme"}, {SubjectKind::kUrl, "https://b.example/"}}) {
    for (Finding& finding : LinkTo(type, value)) found.push_back(std::move(finding));
  }
  Expand("lookups", {SubjectKind::kDomain, SubjectKind::kCompany}, std::move(found));
  EXPECT_THAT(Entities(Look()),
              ElementsAre("domain b.example", "company Acme", "url https://b.example/"));
  std::vector<bool> expandable;
  for (const Finding& finding : findings_) {
    if (finding.kind == FindingKind::kEntity) expandable.push_back(*finding.is_expandable);
  }
  EXPECT_THAT(expandable, ElementsAre(true, true, false));
}

TEST_F(InvestigateBlockTest, OfASubjectThatNobodyLooksUpNobodyIsAsked) {
  Expand("first", {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "b.example"));
  memory_.listed = {*domain::DomainSuppression("a.example")};
  EXPECT_THAT(Entities(Look()), IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(InvestigateBlockTest, TheListIsAskedBeforeEachAndWhatWasFoundMeanwhileIsNotRecorded) {
  for (const char* id : {"first", "last"}) {
    Expand(id, {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "b.example"));
  }
  memory_.listed = {*domain::DomainSuppression("a.example")};
  memory_.empty_for = 1;
  EXPECT_THAT(Entities(Look()), IsEmpty());
  EXPECT_THAT(findings_, IsEmpty());
  EXPECT_THAT(asked_, ElementsAre("first a.example"));
}

TEST_F(InvestigateBlockTest, WhatLeadsToThoseWhomNobodyLooksUpIsNotRecorded) {
  std::vector<Finding> found = LinkTo(SubjectKind::kEmail, "ada@b.example");
  for (Finding& finding : LinkTo(SubjectKind::kDomain, "c.example")) found.push_back(finding);
  Expand("first", {SubjectKind::kDomain}, std::move(found));
  memory_.listed = {*domain::AddressSuppression("ada@b.example")};
  EXPECT_THAT(Entities(Look()), ElementsAre("domain c.example"));
  EXPECT_EQ(findings_.size(), 2U) << "neither the entity nor the relation to it";
}

TEST_F(InvestigateBlockTest, WithoutThatListOrWithoutHoldingTheRowNothingIsAsked) {
  const auto failure = [&](std::function<bool()> may_call) {
    Expand("first", {SubjectKind::kDomain}, std::vector<Finding>());
    const RowResult result = Look(domain::SubjectJson(kSite), std::move(may_call));
    EXPECT_TRUE(std::get<RowFailure>(result).retryable);
    return std::get<RowFailure>(result).error_class;
  };
  EXPECT_EQ(failure([] { return false; }), kRowUnheld);
  memory_.is_there = false;
  EXPECT_EQ(failure({}), "database");
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(InvestigateBlockTest, G5_OnceNobodyWaitsForTheSubjectNobodyFurtherIsAsked) {
  Expand("first", {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "b.example"));
  Expand("last", {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "c.example"));
  int questions = 0;
  const RowResult result =
      Look(domain::SubjectJson(kSite), [&questions] { return questions++ == 0; });
  EXPECT_EQ(std::get<RowFailure>(result).error_class, kRowUnheld);
  EXPECT_THAT(asked_, ElementsAre("first a.example"));
}

TEST_F(InvestigateBlockTest, AFailureOfThisProcessIsTriedAgain) {
  Expand("first", {SubjectKind::kDomain}, domain::Failure{"overloaded", "No room.", true, {}});
  const RowResult result = Look();
  EXPECT_EQ(std::get<RowFailure>(result).error_class, "overloaded");
  EXPECT_TRUE(std::get<RowFailure>(result).retryable);
}

TEST_F(InvestigateBlockTest, ASeedThatNobodyLooksAtCostsNothing) {
  Expand("first", {SubjectKind::kDomain}, LinkTo(SubjectKind::kDomain, "b.example"));
  const Subject ada{SubjectKind::kPerson, "Ada Lovelace"};
  const RowResult result = Look(domain::SubjectJson(ada));
  EXPECT_FALSE(std::get<RowDone>(result).charge_mc);
  EXPECT_FALSE(std::get<RowDone>(result).error);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(InvestigateBlockTest, AnErasedSubjectCostsNothingAndABrokenOneIsTheRowsError) {
  base::Json erased = domain::SubjectJson(kSite);
  domain::EraseSubject(&erased);
  RowResult result = Look(erased);
  EXPECT_FALSE(std::get<RowDone>(result).charge_mc);
  EXPECT_FALSE(std::get<RowDone>(result).error);
  result = Look(base::Json{{"type", "car"}, {"value", "x"}});
  EXPECT_FALSE(std::get<RowDone>(result).charge_mc);
  EXPECT_EQ(std::get<RowDone>(result).error->code, "invalid_subject");
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace vedette::worker
