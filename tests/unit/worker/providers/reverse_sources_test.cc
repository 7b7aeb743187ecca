#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "domain/email/suppression.h"
#include "tests/unit/worker/blocks/people_fixture.h"
#include "worker/providers/pattern_provider.h"
#include "worker/providers/reverse_providers.h"
#include "worker/providers/site_providers.h"

// The person behind an address, by sites, web key directories and a service of Gravatar's shape.
namespace vedette::worker {
namespace {

using domain::PeopleQuestion;
using Texts = std::vector<std::string>;

// An OpenPGP key of these user ids: packets of the new format, with a public key that nobody reads.
std::string Key(const Texts& user_ids) {
  std::string key =
      "\xC6\x03"
      "abc";
  for (const std::string& id : user_ids) {
    key += '\xCD';
    key += static_cast<char>(id.size());
    key += id;
  }
  return key;
}

std::string PathOfKey(const std::string& address, std::size_t place) {
  const auto urls = WkdUrls(*domain::ParseAddress(address), [](const auto& host) { return host; });
  return urls.at(place).substr(0, urls.at(place).find('?'));
}

class ReverseSources : public test::PeopleFixture {
 protected:
  ReverseSources() {
    config_.lookups.reverse_email = {"store", "website", "wkd"};
    Add<StoreProvider>(known_);
    Add<WebsiteProvider>(clock_, *fetcher_, config_.email, Origin());
    Add<WkdProvider>(clock_, *fetcher_, Origin());
    Add<LocalPartProvider>();
    gravatar_.url = site_.Url("/gravatar");
    gravatar_.timeout_ms = std::chrono::seconds(10);
    Add<GravatarProvider>(*client_, budgets_, clock_, gravatar_, "vedette-test/1");
    BuildWorld();
  }

  base::Json Behind(const std::string& address, Texts providers = {}) {
    return Ask(PeopleQuestion::kReverseEmail, {{"email", address}}, std::move(providers));
  }
  void PageOfKey(const std::string& address, std::size_t place, const Texts& user_ids) {
    Page(PathOfKey(address, place), Key(user_ids), "application/octet-stream");
  }
  void PageOfGravatar(const std::string& address, const base::Json& profile) {
    Page(GravatarUrl("gravatar", address), base::DumpJson(profile), "application/json");
  }
  void BuildWorld();

