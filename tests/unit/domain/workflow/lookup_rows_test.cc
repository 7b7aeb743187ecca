#include "domain/workflow/lookup_rows.h"

#include <gmock/gmock.h>

#include "domain/email/find_request.h"
#include "domain/people/people_request.h"
#include "domain/workflow/block_type.h"
#include "tests/unit/domain/workflow/blocks_support.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;

std::unique_ptr<const LookupRows> Make(const std::string& block, const Columns& input,
                                       const Json& specs = Json::object()) {
  return FindBlockType(block)->make_lookup(Whole(block, specs), input);
}

Columns Output(const std::string& block, const Columns& input, const Json& specs = Json::object()) {
  return FindBlockType(block)->bind(Whole(block, specs), input);
}

Json LeadOf(const LookupRows& rows, const TextCells& row) {
  const RowLead lead = rows.LeadOf(row);
  if (const auto* fault = std::get_if<RowFault>(&lead)) return fault->code;
  return std::get<AskedLead>(lead).lead;
}

// The cell as domain::FoundCell writes it.
Json Found(const Json& email, const Json& personal, const Json& reason = nullptr) {
  return {{"email", email}, {"personal_email", personal}, {"details", {{"reason", reason}}}};
}

Json Tuple(const char* address, const char* status, const char* type) {
  return Json::array({Json::array({address, status, type})});
}

TEST(LookupRows, EachBlockAddsItsColumns) {
  EXPECT_EQ(
      Output("find_email", {"name", "email"}),
      (Columns{"name", "email", "email_status", "email_type", "personal_email", "email_error"}));
  EXPECT_EQ(Output("verify_email", {"email"}),
            (Columns{"email", "email_status", "email_reason", "email_error"}));
  EXPECT_EQ(Output("reverse_email", {"email"}), (Columns{"email", "name", "title", "company",
                                                         "location", "linkedin", "reverse_error"}));
  EXPECT_EQ(Output("verify_age", {"name"}),
            (Columns{"name", "date_of_birth", "dob_confidence", "age", "age_as_of",
                     "age_confidence", "age_sources", "age_error"}));
  EXPECT_EQ(Output("verify_email", {"email", "email_error"}).back(), "email_error_2")
      << "an error is never written over another one";
}

TEST(LookupRows, ABlockFailsWhereItsColumnsAreNotThere) {
  EXPECT_THAT(BindErrorOf("verify_email", Json::object(), {"Email", "n"}),
              HasSubstr("column email is not in the input; it has: Email, n"));
  EXPECT_THAT(BindErrorOf("reverse_email", {{"email_column", "mail"}}, {"email"}),
              HasSubstr("column mail is not in the input"));
  EXPECT_THAT(BindErrorOf("find_email", {{"columns", {{"name", "who"}}}}, {"name"}),
              HasSubstr("column who is not in the input"));
  EXPECT_THAT(BindErrorOf("find_email", Json::object(), {"n"}),
              HasSubstr("none of the columns name, first_name, last_name, company, domain"));
  EXPECT_THAT(BindErrorOf("verify_age", Json::object(), {"domain"}),
              HasSubstr("none of the columns name, company, linkedin, email, location"));
}

TEST(LookupRows, SpecsAreWhatTheSchemaSays) {
  EXPECT_EQ(FaultOf("find_email", {{"mode", "personal"}}), R"(enum ["mode"])");
  EXPECT_EQ(FaultOf("find_email", {{"providers", Json::array()}}), R"(too_short ["providers"])");
  EXPECT_EQ(FaultOf("find_email", {{"columns", {{"title", "t"}}}}),
            R"(extra_forbidden ["columns","title"])");
  EXPECT_EQ(FaultOf("verify_email", {{"email_column", 5}}), R"(string_type ["email_column"])");
  EXPECT_EQ(FaultOf("verify_age", {{"tier", "high"}}), R"(extra_forbidden ["tier"])");
  EXPECT_EQ(Whole("find_email", Json::object()), (Json{{"mode", "PROFESSIONAL"},
                                                       {"verify_emails", true},
                                                       {"providers", nullptr},
                                                       {"columns", Json::object()}}));
}

// What is wrong with the providers that a find_email names, where these are known.
std::vector<std::string> ProviderFaults(const Json& specs) {
  DefinitionRules rules{[](const std::string&) { return std::nullopt; }, nullptr};
  rules.finders = KnownFinders{{"mine", "pattern", "verifier"}, {"mine", "pattern"}, {"mine"}};
  Json whole = specs;
  const Json at = Json::array({"specs"});
  std::vector<std::string> said;
  for (const auto& fault : ValidateBlockSpecs(*FindBlockType("find_email"), at, &whole, rules)) {
    said.push_back(fault.type + " " + base::DumpJson(fault.loc) + " " + base::DumpJson(fault.ctx));
    EXPECT_EQ(fault.input, specs.at("providers").at(fault.loc.at(2).get<std::size_t>()));
    for (const Json& id : fault.ctx.at("known")) {
      EXPECT_THAT(fault.msg, HasSubstr(id.get<std::string>()));
    }
  }
  return said;
}

