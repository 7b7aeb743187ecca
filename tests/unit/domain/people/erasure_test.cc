#include "domain/people/erasure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/text.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "domain/people/people_answer.h"

namespace vedette::domain {
namespace {

using base::Json;

ErasureTarget Ann() {
  return *ErasureTarget::Of("Ann.Example@acme.com", "https://www.linkedin.com/in/ann/");
}

bool IsInText(const char* text) {
  return Ann().IsInText(text);
}

Json Parse(const char* text) {
  return base::ParseJsonOrThrow(text);
}

TEST(ErasureTargets, AreAMailboxInAnySpellingAlsoInsideASentence) {
  for (const char* text :
       {"ann.example@acme.com", "ANN.EXAMPLE@ACME.COM", "ann.example+news@acme.com",
        "Ann Example <ann.example@acme.com>", "mailto:ann.example@acme.com",
        "write to ann.example@acme.com.", "(ann.example@acme.com)", "a@b.com, ann.example@acme.com",
        "https://linkedin.com/in/ann", "see http://LinkedIn.com/in/ann?x=1 there"}) {
    EXPECT_TRUE(IsInText(text)) << text;
  }
}

TEST(ErasureTargets, AreNobodyElse) {
  for (const char* text :
       {"", "@", "acme.com", "ann.example", "ann.example@acme.com.au", "joann.example@acme.com",
        "jo-ann.example@acme.com", "jo.ann.example@acme.com", "\u00e9ann.example@acme.com",
        "jo%61nn.example%40acme.com", "ann.example@acme.org", "ann@acme.com",
        "https://linkedin.com/in/anna", "https://linkedin.com/in/ann/posts"}) {
    EXPECT_FALSE(IsInText(text)) << text;
  }
}

TEST(ErasureTargets, AProfileIsItselfAtEachOfItsAddresses) {
  const auto ann = ErasureTarget::Of("", "https://de.linkedin.com/in/ann");
  for (const char* text : {"https://www.linkedin.com/in/Ann/en", "m.linkedin.com/in/ann",
                           "see https://linkedin.com:443/in/ann there"}) {
    EXPECT_TRUE(ann->IsInText(text)) << text;
  }
  EXPECT_FALSE(ann->IsInText("https://example.org/in/ann"));
}

// What may stand right before and behind an address.
constexpr std::pair<const char*, const char*> kAround[] = {{"\u201c", "\u201d"},
                                                           {"\u201e", "\u2014thanks"},
                                                           {"\u00ab", "\u00bb"},
                                                           {"a\u00a0", "\u00a0now"},
                                                           {"\u200b", "\u200b"},
                                                           {"\u2022", "\u2026"},
                                                           {"tel\u2192", "\uff0c\u8c22\u8c22"},
                                                           {"\u8054\u7cfb", "\u8c22"},
                                                           {"mailto:", "?subject=Hi"},
                                                           {"https://x.com/?m=", "&y=1"},
                                                           {"", "#x"},
                                                           {"**", "**"},
                                                           {"_", "_"},
                                                           {"`", "`"},
                                                           {"{", "}"},
                                                           {"|", "|"},
                                                           {"'", "'s"},
                                                           {"see...", "..."},
                                                           {"--", "-x"},
                                                           {"", ".\n"},
                                                           {"[Ann](mailto:", ")"},
                                                           {"a%20", "%20b"},
                                                           {"\u0442\u0435\u043b", "!?"},
                                                           {"joann@acme.com/", "@"},
                                                           {"[{\"a\": \"x\\n", "\"}]"}};

TEST(ErasureTargets, AreFoundWhateverStandsAroundThem) {
  for (const char* address :
       {"ann@acme.com", "sinead.o'connor@acme.com", "a/b@acme.com", "a=b@acme.com", "{x}y@acme.com",
        "a|b@acme.com", "`q`z@acme.com", "zo\u00e9@m\u00fcnchen.de", "j.doe@gmail.com",
        "k@acme.com", "\"ann b\"@acme.com"}) {
    const auto target = ErasureTarget::Of(address, "");
    for (const auto& [before, behind] : kAround) {
      std::string inside = address;
      if (std::string_view(before).starts_with("[{")) {
        inside = base::DumpJson(Json(inside));
        inside = inside.substr(1, inside.size() - 2);
      }
      const std::string text = before + inside + behind;
      EXPECT_TRUE(target->IsInText(text)) << text;
      if (text.find_first_of("%\\") != text.npos) continue;
      EXPECT_TRUE(target->IsInText("https://x.com/" + base::UrlEncode(text))) << text;
    }
  }
  for (const char* text : {"zoe@xn--mnchen-3ya.de", "[\"zo\\u00e9@m\u00fcnchen.de\"]"}) {
    EXPECT_EQ(ErasureTarget::Of("zo\u00e9@m\u00fcnchen.de", "")->IsInText(text), text[0] == '[');
  }
}

// Each byte stands around one at sign: these texts, and any made of what may stand around an
// address, end at once.
TEST(ErasureTargets, AreLookedForInTimeOfTheTextsLength) {
  constexpr std::size_t kBytes = 1 << 15;
  const auto kay = ErasureTarget::Of("k@acme.com", "");
  const auto ann = ErasureTarget::Of("ann@acme.com", "");
  for (const char* piece :
       {"@", "\"@", "a@acme.com", "!@acme.com\"", "%40", "@\u00e9.\u00e9", "a@a.", "!"}) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    EXPECT_FALSE(kay->IsInText(text)) << piece;
    EXPECT_TRUE(kay->IsInText(text + " k@acme.com " + text)) << piece;
  }
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string before = " ";
    std::string behind = " ";
    for (int i = 0; i < 3; ++i) {
      before = kAround[random() % std::size(kAround)].first + before;
      behind += kAround[random() % std::size(kAround)].second;
    }
    const auto& [open, close] = kAround[random() % (std::size(kAround) - 1)];
    const std::string text = before + open + "Ann+x@ACME.com" + close + behind;
    EXPECT_TRUE(ann->IsInText(text)) << text;
  }
}