  base::ByteBudget questions_{1 << 20, 0.1};
  base::ByteBudget answers_{1 << 20, 0.1};
  const ServiceBudgets budgets_{questions_, answers_};
  config::GravatarConfig gravatar_;
};

void ReverseSources::BuildWorld() {
  Page("engines.example/", "<a href='team'>Team</a><p>info@engines.example</p>");
  Page("engines.example/team", R"(
    <script type="application/ld+json">[
      {"@type": "Person", "name": "Dr. Ada Lovelace", "email": "mailto:ada.lovelace@engines.example",
       "jobTitle": "Analyst", "worksFor": {"@type": "Organization", "name": "Engines"},
       "sameAs": ["https://www.linkedin.com/in/ada"]},
      {"@type": "Person", "name": "Sales Team", "email": "hello.sales@engines.example"},
      {"@type": "Person", "name": "Call +1 555 0100", "email": "ring@engines.example"},
      {"@type": "Person", "name": "Jose\u0301 Mu\u0308\u00dfig", "email": "jm@engines.example"},
      {"@type": "Person", "name": "Ann One", "email": "twice@engines.example"},
      {"@type": "Person", "name": "Bob Two", "email": "twice@engines.example"}]</script>
    <div itemscope itemtype="https://schema.org/Person"><b itemprop="name">Charles Babbage</b>
      <i itemprop="jobTitle">Director</i><a itemprop="email" href="mailto:cb@engines.example">x</a></div>
    <div class="vcard"><span class="fn">Grace Hopper</span>
      <a class="email" href="mailto:amazing@engines.example">write</a></div>)");
  Page("bletchley.example/", R"(
    <table><tr><td>Alan Turing</td><td>Head of Research</td><td>alan.turing@bletchley.example</td></tr>
    <tr><td>Joan Clarke</td><td>turing2@bletchley.example</td></tr></table>
    <li><b>Mavis Batey</b> sunny@bletchley.example</li>
    <p>Peter Twinn / Gordon Welchman: joan@bletchley.example</p>
    <p>Dilly Knox d.knox@bletchley.example, tom.flowers@bletchley.example</p>
    <div><h3>Margaret Rock</h3> <a href="mailto:margaret.rock@bletchley.example">Write</a></div>
    <p>John Tiltman, john.tiltman [at] bletchley [dot] example</p>)");
  Page("blueridge.example/", "<p>Blue Ridge, blue.ridge@blueridge.example</p>");
  PageOfKey("edith@keys.example", 0, {"Edith Clarke (work) <edith@keys.example>"});
  PageOfKey("hedy@direct.example", 1, {"Hedy Lamarr <hedy@direct.example>"});
  PageOfKey("mallory@keys.example", 0, {"Eve Sample <eve@keys.example>"});
  PageOfKey("both@keys.example", 0, {"Ann One <both@keys.example>", "Bob Two <both@keys.example>"});
  PageOfKey("bare@keys.example", 0, {"bare@keys.example"});
  PageOfKey("desk@keys.example", 0, {"Support Desk <desk@keys.example>"});
  PageOfKey("alan.turing@bletchley.example", 1, {"ALAN TURING <alan.turing@bletchley.example>"});
  PageOfGravatar("kj@nasa.example", {{"display_name", "Katherine Johnson"},
                                     {"job_title", "Mathematician"},
                                     {"profile_url", "https://gravatar.com/kj"}});
  PageOfGravatar("nick@nasa.example", {{"display_name", "nick"}});
}

struct Fixture {
  const char* address;
  const char* name;  // empty: nobody
  int confidence;
  Texts candidates;
  const char* why;
};

const Fixture kFixtures[] = {
    {"ada.lovelace@engines.example", "Ada Lovelace", 8, {}, "a Person of JSON-LD, without a title"},
    {"Ada.Lovelace+news@Engines.example", "Ada Lovelace", 8, {}, "another spelling of the mailbox"},
    {"cb@engines.example", "Charles Babbage", 8, {}, "a Person of microdata"},
    {"amazing@engines.example", "Grace Hopper", 7, {}, "an hCard"},
    {"jm@engines.example", "Jos\u00e9 M\u00fc\u00dfig", 8, {}, "composed: NFC"},
    {"hello.sales@engines.example", "", 0, {}, "a team is no person"},
    {"ring@engines.example", "", 0, {}, "an order to call is no name"},
    {"twice@engines.example", "", 0, {"Ann One", "Bob Two"}, "two people state the address"},
    {"info@engines.example", "", 0, {}, "a role"},
    {"x@mailinator.com", "", 0, {}, "thrown away"},
    {"alan.turing@bletchley.example", "ALAN TURING", 9, {}, "the key and the block agree"},
    {"margaret.rock@bletchley.example", "Margaret Rock", 5, {}, "the only name in the block"},
    {"john.tiltman@bletchley.example", "John Tiltman", 5, {}, "the address is written out"},
    {"turing2@bletchley.example", "", 0, {"Joan Clarke"}, "not made of the name beside it"},
    {"sunny@bletchley.example", "", 0, {"Mavis Batey"}, "not made of the name beside it"},
    {"joan@bletchley.example", "", 0, {"Peter Twinn", "Gordon Welchman"}, "two names"},
    {"tom.flowers@bletchley.example", "", 0, {}, "two addresses beside one name"},
    {"blue.ridge@blueridge.example", "", 0, {"Blue Ridge"}, "the company's own name"},
    {"edith@keys.example", "Edith Clarke", 8, {}, "a user id at the advanced URL"},
    {"hedy@direct.example", "Hedy Lamarr", 8, {}, "a user id at the direct URL"},
    {"mallory@keys.example", "", 0, {}, "a user id of another address"},
    {"both@keys.example", "", 0, {"Ann One", "Bob Two"}, "two user ids"},
    {"bare@keys.example", "", 0, {}, "a user id without a name"},
    {"desk@keys.example", "", 0, {}, "a department is no person"},
    {"nobody@gmail.com", "", 0, {}, "a mailbox provider's site is not read"},
    {"nobody@silent.example", "", 0, {}, "no site, no key"},
};

TEST_F(ReverseSources, OfTheFixtureAddressesNoneHasAWrongName) {
  static_assert(std::size(kFixtures) >= 20);
  for (const Fixture& fixture : kFixtures) {
    const base::Json cell = Behind(fixture.address);
    const std::string name = cell["name"].is_null() ? "" : cell["name"].get<std::string>();
    EXPECT_EQ(name, fixture.name) << fixture.address << ": " << fixture.why;
    EXPECT_EQ(cell["confidence"], fixture.confidence) << fixture.address << ": " << fixture.why;
    EXPECT_EQ(cell["email"], fixture.address);
    EXPECT_EQ(cell["error"], nullptr) << fixture.address;
    EXPECT_EQ(name.empty(), cell["sources"].empty()) << "a name has a source: " << fixture.address;
    Texts candidates;
    for (const auto& candidate : cell["candidates"])
      candidates.push_back(candidate["name"].get<std::string>());
    EXPECT_EQ(candidates, fixture.candidates) << fixture.address << ": " << fixture.why;
  }
}

TEST_F(ReverseSources, WhatWasAskedStandsInTheDetailsInItsOrder) {
  EXPECT_EQ(Tries(Behind("ada.lovelace@engines.example")),
            (Texts{"store nothing", "website found"}))
      << "a sure name ends the lookup";
  EXPECT_EQ(Tries(Behind("edith@keys.example")),
            (Texts{"store nothing", "website nothing", "wkd found"}));
  EXPECT_EQ(Tries(Behind("edith@keys.example", {"wkd", "website"})), Texts{"wkd found"});
}

TEST_F(ReverseSources, ARoleIsNeverAPersonAndCausesNoRequest) {
  for (const char* role : {"info@engines.example", "Sales+x@engines.example",
                           "support@engines.example", "no-reply@engines.example"}) {
    const base::Json cell = Behind(role);
    EXPECT_EQ(cell["name"], nullptr) << role;
    EXPECT_EQ(cell["domain"], "engines.example") << role;
    EXPECT_TRUE(cell["candidates"].empty()) << role;
    EXPECT_TRUE(cell["details"]["tries"].empty()) << role;
  }
  EXPECT_EQ(Asked(), Texts{});
}

TEST_F(ReverseSources, ASuppressedAddressCausesNoRequestAtAll) {
  known_.listed = {*domain::AddressSuppression("ada.lovelace@engines.example")};
  const base::Json cell = Behind("Ada.Lovelace@engines.example");
  EXPECT_EQ(cell["name"], nullptr);
  EXPECT_EQ(Tries(cell), (Texts{"store nothing", "website nothing", "wkd nothing"}))
      << "a client that reads who was asked does not learn it either";
  EXPECT_EQ(cell["details"]["charged"], false);
  EXPECT_EQ(Asked(), Texts{});
}

TEST_F(ReverseSources, OneWhoIsFoundAndWhomNobodyLooksUpLooksLikeNothingFound) {
  known_.listed = {*domain::PersonSuppression("Charles Babbage", "engines.example"),
                   *domain::ProfileSuppression("https://linkedin.com/in/ada"),
                   *domain::PersonSuppression("Mavis Batey", "bletchley.example")};
  for (const char* address :
       {"cb@engines.example", "ada.lovelace@engines.example", "sunny@bletchley.example"}) {
    const base::Json cell = Behind(address);
    EXPECT_EQ(cell["name"], nullptr) << address;
    EXPECT_TRUE(cell["candidates"].empty()) << address;
    EXPECT_EQ(cell["details"]["charged"], false) << address;
    for (const std::string& one : Tries(cell)) EXPECT_EQ(one.find("found"), one.npos) << one;
    EXPECT_EQ(base::DumpJson(cell).find("Babbage"), std::string::npos);
  }
}

TEST_F(ReverseSources, GravatarIsAskedOnlyWhereItIsNamed) {
  EXPECT_EQ(Behind("kj@nasa.example")["name"], nullptr);
  for (const std::string& path : Asked()) EXPECT_EQ(path.find("gravatar"), path.npos) << path;
  const base::Json cell = Behind("KJ@nasa.example", {"gravatar"});
  EXPECT_EQ(cell["name"], "Katherine Johnson");
  EXPECT_EQ(cell["confidence"], GravatarProvider::kConfidence);
  EXPECT_EQ(cell["title"], "Mathematician");
  EXPECT_EQ(cell["sources"], base::Json::array({"https://gravatar.com/kj"}));
  EXPECT_EQ(Behind("nick@nasa.example", {"gravatar"})["name"], nullptr) << "a nickname";
  EXPECT_EQ(Tries(Behind("nobody@nasa.example", {"gravatar"})), Texts{"gravatar nothing"});
}

TEST_F(ReverseSources, AServiceThatAsksToWaitHasFailed) {
  net::ServerResponse busy{429, {{"Retry-After", "3600"}}, ""};
  Page(GravatarUrl("gravatar", "kj@nasa.example"), busy);
  const base::Json cell = Behind("kj@nasa.example", {"gravatar"});
  EXPECT_EQ(Tries(cell), Texts{"gravatar failed"});
  EXPECT_EQ(cell["error"], "providers_failed");
  EXPECT_EQ(cell["details"]["tries"][0]["error_class"], "http_status");
}

TEST_F(ReverseSources, TheLocalPartGivesACandidateAlone) {
  const base::Json cell = Behind("jane.doe@silent.example", {"local_part", "wkd"});
  EXPECT_EQ(cell["name"], nullptr);
  ASSERT_EQ(cell["candidates"].size(), 1U);
  EXPECT_EQ(cell["candidates"][0]["name"], "Jane Doe");
  EXPECT_EQ(cell["candidates"][0]["confidence"], 2);
  EXPECT_EQ(cell["details"]["charged"], false);
}

TEST_F(ReverseSources, WhatTheOrganisationHasFoundIsKnownAgainAndFree) {
  domain::Person jane;
  jane.name = "Jane Doe";
  jane.domain = "silent.example";
  domain::EmailFact fact;
  fact.address = "jane.doe@silent.example";
  fact.person_key = domain::PersonKey(jane);
  fact.verdict = domain::Verdict::kOk;
  known_.facts = {fact};
  const base::Json cell = Behind("Jane.Doe@silent.example");
  EXPECT_EQ(cell["name"], "Jane Doe");
  EXPECT_EQ(cell["details"]["charged"], false);
  jane.name = "Jill Doe";
  known_.facts[0].person_key = domain::PersonKey(jane);
  EXPECT_EQ(Behind("jane.doe@silent.example")["name"], nullptr) << "found for somebody else";
}

TEST_F(ReverseSources, RobotsTxtIsHonoured) {
  Page("shut.example/robots.txt", "User-agent: *\nDisallow: /", "text/plain");
  Page("shut.example/", "<p>Jane Doe, jane.doe@shut.example</p>");
  EXPECT_EQ(Behind("jane.doe@shut.example", {"website"})["name"], nullptr);
  EXPECT_EQ(Asked(), Texts{"shut.example/robots.txt"});
}

TEST(Wkd, NamesAKeyByTheHashOfTheLocalPart) {
  // The example of draft-koch-openpgp-webkey-service, 3.1.
  const auto urls = WkdUrls(*domain::ParseAddress("Joe.Doe@example.org"), OverHttps());
  EXPECT_EQ(urls, (Texts{"https://openpgpkey.example.org/.well-known/openpgpkey/example.org/hu/"
                         "iy9q119eutrkn8s1mk4r39qejnbu3n5q?l=Joe.Doe",
                         "https://example.org/.well-known/openpgpkey/hu/"
                         "iy9q119eutrkn8s1mk4r39qejnbu3n5q?l=Joe.Doe"}));
}

}  // namespace
}  // namespace vedette::worker