TEST(LookupRows, AProviderThatWouldBePassedOverIsRefusedWithThoseThereAre) {
  const auto named = [](const std::vector<std::string>& ids) { return Json{{"providers", ids}}; };
  EXPECT_THAT(ProviderFaults(named({"pattern", "mine"})), testing::IsEmpty());
  EXPECT_THAT(ProviderFaults({{"providers", nullptr}}), testing::IsEmpty());
  EXPECT_THAT(ProviderFaults(named({"mine", "mien", "verifier", "Pattern"})),
              testing::ElementsAre(
                  R"(unknown_provider ["specs","providers",1] {"known":["mine","pattern"]})",
                  R"(provider_not_for_this ["specs","providers",2] {"known":["mine","pattern"]})",
                  R"(unknown_provider ["specs","providers",3] {"known":["mine","pattern"]})"));
  EXPECT_THAT(
      ProviderFaults({{"mode", "PERSONAL"}, {"providers", Json::array({"pattern"})}}),
      testing::ElementsAre(R"(provider_not_for_this ["specs","providers",0] {"known":["mine"]})"));
}

TEST(LookupRows, ALeadIsMadeOfTheColumnsOfItsNamesOrOfThoseThatTheSpecsName) {
  const Columns input{"name", "firm", "domain", "n"};
  const auto rows = Make("find_email", input, {{"columns", {{"company", "firm"}}}});
  EXPECT_EQ(LeadOf(*rows, {"\" Ann \"", "\"Acme\"", "null", "7"}),
            (Json{{"name", "Ann"}, {"company", "Acme"}}));
  EXPECT_EQ(LeadOf(*rows, {"\"Ann\""}), (Json{{"name", "Ann"}})) << "the rest of a row is null";
  EXPECT_EQ(LeadOf(*rows, {"\" \"", "null", "null", "7"}), "empty_row");
  EXPECT_EQ(LeadOf(*rows, {Json(std::string(513, 'a')).dump(), "null", "null", "7"}),
            "invalid_lead");
  EXPECT_THROW(rows->LeadOf({"broken"}), std::invalid_argument);
}