TEST(ErasureTargets, WhatIsNeitherAnAddressNorAProfileIsNone) {
  EXPECT_FALSE(ErasureTarget::Of("", ""));
  EXPECT_FALSE(ErasureTarget::Of("ann", ""));
  EXPECT_FALSE(ErasureTarget::Of("ann@acme.com", "nonsense"));
  EXPECT_EQ(ErasureTarget::Of("ann@acme.com", "")->keys().size(), 1U);
}

TEST(ErasureTargets, OneOutsideAsciiIsItselfInEveryCaseAndForm) {
  const auto zoe = ErasureTarget::Of("ZOÉ@acme.com", "");
  for (const char* text :
       {"zoé@acme.com", "ZOÉ@acme.com", "zoe\u0301@acme.com", "Zoé+x@acme.com"}) {
    EXPECT_TRUE(zoe->IsInText(text)) << text;
  }
  EXPECT_FALSE(zoe->IsInText("zoe@acme.com"));
  EXPECT_TRUE(ErasureTarget::Of("юзер@acme.com", "")->IsInText("to ЮЗЕР@acme.com"));
  EXPECT_TRUE(ErasureTarget::Of("ALİ@acme.com", "")->IsInText("ali\u0307@acme.com"));
  EXPECT_TRUE(ErasureTarget::Of("kate@acme.com", "")->IsInText("\u212Aate@acme.com"));
}

TEST(ErasureTargets, OneAtGoogleIsItselfWithOtherDots) {
  EXPECT_TRUE(ErasureTarget::Of("ada.l@gmail.com", "")->IsInText("adal@googlemail.com"));
  EXPECT_TRUE(ErasureTarget::Of("adal@gmail.com", "")->IsInText("a.da.l@gmail.com"));
}

// What the database is asked for is a superset of what is meant.
TEST(ErasureTargets, WhatHoldsThePersonHoldsANeedle) {
  for (const char* address : {"ann.example+x@acme.com", "\"a\\\"nn\"@acme.com", "jörg@müller.de"}) {
    const auto target = ErasureTarget::Of(address, "");
    ASSERT_TRUE(target) << address;
    Json lead = Json::object();
    lead["email"] = address;
    EXPECT_TRUE(target->IsIn(lead)) << address;
    EXPECT_NE(base::DumpJson(lead).find(target->needles().at(0)), std::string::npos) << address;
  }
}

