#include "domain/monitor/change_rules.h"
#include "base/json.h"
#include "domain/text/json_schema.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Which changes of a field are told, rule by rule.
namespace vedette::domain {
namespace {

using base::Json;

ChangeRules Rules(const std::string& json) {
  return ParseChangeRules(R"({"f":)" + json + "}").at("f");
}

Telling Told(const std::string& rules, const Json& told, const Json& value) {
  RuleWork work;
  return DecideTelling(Rules(rules), told, value, &work);
}

bool Same(const ChangeRules& rules, const Json& a, const Json& b) {
  RuleWork work;
  return SameButIgnored(rules, a, b, &work);
}

// The faults as "loc type: msg".
std::vector<std::string> Faults(const std::string& rules, const Json& watched = nullptr) {
  std::vector<std::string> out;
  const auto faults =
      ValidateChangeRules(Json::array({"rules"}), base::ParseJsonOrThrow(rules), watched);
  for (const auto& fault : faults) {
    out.push_back(base::DumpJson(fault.loc) + " " + fault.type + ": " + fault.msg);
  }
  return out;
}

std::string Fault(const std::string& rules, const Json& watched = nullptr) {
  const auto faults = Faults(rules, watched);
  return faults.size() == 1 ? faults[0] : std::to_string(faults.size()) + " faults";
}

TEST(ChangeRules, WithoutRulesEveryChangeIsTold) {
  EXPECT_EQ(Told("{}", 1, 2), Telling::kTold);
  EXPECT_EQ(Told("{}", "a", nullptr), Telling::kTold);
  EXPECT_FALSE(Same(Rules("{}"), "a", "b"));
  EXPECT_TRUE(ParseChangeRules(std::nullopt).empty());
}

TEST(ChangeRules, OnlyIfAsksAboutTheNewValue) {
  const std::string below = R"({"only_if":{"below":100}})";
  EXPECT_EQ(Told(below, 120, 99.5), Telling::kTold);
  EXPECT_EQ(Told(below, 120, "99.5"), Telling::kTold) << "text that is a number";
  EXPECT_EQ(Told(below, 120, 100), Telling::kLeftOut) << "100 is not below 100";
  EXPECT_EQ(Told(below, 90, 110), Telling::kLeftOut);
  EXPECT_EQ(Told(below, 90, "sold out"), Telling::kLeftOut) << "no number";
  EXPECT_EQ(Told(below, 90, nullptr), Telling::kLeftOut) << "absent";
  const std::string between = R"({"only_if":{"above":10,"below":20}})";
  EXPECT_EQ(Told(between, 1, 15), Telling::kTold);
  EXPECT_EQ(Told(between, 1, 10), Telling::kLeftOut);
  EXPECT_EQ(Told(between, 15, 20), Telling::kLeftOut);
}

TEST(ChangeRules, OnlyIfLooksForPatternsInTheFoldedText) {
  const std::string matches = R"({"only_if":{"matches":"(?i)in stock"}})";
  EXPECT_EQ(Told(matches, "sold out", "now In \n Stock!"), Telling::kTold);
  EXPECT_EQ(Told(matches, "in stock", "sold out"), Telling::kLeftOut);
  EXPECT_EQ(Told(matches, "in stock", nullptr), Telling::kLeftOut);
  const std::string without = R"({"only_if":{"not_matches":"^draft"}})";
  EXPECT_EQ(Told(without, "a", "b"), Telling::kTold);
  EXPECT_EQ(Told(without, "a", "draft 2"), Telling::kLeftOut);
  EXPECT_EQ(Told(without, "a", nullptr), Telling::kLeftOut) << "an absent value fulfils nothing";
  EXPECT_EQ(Told(R"({"only_if":{"matches":"^4"}})", 1, 42), Telling::kTold) << "a number as text";
  EXPECT_EQ(Told(matches, "a", std::string(kRuleTextBytesMax, 'x') + " in stock"),
            Telling::kLeftOut)
      << "a text that is too long fulfils no pattern";
}

TEST(ChangeRules, AThresholdIsMeasuredFromWhatWasToldLast) {
  const std::string absolute = R"({"threshold":{"absolute":0.1}})";
  EXPECT_EQ(Told(absolute, 0.2, 0.25), Telling::kTooSmall);
  EXPECT_EQ(Told(absolute, 0.2, 0.3), Telling::kTold) << "as people compute, not as doubles do";
  EXPECT_EQ(Told(absolute, 0.3, 0.2), Telling::kTold) << "down as well as up";
  const std::string percent = R"({"threshold":{"percent":5}})";
  EXPECT_EQ(Told(percent, 200, 209), Telling::kTooSmall);
  EXPECT_EQ(Told(percent, 200, 210), Telling::kTold);
  EXPECT_EQ(Told(percent, -200, -209), Telling::kTooSmall);
  EXPECT_EQ(Told(percent, 0, 0.001), Telling::kTold) << "from nothing everything is much";
  EXPECT_EQ(Told(percent, "200", "209"), Telling::kTooSmall) << "texts that are numbers";
}

TEST(ChangeRules, BothThresholdsHaveToBeReached) {
  const std::string both = R"({"threshold":{"absolute":10,"percent":5}})";
  EXPECT_EQ(Told(both, 100, 107), Telling::kTooSmall) << "7 %, but not 10";
  EXPECT_EQ(Told(both, 1000, 1020), Telling::kTooSmall) << "20, but not 5 %";
  EXPECT_EQ(Told(both, 100, 110), Telling::kTold);
}

TEST(ChangeRules, AThresholdDoesNotHideWhatIsNoNumber) {
  const std::string absolute = R"({"threshold":{"absolute":1000}})";
  EXPECT_EQ(Told(absolute, 10, "sold out"), Telling::kTold);
  EXPECT_EQ(Told(absolute, 10, nullptr), Telling::kTold);
  EXPECT_EQ(Told(absolute, nullptr, 10), Telling::kTold);
}

TEST(ChangeRules, AThresholdComesBeforeTheConditions) {
  const std::string rules = R"({"only_if":{"below":100},"threshold":{"absolute":5}})";
  EXPECT_EQ(Told(rules, 104, 101), Telling::kTooSmall);
  EXPECT_EQ(Told(rules, 104, 99), Telling::kTold);
  EXPECT_EQ(Told(rules, 104, 120), Telling::kLeftOut);
}

TEST(ChangeRules, WhatIsIgnoredDoesNotCountInATextAndNowhereElse) {
  const ChangeRules rules = Rules(R"({"ignore":["[0-9]+ people are looking","(?i)ad: \\w+"]})");
  EXPECT_TRUE(Same(rules, "Mug, 3 people are looking", "Mug, 17 people are looking"));
  EXPECT_TRUE(Same(rules, "AD: shoes  Mug", "Mug"));
  EXPECT_FALSE(Same(rules, "Mug, 3 people are looking", "Cup, 3 people are looking"));
  EXPECT_FALSE(Same(rules, 3, 4));
  EXPECT_FALSE(Same(rules, "Mug", nullptr));
  const std::string long_text(kRuleTextBytesMax, 'x');
  EXPECT_FALSE(Same(rules, long_text + "ad: a", long_text + "ad: b")) << "too long";
}

TEST(ChangeRules, AHostilePatternTakesLinearTime) {
  const ChangeRules rules = Rules(R"({"ignore":["(a*)*b","(x+x+)+y"]})");
  const std::string text(kRuleTextBytesMax - 1, 'a');
  EXPECT_FALSE(Same(rules, text + "1", text + "2"));
}

TEST(ChangeRules, PatternsThatMatchNoCharacterAreIgnoredWithoutAnEffect) {
  const ChangeRules rules = Rules(R"({"ignore":["[0-9]+","\\b"]})");
  EXPECT_TRUE(Same(rules, "Müg 1 x", "Müg 22 x"));
  EXPECT_FALSE(Same(rules, "Müg 1 x", "Müg 1 y"));
}

// Each search for the first alternative looks at all of the text, and finds the second one here.
TEST(ChangeRules, G10WhatThePatternsOfACheckMayCostIsBounded) {
  const std::string text(kRuleTextBytesMax - 1, 'a');
  const ChangeRules ignoring = Rules(R"({"ignore":["[ab]*c|a"]})");
  EXPECT_TRUE(Same(ignoring, "aab", "ab"));
  EXPECT_FALSE(Same(ignoring, text + "b", text.substr(1) + "b")) << "compared as it is";
  RuleWork work;
  ASSERT_TRUE(work.Take(kRuleWorkMax, 1));
  EXPECT_EQ(DecideTelling(Rules(R"({"only_if":{"matches":"^a"}})"), "b", text, &work),
            Telling::kLeftOut);
  EXPECT_EQ(DecideTelling(Rules(R"({"only_if":{"not_matches":"^b"}})"), "b", text, &work),
            Telling::kLeftOut);
}

TEST(ChangeRules, AFaultNamesTheFieldAndTheRule) {
  const Json watched{{"price", "css:.p"}};
  EXPECT_EQ(Fault(R"({"cost":{"ignore":["x"]}})", watched),
            R"(["rules","cost"] unknown_field: The field 'cost': struct has no such field)");
  EXPECT_EQ(Fault(R"({"price":{"if":{}}})", watched),
            R"(["rules","price","if"] extra_forbidden: The field 'price', rule if: )"
            "There is no such rule: only_if, threshold, ignore");
  EXPECT_EQ(Fault(R"({"price":{"threshold":{"percent":0}}})", watched),
            R"(["rules","price","threshold","percent"] greater_than: The field 'price', )"
            "rule threshold.percent: Input should be greater than 0");
  EXPECT_EQ(Fault(R"({"price":{"only_if":{"below":"x"}}})", watched),
            R"(["rules","price","only_if","below"] number_type: The field 'price', )"
            "rule only_if.below: Input should be a number");
  EXPECT_EQ(
      Fault(R"({"price":{"ignore":["ok","(?=x)y"]}})", watched)
          .rfind(R"(["rules","price","ignore",1] pattern: The field 'price', rule ignore.1: )", 0),
      0U);
}

TEST(ChangeRules, WhatCannotBeMeantIsRefused) {
  for (const char* rules :
       {"[]", R"({"f":3})", R"({"f":{"only_if":{}}})", R"({"f":{"only_if":[]}})",
        R"({"f":{"only_if":{"equals":1}}})", R"({"f":{"only_if":{"above":5,"below":5}}})",
        R"({"f":{"only_if":{"matches":""}}})", R"({"f":{"only_if":{"matches":7}}})",
        R"({"f":{"threshold":{}}})", R"({"f":{"threshold":{"absolute":-1}}})",
        R"({"f":{"threshold":{"absolute":"1"}}})", R"({"f":{"ignore":[]}})",
        R"({"f":{"ignore":"x"}})", R"({"f":{"ignore":["x*"]}})", R"({"f":{"ignore":["("]}})"}) {
    EXPECT_EQ(Faults(rules).size(), 1U) << rules;
  }
  EXPECT_EQ(Faults(R"({"f":{"ignore":[")" + std::string(kRulePatternCharsMax + 1, 'x') + R"("]}})")
                .size(),
            1U);
  Json many = Json::array();
  for (std::size_t i = 0; i <= kRulePatternsMax; ++i) many.push_back("x");
  EXPECT_EQ(Faults(base::DumpJson({{"f", {{"ignore", many}}}})).size(), 1U);
}

TEST(ChangeRules, GoodRulesHaveNoFaultsAndAreReadAsTheyWereGiven) {
  const std::string good =
      R"({"only_if":{"above":-1.5,"below":1e3,"matches":"a","not_matches":"b"},)"
      R"("threshold":{"absolute":0.5,"percent":2},"ignore":["c","d"]})";
  EXPECT_EQ(Faults(R"({"f":)" + good + "}"), std::vector<std::string>());
  const ChangeRules rules = Rules(good);
  EXPECT_EQ(rules.above, -1.5);
  EXPECT_EQ(rules.below, 1000);
  EXPECT_EQ(rules.not_matches, "b");
  EXPECT_EQ(rules.percent, 2);
  EXPECT_EQ(rules.ignore, (std::vector<std::string>{"c", "d"}));
}

TEST(ChangeRules, NumbersOfABodyThatKeepsThemAreNumbers) {
  Json body;
  ASSERT_FALSE(
      base::ParseJson(R"({"f":{"threshold":{"absolute":1E2}}})", &body, {.keep_numbers = true}));
  EXPECT_TRUE(ValidateChangeRules(Json::array(), body, nullptr).empty());
  EXPECT_EQ(ParseChangeRules(base::DumpJson(body)).at("f").absolute, 100);
}

TEST(ChangeRules, RulesOfFieldsThatLeaveGoWithThem) {
  const Json rules = base::ParseJsonOrThrow(R"({"a":{"ignore":["x"]},"b":{"ignore":["y"]}})");
  EXPECT_EQ(base::DumpJson(RulesOfWatched(rules, {{"b", "text"}})), R"({"b":{"ignore":["y"]}})");
}

}  // namespace
}  // namespace vedette::domain
