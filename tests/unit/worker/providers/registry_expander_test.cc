// What public registries say of a subject of an investigation, and what is asked of them.
#include "worker/providers/registry_expander.h"
#include "base/json.h"
#include "tests/unit/worker/providers/findings.h"

#include <gmock/gmock.h>

#include <future>
#include <set>
#include <utility>

#include "tests/unit/worker/blocks/people_fixture.h"
#include "worker/providers/site_expander.h"

namespace vedette::worker::test {
namespace {

using domain::Finding;
using domain::FindingKind;
using domain::Subject;
using domain::SubjectKind;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const Subject kDomain{SubjectKind::kDomain, "a.example"};
const Subject kIp{SubjectKind::kIp, "192.0.2.7"};
constexpr const char* kUrl = "https://registry.example/x";

constexpr const char* kRdapDomain = R"({
  "objectClassName": "domain", "ldhName": "A.EXAMPLE", "status": ["active", "client hold", 5],
  "events": [{"eventAction": "registration", "eventDate": "1995-08-14T04:00:00Z"},
             {"eventAction": "expiration", "eventDate": "2030-08-13T04:00:00Z"},
             {"eventAction": "last update of RDAP database", "eventDate": "2026-01-01T00:00:00Z"}],
  "nameservers": [{"ldhName": "NS1.Host.example"}, {"ldhName": "NS1.host.example"}, {}],
  "entities": [
    {"roles": ["registrar"], "vcardArray": ["vcard", [["version", {}, "text", "4.0"],
      ["fn", {}, "text", "Names Ltd"], ["email", {}, "text", "support@names.example"]]]},
    {"roles": ["registrant"], "vcardArray": ["vcard", [["fn", {}, "text", "Ada Lovelace"],
      ["kind", {}, "text", "individual"], ["email", {}, "text", "Ada@A.example"]]]},
    {"roles": ["technical"], "vcardArray": ["vcard", [["fn", {}, "text", "REDACTED FOR PRIVACY"],
      ["email", {}, "text", "redacted@privacy.example"]]]}]})";

TEST(RdapFindings, OfADomain) {
  const auto found = RdapFindings({}, kDomain, kUrl, kRdapDomain);
  EXPECT_THAT(Said(found),
              ElementsAre("registered_at 1995-08-14T04:00:00Z",
                          "registration_expires_at 2030-08-13T04:00:00Z",
                          "registration_status active", "registration_status client hold",
                          "name_server ns1.host.example", "registrar Names Ltd",
                          "registrant Ada Lovelace", "registration_email ada@a.example"));
  for (const Finding& finding : found) {
    EXPECT_EQ(finding.provider, "rdap");
    EXPECT_THAT(finding.sources, ElementsAre(kUrl));
    EXPECT_FALSE(finding.evidence.empty());
  }
  const auto is_person = [](const Finding& f) {
    return f.kind == FindingKind::kEntity &&
           f.subject == Subject{SubjectKind::kPerson, "Ada Lovelace"};
  };
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), is_person));
}

TEST(RdapFindings, OfANetwork) {
  const auto found = RdapFindings({}, kIp, kUrl, R"({
    "objectClassName": "ip network", "name": "EXAMPLE-NET", "country": "DE",
    "startAddress": "192.0.2.0", "endAddress": "192.0.2.255",
    "entities": [{"roles": ["registrant"],
                  "vcardArray": ["vcard", [["fn", {}, "text", "Example GmbH"]]]}]})");
  EXPECT_THAT(Said(found),
              ElementsAre("network_name EXAMPLE-NET", "network_range 192.0.2.0 - 192.0.2.255",
                          "network_country DE", "registrant Example GmbH"));
}