// A bulk of four: Ann by her lead, Bob, Ann by what was found for her, a copy of the latter.
StoredJob Lookup() {
  StoredJob job;
  job.form = StoredJob::Form::kLookup;
  job.part_rows = 4;
  job.params = Parse(R"({"rows": [{"email": "ann.example@acme.com", "own": 1}, {"name": "Bob"},
                                  {"name": "Ann Example"}, [2, {"name": "ann example"}]],
                         "mode": "PROFESSIONAL", "verify_emails": true, "providers": [],
                         "charge": "found", "verify_mc": 1000})");
  return job;
}

TEST(Erasures, OfAnEndedLookupTheLeadAndTheResultGoAndOthersStay) {
  StoredJob job = Lookup();
  job.parts.push_back({0, 0, Parse(R"([[{"email": [["ann.example@acme.com", "OK", "COMPANY"]]}],
                                       [{"email": [["bob@acme.com", "OK", "COMPANY"]]}],
                                       [{"email": [["ann.example@acme.com", "OK", "COMPANY"]]}],
                                       [{"duplicate_of": 2}]])")});
  EXPECT_EQ(EraseFrom(Ann(), &job), 3);
  EXPECT_TRUE(job.params_changed);
  EXPECT_EQ(base::DumpJson(job.params["rows"]),
            R"([{"erased":true},{"name":"Bob"},{"erased":true},[2,{"erased":true}]])");
  EXPECT_TRUE(job.parts[0].changed);
  EXPECT_EQ(base::DumpJson(job.parts[0].rows),
            R"([[null],[{"email":[["bob@acme.com","OK","COMPANY"]]}],[null],[null]])");
  const FindRequest request = ReadFindRequest(base::DumpJson(job.params));
  const Json shown = FindResults(request, base::DumpJson(job.parts[0].rows), "completed");
  EXPECT_TRUE(shown[0].is_null() && shown[2].is_null() && shown[3].is_null());
  EXPECT_EQ(shown[1]["email"][0][0], "bob@acme.com");
  EXPECT_EQ(EraseFrom(Ann(), &job), 0) << "it is there no more";
}

TEST(Erasures, ARowThatIsStillToBeDoneEndsWithoutBeingWorkedOn) {
  StoredJob job = Lookup();
  job.chunks.push_back({base::Uuid(), 0, 0, nullptr});
  EXPECT_EQ(EraseFrom(Ann(), &job), 1);
  const auto& chunk = job.chunks[0];
  EXPECT_TRUE(chunk.changed);
  EXPECT_EQ(chunk.ended, 1);
  EXPECT_EQ(base::DumpJson(chunk.done), R"({"rows":[[null],null,null,null],"later":{}})");
}

TEST(Erasures, OfAnOpenPartWhatWasRecordedAndWhatWaitsGoes) {
  StoredJob job = Lookup();
  job.chunks.push_back(
      {base::Uuid(), 0, 0,
       Parse(
           R"({"rows": [[{"email": [["ann.example@acme.com", "OK", "COMPANY"]]}], null, null, null],
                 "later": {"1": {"at_us": 5, "memo": {"seen": []}},
                           "2": {"at_us": 5, "memo": {"seen": [{"address": "ann.example@acme.com"}]}}}})")});
  EXPECT_EQ(EraseFrom(Ann(), &job), 3);
  EXPECT_EQ(base::DumpJson(job.chunks[0].done),
            R"({"rows":[[null],null,[null],[null]],"later":{"1":{"at_us":5,"memo":{"seen":[]}}}})");
  EXPECT_EQ(job.chunks[0].ended, 2) << "the first one had ended before";
}

TEST(Erasures, OfAnotherJobTheCellsGoAndTheRowStays) {
  StoredJob job;
  job.params = Json::object();
  job.parts.push_back(
      {1, 0, Parse(R"([["Acme", "ann.example@acme.com", 5], null, ["Bob", "b@x.org", 6]])")});
  job.chunks.push_back(
      {base::Uuid(), 2, 0, Parse(R"({"rows": [["x", {"a": ["ann.example@acme.com"]}]],
                                                   "later": {}})")});
  EXPECT_EQ(EraseFrom(Ann(), &job), 2);
  EXPECT_EQ(base::DumpJson(job.parts[0].rows), R"([["Acme",null,5],null,["Bob","b@x.org",6]])");
  EXPECT_EQ(base::DumpJson(job.chunks[0].done), R"({"rows":[["x",null]],"later":{}})");
  EXPECT_FALSE(job.params_changed);
}

// Ann's part is read by a chunk of the block behind it; the others read other parts, or none.
TEST(Erasures, OfAnotherJobWhoWorksOnRowsThatHaveChangedLosesThem) {
  StoredJob job;
  job.params = Json::object();
  job.parts.push_back({0, 0, Parse(R"([["bob@x.org"]])")});
  job.parts.push_back({0, 1, Parse(R"([["ann.example@acme.com"]])")});
  job.parts.push_back({1, 1, Parse(R"([["bob@x.org"]])")});
  for (const auto& [block, part] : {std::pair{1, 0}, {1, 1}, {2, 1}}) {
    job.chunks.push_back({base::Uuid(), block, part, nullptr, false, 0, block - 1});
  }
  job.chunks.push_back({base::Uuid(), 0, 2, nullptr});
  EXPECT_EQ(EraseFrom(Ann(), &job), 1);
  EXPECT_FALSE(job.chunks[0].changed);
  EXPECT_TRUE(job.chunks[1].changed && job.chunks[1].done.is_null());
  EXPECT_FALSE(job.chunks[2].changed || job.chunks[3].changed);
}

TEST(Erasures, OfALookupItIsToldWhatElseTheOrganisationKnowsOfThePerson) {
  StoredJob job;
  job.form = StoredJob::Form::kLookup;
  job.params = Parse(R"({"rows": [{"name": "Ann Example", "domain": "acme.org",
                                   "email": "ann.example@acme.com"}],
                         "mode": "PROFESSIONAL", "verify_emails": true, "providers": [],
                         "charge": "found", "verify_mc": 1000})");
  EXPECT_EQ(EraseFrom(Ann(), &job), 1);
  Person person;
  person.name = "Ann Example";
  for (const char* domain : {"acme.org", "acme.com"}) {
    person.domain = domain;
    EXPECT_EQ(std::count(job.person_keys.begin(), job.person_keys.end(), PersonKey(person)), 1);
    EXPECT_EQ(std::count(job.guesses.begin(), job.guesses.end(), std::string("aexample@") + domain),
              1);
  }
  EXPECT_EQ(job.guesses.size(), 2 * kAddressPatterns);
}

