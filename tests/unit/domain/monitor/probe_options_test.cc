#include "domain/monitor/probe_options.h"

#include <gtest/gtest.h>

#include <string>

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
  EXPECT_TRUE(IsSound({{"wait_for", std::string(kWaitForCharsMax, 'x')}}));
  EXPECT_FALSE(IsSound({{"wait_for", std::string(kWaitForCharsMax + 1, 'x')}}));
  EXPECT_FALSE(IsSound({{"steps", Json::array()}}));
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

TEST(ProbeOptions, EveryNameIsReadAsItself) {
  for (const Render render : {Render::kNever, Render::kAuto, Render::kAlways}) {
    EXPECT_EQ(ParseRender(RenderName(render)), render);
  }
  EXPECT_EQ(ParseRender(""), std::nullopt);
}

}  // namespace
}  // namespace vedette::domain