TEST(RdapFindings, WhatIsNoAnswerGivesNothing) {
  for (const std::string& body :
       {std::string(), std::string("<html>"), std::string("[]"), std::string("{}"),
        std::string(100'000, '['), std::string(R"({"objectClassName": "ip network", "name": "x"})"),
        std::string(R"({"objectClassName": "domain", "status": {}, "events": [5, {}], "nameservers":
                        [null], "entities": [[], {"roles": "registrar"}, {"roles": ["registrar"],
                        "vcardArray": ["vcard", [["fn"], 5, ["fn", {}, "text", []]]]}]})")}) {
    EXPECT_THAT(RdapFindings({}, kDomain, kUrl, body), IsEmpty()) << body.substr(0, 80);
  }
}

TEST(CertificateFindings, NamesBelowTheDomainEachOnce) {
  const auto found = CertificateFindings({}, kDomain, kUrl, R"([
    {"name_value": "www.A.example\n*.shop.a.example", "not_before": "2026-01-01T00:00:00"},
    {"name_value": "www.a.example\na.example\nother.example\nnota.example\nx@a.example\n..a.example"},
    {"name_value": 5}, "x"])");
  EXPECT_THAT(Said(found),
              ElementsAre("certificate_name www.a.example", "certificate_name shop.a.example"));
  EXPECT_EQ(found[0].evidence, "A certificate of 2026-01-01T00:00:00 names www.a.example.");
}

TEST(CertificateFindings, AreBounded) {
  base::Json entries = base::Json::array();
  for (int i = 0; i < 1000; ++i) {
    entries.push_back({{"name_value", "n" + std::to_string(i) + ".a.example"}});
  }
  EXPECT_EQ(CertificateFindings({}, kDomain, kUrl, base::DumpJson(entries)).size(),
            2 * kCertificateNamesMax);
  EXPECT_THAT(CertificateFindings({}, kDomain, kUrl, "{}"), IsEmpty());
}

class RegistryExpanderTest : public PeopleFixture {
 protected:
  ~RegistryExpanderTest() override {
    loop_.Run([this] { expander_.reset(); });
  }
  ExpandAnswer Expand(Registry registry, const Subject& subject,
                      std::function<bool()> may_call = {}) {
    auto promise = std::make_shared<std::promise<ExpandAnswer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      expander_ = std::make_unique<RegistryExpander>(*fetcher_, std::move(registry));
      ExpandRequest request;
      request.org_id = base::Uuid::V4();
      request.subject = subject;
      request.timeout = std::chrono::seconds(20);
      request.may_call = std::move(may_call);
      expander_->Start(std::move(request),
                       [promise](ExpandAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future.get();
  }
  std::vector<Finding> Found(Registry registry, const Subject& subject,
                             std::function<bool()> may_call = {}) {
    auto answer = Expand(std::move(registry), subject, std::move(may_call));
    return std::get<std::vector<Finding>>(std::move(answer));
  }

  std::unique_ptr<RegistryExpander> expander_;
};

TEST_F(RegistryExpanderTest, ADomainAndAnIpAreAskedAboutWithOneRequestEach) {
  Page("rdap/domain/a.example", kRdapDomain, "application/rdap+json");
  EXPECT_THAT(Said(Found(RdapRegistry(site_.Url("/rdap")), kDomain)),
              Contains("registrar Names Ltd"));
  EXPECT_THAT(Found(RdapRegistry(site_.Url("/rdap/")), kIp), IsEmpty()) << "a 404";
  EXPECT_THAT(Asked(), ElementsAre("rdap/domain/a.example", "rdap/ip/192.0.2.7"));
}

TEST_F(RegistryExpanderTest, ARedirectToTheServerThatKnowsIsFollowed) {
  Page("rdap/domain/a.example", {302, {{"Location", site_.Url("/knows/a.example")}}, ""});
  Page("knows/a.example", kRdapDomain, "application/rdap+json");
  EXPECT_THAT(Said(Found(RdapRegistry(site_.Url("/rdap/")), kDomain)),
              Contains("registrant Ada Lovelace"));
}

TEST_F(RegistryExpanderTest, CertificatesAreSearchedForADomainAlone) {
  Page("ct/", R"([{"name_value": "www.a.example"}])", "application/json");
  const std::string url = site_.Url("/ct/");
  EXPECT_THAT(Said(Found(CertificateRegistry(url), kDomain)),
              ElementsAre("certificate_name www.a.example"));
  EXPECT_FALSE(expander_->Takes(SubjectKind::kIp));
  EXPECT_FALSE(expander_->Takes(SubjectKind::kUrl));
  EXPECT_TRUE(expander_->Takes(SubjectKind::kDomain));
  EXPECT_THAT(Found(CertificateRegistry(url), kIp), IsEmpty());
  EXPECT_EQ(Asked().size(), 1U);
}

TEST_F(RegistryExpanderTest, ARegistryThatDoesNotAnswerFindsNothing) {
  for (const int status : {403, 429, 500, 503}) {
    Page("rdap/domain/a.example", {status, {{"Retry-After", "3600"}}, "{}"});
    EXPECT_THAT(Found(RdapRegistry(site_.Url("/rdap/")), kDomain), IsEmpty()) << status;
  }
  Page("rdap/domain/a.example", "<html>busy</html>");
  EXPECT_THAT(Found(RdapRegistry(site_.Url("/rdap/")), kDomain), IsEmpty());
  Page("rdap/domain/a.example", std::string(RegistryExpander::kAnswerBytesMax + 1, ' '),
       "application/json");
  EXPECT_THAT(Found(RdapRegistry(site_.Url("/rdap/")), kDomain), IsEmpty());
}

TEST_F(RegistryExpanderTest, NobodyIsAskedOnceTheRowIsNotHeld) {
  EXPECT_THAT(Found(RdapRegistry(site_.Url("/rdap/")), kDomain, [] { return false; }), IsEmpty());
  EXPECT_THAT(Asked(), IsEmpty());
}

class SiteExpanderTest : public PeopleFixture {
 protected:
  ~SiteExpanderTest() override {
    loop_.Run([this] { expander_.reset(); });
  }
  // `calls_left`: so often may_call says yes.
  ExpandAnswer Expand(int calls_left) {
    auto promise = std::make_shared<std::promise<ExpandAnswer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      expander_ = std::make_unique<SiteExpander>(clock_, *fetcher_, config_.email, Origin());
      ExpandRequest request;
      request.org_id = base::Uuid::V4();
      request.subject = kDomain;
      request.timeout = std::chrono::seconds(20);
      request.may_call = [left = std::make_shared<int>(calls_left)] { return (*left)-- > 0; };
      expander_->Start(std::move(request),
                       [promise](ExpandAnswer answer) { promise->set_value(std::move(answer)); });
    });
    return future.get();
  }

  std::unique_ptr<SiteExpander> expander_;
};

// A page waits for its turn at its host, and the investigation may end meanwhile.
TEST_F(SiteExpanderTest, NothingIsFetchedWhoseTurnComesAfterTheRowsEnd) {
  Page("a.example/", "<p>ada@a.example</p>");
  const auto unheld = Expand(0);
  ASSERT_TRUE(std::holds_alternative<domain::Failure>(unheld));
  EXPECT_EQ(std::get<domain::Failure>(unheld).error_class, kLookupUnheld);
  EXPECT_THAT(Asked(), IsEmpty()) << "not even robots.txt";
  EXPECT_TRUE(std::holds_alternative<domain::Failure>(Expand(1)));
  EXPECT_THAT(Asked(), ElementsAre("robots.txt"));
  EXPECT_THAT(Said(std::get<std::vector<Finding>>(Expand(1000))),
              ElementsAre("email ada@a.example"));
}

}  // namespace
}  // namespace vedette::worker::test