// Its seeds are Ann and a company; the first step has passed Ann on, and one chunk waits.
TEST(Erasures, OfAnInvestigationSubjectsLoseTheirValueAndAreNotLookedAt) {
  const char* ann = R"({"type": "email", "value": "ann.example@acme.com"})";
  const char* acme = R"({"type": "domain", "value": "acme.com"})";
  StoredJob job;
  job.form = StoredJob::Form::kInvestigation;
  job.part_rows = 4;
  job.seeds = Json::array({Parse(acme), Parse(ann)});
  job.params = Json{{"rows", job.seeds}};
  job.parts.push_back({0, 1, Json::array({Json::array({Parse(ann)})})});
  job.chunks.push_back({base::Uuid(), 0, 0, nullptr});
  job.chunks.push_back({base::Uuid(), 1, 1, nullptr});
  EXPECT_EQ(EraseFrom(Ann(), &job), 2);
  const std::string seeds =
      R"([{"type":"domain","value":"acme.com"},{"type":"email","value":null}])";
  EXPECT_EQ(base::DumpJson(job.seeds), seeds);
  EXPECT_EQ(base::DumpJson(job.params["rows"]), seeds);
  EXPECT_TRUE(job.seeds_changed && job.params_changed && job.parts[0].changed);
  EXPECT_EQ(base::DumpJson(job.parts[0].rows), R"([[{"type":"email","value":null}]])");
  EXPECT_EQ(base::DumpJson(job.chunks[0].done), R"({"rows":[null,[null]],"later":{}})");
  EXPECT_EQ(base::DumpJson(job.chunks[1].done), R"({"rows":[[null]],"later":{}})");
  EXPECT_EQ(EraseFrom(Ann(), &job), 0) << "it is there no more";
}