TEST(LookupRows, WhatIsAskedIsFixedAtTheStartOfTheRun) {
  const LookupPricing terms{ChargeRule::kOk, 250, 18};
  EXPECT_EQ(ReadLookupPricing(LookupPricingJson(terms)), terms);
  const auto find = Make(
      "find_email", {"name"},
      {{"mode", "PERSONAL"}, {"verify_emails", false}, {"providers", Json::array({"b", "a"})}});
  const FindRequest asked = ReadFindRequest(find->RequestJson(terms));
  EXPECT_EQ(asked.mode, FindMode::kPersonal);
  EXPECT_FALSE(asked.verify_emails);
  EXPECT_EQ(asked.providers, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(asked.charge, ChargeRule::kOk);
  EXPECT_EQ(asked.verify_mc, 250);
  EXPECT_TRUE(asked.short_cells) << "details that no column shows are not written";
  const auto verify = ReadFindRequest(Make("verify_email", {"email"})->RequestJson(terms));
  EXPECT_TRUE(verify.verify_emails);
  EXPECT_TRUE(verify.short_cells);
  EXPECT_EQ(verify.mode, FindMode::kProfessional);
  const auto age = ReadPeopleRequest(Make("verify_age", {"name"})->RequestJson(terms));
  EXPECT_EQ(age.minimum_age, 18);
  EXPECT_EQ(age.charge, ChargeRule::kOk);
  BoundSpecs bound{"b", Json::object(), {"name"}};
  EXPECT_TRUE(ReadBoundSpecs(BoundSpecsJson(bound)).terms.is_null());
  bound.terms = LookupPricingJson(terms);
  EXPECT_EQ(ReadLookupPricing(ReadBoundSpecs(BoundSpecsJson(bound)).terms), terms);
}

TEST(LookupRows, AnAddressThatWasFoundIsShownWithItsStatus) {
  const auto rows = Make("find_email", {"name", "email"});
  const TextCells row{"\"Ann\"", "null"};
  EXPECT_EQ(rows->Answered(row, Found(Tuple("a@x.org", "OK", "COMPANY"), Json::array())),
            (TextCells{"\"Ann\"", "\"a@x.org\"", "\"OK\"", "\"COMPANY\"", "null", "null"}));
  EXPECT_EQ(rows->Answered(row, Found(Tuple("", "NOT_FOUND", "COMPANY"), Json::array())),
            (TextCells{"\"Ann\"", "null", "\"NOT_FOUND\"", "null", "null", "null"}));
  const auto personal = Make("find_email", {"name", "email"}, {{"mode", "PERSONAL"}});
  EXPECT_EQ(
      personal->Answered(
          {"\"Ann\"", "\"a@x.org\""},
          Found(Tuple("a@x.org", "UNKNOWN", "COMPANY"), Tuple("ann@gmail.com", "OK", "PERSONAL"))),
      (TextCells{"\"Ann\"", "\"a@x.org\"", "\"OK\"", "\"PERSONAL\"", "\"ann@gmail.com\"", "null"}));
}

TEST(LookupRows, NothingThatARowBroughtIsLostWhereNothingIsFound) {
  const auto rows = Make("find_email", {"name", "email", "personal_email"});
  const TextCells row{"\"Ann\"", "\"none\"", "\"ann@gmail.com\""};
  EXPECT_EQ(
      rows->Answered(row, Found(Tuple("", "NOT_FOUND", "COMPANY"), Json::array())),
      (TextCells{"\"Ann\"", "\"none\"", "\"ann@gmail.com\"", "\"NOT_FOUND\"", "null", "null"}));
  EXPECT_EQ(rows->Failed(row, {"providers_failed", "No provider could be asked."}),
            (TextCells{"\"Ann\"", "\"none\"", "\"ann@gmail.com\"", "null", "null",
                       "\"providers_failed: No provider could be asked.\""}));
}

TEST(LookupRows, WhatIsNoAddressStaysAsTheRowWroteItAndHasNoType) {
  const auto rows = Make("find_email", {"email"});
  for (const char* cell : {"5", "1.50", R"(["a","b"])", "\" none \""}) {
    const std::string text = LeadOf(*rows, {cell}).at("email").get<std::string>();
    EXPECT_EQ(
        rows->Answered({cell}, Found(Tuple(text.c_str(), "NOT_FOUND", "COMPANY"), Json::array())),
        (TextCells{cell, "\"NOT_FOUND\"", "null", "null", "null"}));
  }
  EXPECT_EQ(rows->Answered({"5"}, Found(Tuple("a@x.org", "OK", "COMPANY"), Json::array())),
            (TextCells{"\"a@x.org\"", "\"OK\"", "\"COMPANY\"", "null", "null"}));
}

TEST(LookupRows, AnAddressIsVerifiedAndWhatIsNoneNeedsNobody) {
  const auto rows = Make("verify_email", {"mail"}, {{"email_column", "mail"}});
  EXPECT_EQ(LeadOf(*rows, {"\" Ann@x.org \""}), (Json{{"email", "Ann@x.org"}}));
  EXPECT_EQ(LeadOf(*rows, {"null"}), "empty_row");
  EXPECT_EQ(std::get<TextCells>(rows->LeadOf({"\"nonsense\""})),
            (TextCells{"\"nonsense\"", "\"NOT_FOUND\"", "\"invalid_address\"", "null"}));
  EXPECT_EQ(rows->Answered({"\"Ann@x.org\""}, Found(Tuple("Ann@x.org", "UNKNOWN", "COMPANY"),
                                                    Json::array(), "catch_all")),
            (TextCells{"\"Ann@x.org\"", "\"UNKNOWN\"", "\"catch_all\"", "null"}));
}

TEST(LookupRows, WhoIsBehindAnAddressFillsWhatARowLacks) {
  const auto rows = Make("reverse_email", {"email", "title"});
  const Json cell{{"name", "Ann"},
                  {"title", "Engineer"},
                  {"company", "Acme"},
                  {"location", nullptr},
                  {"linkedin", nullptr}};
  EXPECT_EQ(
      rows->Answered({"\"a@x.org\"", "\"Countess\""}, cell),
      (TextCells{"\"a@x.org\"", "\"Countess\"", "\"Ann\"", "\"Acme\"", "null", "null", "null"}));
  EXPECT_EQ(LeadOf(*rows, {"\"a@x.org\"", "\"Countess\""}), (Json{{"email", "a@x.org"}}));
}

TEST(LookupRows, ADateOfBirthHasThePartsThatAreKnown) {
  const auto rows = Make("verify_age", {"name"});
  const auto shown = [&](const Json& day, const Json& month, const Json& year, const Json& age) {
    TextCells cells = rows->Answered(
        {"\"Ann\""},
        {{"date_of_birth", {{"day", day}, {"month", month}, {"year", year}, {"confidence", 7}}},
         {"age", {{"value", age}, {"as_of", "2026-11-22"}, {"confidence", 8}}},
         {"sources", age.is_null() ? Json::array() : Json::array({"https://a.example"})}});
    cells.erase(cells.begin());
    return cells;
  };
  EXPECT_EQ(shown(6, 5, 1980, 46), (TextCells{"\"1980-05-06\"", "7", "46", "\"2026-11-22\"", "8",
                                              "[\"https://a.example\"]", "null"}));
  EXPECT_EQ(shown(nullptr, 5, 1980, 46)[0], "\"1980-05\"");
  EXPECT_EQ(shown(6, nullptr, 1980, 46)[0], "\"1980\"") << "a day without its month says nothing";
  EXPECT_EQ(shown(nullptr, nullptr, nullptr, nullptr),
            (TextCells{"null", "null", "null", "null", "null", "null", "null"}));
}

TEST(LookupRows, ARunsLookupIsAnotherTypeThanTheRoutesOwn) {
  EXPECT_EQ(JobTypeOf(*FindBlockType("find_email")), "row_find_email");
  EXPECT_EQ(JobTypeOf(*FindBlockType("enrich_lead")), "enrich_lead");
}

}  // namespace
}  // namespace vedette::domain
