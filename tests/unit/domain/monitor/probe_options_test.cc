#include "domain/monitor/probe_options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;

bool IsSound(const Json& options) {
  return ValidateProbeOptions(Json::array({"body", "probe"}), options).empty();
}

TEST(ProbeOptions, WhatIsGivenIsRead) {
  const Json given{{"render", "auto"}, {"wait_for", "#price"}};
  ASSERT_TRUE(IsSound(given));
  const ProbeOptions read = ReadProbeOptions(given);
  EXPECT_EQ(read.render, Render::kAuto);
  EXPECT_EQ(read.wait_for, "#price");
  EXPECT_EQ(ParseProbeOptions(base::DumpJson(given)).render, Render::kAuto);
  EXPECT_EQ(ParseProbeOptions(std::nullopt).render, std::nullopt);
  EXPECT_EQ(ReadProbeOptions(Json::object()).wait_for, "");
}

TEST(ProbeOptions, WhatIsUnknownOrTooLongIsAFault) {
  EXPECT_TRUE(IsSound(Json::object()));
  EXPECT_FALSE(IsSound({{"render", "sometimes"}}));
  EXPECT_FALSE(IsSound({{"render", nullptr}}));
  EXPECT_FALSE(IsSound({{"wait_for", ""}}));
  EXPECT_TRUE(IsSound({{"wait_for", std::string(kSelectorCharsMax, 'x')}}));
  EXPECT_FALSE(IsSound({{"wait_for", std::string(kSelectorCharsMax + 1, 'x')}}));
  EXPECT_FALSE(IsSound({{"steps", 1}}));
  EXPECT_FALSE(IsSound({{"pause", 1}}));
  EXPECT_FALSE(IsSound(Json::array()));
}

TEST(ProbeOptions, NobodyGetsMoreThanTheTierAllows) {
  const auto in = [](Render tier, std::optional<Render> own) { return RenderIn(tier, {own, ""}); };
  EXPECT_EQ(in(Render::kAuto, std::nullopt), Render::kAuto);
  EXPECT_EQ(in(Render::kAuto, Render::kAlways), Render::kAuto);
  EXPECT_EQ(in(Render::kNever, Render::kAlways), Render::kNever);
  EXPECT_EQ(in(Render::kAlways, Render::kNever), Render::kNever);
  EXPECT_EQ(in(Render::kAlways, Render::kAuto), Render::kAuto);
}

Json Acting(const Json& steps, const Json& secrets = Json::object()) {
  return {{"render", "always"}, {"steps", steps}, {"secrets", secrets}};
}

// The place of the first fault, and what it says.
std::string FaultOf(const Json& options) {
  const auto faults = ValidateProbeOptions(Json::array({"probe"}), options);
  return faults.empty() ? "" : base::DumpJson(faults[0].loc) + " " + faults[0].msg;
}

TEST(ProbeSteps, AreReadAsTheyWereGiven) {
  const Json given = Acting({{{"goto", "/login"}, {"if", "a.login"}},
                             {{"fill", "#user"}, {"value", "ann"}},
                             {{"fill", "#password"}, {"value", {{"secret", "password"}}}},
                             {{"press", "Enter"}},
                             {{"scroll_to_end", true}}},
                            {{"password", "hunter2"}});
  ASSERT_EQ(FaultOf(given), "");
  const auto steps = ReadProbeOptions(given).steps;
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[0].kind, PageStep::Kind::kGoto);
  EXPECT_EQ(steps[0].target, "/login");
  EXPECT_EQ(steps[0].only_if, "a.login");
  EXPECT_EQ(steps[1].value, "ann");
  EXPECT_EQ(steps[2].value, "");
  EXPECT_EQ(steps[2].secret, "password");
  EXPECT_EQ(steps[4].kind, PageStep::Kind::kScrollToEnd);
  EXPECT_TRUE(ReadProbeOptions(given).NeedsLogin());
  EXPECT_EQ(WithSecrets(steps, {{"password", "hunter2"}})->at(2).value, "hunter2");
  EXPECT_FALSE(WithSecrets(steps, {}));
}

