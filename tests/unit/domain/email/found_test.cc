#include "domain/email/found.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vedette::domain {
namespace {

constexpr FindMode kProfessional = FindMode::kProfessional;
constexpr FindMode kPersonal = FindMode::kPersonal;

Person Ann() {
  Person person;
  person.name = "Ann";
  person.domain = "acme.com";
  return person;
}

FoundAddress Seen(std::string address, AddressStatus status, int confidence = 6,
                  bool stated = true) {
  FoundAddress seen;
  seen.candidate = {std::move(address), stated, status, confidence, {"https://acme.com/"}, "q"};
  seen.provider = "mine";
  return seen;
}

Found Worked(std::vector<FoundAddress> seen, FindEnd end = FindEnd::kWorked) {
  return DecideFound(std::move(seen), {{"mine", TryOutcome::kFound, "", {}}}, end);
}

bool IsCharged(const Found& found, ChargeRule rule) {
  return domain::IsCharged(kProfessional, Ann(), found, rule);
}

base::Json Cell(FindMode mode, const Person& person, const Found& found) {
  return FoundCell(mode, person, found, domain::IsCharged(mode, person, found, ChargeRule::kFound));
}

TEST(Found, TheBestAddressComesFirst) {
  const Found found = Worked({Seen("d@acme.com", AddressStatus::kUnknown, 9, false),
                              Seen("c@acme.com", AddressStatus::kUnknown, 4),
                              Seen("b@acme.com", AddressStatus::kUnknown, 7),
                              Seen("r@acme.com", AddressStatus::kNotFound),
                              Seen("a@gmail.com", AddressStatus::kOk, 1)});
  const base::Json cell = Cell(kProfessional, Ann(), found);
  EXPECT_EQ(base::DumpJson(cell.at("email")),
            R"([["a@gmail.com","OK","PERSONAL"],["b@acme.com","UNKNOWN","COMPANY"],)"
            R"(["c@acme.com","UNKNOWN","COMPANY"],["d@acme.com","UNKNOWN","COMPANY"]])")
      << "an address that is refused is in the details alone";
  EXPECT_EQ(cell.at("personal_email"), base::Json::array());
  EXPECT_EQ(cell.at("error"), nullptr);
  EXPECT_EQ(cell.at("details").at("reason"), nullptr);
  EXPECT_EQ(cell.at("details").at("addresses").size(), 5U);
  EXPECT_EQ(cell.at("details").at("addresses").at(4).at("reason"), "refused");
  EXPECT_EQ(FoundOutcome(found), "ok");
}

TEST(Found, AnAddressOnAnotherDomainThanTheCompanysIsNotTheCompanysAndFree) {
  const auto type_of = [](const std::string& address) {
    const Found found = Worked({Seen(address, AddressStatus::kOk)});
    return Cell(kProfessional, Ann(), found).at("email").at(0).at(2).get<std::string>();
  };
  EXPECT_EQ(type_of("ann@acme.com"), "COMPANY");
  EXPECT_EQ(type_of("ann@mail.acme.com"), "COMPANY");
  const auto type_at_muller = [](const std::string& domain) {
    Person person = Ann();
    person.domain = domain;
    const Found found = Worked({Seen("ann@müller.example", AddressStatus::kOk)});
    EXPECT_TRUE(domain::IsCharged(kProfessional, person, found, ChargeRule::kFound)) << domain;
    return Cell(kProfessional, person, found).at("email").at(0).at(2).get<std::string>();
  };
  EXPECT_EQ(type_at_muller("müller.example"), "COMPANY");
  EXPECT_EQ(type_at_muller("xn--mller-kva.example"), "COMPANY");
  EXPECT_EQ(type_of("ann@notacme.com"), "PERSONAL");
  EXPECT_EQ(type_of("ann@elsewhere.com"), "PERSONAL");
  const Found elsewhere = Worked({Seen("ann@elsewhere.com", AddressStatus::kOk)});
  EXPECT_FALSE(domain::IsCharged(kProfessional, Ann(), elsewhere, ChargeRule::kOk));
  EXPECT_FALSE(domain::IsCharged(kProfessional, Ann(), elsewhere, ChargeRule::kFound));
  EXPECT_TRUE(domain::IsCharged(FindMode::kPersonal, Ann(), elsewhere, ChargeRule::kOk));
  const Found ours = Worked({Seen("ann@acme.com", AddressStatus::kOk)});
  EXPECT_TRUE(domain::IsCharged(kProfessional, Ann(), ours, ChargeRule::kOk));
}

TEST(Found, AShortCellHasOfTheDetailsTheReasonAlone) {
  for (const FindMode mode : {kProfessional, FindMode::kPersonal}) {
    const Found found = Worked({Seen("b@acme.com", AddressStatus::kUnknown, 7)});
    base::Json whole = Cell(mode, Ann(), found);
    whole["details"] = {{"reason", whole.at("details").at("reason")}};
    EXPECT_EQ(base::DumpJson(ShortFoundCell(mode, Ann(), found)), base::DumpJson(whole));
  }
}

TEST(Found, EveryMemberOfTheDetailsIsThere) {
  const Found found = Worked({Seen("b@acme.com", AddressStatus::kUnknown, 7)});
  EXPECT_EQ(base::DumpJson(Cell(kProfessional, Ann(), found).at("details")),
            R"({"reason":"not_verified","addresses":[{"address":"b@acme.com","status":"UNKNOWN",)"
            R"("type":"COMPANY","reason":"not_verified","stated":true,"provider":"mine",)"
            R"("confidence":7,"sources":["https://acme.com/"],"quote":"q","checked_at":null}],)"
            R"("tries":[{"provider":"mine","outcome":"found","error_class":null,"elapsed_ms":0}],)"
            R"("domain":"acme.com","pattern":null,"charged":true,"duplicate_of":null})");
}

TEST(Found, AtMostFiveAddressesAreKept) {
  std::vector<FoundAddress> seen;
  for (int i = 0; i < 20; ++i) {
    seen.push_back(Seen("a" + std::to_string(i) + "@x.org", AddressStatus::kUnknown, i % 10));
  }
  const Found found = Worked(std::move(seen));
  ASSERT_EQ(found.addresses.size(), kFoundAddressesMax);
  EXPECT_EQ(found.addresses[0].candidate.address, "a9@x.org");
  EXPECT_EQ(found.addresses[1].candidate.address, "a19@x.org");
}

TEST(Found, NothingIsOneTupleThatSaysSo) {
  const base::Json cell = Cell(kProfessional, Ann(), Worked({}));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(cell.at("details").at("reason"), "nothing_found");
  EXPECT_EQ(base::DumpJson(Cell(kPersonal, Ann(), Worked({})).at("personal_email")),
            R"([["","NOT_FOUND","PERSONAL"]])");
  const Found refused = Worked({Seen("r@acme.com", AddressStatus::kNotFound)});
  EXPECT_EQ(base::DumpJson(Cell(kProfessional, Ann(), refused).at("email")),
            R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(refused.reason, "refused");
  EXPECT_EQ(FoundOutcome(refused), "not_found");
}

TEST(Found, ARowWithAnErrorHasAnEmptyListAndIsFree) {
  const Found failed = Worked({}, FindEnd::kNoneAnswered);
  EXPECT_EQ(failed.error, "providers_failed");
  EXPECT_EQ(Cell(kProfessional, Ann(), failed).at("email"), base::Json::array());
  EXPECT_FALSE(IsCharged(failed, ChargeRule::kAlways));
  const Found late = Worked({}, FindEnd::kOutOfTime);
  EXPECT_EQ(late.error, "timed_out");
  EXPECT_FALSE(IsCharged(late, ChargeRule::kAlways));
  const Found in_time = Worked({Seen("b@acme.com", AddressStatus::kUnknown)}, FindEnd::kOutOfTime);
  EXPECT_EQ(in_time.error, "") << "what was found before is given";
}

TEST(Found, TheRuleSaysWhatIsCharged) {
  const Found ok = Worked({Seen("a@acme.com", AddressStatus::kOk)});
  const Found stated = Worked({Seen("a@acme.com", AddressStatus::kUnknown)});
  const Found guessed = Worked({Seen("a@acme.com", AddressStatus::kUnknown, 2, false)});
  const Found nothing = Worked({});
  const auto charged = [&](ChargeRule rule) {
    return std::vector<bool>{IsCharged(ok, rule), IsCharged(stated, rule), IsCharged(guessed, rule),
                             IsCharged(nothing, rule)};
  };
  EXPECT_EQ(charged(ChargeRule::kOk), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(charged(ChargeRule::kFound), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(charged(ChargeRule::kAlways), (std::vector<bool>{true, true, true, true}));
}

TEST(Found, AnAddressThatALeadCameWithIsReturnedAsItIs) {
  Person person = Ann();
  person.email = "Ann@Acme.com";
  const auto found = AnswerAtOnce(kProfessional, person, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(base::DumpJson(Cell(kProfessional, person, *found).at("email")),
            R"([["Ann@Acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(found->reason, "not_verified");
  EXPECT_FALSE(IsCharged(*found, ChargeRule::kAlways));
  person.email = "ann at acme";
  const auto invalid = AnswerAtOnce(kProfessional, person, false);
  EXPECT_EQ(base::DumpJson(Cell(kProfessional, person, *invalid).at("email")),
            R"([["ann at acme","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(invalid->reason, "invalid_address");
}

TEST(Found, AnAddressThatALeadCameWithIsVerifiedWhereThatIsWanted) {
  Person person = Ann();
  person.email = "Ann@Acme.com";
  EXPECT_FALSE(AnswerAtOnce(kProfessional, person, true));
  auto own = *OwnAddressToVerify(kProfessional, person);
  ApplyVerdict({Verdict::kRefused, VerdictReason::kRefused, {}, {}}, &own);
  const Found refused = DecideFound({own}, {}, FindEnd::kOwnVerified);
  EXPECT_EQ(base::DumpJson(Cell(kProfessional, person, refused).at("email")),
            R"([["Ann@Acme.com","NOT_FOUND","COMPANY"]])");
  EXPECT_EQ(refused.reason, "refused");
  EXPECT_TRUE(IsCharged(refused, ChargeRule::kFound)) << "that it is refused is an answer";
  EXPECT_FALSE(IsCharged(refused, ChargeRule::kOk));
  ApplyVerdict({Verdict::kUnknown, VerdictReason::kCatchAll, {}, {}}, &own);
  const Found unknown = DecideFound({own}, {}, FindEnd::kOwnVerified);
  EXPECT_EQ(unknown.reason, "catch_all");
  EXPECT_FALSE(IsCharged(unknown, ChargeRule::kFound));
  EXPECT_FALSE(OwnAddressToVerify(kPersonal, person))
      << "nothing is verified that nobody asked for";
}

TEST(Found, ConfidenceSaysHowAnAddressWasFound) {
  const auto confidence = [](AddressStatus status, bool stated, bool learned, AddressPattern by) {
    Candidate candidate;
    candidate.status = status;
    candidate.stated = stated;
    if (learned) candidate.seen = PatternSeen::kLearned;
    candidate.pattern = by;
    return ConfidenceOf(candidate);
  };
  constexpr auto kOk = AddressStatus::kOk;
  constexpr auto kUnknown = AddressStatus::kUnknown;
  EXPECT_EQ(confidence(kOk, true, false, AddressPattern::kFirst), 10);
  EXPECT_EQ(confidence(kOk, false, true, AddressPattern::kFirst), 9);
  EXPECT_EQ(confidence(kOk, false, false, AddressPattern::kFLast), 8);
  EXPECT_EQ(confidence(kOk, false, false, AddressPattern::kFirst), 5);
  EXPECT_EQ(confidence(kUnknown, true, false, AddressPattern::kFirst), 6);
  EXPECT_EQ(confidence(kUnknown, false, true, AddressPattern::kFirst), 4);
  EXPECT_EQ(confidence(kUnknown, false, false, AddressPattern::kFLast), 2);
  EXPECT_EQ(confidence(AddressStatus::kNotFound, true, false, AddressPattern::kFirst), 0);
}

TEST(Found, WhatTheOrganisationKnewAlreadyIsFree) {
  FoundAddress known = Seen("ann@acme.com", AddressStatus::kOk);
  known.provider = "store";
  EXPECT_FALSE(IsCharged(Worked({known}), ChargeRule::kAlways));
  FoundAddress guess = Seen("zoe@acme.com", AddressStatus::kNotFound);
  EXPECT_FALSE(IsCharged(Worked({known, guess}), ChargeRule::kAlways));
  known.candidate.status = AddressStatus::kUnknown;
  known.candidate.confidence = 9;
  const Found more = Worked({known, Seen("ann.example@acme.com", AddressStatus::kUnknown)});
  EXPECT_EQ(more.addresses.front().provider, "store");
  EXPECT_TRUE(IsCharged(more, ChargeRule::kFound)) << "another provider's address is new";
  EXPECT_TRUE(IsCharged(more, ChargeRule::kAlways));
  EXPECT_FALSE(IsCharged(more, ChargeRule::kOk));
}

TEST(Found, TwoAnswersThatAreFreeAreFreeTogether) {
  const FoundAddress guess = Seen("ann@acme.com", AddressStatus::kUnknown, 2, false);
  const FoundAddress elsewhere = Seen("ann@elsewhere.com", AddressStatus::kOk);
  const Found found = Worked({guess, elsewhere});
  EXPECT_FALSE(IsCharged(found, ChargeRule::kOk));
  EXPECT_FALSE(IsCharged(found, ChargeRule::kFound));
  EXPECT_TRUE(IsCharged(found, ChargeRule::kAlways));
  FoundAddress known = Seen("ann@acme.com", AddressStatus::kOk);
  known.provider = "store";
  EXPECT_FALSE(IsCharged(Worked({known, guess, elsewhere}), ChargeRule::kFound));
}

TEST(Found, ALearnedPatternThatIsRefusedIsTheReason) {
  FoundAddress guess = Seen("ann@acme.com", AddressStatus::kNotFound, 0, false);
  guess.candidate.seen = PatternSeen::kLearned;
  EXPECT_EQ(Worked({guess}).reason, "pattern_refused");
  EXPECT_EQ(DecideFound({}, {}, FindEnd::kWorked, "no_domain").reason, "no_domain");
}

TEST(Found, APersonalAddressThatIsKnownIsAnsweredAtOnce) {
  Person person = Ann();
  EXPECT_FALSE(AnswerAtOnce(kPersonal, person, false));
  person.email = "ann@acme.com";
  EXPECT_FALSE(AnswerAtOnce(kPersonal, person, false)) << "it is the company's";
  person.personal_email = "ann@home.example";
  base::Json cell = Cell(kPersonal, person, *AnswerAtOnce(kPersonal, person, false));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["ann@acme.com","UNKNOWN","COMPANY"]])");
  EXPECT_EQ(base::DumpJson(cell.at("personal_email")),
            R"([["ann@home.example","UNKNOWN","PERSONAL"]])");
  person = Ann();
  person.email = "ann@gmail.com";
  cell = Cell(kPersonal, person, *AnswerAtOnce(kPersonal, person, false));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["ann@gmail.com","UNKNOWN","PERSONAL"]])");
  EXPECT_EQ(cell.at("personal_email"), cell.at("email"));
}

TEST(Found, NobodyIsAskedForACompanyAtAFreeMailbox) {
  Person person = Ann();
  person.domain = "gmail.com";
  const auto found = AnswerAtOnce(kProfessional, person, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "free_mailbox_domain");
  EXPECT_FALSE(AnswerAtOnce(kPersonal, person, false));
}

TEST(Found, TheResultWinsOverTheLeadsOwnFields) {
  const base::Json lead{{"x", 1}, {"email", nullptr}, {"error", "mine"}, {"name", "Ann"}};
  const base::Json merged = MergeFound(lead, Cell(kProfessional, Ann(), Worked({})));
  EXPECT_EQ(merged.at("x"), 1);
  EXPECT_EQ(merged.at("name"), "Ann");
  EXPECT_EQ(merged.at("error"), nullptr);
  EXPECT_EQ(merged.at("email").at(0).at(1), "NOT_FOUND");
}

TEST(Found, APersonalAddressThatNobodyWasAskedForStaysAsItCame) {
  const base::Json lead{{"personal_email", "ann@home.example"}, {"name", "Ann"}};
  EXPECT_EQ(MergeFound(lead, Cell(kProfessional, Ann(), Worked({}))).at("personal_email"),
            "ann@home.example");
  const base::Json none{{"personal_email", nullptr}, {"name", "Ann"}};
  EXPECT_EQ(MergeFound(none, Cell(kProfessional, Ann(), Worked({}))).at("personal_email"),
            base::Json::array());
  EXPECT_EQ(MergeFound(lead, Cell(kPersonal, Ann(), Worked({}))).at("personal_email").at(0).at(1),
            "NOT_FOUND");
}

struct Bulk {
  FindRequest request;
  base::Json found = Cell(kProfessional, Ann(), Worked({Seen("a@acme.com", AddressStatus::kOk)}));
  Bulk() {
    request.rows = MakeFindRows({{{"name", "Ann"}, {"n", 0}},
                                 {{"name", "Bob"}, {"n", 1}},
                                 {{"name", "ann"}, {"n", 2}},
                                 {{"name", "Eve"}, {"email", "eve@acme.com"}, {"n", 3}}});
  }
};

TEST(Found, ResultsAreInTheOrderOfTheLeadsAndCopiesHaveTheirAnswer) {
  const Bulk bulk;
  const base::Json rows =
      base::Json::array({base::Json::array({bulk.found}), base::Json::array({bulk.found}),
                         base::Json::array({CopyCell(0)}), base::Json::array({bulk.found})});
  const base::Json results = FindResults(bulk.request, base::DumpJson(rows), "timed_out");
  ASSERT_EQ(results.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(results[static_cast<std::size_t>(i)].at("n"), i);
    EXPECT_EQ(results[static_cast<std::size_t>(i)].at("email").at(0).at(0), "a@acme.com");
  }
  EXPECT_EQ(results[0].at("details").at("duplicate_of"), nullptr);
  EXPECT_EQ(results[0].at("details").at("charged"), true);
  EXPECT_EQ(results[2].at("details").at("duplicate_of"), 0);
  EXPECT_EQ(results[2].at("details").at("charged"), false);
  EXPECT_EQ(results[2].at("name"), "ann");
}

TEST(Found, RowsThatWereNotRecordedHaveTheEndOfTheJobAsTheirError) {
  const Bulk bulk;
  const base::Json rows = base::Json::array({nullptr, base::Json::array({bulk.found})});
  for (const auto& recorded :
       {std::optional<std::string>(base::DumpJson(rows)), std::optional<std::string>()}) {
    const base::Json results = FindResults(bulk.request, recorded, "cancelled");
    ASSERT_EQ(results.size(), 4U);
    EXPECT_EQ(results[0].at("error"), "cancelled");
    EXPECT_EQ(results[0].at("email"), base::Json::array());
    EXPECT_EQ(results[0].at("details").at("charged"), false);
    EXPECT_EQ(results[1].at("error"), recorded ? base::Json(nullptr) : base::Json("cancelled"));
    EXPECT_EQ(results[2].at("error"), "cancelled");
    EXPECT_EQ(results[2].at("details").at("duplicate_of"), 0);
    EXPECT_EQ(results[3].at("error"), "cancelled");
    EXPECT_EQ(results[3].at("email").at(0).at(0), "eve@acme.com") << "a lead keeps its address";
  }
  EXPECT_THROW(FindResults(bulk.request, "{}", "cancelled"), std::invalid_argument);
}

}  // namespace
}  // namespace vedette::domain
