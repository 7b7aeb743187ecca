// A company whose domain is to be found first, and leads whose addresses are not to be verified.

#include <gtest/gtest.h>

#include "base/json.h"
#include "domain/email/suppression.h"
#include "tests/unit/worker/blocks/find_email_fixture.h"

namespace vedette::worker {
namespace {

constexpr const char* kAnnAtAcme = R"({"name": "Ann Zyxwvut", "company": "Acme Widgets"})";

TEST_F(FindEmail, ACompanyWithoutADomainGetsItFirstFromOneProviderAfterAnother) {
  config_.company_domain = {"one", "two"};
  Add("one", {Nothing{}});
  Add("two", {CompanyDomainFound{"acme.com"}});
  Add("a", {Nothing{}});
  const base::Json cell = CellOf(Work(Request(), kAnnAtAcme));
  EXPECT_EQ(cell.at("details").at("domain"), "acme.com");
  ASSERT_EQ(asked_["two"].size(), 1U);
  EXPECT_EQ(asked_["two"][0].lookup, Lookup::kCompanyDomain);
  EXPECT_EQ(asked_["two"][0].person->company, "Acme Widgets");
  EXPECT_EQ(asked_["a"].at(0).person->domain, "acme.com");
  std::string tries;
  for (const auto& one : cell.at("details").at("tries")) {
    tries += one.at("provider").get<std::string>() + " ";
  }
  EXPECT_TRUE(tries.starts_with("one two a ")) << tries;
  // A lead with a domain asks nobody for it.
  Work(Request(), kAnn);
  EXPECT_EQ(asked_["two"].size(), 1U);
}

TEST_F(FindEmail, WhatLeadsNamedForACompanyIsItsDomainUnlessTheyDisagree) {
  config_.company_domain = {"store"};
  AddOwn(OnlyKnows("nobody@acme.com"));
  const auto domain_of = [&](const char* lead) {
    return CellOf(Work(Request(), lead)).at("details").at("domain");
  };
  EXPECT_TRUE(domain_of(kAnnAtAcme).is_null());
  const char* named = R"({"name": "Bob Example", "company": "ACME widgets", "domain": "acme.com"})";
  EXPECT_EQ(domain_of(named), "acme.com");
  EXPECT_EQ(domain_of(kAnnAtAcme), "acme.com");
  EXPECT_EQ(memory_.companies.size(), 1U);
  EXPECT_EQ(memory_.companies.begin()->second, 1) << "its own answer teaches nothing";
  domain_of(R"({"name": "Bob Example", "company": "Acme Widgets", "domain": "other.com"})");
  EXPECT_TRUE(domain_of(kAnnAtAcme).is_null()) << "one against one";
  domain_of(named);
  EXPECT_EQ(domain_of(kAnnAtAcme), "acme.com");
  domain_of(R"({"name": "Bob Example", "company": "Shop", "email": "bob@gmail.com"})");
  EXPECT_EQ(memory_.companies.size(), 2U) << "a free mailbox is nobody's company";
}

TEST_F(FindEmail, NothingIsKeptOfTheCompanyOfALeadThatNobodyLooksUp) {
  config_.company_domain = {"store"};
  AddOwn(OnlyKnows("nobody@acme.com"));
  memory_.listed = {*domain::DomainSuppression("acme.com")};
  Work(Request(), R"({"name": "Bob Example", "company": "Acme Widgets", "domain": "acme.com"})");
  EXPECT_TRUE(memory_.companies.empty());
}

TEST_F(FindEmail, WithoutADomainNothingIsFoundAndTheReasonSaysSo) {
  config_.company_domain = {"one"};
  Add("one", {domain::Failure{"http_status", "no", false, {}}});
  Add("a", {Nothing{}});
  const base::Json cell = CellOf(Work(Request(), kAnnAtAcme));
  EXPECT_EQ(cell.at("details").at("reason"), "no_domain");
  EXPECT_TRUE(cell.at("error").is_null()) << "a provider of addresses has answered";
}

TEST_F(FindEmail, WhomTheListKnowsByTheDomainThatWasFoundIsNotLookedUp) {
  config_.company_domain = {"one"};
  Add("one", {CompanyDomainFound{"acme.com"}});
  Add("a", {Nothing{}});
  memory_.listed = {*domain::PersonSuppression("Ann Zyxwvut", "acme.com")};
  const base::Json cell = CellOf(Work(Request(), kAnnAtAcme));
  EXPECT_EQ(base::DumpJson(cell.at("email")), R"([["","NOT_FOUND","COMPANY"]])");
  EXPECT_TRUE(asked_["a"].empty());
}

TEST_F(FindEmail, AGreylistedLeadIsNotAskedForItsDomainAgain) {
  config_.company_domain = {"one"};
  Add("one", {CompanyDomainFound{"acme.com"}});
  int asked = 0;
  AddOwn([&asked](const LookupRequest&) {
    return ++asked > 1 ? Says(domain::Verdict::kOk) : SaysLater();
  });
  config_.find_email = {"a"};
  domain::Candidate ann;
  ann.address = "ann@acme.com";
  Add("a", {domain::Candidates{ann}});
  const auto runner = Bind(Request());
  RowRequest row = Row(kAnnAtAcme);
  row.memo = std::get<RowLater>(Run(*runner, row)).memo;
  const auto done = std::get<RowDone>(Run(*runner, row));
  EXPECT_EQ(CellOf(done).at("email").at(0).at(1), "OK");
  EXPECT_EQ(CellOf(done).at("details").at("domain"), "acme.com");
  EXPECT_EQ(asked_["one"].size(), 1U);
}

TEST_F(FindEmail, WhereAddressesAreNotToBeVerifiedTheDnsAloneIsAsked) {
  AddOwn([](const LookupRequest&) {
    return Says(domain::Verdict::kRefused, domain::VerdictReason::kNoMx);
  });
  loop_.Run([this] { MakeBlock("nobody", "smtp"); });
  domain::FindRequest request = Request();
  request.verify_emails = false;
  const base::Json cell = CellOf(Work(request, kAnn));
  EXPECT_EQ(cell.at("email").at(0).at(1), "NOT_FOUND");
  EXPECT_EQ(cell.at("details").at("reason"), "no_mx");
  EXPECT_EQ(base::DumpJson(CellOf(Work(request, R"({"email": "x@acme.com"})")).at("email")),
            R"([["x@acme.com","UNKNOWN","COMPANY"]])")
      << "a lead's own address is not looked at";
}

TEST_F(FindEmail, ALeadsOwnAddressHasTheStatusThatTheOrganisationKnowsAlsoUnverified) {
  AddOwn(OnlyKnows("ann@acme.com"));
  domain::FindRequest request = Request();
  Work(request, R"({"email": "ann@acme.com"})");
  request.verify_emails = false;
  const RowDone known = Work(request, R"({"email": "ann@acme.com"})");
  EXPECT_EQ(CellOf(known).at("email").at(0).at(1), "OK");
  EXPECT_FALSE(known.charge_mc);
}

// PERSONAL: an address that the lead came with is answered at once, with what is known of it.
TEST_F(FindEmail, APersonalAddressHasTheStatusThatTheOrganisationKnowsAndAsksNobody) {
  Add("b", {});
  const auto fact = [](const char* address, domain::Verdict verdict) {
    domain::EmailFact known;
    known.address = address;
    known.verdict = verdict;
    return known;
  };
  memory_.facts = {fact("ann@home.example", domain::Verdict::kOk),
                   fact("ann@gmail.com", domain::Verdict::kRefused)};
  const domain::FindRequest request = Request(FindMode::kPersonal);
  const RowDone own = Work(request, R"({"personal_email": "Ann@home.example"})");
  EXPECT_EQ(base::DumpJson(CellOf(own).at("personal_email")),
            R"([["Ann@home.example","OK","PERSONAL"]])");
  EXPECT_TRUE(CellOf(own).at("details").at("reason").is_null());
  EXPECT_FALSE(own.charge_mc);
  const base::Json free = CellOf(Work(request, R"({"email": "ann@gmail.com"})"));
  EXPECT_EQ(base::DumpJson(free.at("email")), R"([["ann@gmail.com","NOT_FOUND","PERSONAL"]])");
  EXPECT_EQ(free.at("personal_email"), free.at("email"));
  const base::Json unknown = CellOf(Work(request, R"({"personal_email": "bob@home.example"})"));
  EXPECT_EQ(unknown.at("personal_email").at(0).at(1), "UNKNOWN");
  EXPECT_EQ(unknown.at("details").at("reason"), "not_verified");
  memory_.listed = {*domain::AddressSuppression("ann@home.example")};
  const base::Json listed = CellOf(Work(request, R"({"personal_email": "Ann@home.example"})"));
  EXPECT_EQ(listed.at("personal_email").at(0).at(1), "UNKNOWN") << "as if nothing was known";
  EXPECT_TRUE(asked_["b"].empty());
}

}  // namespace
}  // namespace vedette::worker