TEST(ProbeSteps, AFaultNamesTheStepAndTheRule) {
  const auto fault = [](const Json& step) { return FaultOf(Acting(Json::array({step}))); };
  const std::vector<std::pair<Json, std::string>> cases{
      {{{"goto", "ftp://a"}}, R"(["probe","steps",0,"goto"] It should be an address)"},
      {{{"click", ""}}, R"(["probe","steps",0,"click"] It should have 1 to 500)"},
      {{{"click", "a"}, {"value", "x"}}, R"(["probe","steps",0,"value"] Only fill and select)"},
      {{{"fill", "a"}}, R"(["probe","steps",0,"value"] Say what)"},
      {{{"fill", "a"}, {"value", 1}}, R"(["probe","steps",0,"value"] Input should be a string)"},
      {{{"fill", "a"}, {"value", {{"secret", ""}}}}, R"(["probe","steps",0,"value"] It should be)"},
      {{{"fill", "a"}, {"value", {{"secret", "pw"}}}},
       R"(["probe","steps",0,"value"] There is no)"},
      {{{"press", "x"}}, R"(["probe","steps",0,"press"] A key is one of Enter)"},
      {{{"scroll_to_end", false}}, R"(["probe","steps",0,"scroll_to_end"] Input should be true)"},
      {{{"click", "a"}, {"press", "Tab"}}, R"(["probe","steps",0,"press"] A step does one thing)"},
      {{{"hover", "a"}}, R"(["probe","steps",0,"hover"] There is no such step)"},
      {{{"if", "a"}}, R"(["probe","steps",0] A step is one of goto)"},
      {"click", R"(["probe","steps",0] Input should be an object)"}};
  for (const auto& [step, begins] : cases) {
    EXPECT_EQ(fault(step).substr(0, begins.size()), begins) << step;
  }
  const Json click = {{"click", "a"}};
  EXPECT_NE(FaultOf(Acting(Json(std::vector<Json>(kPageStepsMax + 1, click)))), "");
  EXPECT_EQ(FaultOf(Acting(Json(std::vector<Json>(kPageStepsMax, click)))), "");
  EXPECT_NE(FaultOf({{"render", "auto"}, {"steps", Json::array({click})}}).find("always"),
            std::string::npos);
  EXPECT_NE(FaultOf({{"session", "kept"}}).find("always"), std::string::npos);
  EXPECT_EQ(FaultOf({{"render", "always"}, {"session", "kept"}}), "");
}

TEST(ProbeSteps, SecretsAreTakenOutAndNeverRepeated) {
  const Json typed = Json::array({{{"fill", "a"}, {"value", {{"secret", "pw"}}}}});
  for (const Json& secrets : {Json{{"pw", 17423}}, Json{{"pw", ""}}, Json{{"p w", "17423"}},
                              Json{{"pw", std::string(kSecretValueCharsMax + 1, '1') + "7423"}},
                              Json{{"pw", "17423"}, {"other", "17423"}}, Json("17423")}) {
    const auto faults = ValidateProbeOptions(Json::array({"probe"}), Acting(typed, secrets));
    ASSERT_EQ(faults.size(), 1U) << secrets;
    EXPECT_EQ((faults[0].msg + base::DumpJson(faults[0].input)).find("7423"), std::string::npos);
  }
  Json options = Acting(typed, {{"pw", "17423"}});
  EXPECT_TRUE(SecretsToKeep(options).empty());
  const ProbeSecrets taken = TakeSecrets(&options);
  EXPECT_EQ(taken, (ProbeSecrets{{"pw", "17423"}}));
  EXPECT_EQ(options["secrets"], Json({{"pw", nullptr}}));
  EXPECT_EQ(SecretsToKeep(options), std::vector<std::string>{"pw"});
  EXPECT_TRUE(IsSound(options)) << "what is shown may be given again";
  EXPECT_EQ(ParseProbeSecrets(ProbeSecretsText(taken)), taken);
  EXPECT_FALSE(ParseProbeSecrets("nonsense"));
  EXPECT_EQ(WithoutSecrets("a 17423 b", *WithSecrets(ReadProbeOptions(options).steps, taken)),
            "a *** b");
}

TEST(ProbeOptions, EveryNameIsReadAsItself) {
  for (const Render render : {Render::kNever, Render::kAuto, Render::kAlways}) {
    EXPECT_EQ(ParseRender(RenderName(render)), render);
  }
  EXPECT_EQ(ParseRender(""), std::nullopt);
}

TEST(ProbeOptions, WhatDoesNotCountIsReadAndItsFaultsAreNamed) {
  const auto with = [](const char* parts) { return Json{{"ignore", Json::parse(parts)}}; };
  const auto read = ReadProbeOptions(
      with(R"(["numbers", {"regex": "[0-9]+ people"}, {"selector": ".ad"}, "dates"])"));
  ASSERT_EQ(read.ignore.patterns.size(), 3U);
  EXPECT_EQ(read.ignore.patterns[0], "[0-9]+ people") << "before what is said for all";
  EXPECT_EQ(read.ignore.selectors, std::vector<std::string>{".ad"});
  EXPECT_TRUE(IsSound(with(R"(["numbers", "dates", {"regex": "a+"}, {"selector": "[a='x']"}])")));
  for (const char* parts :
       {"[]", "\"dates\"", "[\"words\"]", "[1]", "[{}]", R"([{"regex": 1}])", R"([{"regex": "("}])",
        R"([{"regex": "x*"}])", R"([{"regex": "(a)\\1"}])", R"([{"selector": ""}])",
        R"([{"selector": ".a @href"}])", R"([{"regex": "a", "selector": "b"}])"}) {
    EXPECT_FALSE(IsSound(with(parts))) << parts;
  }
  Json many = Json::array();
  for (std::size_t i = 0; i <= kIgnoreRulesMax; ++i) many.push_back("dates");
  EXPECT_FALSE(IsSound({{"ignore", many}}));
  EXPECT_EQ(FaultOf(with(R"(["dates", {"regex": "("}])")).substr(0, 20), R"(["probe","ignore",1])");
}

}  // namespace
}  // namespace vedette::domain
