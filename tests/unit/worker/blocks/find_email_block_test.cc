#include "base/json.h"
#include "worker/blocks/find_email.h"

#include <gtest/gtest.h>

#include "tests/unit/worker/blocks/find_email_fixture.h"

namespace vedette::worker {
namespace {

TEST_F(FindEmail, AnOkEndsTheLookupAndIsCharged) {
  Add("a", {Address("ann@acme.com", AddressStatus::kOk)});
  Add("b", {});
  const RowDone done = Work(Request(), kAnn);
  EXPECT_EQ(done.charge_mc, 5000);
  EXPECT_FALSE(done.error);
  const base::Json cell = CellOf(done);
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["ann@acme.com","OK","COMPANY"]])");
  EXPECT_EQ(cell.at("details").at("charged"), true);
  EXPECT_TRUE(asked_["b"].empty());
  const LookupRequest& asked = asked_["a"].at(0);
  EXPECT_EQ(asked.person->name, "Ann Zyxwvut");
  EXPECT_TRUE(asked.verify_emails);
  EXPECT_LE(asked.timeout, 20s);
}

TEST_F(FindEmail, WhatNobodyVerifiedIsKeptWhileTheNextOnesAreAsked) {
  Add("a", {Address("x@acme.com", AddressStatus::kUnknown)});
  Add("b", {Nothing{}});
  const base::Json cell = CellOf(Work(Request(), kAnn));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["x@acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(cell.at("details").at("tries").at(0).at("outcome"), "found");
  EXPECT_EQ(cell.at("details").at("tries").at(1).at("outcome"), "nothing");
}

TEST_F(FindEmail, TheModeAndTheRequestChooseTheOrder) {
  Add("a", {});
  Add("b", {});
  Work(Request(FindMode::kPersonal), kAnn);
  EXPECT_EQ(asked_["a"].size(), 0U);
  EXPECT_EQ(asked_["b"].size(), 1U);
  domain::FindRequest request = Request();
  request.providers = {"b", "a", "b"};
  const base::Json tries = CellOf(Work(request, kAnn)).at("details").at("tries");
  ASSERT_EQ(tries.size(), 2U);
  EXPECT_EQ(tries[0].at("provider"), "b");
  EXPECT_EQ(tries[1].at("provider"), "a");
}

TEST_F(FindEmail, AFailureThatMayPassIsTriedOnceMoreWithTheSameKey) {
  Add("a", {Failed("timeout", true), Address("ann@acme.com", AddressStatus::kOk)});
  Add("b", {});
  const base::Json cell = CellOf(Work(Request(), kAnn));
  EXPECT_EQ(cell.at("email").at(0).at(1), "OK");
  ASSERT_EQ(asked_["a"].size(), 2U);
  EXPECT_EQ(asked_["a"][0].row_id, asked_["a"][1].row_id);
  EXPECT_LT(asked_["a"][1].timeout, asked_["a"][0].timeout);
  EXPECT_EQ(cell.at("details").at("tries").at(0).at("error_class"), "timeout");
}

TEST_F(FindEmail, WithoutAnAnswerOfAProviderTheRowHasAnErrorAndIsFree) {
  Add("a", {Failed("http_status", false)});
  domain::FindRequest request = Request();
  request.charge = domain::ChargeRule::kAlways;
  const RowDone done = Work(request, kAnn);
  ASSERT_TRUE(done.error);
  EXPECT_EQ(done.error->code, "providers_failed");
  EXPECT_FALSE(done.charge_mc);
  const base::Json cell = CellOf(done);
  EXPECT_EQ(cell.at("error"), "providers_failed");
  EXPECT_EQ(cell.at("email"), base::Json::array());
  const base::Json& tries = cell.at("details").at("tries");
  EXPECT_EQ(tries.at(0).at("outcome"), "failed");
  EXPECT_EQ(tries.at(1).at("outcome"), "skipped");
  EXPECT_EQ(tries.at(1).at("error_class"), "not_configured");
}

TEST_F(FindEmail, AProviderThatFailsFiveTimesInARowIsLeftOut) {
  Add("a", std::deque<LookupAnswer>(5, Failed("http_status", false)));
  Add("b", {});
  for (int i = 0; i < 7; ++i) {
    const base::Json tries = CellOf(Work(Request(), kAnn)).at("details").at("tries");
    EXPECT_EQ(tries.at(0).at("outcome"), i < 5 ? "failed" : "skipped") << i;
    EXPECT_EQ(tries.at(1).at("outcome"), "nothing") << "the others are asked";
  }
  EXPECT_EQ(asked_["a"].size(), 5U);
  const std::vector<AilingProvider> ailing = providers_->Ailing();
  ASSERT_EQ(ailing.size(), 1U) << "the operator is told of it";
  EXPECT_EQ(ailing[0].id, "a");
  EXPECT_EQ(ailing[0].failures, 5);
  EXPECT_TRUE(ailing[0].left_out);
}

TEST_F(FindEmail, WhatThisProcessLacksIsNoFaultOfTheProvider) {
  Add("a", std::deque<LookupAnswer>(20, Failed("overloaded", false)));
  Add("b", {});
  for (int i = 0; i < 8; ++i) Work(Request(), kAnn);
  EXPECT_EQ(asked_["a"].size(), 8U);
}

// Five clients that wait for a second each, of a provider that takes two.
TEST_F(FindEmail, G10_WhoeverWaitsForTooShortATimeHasNoProviderLeftOutForOthers) {
  Add("a", std::deque<LookupAnswer>(12, Failed("out_of_time", false)));
  Add("b", {});
  const auto runner = Bind(Request());
  for (int n = 0; n < 7; ++n) Run(*runner, Row(kAnn));
  EXPECT_EQ(asked_["a"].size(), 7U);
}

TEST_F(FindEmail, ALeadWithItsAddressAndACopyCostNothingAndAskNobody) {
  Add("a", {});
  domain::FindRequest request = Request();
  request.charge = domain::ChargeRule::kAlways;
  const RowDone known = Work(request, R"({"email": "Ann@acme.com"})");
  EXPECT_FALSE(known.charge_mc);
  EXPECT_EQ(CellOf(known).at("email").at(0).at(0), "Ann@acme.com");
  const RowDone copy = Work(request, R"([4, {"name": "Ann", "domain": "acme.com"}])");
  EXPECT_FALSE(copy.charge_mc);
  EXPECT_FALSE(copy.error);
  EXPECT_EQ(copy.cells.at(0), R"({"duplicate_of":4})");
  EXPECT_TRUE(asked_["a"].empty());
}

TEST_F(FindEmail, ARowThatEndsWithoutItsRunnerHasTheErrorInItsCell) {
  const auto runner = Bind(Request());
  const RowDone done = runner->EndWith({kAnn}, {"row_crashed", "Its worker died."});
  EXPECT_EQ(CellOf(done).at("error"), "row_crashed");
  EXPECT_EQ(CellOf(done).at("details").at("domain"), "acme.com");
  EXPECT_EQ(done.error->code, "row_crashed");
  EXPECT_FALSE(done.charge_mc);
  EXPECT_EQ(CellOf(runner->EndWith({"broken"}, {"row_too_large", ""})).at("error"),
            "row_too_large");
}

// The process may die for any reason while the copy is the row of its last try alone.
TEST_F(FindEmail, ACopyWhoseWorkerDiedIsStillACopy) {
  const auto runner = Bind(Request());
  const RowDone done = runner->EndWith({R"([4, {"name": "Ann", "domain": "acme.com"}])"},
                                       {"row_crashed", "Its worker died."});
  EXPECT_FALSE(done.error);
  EXPECT_EQ(done.cells.at(0), R"({"duplicate_of":4})");
}

TEST_F(FindEmail, WhatCannotBeReadEndsTheRowOrTheJob) {
  EXPECT_EQ(Work(Request(), "5").error->code, "invalid_lead");
  EXPECT_EQ(Work(Request(), R"({"erased": true})").error->code, "invalid_lead");
  EXPECT_TRUE(std::holds_alternative<std::string>(block_->Bind("{}", 5000)));
}

TEST_F(FindEmail, AProcessThatStopsLeavesTheRowToAnother) {
  Add("a", {Failed("shutdown", true)});
  const auto runner = Bind(Request());
  const RowResult result = Run(*runner, Row(kAnn));
  ASSERT_TRUE(std::holds_alternative<RowFailure>(result));
  EXPECT_TRUE(std::get<RowFailure>(result).retryable);
}

TEST_F(FindEmail, G5_WhereNobodyWaitsForTheRowAnyMoreNoFurtherCallIsMade) {
  Add("a", {Failed("timeout", true), Nothing{}});
  Add("b", {});
  const auto runner = Bind(Request());
  for (const char* next : {"the same provider once more", "the next provider"}) {
    asked_["a"].clear();
    RowRequest row = Row(kAnn);
    row.may_call = [this] { return asked_["a"].empty(); };  // its job ends meanwhile
    const RowResult result = Run(*runner, std::move(row));
    EXPECT_EQ(std::get<RowFailure>(result).error_class, kRowUnheld) << next;
    EXPECT_EQ(asked_["a"].size(), 1U) << next;
  }
  EXPECT_EQ(asked_["b"].size(), 0U);
}

TEST_F(FindEmail, NothingOfAPersonStandsInLogsOrMetrics) {
  Add("a", {Failed("http_status", false), Address("zyxwvut@acme.com", AddressStatus::kOk)});
  Add("b", {});
  testing::internal::CaptureStderr();
  Work(Request(), kAnn);
  Work(Request(), kAnn);
  Work(Request(), R"({"email": "zyxwvut@acme.com"})");
  Work(Request(), "Zyxwvut");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("a provider of lookups fails"), std::string::npos) << log;
  const std::string metrics = metrics_.Expose();
  // The address that was found is known when it comes as a lead's own.
  EXPECT_NE(metrics.find(R"(vedette_lookups_total{kind="find_email",outcome="ok"} 2)"),
            std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("vedette_provider_calls_total{lookup=\"find_email\",outcome=\"failed\","
                         "provider=\"a\"} 1"),
            std::string::npos);
  for (const std::string& text : {log, metrics}) {
    for (const char* word : {"Zyxwvut", "zyxwvut", "acme.com", "Ann", "SECRET"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << word;
    }
  }
}

TEST_F(FindEmail, AnIdThatNobodyConfiguredIsNoLabel) {
  domain::FindRequest request = Request();
  request.providers = {"made_up"};
  Work(request, kAnn);
  EXPECT_EQ(metrics_.Expose().find("made_up"), std::string::npos);
}

TEST_F(FindEmail, TheNullProviderFindsWhatTheLeadNames) {
  config_.find_email = {"null"};
  loop_.Run([&] { providers_->Add(std::make_unique<NullProvider>(loop_.loop, 5ms)); });
  EXPECT_EQ(CellOf(Work(Request(), R"({"name": "Ann-Marie O'Neil", "domain": "acme.com"})"))
                .at("email")
                .at(0)
                .at(0),
            "ann.marie.o.neil@acme.com");
  EXPECT_EQ(CellOf(Work(Request(), R"({"first_name": "Ann", "last_name": "Ex"})"))
                .at("email")
                .at(0)
                .at(0),
            "ann.ex@null.example");
  EXPECT_EQ(CellOf(Work(Request(), R"({"company": "Acme"})")).at("email").at(0).at(1), "NOT_FOUND");
}

TEST_F(FindEmail, GuessesAreVerifiedAFewAtATimeUntilOneIsOk) {
  AddOwn(OnlyKnows("azyxwvut@acme.com"));
  const RowDone done = Work(Request(), kAnn);
  const base::Json cell = CellOf(done);
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["azyxwvut@acme.com","OK","COMPANY"]])");
  EXPECT_EQ(done.charge_mc, 5000);
  EXPECT_EQ(asked_["smtp"].size(), kGuessesAtOnce);
  EXPECT_EQ(cell.at("details").at("pattern"), "flast");
  EXPECT_EQ(cell.at("details").at("addresses").at(0).at("confidence"), 8);
  EXPECT_NE(cell.at("details").at("addresses").at(0).at("checked_at"), nullptr);
}

TEST_F(FindEmail, AHundredLeadsOfOneDomainLearnItsPatternAndAskLittle) {
  AddOwn([](const LookupRequest& request) {
    const bool is_pattern = request.address.size() > 5 && request.address[1] == 'x';
    return is_pattern ? Says(domain::Verdict::kOk)
                      : Says(domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  });
  const auto runner = Bind(Request());
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::string("An") + static_cast<char>('a' + i % 26) + " X" +
                             std::string(static_cast<std::size_t>(1 + i / 26), 'o') + "n";
    const std::string lead = R"({"name": ")" + name + R"(", "domain": "acme.com"})";
    const auto done = std::get<RowDone>(Run(*runner, Row(lead.c_str())));
    EXPECT_EQ(CellOf(done).at("email").at(0).at(1), "OK") << name;
  }
  EXPECT_LE(asked_["smtp"].size(), 120U);
}

TEST_F(FindEmail, WhereAServerCannotTellTheFirstGuessIsReturnedAndItIsFree) {
  AddOwn([](const LookupRequest&) {
    return Says(domain::Verdict::kUnknown, domain::VerdictReason::kCatchAll);
  });
  const RowDone done = Work(Request(), kAnn);
  const base::Json cell = CellOf(done);
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["ann.zyxwvut@acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(cell.at("details").at("reason"), "catch_all");
  EXPECT_FALSE(done.charge_mc) << "a guess";
  EXPECT_EQ(asked_["smtp"].size(), kGuessesAtOnce);
}

TEST_F(FindEmail, WithoutAVerifierTheFirstGuessIsReturned) {
  AddOwn({});
  loop_.Run([&] { MakeBlock(""); });
  const base::Json cell = CellOf(Work(Request(), kAnn));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["ann.zyxwvut@acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(cell.at("details").at("reason"), "not_verified");
  EXPECT_EQ(cell.at("details").at("addresses").size(), 1U);
  EXPECT_TRUE(asked_["smtp"].empty());
}

TEST_F(FindEmail, WhereNoMemberAsksMailServersAddressesAreUnknownAndSayWhy) {
  loop_.Run([&] { MakeBlock("smtp"); });  // which this process does not have
  Add("a", {Address("ann@acme.com", AddressStatus::kUnknown)});
  Add("b", {});
  const RowDone done = Work(Request(), kAnn);
  EXPECT_EQ(base::DumpJson(CellOf(done).at("email")), R"([["ann@acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(CellOf(done).at("details").at("reason"), "no_smtp_worker");
  EXPECT_EQ(asked_["b"].size(), 1U) << "another one may know what is OK";
}

TEST_F(FindEmail, WhereEveryGuessIsRefusedNothingIsFound) {
  AddOwn(OnlyKnows(""));
  const RowDone done = Work(Request(), kAnn);
  const base::Json cell = CellOf(done);
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(asked_["smtp"].size(), 10U);
  EXPECT_FALSE(done.charge_mc);
}

TEST_F(FindEmail, WhatWasFoundBeforeIsAnsweredAgainForNothing) {
  AddOwn(OnlyKnows("ann.zyxwvut@acme.com"));
  EXPECT_TRUE(Work(Request(), kAnn).charge_mc);
  const auto asked = asked_["smtp"].size();
  const RowDone again = Work(Request(), kAnn);
  EXPECT_EQ(CellOf(again).at("email").at(0).at(1), "OK");
  EXPECT_EQ(CellOf(again).at("details").at("addresses").at(0).at("provider"), "store");
  EXPECT_FALSE(again.charge_mc);
  EXPECT_EQ(asked_["smtp"].size(), asked);
}

TEST_F(FindEmail, AGreylistedLeadComesBackWithWhatItKnowsAndIsOkThen) {
  AddOwn([](const LookupRequest& request) {
    if (request.attempt == 0) return SaysLater();
    return OnlyKnows("azyxwvut@acme.com")(request);
  });
  const auto runner = Bind(Request());
  RowRequest row = Row(kAnn);
  const auto later = std::get<RowLater>(Run(*runner, row));
  EXPECT_EQ(later.wait, 10min);
  EXPECT_EQ(asked_["smtp"].size(), 10U) << "one wait serves all guesses";
  row.memo = later.memo;
  const auto done = std::get<RowDone>(Run(*runner, row));
  EXPECT_EQ(CellOf(done).at("email").at(0).at(0), "azyxwvut@acme.com");
  EXPECT_EQ(asked_["smtp"].back().attempt, 1);
  EXPECT_EQ(CellOf(done).at("details").at("tries").size(), 2U) << "no provider is asked twice";
}

LookupAnswer SaysBudgetIsUsedUp() {
  Later later;
  later.wait = 40min;
  later.verdict.reason = domain::VerdictReason::kRate;
  return later;
}

TEST_F(FindEmail, ALeadThatWaitsForTheMailBudgetSaysSoAndComesBackToWhatItsDomainHasShown) {
  bool is_used_up = true;
  AddOwn([&is_used_up](const LookupRequest& request) {
    if (is_used_up) return SaysBudgetIsUsedUp();
    return OnlyKnows("zyxwvut.ann@acme.com")(request);
  });
  const auto runner = Bind(Request());
  RowRequest row = Row(kAnn);
  const auto later = std::get<RowLater>(Run(*runner, row));
  EXPECT_EQ(later.wait, 40min);
  EXPECT_EQ(later.why, domain::JobWait::kMailBudget);
  EXPECT_EQ(asked_["smtp"].size(), 3U) << "no further guess has a permit either";
  // Another lead of the domain has found its address meanwhile.
  is_used_up = false;
  memory_.patterns[domain::AddressPattern::kLastDotFirst] = {domain::AddressPattern::kLastDotFirst,
                                                             1, 0};
  row.memo = later.memo;
  const auto done = std::get<RowDone>(Run(*runner, row));
  EXPECT_EQ(CellOf(done).at("email").at(0).at(0), "zyxwvut.ann@acme.com");
  EXPECT_EQ(asked_["smtp"].size(), 4U) << "one recipient";
  EXPECT_EQ(CellOf(done).at("details").at("tries").size(), 2U);
}

TEST_F(FindEmail, AGreylistIsNotToldAsTheMailBudget) {
  AddOwn([](const LookupRequest&) { return SaysLater(); });
  const auto runner = Bind(Request());
  EXPECT_EQ(std::get<RowLater>(Run(*runner, Row(kAnn))).why, domain::JobWait::kUntold);
}

TEST_F(FindEmail, ALeadsOwnAddressIsVerifiedForItsOwnPriceAndNothingIsSearched) {
  AddOwn(OnlyKnows("Ann@acme.com"));
  domain::FindRequest request = Request();
  request.verify_mc = 1000;
  const RowDone ok = Work(request, R"({"email": "Ann@acme.com"})");
  EXPECT_EQ(ok.charge_mc, 1000);
  EXPECT_EQ(base::DumpJson(CellOf(ok).at("email")), R"([["Ann@acme.com","OK","COMPANY"]])");
  const RowDone refused = Work(request, R"({"name": "Bob Example", "email": "bob@acme.com"})");
  EXPECT_EQ(refused.charge_mc, 1000);
  EXPECT_EQ(CellOf(refused).at("email").at(0).at(1), "NOT_FOUND");
  EXPECT_EQ(asked_["smtp"].size(), 2U);
  const RowDone again = Work(request, R"({"email": "ann@acme.com"})");
  EXPECT_FALSE(again.charge_mc) << "the organisation knows it";
  EXPECT_EQ(CellOf(again).at("email").at(0).at(1), "OK");
  EXPECT_EQ(asked_["smtp"].size(), 2U);
  request.verify_emails = false;
  EXPECT_EQ(CellOf(Work(request, R"({"email": "x@acme.com"})")).at("details").at("reason"),
            "not_verified");
}

TEST_F(FindEmail, WhatIsFoundIsKnownOnceItsRowIsRecordedAndNotBefore) {
  AddOwn(OnlyKnows("ann.zyxwvut@acme.com"));
  const auto runner = Bind(Request());
  const auto done = std::get<RowDone>(RunUnrecorded(*runner, Row(kAnn)));
  EXPECT_TRUE(memory_.facts.empty()) << "nothing is free that was not charged";
  EXPECT_FALSE(memory_.patterns.empty()) << "a pattern makes nothing free";
  ASSERT_TRUE(done.recorded);
  loop_.Run([&done] { done.recorded(); });
  EXPECT_FALSE(memory_.facts.empty());
}

TEST_F(FindEmail, WhomNobodyLooksUpCausesNoQuestionAndLooksLikeNothingFound) {
  AddOwn(OnlyKnows("ann.zyxwvut@acme.com"));
  memory_.listed = {*domain::PersonSuppression("Ann Zyxwvut", "acme.com")};
  const RowDone done = Work(Request(), kAnn);
  EXPECT_EQ(base::DumpJson(CellOf(done).at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  const base::Json details = CellOf(done).at("details");
  EXPECT_EQ(details.at("reason"), "nothing_found");
  // A client that reads who was asked does not learn it either.
  EXPECT_EQ(base::DumpJson(details.at("tries")),
            R"([{"provider":"store","outcome":"nothing","error_class":null,"elapsed_ms":0},)"
            R"({"provider":"pattern","outcome":"nothing","error_class":null,"elapsed_ms":0}])");
  EXPECT_FALSE(done.charge_mc);
  EXPECT_TRUE(asked_["smtp"].empty());
  EXPECT_TRUE(memory_.companies.empty() && memory_.facts.empty());
  EXPECT_NE(metrics_.Expose().find(R"(vedette_suppressed_total{kind="person"} 1)"),
            std::string::npos);
}

TEST_F(FindEmail, WhomNobodyLooksUpCostsWhatNothingFoundCosts) {
  AddOwn(OnlyKnows(""));
  domain::FindRequest request = Request();
  request.charge = domain::ChargeRule::kAlways;
  const auto nothing = Work(request, R"({"name": "Bob Other", "domain": "acme.com"})").charge_mc;
  memory_.listed = {*domain::PersonSuppression("Ann Zyxwvut", "acme.com")};
  EXPECT_EQ(Work(request, kAnn).charge_mc, nothing);
  EXPECT_TRUE(nothing);
}

TEST_F(FindEmail, AnAddressOfTheListIsNeitherVerifiedNorReturned) {
  Add("a", {Address("ann@acme.com", AddressStatus::kOk)});
  Add("b", {});
  memory_.listed = {*domain::AddressSuppression("ann@acme.com")};
  const base::Json cell = CellOf(Work(Request(), kAnn));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(base::DumpJson(cell).find("ann@acme.com"), std::string::npos);
}

TEST_F(FindEmail, AnOwnAddressOfTheListEndsAsOneOfWhichNobodyCanTell) {
  int asked = 0;
  AddOwn([&asked](const LookupRequest&) {
    ++asked;
    return Says(domain::Verdict::kUnknown, domain::VerdictReason::kTemporary);
  });
  for (const domain::ChargeRule rule : {domain::ChargeRule::kFound, domain::ChargeRule::kAlways}) {
    domain::FindRequest request = Request();
    request.charge = rule;
    request.verify_mc = 1000;
    const auto work = [&](const char* lead) {
      const RowDone done = Work(request, lead);
      base::Json cell = CellOf(done);
      for (base::Json& address : cell["details"]["addresses"]) address["checked_at"] = "";
      return std::pair(std::move(cell), done.charge_mc);
    };
    memory_.listed = {};
    const auto other = work(R"({"email": "zoe@acme.com"})");
    EXPECT_EQ(other.second.has_value(), rule == domain::ChargeRule::kAlways);
    memory_.listed = {*domain::AddressSuppression("zoe@acme.com")};
    EXPECT_EQ(work(R"({"email": "zoe@acme.com"})"), other);
  }
  EXPECT_EQ(asked, 2) << "of somebody on the list no server is asked";
  EXPECT_TRUE(memory_.facts.empty() && memory_.patterns.empty());
}

TEST_F(FindEmail, WhoIsPutOnTheListWhileALeadWaitsIsNeitherAskedAboutNorReturned) {
  Add("a", {Address("ann@acme.com", AddressStatus::kUnknown)});
  Add("b", {});
  loop_.Run([this] {
    providers_->Add(std::make_unique<Verifier>([](const LookupRequest&) { return SaysLater(); },
                                               &asked_["smtp"]));
    MakeBlock("smtp");
  });
  const auto runner = Bind(Request());
  RowRequest row = Row(kAnn);
  row.memo = std::get<RowLater>(Run(*runner, row)).memo;
  EXPECT_EQ(asked_["smtp"].size(), 1U);
  memory_.listed = {*domain::AddressSuppression("ann@acme.com")};
  const base::Json cell = CellOf(std::get<RowDone>(Run(*runner, row)));
  EXPECT_EQ(asked_["smtp"].size(), 1U);
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(base::DumpJson(cell).find("ann@acme.com"), std::string::npos);
  EXPECT_EQ(cell.at("details").at("tries").at(0).at("outcome"), "nothing");
}

TEST_F(FindEmail, WithoutTheListNobodyIsAsked) {
  Add("a", {Address("ann@acme.com", AddressStatus::kOk)});
  memory_.is_away = true;
  const auto runner = Bind(Request());
  EXPECT_TRUE(std::get<RowFailure>(Run(*runner, Row(kAnn))).retryable);
  EXPECT_TRUE(asked_["a"].empty());
}

TEST_F(FindEmail, WhyNothingCanBeGuessedIsTheReason) {
  AddOwn(OnlyKnows(""));
  const auto reason = [&](const char* lead) {
    return CellOf(Work(Request(), lead)).at("details").at("reason").get<std::string>();
  };
  EXPECT_EQ(reason(R"({"name": "Ann Example"})"), "no_domain");
  EXPECT_EQ(reason(R"({"name": "Cher", "domain": "acme.com"})"), "name_too_short");
  EXPECT_EQ(reason(R"({"name": "محمد علي", "domain": "acme.com"})"), "name_not_readable");
}

TEST_F(FindEmail, AWorkAddressHasTheStatusThatIsKnownWhileThePersonalOneIsLookedUp) {
  domain::EmailFact fact;
  fact.address = "ann@acme.com";
  fact.verdict = domain::Verdict::kOk;
  memory_.facts.push_back(fact);
  Add("b", {Nothing{}});
  const base::Json searched = CellOf(
      Work(Request(FindMode::kPersonal), R"({"name": "Ann Zyxwvut", "email": "Ann@acme.com"})"));
  EXPECT_EQ(searched.at("email").at(0).at(1), "OK");
  EXPECT_EQ(searched.at("personal_email").at(0).at(1), "NOT_FOUND");
  EXPECT_EQ(asked_["b"].size(), 1U);
  const base::Json known = CellOf(
      Work(Request(FindMode::kPersonal),
           R"({"name": "Ann", "email": "ann@acme.com", "personal_email": "ann@home.example"})"));
  EXPECT_EQ(known.at("email").at(0).at(1), "OK");
  EXPECT_EQ(known.at("personal_email").at(0).at(1), "UNKNOWN") << "no fact is about it";
  EXPECT_EQ(asked_["b"].size(), 1U);
}

TEST_F(FindEmail, WhatIsKnownBelowTheCompanysDomainIsTheCompanysToTheStoreToo) {
  AddOwn(OnlyKnows(""));
  for (const auto& [address, lead] : std::initializer_list<std::pair<const char*, const char*>>{
           {"ann.zyxwvut@mail.acme.com", kAnn},
           {"ann.zyxwvut@müller.example",
            R"({"name": "Ann Zyxwvut", "domain": "xn--mller-kva.example"})"}}) {
    domain::EmailFact fact;
    fact.address = address;
    fact.person_key =
        domain::PersonKey(std::get<domain::Person>(domain::ReadLead(base::ParseJsonOrThrow(lead))));
    fact.verdict = domain::Verdict::kOk;
    memory_.facts = {fact};
    domain::FindRequest request = Request();
    request.providers = {"store"};
    EXPECT_EQ(CellOf(Work(request, lead)).at("email").at(0),
              base::Json::array({address, "OK", "COMPANY"}));
    request.mode = FindMode::kPersonal;
    EXPECT_EQ(CellOf(Work(request, lead)).at("personal_email").at(0).at(1), "NOT_FOUND");
  }
}

TEST_F(FindEmail, PersonalAddressesAreNeverGuessed) {
  AddOwn(OnlyKnows(""));
  domain::FindRequest request = Request(FindMode::kPersonal);
  request.providers = {"store", "pattern"};
  EXPECT_EQ(base::DumpJson(CellOf(Work(request, kAnn)).at("personal_email")),
            R"([["","NOT_FOUND","PERSONAL"]])");
  EXPECT_TRUE(asked_["smtp"].empty());
}

}  // namespace
}  // namespace vedette::worker