TEST(Erasures, OfWhatAnInvestigationHasFoundThePersonGoesAndTheRestStays) {
  StoredJob job;
  job.form = StoredJob::Form::kInvestigation;
  job.params = Parse(R"({"rows": []})");
  job.seeds = Json::array();
  const Json acme = Parse(R"({"type": "domain", "value": "acme.com"})");
  const Json ann = Parse(R"({"type": "email", "value": "ann.example@acme.com"})");
  const Json name = Parse(R"({"type": "text", "value": "Ann Example"})");
  const Json sources = Parse(R"(["https://acme.com/", "https://linkedin.com/in/ann"])");
  job.findings.push_back({1, ann, name, "Ann Example", sources});
  job.findings.push_back({2, acme, ann, "mailto:ann.example@acme.com", sources});
  job.findings.push_back({3, acme, name, "Write to ann.example@acme.com.", sources});
  job.findings.push_back({4, acme, nullptr, "A company", Parse(R"(["https://acme.com/"])")});
  EXPECT_EQ(EraseFrom(Ann(), &job), 3);
  EXPECT_EQ(base::DumpJson(job.findings[0].subject), R"({"type":"email","value":null})");
  EXPECT_EQ(base::DumpJson(job.findings[0].object), R"({"type":"text","value":null})");
  EXPECT_EQ(job.findings[0].evidence, "");
  EXPECT_EQ(job.findings[0].sources, Json::array()) << "pages about the person";
  EXPECT_EQ(job.findings[1].subject, acme);
  EXPECT_EQ(base::DumpJson(job.findings[1].object), R"({"type":"email","value":null})");
  EXPECT_EQ(job.findings[1].evidence, "");
  EXPECT_EQ(base::DumpJson(job.findings[1].sources), R"(["https://acme.com/"])");
  EXPECT_EQ(job.findings[2].object, name) << "said of the company";
  EXPECT_EQ(job.findings[2].evidence, "");
  EXPECT_FALSE(job.findings[3].changed);
}

TEST(Erasures, OfRowsThatAnInvestigationHasRecordedTheOtherFindingsStay) {
  StoredJob job;
  job.form = StoredJob::Form::kInvestigation;
  job.params = Parse(R"({"rows": []})");
  job.seeds = Json::array();
  job.chunks.push_back(
      {base::Uuid(), 0, 0,
       Parse(R"({"rows": [[{"findings": [{"subject": {"value": "ann.example@acme.com"}},
                                         {"subject": {"value": "b.example"}}]}], null],
                 "later": {}})")});
  EXPECT_EQ(EraseFrom(Ann(), &job), 1);
  EXPECT_TRUE(job.chunks[0].changed);
  EXPECT_EQ(base::DumpJson(job.chunks[0].done),
            R"({"rows":[[{"findings":[{"subject":{"value":"b.example"}}]}],null],"later":{}})");
}

TEST(Erasures, AStoredJobOfAnotherFormIsNotTouched) {
  StoredJob job;
  job.form = StoredJob::Form::kLookup;
  job.params = Parse(R"({"rows": 5})");
  EXPECT_THROW(EraseFrom(Ann(), &job), std::invalid_argument);
}

TEST(Erasures, ALookupOfAPersonShowsNothingOfThem) {
  const PeopleRequest request = ReadPeopleRequest(
      R"({"rows": [{"erased": true}], "providers": [], "charge": "found", "minimum_age": 0})");
  const Json shown = PeopleResults(PeopleQuestion::kReverseEmail, request, "[[null]]", "completed");
  EXPECT_TRUE(shown[0].is_null());
}

}  // namespace
}  // namespace vedette::domain
